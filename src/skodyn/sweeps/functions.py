"""A person's own quantities, f(t, q, v) -> float, compiled into the loop behind one pointer.

The loop is compiled once and calls whatever functions a sweep brings, by number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import ScenarioError
from skodyn.jit import FLOATS, JIT_DISABLED, NUMBER
from skodyn.simulation.sampling import call_quantity

__all__ = ["Quantities", "compile_functions", "of_state"]


class Quantities:
    """All functions of a sweep behind one address; kernels call them by number."""

    def __init__(self, address: Any, alive: Any = None) -> None:
        self.address = address
        self._alive = alive  # what numba made lives as long as its address is used


def compile_functions(functions: Sequence[Callable[..., float]]) -> Quantities:
    """One function of (number, t, q, v, nq, nv) for all of them."""
    if JIT_DISABLED:
        return Quantities(lambda i, t, q, v, nq, nv: functions[i](t, q[:nq], v[:nv]))
    if not functions:
        return Quantities(0)
    import numba

    from skodyn.jit.compiling import c_signature

    combined: Any = None
    for function in reversed(functions):
        combined = _before(_compiled(function), combined)
    made = numba.cfunc(c_signature(call_quantity))(combined.py_func)
    return Quantities(made.address, made)


def of_state(
    function: Callable[..., float], q_at: NDArray[np.int64], v_at: NDArray[np.int64]
) -> Callable[..., float]:
    """The function of q and v of all joints that is this function of those of the state."""
    inner = function if JIT_DISABLED else _compiled(function)

    def chosen(t, q, v):  # type: ignore[no-untyped-def]
        return inner(t, q[q_at], v[v_at])

    return chosen


def _compiled(function: Any) -> Any:
    import numba

    from skodyn.jit.compiling import numba_type

    plain = getattr(function, "py_func", function)
    form = numba_type(NUMBER)(*map(numba_type, (NUMBER, FLOATS, FLOATS)))
    try:
        return numba.njit(form, error_model="numpy")(plain)
    except (numba.core.errors.NumbaError, TypeError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ScenarioError(
            f"The metric {getattr(function, '__name__', function)!r} cannot be compiled: {reason}",
            "write f(t, q, v) with numbers and NumPy arrays only, and return a number.",
        ) from None


def _before(function: Any, rest: Any) -> Any:
    """`function` as number 0 and what `rest` has as the numbers behind it."""
    import numba

    if rest is None:

        @numba.njit(error_model="numpy")
        def last(i, t, q, v, nq, nv):  # type: ignore[no-untyped-def]
            return function(t, numba.carray(q, nq), numba.carray(v, nv))

        return last

    @numba.njit(error_model="numpy")
    def chosen(i, t, q, v, nq, nv):  # type: ignore[no-untyped-def]
        if i == 0:
            return function(t, numba.carray(q, nq), numba.carray(v, nv))
        return rest(i - 1, t, q, v, nq, nv)

    return chosen
