"""The Innovations factors of the mass matrix and their inverse (Jain 2011-II, Lemma 11).

𝓜 = [I + H𝔸K]·D·[I + H𝔸K]* (eq. 49) and [I + H𝔸K]⁻¹ = I − HψK (eq. 50), so
𝓜⁻¹ = [I − HψK]*·D⁻¹·[I − HψK] (eq. 51; the last line of its proof prints one more ⁻¹ on the last
factor, which does not belong there). Both are unit triangular when nodes are numbered tips first,
so det 𝓜 = Π det D(k) (Corollary 6.1, eq. 53). The proof of that begins with I − H𝔸K; the sign must
be plus, as in eq. 52 itself.

Since K = ℰ_𝔸G, each product is one sweep over the weights of 𝔸.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skodyn.jit import COUNT, FLOATS, INTS, RESULT, kernel
from skodyn.sko.blocks import BLOCKS, Floats, block_of, stacked_columns
from skodyn.sko.model import MODEL, H_of, SKOModel, weight_of
from skodyn.sko.riccati_equation import Riccati, solution_of
from skodyn.sko.small import (
    add_product,
    add_transposed_product,
    part_of,
    subtract_product,
    subtract_transposed_product,
)
from skodyn.sko.solve import solve_blocks

__all__ = ["innovations", "innovations_inverse", "log_determinant", "mass_matrix_solve"]


def innovations(
    model: SKOModel, solution: Riccati, x: ArrayLike, *, transpose: bool = False
) -> Floats:
    """[I + H𝔸K]x, or its transpose times x, O(N) for each column.

    Parameters
    ----------
    model : SKOModel
        The system in one state.
    solution : Riccati
        What `riccati` returned for this model.
    x : array_like, shape (nv,) or (nv, k)
        A vector, or columns.
    transpose : bool
        Apply the transpose.

    Returns
    -------
    y : ndarray, of the shape of x
    """
    return _run(scatter_factor if transpose else gather_factor, model, solution, x)


def innovations_inverse(
    model: SKOModel, solution: Riccati, x: ArrayLike, *, transpose: bool = False
) -> Floats:
    """[I − HψK]x, or its transpose times x, O(N) for each column.

    Parameters
    ----------
    model : SKOModel
        The system in one state.
    solution : Riccati
        What `riccati` returned for this model.
    x : array_like, shape (nv,) or (nv, k)
        A vector, or columns.
    transpose : bool
        Apply the transpose.

    Returns
    -------
    y : ndarray, of the shape of x

    Examples
    --------
    >>> gears = sk.sko_model(sk.examples.pendulum(3), [0.3, 0.2, 0.1])
    >>> solution = sk.sko.riccati(gears)
    >>> y = sk.sko.innovations(gears, solution, np.ones(3))
    >>> np.allclose(sk.sko.innovations_inverse(gears, solution, y), 1.0)
    True
    """
    return _run(scatter_inverse if transpose else gather_inverse, model, solution, x)


def mass_matrix_solve(model: SKOModel, rhs: ArrayLike, solution: Riccati | None = None) -> Floats:
    """𝓜⁻¹ times a vector or columns, O(N) for each.

    Parameters
    ----------
    model : SKOModel
        The system in one state.
    rhs : array_like, shape (nv,) or (nv, k)
        A vector, or columns.
    solution : Riccati, optional
        What `riccati` returned for this model, if it is at hand.

    Returns
    -------
    x : ndarray, of the shape of rhs
    """
    solution = solution_of(model, solution)
    columns, shape = stacked_columns(rhs, model.nv, "rhs")
    inner = solve_blocks(solution.D_factor, innovations_inverse(model, solution, columns))
    return innovations_inverse(model, solution, inner, transpose=True).reshape(shape)


def log_determinant(model: SKOModel, solution: Riccati | None = None) -> float:
    """log det 𝓜 = Σ log det D(k), O(N).

    Parameters
    ----------
    model : SKOModel
        The system in one state.
    solution : Riccati, optional
        What `riccati` returned for this model, if it is at hand.

    Returns
    -------
    logdet : float
    """
    solution = solution_of(model, solution)
    factor = solution.D_factor
    return float(sum_of_logarithms.ready(factor.data, factor.starts, factor.row_starts))


def _run(entry: Any, model: SKOModel, solution: Riccati, x: ArrayLike) -> Floats:
    solution = solution_of(model, solution)
    columns, shape = stacked_columns(x, model.nv, "x")
    y = columns.copy()
    entry.ready(
        model.arrays,
        solution.G.arrays,
        columns.reshape(-1),
        columns.shape[1],
        np.zeros(model.size * columns.shape[1]),
        y.reshape(-1),
    )
    return y.reshape(shape)


_FACTOR = (MODEL, BLOCKS, FLOATS, COUNT, RESULT, RESULT)
_LOG = (FLOATS, INTS, INTS)


@kernel(*_FACTOR)
def gather_factor(model, G, x, columns, z, y):
    """z(k) = Σ 𝔸(k, j)·[z(j) + G(j)·x(j)], y(k) = x(k) + H(k)·z(k); y comes in as x, z as zeros."""
    parent, node, dof = model.parent, model.node_starts, model.dof_starts
    for back in range(parent.size):
        k = parent.size - 1 - back
        z_k = part_of(z, node, k, columns)
        add_product(H_of(model, k), z_k, part_of(y, dof, k, columns))
        p = parent[k]
        if p >= 0:
            add_product(block_of(G, k), part_of(x, dof, k, columns), z_k)
            add_product(weight_of(model, p, k), z_k, part_of(z, node, p, columns))


@kernel(*_FACTOR)
def gather_inverse(model, G, _x, columns, z, y):
    """z(k) = Σ 𝔸(k, j)·[z(j) + G(j)·y(j)], y(k) = x(k) − H(k)·z(k); y comes in as x, z as zeros.

    This is z = ψKx, for ψ(k, j)·z(j) + K(k, j)·x(j) = 𝔸(k, j)·[z(j) + G(j)·(x(j) − H(j)·z(j))].
    """
    parent, node, dof = model.parent, model.node_starts, model.dof_starts
    for back in range(parent.size):
        k = parent.size - 1 - back
        z_k, y_k = part_of(z, node, k, columns), part_of(y, dof, k, columns)
        subtract_product(H_of(model, k), z_k, y_k)
        p = parent[k]
        if p >= 0:
            add_product(block_of(G, k), y_k, z_k)
            add_product(weight_of(model, p, k), z_k, part_of(z, node, p, columns))


@kernel(*_FACTOR)
def scatter_factor(model, G, x, columns, z, y):
    """z⁺(k) = 𝔸*(℘(k), k)·z(℘(k)), y(k) = x(k) + G*(k)·z⁺(k), z(k) = z⁺(k) + H*(k)·x(k)."""
    parent, node, dof = model.parent, model.node_starts, model.dof_starts
    for k in range(parent.size):
        z_k = part_of(z, node, k, columns)
        p = parent[k]
        if p >= 0:
            add_transposed_product(weight_of(model, p, k), part_of(z, node, p, columns), z_k)
            add_transposed_product(block_of(G, k), z_k, part_of(y, dof, k, columns))
        add_transposed_product(H_of(model, k), part_of(x, dof, k, columns), z_k)


@kernel(*_FACTOR)
def scatter_inverse(model, G, _x, columns, z, y):
    """z⁺(k) = 𝔸*(℘(k), k)·z(℘(k)), y(k) = x(k) − G*(k)·z⁺(k), z(k) = z⁺(k) + H*(k)·y(k)."""
    parent, node, dof = model.parent, model.node_starts, model.dof_starts
    for k in range(parent.size):
        z_k, y_k = part_of(z, node, k, columns), part_of(y, dof, k, columns)
        p = parent[k]
        if p >= 0:
            add_transposed_product(weight_of(model, p, k), part_of(z, node, p, columns), z_k)
            subtract_transposed_product(block_of(G, k), z_k, y_k)
        add_transposed_product(H_of(model, k), y_k, z_k)


@kernel(*_LOG)
def sum_of_logarithms(factor, starts, dof):
    """Σ log det D(k) = 2 Σ log L(k)ᵢᵢ."""
    total = 0.0
    for k in range(starts.size - 1):
        n = dof[k + 1] - dof[k]
        for i in range(n):
            total += math.log(factor[starts[k] + i * n + i])
    return 2.0 * total
