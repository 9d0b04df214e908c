"""The mass matrix, its inverse and what is made of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skodyn.dynamics import coupled as _coupled
from skodyn.dynamics.driver import COMPILED, NOTHING, TURNED_AWAY, block_of, first_block, run
from skodyn.dynamics.explain import check_out, raise_failure, read_arguments, read_columns
from skodyn.dynamics.functions import (
    COMPLIANCE,
    COUPLED_SOLVE,
    JACOBIAN,
    LOGDET,
    LOOPED_SOLVE,
    MASS_INVERSE,
    MASS_MATRIX,
    SOLVE,
)
from skodyn.dynamics.kinematics import node_table, number_or_array
from skodyn.model.columns import Floats
from skodyn.model.model import Model

__all__ = [
    "mass_matrix",
    "mass_matrix_inverse",
    "mass_matrix_logdet",
    "mass_matrix_solve",
    "operational_space_compliance",
]


def mass_matrix(
    model: Model, q: ArrayLike, *, out: Floats | None = None, threads: int | None = None
) -> Floats:
    """𝓜 (nv × nv), both triangles; only related pairs are computed."""
    if threads is None and type(q) is COMPILED and q.ndim == 1:  # type: ignore[union-attr]
        result = np.empty((model.nv, model.nv)) if out is None else out
        blocks = model.kernel_blocks
        block = blocks[0] if blocks else first_block(model)
        try:
            status = MASS_MATRIX.ready(block, q, result)
        except TypeError:  # not contiguous float64 arrays of the right number of axes
            status = TURNED_AWAY
        if status == 0:
            return result
    return run(MASS_MATRIX, model, (model.nv, model.nv), q, out=out, threads=threads)


def mass_matrix_inverse(
    model: Model, q: ArrayLike, *, out: Floats | None = None, threads: int | None = None
) -> Floats:
    """𝓜⁻¹ (nv × nv) in O(N²), without forming 𝓜."""
    return run(MASS_INVERSE, model, (model.nv, model.nv), q, out=out, threads=threads)


def mass_matrix_solve(
    model: Model,
    q: ArrayLike,
    rhs: ArrayLike,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> Floats:
    """𝓜⁻¹·rhs in O(N) per right-hand side.

    For one state rhs is (nv,) or (nv, k), as in numpy.linalg.solve; for a batch it is (B, nv).
    """
    if _axes(q) == 1 and _axes(rhs) == 2:
        return _solve_columns(model, q, rhs, out)
    return run(SOLVE, model, (model.nv,), q, NOTHING, rhs, None, out, threads)


def _solve_columns(model: Model, q: ArrayLike, rhs: ArrayLike, out: Floats | None) -> Floats:
    """All columns of rhs for one state: the articulated inertias are gathered once."""
    inputs = read_columns(model, q, rhs)
    result = check_out(out, inputs.x.T.shape, inputs)
    answers = np.empty(inputs.x.shape)
    rhs_rows, flat = inputs.x.reshape(-1), answers.reshape(-1)
    algorithm = COUPLED_SOLVE if model.mimics else LOOPED_SOLVE if model.has_loops else SOLVE
    status = (
        algorithm.ready(block_of(algorithm, model), inputs.q, rhs_rows, flat) if flat.size else 0
    )
    if status != 0:
        raise_failure(algorithm, model, inputs, status, 0)
    result = result if out is None else out
    result[...] = answers.T
    return result


def _axes(value: Any) -> int:
    """How many axes an argument has; −1 for what is not a table at all."""
    try:
        return np.ndim(value)
    except ValueError:
        return -1


def mass_matrix_logdet(model: Model, q: ArrayLike, *, threads: int | None = None) -> float | Floats:
    """log det 𝓜, a number per state; O(N)."""
    return number_or_array(run(LOGDET, model, (1,), q, threads=threads)[..., 0])


def operational_space_compliance(
    model: Model,
    q: ArrayLike,
    nodes: Any,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> Floats:
    """J 𝓜⁻¹ Jᵀ (6k × 6k) for k nodes [(body, point), …], from Ω, without forming 𝓜⁻¹."""
    table = node_table(model, nodes)
    if model.mimics or model.has_loops:
        return _coupled_compliance(model, q, table, out, threads)
    size = 6 * (len(table) // 4)
    return run(COMPLIANCE, model, (size, size), q, NOTHING, table, None, out, threads)


def _coupled_compliance(
    model: Model, q: ArrayLike, nodes: Floats, out: Floats | None, threads: int | None
) -> Floats:
    """J (Gᵀ𝓜G)⁻¹ Jᵀ, or with loops J X(X*𝓜X)⁻¹X* Jᵀ: one O(N) solve for each of its columns."""
    inputs = read_arguments(COMPLIANCE, model, q, NOTHING, nodes, None)
    solve = COUPLED_SOLVE if model.mimics else LOOPED_SOLVE
    states = inputs.q.reshape(-1, model.nq)
    jacobians = np.concatenate(
        [
            run(JACOBIAN, model, (6, model.nv), states, NOTHING, node, None, None, threads)
            for node in nodes.reshape(-1, 4)
        ]
        or [np.empty((len(states), 0, model.nv))],
        axis=1,
    )
    size = jacobians.shape[1]
    moved = np.empty_like(jacobians)
    for row in range(size):
        rhs = np.ascontiguousarray(jacobians[:, row])
        moved[:, row] = run(solve, model, (model.nv,), states, NOTHING, rhs, None, None, threads)
    both = np.einsum("bin,bjn->bij", jacobians, moved)
    upper = np.triu(both) + np.swapaxes(np.triu(both, 1), -1, -2)
    return _coupled.deliver(upper.reshape(*inputs.batch_shape, size, size), out)
