"""The thermostat and the force of the Fixman potential in simulations."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.io import checkpoint
from skodyn.scenario import parse_scenario, read_scenario
from skodyn.scenario.running import plan_of
from skodyn.simulation import session
from skodyn.simulation.elements import Forces
from skodyn.simulation.session import Plan
from skodyn.simulation.settings import IntegratorSettings

FOLDER = Path(__file__).parents[1] / "scenarios"
TRIMER = sk.load(FOLDER / "models" / "trimer.toml")
START = TRIMER.integrate(TRIMER.neutral(), 0.3 * np.arange(9))


def plan(duration=4.0, seed=1, elements=(), every=1):
    return Plan(
        TRIMER, START, np.zeros(9), duration, IntegratorSettings(dt=0.02),
        Forces(elements=elements), every, thermostat=sk.AndersenThermostat(1.0, 5.0, seed),
    )  # fmt: skip


def test_a_run_is_the_same_however_it_is_cut():
    whole = session.run(plan())
    for chunk in (1, 7, 64):
        cut = session.run(plan(), chunk=chunk)
        np.testing.assert_array_equal(cut.q, whole.q)
        np.testing.assert_array_equal(cut.v, whole.v)
    assert np.abs(whole.v).max() > 0.1  # it started at rest
    assert not np.array_equal(session.run(plan(seed=2)).v, whole.v)


def test_a_resumed_run_has_the_same_bits(tmp_path):
    whole = session.run(plan(), tmp_path / "whole.h5")
    log = tmp_path / "half.h5"

    class StoppedError(Exception):
        pass

    def stop(engine, _seconds):
        if engine.step >= 100:
            raise StoppedError

    with pytest.raises(StoppedError):
        session.run(plan(), log, chunk=20, progress=stop)
    # the checkpoint is the one from the start; go on from the middle as a long run would
    engine = plan().engine()
    while engine.step < 100:
        engine.advance(20)
    memory = engine.memory_of_run()
    saved = checkpoint.load(session.checkpoint_path(log))
    checkpoint.save(session.checkpoint_path(log), memory, saved.meta | {"rows": 101})
    resumed = session.resume(plan(), log)
    assert resumed.status == "finished"
    np.testing.assert_array_equal(resumed.q, whole.q)
    np.testing.assert_array_equal(resumed.v, whole.v)


def test_another_thermostat_is_another_run(tmp_path):
    first, second = plan(seed=1).identity(), plan(seed=2).identity()
    assert [key for key in first if first[key] != second[key]] == ["forces"]
    without = replace(plan(), thermostat=None).identity()
    assert without["forces"] != first["forces"]


def test_collisions_come_at_their_rate_and_bring_the_energy_that_is_missing():
    """In equilibrium the mean kinetic energy is kT/2 for each degree of freedom."""
    run = session.run(plan(duration=400.0, every=10))
    kinetic, _ = sk.energy(TRIMER, run.q, run.v)
    samples = np.asarray(kinetic)[50:]
    # about 5 collisions a second, every one independent: 2000 of them, each with variance 9/2
    assert abs(samples.mean() - 4.5) < 5 * np.sqrt(4.5 / 2000)
    run = session.run(plan(duration=40.0))
    kinetic, _ = sk.energy(TRIMER, run.q, run.v)
    jumps = np.abs(np.diff(kinetic)) > 0.02  # nothing else changes it
    # 200 expected, some in the same step, some too small to see: 5σ of a Poisson process
    assert 200 - 5 * np.sqrt(200) - 15 < jumps.sum() < 200 + 5 * np.sqrt(200)


def test_what_collisions_bring_counts_as_work():
    run = sk.simulate(
        TRIMER, START, np.zeros(9), duration=2.0, dt=0.001,
        thermostat=sk.AndersenThermostat(1.0, 5.0, seed=1),
    )  # fmt: skip
    assert run.summary["energy_end"] > 0.1  # it started at rest
    assert abs(run.summary["energy_imbalance"]) < 1e-9


def test_faults_are_sentences():
    with pytest.raises(sk.StateError, match=r"kT is -1\.0; give a number above 0"):
        sk.AndersenThermostat(-1.0, 1.0)
    with pytest.raises(sk.StateError, match="rate is 'often'"):
        sk.AndersenThermostat(1.0, "often")
    with pytest.raises(sk.StateError, match=r"seed is 1\.5"):
        sk.AndersenThermostat(1.0, 1.0, 1.5)
    with pytest.raises(sk.StateError, match="steps of equal length, which dormand_prince"):
        sk.simulate(
            TRIMER, START, np.zeros(9), duration=1.0, integrator="dormand_prince",
            thermostat=sk.AndersenThermostat(1.0, 1.0),
        )  # fmt: skip
    with pytest.raises(sk.ModelError, match=r"FixmanForce number 1: kT is -2\.0"):
        sk.simulate(TRIMER, START, np.zeros(9), duration=1.0, elements=[sk.FixmanForce(-2.0)])


def test_scenarios_can_switch_both_on():
    scenario = read_scenario(FOLDER / "trimer_fixman.toml")
    assert scenario.thermostat == sk.AndersenThermostat(1.0, 2.0, seed=1)
    assert scenario.forces.elements == (sk.FixmanForce(1.0),)
    assert plan_of(scenario).thermostat == scenario.thermostat
    text = scenario.text.replace("rate = 2.0", "rate = -2.0").replace('method = "rk4"', "")
    text = text.replace("dt = 0.02", 'method = "dormand_prince"').replace("every = 25", "")
    with pytest.raises(sk.ScenarioError) as caught:
        parse_scenario(text, FOLDER)
    assert "thermostat.rate is -2.0; give a number above 0." in str(caught.value)
    assert "steps of equal length, which 'dormand_prince'" in str(caught.value)


# ---- the force of the Fixman potential --------------------------------------------------------


def test_fixman_forces_are_the_gradient_and_add_up():
    run = sk.simulate(
        TRIMER, START, np.ones(9), duration=0.1, dt=0.01, channels=["tau"],
        elements=[sk.FixmanForce(0.5), sk.FixmanForce(1.5)],
    )  # fmt: skip
    expected = -0.5 * 2.0 * sk.mass_matrix_logdet_gradient(TRIMER, run.q)
    np.testing.assert_allclose(run.trajectory["tau"], expected, atol=1e-15)
    assert np.abs(expected).max() > 0.1


def test_fixman_force_is_conservative():
    """Its work is the loss of its potential, and the energy balance closes."""
    run = sk.simulate(
        TRIMER, START, np.ones(9), duration=4.0, dt=0.005, elements=[sk.FixmanForce(2.0)]
    )
    lost = sk.fixman_potential(TRIMER, run.q[0], 2.0) - sk.fixman_potential(TRIMER, run.q[-1], 2.0)
    assert abs(lost) > 0.05
    np.testing.assert_allclose(run.summary["work_of_forces"], lost, atol=1e-7)
    assert abs(run.summary["energy_imbalance"]) < 1e-7


def test_fixman_force_stands_beside_other_forces():
    push = sk.Wrench("last", force=(0.1, 0.2, 0.3), point=(1.0, 0.0, 0.0))
    both = sk.simulate(
        TRIMER, START, np.ones(9), duration=0.1, dt=0.01, channels=["vdot"],
        elements=[push, sk.FixmanForce(1.0)],
    )  # fmt: skip
    q, v = both.q[-1], both.v[-1]
    tau = -0.5 * sk.mass_matrix_logdet_gradient(TRIMER, q)
    rotations, _ = sk.forward_kinematics(TRIMER, q)
    k = TRIMER.body_index("last")
    f_ext = np.zeros((3, 6))
    f_ext[k] = *np.cross(rotations[k] @ [1.0, 0, 0], push.force), *push.force
    expected = sk.forward_dynamics(TRIMER, q, v, tau, f_ext)
    np.testing.assert_allclose(both.trajectory["vdot"][-1], expected, atol=1e-12)
