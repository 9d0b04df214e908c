"""Is an expression zero, or the identity, up to rounding?

The expression is applied, as typed, to the columns of the identity, or to a few random vectors if
it is large; no identity of the algebra is used. A sum counts as zero if its largest entry is at
most rtol times the largest entry of any of its terms; a product, rtol times the product of the
largest entries of its factors. It counts as the identity if it differs from it by at most rtol.
Unless given, rtol is 1e-10, or 100·ε·κ if that is more and an inverse enters, where κ is the
condition number of the mass matrix.
"""

from __future__ import annotations

import numpy as np

from skodyn.operators.expression import Identity, Operator, Product
from skodyn.operators.structure import factors_of, has_inverse, number_of, terms_of
from skodyn.operators.workbench import Workbench
from skodyn.sko.blocks import Floats

__all__ = ["PROBES", "RTOL", "condition_number", "is_identity", "is_zero", "probes", "tolerance"]

RTOL = 1e-10
ROUNDINGS = 100
SMALL = 4_000_000
"""Up to so many entries an operator is compared in full."""
PROBES = 8
EPS = float(np.finfo(np.float64).eps)


def is_zero(operator: Operator, rtol: float | None = None) -> bool:
    """Is it zero beside its terms, or beside its factors?"""
    if isinstance(operator, Identity):
        return False
    rtol = tolerance(operator.bench, has_inverse(operator)) if rtol is None else rtol
    x = probes(operator)
    terms = [term.run(x, False) for term in terms_of(operator)]
    value = largest(np.add.reduce(terms))
    return bool(value <= rtol * size(operator, terms))


def size(operator: Operator, terms: list[Floats]) -> float:
    """What the value is to be compared with: the values of the terms, or the factors' sizes."""
    if len(terms) > 1:
        return max(largest(term) for term in terms)
    factors = factors_of(operator)
    if not isinstance(operator, Product):
        return 0.0  # one operator alone is zero only if all of it is
    parts = [largest(factor.run(probes(factor), False)) for factor in factors]
    return float(abs(number_of(operator)) * np.prod(parts))


def is_identity(operator: Operator, rtol: float | None = None) -> bool:
    """Does it leave every vector as it is?"""
    if operator.rows is None:
        return isinstance(operator, Identity)
    rows, cols = operator.spaces
    if not rows.same(cols):
        return False
    rtol = tolerance(operator.bench, has_inverse(operator)) if rtol is None else rtol
    x = probes(operator)
    return bool(largest(operator.run(x, False) - x) <= rtol * max(1.0, largest(x)))


def probes(operator: Operator) -> Floats:
    """The columns to try: all of the identity, or a few random ones."""
    rows, cols = operator.shape
    if rows * cols <= SMALL:
        return np.eye(cols)
    return np.random.default_rng(0).normal(size=(cols, PROBES))


def largest(values: Floats) -> float:
    """The largest absolute value; zero for none."""
    return float(np.abs(values).max(initial=0.0))


def tolerance(bench: Workbench, inverse_enters: bool) -> float:
    """What may differ, relatively: more where D⁻¹ of an ill-conditioned system enters."""
    return max(RTOL, ROUNDINGS * EPS * condition_number(bench)) if inverse_enters else RTOL


def condition_number(bench: Workbench, steps: int = 30) -> float:
    """κ of the mass matrix, from below: by power iteration with 𝓜 and with 𝓜⁻¹, O(N) a step."""
    known = bench.notes.get("condition number")
    if known is None:
        H, phi = bench.H, bench.phi
        mass = H @ phi @ bench.M @ phi.T @ H.T
        known = _largest_eigenvalue(mass, steps) * _largest_eigenvalue(mass.inverse(), steps)
        bench.notes["condition number"] = known = max(1.0, known)
    return known


def _largest_eigenvalue(operator: Operator, steps: int) -> float:
    x = np.random.default_rng(1).normal(size=(operator.shape[1], 1))
    value = 0.0
    for _ in range(steps if len(x) else 0):
        x /= np.linalg.norm(x)
        x = operator.run(x, False)
        value = float(np.linalg.norm(x))
    return value
