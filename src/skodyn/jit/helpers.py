"""Helpers, each compiled once for types of arguments and kept as LLVM's intermediate form.

What numba does around each function that it compiles, passes one by one, locks, events and a
dispatcher, takes as long as lowering a small one; here it is one call after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from numba.core import cgutils, compiler
from numba.core.codegen import CPUCodeLibrary
from numba.core.funcdesc import PythonFunctionDescriptor
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack

from skodyn.jit.calls import call_of
from skodyn.jit.flags import COMPILE_FLAGS
from skodyn.jit.inference import typed
from skodyn.jit.lowering import HelperLower
from skodyn.jit.routines import routine_symbol

__all__ = [
    "SHARED",
    "Compiled",
    "HelperLibrary",
    "aligned",
    "compile_helper",
    "module_of",
    "reached",
]


def aligned(text: str) -> str:
    """The one function that a module defines, at the start of a line of the processor's cache.

    How its loops lie in such lines then depends on nothing else in the object, and a change
    elsewhere does not move its time.
    """
    return text.replace(")\n{", ") align 64\n{")


class Compiled(NamedTuple):
    """A helper for types of arguments."""

    result: Any  # its type
    call: Callable[..., Any]  # writes a call of it
    library: HelperLibrary
    descriptor: Any


class HelperLibrary(CPUCodeLibrary):
    """One helper as it was lowered, and the libraries of what it calls."""

    symbol: str | None = None  # of a routine that may be compiled apart from its callers
    _whole: Any = None

    def add_ir_module(self, ir_module: Any) -> None:
        text = cgutils.normalize_ir_text(str(ir_module))
        self._final_module = llvm.parse_assembly(aligned(text) if self.symbol else text)
        self._final_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        self._finalized = True

    def own_module(self) -> Any:
        return self._final_module

    def _get_module_for_linking(self) -> Any:
        """For a caller outside this package, whose compiler links what it is given and no more."""
        if self._whole is None:
            self._whole = self._final_module.clone()
            for library in reached(self._linking_libraries):
                self._whole.link_in(module_of(library), preserve=True)
        return self._whole

    def _finalize_specific(self) -> None:
        pass


def reached(libraries: Any, apart: dict[str, Any] | None = None) -> Iterator[Any]:
    """These libraries and all that they call, each once.

    apart: takes the routines on the way, which then are neither followed nor linked.
    """
    seen: set[int] = set()
    waiting = list(libraries)
    while waiting:
        library = waiting.pop()
        if id(library) in seen:
            continue
        seen.add(id(library))
        if isinstance(library, HelperLibrary):
            if apart is not None and library.symbol is not None:
                apart[library.symbol] = library
                continue
            waiting += library._linking_libraries
        yield library


def module_of(library: Any) -> Any:
    """What is linked of a library: of a helper itself alone, of numba's own functions the whole."""
    return (
        library.own_module()
        if isinstance(library, HelperLibrary)
        else library._get_module_for_linking()
    )


SHARED: set[Any] = set()
"""Functions that are compiled apart from their callers where an object is built."""

_COMPILED: dict[Any, Compiled] = {}
_NUMBERS = count()


def compile_helper(function: Any, given: tuple[Any, ...], inline: bool) -> Compiled:
    """A function for types of arguments; inline: into whatever calls it."""
    key = function, given
    if key not in _COMPILED:
        flags, context = _settings(inline)
        with ConfigStack().enter(flags):
            _COMPILED[key] = _compiled(function, given, context)
    return _COMPILED[key]


@cache
def _settings(inline: bool) -> tuple[Any, Any]:
    """numba's flags, and its context for them."""
    flags = compiler.Flags()
    flags.forceinline = inline
    flags.error_model = COMPILE_FLAGS["error_model"]
    flags.nrt = False
    for context in (cpu_target.typing_context, cpu_target.target_context):
        context.refresh()
    return flags, compiler._make_subtarget(cpu_target.target_context, flags)


def _compiled(function: Any, given: tuple[Any, ...], context: Any) -> Compiled:
    made = typed(function, given, cpu_target.typing_context, context.target)
    library = HelperLibrary(context.codegen(), function.__qualname__)
    library.symbol = routine_symbol(function, given) if function in SHARED else None
    name = library.symbol or f"{function.__name__}.{next(_NUMBERS)}"
    descriptor = PythonFunctionDescriptor.from_specialized_function(
        made.body,
        made.types,
        made.result,
        made.calls,
        mangler=lambda *_, **__: name,
        inline=ConfigStack().top().forceinline,
        noalias=False,
        abi_tags=(),
    )
    with context.push_code_library(library):
        HelperLower(context, library, descriptor, made.body, made.varied).lower()
    library.finalize()
    return Compiled(made.result, call_of(descriptor, library), library, descriptor)
