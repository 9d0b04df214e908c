"""Several joints of one group of loops are driven at once, and joints with many coordinates."""

import numpy as np
import pytest

import naive
import skodyn as sk
from loop_mechanisms import case_of
from loop_references import five_bar, reference, ring
from test_driven_loops import by_multipliers, widest

FREQUENCY = 1.3
TURN = 2 * np.pi * FREQUENCY


def shaken(model, q, v, name, number=0):
    """(A motion through the state of a joint, its acceleration there)."""
    joint = model.joints[model.joint_index(name)]
    at, rates = q[model.q_slice(name)], v[model.v_slice(name)]
    if joint.nv != 1:
        return sk.SteadyMotion(name, rates.tolist(), start=at.tolist()), np.zeros(joint.nv)
    size = (0.02 + 0.01 * number + abs(rates[0])) / TURN
    phase = float(np.arccos(rates[0] / (TURN * size)))
    offset = float(at[0] - size * np.sin(phase))
    motion = sk.SineMotion(name, float(size), FREQUENCY, phase, offset)
    return motion, np.array([-(TURN**2) * size * np.sin(phase)])


def together(model, q, most):
    """Names of joints, up to so many, that can be driven at once without loops in their way."""
    X = np.linalg.qr(sk.loop_basis(model, q))[0]
    chosen, rows = [], np.zeros((0, X.shape[1]))
    for name in model.joint_names:
        more = np.vstack((rows, X[model.v_slice(name)]))
        moves = len(rows) < len(more) <= X.shape[1]
        if moves and len(chosen) < most and np.linalg.svd(more)[1].min() > 0.1:
            chosen, rows = [*chosen, name], more
    return chosen


@pytest.mark.parametrize("seed", range(1, 60, 3))
def test_accelerations_and_forces_of_many_drives_are_those_of_multipliers(seed):
    """On mechanisms drawn at random, with up to four joints of any kind driven, and drawn back."""
    case = case_of(seed)
    model = case.built
    q, v, _ = case.state(model)
    names = together(model, q, 4)
    if not names:
        pytest.skip("no joint can be driven")
    drives = [shaken(model, q, v, name, i) for i, name in enumerate(names)]
    run = sk.simulate(
        model, q, v, duration=1e-6, dt=1e-6, motions=[motion for motion, _ in drives],
        channels=["vdot", "drive"],
    )  # fmt: skip
    order, places = [b["joint_name"] for b in case.bodies], naive.offsets(case.bodies)[1]
    chosen = np.concatenate([np.arange(len(v))[places[order.index(name)]] for name in names])
    wanted = np.concatenate([acceleration for _, acceleration in drives])
    vdot, force = by_multipliers(
        case.twin, case.bodies, case.q, case.v, case.gravity, chosen, wanted
    )
    size = np.abs(vdot).max() + 1.0
    error = np.abs(run.trajectory["vdot"][0] - case.packed_v(model, vdot)).max()
    assert error <= 1e-9 * size
    found = np.concatenate([run.trajectory["drive"][0][model.v_slice(name)] for name in names])
    assert np.abs(found - force).max() <= 1e-8 * (np.abs(force).max() + size)
    others = np.ones(model.nv, dtype=bool)
    for name in names:
        others[model.v_slice(name)] = False
    assert not run.trajectory["drive"][0][others].any()


GROUPS = {
    "five_bar, both arms": (five_bar, 2),
    "ring, three joints": (lambda: ring(12), 3),
    "ring in its range space, half of its joints": (lambda: ring(40), 20),
    "gripper, base and fingers": (lambda: reference("11_gripper"), 9),
}


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler", "implicit_midpoint"])
@pytest.mark.parametrize("name", GROUPS)
def test_many_driven_joints_of_a_group_are_where_they_should_be_and_loops_are_closed(name, method):
    make, most = GROUPS[name]
    given = make()
    model = given.model
    q, v, _ = given.state(model)
    names = together(model, q, most)
    assert len(names) > 1
    motions = [shaken(model, q, v, joint, i)[0] for i, joint in enumerate(names)]
    dt = 2e-3
    run = sk.simulate(
        model, q, v, duration=5 * dt, dt=dt, integrator=method, motions=motions,
        channels=["vdot", "tau"],
    )  # fmt: skip
    assert run.status == "finished", run.message
    gaps, rates = widest(model, run)
    assert gaps <= 1e-13
    assert rates <= 1e-12 * max(1.0, np.abs(run.v).max())
    for motion in motions:
        if isinstance(motion, sk.SineMotion):
            turn = TURN * run.t + motion.phase
            there = motion.offset + motion.amplitude * np.sin(turn)
            speed = TURN * motion.amplitude * np.cos(turn)
            assert np.abs(run.q[:, model.q_slice(motion.joint)][:, 0] - there).max() < 1e-14
            assert np.abs(run.v[:, model.v_slice(motion.joint)][:, 0] - speed).max() < 1e-13
    again = sk.forward_dynamics(model, run.q[-1], run.v[-1], run.trajectory["tau"][-1])
    assert np.abs(again - run.trajectory["vdot"][-1]).max() <= 1e-9 * (1 + np.abs(again).max())
    coarse = method != "rk4"
    assert abs(run.summary["energy_imbalance"]) < (1e-2 if coarse else 1e-7)


# ---- joints of several coordinates whose rates change -------------------------------------------

MANY = {
    "universal": (sk.Universal(), (0.5, -0.3)),
    "cylindrical": (sk.Cylindrical(axis=(0, 1, 0)), (0.4, 0.1)),
    "planar": (sk.Planar(), (0.1, -0.2, 0.5)),
    "spherical": (sk.Spherical(), (0.5, -0.3, 0.2)),
    "free": (sk.Free(), (0.5, -0.3, 0.2, 0.1, -0.15, 0.05)),
}


def beside_a_ball(joint):
    """An arm on `joint`, and a bob on a ball joint, with a rod between them: one group."""
    b = sk.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body("arm", joint=joint, mass=1.0, com=(0.2, 0, 0), inertia=(0.02, 0.03, 0.04))
    b.add_body(
        "bob", joint=sk.Spherical(), translation=(0.9, 0.1, 0.3), mass=0.7, com=(0, 0.1, -0.3),
        inertia=(0.05, 0.04, 0.02),
    )  # fmt: skip
    b.add_loop(
        "rod", "arm", "bob", sk.Rod(0.6), translation_a=(0.4, 0.1, 0), translation_b=(0, 0, -0.4)
    )
    return b.build()


@pytest.mark.parametrize("kind", MANY)
def test_a_joint_of_several_coordinates_is_driven_with_changing_rates(kind):
    """A motion of constant rates would hide a wrong v̄: it is right before the first correction."""
    joint, amplitude = MANY[kind]
    model = beside_a_ball(joint)
    motion = sk.SineMotion("arm", amplitude, 1.7, phase=0.4)
    place, speed = motion.begins(model)
    start, rates = model.neutral(), np.zeros(model.nv)
    start[model.q_slice("arm")], rates[model.v_slice("arm")] = place, speed
    q = sk.assemble(model, start, hold=["arm"]).q
    v = sk.project_velocity(model, q, rates, hold=["arm"])

    def moved(method, dt, **more):
        run = sk.simulate(model, q, v, duration=0.2, dt=dt, integrator=method, motions=[motion],
                          every=round(0.2 / dt), **more)  # fmt: skip
        assert run.status == "finished", run.message
        return run

    fine = moved("dormand_prince", 0.2, rtol=1e-11, atol=1e-11)
    off, imbalance = [], []
    for dt in (4e-3, 2e-3):
        run = moved("implicit_midpoint", dt)
        assert np.abs(run.q[-1] - fine.q[-1])[model.q_slice("arm")].max() < 1e-14
        assert np.abs(run.v[-1] - fine.v[-1])[model.v_slice("arm")].max() < 1e-13
        off.append(np.abs(model.difference(fine.q[-1], run.q[-1])).max())
        imbalance.append(abs(run.summary["energy_imbalance"]))
    assert 3.7 < off[0] / off[1] < 4.3, off  # of the bob, of order two
    assert off[0] < 1e-3
    assert imbalance[0] / imbalance[1] > 3.0, imbalance
