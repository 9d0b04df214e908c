"""From arguments to kernels: one path for all algorithms, single states and batches.

The fast path trusts nothing and still costs well under a microsecond: the compiled kernel accepts
only flat contiguous float64 arrays (numba's dispatcher turns anything else away), checks their
lengths itself, and reports non-finite results. Whatever it turns away comes back to Python, where
it is either brought into shape or refused with a sentence that names argument and index.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numba import types
from numpy.typing import ArrayLike

from skodyn.dynamics import explain
from skodyn.jit import JIT_DISABLED, compiled
from skodyn.kernels.compliance import SCRATCH_LANES
from skodyn.kernels.workspace import workspace_lanes
from skodyn.model.columns import Floats
from skodyn.model.model import Model

LANES = 4
NOTHING = explain.NOTHING

_IN = types.Array(types.float64, 1, "C", readonly=True)
_OUT = types.Array(types.float64, 1, "C")
_TREE = types.Array(types.int64, 1, "C", readonly=True)
_SINGLE = (_TREE, _IN, _IN, _IN, _IN, _IN, _OUT, _OUT)
_BATCH = (_TREE, _IN, types.int64, types.int64, _IN, _IN, _IN, _IN, types.int64, _OUT, _OUT)


@dataclass(frozen=True)
class Algorithm:
    """A pair of kernels, and what their free argument is called in messages.

    `argument` has one row per state; without a name it is a table shared by all states.
    """

    single: Callable[..., Any]
    batch: Callable[..., Any]
    argument: str | None = None


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
        explain.check_threads(threads)
    if type(q) is np.ndarray and q.ndim == 1 and _is_one_state(model, shape, v, x, f_ext, out):
        result = np.empty(shape) if out is None else out
        forces = NOTHING if f_ext is None else f_ext
        if try_single(algorithm, model, q, v, x, forces, result) == 0:
            return result
    return _run_slowly(algorithm, model, shape, q, v, x, f_ext, out, threads)


def _is_one_state(
    model: Model, shape: tuple[int, ...], v: Any, x: Any, f_ext: Any, out: Any
) -> bool:
    """Are the shapes right? The kernel sees flat arrays, and takes an empty one for zeros."""
    return (
        not JIT_DISABLED  # plain Python would not turn away what is not float64
        and (v is NOTHING or (type(v) is np.ndarray and v.ndim == 1 and v.size > 0))
        and (x is NOTHING or (type(x) is np.ndarray and x.ndim == 1 and x.size > 0))
        and (f_ext is None or _has_shape(f_ext, (model.n_bodies, 6)))
        and (out is None or _has_shape(out, shape))
    )


def _has_shape(array: Any, shape: tuple[int, ...]) -> bool:
    return type(array) is np.ndarray and array.shape == shape


TURNED_AWAY = -1
"""What try_single says of something that is not a flat contiguous float64 array."""


def try_single(
    algorithm: Algorithm, model: Model, q: Any, v: Any, x: Any, f_ext: Any, out: Any
) -> int:
    """Run one state if everything is as the kernel wants it; the kernel's status."""
    pool = model.__dict__.setdefault("_workspaces", [])
    try:
        workspace = pool.pop()
    except IndexError:  # other threads have them all
        workspace = np.zeros(_lanes(model))
    try:
        status = compiled(algorithm.single, _SINGLE)(
            model.kernel_tree, model.parameters, q, v, _flat(x), _flat(f_ext), _flat(out), workspace
        )
    except TypeError:
        return TURNED_AWAY
    pool.append(workspace)
    return int(status)


def _flat(array: Any) -> Any:
    """A table as one row; what is not a contiguous array is left for the kernel to turn away."""
    if type(array) is np.ndarray and array.ndim > 1 and array.flags.c_contiguous:
        return array.reshape(-1)
    return array


def _lanes(model: Model) -> int:
    return workspace_lanes(model.n_bodies, model.nv) + SCRATCH_LANES


# ---- everything that is not one well-formed state ---------------------------------------------


def _run_slowly(
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
    inputs = explain.read_arguments(algorithm, model, q, v, x, f_ext)
    full_shape = (*inputs.batch_shape, *shape)
    result = explain.check_out(out, full_shape, inputs)
    flat = result.reshape(-1)
    if inputs.rows < LANES:
        status, row = _run_rows(algorithm, model, inputs, flat)
    else:
        status, row = _run_lanes(algorithm, model, inputs, flat, threads)
    if status != 0:
        explain.raise_failure(algorithm, model, inputs, status, row)
    if out is not None and out is not result:
        out[...] = result
        return out
    return result


def _run_rows(
    algorithm: Algorithm, model: Model, inputs: explain.Inputs, flat: Floats
) -> tuple[int, int]:
    """One state after another, at width 1."""
    kernel = compiled(algorithm.single, _SINGLE)
    workspace = np.zeros(_lanes(model))
    length = flat.size // max(inputs.rows, 1)
    for row in range(inputs.rows):
        out = flat[row * length : (row + 1) * length]
        status = kernel(model.kernel_tree, model.parameters, *inputs.of_row(row), out, workspace)
        if status != 0:
            return status, row
    return 0, 0


def _run_lanes(
    algorithm: Algorithm,
    model: Model,
    inputs: explain.Inputs,
    flat: Floats,
    threads: int | None,
) -> tuple[int, int]:
    """Four states at a time, on several threads; at width 1 where the compiler is switched off."""
    if JIT_DISABLED:
        return _run_rows(algorithm, model, inputs, flat)
    kernel = compiled(algorithm.batch, _BATCH)

    def work(start: int, stop: int) -> tuple[int, int]:
        workspace = np.zeros(LANES * _lanes(model))
        status, row = kernel(
            model.kernel_tree, model.parameters, start, stop, *inputs.tables(), flat, workspace
        )
        return int(status), int(row)

    length = flat.size // inputs.rows
    ranges = _split(inputs.rows, threads or os.cpu_count() or 1)
    if len(ranges) == 1:
        answers = [work(*ranges[0])]
    else:
        answers = list(_executor(len(ranges)).map(lambda r: work(*r), ranges))
    failed = [answer for answer in answers if answer[0] != 0]
    return _pinpoint(algorithm, model, inputs, failed[0][1], length) if failed else (0, 0)


def _pinpoint(
    algorithm: Algorithm, model: Model, inputs: explain.Inputs, first: int, length: int
) -> tuple[int, int]:
    """Which of the four states that begin at `first` failed, and why."""
    kernel = compiled(algorithm.single, _SINGLE)
    workspace = np.zeros(_lanes(model))
    out = np.empty(length)
    for row in range(first, first + LANES):
        status = kernel(model.kernel_tree, model.parameters, *inputs.of_row(row), out, workspace)
        if status != 0:
            return status, row
    raise AssertionError("a batch failed whose states pass one by one")


def _split(rows: int, threads: int) -> list[tuple[int, int]]:
    """Contiguous ranges of at least four rows, one per thread."""
    parts = max(1, min(threads, rows // LANES))
    edges = [rows * i // parts for i in range(parts + 1)]
    return list(pairwise(edges))


@cache
def _executor(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="skodyn")
