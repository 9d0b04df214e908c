"""User controllers: a Python function f(t, q, v, params, tau) that adds its torques to tau.

q, v and params are read-only. It returns nothing: what it returned would be lost, so it is refused.
What a controller raises ends the run with a ControllerError.

The loop is compiled once and calls any controller through a function pointer, so a new controller
does not recompile it. A function that numba can compile costs nanoseconds a call; any other
callable works through a callback into Python, a few microseconds a call, and says so.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from skodyn.errors import SkodynError
from skodyn.jit import FLOATS, JIT_DISABLED, NUMBER, RESULT
from skodyn.model.columns import shown
from skodyn.simulation.controller_call import call_controller

__all__ = [
    "NO_CONTROLLER",
    "CompiledController",
    "ControllerError",
    "PythonController",
    "SlowControllerWarning",
    "prepare_controller",
    "prepare_motion",
]

_C_POINTER = ctypes.POINTER(ctypes.c_double)
_C_SIGNATURE = ctypes.CFUNCTYPE(
    None, ctypes.c_double, *[_C_POINTER] * 4, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64
)


class SlowControllerWarning(UserWarning):
    """The controller could not be compiled and is called through Python."""


class ControllerError(SkodynError):
    """A controller raised (`__cause__` is what), or returns what nobody would read."""


class NoController:
    """Adds nothing and is never called: the loop asks the codes of forces first."""

    address: Any = 0

    def take_error(self) -> BaseException | None:
        return None


NO_CONTROLLER = NoController()


class PlainController(NoController):
    """Without the compiler: kernels call the Python function itself."""

    def __init__(self, function: Callable[..., Any]) -> None:
        def call(t: float, q: Any, v: Any, p: Any, tau: Any, nq: int, nv: int, n: int) -> None:
            refuse_result(function, function(t, q[:nq], v[:nv], p[:n], tau[:nv]))

        self.address = call


class CompiledController(NoController):
    """What numba made of a function; it cannot raise."""

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled  # lives as long as its address is used
        self.address = compiled.address


class PythonController(NoController):
    """A plain Python callable behind a C function pointer; keeps the first exception it raises."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.error: BaseException | None = None

        def call(t: float, q: Any, v: Any, p: Any, tau: Any, nq: int, nv: int, n: int) -> None:
            try:
                if self.error is None:
                    given = (_read_only(a, size) for a, size in ((q, nq), (v, nv), (p, n)))
                    refuse_result(function, function(t, *given, np.ctypeslib.as_array(tau, (nv,))))
            except BaseException as error:  # it must not cross the compiled loop
                self.error = error
            if self.error is not None:
                for i in range(nv):
                    tau[i] = float("nan")  # stops the run at this step

        self._callback = _C_SIGNATURE(call)
        self.address = ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def take_error(self) -> BaseException | None:
        """What the controller raised since the last time this was asked."""
        error, self.error = self.error, None
        return error


def refuse_result(function: Any, result: Any) -> None:
    """Raise if a controller returned something: its torques, most likely."""
    if result is not None:
        raise ControllerError(_returns(function, shown(result)))


def _returns(function: Any, what: str) -> str:
    name = getattr(function, "__name__", function)
    return (
        f"The controller {name!r} returns {what}, which nobody reads; add the torques to its fifth "
        "argument, tau[i] += …, and return nothing."
    )


def _read_only(address: Any, size: int) -> Any:
    array = np.ctypeslib.as_array(address, (size,)) if size else np.zeros(0)
    array.flags.writeable = False
    return array


def _compile(function: Any) -> CompiledController:
    """Compiled with q, v and params read-only: a controller cannot change the state by mistake."""
    import numba

    from skodyn.jit.compiling import c_signature, numba_type

    options: dict[str, Any] = {"error_model": "numpy"}
    if hasattr(function, "py_func"):
        options |= {k: v for k, v in function.targetoptions.items() if v is not None}
        function = function.py_func
    options.pop("nopython", None)
    inner_types = tuple(map(numba_type, (NUMBER, FLOATS, FLOATS, FLOATS, RESULT)))
    inner = numba.njit(inner_types, **options)(function)
    (signature,) = inner.nopython_signatures
    if signature.return_type != numba.types.none:
        raise ControllerError(_returns(function, f"a value of type {signature.return_type}"))

    @numba.cfunc(c_signature(call_controller))
    def controller(t, q, v, p, tau, nq, nv, n):  # type: ignore[no-untyped-def]
        inner(
            t, numba.carray(q, nq), numba.carray(v, nv), numba.carray(p, n), numba.carray(tau, nv)
        )

    return CompiledController(controller)


def prepare_motion(function: Callable[..., None]) -> NoController:
    """The same for f(t, params, out) of a prescribed motion."""
    plain = getattr(function, "py_func", function)

    def motion(t, q, v, params, out):  # type: ignore[no-untyped-def]
        return plain(t, params, out)

    motion.__name__ = getattr(function, "__name__", "motion")
    if JIT_DISABLED:
        return PlainController(motion)
    import numba

    compiled = function if hasattr(function, "py_func") else numba.njit(error_model="numpy")(plain)

    def calls_compiled(t, q, v, params, out):  # type: ignore[no-untyped-def]
        return compiled(t, params, out)

    try:
        return _compile(calls_compiled)
    except (numba.core.errors.NumbaError, TypeError) as error:
        _warn_of_slowness("motion", motion.__name__, error)
        return PythonController(motion)


def _warn_of_slowness(what: str, name: Any, error: BaseException) -> None:
    reason = str(error).strip().splitlines()[0]
    warnings.warn(
        f"{what} {name!r} is called through Python, microseconds a call, because numba cannot "
        f"compile it: {reason}",
        SlowControllerWarning,
        stacklevel=4,
    )


def prepare_controller(function: Callable[..., None] | None) -> NoController:
    """What the loop takes: a compiled controller, a Python one, or one that does nothing."""
    if function is None:
        return NO_CONTROLLER
    if JIT_DISABLED:
        return PlainController(function)
    from numba.core.errors import NumbaError

    try:
        return _compile(function)
    except (NumbaError, TypeError) as error:  # TypeError: not a plain function
        _warn_of_slowness("controller", getattr(function, "__name__", function), error)
        return PythonController(getattr(function, "py_func", function))
