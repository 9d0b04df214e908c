"""From arguments to kernels: one path for all algorithms, single states and batches.

The fast path trusts nothing and still costs about a microsecond: the compiled kernel accepts only
contiguous float64 arrays (numba's dispatcher turns anything else away), checks their lengths
itself, and reports what is not finite. Whatever it turns away comes back to Python, where
it is either brought into shape or refused with a sentence that names argument and index.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skodyn.cores import core_count
from skodyn.dynamics import arguments
from skodyn.dynamics.algorithm import NATIVE, Algorithm
from skodyn.dynamics.status_messages import raise_failure
from skodyn.forks import on_fork
from skodyn.jit import JIT_DISABLED
from skodyn.kernels.compliance import SCRATCH_LANES
from skodyn.kernels.finite_rows import finite_rows
from skodyn.kernels.packed_model import PackedModel
from skodyn.kernels.workspace import pack_block, workspace_lanes
from skodyn.lanes import LANES
from skodyn.lanes.cache_lines import line_zeros
from skodyn.model import layout
from skodyn.model.model import Model
from skodyn.progress import tell_of_compiling
from skodyn.typing import Floats

tell_of_compiling()  # who calls a function may have to wait for its kernel

RANGES_PER_THREAD = 4
BODIES_PER_RANGE = 2000
NOTHING = arguments.NOTHING
COMPILED: Any = object() if JIT_DISABLED else np.ndarray
"""The type of what compiled kernels take; plain Python would not turn other arrays away."""


def run(
    algorithm: Algorithm,
    model: Model,
    shape: tuple[int, ...],
    q: ArrayLike,
    v: ArrayLike = NOTHING,
    x: ArrayLike = NOTHING,
    f_ext: ArrayLike | None = None,
    out: Floats | None = None,
    threads: int | None = None,
) -> Floats:
    """The result of an algorithm, of this shape for one state."""
    if threads is not None:
        arguments.check_threads(threads)
    if type(q) is COMPILED and q.ndim == 1:  # type: ignore[union-attr]
        result = np.empty(shape) if out is None else out
        takes, kernel, block = algorithm.takes, algorithm.ready, block_of(algorithm, model)
        try:
            if takes == "v x f_ext":
                forces = NOTHING if f_ext is None else flat_forces(model, f_ext)
                status = kernel(block, q, v, x, forces, result)
            elif takes == "":
                status = kernel(block, q, result)
            elif takes == "v":
                status = kernel(block, q, v, result)
            elif takes == "x":
                status = kernel(block, q, x, result)
            elif takes == "v f_ext":
                forces = NOTHING if f_ext is None else flat_forces(model, f_ext)
                status = kernel(block, q, v, forces, result)
            else:
                status = kernel(block, q, v, x, result)
        except TypeError:  # not contiguous float64 arrays of the right number of axes
            status = TURNED_AWAY
        if status == 0:
            return result
    return run_slowly(algorithm, model, shape, q, v, x, f_ext, out, threads)


TURNED_AWAY = -1


def flat_forces(model: Model, f_ext: Any) -> Any:
    """f_ext as one row; None, which no kernel takes, if its shape is not (bodies, 6)."""
    if type(f_ext) is np.ndarray and f_ext.shape == (model.n_bodies, 6):
        return f_ext.reshape(-1)
    return None


def first_block(model: Model) -> Floats:
    """The block that all calls for one state share, as long as none of them overlap."""
    blocks = model._kernel_blocks
    if blocks:
        return blocks[0]
    # with mimic joints, loops or flexible bodies, a block that every ordinary kernel turns away: so
    # no call has to ask
    special = bool(model.mimics) or model.has_loops or bool(model.flexible)
    block = _closed_block() if special and not JIT_DISABLED else _pack(model)
    if calls_take_turns():
        blocks.append(block)
    return block


def calls_take_turns() -> bool:
    """Can no two calls for one state overlap? Their kernels keep the GIL from first to last.

    Plain Python gives it up in the middle, and a free-threaded Python may have none: there every
    call has a block of its own. Once there is a GIL it stays for the life of the process.
    """
    return not JIT_DISABLED and getattr(sys, "_is_gil_enabled", _always)()


def _always() -> bool:
    return True


def _closed_block() -> Floats:
    """A tree of no bodies and −1 coordinates, which no state fits."""
    tree = np.zeros(layout.INDEX_COLUMNS, dtype=np.int64)
    tree[[layout.NQ, layout.NV]] = -1
    block: Floats = pack_block(tree, NOTHING, 1)
    return block


def block_of(algorithm: Algorithm, model: Model) -> Floats:
    """The block for one state that has room enough for this algorithm."""
    foreign = (model.mimics and algorithm.coupled is not NATIVE) or (
        model.has_loops and algorithm.looped is not NATIVE
    )
    foreign = foreign or (bool(model.flexible) and algorithm.flexible is not NATIVE)
    if algorithm.scratch is None or foreign:
        return first_block(model)
    pool = model._roomy_workspaces.setdefault((1, algorithm), [])
    if pool:
        return pool[0]
    block = _pack(model, algorithm)
    if calls_take_turns():
        pool.append(block)
    return block


def _pack(model: Model, algorithm: Algorithm | None = None) -> Floats:
    tree = model.body_tree if model.flexible else model.kernel_tree
    block: Floats = pack_block(tree, model.parameters, _lanes(model, algorithm))
    return block


def _lanes(model: Model, algorithm: Algorithm | None = None) -> int:
    special = algorithm.scratch if algorithm else None
    more = SCRATCH_LANES if special is None else special(model)
    return workspace_lanes(model.n_bodies, model.nq, model.nv) + more


def _free_workspaces(algorithm: Algorithm, model: Model) -> list[Floats]:
    """Workspaces of batches that are free at the moment."""
    if algorithm.scratch is None:
        return model._lane_workspaces
    return model._roomy_workspaces.setdefault((LANES, algorithm), [])


def _call_single(
    algorithm: Algorithm, block: Floats, inputs: arguments.Inputs, row: int, out: Any
) -> int:
    """One row of checked inputs."""
    q, v, x, f_ext = inputs.of_row(row)
    return int(algorithm.ready(block, q, *algorithm.given(v, x, f_ext), out))


# ---- everything that is not one well-formed state ---------------------------------------------


def run_slowly(
    algorithm: Algorithm,
    model: Model,
    shape: tuple[int, ...],
    q: ArrayLike,
    v: ArrayLike,
    x: ArrayLike,
    f_ext: ArrayLike | None,
    out: Floats | None,
    threads: int | None,
) -> Floats:
    """Bring arguments into shape, run one state or a batch, and explain what went wrong."""
    way: Any = None
    if model.mimics and algorithm.coupled is not NATIVE:
        way = algorithm.coupled
        if not callable(way):
            model._refuse_mimics(algorithm.single.__name__)
    if model.has_loops and algorithm.looped is not NATIVE:
        way = algorithm.looped
        if not callable(way):
            model._refuse_loops(algorithm.single.__name__)
    if way is not None:
        result: Floats = way(algorithm, model, shape, q, v, x, f_ext, out, threads)
        return result
    if model.flexible and algorithm.flexible is not NATIVE:  # behind loops, of which both know
        if algorithm.flexible is None:
            model._refuse_flexible(algorithm.single.__name__)
        return run(algorithm.flexible, model, shape, q, v, x, f_ext, out, threads)  # type: ignore[arg-type]
    inputs = arguments.read_arguments(algorithm, model, q, v, x, f_ext)
    full_shape = (*inputs.batch_shape, *shape)
    result = arguments.check_out(out, full_shape, inputs)
    if algorithm.goes_one_by_one(inputs.rows):
        status, row = _run_rows(algorithm, model, inputs, shape, result)
    else:
        status, row = _run_lanes(algorithm, model, inputs, shape, result, threads)
    if status != 0:
        raise_failure(algorithm, model, inputs, status, row)
    if out is not None and out is not result:
        out[...] = result
        return out
    return result


def _run_rows(
    algorithm: Algorithm,
    model: Model,
    inputs: arguments.Inputs,
    shape: tuple[int, ...],
    result: Floats,
) -> tuple[int, int]:
    """One state after another, at width 1."""
    block = block_of(algorithm, model)
    results = result.reshape(inputs.rows, *shape)
    for row in range(inputs.rows):
        status = _call_single(algorithm, block, inputs, row, results[row])
        if status != 0:
            arguments.check_finite(algorithm, inputs)
            return status, row
    return 0, 0


def _run_lanes(
    algorithm: Algorithm,
    model: Model,
    inputs: arguments.Inputs,
    shape: tuple[int, ...],
    result: Floats,
    threads: int | None,
) -> tuple[int, int]:
    """A register full of states at a time, on several threads."""
    kernel, flat, tables = algorithm.ready_batch, result.reshape(-1), inputs.tables()
    tree = model.body_tree if model.flexible else model.kernel_tree
    packed = PackedModel(tree, model.parameters)
    free, rows, finite = _free_workspaces(algorithm, model), inputs.rows, finite_rows.ready
    of_states = tables.q, tables.v, NOTHING if inputs.x_is_shared else tables.x, tables.f_ext

    def work(start: int, stop: int) -> tuple[int, int]:
        if not finite(start, stop, rows, *of_states):
            return TURNED_AWAY, start
        try:
            workspace = free.pop()
        except IndexError:  # other threads have them all
            workspace = line_zeros(LANES * _lanes(model, algorithm), poison=True)
        status, row = kernel(packed, start, stop, tables, flat, workspace)
        free.append(workspace)
        return int(status), int(row)

    workers = int(threads or core_count())
    ranges = _split(inputs.rows, model.n_bodies, workers)

    def drain() -> list[tuple[int, int]]:
        done: list[tuple[int, int]] = []
        while True:
            try:
                todo = ranges.pop()
            except IndexError:
                return done
            done.append(work(*todo))

    helpers = [executor(workers).submit(drain) for _ in range(min(workers, len(ranges)) - 1)]
    answers = drain()  # this thread works too, which saves waking another one
    for helper in helpers:
        answers += helper.result()
    failed = [(row, status) for status, row in answers if status != 0]
    if failed:
        arguments.check_finite(algorithm, inputs)
    return _pinpoint(algorithm, model, inputs, shape, min(failed)[0]) if failed else (0, 0)


def _pinpoint(
    algorithm: Algorithm,
    model: Model,
    inputs: arguments.Inputs,
    shape: tuple[int, ...],
    first: int,
) -> tuple[int, int]:
    """Which of the states in a register that begin at `first` failed, and why."""
    block, out = block_of(algorithm, model), np.empty(shape)
    for row in range(first, first + LANES):
        status = _call_single(algorithm, block, inputs, row, out)
        if status != 0:
            return status, row
    raise AssertionError("a batch failed whose states pass one by one")


def _split(rows: int, bodies: int, threads: int) -> list[tuple[int, int]]:
    """Contiguous ranges that fill a register at least, several per thread to even out their pace.

    A range costs some 20 µs to hand over, so it should hold a few times as much work.
    """
    worth = min(rows // LANES, rows * bodies // BODIES_PER_RANGE)
    parts = max(1, min(RANGES_PER_THREAD * threads if threads > 1 else 1, worth))
    edges = [rows * i // parts for i in range(parts + 1)]
    return list(pairwise(edges))


@cache
def executor(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="skodyn")


on_fork(in_child=executor.cache_clear)  # the child has none of its parent's threads
