"""Control laws made ready to be called: compiled by numba, or called back in Python.

The loop is compiled once and calls any law by its address, so a new law does not recompile it. A
function that numba can compile costs nanoseconds a call. Any other callable works, if it is given
in Python, through a callback: a few microseconds a call, and a warning says so and why.
"""

from __future__ import annotations

import ctypes
import hashlib
import warnings
from collections import namedtuple
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from skodyn.channels.files import load_function
from skodyn.faults import shown
from skodyn.jit import JIT_DISABLED
from skodyn.model.layout import NQ, NV
from skodyn.simulation.control.control_methods import METHODS
from skodyn.simulation.control.control_records import Dynamics, Law
from skodyn.simulation.control.law_forms import (
    ControllerError,
    asked_dynamics,
    form_fault,
    name_of,
    parameters_of,
)
from skodyn.simulation.control.plain_dynamics import ModelDynamics
from skodyn.simulation.element_kinds.controller import Controller

__all__ = [
    "ControllerError",
    "ReadyLaw",
    "SlowControllerWarning",
    "law_function",
    "prepare_law",
    "prepare_motion",
]


class SlowControllerWarning(UserWarning):
    """The controller could not be compiled and is called through Python."""


class ReadyLaw:
    """A law that kernels can call by its address."""

    address: Any = 0

    def __init__(self, asks: frozenset[int] = frozenset(), function: Any = None) -> None:
        self.asks = asks  # parts of the dynamics
        self._function = function  # where it is called in Python

    @property
    def said(self) -> str:
        """Why it gave no torques at its last call, if it says so itself."""
        return str(getattr(self._function, "said", ""))

    def take_error(self) -> BaseException | None:
        """What the law raised since the last time this was asked; compiled ones cannot."""
        return None


class PlainDynamics(Dynamics):
    """`dynamics` without the compiler: kernels are plain Python, and so are its methods."""

    __slots__ = ()

    @property
    def nq(self) -> int:
        return int(self.tree[NQ])

    @property
    def nv(self) -> int:
        return int(self.tree[NV])


for _name, _method in METHODS.items():
    setattr(PlainDynamics, _name, _method)


class PlainLaw(ReadyLaw):
    """Without the compiler: kernels call the Python function itself."""

    def __init__(self, function: Callable[..., Any], names: tuple[str, ...], params: Any) -> None:
        asks = asked_dynamics(function) if "dynamics" in names else frozenset()
        super().__init__(asks, function)

        def call(law: Law) -> int:
            given = {
                "t": law.t,
                "q": law.q[: law.nq],
                "v": law.v[: law.nv],
                "params": shaped(params, law.params[: law.n_params]),
                "tau": law.tau[: law.nv],
                "integrals": law.integrals[: law.n_integrals],
                "rates": law.rates[: law.n_integrals],
                "scratch": law.scratch[: law.n_scratch],
                "dynamics": PlainDynamics(*law.dynamics),
            }
            refuse_result(function, function(*(given[name] for name in names)))
            return 0

        self.address = call


class CompiledLaw(ReadyLaw):
    """What numba made of a function."""

    def __init__(self, compiled: Any, asks: frozenset[int]) -> None:
        super().__init__(asks)
        self._compiled = compiled  # lives as long as its address is used
        self.address = compiled.address


_SLOTS = ctypes.POINTER(ctypes.c_int64)
_CALLBACK = ctypes.CFUNCTYPE(None, _SLOTS, _SLOTS)


class PythonLaw(ReadyLaw):
    """A plain Python callable behind a C function pointer; keeps the first exception it raises."""

    def __init__(
        self, function: Callable[..., Any], names: tuple[str, ...], params: Any, dynamics: Any
    ) -> None:
        super().__init__(function=function)
        self.error: BaseException | None = None

        def call(slots: Any, results: Any) -> None:
            results[0] = 0
            law = Law._make([*slots[: len(Law._fields) - 1], dynamics])
            try:
                if self.error is None:
                    refuse_result(function, function(*_of_addresses(law, names, params)))
            except BaseException as error:  # it must not cross the compiled loop
                self.error = error
            if self.error is not None:
                _array(law.tau, law.nv)[:] = np.nan  # stops the run at this step

        self._callback = _CALLBACK(call)
        self.address = ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def take_error(self) -> BaseException | None:
        error, self.error = self.error, None
        return error


def _of_addresses(law: Law, names: tuple[str, ...], params: Any) -> list[Any]:
    """The arguments of a law, of which the kernel has given addresses."""
    given = {
        "t": lambda: float(np.array([law.t], dtype=np.int64).view(np.float64)[0]),
        "q": lambda: _array(law.q, law.nq, False),
        "v": lambda: _array(law.v, law.nv, False),
        "params": lambda: shaped(params, _array(law.params, law.n_params, False)),
        "tau": lambda: _array(law.tau, law.nv),
        "integrals": lambda: _array(law.integrals, law.n_integrals, False),
        "rates": lambda: _array(law.rates, law.n_integrals),
        "scratch": lambda: _array(law.scratch, law.n_scratch),
        "dynamics": lambda: law.dynamics,
    }
    return [given[name]() for name in names]


def _array(address: int, size: int, writable: bool = True) -> Any:
    if not size:
        return np.zeros(0)
    there = ctypes.cast(address, ctypes.POINTER(ctypes.c_double))
    array = np.ctypeslib.as_array(there, (size,))
    array.flags.writeable = writable
    return array


def shaped(params: Any, values: Any) -> Any:
    """Numbers as a law gets them: by name, or as they are."""
    if not isinstance(params, Mapping):
        return values
    fields, at = [], 0
    for one in params.values():
        size = np.size(one)
        fields.append(values[at : at + size] if np.ndim(one) else values[at])
        at += size
    return _params_type(tuple(params))(*fields)


@lru_cache(maxsize=64)
def _params_type(names: tuple[str, ...]) -> Any:
    return namedtuple("Params", names)


def refuse_result(function: Any, result: Any) -> None:
    """Raise if a controller returned something: its torques, most likely."""
    if result is not None:
        raise ControllerError(_returns(function, shown(result)))


def _returns(function: Any, what: str) -> str:
    return (
        f"The controller {name_of(function)!r} returns {what}, which is not used; write the "
        "torques to its array, tau[i] = … or tau[i] += …, and return nothing."
    )


# ---- compiling ----------------------------------------------------------------------------------


def _compile(function: Any, names: tuple[str, ...], params: Any) -> CompiledLaw:
    """Compiled with q, v and params read-only: a controller cannot change the state by mistake."""
    import numba

    from skodyn.simulation.control import compiled_dynamics as known

    options: dict[str, Any] = {"error_model": "numpy"}
    plain = function
    if hasattr(function, "py_func"):
        options |= {k: v for k, v in function.targetoptions.items() if v is not None}
        plain = function.py_func
    options.pop("nopython", None)
    inner = numba.njit(**options)(plain)
    numbers = numba.typeof(np.zeros(1))
    kept = numbers.copy(readonly=True)
    example = np.zeros(max(sum(map(np.size, params.values())), 1) if _by_name(params) else 1)
    example.flags.writeable = False
    forms = {
        "t": numba.float64, "q": kept, "v": kept, "params": numba.typeof(shaped(params, example)),
        "tau": numbers, "integrals": kept, "rates": numbers, "scratch": numbers,
        "dynamics": known.DYNAMICS_TYPE,
    }  # fmt: skip
    inner.compile(tuple(forms[name] for name in names))
    (signature,) = inner.nopython_signatures
    if signature.return_type != numba.types.none:
        raise ControllerError(_returns(function, f"a value of type {signature.return_type}"))
    space = {
        "inner": inner, "carray": numba.carray, "read_law": known.read_law,
        "read_only": known.read_only, "as_dynamics": known.as_dynamics,
        "Params": _params_type(tuple(params)) if _by_name(params) else None,
    }  # fmt: skip
    exec(_entry_text(names, params), space)  # a call of `inner` with the arguments that it has
    words = numba.types.CPointer(numba.int64)
    made = numba.cfunc(numba.void(words, words))(space["entry"])
    return CompiledLaw(made, asked_dynamics(function) if "dynamics" in names else frozenset())


def _by_name(params: Any) -> bool:
    return isinstance(params, Mapping)


def _entry_text(names: tuple[str, ...], params: Any) -> str:
    """The function that a kernel calls, for a law with these parameters."""
    arguments = {
        "t": "law.t",
        "q": "read_only(carray(law.q, law.nq))",
        "v": "read_only(carray(law.v, law.nv))",
        "params": "read_only(carray(law.params, law.n_params))",
        "tau": "carray(law.tau, law.nv)",
        "integrals": "read_only(carray(law.integrals, law.n_integrals))",
        "rates": "carray(law.rates, law.n_integrals)",
        "scratch": "carray(law.scratch, law.n_scratch)",
        "dynamics": "as_dynamics(law.dynamics)",
    }
    if _by_name(params):
        whole, parts, at = arguments["params"], [], 0
        for one in params.values():
            size = np.size(one)
            parts.append(f"{whole}[{at}:{at + size}]" if np.ndim(one) else f"law.params[{at}]")
            at += size
        arguments["params"] = f"Params({', '.join(parts)})"
    called = ", ".join(arguments[name] for name in names)
    return (
        "def entry(slots, results):\n"
        "    law = read_law(slots)\n"
        f"    inner({called})\n"
        "    results[0] = 0\n"
    )


def why_not_compiled(error: BaseException) -> str:
    """What numba says, in one sentence that names the line."""
    lines = [line.strip() for line in str(getattr(error, "msg", error)).splitlines()]
    said = [
        line
        for line in lines
        if line and not line.startswith(("Failed in", "File ", ">", "During"))
    ]
    reason = said[0] if said else type(error).__name__
    place = getattr(error, "loc", None)
    if place is None or not getattr(place, "line", 0):
        return reason
    file = Path(str(place.filename)).name
    text = _line_of(str(place.filename), place.line)
    return f"line {place.line} of {file}{text}: {reason}"


def _line_of(file: str, number: int) -> str:
    import linecache

    text = linecache.getline(file, number).strip()
    return f", `{text}`" if text else ""


def _warn_of_slowness(what: str, name: Any, error: BaseException) -> None:
    warnings.warn(
        f"{what} {name!r} is called through Python, microseconds a call, because numba cannot "
        f"compile it: {why_not_compiled(error)}",
        SlowControllerWarning,
        stacklevel=4,
    )


# ---- what the loop takes ------------------------------------------------------------------------


def law_function(controller: Controller) -> Any:
    """The function of a controller; its file is imported now if it is of one."""
    if not isinstance(controller.function, str):
        return controller.function
    file, _, name = controller.function.rpartition(":")
    return _of_file(file, name, hashlib.sha256(Path(file).read_bytes()).hexdigest())


@lru_cache(maxsize=16)
def _of_file(file: str, name: str, _digest: str) -> Any:
    return load_function(f"{file}:{name}", Path())


def prepare_law(controller: Controller, model: Any) -> ReadyLaw:
    """A law as the loop takes it: compiled, or in Python."""
    function, params = law_function(controller), controller.params
    names = parameters_of(function)
    if fault := form_fault(function, names):
        raise ControllerError(fault)
    if JIT_DISABLED:
        return PlainLaw(getattr(function, "py_func", function), names, params)
    if controller.shared:
        form = None
        if isinstance(params, Mapping):
            form = tuple((name, np.shape(one)) for name, one in params.items())
        return _prepared(function, names, form, controller.label)
    from numba.core.errors import NumbaError

    if getattr(function, "in_python", False):  # it knows, and nobody need be warned
        return PythonLaw(function, names, params, ModelDynamics(model, controller.frames))
    try:
        return _compile(function, names, params)
    except (NumbaError, TypeError) as error:  # TypeError: not a plain function
        _warn_of_slowness("controller", name_of(function), error)
        return PythonLaw(
            getattr(function, "py_func", function),
            names,
            params,
            ModelDynamics(model, controller.frames),
        )


def prepare_motion(function: Callable[..., None]) -> ReadyLaw:
    """The same for f(t, params, out) of a prescribed motion."""
    names, plain = ("t", "params", "tau"), getattr(function, "py_func", function)
    if JIT_DISABLED:
        return PlainLaw(plain, names, ())
    from numba.core.errors import NumbaError

    try:
        return _compile(function, names, ())
    except (NumbaError, TypeError) as error:
        _warn_of_slowness("motion", getattr(function, "__name__", "motion"), error)
        return PythonLaw(plain, names, (), None)


@lru_cache(maxsize=16)
def _prepared(function: Any, names: tuple[str, ...], form: Any, label: str) -> ReadyLaw:
    """Once for all runs that share it; what numba cannot compile is refused."""
    from numba.core.errors import NumbaError

    params = {name: np.zeros(shape) for name, shape in form} if form is not None else ()
    try:
        return _compile(function, names, params)
    except (NumbaError, TypeError) as error:
        raise ControllerError(
            f"The controller {label!r} cannot be compiled: {why_not_compiled(error)}; write it "
            "with numbers, arrays, math and NumPy, or give the function to sk.simulate, which "
            "calls it through Python."
        ) from error
