"""The checking mode finds kernels that leave their memory: faults are planted, and must be seen.

This file runs itself again as a program with SKODYN_CHECK=1, because the mode is chosen at import.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.errors import KernelMemoryError
from skodyn.jit import COUNT, JIT_DISABLED, RESULT, guards, kernel
from skodyn.kernels.workspace import unpack
from skodyn.lanes import LANES, load, pointer, store
from skodyn.lanes.cache_lines import line_zeros
from skodyn.model.model import Model
from skodyn.simulation.elements import Forces
from skodyn.simulation.force_tables import pack_forces
from skodyn.simulation.methods import METHODS, register
from skodyn.simulation.session import Plan, run
from skodyn.simulation.settings import IntegratorSettings
from skodyn.simulation.steppers.explicit import stage_memory
from skodyn.simulation.steppers.tableaux import explicit_method
from skodyn.sweeps.lane_batch import LaneBatch, PackedRuns
from skodyn.sweeps.metrics import pack_metrics
from test_extension import RK4, three_times


@kernel(RESULT, COUNT)
def write_at(space, i):
    pointer(space)[i] = 1.0
    return 0


@kernel(RESULT)
def write_to_model(block):
    _, model = unpack(block)
    model.parameters[2] = 1.0
    return 0


@kernel(RESULT)
def read_what_was_left(block):
    work, _ = unpack(block)
    left = load(work, 5)
    store(work, 5, 7.0)
    return left


def pendulum() -> Model:
    b = sk.ModelBuilder()
    b.add_body("a", joint=sk.Revolute((0, 1, 0)), mass=1.0, com=(0, 0, -1), inertia=(1, 1, 1))
    return b.build()


def fault_of(call, *arguments):
    try:
        call(*arguments)
    except KernelMemoryError as error:
        return str(error)
    return ""


TWELVE = explicit_method("twelve", *three_times(RK4))
"""Many more stages than any method of the package has."""


def alone(name):
    model = pendulum()
    return run(Plan(model, model.neutral(), np.ones(1), 0.01, IntegratorSettings(name, dt=1e-3)))


def in_lanes(name):
    """A register full of runs and one more."""
    model, count = pendulum(), LANES + 1
    tables = pack_forces(model, Forces())
    runs = PackedRuns(
        model.kernel_tree, tables.codes, np.tile(model.parameters, (count, 1)),
        np.tile(tables.numbers, (count, 1)), np.zeros((count, 1)), np.ones((count, 1)), 0, 1,
        IntegratorSettings(name, dt=1e-3), 10, 1,
    )  # fmt: skip
    batch = LaneBatch(runs, pack_metrics({}, model, Path()))
    outcomes = batch.run()
    batch._alone(0)  # as after a failure: at width 1, with memory of its own
    return outcomes


def short_of_a_stage(way, method):
    """Memory for one stage less: k of the last goes behind."""
    stages = int(method.numbers(IntegratorSettings(method.name))[0])
    METHODS._own[method.name] = replace(method, memory=stage_memory(stages - 1))
    try:
        way(method.name)
    finally:
        METHODS._own[method.name] = method


def seen():
    """Every planted fault and what was said of it, in the checking mode."""
    from skodyn.dynamics.driver import first_block

    register(TWELVE)
    space = line_zeros(10)
    found = {
        "inside": [fault_of(write_at, space, i) for i in (0, 9)],
        "behind": fault_of(write_at, line_zeros(10), 10),
        "before": fault_of(write_at, line_zeros(10), -1),
        "far behind": fault_of(write_at, line_zeros(10), 10 + guards.WORDS - 1),
        "stage": fault_of(short_of_a_stage, alone, METHODS["rk4"]),
        "twelfth stage": fault_of(short_of_a_stage, alone, TWELVE),
        "twelfth stage in lanes": fault_of(short_of_a_stage, in_lanes, TWELVE),
        "enough for twelve": [fault_of(way, "twelve") for way in (alone, in_lanes)],
    }
    model = pendulum()
    sk.forward_dynamics(model, [0.1], [0.0], [0.0])
    block = first_block(model)
    found["left"] = [read_what_was_left(block) for _ in range(2)]
    found["model"] = fault_of(write_to_model, block)
    return found


def check_all():
    found = seen()
    assert found["inside"] == ["", ""]
    assert "write_at has written behind its workspace of 10 numbers" in found["behind"]
    assert "before its workspace" in found["before"]
    assert "behind" in found["far behind"]
    assert "explicit_run has written behind" in found["stage"]
    assert "explicit_run has written behind" in found["twelfth stage"]
    assert "explicit_sweep has written behind" in found["twelfth stage in lanes"]
    assert found["enough for twelve"] == ["", ""]
    assert np.isnan(found["left"]).all()  # not 7 the second time
    assert "to the model in front of its workspace" in found["model"]


@pytest.mark.skipif(JIT_DISABLED, reason="plain Python looks at the bounds of arrays itself")
def test_planted_faults_are_seen():
    done = subprocess.run(
        [sys.executable, __file__], env={**os.environ, "SKODYN_CHECK": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "all seen\n"


@pytest.mark.skipif(guards.CHECKING, reason="this is what happens without the checking mode")
def test_without_the_mode_there_are_no_guards():
    assert line_zeros(10).base.size < 10 + guards.WORDS
    assert fault_of(write_at, line_zeros(10), 9) == ""


if __name__ == "__main__":
    check_all()
    print("all seen")
