"""How helpers are called, and how they return: with no status, since they raise nothing, and with
their result where the caller wants it.

Results come back through memory: given as values, LLVM orders the sweeps of batches such that more
of them do not fit into registers, and forward dynamics was 4 to 6 % slower.
"""

from __future__ import annotations

from functools import cache
from inspect import signature
from typing import Any

import llvmlite.ir
from numba import types
from numba.core.callconv import CPUCallConv
from numba.core.cpu import CPUContext

__all__ = ["HelperContext", "call_of", "declared", "has_result", "reserve"]


class HelperConvention(CPUCallConv):
    """What numba's own code does in a helper where it would raise: return."""

    def _return_errcode_raw(self, builder: Any, code: Any) -> Any:
        if not _is_helper(builder.function):
            return super()._return_errcode_raw(builder, code)
        return builder.ret_void()

    def return_user_exc(self, builder: Any, *args: Any, **kwargs: Any) -> Any:
        if not _is_helper(builder.function):
            return super().return_user_exc(builder, *args, **kwargs)
        return self._return_errcode_raw(builder, None)

    def return_dynamic_user_exc(self, builder: Any, *args: Any, **kwargs: Any) -> Any:
        if not _is_helper(builder.function):
            return super().return_dynamic_user_exc(builder, *args, **kwargs)
        return self._return_errcode_raw(builder, None)

    def return_status_propagate(self, builder: Any, status: Any) -> Any:
        if not _is_helper(builder.function):
            return super().return_status_propagate(builder, status)
        return self._return_errcode_raw(builder, None)


_WRITERS: dict[Any, Any] = {}
"""What writes a function's instructions, for types of arguments: a search through many."""


@cache
def _wants_place(write: Any) -> bool:
    """Does it ask for the line of the source?"""
    return "loc" in signature(write).parameters


class HelperContext(CPUContext):
    """numba's context while a helper is lowered."""

    @property
    def call_conv(self) -> Any:
        return HelperConvention(self)

    def get_function(self, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        """numba's own, which remembers what it found."""
        key = fn, sig
        if key not in _WRITERS:
            found = super().get_function(fn, sig, _firstcall)
            if not hasattr(found, "_callable"):
                return found  # numba asked again, by another name
            _WRITERS[key] = found._callable.func
        write, sig = _WRITERS[key], sig.as_function()

        def call(builder: Any, args: Any, loc: Any = None) -> Any:
            place = {"loc": loc} if _wants_place(write) else {}
            result = write(self, builder, sig, args, **place)
            self.add_linking_libs(getattr(write, "libs", ()))
            return result

        return call


def _is_helper(function: Any) -> bool:
    return isinstance(function.ftype.return_type, llvmlite.ir.VoidType)


def reserve(builder: Any, typ: Any, name: str = "") -> Any:
    """Memory for a variable; numba's own would also write zeros into it."""
    with builder.goto_entry_block():
        return builder.alloca(typ, name=name)


def has_result(descriptor: Any) -> bool:
    return bool(descriptor.restype != types.none)


def declared(context: Any, module: Any, descriptor: Any) -> Any:
    """The function as LLVM knows it; what is inlined takes tuples whole."""
    found = module.globals.get(descriptor.mangled_name)
    if found is not None:
        return found
    given = (
        [context.get_value_type(typ) for typ in _given(descriptor)]
        if descriptor.inline
        else list(context.call_conv._get_arg_packer(descriptor.argtypes).argument_types)
    )
    if has_result(descriptor):
        given.insert(0, context.get_value_type(descriptor.restype).as_pointer())
    form = llvmlite.ir.FunctionType(llvmlite.ir.VoidType(), given)
    function = llvmlite.ir.Function(module, form, descriptor.mangled_name)
    if has_result(descriptor):
        function.args[0].add_attribute("noalias")
    if descriptor.inline:
        function.attributes.add("alwaysinline")
    return function


def _given(descriptor: Any) -> list[Any]:
    return [typ for typ in descriptor.argtypes if not isinstance(typ, types.Omitted)]


def call_of(descriptor: Any, library: Any) -> Any:
    """How a call of a helper is written."""

    def call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        function = declared(context, builder.module, descriptor)
        if descriptor.inline:
            pairs = zip(descriptor.argtypes, args, strict=True)
            values = [value for typ, value in pairs if not isinstance(typ, types.Omitted)]
        else:
            packer = context.call_conv._get_arg_packer(descriptor.argtypes)
            values = packer.as_arguments(builder, args)
        if not has_result(descriptor):
            builder.call(function, values)
            return context.get_dummy_value()
        result = reserve(builder, function.args[0].type.pointee)
        builder.call(function, [result, *values])
        return builder.load(result)

    call.signature = descriptor.argtypes  # type: ignore[attr-defined]
    call.libs = (library,)  # type: ignore[attr-defined]
    return call
