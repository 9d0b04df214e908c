"""Is an expression zero, or the identity, up to rounding?

The expression is applied, as typed, to a few random vectors; no identity of the algebra is used.
What rounding makes of it is measured, not estimated: the same expression is applied to the same
vectors in models that differ by a rounding in every number (`samples.py`). An expression is zero if
in every row what it gives is no larger than a few times what it differs by between these models.
A wrong equation is off by the same amount in all of them, however many factors it has; a right one
by rounding alone, however badly conditioned it is. What cannot be told apart, because nothing but
rounding is left of both sides, counts as zero.

With `rtol`, a row is zero too if it is at most so much of the largest entry of the terms in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

import numpy as np

from skodyn.algebra.expression import Operator
from skodyn.algebra.structure import terms_of
from skodyn.algebra.workbench import Workbench
from skodyn.errors import StateError
from skodyn.sko.blocks import Floats

__all__ = ["PROBES", "SMALL", "Comparison", "compare", "condition_number", "is_identity", "is_zero"]

PROBES = 8
CERTAIN = 10.0
"""So many standard deviations are more than rounding, times √(levels of the tree): roundings along
a path may add up where those of the samples cancel."""
ULPS = 16.0
"""So many units in the last place of a term are rounding, whatever the samples say."""
SMALL = 1_000_000
"""Matrices of models with N² up to this may be written out for a check."""
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Comparison:
    """The row in which a sum of terms is largest beside what is allowed there."""

    difference: float  # its largest entry
    allowed: float  # what rounding explains, or rtol
    size: float  # of the terms; of what cancels in them, if nothing but rounding is left of each

    @property
    def agrees(self) -> bool:
        return self.difference <= self.allowed


def compare(
    bench: Workbench, terms: Callable[[Workbench], list[Floats]], rtol: float = 0.0
) -> Comparison:
    """Do terms, matrices with a column for each vector that a workbench tries, add up to zero?"""
    values = terms(bench)
    others = [[sample.measured(y) for y in terms(sample)] for sample in bench.samples]
    difference = _of_rows(np.add.reduce(values))
    if not len(difference):
        return Comparison(0.0, 0.0, 0.0)
    spread = _of_rows(np.std([np.add.reduce(tables) for tables in others], axis=0, ddof=1))
    rounding = CERTAIN * max(1.0, bench.tree.depth) ** 0.5 * spread
    sizes = np.max([_of_rows(value) for value in values], axis=0)
    allowed = np.maximum(rounding, max(rtol, ULPS * EPS) * sizes)
    with np.errstate(divide="ignore", invalid="ignore"):
        beside = np.where(difference == 0.0, 0.0, difference / allowed)
    worst = int(np.argmax(beside))  # NaN, if there is one
    of_terms = largest(np.std([[v[worst] for v in tables] for tables in others], axis=0, ddof=1))
    size = float(sizes[worst])
    size = size if size > CERTAIN * of_terms else of_terms / EPS
    return Comparison(float(difference[worst]), float(allowed[worst]), size)


def is_zero(operator: Operator, rtol: float = 0.0) -> bool:
    """Is it nothing but rounding, or at most rtol beside its terms?"""
    return _vanish(terms_of(operator), rtol)


def is_identity(operator: Operator, rtol: float = 0.0) -> bool:
    """Does it leave every vector as it is, up to rounding or rtol?"""
    rows, cols = operator.rows, operator.cols
    if rows is not None and cols is not None and not rows.same(cols):
        return False
    return _vanish([*terms_of(operator), -operator.bench.Id], rtol)


def _vanish(terms: list[Operator], rtol: float) -> bool:
    if isinstance(rtol, bool) or not isinstance(rtol, Real) or not float(rtol) >= 0.0:
        raise StateError(f"rtol is {rtol!r}", "give a number, zero or more.")
    bench = terms[0].bench
    space = next((term.cols for term in terms if term.cols is not None), bench.node_space)
    placed = [term.placed(space) for term in terms]
    x = probes(space.size)
    return compare(
        bench, lambda b: [term.on(b).run(b.tried(x), False) for term in placed], rtol
    ).agrees


def probes(size: int) -> Floats:
    """Random vectors, side by side."""
    return np.random.default_rng(0).normal(size=(size, PROBES))


def largest(values: Floats) -> float:
    """The largest absolute value; zero for none."""
    return float(np.abs(values).max(initial=0.0))


def _of_rows(table: Floats) -> Floats:
    return np.asarray(np.abs(table).max(axis=1, initial=0.0))


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
