"""What the decorators make of a function: helpers, which kernels call, and kernels, which Python
calls.

Nothing here needs numba until a kernel has to be compiled: most runs find their kernels in the
object that was shipped or built before (shipped.py) and never import it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from skodyn.forks import cached_property, on_fork
from skodyn.jit import guards, shipped
from skodyn.jit.folders import is_kept
from skodyn.jit.kinds import Group, Kind

__all__ = [
    "JIT_DISABLED",
    "KERNELS",
    "ROUTINE",
    "Helper",
    "Kernel",
    "Part",
    "brief_kernel",
    "helper",
    "kernel",
    "part",
    "plain",
    "routine",
    "shared_routine",
]

Signature = tuple[Kind | Group, ...]

JIT_DISABLED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
"""True under NUMBA_DISABLE_JIT=1: kernels then run as plain Python, at lane width 1."""

BEFORE_COMPILING: list[Callable[[str], None]] = []
"""Called with a kernel's name when it has to be compiled now, which may take seconds."""

KERNELS: dict[str, Kernel] = {}
"""Every kernel of the package that declares its signature, by "module:name"."""

ROUTINE = "skodyn_routine_"
"""How symbols of shared routines begin; a kernel's never do."""

_LOADING = threading.RLock()
"""Held while numba is imported; a fork waits, or its child could never import it."""
on_fork(before=_LOADING.acquire, in_parent=_LOADING.release, in_child=_LOADING.release)


def _compiler() -> Any:
    """The way to numba, which is imported now if it was not before."""
    with _LOADING:
        from skodyn.jit import compiling
    return compiling


class Helper:
    """A function for kernels. Compiled, it cannot be called from Python."""

    def __init__(self, function: Callable[..., Any], inline: bool, shared: bool = False) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self.inline = inline
        self.shared = shared  # one copy in an object serves all its kernels

    def __call__(self, *_args: Any, **_kwargs: Any) -> Any:
        name = self.py_func.__name__
        raise TypeError(f"{name} is a helper: kernels can call it, Python can call {name}.py_func.")

    def __reduce__(self) -> Any:
        # a kernel that closes over helpers is cached by what they are, not by where they lie
        return _named, (self.py_func.__module__, self.py_func.__qualname__)

    @cached_property
    def dispatcher(self) -> Any:
        """What numba sees of it; made when a kernel that calls it is compiled."""
        return _compiler().helper_dispatcher(self)


def _named(module: str, name: str) -> Any:
    import importlib

    return getattr(importlib.import_module(module), name)


class Kernel:
    """An entry point from Python. `ready` is what to call: shipped code, or what numba compiles."""

    def __init__(
        self, function: Callable[..., Any], signature: Signature | None, keeps_gil: bool
    ) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self.signature = signature
        self.keeps_gil = keeps_gil

    @property
    def name(self) -> str:
        """How it is found in a shipped object."""
        return f"{self.py_func.__module__.removeprefix('skodyn.')}:{self.py_func.__qualname__}"

    @property
    def codes(self) -> str:
        """The signature as launch.c reads it."""
        return "".join(kind.code for kind in self.signature or ())

    @cached_property
    def ready(self) -> Any:
        """Compiled for the declared signature and for nothing else: other types are turned away."""
        found = shipped.find(self) if self.signature else None
        made = found or _fitted(self.dispatcher, self.signature or ())
        if guards.CHECKING:
            return guards.checked(self.name, made, self.py_func, self.signature)
        return made

    @cached_property
    def is_at_hand(self) -> bool:
        """Can it be called without waiting for the compiler?"""
        held = shipped.opened()
        return (held is not None and held.holds(self.name)) or is_kept(self.py_func)

    @cached_property
    def dispatcher(self) -> Any:
        """numba's compiled function, loaded from the cache where it is there."""
        return _compiler().kernel_dispatcher(self)

    def __call__(self, *args: Any) -> Any:
        return self.ready(*args)


def _fitted(dispatcher: Any, signature: Signature) -> Any:
    """numba's dispatcher; where a kernel takes groups, behind a look at what is in them."""
    if not any(isinstance(kind, Group) for kind in signature):
        return dispatcher

    def call(*given: Any) -> Any:
        pairs = zip(signature, given, strict=True)
        return dispatcher(*(kind.fit(value) for kind, value in pairs))

    return call


class Part(Kernel):
    """What few models need of a kernel: code of its own, compiled when a model first needs it.

    Kernels call it by its address (`call_part`), which is data: where nobody needs it, there is
    none, and neither the compiler nor the processor sees it.
    """

    codes = ""  # it is not called from Python
    suffix = ""

    @property
    def name(self) -> str:
        return f"{super().name}_{self.suffix}" if self.suffix else super().name

    @cached_property
    def address(self) -> Any:
        """Where its code lies in this process: shipped, or else compiled here and kept on disk."""
        found = shipped.address_of(self)
        if found is None:
            with _LOADING:
                from skodyn.jit import in_process
            found = in_process.address_of(self)
        return found


class PlainKernel:
    """A kernel without the compiler: plain Python."""

    def __init__(self, function: Callable[..., Any], signature: Signature | None) -> None:
        update_wrapper(self, function)
        self.ready = self.address = function
        self.is_at_hand = True
        if guards.CHECKING:
            self.ready = guards.checked(function.__qualname__, function, function, signature)

    def __call__(self, *args: Any) -> Any:
        return self.ready(*args)


def helper(function: Any) -> Any:
    """A small function that kernels call and LLVM inlines. Compiled, it is for kernels only."""
    return function if JIT_DISABLED else Helper(function, inline=True)


def routine(function: Any) -> Any:
    """A larger function that kernels call and that is not inlined. For kernels only.

    For what few models need, so that it does not weigh on the others' machine code.
    """
    return function if JIT_DISABLED else Helper(function, inline=False)


def shared_routine(function: Any) -> Any:
    """A routine of which all kernels of an object share one copy. For kernels only.

    For passes over a whole mechanism that several kernels begin or end with, and for what is large
    and rarely met, as contacts on a height field: compiled once, they take their time once. A call
    costs some nanoseconds, so not for what is called for each body.
    """
    return function if JIT_DISABLED else Helper(function, inline=False, shared=True)


def plain(function: Any) -> Any:
    """A helper that calls no other, as Python calls it: sizes that both sides must agree on."""
    return getattr(function, "py_func", function)


def kernel(*signature: Any) -> Any:
    """An entry point from Python that releases the GIL: `@kernel(INTS, FLOATS, RESULT)`.

    Without a signature it is compiled for whatever it is called with, and never shipped.
    """
    return _entry(signature, keeps_gil=False)


def brief_kernel(*signature: Any) -> Any:
    """An entry point for one state, which keeps the GIL.

    Handing the GIL over and back takes a tenth of a small robot's call. As long as it is kept, no
    two such calls overlap, so all of them can share one workspace.
    """
    return _entry(signature, keeps_gil=True)


def part(function: Any, signature: Signature, suffix: str = "") -> Any:
    """A helper as a part of kernels, with these kinds of arguments; see Part.

    suffix: tells parts of one helper with different signatures apart.
    """
    if JIT_DISABLED:
        return PlainKernel(function, signature)
    made = Part(function.py_func, signature, keeps_gil=False)
    made.suffix = suffix
    return _listed(made)


def _entry(signature: tuple[Any, ...], keeps_gil: bool) -> Any:
    if len(signature) == 1 and not isinstance(signature[0], Kind | Group):
        return _made(signature[0], None, keeps_gil)  # @kernel without arguments
    return lambda function: _made(function, tuple(signature), keeps_gil)


def _made(function: Any, signature: Signature | None, keeps_gil: bool) -> Any:
    if JIT_DISABLED:
        return PlainKernel(function, signature)
    return _listed(Kernel(function, signature, keeps_gil))


def _listed(made: Kernel) -> Kernel:
    if made.signature is not None and made.py_func.__module__.startswith("skodyn."):
        KERNELS[made.name] = made
    return made
