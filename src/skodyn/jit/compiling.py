"""The way to numba: dispatchers for helpers and kernels, made when something must be compiled.

Flags. No fast-math flag is set anywhere: not `reassoc`, and not `contract` either. Fused
multiply-adds are written out as `lanes.fma`, so a result is fixed by IEEE 754 alone and is the
same bits at every lane width, on every CPU, whatever the optimiser does around it.
`error_model="numpy"` makes a division by zero a value, not a branch.

numba's cache folder is set only while one of our kernels is being made, so other packages' kernels
stay where they were.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.datamodel import models
from numba.core.typing.templates import AbstractTemplate, signature
from numba.extending import lower_builtin, typeof_impl

from skodyn.forks import on_fork
from skodyn.jit import lean
from skodyn.jit.flags import COMPILE_FLAGS
from skodyn.jit.folders import is_kept, kernel_folder
from skodyn.jit.foreign import ForeignFunction, PartCall
from skodyn.jit.functions import BEFORE_COMPILING, Helper, Kernel
from skodyn.jit.helpers import SHARED, compile_helper
from skodyn.jit.kinds import Group, Kind
from skodyn.jit.meanings import MEANINGS

__all__ = ["c_signature", "helper_dispatcher", "kernel_dispatcher", "numba_type"]

# A fork waits until no thread is inside the compiler: its child could never compile.
on_fork(
    before=global_compiler_lock.acquire,
    in_parent=global_compiler_lock.release,
    in_child=global_compiler_lock.release,
)


@typeof_impl.register(Helper)
def _typeof_helper(value: Helper, _context: Any) -> Any:
    return types.Dispatcher(value.dispatcher)


@typeof_impl.register(Kernel)
def _typeof_kernel(value: Kernel, _context: Any) -> Any:
    return types.Dispatcher(value.dispatcher)


@cache
@global_compiler_lock
def learn_meanings() -> None:
    """Import the modules that tell numba what our types and functions mean."""
    for module in MEANINGS:
        importlib.import_module(module)


def numba_type(kind: Kind | Group) -> Any:
    """numba's type for a kind of argument."""
    if isinstance(kind, Group):
        return types.BaseTuple.from_types(
            [numba_type(member) for member in kind.members], kind.noun
        )
    if not isinstance(kind, Kind):
        return numba.typeof(kind)
    number = {"float64": types.float64, "int64": types.int64, "bool": types.boolean}[kind.dtype]
    if kind.dimensions == 0:
        return number
    if kind.dimensions < 0:
        return types.CPointer(number)
    return types.Array(number, kind.dimensions, "C", readonly=not kind.writable)


def helper_dispatcher(helper: Helper) -> Any:
    """Without wrappers for Python, and without counting references: kernels pass pointers."""
    learn_meanings()
    dispatcher = numba.njit(
        forceinline=helper.inline,
        no_cfunc_wrapper=True,
        no_cpython_wrapper=True,
        _nrt=False,
        pipeline_class=lean.HelperCompiler,
        **COMPILE_FLAGS,
    )(helper.py_func)
    dispatcher._insert = lambda *_args, **_kwargs: None  # it has no address
    if helper.shared:
        SHARED.add(helper.py_func)
    dispatcher.compiled_for = partial(compile_helper, helper.py_func, inline=helper.inline)
    return dispatcher


def kernel_dispatcher(kernel: Kernel) -> Any:
    """Compiled at once, or loaded from the cache, if the kernel declares its signature."""
    learn_meanings()
    with _our_cache_folder(kernel.py_func.__module__):
        dispatcher = numba.njit(
            cache=True,
            nogil=not kernel.keeps_gil,
            pipeline_class=lean.KernelCompiler,
            **COMPILE_FLAGS,
        )(kernel.py_func)
    if kernel.signature is not None:
        if not is_kept(kernel.py_func):
            for tell in BEFORE_COMPILING:
                tell(kernel.name)
        dispatcher.compile(tuple(numba_type(kind) for kind in kernel.signature))
        dispatcher.disable_compile()
    return dispatcher


@contextmanager
def _our_cache_folder(module: str) -> Iterator[None]:
    with global_compiler_lock:  # no other thread and no forked child sees it
        theirs = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(kernel_folder(module))
        try:
            yield
        finally:
            numba.config.CACHE_DIR = theirs


# ---- foreign functions ------------------------------------------------------------------------

_WORDS = {
    "nothing": types.void,
    "number": types.float64,
    "count": types.int64,
    "pointer": types.CPointer(types.float64),
}


def c_signature(function: ForeignFunction) -> Any:
    """numba's signature of what a foreign function's address must point to."""
    return _WORDS[function.result](*(_WORDS[word] for word in function.arguments))


@typeof_impl.register(ForeignFunction)
def _typeof_foreign(value: ForeignFunction, _context: Any) -> Any:
    return types.Function(_foreign_template(value))


@cache
def _foreign_template(function: ForeignFunction) -> Any:
    called = c_signature(function)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        form = ir.FunctionType(
            ir.VoidType()
            if called.return_type == types.void
            else context.get_value_type(called.return_type),
            [context.get_value_type(argument) for argument in called.args],
        )
        address = builder.inttoptr(args[0], form.as_pointer())
        result = builder.call(address, args[1:])
        return context.get_dummy_value() if called.return_type == types.void else result

    class Template(AbstractTemplate):
        key = function

        def generic(self, args: Any, kws: Any) -> Any:
            result = types.none if called.return_type == types.void else called.return_type
            return signature(result, types.int64, *called.args)

        def get_impl_key(self, sig: Any) -> Any:
            return write

    lower_builtin(write, types.int64, *called.args)(write)
    return Template


# ---- parts ------------------------------------------------------------------------------------

SLOT = ir.IntType(64)


def is_empty(context: Any, typ: Any) -> bool:
    """Does a value of this type say nothing that its type does not, as a lane width?"""
    return isinstance(context.data_model_manager[typ], models.OpaqueModel)


def slots_of(context: Any, builder: Any, typ: Any, value: Any) -> Iterator[Any]:
    """A value as numbers of eight bytes, members of tuples one after the other."""
    if isinstance(typ, types.BaseTuple):
        for i, member in enumerate(typ):
            yield from slots_of(context, builder, member, builder.extract_value(value, i))
    elif is_empty(context, typ):
        return
    elif isinstance(typ, types.CPointer):
        yield builder.ptrtoint(value, SLOT)
    elif isinstance(typ, types.Float):
        yield builder.bitcast(context.cast(builder, value, typ, types.float64), SLOT)
    elif typ == types.boolean:
        yield builder.zext(value, SLOT)
    else:
        yield context.cast(builder, value, typ, types.int64)


def _write_call_of_part(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    given = [
        slot
        for typ, value in zip(sig.args[1:], args[1:], strict=True)
        for slot in slots_of(context, builder, typ, value)
    ]
    slots = cgutils.alloca_once(builder, ir.ArrayType(SLOT, len(given)))
    result = cgutils.alloca_once(builder, SLOT)
    for i, slot in enumerate(given):
        builder.store(slot, cgutils.gep_inbounds(builder, slots, 0, i))
    form = ir.FunctionType(ir.VoidType(), [SLOT.as_pointer(), SLOT.as_pointer()])
    address = builder.inttoptr(args[0], form.as_pointer())
    builder.call(address, [cgutils.gep_inbounds(builder, slots, 0, 0), result])
    return builder.load(result)


class _PartTemplate(AbstractTemplate):
    key = PartCall

    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.int64, *args)

    def get_impl_key(self, sig: Any) -> Any:
        return _write_call_of_part


lower_builtin(_write_call_of_part, types.VarArg(types.Any))(_write_call_of_part)


@typeof_impl.register(PartCall)
def _typeof_part_call(value: PartCall, _context: Any) -> Any:
    return types.Function(_PartTemplate)
