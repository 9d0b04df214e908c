"""Trace and determinant of expressions, where recursions give them in O(N).

Numbered tips first, ℰ, φ̃ and what is made of them are strictly triangular, φ and ψ unit
triangular: of a product of such operators and block-diagonal ones only the blocks on the diagonal
count, each by itself (Jain 2011-II Corollary 6.1). The diagonal of φXφ* is the Y of the forward
Lyapunov equation (Lemma 3), that of ψ*Xψ the Y of the backward one (Lemma 5). det 𝓜 is Π det D(k)
(eq. 53), for any symmetric X in the place of M and any maps in that of H, by a Riccati equation of
their own.
"""

from __future__ import annotations

from math import exp

import numpy as np

from skodyn import sko
from skodyn.algebra.block_algebra import identity_blocks, multiply, transpose
from skodyn.algebra.composite import Identity, Transposed
from skodyn.algebra.expression import Operator
from skodyn.algebra.inverses import is_mass_matrix
from skodyn.algebra.leaves import Edges, Propagator
from skodyn.algebra.structure import (
    diagonal_blocks,
    expanded,
    factors_of,
    is_block_diagonal,
    is_on_edges,
    number_of,
)
from skodyn.errors import DynamicsError, StateError
from skodyn.model.products import total
from skodyn.sko import SKOModel
from skodyn.sko.blocks import Blocks

__all__ = ["det", "diagonal_of", "log_det", "trace"]


def trace(operator: Operator) -> float:
    """Σ of the diagonal."""
    _check_square(operator)
    return float(sum(np.trace(block) for block in diagonal_of(operator)))


def det(operator: Operator) -> float:
    """The determinant, with its sign."""
    sign, logarithm = _sign_and_log(operator)
    return float(sign * exp(logarithm)) if sign else 0.0


def log_det(operator: Operator) -> float:
    """Of a positive determinant."""
    sign, logarithm = _sign_and_log(operator)
    if sign <= 0.0:
        raise DynamicsError(
            f"The determinant of {operator.text()} is {'zero' if not sign else 'negative'} and has "
            "no logarithm; ask for det()."
        )
    return float(logarithm)


def _sign_and_log(operator: Operator) -> tuple[float, float]:
    _check_square(operator)
    if is_mass_matrix(operator):
        D = operator.bench.D.blocks
        return 1.0, total(float(np.linalg.slogdet(block)[1]) for block in D)
    if _is_triangular(expanded(operator)):
        return _of_blocks(diagonal_of(operator))
    factors = factors_of(operator)
    if len(factors) >= 4 and _is_sandwich(factors):
        return _of_blocks(_own_D(factors), number_of(operator))
    if len(factors) > 1 and all(f.rows is not None and _square(f) for f in factors):
        parts = [_sign_and_log(factor) for factor in factors]
        number, size = number_of(operator), operator.shape[0]
        sign = np.prod([s for s, _ in parts]) * np.sign(number) ** size
        return float(sign), sum(x for _, x in parts) + size * float(np.log(abs(number)))
    if len(factors) == 1 and isinstance(factors[0], Transposed):
        return _sign_and_log(factors[0].inner)
    raise StateError(
        f"No recursion gives the determinant of {operator.text()}. What has one: triangular "
        "expressions of phi, psi, E_phi, K and block-diagonal operators, the mass matrix H @ "
        "phi @ M @ phi.T @ H.T and its like, products of these",
        "np.linalg.slogdet(A.dense()) takes any.",
    )


def _of_blocks(blocks: Blocks, number: float = 1.0) -> tuple[float, float]:
    sign, logarithm = 1.0, 0.0
    for block in blocks:
        s, x = np.linalg.slogdet(number * block)
        sign, logarithm = sign * float(s), logarithm + float(x)
    return sign, logarithm


def _own_D(factors: list[Operator]) -> Blocks:
    """D of the model that has these maps, weights and inertias (eq. 53)."""
    maps, first, middle = factors[0], factors[1], factors[2]
    assert isinstance(first, Propagator)
    blocks = diagonal_blocks(maps), diagonal_blocks(middle)
    return sko.riccati(SKOModel.from_packed(first.spaces[0].forest, first.blocks, *blocks)).D


def _is_sandwich(factors: list[Operator]) -> bool:
    """L φ X φ* L* with block-diagonal L and a symmetric leaf X."""
    if len(factors) != 5 or not is_block_diagonal(factors[0]):
        return False
    left, first, middle, last, right = factors
    symmetric = getattr(middle, "symmetric", False)
    inward = isinstance(first, Propagator) and not first.strict
    return symmetric and inward and last is first.T and right is left.T


# ---- the diagonal -------------------------------------------------------------------------------


def diagonal_of(operator: Operator) -> Blocks:
    """The blocks on the diagonal of a square expression, or a StateError that says what has one."""
    rows, cols = operator.spaces
    total = Blocks.zeros(rows.sizes, cols.sizes)
    for term in expanded(operator):
        total.data[:] += number_of(term) * _diagonal(factors_of(term), operator).data
    return total


def _is_triangular(terms: list[Operator]) -> bool:
    """Do all terms run inward, or all outward?"""
    factors = [factor for term in terms for factor in factors_of(term)]
    return all(map(_is_inward, factors)) or all(map(_is_outward, factors))


def _is_inward(factor: Operator) -> bool:
    return is_block_diagonal(factor) or is_on_edges(factor) or isinstance(factor, Propagator)


def _is_outward(factor: Operator) -> bool:
    return is_block_diagonal(factor) or (
        isinstance(factor, Transposed) and isinstance(factor.inner, (Propagator, Edges))
    )


def _diagonal(factors: list[Operator], whole: Operator) -> Blocks:
    if all(map(_is_inward, factors)):
        return _chained([_inward_diagonal(factor) for factor in factors])
    if all(map(_is_outward, factors)):
        return transpose(_diagonal([factor.T for factor in reversed(factors)], whole))
    sandwich = _sandwich_diagonal(factors)
    if sandwich is None:
        raise StateError(
            f"No recursion gives the diagonal of {whole.text()}: it has one where products run "
            "one way, or inward and then outward as in phi @ X @ phi.T, or outward and then "
            "inward as in psi.T @ X @ psi",
            "np.trace(A.dense()) takes any.",
        )
    return sandwich


def _inward_diagonal(factor: Operator) -> Blocks:
    rows, cols = factor.spaces
    if is_block_diagonal(factor):
        return diagonal_blocks(factor)
    if isinstance(factor, Propagator) and not factor.strict:
        return identity_blocks(rows.sizes)
    return Blocks.zeros(rows.sizes, cols.sizes)


def _chained(blocks: list[Blocks]) -> Blocks:
    found = blocks[0]
    for other in blocks[1:]:
        found = multiply(found, other)
    return found


def _sandwich_diagonal(factors: list[Operator]) -> Blocks | None:
    """Of L φ X ψ* R (Lemma 3) or L φ* X ψ R (Lemma 5), with block-diagonal X, L and R.

    L and R may end with K* and K in the second, which makes the trace of 𝓜⁻¹ one.
    """
    at = [k for k, factor in enumerate(factors) if _propagator(factor) is not None]
    if len(at) != 2 or not all(map(is_block_diagonal, factors[at[0] + 1 : at[1]])):
        return None
    first, last = factors[at[0]], factors[at[1]]
    A, B = _propagator(first), _propagator(last)
    inward = not isinstance(first, Transposed)
    if A is None or B is None or inward != isinstance(last, Transposed):
        return None
    space = A.spaces[0]
    inner = factors[at[0] + 1 : at[1]] or [Identity(A.bench, space)]
    X = _chained([diagonal_blocks(factor) for factor in inner])
    solve = sko.forward_lyapunov if inward else sko.backward_lyapunov
    Y = solve(space.forest, A.blocks, X, B.blocks)
    if A.strict or B.strict:  # φ̃ = φ − I leaves X out, once or twice
        if not inward:
            return None
        Y = Blocks(Y.data - X.data, Y.rows, Y.cols)
    return _between(factors[: at[0]], Y, factors[at[1] + 1 :], inward)


def _between(left: list[Operator], Y: Blocks, right: list[Operator], inward: bool) -> Blocks | None:
    """The diagonal of L·Z·R from that of Z."""
    by_edge = bool(right) and isinstance(right[0], Edges)
    if by_edge and not inward and left:  # K*ZK: at a joint what Z has at the parent
        starred = left[-1]
        if not isinstance(starred, Transposed) or starred.inner is not right[0]:
            return None
        K = right[0].blocks  # type: ignore[attr-defined]
        above = right[0].spaces[0].forest.parent
        Y = Blocks.of(
            K[k].T @ Y[p] @ K[k] if p >= 0 else np.zeros((K.cols[k],) * 2)
            for k, p in enumerate(above.tolist())
        )
        left, right = left[:-1], right[1:]
    if not all(map(is_block_diagonal, (*left, *right))):
        return None
    parts = [*map(diagonal_blocks, left), Y, *map(diagonal_blocks, right)]
    return _chained(parts)


def _propagator(factor: Operator) -> Propagator | None:
    inner = factor.inner if isinstance(factor, Transposed) else factor
    return inner if isinstance(inner, Propagator) else None


def _square(operator: Operator) -> bool:
    rows, cols = operator.spaces
    return rows.same(cols)


def _check_square(operator: Operator) -> None:
    if not _square(operator):
        rows, cols = operator.spaces
        raise StateError(
            f"{operator.text()} is {rows.symbol} × {cols.symbol}, not square",
            "traces and determinants are of square operators.",
        )
