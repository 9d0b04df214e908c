"""Operator expressions: what can be typed, kept lazy until a vector arrives.

`A @ B`, `A + B`, `A - B`, `-A`, `2 * A`, `A / 2` and `A.T` build a tree of operators and compute
nothing. `A @ x` runs the recursions, one per factor; neither φ nor ψ is formed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skodyn.algebra.spaces import Space
from skodyn.algebra.vectors import StackedVector
from skodyn.errors import StateError
from skodyn.looks import Picture, look
from skodyn.sko.blocks import Floats

if TYPE_CHECKING:
    from skodyn.algebra.leaves import Diagonal
    from skodyn.algebra.tables import BlockTable
    from skodyn.algebra.workbench import Workbench

__all__ = ["Operator"]


class Operator(ABC):
    """A linear operator between spaces of one workbench; `rows` is None where Id still fits any."""

    __array_ufunc__ = None  # `array @ operator` comes to __rmatmul__

    bench: Workbench
    rows: Space | None
    cols: Space | None

    # ---- what a kind of expression says of itself -------------------------------------------

    @abstractmethod
    def run(self, x: Floats, transpose: bool) -> Floats:
        """The operator, or its transpose, times a matrix of columns that fits; never changes x."""

    @abstractmethod
    def moved(self, bench: Workbench) -> Operator:
        """What `on` gives for another workbench than its own."""

    def placed(self, space: Space) -> Operator:
        """Itself, with an Id that still fits any space put into this one."""
        return self

    def on(self, bench: Workbench) -> Operator:
        """The same expression with the operators of another model of the same shape."""
        return self if bench is self.bench else self.moved(bench)

    # ---- the algebra ------------------------------------------------------------------------

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        """Refused between two operators: numbers are compared by `is_zero` of the difference."""
        if self is other:
            return True
        if not isinstance(other, Operator):
            return NotImplemented
        raise StateError(
            f"{self.text()} == {other.text()} would compare expressions, not their numbers",
            "ask (A - B).is_zero(), or compare np.asarray(A) and np.asarray(B).",
        )

    @property
    def T(self) -> Operator:
        """The transpose, the papers' star."""
        from skodyn.algebra.composite import Transposed  # it derives from this class

        return Transposed(self)

    @property
    def star(self) -> Operator:
        """The transpose under the papers' name."""
        return self.T

    @overload
    def __matmul__(self, other: Operator) -> Operator: ...

    @overload
    def __matmul__(self, other: ArrayLike) -> StackedVector: ...

    def __matmul__(self, other: Any) -> Any:
        if not isinstance(other, Operator):
            return self._times(other, False)
        from skodyn.algebra.composite import product

        return product(self, other)

    def __rmatmul__(self, other: NDArray[Any] | Sequence[Any]) -> Floats:
        """Rows from the left: x @ A is (A.T @ x.T).T, a plain array."""
        rows = np.asarray(other)
        result: Floats = np.asarray(self._times(rows.T, True)).T
        return result

    def __add__(self, other: Any) -> Operator:
        from skodyn.algebra.composite import operand, summed

        return summed(self, operand(other, "+"))

    def __radd__(self, other: Any) -> Operator:
        from skodyn.algebra.composite import operand, summed

        return summed(operand(other, "+"), self)

    def __sub__(self, other: Any) -> Operator:
        from skodyn.algebra.composite import operand, summed

        return summed(self, -operand(other, "-"))

    def __rsub__(self, other: Any) -> Operator:
        from skodyn.algebra.composite import operand, summed

        return summed(operand(other, "-"), -self)

    def __neg__(self) -> Operator:
        return self * -1.0

    def __pos__(self) -> Operator:
        return self

    def __mul__(self, number: Any) -> Operator:
        from skodyn.algebra.composite import number_given, scaled

        return scaled(number_given(number), self)

    __rmul__ = __mul__

    def __truediv__(self, number: Any) -> Operator:
        from skodyn.algebra.composite import number_given, scaled

        if not number_given(number):
            raise StateError("An operator is divided by zero", "give another number.")
        return scaled(1.0 / number_given(number), self)

    def inverse(self) -> Operator:
        """The inverse of a block-diagonal operator, of φ, ψ or an Innovations factor, lazily."""
        from skodyn.algebra.inverses import inverse  # it builds such expressions

        return inverse(self)

    def lyapunov_recursion(self, X: Operator) -> Diagonal:
        """The Y of X = Y − ℰYℰ*, by a tips-to-base gather, for this ℰ (Jain 2011-II Lemma 3).

        ℰ is E_phi, E_psi or what is made of one of them and block-diagonal operators, as
        `E_phi @ tau_bar`. Of its transpose: X = Y − diagOf{ℰ*Yℰ}, by a base-to-tips scatter
        (Lemma 5).
        """
        from skodyn.algebra.lyapunov import lyapunov_recursion  # it reads the classes of this file

        return lyapunov_recursion(self, X)

    # ---- numbers ----------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, cols = self.spaces
        return rows.size, cols.size

    @property
    def spaces(self) -> tuple[Space, Space]:
        """(rows, columns), or a StateError for an Id that stands alone."""
        if self.rows is None or self.cols is None:
            raise StateError(
                f"{self.text()} stands alone and has no size yet",
                "add it to another operator or multiply it by one, which gives it a space.",
            )
        return self.rows, self.cols

    def _times(self, x: Any, transpose: bool) -> Any:
        if self.rows is None or self.cols is None:
            try:
                given = np.asarray(x, dtype=np.float64)
            except (TypeError, ValueError):
                raise StateError(
                    f"{self.text()} is applied to {type(x).__name__}, which is not an array of "
                    "real numbers."
                ) from None
            return np.array(self.run(given, transpose))
        into, taken = (self.cols, self.rows) if transpose else (self.rows, self.cols)
        if isinstance(x, StackedVector) and x.space is not None:
            assert x.bench is not None
            self.bench.check_compatible(x.bench, self, "the vector")
            if not x.space.same(taken):
                raise StateError(
                    f"{self.text()} takes a {taken.kind} vector ({taken})",
                    f"this is a {x.space.kind} vector ({x.space}).",
                )
        columns = _columns(self, x, taken)
        y = self.run(columns, transpose)
        shape = (into.size, *np.shape(x)[1:])
        return StackedVector(y.reshape(shape), self.bench, into)

    def dense(self, order: str = "base first") -> Floats:
        """The matrix written out; warns when it is large.

        order: "base first", as all stacked vectors are, or "tips first", as the papers print.
        """
        from skodyn.algebra.materialise import dense, entries_in  # they read the classes here

        places = [entries_in(space, order) for space in self.spaces]
        return dense(self) if places[0] is None else dense(self)[np.ix_(*places)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """`np.asarray(operator)` is its matrix."""
        if copy is False:
            raise ValueError("An operator is not an array; a matrix must be made of it.")
        return np.asarray(self.dense(), dtype=dtype)

    def table(self, order: str = "base first") -> BlockTable:
        """The blocks under the names of their bodies, to be printed or shown in a notebook."""
        from skodyn.algebra.tables import BlockTable

        return BlockTable(self, order)

    def plot(
        self, path: str | PathLike[str] | None = None, *, order: str = "tips first", title: str = ""
    ) -> Picture:
        """A picture of the matrix at this state, or a PNG, SVG or PDF file at `path`.

        Entries are coloured by their size, over six decades, in blocks under the names of their
        bodies; zeros are blank. order: as of `dense`.
        """
        made: Picture = look("plot_operator")(self, path, order=order, title=title)
        return made

    def trace(self) -> float:
        """The sum of the diagonal, where a recursion gives it."""
        from skodyn.algebra.determinants import trace

        return trace(self)

    def log_det(self) -> float:
        """log det, where a recursion gives it; refused if the determinant is not positive."""
        from skodyn.algebra.determinants import log_det

        return log_det(self)

    def det(self) -> float:
        """The determinant, where a recursion gives it; it may overflow where `log_det` does not."""
        from skodyn.algebra.determinants import det

        return det(self)

    def __getitem__(self, key: Any) -> Floats:
        """A block by names, `phi["hand", "upper"]`; `M["hand"]` on the diagonal; rows and columns
        of a body as `phi["hand", :]` and `phi[:, "hand"]`."""
        from skodyn.algebra.elements import element  # it reads the classes of this file

        return element(self, key)

    def block(self, row: Hashable, column: Hashable) -> Floats:
        """The block of two bodies, given by name or number."""
        from skodyn.algebra.elements import block

        return block(self, row, column)

    def is_zero(self, rtol: float = 0.0) -> bool:
        """Whether the value is nothing but rounding, or at most rtol beside its terms."""
        from skodyn.algebra.comparison import is_zero  # it reads the classes of this file

        return is_zero(self, rtol)

    def is_identity(self, rtol: float = 0.0) -> bool:
        """Whether the value differs from the identity by rounding alone, or by at most rtol."""
        from skodyn.algebra.comparison import is_identity

        return is_identity(self, rtol)

    # ---- words ------------------------------------------------------------------------------

    def explain(self) -> None:
        """Print the recursions that `@ x` runs, with their cost, and the way dense() goes."""
        from skodyn.algebra.plan import plan

        print(plan(self))

    def text(self) -> str:
        """The expression as it may be typed."""
        from skodyn.algebra.wording import text

        return text(self)

    def latex(self) -> str:
        """The expression in the papers' symbols."""
        from skodyn.algebra.wording import latex

        return latex(self)

    def __repr__(self) -> str:
        if self.rows is None or self.cols is None:
            return f"{self.text()}  (fits any space)"
        return f"{self.text()}  ({self.rows.symbol} × {self.cols.symbol}, lazy)"

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"


def _columns(operator: Operator, x: Any, space: Space) -> Floats:
    """x as a contiguous matrix of columns of this space."""
    try:
        given = np.asarray(x)
        if given.dtype.kind not in "fiu":
            raise TypeError
    except (TypeError, ValueError):
        raise StateError(
            f"{operator.text()} is applied to {type(x).__name__}, which is not an array of real "
            "numbers",
            f"give shape ({space.size},) or ({space.size}, columns).",
        ) from None
    if given.ndim not in (1, 2) or len(given) != space.size:
        raise StateError(
            f"{operator.text()} takes {space.kind} vectors ({space})",
            f"x has shape {given.shape}, give ({space.size},) or ({space.size}, columns).",
        )
    table = np.ascontiguousarray(given.view(np.ndarray), dtype=np.float64)
    if not _finite(table):
        where = np.argwhere(~np.isfinite(table))[0]
        raise StateError(f"x{where.tolist()} is {table[tuple(where)]}", "give finite numbers.")
    return table.reshape(space.size, 1) if table.ndim == 1 else table


def _finite(table: Floats) -> bool:
    """Are all numbers finite? Most often their sum tells, without a table of answers."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(table.sum())) or bool(np.isfinite(table).all())
