"""The rows of a person's own channel: by a loop that numba compiles around its function."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from skodyn.channels.entry import Labels, known_labels
from skodyn.channels.rows import Rows
from skodyn.errors import SkodynError
from skodyn.faults import shown
from skodyn.jit import JIT_DISABLED
from skodyn.typing import Floats

__all__ = ["Batches", "ChannelError", "SlowChannelWarning", "parameter_count"]


class ChannelError(SkodynError):
    """A channel's function raised (`__cause__` is what), or returns what does not fit."""


class SlowChannelWarning(UserWarning):
    """A channel's function could not be compiled and is called through Python."""


def parameter_count(function: Callable[..., Any]) -> int:
    """How many values it takes: those of a state, and poses."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # compiled from C
        return 3
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return 5
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


class Batches:
    """The rows of a channel: by a loop that numba compiles around the function, or by Python."""

    def __init__(self, name: str, function: Any, dims: tuple[str, ...], own: Labels) -> None:
        self.name, self.function, self._dims, self._own = name, function, dims, own
        self._loop: Any = None

    def __call__(self, rows: Rows) -> dict[str, Floats]:
        labels = known_labels(rows.model) | self._own
        shape = tuple(len(labels[dim]) for dim in self._dims)
        out = np.empty((len(rows), math.prod(shape)))
        given = [_read_only(array) for array in (rows.t, rows.q, rows.v)]
        if parameter_count(getattr(self.function, "py_func", self.function)) == 5:
            given += [_read_only(array) for array in rows.poses[::-1]]
        try:
            self._run(given, shape, out)
        except ChannelError:
            raise
        except Exception as error:
            raise ChannelError(
                f"the channel {self.name!r} raised {type(error).__name__} between "
                f"t = {rows.t[0]:.9g} and {rows.t[-1]:.9g} s: {error}"
            ) from error
        return {self.name: out.reshape(len(rows), *shape)}

    def _run(self, given: list[Any], shape: tuple[int, ...], out: Floats) -> None:
        if self._loop is None:
            self._loop = self._interpreted if JIT_DISABLED else self._compiled(given, shape)
        self._loop(given, shape, out)

    def _compiled(self, given: list[Any], shape: tuple[int, ...]) -> Any:
        from numba.core.errors import NumbaError

        loop = _loop_around(self.function, len(given), len(shape))
        try:
            loop.compile(_types(given, shape))
        except (NumbaError, TypeError) as error:
            reason = str(error).strip().splitlines()[0]
            warnings.warn(
                f"channel {self.name!r} is computed by Python, microseconds a row, because numba "
                f"cannot compile it: {reason}",
                SlowChannelWarning,
                stacklevel=2,
            )
            return self._interpreted
        return lambda given, shape, out: loop(*given, shape, out)

    def _interpreted(self, given: list[Any], shape: tuple[int, ...], out: Floats) -> None:
        function = getattr(self.function, "py_func", self.function)
        for i in range(len(out)):
            found = np.asarray(function(*(array[i] for array in given)))
            if found.shape != shape or found.dtype.kind not in "biuf":
                raise ChannelError(
                    f"the channel {self.name!r} returned {shown(found.tolist())}; its dimensions "
                    f"make it {'one number' if not shape else f'numbers of shape {shape}'}."
                )
            out[i] = found.reshape(-1)


def _read_only(array: Any) -> Any:
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def _types(given: list[Any], shape: tuple[int, ...]) -> tuple[Any, ...]:
    import numba

    out = numba.types.Array(numba.types.float64, 2, "C")
    return (*map(numba.typeof, given), numba.typeof(shape), out)


def _loop_around(function: Any, count: int, dims: int) -> Any:
    """The function for all rows; it raises where what it returns has another size."""
    import numba

    compiled = numba.njit(error_model="numpy")
    inner = function if hasattr(function, "py_func") else compiled(function)
    store = compiled((_store_number, _store_vector, _store_array)[min(dims, 2)])

    if count == 3:

        def loop(t, q, v, shape, out):  # type: ignore[no-untyped-def]
            for i in range(len(t)):
                store(inner(t[i], q[i], v[i]), shape, out[i])

        return compiled(loop)

    def posed(t, q, v, positions, rotations, shape, out):  # type: ignore[no-untyped-def]
        for i in range(len(t)):
            store(inner(t[i], q[i], v[i], positions[i], rotations[i]), shape, out[i])

    return compiled(posed)


def _store_number(found, _shape, out):  # type: ignore[no-untyped-def]
    out[0] = found


def _store_vector(found, shape, out):  # type: ignore[no-untyped-def]
    if len(found) != shape[0]:
        raise ValueError("it returned another number of numbers than its dimensions have")
    for j in range(len(found)):
        out[j] = found[j]


def _store_array(found, shape, out):  # type: ignore[no-untyped-def]
    if found.shape != shape:
        raise ValueError("it returned numbers of another shape than its dimensions have")
    out[:] = found.copy().reshape(out.size)
