"""Joints whose motion is prescribed in models with closed loops: motion, forces, energy, lanes."""

import numpy as np
import pytest

import naive
import naive_loops
import skodyn as sk
from loop_mechanisms import case_of
from loop_references import five_bar, reference, ring
from skodyn.scenario import parse_scenario
from skodyn.scenario.running import run_scenario
from skodyn.simulation.elements import Forces
from skodyn.simulation.session import Plan
from skodyn.simulation.settings import IntegratorSettings

METHODS = ("rk4", "semi_implicit_euler", "implicit_midpoint", "dormand_prince")
SPEED = 6.0


def driven_four_bar():
    """(model, q, v, motions): mobility one, so that all follow the crank."""
    model = sk.examples.four_bar()
    q = sk.assemble(model, [1.0, 0.0, 1.5], hold=["crank"]).q
    v = sk.project_velocity(model, q, [SPEED, 0.0, 0.0], hold=["crank"])
    return model, q, v, [sk.SteadyMotion("crank", SPEED, start=1.0)]


def driven(given, name):
    """A mechanism with one joint shaken, from its own state; the others move as they can."""
    model = given.model
    q, v, _ = given.state(model)
    start, speed = (float(x[s(name)][0]) for x, s in ((q, model.q_slice), (v, model.v_slice)))
    frequency = 1.3
    size = (0.02 + abs(speed)) / (2 * np.pi * frequency)
    phase = np.arccos(speed / (2 * np.pi * frequency * size))
    motion = sk.SineMotion(name, size, frequency, phase, start - size * np.sin(phase))
    return model, q, v, [motion]


def widest(model, run):
    rates = [np.abs(sk.loop_rate(model, q, v)).max() for q, v in zip(run.q, run.v, strict=True)]
    return np.abs(sk.loop_error(model, run.q)).max(), max(rates)


# ---- the equations ------------------------------------------------------------------------------


def by_multipliers(twin, bodies, q, v, gravity, chosen, wanted):
    """(v̇, forces of the drives): [𝓜 G* E*; G 0 0; E 0 0] by least squares."""
    mass, G = naive.mass_matrix(bodies, q), naive_loops.jacobian(twin, q)
    E = np.eye(len(v))[chosen]
    rows = np.vstack((G, E))
    zero = np.zeros((len(rows), len(rows)))
    bias = naive.inverse_dynamics(bodies, q, v, np.zeros_like(v), gravity)
    right = np.concatenate((-bias, -naive_loops.gamma(twin, q, v), wanted))
    matrix = np.block([[mass, -rows.T], [rows, zero]])
    found = np.linalg.lstsq(matrix, right, rcond=1e-11)[0]
    return found[: len(v)], found[len(v) + len(G) :]


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_accelerations_and_forces_of_drives_are_those_of_multipliers(seed):
    """On mechanisms drawn at random, with one joint held at rest in its velocity."""
    case = case_of(seed)
    model = case.built
    q, v, _ = case.state(model)
    X = np.linalg.qr(sk.loop_basis(model, q))[0]
    free = [
        n for n in model.joint_names
        if model.v_slice(n).stop - model.v_slice(n).start == 1
        and np.linalg.norm(X[model.v_slice(n)]) > 0.05
    ]  # fmt: skip
    if not free:
        pytest.skip("no joint of one coordinate can be driven")
    name = free[seed % len(free)]
    motion = sk.SteadyMotion(
        name, float(v[model.v_slice(name)][0]), start=float(q[model.q_slice(name)][0])
    )
    run = sk.simulate(
        model, q, v, duration=1e-6, dt=1e-6, motions=[motion], channels=["vdot", "drive"]
    )
    chosen = [body["joint_name"] for body in case.bodies].index(name)
    place = naive.offsets(case.bodies)[1][chosen]
    vdot, force = by_multipliers(
        case.twin, case.bodies, case.q, case.v, case.gravity, np.arange(len(v))[place], [0.0]
    )
    size = np.abs(vdot).max() + 1.0
    error = np.abs(run.trajectory["vdot"][0] - case.packed_v(model, vdot)).max()
    assert error <= 1e-9 * size
    found = run.trajectory["drive"][0][model.v_slice(name)][0]
    assert abs(found - force[0]) <= 1e-8 * (abs(force[0]) + size)


@pytest.mark.parametrize("method", METHODS)
def test_a_driven_crank_takes_the_linkage_with_it(method):
    model, q, v, motions = driven_four_bar()
    run = sk.simulate(
        model, q, v, duration=2.0, dt=1e-3, every=50, integrator=method, motions=motions,
        channels=["vdot", "drive", "tau"],
    )  # fmt: skip
    angle = 1.0 + SPEED * run.t  # which the run rounds once, and this twice
    assert (np.abs(run.q[:, 0] - angle) <= np.spacing(angle)).all()
    assert (run.v[:, 0] == SPEED).all()
    gaps, rates = widest(model, run)
    assert gaps <= 1e-14
    assert rates <= 1e-13
    for i in (3, 17, 40):
        assert np.abs(sk.assemble(model, run.q[i], hold=["crank"]).q - run.q[i]).max() < 1e-13
        found = sk.hybrid_dynamics(model, run.q[i], run.v[i], prescribed=["crank"])
        assert np.abs(found.vdot - run.trajectory["vdot"][i]).max() <= 1e-11
        assert np.abs(found.tau - run.trajectory["drive"][i]).max() <= 1e-11
        assert np.abs(found.tau - run.trajectory["tau"][i]).max() <= 1e-11
    bound = {"rk4": 1e-10, "dormand_prince": 1e-8, "implicit_midpoint": 1e-5}.get(method, 1e-3)
    assert abs(run.summary["energy_imbalance"]) < bound


PARTLY = {
    "five_bar": (five_bar, 0),
    "gripper": (lambda: reference("11_gripper"), 0),
    "ring": (lambda: ring(40), 0),
}


def partly(name):
    make, number = PARTLY[name]
    given = make()
    model = given.model
    joints = [n for n in model.joint_names if model.joints[model.joint_index(n)].nv == 1]
    return driven(given, joints[number])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", PARTLY)
def test_what_is_left_free_moves_as_it_does_with_the_force_that_was_found(name, method):
    """Forward dynamics with the force in each row; gaps; the account of energy."""
    model, q, v, motions = partly(name)
    run = sk.simulate(
        model, q, v, duration=0.05, dt=5e-4, every=10, integrator=method, motions=motions,
        channels=["vdot", "drive", "tau"],
    )  # fmt: skip
    assert run.status == "finished", run.message
    gaps, rates = widest(model, run)
    assert gaps <= 1e-13
    assert rates <= 1e-12 * max(1.0, np.abs(run.v).max())
    for i in range(len(run.t)):
        again = sk.forward_dynamics(model, run.q[i], run.v[i], run.trajectory["tau"][i])
        size = np.abs(again).max() + 1.0
        assert np.abs(again - run.trajectory["vdot"][i]).max() <= 1e-10 * size
    coarse = method in ("semi_implicit_euler", "implicit_midpoint")
    assert abs(run.summary["energy_imbalance"]) < (1e-2 if coarse else 1e-8)


@pytest.mark.parametrize(("method", "least"), [("rk4", 13.0), ("implicit_midpoint", 3.7)])
def test_orders_are_those_of_the_methods(method, least):
    """A five-bar with one arm driven: the other swings."""
    model, q, v, motions = partly("five_bar")

    def end(dt):
        run = sk.simulate(
            model, q, v, duration=0.4, dt=dt, integrator=method, motions=motions,
            every=round(0.4 / dt),
        )  # fmt: skip
        return run.q[-1]

    fine = sk.simulate(
        model, q, v, duration=0.4, dt=0.1, integrator="dormand_prince", rtol=1e-13, atol=1e-13,
        motions=motions,
    ).q[-1]  # fmt: skip
    first, second = (np.abs(end(dt) - fine).max() for dt in (4e-3, 2e-3))
    assert first > 1e-10
    assert first / second >= least


def test_the_work_of_drives_is_accounted_for_to_the_order_of_the_midpoint_rule():
    model, q, v, motions = partly("five_bar")
    errors = [
        abs(
            sk.simulate(
                model, q, v, duration=0.4, dt=dt, integrator="implicit_midpoint", motions=motions
            ).summary["energy_imbalance"]
        )
        for dt in (4e-3, 2e-3)
    ]
    assert errors[0] / errors[1] > 3.0
    assert errors[0] < 1e-2


def way_of_function(t, params, out):
    out[0] = params[0] + params[1] * t + t * t
    out[1] = params[1] + 2 * t
    out[2] = 2.0


@pytest.mark.parametrize("kind", ["steady", "sine", "table", "function"])
def test_every_kind_of_motion_drives_a_loop(kind):
    model = sk.examples.four_bar()
    motion = {
        "steady": sk.SteadyMotion("crank", 2.0, start=1.0),
        "sine": sk.SineMotion("crank", 0.5, 1.0, offset=1.0),
        "table": sk.MotionTable("crank", (0.0, 0.1, 0.3), (1.0, 1.2, 0.9)),
        "function": sk.MotionFunction("crank", way_of_function, (1.0, 0.5)),
    }[kind]
    place, speed = motion.begins(model)
    q = sk.assemble(model, [place[0], 0.0, 1.5], hold=["crank"]).q
    v = sk.project_velocity(model, q, [speed[0], 0.0, 0.0], hold=["crank"])
    run = sk.simulate(model, q, v, duration=0.3, dt=1e-3, motions=[motion], channels=["drive"])
    assert run.status == "finished", run.message
    gaps, rates = widest(model, run)
    assert gaps <= 1e-14
    assert rates <= 1e-13
    assert abs(run.summary["energy_imbalance"]) < 1e-8


@pytest.mark.parametrize("method", METHODS)
def test_a_driven_base_with_a_quaternion_carries_its_loops(method):
    """The gripper's base turns and slides; its fingers hang on it, and are free."""
    given = reference("11_gripper")
    model = given.model
    base = next(n for n in model.joint_names if model.v_slice(n).stop - model.v_slice(n).start == 6)
    q, v, _ = given.state(model)
    v[model.v_slice(base)] = (0.3, 0.0, 0.2, 0.1, 0.0, 0.0)
    motion = sk.SteadyMotion(
        base, v[model.v_slice(base)].tolist(), start=q[model.q_slice(base)].tolist()
    )
    run = sk.simulate(
        model, q, v, duration=0.05, dt=5e-4, integrator=method, motions=[motion],
        channels=["vdot", "tau"],
    )  # fmt: skip
    assert run.status == "finished", run.message
    gaps, _ = widest(model, run)
    assert gaps <= 1e-13
    assert np.abs(run.v[:, model.v_slice(base)] - v[model.v_slice(base)]).max() == 0.0
    again = sk.forward_dynamics(model, run.q[-1], run.v[-1], run.trajectory["tau"][-1])
    assert np.abs(again - run.trajectory["vdot"][-1]).max() <= 1e-9 * (1 + np.abs(again).max())


# ---- what loops cannot follow -------------------------------------------------------------------


def test_joints_that_a_loop_ties_to_one_another_cannot_all_be_driven():
    model, q, v, motions = driven_four_bar()
    rocker = sk.SteadyMotion("rocker", float(v[2]), start=float(q[2]))
    with pytest.raises(sk.StateError, match="'crank', 'rocker' cannot all be driven: loop 'pin'"):
        sk.simulate(model, q, v, duration=0.1, motions=[*motions, rocker])


def test_a_motion_beyond_a_lock_position_ends_with_a_sentence():
    """A rocker that is driven further than the crank lets it come."""
    model, q, v, _ = driven_four_bar()
    v = sk.project_velocity(model, q, [0.0, 0.0, 1.0], hold=["rocker"])
    motion = sk.SteadyMotion("rocker", 1.0, start=float(q[2]))
    for method in ("rk4", "dormand_prince", "implicit_midpoint"):
        run = sk.simulate(model, q, v, duration=4.0, dt=1e-3, motions=[motion], integrator=method)
        assert run.status == "failed"
        assert "the motion of 'rocker'" in run.message
        assert ("loop 'pin' opened at t = " in run.message) == (method != "implicit_midpoint")
        assert run.t[-1] > 0.01
        assert np.abs(sk.loop_error(model, run.q)).max() < 1e-12


def test_a_start_that_contradicts_the_motion_is_refused():
    model, q, v, motions = driven_four_bar()
    with pytest.raises(sk.StateError, match="v0 of joint 'crank'"):
        sk.simulate(model, q, 0 * v, duration=0.1, motions=motions)
    v[2] += 0.1
    with pytest.raises(sk.StateError, match="loop 'pin' opens with"):
        sk.simulate(model, q, v, duration=0.1, motions=motions)


def test_implicit_springs_beside_drives_are_refused_with_loops_too(folder):
    model, q, v, motions = driven_four_bar()
    with pytest.raises(sk.StateError, match="implicit_springs cannot be combined with prescribed"):
        sk.simulate(
            model, q, v, duration=0.1, motions=motions, integrator="implicit_midpoint",
            implicit_springs=True,
        )  # fmt: skip
    text = SCENARIO.replace("METHOD", "implicit_midpoint").replace(
        "dt = 1e-3", "dt = 1e-3\nimplicit_springs = true"
    )
    with pytest.raises(sk.SkodynError, match="implicit_springs cannot be combined with prescribed"):
        run_scenario(read(text, folder), None)


def test_velocities_near_others_keep_those_that_are_held():
    given = five_bar()
    model = given.model
    q, v, _ = given.state(model)
    name = model.joint_names[0]
    wish = v + np.linspace(-1.0, 1.0, model.nv)
    found = sk.project_velocity(model, q, wish, hold=[name])
    assert found[model.v_slice(name)] == wish[model.v_slice(name)]
    assert np.abs(sk.loop_rate(model, q, found)).max() < 1e-12
    mass, X = sk.mass_matrix(model.opened, q), sk.loop_basis(model, q)
    rest = np.linalg.svd(X[model.v_slice(name)])[2][1:].T  # ways that leave it alone
    assert np.abs((X @ rest).T @ mass @ (found - wish)).max() < 1e-11
    many = sk.project_velocity(model, np.stack([q, q]), wish, hold=[name])
    assert np.abs(many - found).max() < 1e-12
    four = sk.examples.four_bar()
    at = sk.assemble(four, [1.0, 0.0, 1.5], hold=["crank"]).q
    with pytest.raises(sk.DynamicsError, match="velocities of 'crank', 'rocker' cannot be given"):
        sk.project_velocity(four, at, np.zeros(3), hold=["crank", "rocker"])


# ---- files, sweeps, going on later --------------------------------------------------------------

SCENARIO = """
title = "driven"
duration = 0.2
[model]
file = "scenarios/models/four_bar.toml"
[initial]
assemble = true
project = true
q = { rocker = 1.5 }
[motions.motor]
type = "steady"
joint = "crank"
speed = 6.0
start = 1.0
[integrator]
method = "METHOD"
dt = 1e-3
[output]
channels = ["drive"]
"""


def read(text, folder):
    return parse_scenario(text, folder)


@pytest.fixture
def folder(request):
    return request.config.rootpath


def test_a_scenario_starts_where_the_motion_says_and_finds_the_rest(folder):
    scenario = read(SCENARIO.replace("METHOD", "rk4"), folder)
    model = scenario.model
    assert scenario.q0[model.q_slice("crank")] == 1.0
    assert scenario.v0[model.v_slice("crank")] == 6.0
    assert np.abs(sk.loop_error(model, scenario.q0)).max() < 1e-12
    assert np.abs(sk.loop_rate(model, scenario.q0, scenario.v0)).max() < 1e-11
    tied = SCENARIO + '[motions.second]\ntype = "steady"\njoint = "rocker"\nspeed = 1.0\n'
    tied = tied.replace("q = { rocker = 1.5 }\n", "").replace("METHOD", "rk4")
    with pytest.raises(sk.ScenarioError, match="initial"):
        read(tied, folder)


@pytest.mark.parametrize("method", ["rk4", "implicit_midpoint"])
def test_sweeps_in_lanes_have_the_bits_of_runs_by_themselves(method, folder, tmp_path):
    text = SCENARIO.replace("METHOD", method)
    speeds = np.linspace(2.0, 7.0, 9)
    found = sk.sweep(
        read(text, folder), {"motions.motor.speed": speeds.tolist()},
        metrics={"far": {"of": "q.rocker", "kind": "final"}},
        out=tmp_path / "sweep.h5", engine="in-process",
    )  # fmt: skip
    for speed, value in zip(speeds, found.metric("far"), strict=True):
        one = read(text.replace("speed = 6.0", f"speed = {float(speed)!r}"), folder)
        place = one.model.q_slice("rocker")
        assert run_scenario(one, None).q[-1, place] == value


@pytest.mark.parametrize("method", METHODS)
def test_a_run_that_is_gone_on_with_later_has_the_same_bits(method, tmp_path):
    model, q, v, motions = driven_four_bar()
    plan = Plan(
        model, q, v, 0.3, IntegratorSettings(method, 1e-3), Forces(motions=tuple(motions)),
        channels=("drive",),
    )  # fmt: skip
    whole = plan.engine()
    while not whole.finished:
        whole.advance(64)
    first, second = plan.engine(), plan.engine()
    for _ in range(3):
        first.advance(17)
    second.restore(first.memory_of_run())
    while not second.finished:
        second.advance(40)
    assert np.array_equal(whole.q, second.q)
    assert np.array_equal(whole.y, second.y)
