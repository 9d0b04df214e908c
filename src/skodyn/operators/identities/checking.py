"""Every equation checked on one model: a relative residual and a verdict each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skodyn.operators.comparison import SMALL, largest, probes, size, tolerance
from skodyn.operators.expression import Operator
from skodyn.operators.identities.equation import Equation, Given
from skodyn.operators.identities.jain import JAIN
from skodyn.operators.identities.pycraft import PYCRAFT
from skodyn.operators.structure import has_inverse
from skodyn.operators.workbench import Workbench
from skodyn.sko.blocks import Floats

__all__ = ["CATALOGUE", "Result", "check_identities"]

CATALOGUE: tuple[Equation, ...] = JAIN + PYCRAFT

HOLDS, FAILS = "holds", "FAILS"
TOO_LARGE = "too large to check"
CHAINS = "for serial chains"


@dataclass(frozen=True)
class Result:
    """residual: the largest difference over the largest entry of either side; None: not checked."""

    name: str
    equation: str
    residual: float | None
    tolerance: float
    verdict: str

    @property
    def failed(self) -> bool:
        return self.verdict == FAILS


def check_identities(
    ops: Workbench, seed: int = 0, equations: Iterable[Equation] = CATALOGUE
) -> list[Result]:
    """All equations, in the order of the papers; random vectors and points come from the seed.

    Each side is applied as it is typed, to all columns of the identity, or to a few random vectors
    if the model is large. What may differ is said in comparison.py.
    """
    given = Given(ops, np.random.default_rng(seed))
    return [_check(equation, given) for equation in equations]


def _check(equation: Equation, given: Given) -> Result:
    ops = given.ops
    if not equation.holds_for(ops):
        return Result(equation.name, equation.words or _words(equation, given), None, 0.0, CHAINS)
    if equation.dense and ops.node_space.size**2 > SMALL:
        return Result(equation.name, equation.words, None, 0.0, TOO_LARGE)
    left = equation.left(given)
    right = None if equation.right is None else equation.right(given)
    if isinstance(left, Operator):
        difference, scale = _operators(left, right)
        inverse_enters = has_inverse(left) or (right is not None and has_inverse(right))
    else:
        difference, scale = _arrays(np.asarray(left), np.asarray(right))
        inverse_enters = True
    residual = difference / scale if scale else difference
    allowed = tolerance(ops, inverse_enters)
    verdict = HOLDS if residual <= allowed else FAILS
    words = equation.words or _words(equation, given)
    return Result(equation.name, words, residual, allowed, verdict)


def _operators(left: Operator, right: Operator | None) -> tuple[float, float]:
    """(largest difference, what it is compared with); `comparison.size` says the latter."""
    x = probes(left)
    value = left.run(x, False)
    if right is None:
        return largest(value), size([left], [value])
    right = right.placed(left.spaces[0])
    other = right.run(x, False)
    return largest(value - other), size([left, right], [value, other])


def _arrays(left: Floats, right: Floats) -> tuple[float, float]:
    return largest(left - right), max(largest(left), largest(right))


def _words(equation: Equation, given: Given) -> str:
    def typed(side: Any) -> str:
        value: Operator = side(given)
        return value.text()

    return f"{typed(equation.left)} = {'0' if equation.right is None else typed(equation.right)}"
