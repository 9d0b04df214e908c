"""Instructions that each kernel executes, counted by valgrind: the same number on a noisy machine.

    skodyn cache warm && python benchmarks/instructions.py now.json
    python benchmarks/instructions.py now.json --against before.json    # ratios, largest first

Kernels are those of the shared object of `skodyn cache warm`, called on small and large models of
every kind, each about as often as its size allows, so that none outweighs the others. What a kernel
calls counts as its own. A count says nothing of caches or of how many instructions a processor
takes at once: it shows that code has changed, and by how much, where times scatter too far.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

import skodyn as sk
from flexible import chain as beams
from loop_models import closed_state, four_bar, ladder, stewart
from models import arm, chain, humanoid, random_tree
from skodyn.simulation.engine import Engine
from skodyn.simulation.settings import IntegratorSettings
from skodyn.sweeps.batch import pickled, run_batch
from sweep import study_of

BODIES = 100  # how many bodies a model's calls go over in all, about
BATCH = 16
METHODS = ("rk4", "semi_implicit_euler", "implicit_midpoint", "dormand_prince")
RUNS = (
    "ball_on_slope",
    "driven_four_bar",
    "flexible_slider_crank",
    "parallel_gripper",
    "quadruped",
    "trimer_fixman",
)
SCENARIOS = Path(__file__).parent.parent / "scenarios"


# ---- what is called -----------------------------------------------------------------------------


def trees():
    return [chain(2), arm(), chain(10), humanoid(), chain(100), random_tree(60)]


def call_functions(model, q, v):
    """Functions of a state, as Python calls them; q and v of one state or of many."""
    tau = np.zeros_like(v)
    vdot = sk.forward_dynamics(model, q, v, tau)
    sk.inverse_dynamics(model, q, v, vdot)
    sk.mass_matrix(model, q)
    sk.mass_matrix_solve(model, q, v)
    sk.forward_kinematics(model, q)
    sk.energy(model, q, v)
    sk.momentum(model, q, v)
    sk.bias_force(model, q, v)
    if model.n_modes == 0:
        sk.mass_matrix_inverse(model, q)
        sk.mass_matrix_logdet(model, q)
        sk.forward_dynamics_derivatives(model, q, v, tau)
        sk.inverse_dynamics_derivatives(model, q, v, vdot)


def call_loop_functions(model, q, v):
    sk.forward_dynamics(model, q, v, np.zeros_like(v))
    sk.loop_error(model, q)
    sk.loop_rate(model, q, v)
    sk.project_velocity(model, q, v)


def times(model):
    return max(1, BODIES // model.n_bodies)


def run_steps(model, q, v, methods=METHODS):
    for method in methods:
        settings = IntegratorSettings(method, dt=1e-4)
        Engine(model, q, v, 1e5, settings, every=10**9).advance(2 * times(model))


def workload():
    rng = np.random.default_rng(5)
    for model in trees():
        states = [model.random_state(rng) for _ in range(BATCH)]
        for q, v in states[: times(model)]:
            call_functions(model, q, v)
        many = BATCH if model.n_bodies < 20 else 8
        call_functions(model, *map(np.array, zip(*states[:many], strict=True)))
        run_steps(model, *states[0])
    for model, *state in (four_bar(), stewart(), ladder(10)):
        q, v = closed_state(model, *state)
        for _ in range(times(model)):
            call_loop_functions(model, q, v)
        call_loop_functions(model, np.tile(q, (8, 1)), np.tile(v, (8, 1)))
        run_steps(model, q, v)
    for model in (beams(5, {"z": 4}), beams(5, {"y": 4, "z": 4}, True)):
        q, v = model.neutral(), 0.01 * np.ones(model.nv)
        call_functions(model, q, v)
        call_functions(model, np.tile(q, (8, 1)), np.tile(v, (8, 1)))
        run_steps(model, q, v)
    for n in (2, 10, 100):
        sweep_starts(chain(n))
    run_scenarios()


def sweep_starts(model, steps=20, runs=BATCH):
    """Runs side by side."""
    plan = study_of(model, steps, runs)
    rows = plan.design.points(np.arange(runs))
    run_batch(pickled(plan.study), np.arange(runs), rows)


def run_scenarios():
    """Contacts, motions, mimic joints, drives, a thermostat, flexible bodies in loops."""
    for name in RUNS:
        scenario = sk.read_scenario(SCENARIOS / f"{name}.toml")
        output = replace(scenario.output, every=1)
        duration = 20 * scenario.integrator.dt
        sk.run(replace(scenario, duration=duration, output=output))


# ---- what is counted ----------------------------------------------------------------------------

_LINE = re.compile(r"^\s*([\d,]+) .*:skodyn_(\w+)")


def counted():
    """Instructions of every kernel that the workload calls, by name."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        command = [
            "valgrind", "--tool=callgrind", "--toggle-collect=skodyn_*",
            f"--callgrind-out-file={out}", sys.executable, __file__, "--workload",
        ]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True)
        report = subprocess.run(
            ["callgrind_annotate", "--inclusive=yes", "--threshold=100", str(out)],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
    found = filter(None, map(_LINE.match, report.splitlines()))
    return {line[2]: int(line[1].replace(",", "")) for line in found}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--workload", action="store_true", help="what valgrind runs")
    given = parser.parse_args()
    if given.workload:
        workload()
        return
    if given.out is None:
        parser.error("name a file for the counts")
    now = counted()
    given.out.write_text(json.dumps(now, indent=1, sort_keys=True))
    before = json.loads(given.against.read_text()) if given.against else now
    both = sorted(now.keys() & before.keys(), key=lambda name: -now[name] / before[name])
    for name in both:
        print(f"{now[name] / before[name]:6.3f} {now[name]:12,d}  {name}")
    if both:
        mean = np.exp(np.mean([np.log(now[name] / before[name]) for name in both]))
        print(f"{mean:6.3f} geometric mean of {len(both)} kernels")


if __name__ == "__main__":
    main()
