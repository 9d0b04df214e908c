"""Sweeps: runs side by side beside mujoco.rollout, and what engines cost.

    python benchmarks/sweep.py            # a few minutes
    python benchmarks/sweep.py --quick    # shorter runs, fewer turns

The first table is one core: the same chains with the same starts, RK4 with the same step, contacts
off; final states must agree before anything is timed. skodyn does all that a worker of a sweep
does: it packs the parameters of every run, hashes it, and keeps a metric. The second table is one
sweep on different engines, after their workers have started; beside it stands what two busy
processes got done in the same minute, which is 2 where nobody else uses the machine. The third is
what one task costs apart from its runs: it decides what a million of them need.
"""

import argparse
import multiprocessing
import os
import tempfile
import time
from functools import partial
from pathlib import Path

import mujoco
import numpy as np
from mujoco import rollout

from models import chain, mujoco_model
from skodyn.scenario import parse_scenario
from skodyn.sweeps.batch import pickled, run_batch
from skodyn.sweeps.driver import Driver
from skodyn.sweeps.engines import open_engine, warm
from skodyn.sweeps.index import IndexWriter, create_index
from skodyn.sweeps.plan import make_plan
from skodyn.sweeps.scenario_data import model_data, to_toml
from skodyn.sweeps.stored_study import record_of

DT = 1e-3


def scenario_of(model, steps):
    """A scenario of any model, with no force but gravity."""
    data = {"duration": steps * DT, "model": model_data(model), "integrator": {"dt": DT}}
    return parse_scenario(to_toml(data), Path())


def study_of(model, steps, runs):
    """A plan over the starts of four joints."""
    joints = [model.joint_names[k] for k in np.linspace(0, model.n_bodies - 1, 4).astype(int)]
    spans = {f"initial.q.{name}": [-0.5, 0.5] for name in joints}
    design = {"kind": "random", "count": runs, "parameters": spans}
    metric = {"swing": {"kind": "max", "of": f"q.{joints[-1]}"}}
    return make_plan(scenario_of(model, steps), {"designs": [design], "metrics": metric})


# ---- one core -----------------------------------------------------------------------------------


def beside_rollout(n, steps, runs, turns):
    """(µs per run and step of skodyn, of MuJoCo, largest disagreement)."""
    model = chain(n)
    plan = study_of(model, steps, runs)
    rows = plan.design.points(np.arange(runs))
    study, indices = pickled(plan.study), np.arange(runs)
    theirs = mujoco_model(model)
    theirs.opt.timestep, theirs.opt.integrator = DT, mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(theirs)
    width = mujoco.mj_stateSize(theirs, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    starts = np.zeros((runs, width))
    for column, name in enumerate(plan.study.names):
        joint = name.removeprefix("initial.q.")
        starts[:, 1 + model.q_slice(joint).start] = rows[:, column]

    def ours():
        return run_batch(study, indices, rows)

    def rolled():
        return rollout.rollout(theirs, data, starts, nstep=steps)[0]

    q, last = ours().q, rolled()[:, -1, 1 : 1 + model.nq]
    apart = float(np.abs(q - last).max())
    assert apart < 1e-6, apart
    best = {ours: np.inf, rolled: np.inf}
    for _ in range(turns):
        for call in best:
            began = time.perf_counter()
            call()
            best[call] = min(best[call], time.perf_counter() - began)
    scale = 1e6 / (runs * steps)
    return best[ours] * scale, best[rolled] * scale, apart


# ---- engines ------------------------------------------------------------------------------------


def timed_sweep(plan, engine, workers, batch):
    """Seconds of a sweep on workers that have started and loaded their kernels."""
    running = open_engine(engine, workers, None, partial(warm, ("rk4",)))
    study = pickled(plan.study)
    rows = plan.design.points(np.arange(4))
    try:
        first = [
            running.executor.submit(run_batch, study, np.arange(4) + 4 * i, rows)
            for i in range(4 * workers)
        ]
        [future.result() for future in first]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "s.h5"
            create_index(path, plan, record_of(plan), overwrite=False)
            with IndexWriter(path) as writer:
                began = time.perf_counter()
                Driver(writer, study, running, {}, batch).run()
                return time.perf_counter() - began
    finally:
        running.close()


def spin(seconds):
    """How much a process gets done."""
    until, count = time.perf_counter() + seconds, 0
    while time.perf_counter() < until:
        count += 1
    return count


def two_for_one(seconds=1.0):
    """What two busy processes get done, in units of one."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.map(spin, [0.1, 0.1])
        one = pool.apply(spin, (seconds,))
        return sum(pool.map(spin, [seconds, seconds], chunksize=1)) / one


def cost_of_a_task(plan, engine):
    """Seconds of the driver for a task with four runs of one step."""
    return timed_sweep(plan, engine, 2, 4) / (plan.count / 4)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    turns = 3 if quick else 10
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print("| RK4, one core | skodyn, µs per run and step | mujoco.rollout | ratio | goal | apart |")
    print("| --- | --- | --- | --- | --- | --- |")
    for n, steps, runs, goal in ((2, 200, 512, ""), (10, 200, 128, "≥ 4"), (100, 50, 64, "≥ 10")):
        ours, theirs, apart = beside_rollout(n, steps, runs, turns)
        row = (f"chain of {n}", f"{ours:.3f}", f"{theirs:.2f}", f"{theirs / ours:.1f}", goal)
        print(f"| {' | '.join(row)} | {apart:.0e} |", flush=True)
    os.sched_setaffinity(0, range(os.cpu_count()))

    tasks = 6 if quick else 12
    plan = study_of(chain(10), 1000, 200 * tasks)  # about a second of work for 200
    results = {}
    for _ in range(1 if quick else 3):
        for name, engine, workers in (("one process", "processes", 1),
                                      ("two processes", "processes", 2),
                                      ("dask, two workers", "dask", 2)):  # fmt: skip
            spent = timed_sweep(plan, engine, workers, 200)
            machine = two_for_one()
            best = results.get(name, (np.inf, 0.0))
            results[name] = (min(best[0], spent), max(best[1], machine))
    one = results["one process"][0]
    print("\n| tasks of 200 runs, chain of 10, 1000 steps | s | beside one process | machine |")
    print("| --- | --- | --- | --- |")
    for name, (spent, machine) in results.items():
        print(f"| {name} | {spent:.2f} | {one / spent:.2f} | {machine:.2f} |", flush=True)

    plan = study_of(chain(2), 1, 800)
    print("\n| one task apart from its runs | ms |\n| --- | --- |")
    for engine in ("in-process", "threads", "processes", "dask"):
        print(f"| {engine} | {1e3 * cost_of_a_task(plan, engine):.2f} |", flush=True)
    began = time.perf_counter()
    big = study_of(chain(2), 1, 100_000 if quick else 1_000_000)
    planned = time.perf_counter() - began
    print(f"\n{big.count} runs planned in {planned:.1f} s")


if __name__ == "__main__":
    main()
