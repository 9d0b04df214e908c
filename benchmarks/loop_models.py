"""Mechanisms with loops for benchmarks, and the same in Pinocchio and MuJoCo.

Their pins in the plane are points held together (`connect`, `CONTACT_3D`): neither closes a loop by
a hinge. Pinocchio needs joints depth first, which is how skodyn numbers them: in other orders its
accelerations are wrong without a word.
"""

import numpy as np

import skodyn as sk
from models import mujoco_spec

Z = (0.0, 0.0, 1.0)
DOWN = (0.0, -9.81, 0.0)
QUARTER = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def _rod(b, name, parent, place, mass, length, turned=None):
    across = mass * length**2 / 12
    b.add_body(
        name, parent, sk.Revolute(Z), translation=place, rotation=turned, mass=mass,
        com=(length / 2, 0, 0), inertia=(across / 1000, across, across),
    )  # fmt: skip


def four_bar():
    """A crank, a coupler and a rocker."""
    b = sk.ModelBuilder(DOWN, "four-bar")
    _rod(b, "crank", "world", (0, 0, 0), 0.5, 0.3)
    _rod(b, "coupler", "crank", (0.3, 0, 0), 1.0, 0.9)
    _rod(b, "rocker", "world", (1.0, 0, 0), 0.8, 0.7)
    b.add_loop("pin", "coupler", "rocker", sk.Revolute(Z), translation_a=(0.9, 0, 0),
               translation_b=(0.7, 0, 0))  # fmt: skip
    return b.build(), {"crank": 0.7}, {"crank": 3.0}


def ladder(windows):
    """A tower of four-bar windows, each carried by the rung below."""
    b = sk.ModelBuilder(DOWN, f"ladder {windows}")
    below = "world"
    for k in range(1, windows + 1):
        x = 0.0 if k == 1 else -0.05
        _rod(b, f"left{k}", below, (x, 0, 0), 0.4, 0.5, QUARTER)
        _rod(b, f"rung{k}", f"left{k}", (0.5, 0, 0), 0.3, 0.3, QUARTER.T)
        _rod(b, f"right{k}", below, (x + 0.4, 0, 0), 0.4, 0.5, QUARTER)
        b.add_loop(f"pin{k}", f"rung{k}", f"right{k}", sk.Revolute(Z), translation_a=(0.3, 0, 0),
                   translation_b=(0.5, 0, 0))  # fmt: skip
        below = f"rung{k}"
    q = {f"left{k}": -0.1 + 0.05 * np.sin(1.3 * k) for k in range(1, windows + 1)}
    return b.build(), q, {f"left{k}": 0.4 * np.cos(0.7 * k) for k in range(1, windows + 1)}


def windows(count):
    """IFToMM's A02: a row of four-bar windows that share their cranks."""
    b = sk.ModelBuilder(DOWN, f"{count} windows")
    for i in range(count + 1):
        _rod(b, f"crank{i}", "world", (i, 0, 0), 1.0, 1.0)
        if i > 0:
            _rod(b, f"bar{i}", f"crank{i - 1}", (1, 0, 0), 1.0, 1.0)
    for i in range(1, count + 1):
        b.add_loop(f"pin{i}", f"bar{i}", f"crank{i}", sk.Revolute(Z), translation_a=(1, 0, 0),
                   translation_b=(1, 0, 0))  # fmt: skip
    model = b.build()
    cranks = [f"crank{i}" for i in range(count + 1)]
    bars = [f"bar{i}" for i in range(1, count + 1)]
    q = dict.fromkeys(cranks, 1.2) | dict.fromkeys(bars, -1.2)
    return model, q, dict.fromkeys(cranks, -1.0) | dict.fromkeys(bars, 1.0)


def ring(links):
    """A closed chain of hinges that hangs from the world at both ends."""
    b = sk.ModelBuilder(DOWN, f"ring {links}")
    turn = np.pi / links
    for k in range(links):
        c, s = np.cos(turn), np.sin(turn)
        turned = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        place = (0.0, 0, 0) if k == 0 else (1.0 / links, 0, 0)
        _rod(b, f"link{k}", f"link{k - 1}" if k else "world", place, 1.0 / links, 1.0 / links,
             turned)  # fmt: skip
    model = b.build()
    _, positions = sk.forward_kinematics(model, model.neutral())
    rotations, _ = sk.forward_kinematics(model, model.neutral())
    end = positions[-1] + rotations[-1] @ np.array([1.0 / links, 0, 0])
    b.add_loop("pin", f"link{links - 1}", "world", sk.Revolute(Z),
               translation_a=(1.0 / links, 0, 0), translation_b=end)  # fmt: skip
    return b.build(), {}, {"link0": 0.3}


def stewart():
    """Six legs (universal, prismatic) that carry a platform by ball joints."""
    b = sk.ModelBuilder(name="stewart")
    b.add_body("platform", joint=sk.Free(), mass=20.0, com=(0, 0, 0.05), inertia=(1.5, 1.5, 2.8))
    for k in range(6):
        angle, top = np.deg2rad(60 * (k // 2) * 2 + (10 if k % 2 else -10)), 0.0
        top = np.deg2rad(120 * (k // 2) + (50 if k % 2 else -50))
        foot = np.array([np.cos(angle), np.sin(angle), 0.0])
        b.add_body(
            f"lower{k}", joint=sk.Universal((1, 0, 0), (0, 1, 0), name=f"gimbal{k}"),
            translation=foot, mass=2.0, com=(0, 0, 0.3), inertia=(0.06, 0.06, 0.002),
        )  # fmt: skip
        b.add_body(
            f"upper{k}", f"lower{k}", sk.Prismatic(Z, name=f"leg{k}"), mass=1.5,
            com=(0, 0, -0.3), inertia=(0.045, 0.045, 0.001),
        )  # fmt: skip
        b.add_loop(f"ball{k}", f"upper{k}", "platform", sk.Spherical(),
                   translation_b=(0.5 * np.cos(top), 0.5 * np.sin(top), 0.0))  # fmt: skip
    q = {"platform": (1.0, 0, 0, 0, 0.02, -0.01, 1.1)}
    return b.build(), q, {"platform": (0.1, 0.2, -0.1, 0.05, 0.1, 0.2)}


def given_state(model, q, v):
    """q and v from numbers by joint."""
    start, rates = model.neutral(), np.zeros(model.nv)
    for joint, value in q.items():
        start[model.q_slice(joint)] = value
    for joint, value in v.items():
        rates[model.v_slice(joint)] = value
    return start, rates


def closed_state(model, q, v):
    """A closed configuration with the coordinates given, and a consistent velocity near v."""
    from skodyn.simulation.loop_start import kept_velocity

    start, rates = given_state(model, q, v)
    closed = sk.assemble(model, start, hold=tuple(q)).q
    return closed, kept_velocity(model, closed, rates, tuple(v))


def pinocchio_constraints(model, made):
    """The loops as points held together, with their data."""
    import pinocchio as pin

    constraints = pin.StdVec_RigidConstraintModel()
    for loop in model.loops.values():
        ends = []
        for body, place in ((loop.body_a, loop.translation_a), (loop.body_b, loop.translation_b)):
            joint = 0 if body == "world" else made.frames[made.getFrameId(body)].parentJoint
            ends += [joint, pin.SE3(np.eye(3), np.array(place))]
        constraints.append(
            pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, made, *ends, pin.LOCAL)
        )
    data = pin.StdVec_RigidConstraintData()
    for one in constraints:
        data.append(one.createData())
    return constraints, data


def mujoco_loops(model):
    """The same mechanism with stiff `connect` equalities."""
    import mujoco

    spec = mujoco_spec(model)
    spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT
    for name, loop in model.loops.items():
        spec.add_equality(
            name=name, type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_BODY,
            name1=loop.body_a, name2=loop.body_b,
            data=[*loop.translation_a, *[0.0] * 9], solref=[0.004, 1.0],
            solimp=[0.9999, 0.9999, 0.001, 0.5, 2.0],
        )  # fmt: skip
    return spec.compile()
