"""Runs of mechanisms with loops: logs, resuming, lanes. The same bits however they are driven."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from loop_references import METHODS, Mechanism, ladder, n_four_bar, pin, reference, rod
from skodyn.simulation import session
from skodyn.simulation.elements import Forces, JointProperties
from skodyn.simulation.engine import Engine
from skodyn.simulation.force_tables import pack_forces
from skodyn.simulation.session import Plan
from skodyn.simulation.settings import IntegratorSettings
from skodyn.sweeps.lane_batch import LaneBatch, PackedRuns
from skodyn.sweeps.metrics import pack_metrics

FIXED = ("rk4", "semi_implicit_euler", "implicit_midpoint", "implicit_contact")
STEPS, DT = 60, 2e-3
SPRINGS = {
    "02_four_bar": {"rocker": JointProperties(stiffness=3.0, damping=0.1)},
    "05_bricard": {"j2": JointProperties(damping=0.05)},
    "07_rssr": {"ball": JointProperties(damping=0.02)},
    "11_gripper": {"drive": JointProperties(stiffness=20.0, damping=0.5)},
}


def plan_for(name, method, duration=0.3, dt=2e-3, **more):
    given = reference(name)
    model = given.model
    q, v, _ = given.state(model)
    settings = IntegratorSettings(method=method, dt=dt, max_step=0.01, **more)
    channels = ("energy", "tau")
    return Plan(model, q, v, duration, settings, Forces(joints=SPRINGS[name]), 2, channels)


def interrupt_at(step):
    sent = []

    def progress(engine, _wall):
        if engine.step >= step and not sent:
            sent.append(step)
            os.kill(os.getpid(), signal.SIGINT)

    return progress


def same_rows(a, b):
    for name in ("t", "step", "q", "v", "energy", "tau"):
        assert np.array_equal(a[name], b[name]), name


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SPRINGS)
def test_a_run_stopped_midway_resumes_to_the_same_bits(name, method, tmp_path):
    plan = plan_for(name, method)
    whole = session.run(plan)
    assert whole.status == "finished"
    at = whole.summary["steps"] // 2
    log = tmp_path / "run.h5"
    part = session.run(plan, log, chunk=3, progress=interrupt_at(at))
    assert part.status == "interrupted"
    assert at <= part.summary["steps"] < at + 3
    same_rows(part.trajectory, whole.trajectory[: len(part.t)])
    run = session.resume(plan, log)
    assert run.status == "finished"
    same_rows(run.trajectory, whole.trajectory)
    for key in ("loop_error_max", "loop_condition_min", "loop_condition_time", "loop_rank_changes"):
        assert run.summary[key] == whole.summary[key], key  # rows before the stop count, too


@pytest.mark.parametrize("method", METHODS)
def test_chunks_do_not_change_a_run(method):
    plan = plan_for("07_rssr", method, duration=0.1)
    runs = [session.run(plan, chunk=chunk) for chunk in (None, 1, 1000)]
    for other in runs[1:]:
        same_rows(runs[0].trajectory, other.trajectory)


def test_rows_wanted_more_rarely_are_the_same_rows():
    plan = plan_for("05_bricard", "rk4", duration=0.42)
    dense, sparse = (session.run(replace(plan, every=every)) for every in (1, 7))
    same_rows(dense.trajectory[::7], sparse.trajectory)


def test_any_row_of_a_log_goes_on_to_the_same_bits():
    """The state has no hidden history: start anew from the middle of a run."""
    given = reference("02_four_bar")
    model = given.model
    q, v, _ = given.state(model)
    whole = sk.simulate(model, q, v, duration=0.2, dt=2e-3)
    half = sk.simulate(model, whole.q[50], whole.v[50], duration=0.1, dt=2e-3)
    assert np.array_equal(half.q, whole.q[50:])
    assert np.array_equal(half.v, whole.v[50:])


# ---- lanes --------------------------------------------------------------------------------------


def four_bar(i):
    """Another mass and length in each lane, closed by its own angle of the rocker."""
    coupler = 0.9 + 0.004 * i
    bodies = [rod("crank", -1, 0.3 + 0.02 * i, 0.3), rod("coupler", 0, 0.9, coupler, x=0.3),
              rod("rocker", -1, 0.7, 0.7, x=1.0)]  # fmt: skip
    made = Mechanism(bodies, [pin("pin", 1, 2, coupler, 0.7)], [], (0.0, -9.81, 0.0),
                     np.zeros(3), np.zeros(3))  # fmt: skip
    return closed(made, reference("02_four_bar").q, np.array([8.0 - 0.1 * i, 0.0, 0.0]))


def tower(i):
    made = ladder(3)
    made.bodies[4]["mass"] = 0.3 + 0.05 * i
    made.v = made.v * (1 + 0.1 * i)
    return made


def closed(made, q, v):
    """Brought together by the public functions, as a person would."""
    model = made.model
    found = sk.assemble(model, made.packed_q(model, q), hold=("crank",)).q
    moving = sk.project_velocity(model, found, made.packed_v(model, v))
    order = [model.q_slice(body["joint_name"]).start for body in made.bodies]
    made.q, made.v = found[order], moving[order]
    return made


def acting(i, model):
    name = model.joint_names[-1]
    return Forces(joints={name: JointProperties(stiffness=1.0 + i, damping=0.1)})


def packed(made, method, count=11, **more):
    mechanisms = [made(i) for i in range(count)]
    models = [m.model for m in mechanisms]
    tables = [pack_forces(model, acting(i, model)) for i, model in enumerate(models)]
    starts = [m.state(model) for m, model in zip(mechanisms, models, strict=True)]
    runs = PackedRuns(
        models[0].kernel_tree, tables[0].codes, np.stack([m.parameters for m in models]),
        np.stack([t.numbers for t in tables]), np.stack([q for q, _, _ in starts]),
        np.stack([v for _, v, _ in starts]), tables[0].n_integrals, models[0].n_bodies,
        IntegratorSettings(method=method, dt=DT, **more), STEPS, 1,
    )  # fmt: skip
    return models, starts, runs


def metrics(model):
    return pack_metrics({}, model, Path())


@pytest.mark.parametrize("method", FIXED)
@pytest.mark.parametrize("made", [four_bar, tower])
def test_each_lane_has_the_bits_of_the_run_alone(made, method):
    models, starts, runs = packed(made, method)
    outcomes = LaneBatch(runs, metrics(models[0])).run()
    assert outcomes.complete.all()
    for i, (model, (q, v, _)) in enumerate(zip(models, starts, strict=True)):
        engine = Engine(model, q, v, STEPS * DT, runs.settings, acting(i, model))
        while not engine.finished:
            assert engine.advance(1000).status == 0
        assert np.array_equal(outcomes.q[i], engine.q)
        assert np.array_equal(outcomes.v[i], engine.v)


def test_a_failing_lane_leaves_its_neighbours_bits_alone():
    models, _, runs = packed(four_bar, "rk4")
    alone = LaneBatch(runs, metrics(models[0])).run()
    v = runs.v.copy()
    v[4] *= 1e4  # no step of this length can follow it
    spoilt = LaneBatch(replace(runs, v=v), metrics(models[0])).run()
    others = np.arange(len(v)) != 4
    assert np.array_equal(spoilt.q[others], alone.q[others])
    assert np.array_equal(spoilt.v[others], alone.v[others])
    assert not np.array_equal(spoilt.q[4], alone.q[4])


def test_results_do_not_depend_on_neighbours_or_filling():
    models, _, runs = packed(tower, "rk4")
    everyone = LaneBatch(runs, metrics(models[0])).run()
    for chosen in ([0], [8, 3], [4, 1, 7], [2, 2, 5, 6, 8]):
        part = replace(
            runs, parameters=runs.parameters[chosen], numbers=runs.numbers[chosen],
            q=runs.q[chosen], v=runs.v[chosen],
        )  # fmt: skip
        some = LaneBatch(part, metrics(models[0])).run()
        assert np.array_equal(some.q, everyone.q[chosen])
        assert np.array_equal(some.v, everyone.v[chosen])


# ---- where a run cannot go on -------------------------------------------------------------------


def test_a_dead_point_is_passed():
    """A crank longer than its rod turns back where the rod stands across; slider and rod go on."""
    bodies = [rod("crank", -1, 1.0, 0.5), rod("rod", 0, 0.5, 0.3, x=0.5)]
    bodies.append(rod("slider", -1, 0.5, 0.1) | {"joint": {"kind": "prismatic", "axis": (1, 0, 0)}})
    made = Mechanism(bodies, [pin("pin", 1, 2, 0.3, 0.0)], [], (0, 0, 0), np.zeros(3), np.zeros(3))
    model = made.model
    q = sk.assemble(model, np.array([0.3, -0.8, 0.73])).q
    v = sk.project_velocity(model, q, made.packed_v(model, [3.0, 0.0, 0.0]))
    run = sk.simulate(model, q, v, duration=2.0, dt=2e-3)
    assert run.status == "finished", run.message
    crank = run.q[:, model.q_slice("crank")]
    assert np.abs(np.sin(crank)).max() <= 0.6 + 1e-12  # 0.3/0.5
    assert np.abs(np.sin(crank)).max() > 0.599  # it was there
    assert np.abs(sk.loop_error(model, run.q)).max() <= 1e-13


def test_a_step_too_long_to_close_stops_the_run_with_loop_and_time():
    given = reference("02_four_bar")
    model = given.model
    q, v, _ = given.state(model)
    run = sk.simulate(model, q, 1e3 * v, duration=1.0, dt=0.05, max_speed=1e12)
    assert run.status == "failed"
    assert "loop 'pin' opened at t = " in run.message
    assert np.abs(sk.loop_error(model, run.q)).max() <= 1e-13  # the last good row is the last


def test_a_start_that_is_open_is_refused_with_the_loop():
    given = reference("02_four_bar")
    model = given.model
    q, v, _ = given.state(model)
    with pytest.raises(sk.SkodynError, match="pin"):
        sk.simulate(model, q + np.array([0, 0, 1e-3]), v, duration=0.1)
    with pytest.raises(sk.SkodynError, match="pin"):
        sk.simulate(model, q, v + np.array([0, 0, 1e-3]), duration=0.1)


def test_rest_in_a_singular_position_is_refused_and_asks_for_a_velocity():
    given = n_four_bar(1)
    model = given.model
    flat = given.packed_q(model, np.zeros(3))  # both cranks and the bar along x
    with pytest.raises(sk.SkodynError) as error:
        sk.simulate(model, flat, np.zeros(3), duration=0.1)
    assert "pin0" in str(error.value)
    assert "velocity" in str(error.value)
