"""Sums, products, multiples and transposes of operators, and the rules by which they are built."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from skodyn.algebra.expression import Operator
from skodyn.algebra.spaces import Space
from skodyn.errors import StateError
from skodyn.sko.blocks import Floats

if TYPE_CHECKING:
    from skodyn.algebra.workbench import Workbench

__all__ = [
    "Identity",
    "Product",
    "Scaled",
    "Sum",
    "Transposed",
    "number_given",
    "operand",
    "product",
    "scaled",
    "summed",
]


class Identity(Operator):
    """I: it takes its space from what it is added to; multiplied, it vanishes."""

    def __init__(self, bench: Workbench, space: Space | None = None) -> None:
        self.bench, self.rows, self.cols = bench, space, space

    @property
    def T(self) -> Operator:
        return self

    def placed(self, space: Space) -> Operator:
        return self if self.rows is not None else Identity(self.bench, space)

    def moved(self, bench: Workbench) -> Operator:
        return Identity(bench, self.rows)

    def run(self, x: Floats, transpose: bool) -> Floats:
        return x


class Transposed(Operator):
    def __init__(self, inner: Operator) -> None:
        self.inner, self.bench = inner, inner.bench
        self.rows, self.cols = inner.cols, inner.rows

    @property
    def T(self) -> Operator:
        return self.inner

    def placed(self, space: Space) -> Operator:
        return Transposed(self.inner.placed(space))

    def moved(self, bench: Workbench) -> Operator:
        return self.inner.on(bench).T

    def run(self, x: Floats, transpose: bool) -> Floats:
        return self.inner.run(x, not transpose)


class Scaled(Operator):
    def __init__(self, number: float, inner: Operator) -> None:
        self.number, self.inner, self.bench = number, inner, inner.bench
        self.rows, self.cols = inner.rows, inner.cols

    @property
    def T(self) -> Operator:
        """The number stays in front: a product looks for it there."""
        return Scaled(self.number, self.inner.T)

    def placed(self, space: Space) -> Operator:
        return Scaled(self.number, self.inner.placed(space))

    def moved(self, bench: Workbench) -> Operator:
        return Scaled(self.number, self.inner.on(bench))

    def run(self, x: Floats, transpose: bool) -> Floats:
        return self.number * self.inner.run(x, transpose)


class Sum(Operator):
    def __init__(self, terms: tuple[Operator, ...]) -> None:
        self.terms, self.bench = terms, terms[0].bench
        self.rows, self.cols = terms[0].rows, terms[0].cols

    def placed(self, space: Space) -> Operator:
        return self if self.rows is not None else Sum(tuple(t.placed(space) for t in self.terms))

    def moved(self, bench: Workbench) -> Operator:
        return Sum(tuple(term.on(bench) for term in self.terms))

    def run(self, x: Floats, transpose: bool) -> Floats:
        total = self.terms[0].run(x, transpose)
        total = total.copy() if total is x else total
        for term in self.terms[1:]:
            total += term.run(x, transpose)
        return total


class Product(Operator):
    """Factors none of which is itself a product or a multiple."""

    def __init__(self, factors: tuple[Operator, ...]) -> None:
        self.factors, self.bench = factors, factors[0].bench
        self.rows, self.cols = factors[0].rows, factors[-1].cols

    def moved(self, bench: Workbench) -> Operator:
        return Product(tuple(factor.on(bench) for factor in self.factors))

    def run(self, x: Floats, transpose: bool) -> Floats:
        for factor in self.factors if transpose else reversed(self.factors):
            x = factor.run(x, transpose)
        return x


def product(left: Operator, right: Operator) -> Operator:
    """A @ B: flat, numbers in front, without Id."""
    left.bench.check_compatible(right.bench, left, right)
    if isinstance(left, Identity) and (left.cols is None or right.rows is None):
        return right if left.cols is None else right.placed(left.cols)
    if isinstance(right, Identity) and (left.cols is None or right.rows is None):
        return left if right.rows is None else left.placed(right.rows)
    if left.cols is None and right.rows is not None:
        left = left.placed(right.rows)
    if right.rows is None and left.cols is not None:
        right = right.placed(left.cols)
    if left.cols is not None and right.rows is not None and not left.cols.same(right.rows):
        raise StateError(
            f"{left.text()} takes a {left.cols.kind} vector ({left.cols}), but {right.text()} "
            f"gives a {right.rows.kind} vector ({right.rows})",
            "check the order, or a .T.",
        )
    number = 1.0
    factors: list[Operator] = []
    for operator in (left, right):
        if isinstance(operator, Scaled):
            number, operator = number * operator.number, operator.inner
        factors += operator.factors if isinstance(operator, Product) else [operator]
    factors = [f for f in factors if not isinstance(f, Identity)] or factors[:1]
    whole = factors[0] if len(factors) == 1 else Product(tuple(factors))
    return whole if number == 1.0 else Scaled(number, whole)


def summed(left: Operator, right: Operator) -> Operator:
    left.bench.check_compatible(right.bench, left, right)
    for known, other in ((left, right), (right, left)):
        if known.rows is not None and known.cols is not None and other.rows is None:
            if not known.rows.same(known.cols):
                raise StateError(
                    f"{known.text()} is {known.rows.symbol} × {known.cols.symbol}, not square",
                    "Id cannot be added to it.",
                )
            left, right = left.placed(known.rows), right.placed(known.rows)
    for a, b in ((left.rows, right.rows), (left.cols, right.cols)):
        if a is not None and b is not None and not a.same(b):
            raise StateError(
                f"{left.text()} is {_shape(left)} and {right.text()} is {_shape(right)}",
                "only operators between the same spaces can be added.",
            )
    terms: list[Operator] = []
    for operator in (left, right):
        terms += operator.terms if isinstance(operator, Sum) else [operator]
    return Sum(tuple(terms))


def _shape(operator: Operator) -> str:
    rows, cols = operator.spaces
    return f"{rows.symbol} × {cols.symbol}"


def scaled(number: float, inner: Operator) -> Operator:
    if isinstance(inner, Scaled):
        return scaled(number * inner.number, inner.inner)
    if isinstance(inner, Sum) and number == -1.0:
        return Sum(tuple(scaled(-1.0, term) for term in inner.terms))
    return inner if number == 1.0 else Scaled(number, inner)


def number_given(value: Any) -> float:
    if isinstance(value, Operator):
        raise StateError("Operators are multiplied with @, as in H @ phi", "* is for numbers.")
    if not isinstance(value, Real) or not np.isfinite(float(value)):
        raise StateError(
            f"An operator is multiplied by {value!r}", "give a finite number, or use @."
        )
    return float(value)


def operand(value: Any, sign: str) -> Operator:
    if isinstance(value, Operator):
        return value
    what = "an array" if isinstance(value, np.ndarray) else repr(value)
    raise StateError(
        f"An operator {sign} {what} is not defined",
        "add operators (a number c as c * Id), or add arrays to .dense().",
    )
