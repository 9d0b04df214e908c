"""Every equation checked on one model: a relative residual and a verdict each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skodyn.algebra.comparison import SMALL, compare, probes
from skodyn.algebra.expression import Operator
from skodyn.algebra.identities.equation import Equation, Given
from skodyn.algebra.identities.jain import JAIN
from skodyn.algebra.identities.pycraft import PYCRAFT
from skodyn.algebra.workbench import Workbench
from skodyn.errors import StateError
from skodyn.sko.blocks import Floats

__all__ = ["CATALOGUE", "Result", "check_identities"]

CATALOGUE: tuple[Equation, ...] = JAIN + PYCRAFT

HOLDS, FAILS = "holds", "FAILS"
TOO_LARGE = "too large to check"
CHAINS = "for serial chains"


@dataclass(frozen=True)
class Result:
    """residual: the difference of the two sides over their largest entry, in the row where it is
    largest beside what rounding explains; tolerance: what rounding explains there. If nothing but
    rounding is left of both sides, over the size of what cancels in them. None: not checked."""

    name: str
    equation: str
    residual: float | None
    tolerance: float
    verdict: str

    @property
    def failed(self) -> bool:
        return self.verdict == FAILS


def check_identities(
    ops: Workbench, seed: int = 0, equations: Iterable[Equation] | None = None
) -> list[Result]:
    """Check every equation of the papers on a model in a state.

    Each side is applied as it is typed to a few random vectors.

    Parameters
    ----------
    ops : Workbench
        What `operators` returned.
    seed : int
        Of the random vectors and points.
    equations : iterable, optional
        Some of the catalogue; all by default.

    Returns
    -------
    results : list
        For each equation its name, words, residual and verdict, in the order of the papers.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.

    See Also
    --------
    operators : the operators in them.

    Examples
    --------
    >>> ops = sk.operators(sk.examples.pendulum(3), [0.3, 0.2, 0.1], [1.0, 0.0, 0.0])
    >>> any(result.failed for result in sk.check_identities(ops))
    False
    """
    if not isinstance(ops, Workbench):
        raise StateError(f"ops is {type(ops).__name__}", "give sk.operators(model, q).")
    givens = {bench: Given(bench, np.random.default_rng(seed)) for bench in (ops, *ops.samples)}
    chosen = CATALOGUE if equations is None else equations
    return [_check(equation, ops, givens) for equation in chosen]


def _check(equation: Equation, ops: Workbench, givens: dict[Workbench, Given]) -> Result:
    words = equation.words or _words(equation, givens[ops])
    if not equation.holds_for(ops):
        return Result(equation.name, words, None, 0.0, CHAINS)
    if equation.dense and ops.node_space.size**2 > SMALL:
        return Result(equation.name, words, None, 0.0, TOO_LARGE)
    found = compare(ops, lambda bench: _sides(equation, givens[bench]))
    size = found.size or 1.0
    verdict = HOLDS if found.agrees else FAILS
    return Result(equation.name, words, found.difference / size, found.allowed / size, verdict)


def _sides(equation: Equation, given: Given) -> list[Floats]:
    """The left side and less the right one: vectors, or what operators or matrices make of them."""
    left: Any = equation.left(given)
    right: Any = None if equation.right is None else equation.right(given)
    if isinstance(left, Operator):
        x = given.tried(probes(left.shape[1]))
        sides = [left.run(x, False)]
        return sides if right is None else [*sides, -right.placed(left.spaces[0]).run(x, False)]
    if equation.dense:
        x = given.tried(probes(np.shape(left)[-1] if np.ndim(left) else 1))
        return [np.atleast_2d(left) @ x, -np.atleast_2d(right) @ x]
    return [np.asarray(left), -np.asarray(right)]


def _words(equation: Equation, given: Given) -> str:
    def typed(side: Any) -> str:
        value: Operator = side(given)
        return value.text()

    return f"{typed(equation.left)} = {'0' if equation.right is None else typed(equation.right)}"
