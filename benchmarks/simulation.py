"""Steps per second beside MuJoCo, what logging costs, and how long a whole run takes.

    python benchmarks/simulation.py            # a minute
    python benchmarks/simulation.py --quick    # fewer turns

Both libraries take the same Runge–Kutta steps of order 4 on the same chain without contacts, and
must agree before anything is timed. Both run their own compiled loop, many steps in one call from
Python: `mj_step(model, data, nstep)` and the engine that `sk.simulate` drives. They take turns on
one core, and the best of all turns counts. Tables are printed as Markdown.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from compare import CORES, goals, heading, machine, mujoco, race, table, verdicts
from models import MODELS, mujoco_model
from skodyn import interop
from skodyn.simulate import session
from skodyn.simulate.engine import Engine
from skodyn.simulate.session import Plan
from skodyn.simulate.settings import IntegratorSettings

DT = 1e-4  # s; short enough for a hundred links
NEVER = 10**9
SCENARIO = Path(__file__).parent.parent / "scenarios" / "double_pendulum.toml"


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
    for name, steps, goal in (("chain 10", 400, 3.0), ("chain 100", 40, 5.0)):
        model = MODELS[name]()
        apart = agreement(model)
        ours, (made, data) = engine(model), peer(model)
        best = race(
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


def logging_cost(turns, steps=4000):
    heading("A row of t, q and v after every tenth step, chain 100")
    model = MODELS["chain 100"]()
    q, v = start(model)
    seconds = {"no rows": float("inf"), "rows to a file": float("inf")}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(turns):
            for name, every in zip(seconds, (steps, 10), strict=True):
                plan = Plan(
                    model, q, v, steps * DT, IntegratorSettings("rk4", dt=DT), every=every
                )  # fmt: skip
                run = session.run(plan, Path(folder) / "run.h5", overwrite=True)
                seconds[name] = min(seconds[name], run.summary["wall_seconds"])
    cost = seconds["rows to a file"] / seconds["no rows"] - 1.0
    rows = [[name, f"{steps / s:,.0f}", f"{1e6 * s / steps:.2f}"] for name, s in seconds.items()]
    table(["", "steps/s", "µs per step"], rows)
    print(f"\nLogging costs {100 * cost:.1f} %.")
    goals.append(("chain 100: cost of a row per ten steps, %", 100 * cost, "≤", 5.0))


def whole_run(repeats):
    heading("skodyn run scenarios/double_pendulum.toml, in a process of its own, warm cache")
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "skodyn", "run", str(SCENARIO), "--quiet", "--overwrite"]
        for _ in range(repeats + 1):  # the first may compile
            began = time.perf_counter()
            log = str(Path(folder) / "run.h5")
            subprocess.run([*command, "-o", log], check=True, capture_output=True)
            seconds.append(time.perf_counter() - began)
    best, worst = min(seconds[1:]), max(seconds[1:])
    table(["", "s"], [["best", f"{best:.2f}"], ["worst", f"{worst:.2f}"]])
    goals.append(("double pendulum from the command line, s", worst, "≤", 3.0))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer turns")
    quick = parser.parse_args().quick
    machine()
    os.sched_setaffinity(0, CORES[:1])
    if mujoco:
        steps_per_second(turns=20 if quick else 200)
    else:
        print("\nMuJoCo is not installed; its rows are left out.")
    logging_cost(turns=3 if quick else 20)
    whole_run(repeats=2 if quick else 5)
    verdicts()


if __name__ == "__main__":
    main()
