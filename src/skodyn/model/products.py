"""Products of 3×3 matrices with roundings that are the same on every machine, and sums.

NumPy's `@` asks a BLAS, which fuses multiplications with additions on one processor and not on the
next; `einsum` sums in the order that its registers suggest. What is packed into a model, and so
every bit of a simulation, must not depend on that. From Python 3.12 on `sum` of floats carries
along what it rounds away, which no older one does. Here only single operations of IEEE 754 are
used, one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from skodyn.typing import Floats

__all__ = ["applied", "dot", "norm", "product", "square", "total"]

_SPLIT = 2.0**27 + 1.0


def product(a: Any, b: Any) -> Floats:
    """a·b for stacks of 3×3 matrices; each sum is two fused multiply-adds, first term first."""
    a, b = np.broadcast_arrays(np.asarray(a, np.float64), np.asarray(b, np.float64))
    terms = [a[..., :, k, None] * b[..., None, k, :] for k in range(3)]
    result: Floats = terms[0] + terms[1] + terms[2]
    fused = _has_sums(a, 2) & _has_sums(b, 1)  # otherwise nothing is rounded twice
    if fused.any():
        a, b = a[fused], b[fused]
        some = terms[0][fused]
        for k in (1, 2):
            some = _fma(a[..., :, k, None], b[..., None, k, :], some)
        result[fused] = some
    return result


def _has_sums(matrices: Any, axis: int) -> Any:
    """Which matrices of a stack have more than one number that is not 0 along an axis."""
    return ((matrices != 0.0).sum(axis=matrices.ndim - 3 + axis) > 1).any(axis=-1)


def applied(a: Any, x: Any) -> Floats:
    """a·x for stacks of 3×3 matrices and of vectors, summed from the first term to the last."""
    a, x = np.asarray(a, np.float64), np.asarray(x, np.float64)
    result: Floats = a[..., 0] * x[..., None, 0]
    for k in (1, 2):
        result = result + a[..., k] * x[..., None, k]
    return result


def square(x: Floats) -> Floats:
    """x·x for a stack of vectors of three."""
    result: Floats = x[..., 0] * x[..., 0] + x[..., 2] * x[..., 2] + x[..., 1] * x[..., 1]
    return result


def total(terms: Iterable[float]) -> float:
    """The sum of numbers, from the first to the last."""
    result = 0.0
    for term in terms:
        result += term
    return result


def dot(x: Any, y: Any) -> float:
    """x·y of two vectors, summed from the first term to the last."""
    terms = np.asarray(x, np.float64) * np.asarray(y, np.float64)
    return total(terms.tolist())


def norm(x: Any) -> float:
    """The length of one vector."""
    return math.sqrt(dot(x, x))


# ---- a fused multiply-add, without the processor's ----------------------------------------------


def _fma(a: Any, b: Any, c: Any) -> Any:
    """a·b + c rounded once (S. Boldo, G. Melquiond, IEEE Trans. Computers 57(4), 2008)."""
    high, low = _exact_product(a, b)
    upper, rest = _exact_sum(c, low)
    whole, more = _exact_sum(high, upper)
    return whole + _odd_sum(rest, more)


def _exact_product(a: Any, b: Any) -> tuple[Any, Any]:
    """(rounded product, its error), by T. J. Dekker."""
    p = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


def _halves(a: Any) -> tuple[Any, Any]:
    shifted = _SPLIT * a
    high = shifted - (shifted - a)
    return high, a - high


def _exact_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """(rounded sum, its error), by D. E. Knuth."""
    s = a + b
    of_b = s - a
    return s, (a - (s - of_b)) + (b - of_b)


def _odd_sum(a: Any, b: Any) -> Any:
    """a + b; where it is not exact, that neighbour whose last bit is 1, so no tie arises later."""
    s, error = _exact_sum(a, b)
    even = (s.view(np.int64) & 1) == 0
    return np.where((error != 0.0) & even, np.nextafter(s, np.copysign(np.inf, error)), s)
