"""The checking mode finds kernels that leave their memory: faults are planted, and must be seen.

This file runs itself again as a program with SKODYN_CHECK=1, because the mode is chosen at import.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import skodyn as sk
from skodyn.dynamics.algorithms import FORWARD
from skodyn.errors import KernelMemoryError
from skodyn.jit import COUNT, FLOATS, JIT_DISABLED, PLACES, RESULT, Group, guards, kernel
from skodyn.jit.guarded_arguments import named
from skodyn.kernels.entries import Tables
from skodyn.kernels.packed_model import PackedModel
from skodyn.kernels.workspace import unpack
from skodyn.lanes import LANES, load, pointer, store
from skodyn.lanes.cache_lines import line_zeros
from skodyn.model.model import Model
from skodyn.simulation.elements import Forces
from skodyn.simulation.evaluate_rows import RateRows, StateRows, evaluate_rows
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


class Pair(NamedTuple):
    given: Any
    found: Any


@kernel(Group(Pair, (FLOATS, RESULT)), PLACES, COUNT)
def write_in_group(pair, places, i):
    pointer(pair.found)[i] = pair.given[0] + 1.0
    places[0] = i
    return 0


@kernel(FLOATS, RESULT, COUNT)
def write_to_given(given, out, i):
    pointer(given)[i] = 7.0
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


def short_rows(missing):
    """Forces on bodies, found for rows that have room for so many numbers less than they need."""
    model = pendulum()
    push = Forces(elements=(sk.Wrench("a", force=(1.0, 2.0, 3.0)),))
    settings = IntegratorSettings("rk4", dt=1e-3)
    engine = Plan(model, model.neutral(), np.ones(1), 0.01, settings, push).engine()
    block = engine.advance(10)
    rows = len(block.t)
    given = StateRows(block.t, block.q.reshape(-1), block.y.reshape(-1))
    forces = np.zeros(6 * rows - missing)
    found = RateRows(np.zeros(rows), np.zeros(rows), forces, np.zeros(0), engine._rates)
    evaluate_rows.ready(engine._system, given, found)
    return forces


def short_result():
    """What a function returns, given to its kernel with room for half of the states."""
    states = 2 * LANES
    tables = Tables(np.zeros(states), np.zeros(states), np.zeros(states), np.zeros(0), 0)
    model = pendulum()
    packed = PackedModel(model.kernel_tree, model.parameters)
    space = line_zeros(LANES * 1000, poison=True)
    return FORWARD.batch(packed, 0, states, tables, np.zeros(LANES), space)


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
    found |= seen_beside_arrays()
    model = pendulum()
    sk.forward_dynamics(model, [0.1], [0.0], [0.0])
    block = first_block(model)
    found["left"] = [read_what_was_left(block) for _ in range(2)]
    found["model"] = fault_of(write_to_model, block)
    return found


def seen_beside_arrays():
    """The same for results and whatever else is not a workspace."""
    given, out, places = np.ones(3), np.zeros(4), np.zeros(2, np.int64)
    whole = np.zeros(10)
    halves = whole[:5], whole[5:]
    return {
        "in group": fault_of(write_in_group, Pair(given, out), places, 3),
        "arrays": (given, out, places),
        "behind result": fault_of(write_in_group, Pair(given, out), places, 4),
        "before result": fault_of(write_in_group, Pair(given, out), places, -1),
        "far behind result": fault_of(write_at, np.zeros(1000), 4000),
        "beside a neighbour": fault_of(write_at, halves[0], 5),
        "neighbour": whole,
        "behind given": fault_of(write_to_given, given, out, 3),
        "to given": fault_of(write_to_given, given, out, 0),
        "given and written": fault_of(write_to_given, out, out, 2),
        "short rows": [fault_of(short_rows, missing) for missing in (0, 1, 6)],
        "forces": short_rows(0),
        "short result": fault_of(short_result),
    }


def check_arrays(found):
    assert found["in group"] == ""
    given, out, places = found["arrays"]
    assert (list(given), list(out), list(places)) == ([1, 1, 1], [0, 0, 7, 2], [3, 0])
    sentence = "write_in_group has written behind its array pair.found of 4 numbers; this is a"
    assert sentence in found["behind result"]
    assert "before its array pair.found" in found["before result"]
    assert "behind its array space of 1000 numbers" in found["far behind result"]
    assert "behind its array space of 5 numbers" in found["beside a neighbour"]
    assert not found["neighbour"].any()  # nothing is brought back from a call that is refused
    assert "behind its array given of 3 numbers" in found["behind given"]
    assert "changed its array given, which it may only read" in found["to given"]
    assert found["given and written"] == ""
    enough, *short = found["short rows"]
    assert enough == ""
    assert all("evaluate_rows has written behind its array out.f_ext" in said for said in short), (
        short
    )
    assert np.array_equal(found["forces"].reshape(-1, 6)[:, 3:], [[1.0, 2.0, 3.0]] * 10)
    assert "forward_dynamics_batch has written behind its array out of" in found["short result"]


def check_all():
    found = seen()
    check_arrays(found)
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


def test_what_kernels_do_not_take_has_no_guards():
    """Functions in place of addresses, where there is no compiler; what is turned away anyway."""
    given = np.array([print], dtype=object), np.zeros((3, 4))[:, :2], np.zeros(0), 3.0
    assert list(named("abcd", None, given)) == []
    (found,) = named(["pair"], None, (Pair(np.zeros(2), 1),))
    assert found.name == "pair.given"


@pytest.mark.skipif(guards.CHECKING, reason="this is what happens without the checking mode")
def test_without_the_mode_there_are_no_guards():
    assert line_zeros(10).base.size < 10 + guards.WORDS
    assert fault_of(write_at, line_zeros(10), 9) == ""


if __name__ == "__main__":
    check_all()
    print("all seen")
