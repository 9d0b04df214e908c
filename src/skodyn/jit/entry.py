"""Kernels as object code with one form for all: `void entry(int64 *slots, int64 *results)`.

launch.c fills the slots from Python's arguments, `call_part` from a kernel's. What lies between
them and the kernel, arrays and tuples as numba has them, is written here as instructions and
vanishes when both are optimised as one.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.np.arrayobj import make_array, populate_array

from skodyn.jit.compiling import SLOT as _SLOT
from skodyn.jit.compiling import is_empty, learn_meanings, numba_type
from skodyn.jit.folding import FoldingBuilder
from skodyn.jit.functions import ROUTINE, Kernel
from skodyn.jit.helpers import aligned, compile_helper, module_of, reached
from skodyn.jit.lean import optimise

__all__ = [
    "Emitted",
    "Lowered",
    "SlotReader",
    "emit",
    "emit_module",
    "lower",
    "lower_routine",
    "machine_for",
    "symbol_of",
]

_LETTERS = {types.int64: "i", types.float64: "d", types.boolean: "b"}


class Emitted(NamedTuple):
    """A kernel as object code."""

    symbol: str
    results: str  # a letter for each number that it returns
    code: bytes


class Lowered(NamedTuple):
    """A kernel as LLVM's module."""

    symbol: str
    results: str
    module: Any
    routines: dict[str, Any]  # what it calls and does not hold, by symbol


@global_compiler_lock
def emit(kernel: Kernel, machine: Any) -> Emitted:
    """Compile a kernel for a target machine."""
    lowered = lower(kernel)
    return Emitted(lowered.symbol, lowered.results, emit_module(lowered.module, machine))


@global_compiler_lock
def emit_module(module: Any, machine: Any) -> bytes:
    """Object code of a kernel that was lowered."""
    module.triple = machine.triple
    optimise(module, machine)
    code: bytes = machine.emit_object(module)
    return code


@global_compiler_lock
def lower(kernel: Kernel, apart: bool = False) -> Lowered:
    """A kernel as LLVM's instructions, with all that it calls, and nothing optimised yet.

    apart: without shared routines, which the linker of an object finds beside it.
    """
    learn_meanings()
    assert kernel.signature is not None
    given = tuple(numba_type(kind) for kind in kernel.signature)
    made = compile_helper(kernel.py_func, given, inline=True)
    symbol = symbol_of(kernel)
    routines: dict[str, Any] = {}
    module = _entry(made, symbol)
    _link([made.library], module, routines if apart else None)
    _hide_all_but(symbol, module)
    return Lowered(symbol, _letters(made.result), module, routines)


def _link(libraries: Any, module: Any, apart: dict[str, Any] | None) -> None:
    for library in reached(libraries, apart):
        module.link_in(module_of(library), preserve=True)


@global_compiler_lock
def lower_routine(library: Any) -> Lowered:
    """A routine as LLVM's instructions, without others that it calls."""
    routines: dict[str, Any] = {}
    module = library.own_module().clone()
    _link(library._linking_libraries, module, routines)
    module.get_function(library.symbol).linkage = "external"
    _hide_all_but(library.symbol, module)
    return Lowered(library.symbol, "", module, routines)


def _hide_all_but(symbol: str, module: Any) -> None:
    """Only one function is seen from outside, and it sees other routines of the same object."""
    for function in module.functions:
        if not function.is_declaration and function.name != symbol:
            function.linkage = "internal"
        elif function.name.startswith(ROUTINE):
            function.visibility = "hidden"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    module.verify()


def symbol_of(kernel: Kernel) -> str:
    return "skodyn_" + re.sub(r"\W", "_", kernel.name.replace(":", "__"))


def _letters(result: Any) -> str:
    if result == types.none:
        return ""
    return "".join(_LETTERS[types.unliteral(part)] for part in _parts(result))


def _parts(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, types.BaseTuple) else (result,)


def _entry(made: Any, symbol: str) -> Any:
    """The function that turns slots into arguments, calls the kernel and puts down its results."""
    context = cpu_target.target_context
    module = context.codegen()._create_empty_module(symbol)
    form = ir.FunctionType(ir.VoidType(), [_SLOT.as_pointer(), _SLOT.as_pointer()])
    function = ir.Function(module, form, symbol)
    builder = FoldingBuilder(function.append_basic_block("entry"))
    slots, results = function.args
    reader = SlotReader(context, builder, slots)
    arguments = [reader.argument(argument) for argument in made.descriptor.argtypes]
    result = made.call(context, builder, None, arguments)
    if made.result != types.none:
        _put_down(context, builder, made.result, result, results)
    builder.ret_void()
    return llvm.parse_assembly(aligned(cgutils.normalize_ir_text(str(module))))


class SlotReader:
    """Reads arguments, one after the other."""

    def __init__(self, context: Any, builder: Any, slots: Any) -> None:
        self.context, self.builder, self.slots = context, builder, slots
        self.at = 0

    def next(self) -> Any:
        address = cgutils.gep_inbounds(self.builder, self.slots, self.at)
        self.at += 1
        return self.builder.load(address)

    def argument(self, typ: Any) -> Any:
        if isinstance(typ, types.BaseTuple):
            return self.context.make_tuple(
                self.builder, typ, [self.argument(member) for member in typ]
            )
        if is_empty(self.context, typ):
            return self.context.get_dummy_value()
        if isinstance(typ, types.Array):
            return self._array(typ)
        value = self.next()
        if isinstance(typ, types.CPointer):
            return self.builder.inttoptr(value, self.context.get_value_type(typ))
        if typ == types.float64:
            return self.builder.bitcast(value, ir.DoubleType())
        if typ == types.boolean:
            return self.builder.icmp_unsigned("!=", value, ir.Constant(_SLOT, 0))
        return value

    def _array(self, typ: Any) -> Any:
        """A contiguous array that owns nothing."""
        builder, context = self.builder, self.context
        array = make_array(typ)(context, builder)
        data = builder.inttoptr(self.next(), array.data.type)
        shape = [self.next() for _ in range(typ.ndim)]
        size = context.get_abi_sizeof(context.get_data_type(typ.dtype))
        strides: list[Any] = []
        step = ir.Constant(_SLOT, size)
        for length in reversed(shape):
            strides.insert(0, step)
            step = builder.mul(step, length)
        populate_array(
            array,
            data=data,
            shape=cgutils.pack_array(builder, shape),
            strides=cgutils.pack_array(builder, strides),
            itemsize=ir.Constant(_SLOT, size),
            meminfo=None,
        )
        return array._getvalue()


def _put_down(context: Any, builder: Any, typ: Any, result: Any, results: Any) -> None:
    parts = _parts(typ)
    values = (
        cgutils.unpack_tuple(builder, result, len(parts))
        if isinstance(typ, types.BaseTuple)
        else [result]
    )
    for i, (part, value) in enumerate(zip(parts, values, strict=True)):
        plain = types.unliteral(part)
        value = context.cast(builder, value, part, plain)
        if plain == types.float64:
            value = builder.bitcast(value, _SLOT)
        elif plain == types.boolean:
            value = builder.zext(value, _SLOT)
        builder.store(value, cgutils.gep_inbounds(builder, results, i))


def machine_for(name: str, features: str = "", jit: bool = False) -> Any:
    """LLVM's target machine that makes code for a shared object, or for this process alone."""
    cpu_target.target_context.codegen()  # sets LLVM up
    target = llvm.Target.from_triple(llvm.get_process_triple())
    model = "jitdefault" if jit else "default"
    return target.create_target_machine(
        cpu=name, features=features, opt=2, reloc="pic", codemodel=model, jit=jit
    )
