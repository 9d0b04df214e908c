"""Long runs: memory that does not grow, energy that does not drift.

The slow variants (`pytest -m slow`) take the lengths that the claims are made for.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.simulation.engine import Engine
from skodyn.simulation.settings import IntegratorSettings

ROOT = Path(__file__).parent.parent
DOUBLE_PENDULUM = ROOT / "scenarios" / "models" / "double_pendulum.toml"

# ---- memory -------------------------------------------------------------------------------------

# in a process of its own, so that no other test's memory is measured
MEMORY = """
import json, sys
from pathlib import Path
import numpy as np
import skodyn as sk
from skodyn.simulation import loop, session
from skodyn.simulation.session import Plan
from skodyn.simulation.settings import IntegratorSettings

steps, folder, flush, model = int(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
loop.FLUSH_SECONDS = flush
loop.MOST_STEPS = steps // 100

def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(x.split()[1] for x in lines if x.startswith("VmRSS")))

tenths = [0] * 11

def progress(engine, wall):
    tenths[10 * engine.step // steps] = resident()

plan = Plan(sk.load(model), np.array([1.5, 0.5]), np.zeros(2), steps * 1e-3,
            IntegratorSettings("rk4", dt=1e-3), every=1000, channels=("energy",))
run = session.run(plan, folder / "run.h5", progress=progress)
assert run.status == "finished", run.message
assert len(run.t) == steps // 1000 + 1
print(json.dumps(tenths))
"""


def resident_memory(steps, folder, flush):
    """Resident memory, in KB, at each tenth of a run of the double pendulum that logs to a file."""
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(steps), str(folder), str(flush), str(DOUBLE_PENDULUM)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_memory_is_constant_over_a_run(tmp_path):
    tenths = resident_memory(200_000, tmp_path, flush=0.02)
    assert max(tenths[1:]) - tenths[1] <= 512


@pytest.mark.slow
def test_memory_is_constant_over_ten_million_steps(tmp_path):
    tenths = resident_memory(10_000_000, tmp_path, flush=0.1)
    print("resident memory at each tenth, KB:", tenths[1:])
    assert max(tenths[1:]) - tenths[1] <= 1024


# ---- energy -------------------------------------------------------------------------------------


def spinning_body():
    """A body with three different moments of inertia, off its centre, without gravity."""
    b = sk.ModelBuilder(gravity=(0, 0, 0))
    b.add_body("body", joint=sk.Free(), mass=2.0, com=(0.1, 0, 0.05), inertia=(0.3, 0.2, 0.4))
    model = b.build()
    return model, model.neutral(), np.array([0.4, 2.0, 0.3, 0.1, -0.2, 0.3]), 0.02


def swinging_rods():
    return sk.load(DOUBLE_PENDULUM), np.array([0.8, 0.3]), np.zeros(2), 5e-3


SYSTEMS = {"double pendulum": swinging_rods, "spinning free body": spinning_body}


def energies(system, method, steps, finer=1):
    """(t, total energy) of 5000 evenly spaced rows; `finer` divides the length of the steps."""
    model, q, v, dt = SYSTEMS[system]()
    settings = IntegratorSettings(method, dt=dt / finer)
    engine = Engine(model, q, v, steps * dt, settings, every=finer * steps // 5000)
    t, total = [], []
    while not engine.finished:
        block = engine.advance(100_000)
        assert block.status == 0
        speed = np.ascontiguousarray(block.y[:, : model.nv])
        t.append(block.t)
        total.append(np.sum(sk.energy(model, block.q, speed), axis=0))
    return np.concatenate(t), np.concatenate(total)


def secular_drift(t, energy):
    """(change over the run of the line that fits best, standard deviation about that line)."""
    slope, offset = np.polyfit(t, energy, 1)
    return slope * (t[-1] - t[0]), np.std(energy - (slope * t + offset))


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_energy_of_the_implicit_midpoint_rule_does_not_drift_in_a_million_steps(system):
    """It oscillates and goes nowhere: the line through it moves by a fiftieth of the oscillation.

    The energy of a free body is quadratic in its velocity, and the rule keeps what is quadratic:
    there is no oscillation then, but rounding, which may add up to one unit in the last place per
    step and no more.
    """
    steps = 1_000_000
    t, energy = energies(system, "implicit_midpoint", steps)
    drift, oscillation = secular_drift(t, energy)
    print(f"{system}: drift {drift:.1e} J, oscillation {oscillation:.1e} J of {energy[0]:.4g} J")
    rounding = np.finfo(float).eps * steps * abs(energy[0])
    assert abs(drift) < max(0.02 * oscillation, rounding)
    assert oscillation < 1e-4 * abs(energy[0])


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_energy_of_rk4_drifts_and_the_measure_of_drift_sees_it(system):
    drift, oscillation = secular_drift(*energies(system, "rk4", 50_000))
    assert abs(drift) > 10 * oscillation


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_energy_drift_of_rk4_falls_with_the_fourth_power_of_dt_or_faster(system):
    """An order of four bounds it from below; a linear oscillator, amplified by 1 − (ω dt)⁶/144 in a
    step, loses energy with the fifth power, and smooth motions come close to that.
    """
    drifts = [secular_drift(*energies(system, "rk4", 5_000, finer))[0] for finer in (1, 2, 4)]
    orders = np.log2(np.array(drifts[:-1]) / drifts[1:])
    print(f"{system}: drift falls with dt to the power {orders}")
    assert (orders > 3.9).all()
    assert (orders < 6.0).all()
