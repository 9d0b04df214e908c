"""Models with mimic joints: each algorithm by way of the tree in which every joint is free.

Ordinary kernels take the state expanded to all joints, and what they say of forces is carried back
by Gᵀ (model/mimics.py). Only where the mass matrix is to be inverted does a kernel of its own do
it (kernels/coupled_dynamics.py). Every function here has the arguments of `driver.run`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skodyn.dynamics import arguments
from skodyn.dynamics.algorithm import Algorithm
from skodyn.dynamics.driver import COMPILED, NOTHING, block_of, flat_forces, run, run_slowly
from skodyn.errors import StateError
from skodyn.model.model import Model
from skodyn.typing import Floats

__all__ = [
    "by_kernel",
    "deliver",
    "expand",
    "expanded",
    "projected",
    "projected_matrix",
    "projected_square",
]

Way = Callable[..., Floats]


def expand(
    algorithm: Algorithm, model: Model, q: Any, v: Any, x: Any, f_ext: Any
) -> tuple[Any, Any, Any, Any]:
    """(q, v, x, f_ext) for `model.uncoupled`."""
    if not _plain_state(algorithm, model, q, v, x, f_ext):
        inputs = arguments.read_arguments(algorithm, model, q, v, x, f_ext)
        q, f_ext = inputs.q, inputs.f_ext if inputs.f_ext.size else None
        v, x = (a if a.size else NOTHING for a in (inputs.v, inputs.x))
    joints = model.coupling
    full_v = v if v is NOTHING else joints.expand_v(v)
    if x is not NOTHING and algorithm.x is not None:
        x = joints.expand_v(x) if algorithm.x == "vdot" else joints.spread(x)
    return joints.expand_q(q), full_v, x, f_ext


def _plain_state(algorithm: Algorithm, model: Model, q: Any, v: Any, x: Any, f_ext: Any) -> bool:
    """One state, in arrays that need no second look but at whether they are finite."""
    return (
        f_ext is None
        and _plain(q, model.nq)
        and (v is NOTHING or _plain(v, model.nv))
        and (x is NOTHING or algorithm.x is None or _plain(x, model.nv))
    )


def _plain(a: Any, size: int) -> bool:
    return type(a) is np.ndarray and a.shape == (size,) and a.dtype == np.float64


def of_tree(
    algorithm: Algorithm, model: Model, shape: tuple[int, ...], q: Any, v: Any, x: Any, f_ext: Any,
    threads: int | None,
) -> Floats:  # fmt: skip
    """What the uncoupled tree has to say; faults are told of the state as it was given."""
    full = expand(algorithm, model, q, v, x, f_ext)
    try:
        return run(algorithm, model.uncoupled, shape, *full, None, threads)
    except StateError:
        inputs = arguments.read_arguments(algorithm, model, q, v, x, f_ext)
        arguments.check_finite(algorithm, inputs)
        model.check_q(inputs.q)
        raise


def deliver(result: Floats, out: Floats | None) -> Floats:
    """The result, in `out` if there is one."""
    if out is None:
        return result
    arguments.check_out(out, result.shape, arguments.NO_INPUTS)
    out[...] = result
    return out


def expanded(
    algorithm: Algorithm, model: Model, shape: tuple[int, ...], q: Any, v: Any, x: Any, f_ext: Any,
    out: Floats | None, threads: int | None,
) -> Floats:  # fmt: skip
    """For results that do not speak of joints: the same as of the uncoupled tree."""
    return deliver(of_tree(algorithm, model, shape, q, v, x, f_ext, threads), out)


def projected(
    algorithm: Algorithm, model: Model, shape: tuple[int, ...], q: Any, v: Any, x: Any, f_ext: Any,
    out: Floats | None, threads: int | None,
) -> Floats:  # fmt: skip
    """For generalised forces, and columns of a Jacobian: Gᵀ along the last axis."""
    wide = (*shape[:-1], model.uncoupled.nv)
    result = of_tree(algorithm, model, wide, q, v, x, f_ext, threads)
    return deliver(model.coupling.project(result), out)


def projected_matrix(
    algorithm: Algorithm, model: Model, shape: tuple[int, ...], q: Any, v: Any, x: Any, f_ext: Any,
    out: Floats | None, threads: int | None,
) -> Floats:  # fmt: skip
    """Gᵀ𝓜G."""
    wide = (model.uncoupled.nv, model.uncoupled.nv)
    result = of_tree(algorithm, model, wide, q, v, x, f_ext, threads)
    return deliver(model.coupling.project_matrix(result), out)


def projected_square(
    algorithm: Algorithm, model: Model, shape: tuple[int, ...], q: Any, v: Any, x: Any, f_ext: Any,
    out: Floats | None, threads: int | None,
) -> Floats:  # fmt: skip
    """GᵀXG of matrices that are not symmetric: derivatives of forces, Coriolis matrices."""
    wide = (*shape[:-2], model.uncoupled.nv, model.uncoupled.nv)
    result = of_tree(algorithm, model, wide, q, v, x, f_ext, threads)
    for _ in range(2):
        turned = model.coupling.project(result).swapaxes(-1, -2)
        result = np.ascontiguousarray(turned)
    return deliver(result, out)


def by_kernel(own: Algorithm) -> Way:
    """An algorithm of its own, which takes the state as it is."""

    def way(
        algorithm: Algorithm, model: Model, shape: tuple[int, ...], q: Any, v: Any, x: Any,
        f_ext: Any, out: Floats | None, threads: int | None,
    ) -> Floats:  # fmt: skip
        if type(q) is COMPILED and q.ndim == 1:
            result = np.empty(shape) if out is None else out
            forces = NOTHING if f_ext is None else flat_forces(model, f_ext)
            try:
                given = own.given(v, x, forces)
                if own.ready(block_of(own, model), q, *given, result) == 0:
                    return result
            except TypeError:  # not contiguous float64 arrays of the right number of axes
                pass
        return run_slowly(own, model, shape, q, v, x, f_ext, out, threads)

    return way
