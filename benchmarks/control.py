"""Calls of a compiled control law a second: computed torque of a seven-joint arm, which asks for
inverse dynamics, in one run and in runs side by side.

    python benchmarks/control.py

The run of scenarios/computed_torque.toml takes Runge–Kutta steps, four calls of the law each. Time
is the thread's own on the processor, the best of several turns; the same steps without the law are
timed beside. Runs side by side must end with the bits of runs by themselves.
"""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from skodyn.lanes import LANES
from skodyn.scenario import read_scenario
from skodyn.simulation.elements import Forces
from skodyn.simulation.engine import Engine
from skodyn.sweeps.lane_batch import LaneBatch
from skodyn.sweeps.metrics import pack_metrics
from skodyn.sweeps.packing import Packer
from skodyn.sweeps.plan import make_plan

SCENARIO = Path(__file__).parent.parent / "scenarios" / "computed_torque.toml"
STEPS, TURNS, CALLS = 3000, 5, 4


def timed(make):
    """(best seconds, the last result) of running what `make` makes ready."""
    best, found = float("inf"), None
    for _ in range(TURNS):
        ready = make()
        began = time.thread_time()
        found = ready()
        best = min(best, time.thread_time() - began)
    return best, found


def alone(scenario, forces):
    def make():
        s = scenario
        engine = Engine(s.model, s.q0, s.v0, s.duration, s.integrator, forces, STEPS)
        engine.advance(1)

        def run():
            while not engine.finished:
                engine.advance(STEPS)
            return engine.q.copy()

        return run

    return timed(make)


def side_by_side(scenario):
    kp = np.linspace(300.0, 400.0, LANES).tolist()
    plan = make_plan(scenario, {"grid": {"controllers.arm.params.kp": kp}})
    packer = Packer(plan.study)
    rows = plan.design.points(np.arange(LANES))
    ((_, _, runs),) = packer.pack(rows)
    metrics = pack_metrics({}, scenario.model, Path())
    seconds, outcomes = timed(lambda: LaneBatch(runs, metrics).run)
    last = packer.scenario(rows[-1])
    _, q = alone(last, last.forces)
    assert np.array_equal(outcomes.q[-1], q), "bits differ"
    return seconds


def main():
    scenario = read_scenario(SCENARIO)
    seconds, _ = alone(scenario, scenario.forces)
    without, _ = alone(scenario, replace(scenario.forces, elements=Forces().elements))
    lanes = side_by_side(scenario)
    print("| computed torque, 7-joint arm | calls of the law a second | µs a call |")
    print("| --- | --- | --- |")
    law = (seconds - without) / (CALLS * STEPS)
    print(f"| one run, steps included | {CALLS * STEPS / seconds:,.0f} | {law * 1e6:.2f} |")
    rate = CALLS * STEPS * LANES / lanes
    print(f"| {LANES} runs side by side, steps included | {rate:,.0f} | |")


if __name__ == "__main__":
    main()
