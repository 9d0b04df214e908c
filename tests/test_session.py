"""Runs: the same bits in memory, in a log, in any chunks, after any interruption."""

from __future__ import annotations

import math
import os
import random
import shutil
import signal
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import skodyn as sk
from skodyn.errors import LogError
from skodyn.io import checkpoint
from skodyn.io.trajectory import open as open_trajectory
from skodyn.jit import JIT_DISABLED
from skodyn.scenario.running import resume_log
from skodyn.simulation import loop, session, simulate
from skodyn.simulation.control.controllers import SlowControllerWarning
from skodyn.simulation.elements import Controller, Forces, JointProperties, PointSpring, TorqueTable
from skodyn.simulation.engine import Engine
from skodyn.simulation.methods import METHODS
from skodyn.simulation.session import Plan, checkpoint_path
from skodyn.simulation.settings import IntegratorSettings
from test_steppers import FORCES, flier, start

CHANNELS = ("energy", "momentum", "poses", "vdot", "tau")
DATA_SETS = ("t", "step", "q", "v")


def plan_for(method="rk4", dt=5e-3, duration=1.0, forces=FORCES, every=2, channels=(), **numbers):
    model = flier()
    q, v = start(model)
    settings = IntegratorSettings(method=method, dt=dt, **numbers)
    return Plan(model, q, v, duration, settings, forces, every, channels, seed=4)


def pendulum(length=1.0):
    b = sk.ModelBuilder()
    b.add_body("rod", joint=sk.Revolute((0, 1, 0), name="pivot"), mass=1.0,
               com=(0, 0, -length), inertia=(0.1, 0.1, 0.1))  # fmt: skip
    return b.build()


def assert_same_rows(a, b, names=DATA_SETS):
    for name in names:
        assert np.array_equal(a[name], b[name]), name


def interrupt_at(step):
    """A progress function that sends SIGINT once the run has come so far."""
    sent = []

    def progress(engine, _wall):
        if engine.step >= step and not sent:
            sent.append(step)
            os.kill(os.getpid(), signal.SIGINT)

    return progress


# ---- one run, many ways -------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_memory_and_log_hold_the_same_rows(method, tmp_path):
    plan = plan_for(method, channels=CHANNELS)
    kept = session.run(plan)
    logged = session.run(plan, tmp_path / "run.h5")
    assert kept.status == logged.status == "finished"
    assert kept.trajectory.channels == logged.trajectory.channels
    assert_same_rows(kept.trajectory, logged.trajectory, kept.trajectory.channels)
    assert len(kept.t) == plan.rows == 101
    assert kept.t == pytest.approx(np.arange(101) * 0.01, abs=1e-15)
    assert not checkpoint.previous(checkpoint_path(tmp_path / "run.h5")).exists()
    assert open_trajectory(tmp_path / "run.h5").status == "finished"


@pytest.mark.parametrize("method", METHODS)
def test_a_run_has_the_same_bits_twice_and_in_any_chunks(method):
    runs = [session.run(plan_for(method), chunk=chunk) for chunk in (None, None, 1, 1000)]
    for other in runs[1:]:
        assert_same_rows(runs[0].trajectory, other.trajectory)


def test_simulate_is_the_front_door_of_both(tmp_path):
    model = flier()
    q, v = start(model)
    arguments = {
        "duration": 0.2, "dt": 2e-3, "integrator": "implicit_midpoint", "every": 5,
        "joints": FORCES.joints, "elements": FORCES.elements, "channels": ["tau"],
    }  # fmt: skip
    kept = simulate(model, q, v, **arguments)
    logged = simulate(model, q, v, log=tmp_path / "run.h5", **arguments)
    assert_same_rows(kept.trajectory, logged.trajectory, (*DATA_SETS, "tau"))
    assert logged.log == tmp_path / "run.h5"
    assert "finished: 100 steps" in repr(logged)
    assert kept.log is None
    assert np.array_equal(kept.q[0], q)
    assert np.array_equal(kept.v[0], v)


def test_channels_hold_what_the_dynamics_functions_say():
    run = session.run(plan_for(channels=CHANNELS, duration=0.1))
    rows, model = run.trajectory, flier()
    for i, (q, v) in enumerate(zip(run.q, run.v, strict=True)):
        assert rows["energy"][i] == pytest.approx(sk.energy(model, q, v), rel=1e-14)
        assert rows["momentum"][i] == pytest.approx(sk.momentum(model, q, v), rel=1e-13)
        rotations, positions = sk.forward_kinematics(model, q)
        assert rows["rotations"][i] == pytest.approx(rotations, abs=1e-15)
        assert rows["positions"][i] == pytest.approx(positions, abs=1e-15)
        vdot = sk.forward_dynamics(model, q, v, rows["tau"][i])
        assert rows["vdot"][i] == pytest.approx(vdot, rel=1e-10)


def test_a_row_wanted_more_rarely_does_not_change_the_others():
    dense = session.run(plan_for(every=1))
    sparse = session.run(plan_for(every=7))
    assert_same_rows(dense.trajectory[::7], sparse.trajectory)


def test_a_step_longer_than_a_thousand_rows_does_not_stall():
    b = sk.ModelBuilder()
    b.add_body("stone", joint=sk.Free(), mass=1.0, inertia=(1, 1, 1))
    model = b.build()
    run = simulate(
        model, model.neutral(), np.zeros(6), duration=20.0, dt=1e-3, integrator="dormand_prince"
    )
    assert (run.status, len(run.t)) == ("finished", 20_001)
    assert run.q[:, 6] == pytest.approx(-0.5 * 9.81 * run.t**2, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("parts", [10, 3, 7, 100])
def test_steps_that_add_up_to_the_end_but_for_rounding_reach_it(parts):
    model = pendulum()
    run = simulate(
        model, [0.0], [0.0], duration=1.0, dt=0.5, integrator="dormand_prince",
        max_step=1.0 / parts, first_step=1.0 / parts,
    )  # fmt: skip
    assert (run.status, run.message) == ("finished", "")
    assert run.t.tolist() == [0.0, 0.5, 1.0]


# ---- interrupted and resumed --------------------------------------------------------------------


def assert_resumes(plan, whole, log, at, chunk):
    """Stop once a run has come to step `at`, resume it, stop it again, and let it end."""
    names = whole.trajectory.channels
    run = session.run(plan, log, chunk=chunk, progress=interrupt_at(at))
    assert (run.status, run.outcome.signal) == ("interrupted", signal.SIGINT)
    assert at <= run.summary["steps"] < at + chunk
    assert f"step {run.summary['steps']}" in run.message
    assert open_trajectory(log).status == "interrupted"
    assert_same_rows(run.trajectory, whole.trajectory[: len(run.t)], names)
    run = session.resume(plan, log, chunk=3, progress=interrupt_at(run.summary["steps"] + 2))
    if run.status == "interrupted":
        run = session.resume(plan, log)
    assert run.status == "finished"
    assert_same_rows(run.trajectory, whole.trajectory, names)
    for account in ("work_of_forces", "energy_start", "energy_end", "linear_momentum_imbalance"):
        assert run.summary[account] == whole.summary[account]


def assert_resumes_anywhere(method, folder, splits, seed):
    plan = plan_for(method, channels=("tau", "energy"), max_step=0.01)
    whole = session.run(plan)
    rng = random.Random(seed)
    for at in rng.sample(range(1, whole.summary["steps"] - 8), splits):
        assert_resumes(plan, whole, folder / f"{at}.h5", at, rng.randrange(1, 8))


@pytest.mark.parametrize("method", METHODS)
def test_an_interrupted_run_resumes_to_the_same_rows(method, tmp_path):
    assert_resumes_anywhere(method, tmp_path, 4, seed=11)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_a_run_resumes_to_the_same_rows_from_fifty_random_steps(method, tmp_path):
    assert_resumes_anywhere(method, tmp_path, 50, seed=time.time_ns())


def test_simulate_goes_on_with_its_log_as_the_message_says(tmp_path, monkeypatch):
    model, log = flier(), tmp_path / "run.h5"
    q, v = start(model)
    given = {"duration": 0.5, "dt": 5e-3, "joints": FORCES.joints, "elements": FORCES.elements}
    whole = simulate(model, q, v, **given)
    monkeypatch.setattr(session, "run", partial(session.run, chunk=5))
    stop = interrupt_at(40)
    part = simulate(model, q, v, log=log, resume=True, progress=stop, **given)  # begins
    assert part.status == "interrupted"
    with pytest.raises(LogError, match=rf"sk\.simulate\(…, log='{log}', resume=True\)"):
        resume_log(log)
    run = simulate(model, q, v, log=log, resume=True, **given)
    assert run.status == "finished"
    assert_same_rows(run.trajectory, whole.trajectory)
    with pytest.raises(LogError, match="finished run; there is nothing to resume"):
        simulate(model, q, v, log=log, resume=True, **given)


def test_handlers_are_given_back_after_a_run(tmp_path):
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    session.run(plan_for(duration=0.1), chunk=1, progress=interrupt_at(3))
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


@pytest.fixture
def interrupted(tmp_path):
    plan, log = plan_for(), tmp_path / "run.h5"
    assert session.run(plan, log, chunk=5, progress=interrupt_at(60)).status == "interrupted"
    return plan, log


def _other_model():
    b = sk.ModelBuilder(gravity=(0.0, 0.0, -9.8))
    b.add_body("base", joint=sk.Free(), mass=2.0, com=(0.1, 0, 0), inertia=(0.3, 0.2, 0.4))
    b.add_body("arm", "base", sk.Spherical(), mass=1.0, inertia=(0.1, 0.12, 0.05))
    b.add_body("tip", "arm", sk.Revolute((0, 1, 1)), mass=0.5, inertia=(0.02, 0.02, 0.01))
    b.add_body("slide", "base", sk.Prismatic((0, 1, 0)), mass=0.3, inertia=(0.01, 0.01, 0.01))
    return b.build()


def _stiffer():
    return replace(FORCES, joints={**FORCES.joints, "tip": JointProperties(stiffness=2.1)})


def push(t, q, v, p, tau):
    tau[-1] -= 0.1 * v[-1]


def controlled(forces, law, params=()):
    return replace(forces, elements=(*forces.elements, Controller(law, params)))


CHANGES = {
    "controller 'push'": lambda p: {"forces": controlled(p.forces, push)},
    "model": lambda p: {"model": _other_model()},
    "initial state": lambda p: {"v0": p.v0 * 1.5},
    "settings": lambda p: {"settings": p.settings.changed(dt=p.settings.dt / 2)},
    "settings ": lambda p: {"duration": p.duration / 2},
    "settings  ": lambda p: {"every": 4},
    "forces": lambda p: {"forces": _stiffer()},
    "forces ": lambda p: {"forces": replace(p.forces, elements=())},
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_plan_is_refused_and_named(what, interrupted):
    plan, log = interrupted
    changed = replace(plan, **CHANGES[what](plan))
    before = log.read_bytes()
    with pytest.raises(sk.StateError) as error:
        session.resume(changed, log)
    assert f"its {what.strip()} changed" in str(error.value)
    assert log.read_bytes() == before


def test_a_changed_plan_that_is_forced_goes_on_and_is_recorded(interrupted):
    plan, log = interrupted
    run = session.resume(replace(plan, forces=_stiffer()), log, force=True)
    assert run.status == "finished"
    resumed = run.trajectory.provenance["resumed"]
    assert [session["changed"] for session in resumed] == [["forces"]]
    assert len(run.t) == plan.rows


@pytest.mark.skipif(JIT_DISABLED, reason="controllers are compiled, or called back")
def test_a_controller_that_was_edited_is_noticed_and_recorded_if_forced(tmp_path):
    def made(gain):
        def law(t, q, v, p, tau):
            tau[-1] -= gain * v[-1]

        return law

    log = tmp_path / "run.h5"
    plan, same, edited = (
        plan_for(forces=controlled(FORCES, made(gain))) for gain in (0.3, 0.3, 0.4)
    )
    whole = session.run(plan)
    assert session.run(plan, log, chunk=5, progress=interrupt_at(60)).status == "interrupted"
    with pytest.raises(sk.StateError, match="its controller 'law' changed"):
        session.resume(edited, log)
    shutil.copytree(tmp_path, tmp_path / "copy")
    run = session.resume(same, log)
    assert_same_rows(run.trajectory, whole.trajectory)
    forced = session.resume(edited, tmp_path / "copy" / "run.h5", force=True)
    assert forced.trajectory.provenance["resumed"][0]["changed"] == ["controller 'law'"]
    assert np.array_equal(forced.q[:30], whole.q[:30])
    assert not np.array_equal(forced.q[-1], whole.q[-1])


@pytest.mark.skipif(JIT_DISABLED, reason="controllers are compiled, or called back")
def test_a_controller_that_remembers_is_judged_by_what_it_was_at_the_start(tmp_path):
    class Counts:
        def __init__(self):
            self.calls = 0

        def __call__(self, t, q, v, p, tau):
            self.calls += 1

    log = tmp_path / "run.h5"
    first, fresh = (plan_for(forces=controlled(FORCES, Counts())) for _ in range(2))
    with pytest.warns(SlowControllerWarning):
        run = session.run(first, log, chunk=5, progress=interrupt_at(60))
    assert run.status == "interrupted"
    with pytest.raises(sk.StateError, match="its controller 'Counts' changed"):
        session.resume(first, log)  # it has counted, and no checkpoint knows how far
    with pytest.warns(SlowControllerWarning):
        assert session.resume(fresh, log).status == "finished"


def test_a_forced_resume_with_another_state_size_is_refused(interrupted):
    plan, log = interrupted
    small = Plan(pendulum(), np.zeros(1), np.zeros(1), 1.0, plan.settings)
    with pytest.raises(sk.StateError, match="another model or other controllers"):
        session.resume(small, log, force=True)


def test_a_long_table_changed_in_its_middle_is_noticed():
    times = np.linspace(0.0, 1.0, 5000)
    torques = np.sin(times)
    other = torques.copy()
    other[2500] += 1e-12
    plans = [
        plan_for(forces=Forces(elements=(TorqueTable("tip", times, t),))) for t in (torques, other)
    ]
    assert plans[0].identity()["forces"] != plans[1].identity()["forces"]


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "gone"])
def test_a_damaged_checkpoint_gives_way_to_the_one_before(damage, tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "FLUSH_SECONDS", 0.0)  # a checkpoint after every chunk
    plan, log = plan_for("dormand_prince"), tmp_path / "run.h5"
    whole = session.run(plan)
    session.run(plan, log, chunk=5, progress=interrupt_at(20))
    newest = checkpoint_path(log)
    content = newest.read_bytes()
    if damage == "gone":
        newest.unlink()
    else:
        flipped = content[:-20] + bytes([content[-20] ^ 1]) + content[-19:]
        newest.write_bytes({"cut": content[:-9], "flipped": flipped, "empty": b""}[damage])
    assert checkpoint.load(newest).note
    run = session.resume(plan, log)
    assert run.status == "finished"
    assert_same_rows(run.trajectory, whole.trajectory)
    assert "previous" in run.trajectory.provenance["resumed"][0]["checkpoint"]


def test_without_any_checkpoint_a_resume_says_so(interrupted):
    plan, log = interrupted
    checkpoint.remove(checkpoint_path(log))
    with pytest.raises(LogError, match="No usable checkpoint"):
        session.resume(plan, log)


def test_a_checkpoint_of_a_longer_log_is_refused_and_the_log_stays(interrupted, tmp_path):
    plan, log = interrupted
    other = tmp_path / "other.h5"
    session.run(plan, other, chunk=1, progress=interrupt_at(3))
    checkpoint_path(other).write_bytes(checkpoint_path(log).read_bytes())
    with pytest.raises(LogError, match="do not belong together"):
        session.resume(plan, other)
    assert len(open_trajectory(other)) == 2


def test_an_existing_log_is_not_overwritten_unless_asked(tmp_path):
    plan, log = plan_for(duration=0.1), tmp_path / "run.h5"
    session.run(plan, log)
    before = log.read_bytes()
    with pytest.raises(LogError, match="exists and is not overwritten"):
        session.run(plan, log)
    assert log.read_bytes() == before
    longer = session.run(replace(plan, duration=0.2), log, overwrite=True)
    assert len(longer.t) == 21


def test_a_new_run_forgets_the_checkpoints_of_an_old_one(interrupted):
    plan, log = interrupted
    run = session.run(plan, log, overwrite=True)
    assert run.status == "finished"
    names = {p.name for p in log.parent.iterdir()}
    assert names == {log.name, f"{log.name}.checkpoint"}  # that of its end, no .previous


# ---- runs that fail -----------------------------------------------------------------------------


def blow_up(dt=0.5):
    """An explicit method with a step far too long for its spring."""
    joints = {"pivot": JointProperties(stiffness=1e6)}
    return Plan(pendulum(), np.array([0.1]), np.zeros(1), 500 * dt,
                IntegratorSettings("semi_implicit_euler", dt=dt), Forces(joints))  # fmt: skip


def test_a_blow_up_is_a_failed_run_with_finite_rows(tmp_path):
    run = session.run(blow_up(), tmp_path / "run.h5")
    assert run.status == "failed"
    steps = run.summary["steps"]
    assert 0 < steps < 500
    words = ("'pivot'", f"t = {steps * 0.5:.9g} s", f"step {steps + 1}", "smaller dt")
    assert all(word in run.message for word in words)
    log = open_trajectory(tmp_path / "run.h5")
    assert (log.status, log.message) == ("failed", run.message)
    assert len(log) == steps + 1
    assert np.isfinite(log.q).all()
    assert np.isfinite(log.v).all()
    saved = checkpoint.load(checkpoint_path(tmp_path / "run.h5")).arrays
    assert np.array_equal(saved["q"], log.q[-1])
    assert saved["step"][0] == steps
    again = session.resume(blow_up(), tmp_path / "run.h5")  # it fails again, at the same place
    assert (again.message, len(again.t)) == (run.message, steps + 1)


@pytest.mark.parametrize("method", METHODS)
def test_a_bound_on_speed_ends_the_run_and_names_the_joint(method):
    b = sk.ModelBuilder()
    b.add_body("still", joint=sk.Revolute((0, 0, 1)), mass=1.0, inertia=(1, 1, 1))
    b.add_body("stone", joint=sk.Prismatic((0, 0, 1), name="drop"), mass=1.0, inertia=(1, 1, 1))
    settings = IntegratorSettings(method, dt=0.01, max_speed=5.0, max_step=0.01)
    run = session.run(Plan(b.build(), np.zeros(2), np.zeros(2), 2.0, settings))
    assert run.status == "failed"
    assert "'drop' is faster than 5" in run.message
    assert "at t = 0.5" in run.message
    assert np.abs(run.v).max() <= 5.0
    assert np.abs(run.v).max() > 4.8


def test_a_shock_that_no_step_resolves_is_a_failed_run():
    b = sk.ModelBuilder(gravity=(0, 0, 0))
    b.add_body("a", joint=sk.Prismatic((1, 0, 0)), mass=1.0, inertia=(1, 1, 1))
    spring = PointSpring("a", "world", stiffness=1e60)
    run = session.run(
        Plan(b.build(), np.array([1.0]), np.zeros(1), 1.0,
             IntegratorSettings("dormand_prince", dt=0.1), Forces(elements=(spring,)))
    )  # fmt: skip
    assert run.status == "failed"
    assert "tolerance" in run.message or "finite" in run.message
    assert np.isfinite(run.q).all()


def test_an_error_in_progress_marks_the_log_failed(tmp_path):
    def progress(engine, wall):
        raise ValueError("the screen is gone")

    with pytest.raises(ValueError, match="screen"):
        session.run(plan_for(), tmp_path / "run.h5", progress=progress)
    log = open_trajectory(tmp_path / "run.h5")
    assert (log.status, log.message) == ("failed", "ValueError: the screen is gone")


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"duration": 0.0}, "duration is 0.0"),
        ({"duration": math.nan}, "duration is nan"),
        ({"every": 0}, "every is 0"),
        ({"every": 1.5}, "every is 1.5"),
        ({"channels": ("heat",)}, "Unknown channels ['heat']"),
    ],
)
def test_a_plan_that_cannot_run_names_what_is_wrong(numbers, words):
    with pytest.raises(sk.StateError) as error:
        plan_for(**numbers)
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("q", "v"),
    [([0.0, 0.0], [0.0]), ([0.0], [0.0, 0.0]), ([math.nan], [0.0]), ([0.0], [math.inf]), (0.0, 0)],
)
def test_a_start_that_does_not_fit_is_refused(q, v, tmp_path):
    with pytest.raises(sk.StateError):
        simulate(pendulum(), q, v, duration=1.0, log=tmp_path / "run.h5")
    assert not (tmp_path / "run.h5").exists()


def test_an_engine_restored_from_a_checkpoint_file_is_the_same_engine(tmp_path):
    plan = plan_for("dormand_prince")
    first = plan.engine()
    first.advance(9)
    checkpoint.save(tmp_path / "c", first.memory_of_run(), {})
    second = plan.engine()
    second.restore(checkpoint.load(tmp_path / "c").arrays)
    assert isinstance(second, Engine)
    for name, kept in first.memory_of_run().items():
        assert np.array_equal(second.memory_of_run()[name], kept)
