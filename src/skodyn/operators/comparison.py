"""Is an expression zero, or the identity, up to rounding?

The expression is applied, as typed, to the columns of the identity, or to a few random vectors if
it is large; no identity of the algebra is used. A sum counts as zero if its largest entry is at
most rtol times the largest entry of any of its terms; a product, rtol times the product of its
factors' sizes. It counts as the identity if it differs from it by at most rtol. Unless given, rtol
is 1e-10, or 100·ε·κ if that is more and an inverse enters, where κ is the condition number of the
mass matrix.

The size of an operator is its largest entry, but that of τ̄ = I − τ is at least 1: where a joint
moves in every direction nothing but rounding is left of it. The same holds for ℰ_ψ and P⁺, which
are made from it. If all terms of a sum vanish in this way beside the sizes of their factors, they
are compared with those.
"""

from __future__ import annotations

import numpy as np

from skodyn.operators.composite import Identity, Product, Transposed
from skodyn.operators.expression import Operator
from skodyn.operators.leaves import Edges, Leaf, Propagator
from skodyn.operators.structure import factors_of, has_inverse, number_of, terms_of
from skodyn.operators.workbench import Workbench
from skodyn.sko.blocks import Floats

__all__ = ["PROBES", "RTOL", "condition_number", "is_identity", "is_zero", "probes", "tolerance"]

RTOL = 1e-10
ROUNDINGS = 100
SMALL = 1_000_000
"""Operators of models with N² up to this are compared in full."""
PROBES = 8
EPS = float(np.finfo(np.float64).eps)


def is_zero(operator: Operator, rtol: float | None = None) -> bool:
    """Is it zero beside its terms, or beside its factors?"""
    if isinstance(operator, Identity):
        return False
    rtol = tolerance(operator.bench, has_inverse(operator)) if rtol is None else rtol
    x = probes(operator)
    terms = terms_of(operator)
    if len(terms) == 1 and not isinstance(terms[0], Product):
        return largest(terms[0].run(x, False)) == 0.0  # one operator alone: only if all of it is
    values = [term.run(x, False) for term in terms]
    return bool(largest(np.add.reduce(values)) <= rtol * size(terms, values))


def size(operators: list[Operator], values: list[Floats]) -> float:
    """What a difference is compared with: the largest of these values of these operators; where
    all of them vanish beside their factors, or there is one only, the factors' sizes."""
    factors = max(natural_size(operator) for operator in operators)
    found = max(largest(value) for value in values)
    if len(values) > 1 and found > ROUNDINGS * EPS * factors:
        return found
    return factors


def natural_size(operator: Operator) -> float:
    """The product of the sizes of the factors; of the largest term of a sum."""
    terms = terms_of(operator)
    if len(terms) > 1:
        return max(natural_size(term) for term in terms)
    number = abs(number_of(operator))
    return float(number * np.prod([_factor_size(factor) for factor in factors_of(operator)]))


def _factor_size(factor: Operator) -> float:
    if isinstance(factor, Transposed):
        return natural_size(factor.inner)
    if len(terms_of(factor)) > 1:
        return natural_size(factor)
    if not isinstance(factor, Leaf):
        return 1.0  # Id
    bench = factor.bench
    if factor.name == "taubar":
        return max(1.0, largest(bench.tau.blocks.data))
    if factor.name == "P_plus":
        return largest(bench.P.blocks.data)
    if isinstance(factor, (Edges, Propagator)) and factor.blocks is bench.E_psi.blocks:
        step = largest(bench.E_phi.blocks.data) * _factor_size(bench.taubar)
        return step if isinstance(factor, Edges) or factor.strict else max(1.0, step)
    if isinstance(factor, Propagator):
        return largest(factor.run(probes(factor), False))
    return largest(factor.blocks.data)


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
    cols = operator.shape[1]
    if operator.bench.node_space.size**2 <= SMALL:
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
