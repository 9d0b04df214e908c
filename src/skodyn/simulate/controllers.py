"""User controllers: a Python function f(t, q, v, params, tau) that adds its torques to tau.

q, v and params are read-only. What a controller raises ends the run with a ControllerError.

The loop is compiled once and calls any controller through a function pointer, so a new controller
does not recompile it. A function that numba can compile costs nanoseconds a call; any other
callable works through a callback into Python, a few microseconds a call, and says so.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types

from skodyn.errors import SkodynError
from skodyn.jit import JIT_DISABLED

__all__ = [
    "CONTROLLER_TYPE",
    "ControllerError",
    "SlowControllerWarning",
    "no_controller",
    "prepare_controller",
]

_POINTER = types.CPointer(types.float64)
_SIGNATURE = types.void(
    types.float64, _POINTER, _POINTER, _POINTER, _POINTER, types.int64, types.int64, types.int64
)
CONTROLLER_TYPE = types.FunctionType(_SIGNATURE)
_READ_ONLY = types.Array(types.float64, 1, "C", readonly=True)
_INNER_SIGNATURE = (types.float64, _READ_ONLY, _READ_ONLY, _READ_ONLY, types.float64[::1])

_C_POINTER = ctypes.POINTER(ctypes.c_double)
_C_SIGNATURE = ctypes.CFUNCTYPE(
    None, ctypes.c_double, *[_C_POINTER] * 4, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64
)


class SlowControllerWarning(UserWarning):
    """The controller could not be compiled and is called through Python."""


class ControllerError(SkodynError):
    """A controller raised; `__cause__` is what it raised."""


class PythonController(types.WrapperAddressProtocol):  # type: ignore[misc]
    """A plain Python callable behind a C function pointer; keeps the first exception it raises."""

    def __init__(self, function: Callable[..., None]) -> None:
        self.error: BaseException | None = None

        def call(t: float, q: Any, v: Any, p: Any, tau: Any, nq: int, nv: int, n: int) -> None:
            try:
                if self.error is None:
                    given = (_read_only(a, size) for a, size in ((q, nq), (v, nv), (p, n)))
                    function(t, *given, np.ctypeslib.as_array(tau, (nv,)))
            except BaseException as error:  # it must not cross the compiled loop
                self.error = error
            if self.error is not None:
                for i in range(nv):
                    tau[i] = float("nan")  # stops the run at this step

        self._callback = _C_SIGNATURE(call)

    def take_error(self) -> BaseException | None:
        """What the controller raised since the last time this was asked."""
        error, self.error = self.error, None
        return error

    def __wrapper_address__(self) -> int:
        return ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def signature(self) -> Any:
        return _SIGNATURE


def _read_only(address: Any, size: int) -> Any:
    array = np.ctypeslib.as_array(address, (size,)) if size else np.zeros(0)
    array.flags.writeable = False
    return array


def _compile(function: Any) -> Any:
    """Compiled with q, v and params read-only: a controller cannot change the state by mistake."""
    options: dict[str, Any] = {"error_model": "numpy"}
    if hasattr(function, "py_func"):
        options |= {k: v for k, v in function.targetoptions.items() if v is not None}
        function = function.py_func
    options.pop("nopython", None)
    inner = numba.njit(_INNER_SIGNATURE, **options)(function)

    @numba.cfunc(_SIGNATURE)
    def controller(t, q, v, p, tau, nq, nv, n):  # type: ignore[no-untyped-def]
        inner(
            t, numba.carray(q, nq), numba.carray(v, nv), numba.carray(p, n), numba.carray(tau, nv)
        )

    return controller


def prepare_controller(function: Callable[..., None] | None) -> Any:
    """What the loop takes: a compiled controller, a Python one, or one that does nothing."""
    if function is None:
        return no_controller()
    if JIT_DISABLED:
        return lambda t, q, v, p, tau, nq, nv, n: function(t, q[:nq], v[:nv], p[:n], tau[:nv])
    try:
        return _compile(function)
    except (numba.core.errors.NumbaError, TypeError) as error:  # TypeError: not a plain function
        reason = str(error).strip().splitlines()[0]
        warnings.warn(
            f"controller {getattr(function, '__name__', function)!r} is called through Python, "
            f"microseconds a call, because numba cannot compile it: {reason}",
            SlowControllerWarning,
            stacklevel=3,
        )
        return PythonController(getattr(function, "py_func", function))


def no_controller() -> Any:
    """A controller that adds nothing; never called, but the loop needs one to hold."""
    if JIT_DISABLED:
        return lambda t, q, v, p, tau, nq, nv, n: None

    @numba.cfunc(_SIGNATURE)
    def nothing(t, q, v, p, tau, nq, nv, n):  # type: ignore[no-untyped-def]
        pass

    return nothing
