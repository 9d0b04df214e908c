"""How long a sweep will take on one core, from a few of its steps."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from skodyn.lanes import LANES
from skodyn.sweep.batch import Worker, run_batch
from skodyn.sweep.batch import pickled as pickled_study
from skodyn.sweep.lane_batch import LaneBatch
from skodyn.sweep.packing import Refused
from skodyn.sweep.plan import Plan

__all__ = ["Estimate", "estimate"]

TRIAL_STEPS = 200


@dataclass(frozen=True)
class Estimate:
    seconds_per_run: float
    lanes: int
    bytes: int


def estimate(plan: Plan) -> Estimate:
    """Time the first steps of the first runs; of those that run alone, a whole run."""
    worker = Worker(plan.study)
    rows = plan.design.points(np.arange(min(8, plan.count)))
    row = plan.model.nq + plan.model.nv + len(plan.study.metrics) + len(plan.study.names)
    size = plan.count * (8 * row + 37)
    for chosen, variant, runs in worker.packer.pack(rows):
        if isinstance(variant, Refused):
            continue
        if not variant.in_lanes:
            first, study = rows[chosen[:1]], pickled_study(plan.study)
            run_batch(study, chosen[:1], first)
            return Estimate(run_batch(study, chosen[:1], first).seconds, 1, size)
        steps = min(runs.steps, TRIAL_STEPS)
        best = np.inf
        for _ in range(3):  # the first one loads the kernel
            batch = LaneBatch(replace(runs, steps=steps), worker.metrics)
            began = time.perf_counter()
            batch.run()
            best = min(best, time.perf_counter() - began)
        in_full_lanes = best / (batch.groups * LANES)
        return Estimate(in_full_lanes * runs.steps / steps, LANES, size)
    return Estimate(np.nan, LANES, size)
