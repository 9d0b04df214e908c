"""Steps per second beside MuJoCo, what logging costs, and how long a whole run takes.

    python benchmarks/simulation.py            # a minute
    python benchmarks/simulation.py --quick    # fewer turns

Both libraries take the same Runge–Kutta steps of order 4 on the same chain without contacts, and
must agree before anything is timed. Both run their own compiled loop, many steps in one call from
Python: `mj_step(model, data, nstep)` and the engine that `sk.simulate` drives. They take turns on
one core, and the best of all turns counts. Time is the thread's own on the processor: all of this
is arithmetic, and what others take of a shared machine is nobody's merit. Tables are printed as
Markdown.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from compare import CORES, goals, heading, machine, mujoco, table, verdicts
from models import MODELS, mujoco_model
from skodyn import interop
from skodyn.simulation import session
from skodyn.simulation.engine import Engine
from skodyn.simulation.session import Plan
from skodyn.simulation.settings import IntegratorSettings

DT = 1e-4  # s; short enough for a hundred links
NEVER = 10**9
SCENARIO = Path(__file__).parent.parent / "scenarios" / "double_pendulum.toml"


def race(calls, turns):
    """Best seconds on the processor of each contender; they take turns, so that noise hits all."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(turns):
        for name, call in calls.items():
            began = time.thread_time()
            call()
            best[name] = min(best[name], time.thread_time() - began)
    return best


def start(model):
    """Hanging, a little bent and moving: the chain swings, and no library has an easy case."""
    rng = np.random.default_rng(1)
    return rng.uniform(-0.2, 0.2, model.nq), rng.uniform(-0.2, 0.2, model.nv)


def engine(model):
    settings = IntegratorSettings("rk4", dt=DT)
    return Engine(model, *start(model), NEVER * DT, settings, every=NEVER)


def peer(model):
    """(MuJoCo's model, its data in the same state)."""
    made = mujoco_model(model)
    made.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    made.opt.timestep = DT
    data = mujoco.MjData(made)
    data.qpos[:], data.qvel[:] = interop.to_mujoco_state(model, made, *start(model))
    return made, data


def agreement(model, steps=200):
    """Largest difference of coordinates and velocities after so many steps, relative."""
    ours, (made, data) = engine(model), peer(model)
    ours.advance(steps)
    mujoco.mj_step(made, data, steps)
    q, v = interop.from_mujoco_state(model, made, data.qpos, data.qvel)
    apart = max(np.abs(ours.q - q).max(), np.abs(ours.v - v).max() / np.abs(v).max())
    if not apart < 1e-8:
        raise SystemExit(f"{model.name}: skodyn and MuJoCo differ by {apart:.1e}; nothing is timed")
    return apart


def steps_per_second(turns):
    heading("Runge–Kutta steps of order 4, one core")
    rows = []
    for name, steps, goal in (("chain 10", 1000, 3.0), ("chain 100", 100, 5.0)):
        model = MODELS[name]()
        apart = agreement(model)
        ours, (made, data) = engine(model), peer(model)
        best = race(  # some milliseconds each; whole runs go 50 to 200 between looks at the clock
            {
                "skodyn": lambda run=ours, n=steps: run.advance(n),
                "MuJoCo": lambda m=made, d=data, n=steps: mujoco.mj_step(m, d, n),
            },
            turns,
        )
        ratio = best["MuJoCo"] / best["skodyn"]
        rates = [f"{steps / best[who]:,.0f}" for who in ("skodyn", "MuJoCo")]
        rows.append([name, *rates, f"{ratio:.2f}", f"{apart:.0e}"])
        goals.append((f"{name}, RK4 steps: times MuJoCo", ratio, "≥", goal))
    table(["", "skodyn, steps/s", "MuJoCo, steps/s", "ratio", "they differ by"], rows)


def logging_cost(turns, steps=10_000, chunk=2000):
    """Whole runs with a checkpoint, in chunks as long as the loop makes them when it is alone."""
    heading("A row of t, q and v after every tenth step, chain 100")
    model = MODELS["chain 100"]()
    q, v = start(model)
    settings = IntegratorSettings("rk4", dt=DT)
    with tempfile.TemporaryDirectory() as folder:

        def run(every):
            plan = Plan(model, q, v, steps * DT, settings, every=every)
            return session.run(plan, Path(folder) / "run.h5", overwrite=True, chunk=chunk)

        best = race({"no rows": lambda: run(steps), "rows to a file": lambda: run(10)}, turns)
    rows = [[name, f"{1e6 * seconds / steps:.2f}"] for name, seconds in best.items()]
    table(["", "µs per step"], rows)
    cost = 100 * (best["rows to a file"] / best["no rows"] - 1.0)
    print(f"\nLogging costs {cost:.1f} %.")
    goals.append(("chain 100: cost of a row per ten steps, %", cost, "≤", 5.0))


def whole_run(repeats):
    heading("skodyn run scenarios/double_pendulum.toml, in a process of its own, warm cache")
    wall, busy = [], []
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "skodyn", "run", str(SCENARIO), "--quiet", "--overwrite"]
        for _ in range(repeats + 1):  # the first may compile
            began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
            log = str(Path(folder) / "run.h5")
            subprocess.run([*command, "-o", log], check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            wall.append(time.perf_counter() - began)
            busy.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    best = min(wall[1:]), min(busy[1:])
    table(["s", "wall", "processor"], [["best", *(f"{x:.2f}" for x in best)]])
    goals.append(("double pendulum from the command line, s of wall time", best[0], "≤", 3.0))
    goals.append(("double pendulum from the command line, s of processor time", best[1], "≤", 3.0))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer turns")
    quick = parser.parse_args().quick
    machine()
    os.sched_setaffinity(0, CORES[:1])
    if mujoco:
        steps_per_second(turns=50 if quick else 500)
    else:
        print("\nMuJoCo is not installed; its rows are left out.")
    logging_cost(turns=3 if quick else 10)
    whole_run(repeats=2 if quick else 5)
    verdicts()


if __name__ == "__main__":
    main()
