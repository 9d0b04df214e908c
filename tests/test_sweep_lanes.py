"""Runs side by side: the same bits as alone, whoever the neighbours are, and metrics on the way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.jit import JIT_DISABLED
from skodyn.kernels.status import OUT_OF_BOUNDS, decode
from skodyn.scenario import parse_scenario
from skodyn.scenario.running import run_scenario
from skodyn.simulation.elements import Forces, JointProperties, PointSpring, Servo, TorqueTable
from skodyn.simulation.engine import Engine
from skodyn.simulation.force_tables import pack_forces
from skodyn.simulation.settings import IntegratorSettings
from skodyn.sweeps import lane_batch
from skodyn.sweeps.lane_batch import LaneBatch, PackedRuns
from skodyn.sweeps.metrics import Metric, pack_metrics

METHODS = ("rk4", "semi_implicit_euler", "implicit_midpoint", "implicit_contact")
STEPS, DT = 60, 2e-3


def flier(i: int) -> sk.Model:
    """A free base, a ball joint, a hinge and a slider; masses, places and rotors differ."""
    b = sk.ModelBuilder(gravity=(0.3, 0.0, -9.81 - 0.1 * i))
    b.add_body(
        "base", joint=sk.Free(), mass=2.0 + 0.1 * i, com=(0.1, 0, 0), inertia=(0.3, 0.2, 0.4)
    )
    b.add_body("arm", "base", sk.Spherical(), translation=(0.3, 0.01 * i, 0), mass=1.0,
               com=(0, 0.2, -0.4), inertia=(0.1, 0.12, 0.05))  # fmt: skip
    b.add_body("tip", "arm", sk.Revolute((0, 1, 1), armature=0.01 * i), translation=(0, 0, -0.8),
               mass=0.5, com=(0.1, 0, -0.2), inertia=(0.02, 0.02 + 5e-4 * i, 0.015))  # fmt: skip
    b.add_body("slide", "base", sk.Prismatic((0, 1, 0)), mass=0.3, inertia=(0.01, 0.01, 0.01))
    return b.build()


def geared(i: int) -> sk.Model:
    """The same with a hand whose fingers follow one another, and one that follows the slider."""
    b = sk.ModelBuilder(gravity=(0.3, 0.0, -9.81 - 0.1 * i))
    b.add_body(
        "base", joint=sk.Free(), mass=2.0 + 0.1 * i, com=(0.1, 0, 0), inertia=(0.3, 0.2, 0.4)
    )
    b.add_body("slide", "base", sk.Prismatic((0, 1, 0)), mass=0.3, inertia=(0.01, 0.01, 0.01))
    b.add_body("arm", "base", sk.Spherical(), translation=(0.3, 0.01 * i, 0), mass=1.0,
               com=(0, 0.2, -0.4), inertia=(0.1, 0.12, 0.05))  # fmt: skip
    b.add_body("tip", "arm", sk.Revolute((0, 1, 1), armature=0.01 * i), translation=(0, 0, -0.8),
               mass=0.5, com=(0.1, 0, -0.2), inertia=(0.02, 0.02 + 5e-4 * i, 0.015))  # fmt: skip
    for name, place in (("left", 0.1), ("right", -0.1)):
        b.add_body(name, "tip", sk.Revolute((1, 0, 0), armature=0.001), translation=(0, place, 0),
                   mass=0.1, com=(0, 0, -0.1), inertia=(1e-3, 1e-3, 1e-4))  # fmt: skip
    b.add_mimic("left", "tip", 0.5 + 0.05 * i, 0.1)
    b.add_mimic("right", "slide", -1.0 - 0.1 * i)
    return b.build()


def forces(i: int) -> Forces:
    return Forces(
        joints={
            "tip": JointProperties(stiffness=2.0 + i, damping=0.1),
            "arm": JointProperties(damping=0.05 * i),
            "slide": JointProperties(
                stiffness=30.0, friction=0.1, lower=-0.2, upper=0.2 + 0.01 * i
            ),
        },
        elements=(
            Servo("tip", kp=3.0 + i, kd=0.1, ki=1.0, target=0.5, gravity_compensation=True),
            TorqueTable("slide", (0.0, 0.05, 0.11), (0.0, 1.0 + i, -1.0)),
            PointSpring("world", "tip", stiffness=5.0 + i, length=0.3, point_b=(0.1, 0, 0)),
        ),
    )


METRICS = {
    "low": Metric("min", "q.slide"),
    "high": Metric("max", "v.tip"),
    "mean": Metric("mean", "energy"),
    "rms": Metric("rms", "position.tip.z"),
    "last": Metric("final", "kinetic"),
    "crossed": Metric("crossing", "v.slide", level=0.05),
    "rising": Metric("crossing", "v.slide", level=0.05, direction="up"),
    "falling": Metric("crossing", "v.slide", level=0.05, direction="down"),
    "drift": Metric("energy_drift"),
    "own": Metric("max", lambda t, q, v: t + q[0] * v[-1]),
}


def packed(count: int, method: str = "rk4", every: int = 1, make=flier, **more) -> PackedRuns:
    models = [make(i) for i in range(count)]
    tables = [pack_forces(model, forces(i)) for i, model in enumerate(models)]
    states = [start(models[i], i) for i in range(count)]
    return PackedRuns(
        models[0].kernel_tree, tables[0].codes, np.stack([m.parameters for m in models]),
        np.stack([t.numbers for t in tables]), np.stack([q for q, _ in states]),
        np.stack([v for _, v in states]), tables[0].n_integrals, models[0].n_bodies,
        IntegratorSettings(method=method, dt=DT, **more), STEPS, every,
    )  # fmt: skip


def start(model: sk.Model, i: int):
    q, v = model.random_state(np.random.default_rng(i))
    q[model.q_slice("slide")] *= 0.1
    return q, v


def metrics(make=flier):
    return pack_metrics(METRICS, make(0), Path())


def alone(i: int, runs: PackedRuns, make=flier) -> Engine:
    model = make(i)
    engine = Engine(model, *start(model, i), STEPS * DT, runs.settings, forces(i))
    while not engine.finished:
        assert engine.advance(1000).status == 0
    return engine


CASES = [(method, flier) for method in METHODS]
CASES += [(method, geared) for method in METHODS]


@pytest.mark.parametrize(("method", "make"), CASES)
def test_each_lane_has_the_bits_of_the_run_alone(method, make):
    runs = packed(11, method, make=make)  # one full group, and one that is filled up
    outcomes = LaneBatch(runs, pack_metrics({}, make(0), Path())).run()
    assert outcomes.complete.all()
    assert (outcomes.steps == STEPS).all()
    for i in range(11):
        engine = alone(i, runs, make)
        assert (outcomes.q[i] == engine.q).all()
        assert (outcomes.v[i] == engine.v).all()


@pytest.mark.parametrize("make", [flier, geared])
def test_results_do_not_depend_on_neighbours_or_filling(make):
    everyone = LaneBatch(packed(19, make=make), metrics(make)).run()
    whole = packed(19, make=make)
    for chosen in ([0], [8, 3], [4, 1, 7], [2, 2, 5, 6, 8], [18, 3, *range(9)]):
        part = replace(
            whole, parameters=whole.parameters[chosen], numbers=whole.numbers[chosen],
            q=whole.q[chosen], v=whole.v[chosen],
        )  # fmt: skip
        some = LaneBatch(part, metrics(make)).run()
        assert (some.q == everyone.q[chosen]).all()
        assert np.array_equal(some.metrics, everyone.metrics[chosen], equal_nan=True)


def test_how_a_sweep_is_cut_into_calls_changes_nothing(monkeypatch):
    whole = LaneBatch(packed(19), metrics()).run()
    monkeypatch.setattr(lane_batch, "CHUNK_SECONDS", 1e-9)  # as few steps as possible
    cut = LaneBatch(packed(19), metrics()).run()
    assert (whole.q == cut.q).all()
    assert np.array_equal(whole.metrics, cut.metrics, equal_nan=True)


def twin(i: int, every: int, make=flier) -> dict[str, float]:
    """The metrics of one run from its log, in plain NumPy."""
    model, runs = make(i), packed(i + 1, make=make)
    run = sk.simulate(
        model, *start(model, i), duration=STEPS * DT, dt=DT, joints=forces(i).joints,
        elements=forces(i).elements, channels=["energy", "poses"], every=every,
        integrator=runs.settings.method,
    )  # fmt: skip
    q, v, t = run.q, run.v, run.t
    energy = np.asarray(run.trajectory["energy"])
    height = np.asarray(run.trajectory["positions"])[:, model.body_index("tip"), 2]
    slide = v[:, model.v_slice("slide")][:, 0] - 0.05
    up = np.flatnonzero((slide[:-1] < 0) & (slide[1:] >= 0))
    down = np.flatnonzero((slide[:-1] > 0) & (slide[1:] <= 0))

    def when(places):
        if not len(places):
            return np.nan
        k = int(min(places))
        return t[k] + (t[k + 1] - t[k]) * slide[k] / (slide[k] - slide[k + 1])

    return {
        "low": q[:, model.q_slice("slide")].min(),
        "high": v[:, model.v_slice("tip")].max(),
        "mean": energy.sum(axis=1).mean(),
        "rms": np.sqrt((height**2).mean()),
        "last": energy[-1, 0],
        "crossed": when([*up, *down]),
        "rising": when(up),
        "falling": when(down),
        "own": (t + q[:, 0] * v[:, -1]).max(),
    }


@pytest.mark.parametrize("make", [flier, geared])
@pytest.mark.parametrize("every", [1, 4])
def test_metrics_are_those_of_the_logged_run(every, make):
    outcomes = LaneBatch(packed(11, every=every, make=make), metrics(make)).run()
    crossings = 0
    for i in range(11):
        found = dict(zip(METRICS, outcomes.metrics[i], strict=True))
        assert 0.0 <= found.pop("drift") < 1e-4
        wanted = twin(i, every, make)
        crossings += np.isfinite(wanted["crossed"])
        assert found.keys() == wanted.keys()
        for name, value in wanted.items():
            assert found[name] == pytest.approx(value, rel=1e-12, abs=1e-13, nan_ok=True), name
    assert crossings > 0


@pytest.mark.parametrize("poisoned", [[1], [0, 3], [4], [0, 1, 2, 3], [2, 5, 7, 15], [*range(8)]])
def test_a_run_that_blows_up_does_not_touch_its_neighbours(poisoned):
    sound = LaneBatch(packed(19, max_speed=1e3), metrics()).run()
    assert (sound.status == 0).all()
    runs = packed(19, max_speed=1e3)
    runs.v[poisoned, -1] = 999.0  # the slider meets its stop and is thrown beyond the bound
    runs.numbers[poisoned] *= 1e4
    found = LaneBatch(runs, metrics()).run()
    others = np.setdiff1d(np.arange(19), poisoned)
    assert (np.flatnonzero(found.status) == poisoned).all()
    assert found.complete.all()
    assert (found.steps[poisoned] < STEPS).all()
    assert (found.q[others] == sound.q[others]).all()
    assert (found.v[others] == sound.v[others]).all()
    assert np.array_equal(found.metrics[others], sound.metrics[others], equal_nan=True)
    assert np.isfinite(found.q[poisoned]).all()  # the last good state


def test_a_failed_lane_has_the_status_and_step_of_the_run_alone():
    runs = packed(11, max_speed=3.0)
    outcomes = LaneBatch(runs, metrics()).run()
    assert outcomes.status.any()
    for i in range(11):
        model = flier(i)
        engine = Engine(model, *start(model, i), STEPS * DT, runs.settings, forces(i))
        status = 0
        while status == 0 and not engine.finished:
            status = engine.advance(1000).status
        assert status == outcomes.status[i]
        assert engine.step == outcomes.steps[i]
        assert (engine.q == outcomes.q[i]).all()
        if status:
            assert decode(status)[0] == OUT_OF_BOUNDS


def test_stopped_early_only_whole_runs_count(monkeypatch):
    monkeypatch.setattr(lane_batch, "CHUNK_SECONDS", 1e-9)
    asked = iter([False] * 4 + [True] * 100)
    part = LaneBatch(packed(27), metrics()).run(lambda: next(asked))
    whole = LaneBatch(packed(27), metrics()).run()
    if not JIT_DISABLED:
        assert 0 < part.complete.sum() < 27
    assert (part.q[part.complete] == whole.q[part.complete]).all()


def test_runs_with_other_times_of_a_table_have_their_own(tmp_path):
    """Lanes look up times together."""
    text = """
        duration = 0.3
        [model]
        file = "models/double_pendulum.toml"
        [controllers.push]
        type = "torque_table"
        joint = "shoulder"
        times = [0.0, TIME, 0.2]
        torques = [0.0, 5.0, 0.0]
    """
    folder, times = Path(__file__).parent.parent / "scenarios", [0.05, 0.08, 0.12]
    found = sk.sweep(
        parse_scenario(text.replace("TIME", "0.1"), folder), {"controllers.push.times.1": times},
        metrics={"far": {"of": "q.elbow", "kind": "final"}}, out=tmp_path / "sweep.h5",
        engine="in-process",
    )  # fmt: skip
    alone = [
        run_scenario(parse_scenario(text.replace("TIME", str(t)), folder), None) for t in times
    ]
    assert (found.metric("far") == [run.q[-1, 1] for run in alone]).all()
    assert len(set(found.metric("far"))) == 3
