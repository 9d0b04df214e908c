"""Stacked vectors: NumPy arrays whose parts are found by the name of a body."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from skodyn.algebra.spaces import Space
from skodyn.errors import StateError

if TYPE_CHECKING:
    from skodyn.algebra.workbench import Workbench

__all__ = ["StackedVector"]


class StackedVector(np.ndarray[Any, np.dtype[np.float64]]):
    """A stacked vector, or a matrix of them side by side: `V["hand"]` is the hand's part, a view.

    It is an array in every other respect. Sums of vectors of different spaces, models or states
    are refused; whatever NumPy makes of one that is no stacked vector any more is a plain array.
    """

    bench: Workbench | None
    space: Space | None

    def __new__(cls, values: Any, bench: Workbench, space: Space) -> StackedVector:
        vector = np.asarray(values, dtype=np.float64).view(cls)
        vector.bench, vector.space = bench, space
        return vector

    def __array_finalize__(self, source: Any) -> None:
        self.bench = self.space = None  # set by __new__ and __array_ufunc__ alone

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any
    ) -> Any:
        stacked = [x for x in inputs if isinstance(x, StackedVector) and x.space is not None]
        for other in stacked[1:]:
            check_same(stacked[0], other)
        plain = [_plain(x) for x in inputs]
        if out is not None:
            options["out"] = tuple(_plain(x) for x in out)
        result = getattr(ufunc, method)(*plain, **options)
        if out is not None:
            return out[0] if len(out) == 1 else out
        keeps = method == "__call__" and ufunc.signature is None and stacked
        if not (keeps and isinstance(result, np.ndarray) and result.dtype == np.float64):
            return result
        bench, space = stacked[0].bench, stacked[0].space
        assert bench is not None
        assert space is not None
        whole = result.ndim and len(result) == space.size
        return StackedVector(result, bench, space) if whole else result

    def block(self, label: Hashable) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The part of a body, by name or number; a view."""
        if self.space is None:
            raise StateError("This array is no longer a stacked vector and has no parts by name.")
        return self.view(np.ndarray)[self.space.slice_of(label)]

    def __getitem__(self, key: Any) -> Any:
        return self.block(key) if isinstance(key, str) else self.view(np.ndarray)[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            self.block(key)[...] = value
        else:
            self.view(np.ndarray)[key] = value


def check_same(a: StackedVector, b: StackedVector) -> None:
    """Do both stand in one space of one workbench?"""
    assert a.bench is not None
    assert b.bench is not None
    assert a.space is not None
    assert b.space is not None
    a.bench.check_compatible(b.bench, "one stacked vector", "the other")
    if not a.space.same(b.space):
        raise StateError(
            f"A {a.space.kind} vector ({a.space}) meets a {b.space.kind} vector ({b.space})",
            "bring both into one space first, for example with H or H.T.",
        )


def _plain(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, StackedVector) else x
