"""Contact beside MuJoCo: a sphere on a plane, and a quadruped that stands under servos.

    python benchmarks/contact.py            # about a minute
    python benchmarks/contact.py --quick    # shorter

The laws differ, so states cannot agree: before anything is timed both must stand, with contact
forces that sum to the weight. One core, warm, turns taken alternately, best of several. Sweeps are
RK4 runs in lanes beside `mujoco.rollout` (Euler, and RK4), one run is RK4 beside `mj_step` (Euler);
all per run and step. Last, the quadruped trots on the spot: `implicit_contact` beside
`mujoco.rollout` and `mj_step` with implicitfast, elliptic cones and impratio 10, all with steps of
2 ms; and chains that lie on the floor show how a step grows with bodies and contacts.
"""

import argparse
import time
from pathlib import Path

import mujoco
import numpy as np
from mujoco import rollout

import skodyn as sk
from skodyn.dynamics.contact_functions import with_ground
from skodyn.simulation.elements import Forces, Servo
from skodyn.simulation.engine import Engine
from skodyn.simulation.force_tables import pack_forces
from skodyn.simulation.settings import IntegratorSettings
from skodyn.sweeps.lane_batch import LaneBatch, PackedRuns
from skodyn.sweeps.metrics import pack_metrics

DT_OURS, DT_THEIRS = 5e-4, 2e-3
LEGS = {"fl": (0.2, 0.1), "fr": (0.2, -0.1), "hl": (-0.2, 0.1), "hr": (-0.2, -0.1)}
POSTURE = {"hip": 0.0, "thigh": 0.6, "knee": -1.2}
LIMB, RADIUS = 0.2, 0.02
FEET = sk.Contact(
    "*_shank", "floor", stiffness=2e4, dissipation=5.0, friction=0.8, tangential_damping=10.0
)


def sphere():
    """(model, forces, q) of ours; MJCF of theirs."""
    b = sk.ModelBuilder()
    b.add_body("ball", joint=sk.Free(), mass=1.0, inertia=(0.004, 0.004, 0.004))
    b.add_collision("ball", sk.Sphere(0.1))
    law = sk.Contact(
        "ball", "floor", stiffness=1e5, dissipation=2.0, friction=0.5, tangential_damping=100.0
    )
    q = np.array([1.0, 0, 0, 0, 0, 0, 0.1 - 9.81e-5])
    text = """<mujoco><worldbody><geom type="plane" size="5 5 1"/>
      <body pos="0 0 0.0999"><freejoint/>
      <geom type="sphere" size="0.1" mass="1"/></body></worldbody></mujoco>"""
    return with_ground(b.build(), [sk.HalfSpace()]), Forces(contacts=(law,)), q, text


def quadruped():
    """Free base, twelve hinges under servos, four sphere feet; the same in MJCF."""
    b = sk.ModelBuilder()
    b.add_body("trunk", joint=sk.Free(), mass=6.0, inertia=(0.03, 0.15, 0.16))
    parts, motors = [], []
    for leg, (x, y) in LEGS.items():
        rods = {"mass": 0.4, "com": (0, 0, -LIMB / 2), "inertia": (2e-3, 2e-3, 2e-4)}
        b.add_body(f"{leg}_hip", "trunk", sk.Revolute((1, 0, 0), name=f"{leg}_hip"), mass=0.3,
                   inertia=(5e-4, 5e-4, 5e-4), translation=(x, y, 0))  # fmt: skip
        b.add_body(
            f"{leg}_thigh", f"{leg}_hip", sk.Revolute((0, 1, 0), name=f"{leg}_thigh"), **rods
        )
        b.add_body(f"{leg}_shank", f"{leg}_thigh", sk.Revolute((0, 1, 0), name=f"{leg}_knee"),
                   translation=(0, 0, -LIMB), **rods)  # fmt: skip
        b.add_collision(f"{leg}_shank", sk.Sphere(RADIUS), translation=(0, 0, -LIMB))
        rod = f'<inertial pos="0 0 {-LIMB / 2}" mass="0.4" diaginertia="2e-3 2e-3 2e-4"/>'
        parts.append(f"""<body name="{leg}_hip" pos="{x} {y} 0">
          <joint name="{leg}_hip" axis="1 0 0"/>
          <inertial pos="0 0 0" mass="0.3" diaginertia="5e-4 5e-4 5e-4"/>
          <body name="{leg}_thigh"><joint name="{leg}_thigh" axis="0 1 0"/>{rod}
          <body name="{leg}_shank" pos="0 0 {-LIMB}"><joint name="{leg}_knee" axis="0 1 0"/>{rod}
          <geom type="sphere" size="{RADIUS}" pos="0 0 {-LIMB}" friction="0.8"/>
          </body></body></body>""")
        motors += [f'<position joint="{leg}_{j}" kp="80" kv="2"/>' for j in POSTURE]
    servos = tuple(
        Servo(f"{leg}_{j}", kp=80.0, kd=2.0, target=angle)
        for leg in LEGS for j, angle in POSTURE.items()
    )  # fmt: skip
    height = LIMB * (np.cos(POSTURE["thigh"]) + np.cos(POSTURE["thigh"] + POSTURE["knee"])) + RADIUS
    q = np.array([1.0, 0, 0, 0, 0, 0, height, *list(POSTURE.values()) * 4])
    text = f"""<mujoco><compiler angle="radian"/><worldbody><geom type="plane" size="5 5 1"/>
      <body name="trunk" pos="0 0 {height}"><freejoint/>
      <inertial pos="0 0 0" mass="6" diaginertia="0.03 0.15 0.16"/>{"".join(parts)}</body>
      </worldbody><actuator>{"".join(motors)}</actuator></mujoco>"""
    return (
        with_ground(b.build(), [sk.HalfSpace()]),
        Forces(elements=servos, contacts=(FEET,)),
        q,
        text,
    )


def settled(model, forces, q, seconds=4.0):
    engine = Engine(
        model, q, np.zeros(model.nv), seconds, IntegratorSettings("rk4", dt=DT_OURS), forces
    )
    while not engine.finished:
        assert engine.advance(4096).status == 0
    strained = engine.contacts.bristles(engine.y[None])[0]
    found = sk.contact_forces(model, forces.contacts, engine.q, engine.v, strained)
    pushed, weight = found.force[:, 2].sum(), 9.81 * model.mass.sum()
    assert abs(pushed / weight - 1) < 2e-3, (pushed, weight)
    return engine


def theirs_settled(text, q, integrator):
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.timestep, model.opt.integrator = DT_THEIRS, integrator
    data = mujoco.MjData(model)
    data.qpos[:3], data.qpos[3:7], data.qpos[7:] = q[4:7], q[:4], q[7:]
    data.ctrl[:] = q[7:] if model.nu else 0.0
    for _ in range(1000):
        mujoco.mj_step(model, data)
    force, total = np.zeros(6), 0.0
    for i in range(data.ncon):
        mujoco.mj_contactForce(model, data, i, force)
        total += force[0]
    assert abs(total / (9.81 * model.body_mass.sum()) - 1) < 1e-2, total
    return model, data


def packed(model, forces, engine, runs, steps):
    tables = pack_forces(model, forces)
    rng = np.random.default_rng(0)
    numbers = np.tile(tables.numbers, (runs, 1))
    v = np.tile(engine.v, (runs, 1)) + 1e-3 * rng.normal(size=(runs, model.nv))
    return PackedRuns(
        model.kernel_tree, tables.codes, np.tile(model.parameters, (runs, 1)), numbers,
        np.tile(engine.q, (runs, 1)), v, tables.n_integrals, model.n_bodies,
        IntegratorSettings("rk4", dt=DT_OURS), steps, steps, tables.parts,
    )  # fmt: skip


def measure(make, runs, steps, turns):
    """µs per run and step: ours in lanes, rollout with Euler and RK4; one run, mj_step."""
    model, forces, q, text = make()
    engine = settled(model, forces, q)
    euler, rk4 = (
        theirs_settled(text, q, kind)
        for kind in (mujoco.mjtIntegrator.mjINT_EULER, mujoco.mjtIntegrator.mjINT_RK4)
    )
    runs_packed = packed(model, forces, engine, runs, steps)
    none = pack_metrics({}, model, Path())
    width = mujoco.mj_stateSize(euler[0], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    start = np.zeros(width)
    mujoco.mj_getState(euler[0], euler[1], start, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    starts = np.tile(start, (runs, 1))
    controls = np.tile(euler[1].ctrl, (runs, steps, 1)) if euler[0].nu else None

    def lanes():
        LaneBatch(runs_packed, none).run()

    def rolled(pair):
        rollout.rollout(pair[0], pair[1], starts, controls, nstep=steps)

    def one():
        settings = IntegratorSettings("rk4", dt=DT_OURS)
        many = 20 * steps
        again = Engine(
            model, engine.q, engine.v, many * DT_OURS, settings, forces, every=many
        )  # fmt: skip
        began = time.process_time()
        while not again.finished:
            again.advance(10**6)
        return time.process_time() - began

    def stepped():
        for _ in range(20 * steps):
            mujoco.mj_step(*euler)

    calls = {
        "lanes": (lanes, runs * steps), "rollout": (lambda: rolled(euler), runs * steps),
        "rollout RK4": (lambda: rolled(rk4), runs * steps), "one run": (one, 20 * steps),
        "mj_step": (stepped, 20 * steps),
    }  # fmt: skip
    return best_of(calls, turns)


TROT = {"thigh": 0.25, "knee": -0.5}  # amplitudes, rad; diagonal legs together
TROT_RATE, KP = 2.0, 80.0  # Hz, N·m/rad


def trot_phase(leg):
    return 0.0 if leg in ("fl", "hr") else np.pi


def trotting(forces):
    """Servos whose targets swing: the same torques as a sinusoid beside the servo."""
    swings = tuple(
        sk.Sinusoid(f"{leg}_{j}", amplitude=KP * size, frequency=TROT_RATE, phase=trot_phase(leg))
        for leg in LEGS for j, size in TROT.items()
    )  # fmt: skip
    return Forces(elements=(*forces.elements, *swings), contacts=forces.contacts)


def trot_controls(q, steps):
    """Targets of position actuators, (steps, 12)."""
    t = DT_THEIRS * np.arange(steps)
    columns = [
        q[7 + 3 * i + k] + TROT.get(j, 0.0) * np.sin(2 * np.pi * TROT_RATE * t + trot_phase(leg))
        for i, leg in enumerate(LEGS) for k, j in enumerate(POSTURE)
    ]  # fmt: skip
    return np.stack(columns, axis=1)


def measure_trot(runs, steps, turns):
    """µs per run and step with steps of 2 ms: lanes, rollout, one run, mj_step."""
    model, standing, q, text = quadruped()
    engine = settled(model, standing, q)
    forces, settings = trotting(standing), IntegratorSettings("implicit_contact", dt=DT_THEIRS)
    text = text.replace("<worldbody>", '<option cone="elliptic" impratio="10"/><worldbody>')
    theirs = theirs_settled(text, q, mujoco.mjtIntegrator.mjINT_IMPLICITFAST)
    tables, rng = pack_forces(model, forces), np.random.default_rng(0)
    v = np.tile(engine.v, (runs, 1)) + 1e-3 * rng.normal(size=(runs, model.nv))
    packed_runs = PackedRuns(
        model.kernel_tree, tables.codes, np.tile(model.parameters, (runs, 1)),
        np.tile(tables.numbers, (runs, 1)), np.tile(engine.q, (runs, 1)), v, tables.n_integrals,
        model.n_bodies, settings, steps, steps, tables.parts,
    )  # fmt: skip
    start = np.zeros(mujoco.mj_stateSize(theirs[0], mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(*theirs, start, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    starts, swing = np.tile(start, (runs, 1)), trot_controls(q, steps)
    controls = np.tile(swing, (runs, 1, 1))
    none, last = pack_metrics({}, model, Path()), {}

    def lanes():
        last["ours"] = LaneBatch(packed_runs, none)
        last["ours"].run()

    def one():
        many = 10 * steps
        again = Engine(model, engine.q, engine.v, many * DT_THEIRS, settings, forces, every=many)
        began = time.process_time()
        while not again.finished:
            assert again.advance(10**6).status == 0
        return time.process_time() - began

    def rolled():
        last["theirs"] = rollout.rollout(*theirs, starts, controls, nstep=steps)[0]

    def stepped():
        for i in range(10 * steps):
            theirs[1].ctrl[:] = swing[i % steps]
            mujoco.mj_step(*theirs)

    calls = {
        "lanes": (lanes, runs * steps), "rollout": (rolled, runs * steps),
        "one run": (one, 10 * steps), "mj_step": (stepped, 10 * steps),
    }  # fmt: skip
    best = best_of(calls, turns)
    heights = last["ours"].out_q[:, 6], last["theirs"][:, -1, 3]
    assert all((one > 0.25).all() and (one < 0.45).all() for one in heights), heights  # upright
    return best


def best_of(calls, turns):
    """Best µs per unit of each call, turns taken alternately."""
    best = dict.fromkeys(calls, np.inf)
    for _ in range(turns):
        for name, (call, count) in calls.items():
            began = time.process_time()
            own = call()
            seconds = own if own is not None else time.process_time() - began
            best[name] = min(best[name], 1e6 * seconds / count)
    return best


def sticks(count):
    """A chain that lies on the floor, a sphere at each of its bodies."""
    b = sk.ModelBuilder()
    for k in range(count):
        joint = sk.Free(name="root") if k == 0 else sk.Revolute((0, 1, 0))
        b.add_body(f"s{k}", f"s{k - 1}" if k else "world", joint, mass=0.1, com=(0.05, 0, 0),
                   inertia=(1e-4, 1e-4, 1e-4), translation=(0.1 if k else 0.0, 0, 0))  # fmt: skip
        b.add_collision(f"s{k}", sk.Sphere(0.02), translation=(0.05, 0, 0))
    model = with_ground(b.build(), [sk.HalfSpace()])
    law = sk.Contact("s*", "floor", stiffness=1e4, dissipation=5.0, friction=0.5)
    q = model.neutral()
    q[6] = 0.02
    return model, Forces(contacts=(law,)), q


def measure_growth(turns):
    """µs per step and body while chains of 10, 100 and 1,000 lie on the floor."""
    found = {}
    for count in (10, 100, 1000):
        model, forces, q = sticks(count)
        settings = IntegratorSettings("implicit_contact", dt=2e-3)
        engine = Engine(model, q, np.zeros(model.nv), 1e3, settings, forces, every=10**6)
        assert engine.advance(500).status == 0
        steps = 20000 // count
        calls = {count: (lambda engine=engine, steps=steps: engine.advance(steps) and None, steps)}
        found[count] = best_of(calls, turns)[count] / count
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    runs, steps, turns = (128, 100, 3) if quick else (256, 200, 6)
    for name, make in (("sphere on a plane", sphere), ("quadruped standing", quadruped)):
        t = measure(make, runs, steps, turns)
        print(f"{name}: " + ", ".join(f"{k} {v:.2f} µs" for k, v in t.items()))
        print(f"  lanes over rollout {t['rollout'] / t['lanes']:.1f} (RK4: "
              f"{t['rollout RK4'] / t['lanes']:.1f}), one run over mj_step "
              f"{t['mj_step'] / t['one run']:.2f}")  # fmt: skip
    t = measure_trot(runs, steps, turns)
    print("quadruped trotting: " + ", ".join(f"{k} {v:.2f} µs" for k, v in t.items()))
    print(f"  lanes over rollout {t['rollout'] / t['lanes']:.1f}, one run over mj_step "
          f"{t['mj_step'] / t['one run']:.2f}")  # fmt: skip
    growth = measure_growth(turns)
    print("chain on the floor, µs per step and body: "
          + ", ".join(f"{n} bodies {x:.3f}" for n, x in growth.items()))  # fmt: skip


if __name__ == "__main__":
    main()
