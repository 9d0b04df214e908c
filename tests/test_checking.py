"""The checking mode finds kernels that leave their memory: faults are planted, and must be seen.

This file runs itself again as a program with SKODYN_CHECK=1, because the mode is chosen at import.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import skodyn as sk
from skodyn.errors import KernelMemoryError
from skodyn.jit import COUNT, JIT_DISABLED, RESULT, guards, kernel
from skodyn.kernels.workspace import unpack
from skodyn.lanes import load, pointer, store
from skodyn.lanes.cache_lines import line_zeros
from skodyn.model.model import Model
from skodyn.simulate.methods import METHODS
from skodyn.simulate.session import Plan, run
from skodyn.simulate.settings import IntegratorSettings
from skodyn.simulate.steppers.explicit import stage_memory


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


def short_of_a_stage():
    """RK4 with memory for three stages: k of the fourth goes behind."""
    whole = METHODS["rk4"]
    METHODS["rk4"] = replace(whole, memory=stage_memory(3))
    try:
        model = pendulum()
        run(Plan(model, model.neutral(), np.ones(1), 0.01, IntegratorSettings("rk4", dt=1e-3)))
    finally:
        METHODS["rk4"] = whole


def seen():
    """Every planted fault and what was said of it, in the checking mode."""
    from skodyn.dynamics.driver import first_block

    space = line_zeros(10)
    found = {
        "inside": [fault_of(write_at, space, i) for i in (0, 9)],
        "behind": fault_of(write_at, line_zeros(10), 10),
        "before": fault_of(write_at, line_zeros(10), -1),
        "far behind": fault_of(write_at, line_zeros(10), 10 + guards.WORDS - 1),
        "stage": fault_of(short_of_a_stage),
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
