"""How long a sweep will take on one core, from a few of its steps.

Functions that metrics and controllers name in files are left out: a plan is a look, and looking
runs nobody's code.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skodyn.lanes import LANES
from skodyn.scenario import Scenario
from skodyn.simulation.control.servo_laws import ServoLaw
from skodyn.simulation.element_kinds.controller import Controller
from skodyn.simulation.engine import Engine
from skodyn.sweeps.batch import Worker
from skodyn.sweeps.lane_batch import LaneBatch
from skodyn.sweeps.metrics import names_function
from skodyn.sweeps.packing import Refused
from skodyn.sweeps.plan import SweepPlan

__all__ = ["Estimate", "estimate"]

TRIAL_STEPS = 200
TRIAL_SECONDS = 0.3


@dataclass(frozen=True)
class Estimate:
    seconds_per_run: float
    lanes: int
    bytes: int
    left_out: tuple[str, ...] = ()  # metrics and controllers that were not timed


def estimate(plan: SweepPlan) -> Estimate:
    """Time the first steps of the first runs."""
    given = plan.study.metrics
    metrics = {name: m for name, m in given.items() if not names_function(m)}
    laws = (n for n, t in plan.study.data.get("controllers", {}).items() if "function" in t)
    left_out = (*(name for name in given if name not in metrics), *laws)
    worker = Worker(replace(plan.study, metrics=metrics))
    rows = plan.design.points(np.arange(min(8, plan.count)))
    row = plan.model.nq + plan.model.nv + len(plan.study.metrics) + len(plan.study.names)
    size = plan.count * (8 * row + 37)
    for chosen, variant, runs in worker.packer.pack(rows):
        if isinstance(variant, Refused):
            continue
        if not variant.in_lanes:
            seconds = _of_one_alone(worker.packer.scenario(rows[chosen[0]]))
            return Estimate(seconds, 1, size, left_out)
        control = replace(runs.control, controllers=[*map(_idle, runs.control.controllers)])
        steps = min(runs.steps, TRIAL_STEPS)
        best = np.inf
        for _ in range(3):  # the first one loads the kernel
            packed = worker.metrics_of(variant.scenario.model)
            batch = LaneBatch(replace(runs, steps=steps, control=control), packed)
            began = time.perf_counter()
            batch.run()
            best = min(best, time.perf_counter() - began)
        in_full_lanes = best / (batch.groups * LANES)
        return Estimate(in_full_lanes * runs.steps / steps, LANES, size, left_out)
    return Estimate(np.nan, LANES, size, left_out)


def _no_torques(t: Any, q: Any, v: Any, params: Any, tau: Any, rates: Any) -> None:
    tau[:] = 0.0
    rates[:] = 0.0


def _idle(element: Any) -> Any:
    """A person's law replaced by one that does nothing; servos and other elements as they are."""
    if isinstance(element, Controller) and not isinstance(element, ServoLaw):
        return replace(element, function=_no_torques)
    return element


def _of_one_alone(scenario: Scenario) -> float:
    """The seconds of a whole run at width 1, from its first steps; metrics cost little beside."""
    s = scenario
    forces = replace(s.forces, elements=tuple(map(_idle, s.forces.elements)))
    engine = Engine(s.model, s.q0, s.v0, s.duration, s.integrator, forces, 1, s.thermostat)
    engine.advance(1)  # loads the kernel
    before, began = engine.t, time.perf_counter()
    while not engine.finished and time.perf_counter() - began < TRIAL_SECONDS:
        if engine.advance(TRIAL_STEPS).status:
            break
    done = engine.t - before
    return (time.perf_counter() - began) * s.duration / done if done > 0.0 else np.nan
