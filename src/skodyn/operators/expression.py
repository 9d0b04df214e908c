"""Operator expressions: what can be typed, kept lazy until a vector arrives.

`A @ B`, `A + B`, `A - B`, `-A`, `2 * A`, `A / 2` and `A.T` build a tree of these classes and
compute nothing. `A @ x` runs the recursions, one per factor; neither φ nor ψ is formed.
"""

from __future__ import annotations

from collections.abc import Hashable
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from skodyn.errors import StateError
from skodyn.operators.spaces import Space
from skodyn.operators.vectors import StackedVector
from skodyn.sko.blocks import Floats

if TYPE_CHECKING:
    from skodyn.operators.workbench import Workbench

__all__ = ["Identity", "Operator", "Product", "Scaled", "Sum", "Transposed", "product"]


class Operator:
    """A linear operator between spaces of one workbench; `rows` is None where Id still fits any."""

    __array_ufunc__ = None  # `array @ operator` comes to __rmatmul__

    bench: Workbench
    rows: Space | None
    cols: Space | None

    # ---- what a kind of expression says of itself -------------------------------------------

    def run(self, x: Floats, transpose: bool) -> Floats:
        """The operator, or its transpose, times a matrix of columns that fits; never changes x."""
        raise NotImplementedError

    def placed(self, space: Space) -> Operator:
        """Itself, with an Id that still fits any space put into this one."""
        return self

    # ---- the algebra ------------------------------------------------------------------------

    @property
    def T(self) -> Operator:
        """The transpose, the papers' star."""
        return Transposed(self)

    def __matmul__(self, other: Any) -> Any:
        return product(self, other) if isinstance(other, Operator) else self._times(other, False)

    def __rmatmul__(self, other: Any) -> Any:
        """Rows from the left: x @ A is (A.T @ x.T).T, a plain array."""
        rows = np.asarray(other)
        return np.asarray(self._times(rows.T, True)).T

    def __add__(self, other: Any) -> Operator:
        return _sum(self, _operand(other, "+"))

    def __radd__(self, other: Any) -> Operator:
        return _sum(_operand(other, "+"), self)

    def __sub__(self, other: Any) -> Operator:
        return _sum(self, -_operand(other, "-"))

    def __rsub__(self, other: Any) -> Operator:
        return _sum(_operand(other, "-"), -self)

    def __neg__(self) -> Operator:
        return _scaled(-1.0, self)

    def __pos__(self) -> Operator:
        return self

    def __mul__(self, number: Any) -> Operator:
        return _scaled(_number(number), self)

    __rmul__ = __mul__

    def __truediv__(self, number: Any) -> Operator:
        if not _number(number):
            raise StateError("An operator is divided by zero; give another number.")
        return _scaled(1.0 / _number(number), self)

    def inverse(self) -> Operator:
        """The inverse of a block-diagonal operator, of φ, ψ or an Innovations factor, lazily."""
        from skodyn.operators.inverses import inverse  # it builds such expressions

        return inverse(self)

    # ---- numbers ----------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int]:
        rows, cols = self.spaces
        return rows.size, cols.size

    @property
    def spaces(self) -> tuple[Space, Space]:
        """(rows, columns), or a StateError for an Id that stands alone."""
        if self.rows is None or self.cols is None:
            raise StateError(
                f"{self.text()} stands alone and has no size yet; add it to another operator or "
                "multiply it by one, which gives it a space."
            )
        return self.rows, self.cols

    def _times(self, x: Any, transpose: bool) -> Any:
        if self.rows is None or self.cols is None:
            return np.array(self.run(np.asarray(x, dtype=np.float64), transpose))
        into, taken = (self.cols, self.rows) if transpose else (self.rows, self.cols)
        if isinstance(x, StackedVector) and x.space is not None:
            assert x.bench is not None
            self.bench.check_compatible(x.bench, self, "the vector")
            if not x.space.same(taken):
                raise StateError(
                    f"{self.text()} takes a {taken.kind} vector ({taken}); this is a "
                    f"{x.space.kind} vector ({x.space})."
                )
        columns = _columns(self, x, taken)
        y = self.run(columns, transpose)
        shape = (into.size, *np.shape(x)[1:])
        return StackedVector(y.reshape(shape), self.bench, into)

    def dense(self) -> Floats:
        """The matrix written out; warns when it is large."""
        from skodyn.operators.materialise import dense  # it reads the classes of this file

        return dense(self)

    def __getitem__(self, key: Any) -> Floats:
        """A block by names, `phi["hand", "upper"]`; `M["hand"]` on the diagonal; rows and columns
        of a body as `phi["hand", :]` and `phi[:, "hand"]`."""
        from skodyn.operators.elements import element  # it reads the classes of this file

        return element(self, key)

    def block(self, row: Hashable, column: Hashable) -> Floats:
        """The block of two bodies, given by name or number."""
        from skodyn.operators.elements import block

        return block(self, row, column)

    def is_zero(self, rtol: float | None = None) -> bool:
        """Whether the value is zero beside its terms, as `comparison.py` says."""
        from skodyn.operators.comparison import is_zero  # it reads the classes of this file

        return is_zero(self, rtol)

    def is_identity(self, rtol: float | None = None) -> bool:
        """Whether the value is the identity, as `comparison.py` says."""
        from skodyn.operators.comparison import is_identity

        return is_identity(self, rtol)

    # ---- words ------------------------------------------------------------------------------

    def explain(self) -> None:
        """Print the recursions that `@ x` runs, with their cost, and the way dense() goes."""
        from skodyn.operators.plan import plan

        print(plan(self))

    def text(self) -> str:
        """The expression as it may be typed."""
        from skodyn.operators.wording import text

        return text(self)

    def latex(self) -> str:
        """The expression in the papers' symbols."""
        from skodyn.operators.wording import latex

        return latex(self)

    def __repr__(self) -> str:
        if self.rows is None or self.cols is None:
            return f"{self.text()}  (fits any space)"
        return f"{self.text()}  ({self.rows.symbol} × {self.cols.symbol}, lazy)"

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"


class Identity(Operator):
    """I: it takes its space from what it is added to; multiplied, it vanishes."""

    def __init__(self, bench: Workbench, space: Space | None = None) -> None:
        self.bench, self.rows, self.cols = bench, space, space

    @property
    def T(self) -> Operator:
        return self

    def placed(self, space: Space) -> Operator:
        return self if self.rows is not None else Identity(self.bench, space)

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

    def run(self, x: Floats, transpose: bool) -> Floats:
        return self.inner.run(x, not transpose)


class Scaled(Operator):
    def __init__(self, number: float, inner: Operator) -> None:
        self.number, self.inner, self.bench = number, inner, inner.bench
        self.rows, self.cols = inner.rows, inner.cols

    def placed(self, space: Space) -> Operator:
        return Scaled(self.number, self.inner.placed(space))

    def run(self, x: Floats, transpose: bool) -> Floats:
        return self.number * self.inner.run(x, transpose)


class Sum(Operator):
    def __init__(self, terms: tuple[Operator, ...]) -> None:
        self.terms, self.bench = terms, terms[0].bench
        self.rows, self.cols = terms[0].rows, terms[0].cols

    def placed(self, space: Space) -> Operator:
        return self if self.rows is not None else Sum(tuple(t.placed(space) for t in self.terms))

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
            f"gives a {right.rows.kind} vector ({right.rows}); check the order, or a .T."
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


def _sum(left: Operator, right: Operator) -> Operator:
    left.bench.check_compatible(right.bench, left, right)
    for known, other in ((left, right), (right, left)):
        if known.rows is not None and known.cols is not None and other.rows is None:
            if not known.rows.same(known.cols):
                raise StateError(
                    f"{known.text()} is {known.rows.symbol} × {known.cols.symbol}, not square; Id "
                    "cannot be added to it."
                )
            left, right = left.placed(known.rows), right.placed(known.rows)
    for a, b in ((left.rows, right.rows), (left.cols, right.cols)):
        if a is not None and b is not None and not a.same(b):
            raise StateError(
                f"{left.text()} is {_shape(left)} and {right.text()} is {_shape(right)}; only "
                "operators between the same spaces can be added."
            )
    terms: list[Operator] = []
    for operator in (left, right):
        terms += operator.terms if isinstance(operator, Sum) else [operator]
    return Sum(tuple(terms))


def _shape(operator: Operator) -> str:
    rows, cols = operator.spaces
    return f"{rows.symbol} × {cols.symbol}"


def _scaled(number: float, inner: Operator) -> Operator:
    if isinstance(inner, Scaled):
        return _scaled(number * inner.number, inner.inner)
    if isinstance(inner, Sum) and number == -1.0:
        return Sum(tuple(_scaled(-1.0, term) for term in inner.terms))
    return inner if number == 1.0 else Scaled(number, inner)


def _number(value: Any) -> float:
    if isinstance(value, Operator):
        raise StateError("Operators are multiplied with @, as in H @ phi; * is for numbers.")
    if not isinstance(value, Real) or not np.isfinite(float(value)):
        raise StateError(f"An operator is multiplied by {value!r}; give a finite number, or use @.")
    return float(value)


def _operand(value: Any, sign: str) -> Operator:
    if isinstance(value, Operator):
        return value
    what = "an array" if isinstance(value, np.ndarray) else repr(value)
    raise StateError(
        f"An operator {sign} {what} is not defined; add operators (a number c as c * Id), or add "
        "arrays to .dense()."
    )


def _columns(operator: Operator, x: Any, space: Space) -> Floats:
    """x as a contiguous matrix of columns of this space."""
    try:
        given = np.asarray(x)
        if given.dtype.kind not in "fiu":
            raise TypeError
    except (TypeError, ValueError):
        raise StateError(
            f"{operator.text()} is applied to {type(x).__name__}, which is no array of real "
            f"numbers; give shape ({space.size},) or ({space.size}, columns)."
        ) from None
    if given.ndim not in (1, 2) or len(given) != space.size:
        raise StateError(
            f"{operator.text()} takes {space.kind} vectors ({space}); x has shape {given.shape}, "
            f"give ({space.size},) or ({space.size}, columns)."
        )
    if not np.isfinite(given).all():
        where = np.argwhere(~np.isfinite(given))[0]
        raise StateError(f"x{where.tolist()} is {given[tuple(where)]}; give finite numbers.")
    table = np.ascontiguousarray(given.view(np.ndarray), dtype=np.float64)
    return table.reshape(space.size, 1) if table.ndim == 1 else table
