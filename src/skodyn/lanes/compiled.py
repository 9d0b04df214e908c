"""What the functions of plain.py mean to numba: LLVM vectors of doubles and their instructions.

Nothing here is called from Python. `LaneType(4)` lives in one 256-bit register; `MaskType(4)` is
what comparing two of them gives. Width 1 has no type of its own: it is float64 and bool.
Overloads carry no annotations because numba compares their signature with the implementation's.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_constant
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import (
    intrinsic,
    lower_builtin,
    lower_cast,
    models,
    overload,
    register_model,
    typeof_impl,
)

from skodyn.lanes import plain

_DOUBLE = ir.DoubleType()


class LaneType(types.Type):
    """A vector of `width` doubles."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Lane({width})")


class MaskType(types.Type):
    """A vector of `width` truth values."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"Mask({width})")


class WidthType(types.Type):
    """The type of a width tag."""

    def __init__(self, lanes: int, own_parameters: bool) -> None:
        self.lanes = lanes
        self.own_parameters = own_parameters
        super().__init__(name=f"Width({lanes}, own_parameters={own_parameters})")

    @property
    def lane(self) -> types.Type:
        return types.float64 if self.lanes == 1 else LaneType(self.lanes)


@register_model(LaneType)
class _LaneModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: LaneType) -> None:
        super().__init__(dmm, fe_type, ir.VectorType(_DOUBLE, fe_type.width))


@register_model(MaskType)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: MaskType) -> None:
        super().__init__(dmm, fe_type, ir.VectorType(ir.IntType(1), fe_type.width))


@register_model(WidthType)
class _WidthModel(models.OpaqueModel):
    pass


@typeof_impl.register(plain.Width)
def _typeof_width(value: plain.Width, _context: Any) -> WidthType:
    return WidthType(value.lanes, value.own_parameters)


@lower_constant(WidthType)
def _constant_width(context: Any, builder: Any, typ: Any, pyval: Any) -> Any:
    return context.get_dummy_value()


# ---- arithmetic -------------------------------------------------------------------------------


def _splat(builder: Any, scalar: Any, width: int) -> Any:
    vector = ir.Constant(ir.VectorType(_DOUBLE, width), ir.Undefined)
    for lane in range(width):
        vector = builder.insert_element(vector, scalar, ir.Constant(ir.IntType(32), lane))
    return vector


@lower_cast(types.Float, LaneType)
@lower_cast(types.Integer, LaneType)
def _number_to_lane(context: Any, builder: Any, fromty: Any, toty: Any, value: Any) -> Any:
    return _splat(builder, context.cast(builder, value, fromty, types.float64), toty.width)


def _common_lane(args: tuple[Any, ...]) -> LaneType | None:
    """The lane type of mixed lane and number arguments, or None if there is no lane among them."""
    found = [a for a in args if isinstance(a, LaneType)]
    if not found or any(a != found[0] for a in found):
        return None
    if all(isinstance(a, LaneType | types.Float | types.Integer) for a in args):
        return found[0]
    return None


def _register_binary(op: Callable[..., Any], build: Callable[..., Any], mask: bool) -> None:
    @infer_global(op)
    class _Typing(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            lane = _common_lane(args) if len(args) == 2 else None
            if lane is None:
                return None
            return signature(MaskType(lane.width) if mask else lane, lane, lane)

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return build(builder, *args)

    lower_builtin(op, LaneType, LaneType)(lower)


for _op, _name in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _register_binary(_op, lambda b, x, y, name=_name: getattr(b, name)(x, y), mask=False)

for _op, _sign in (
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.eq, "=="),
):
    _register_binary(_op, lambda b, x, y, s=_sign: b.fcmp_ordered(s, x, y), mask=True)
_register_binary(operator.ne, lambda b, x, y: b.fcmp_unordered("!=", x, y), mask=True)


@infer_global(operator.neg)
class _NegTyping(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], LaneType):
            return signature(args[0], args[0])
        return None


@lower_builtin(operator.neg, LaneType)
def _neg(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.fneg(args[0])


def _register_mask_logic(op: Callable[..., Any], name: str) -> None:
    @infer_global(op)
    class _Typing(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and isinstance(args[0], MaskType) and args[0] == args[1]:
                return signature(args[0], *args)
            return None

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, name)(*args)

    lower_builtin(op, MaskType, MaskType)(lower)


_register_mask_logic(operator.and_, "and_")
_register_mask_logic(operator.or_, "or_")


# ---- functions of lanes -----------------------------------------------------------------------


def _llvm_call(name: str, arity: int) -> Any:
    """An intrinsic that calls the LLVM function `name` on floats or on lanes, mixed at will."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values = [
            context.cast(builder, a, t, sig.return_type)
            for a, t in zip(args, sig.args, strict=True)
        ]
        kind = values[0].type
        suffix = f"v{kind.count}f64" if isinstance(kind, ir.VectorType) else "f64"
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(kind, [kind] * arity), f"{name}.{suffix}"
        )
        return builder.call(function, values)

    def result(*args: Any) -> Any:
        return _common_lane(args) or types.float64

    if arity == 1:

        @intrinsic
        def call1(typingctx: Any, a: Any) -> Any:
            return signature(result(a), a), codegen

        return call1

    @intrinsic
    def call3(typingctx: Any, a: Any, b: Any, c: Any) -> Any:
        return signature(result(a, b, c), a, b, c), codegen

    return call3


_llvm_fma = _llvm_call("llvm.fma", 3)
_llvm_sqrt = _llvm_call("llvm.sqrt", 1)
_llvm_floor = _llvm_call("llvm.floor", 1)
_llvm_fabs = _llvm_call("llvm.fabs", 1)


@overload(plain.fma)
def _fma(a, b, c):
    return lambda a, b, c: _llvm_fma(a, b, c)


@overload(plain.sqrt)
def _sqrt(x):
    return lambda x: _llvm_sqrt(x)


@overload(plain.floor)
def _floor(x):
    return lambda x: _llvm_floor(x)


@overload(plain.absolute)
def _absolute(x):
    return lambda x: _llvm_fabs(x)


@intrinsic
def _vector_select(typingctx: Any, mask: Any, a: Any, b: Any) -> Any:
    lane = _common_lane((a, b)) or LaneType(mask.width)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        yes = context.cast(builder, args[1], sig.args[1], lane)
        no = context.cast(builder, args[2], sig.args[2], lane)
        return builder.select(args[0], yes, no)

    return signature(lane, mask, a, b), codegen


@intrinsic
def _scalar_select(typingctx: Any, mask: Any, a: Any, b: Any) -> Any:
    """A select instruction, not a branch, also when a and b are lanes chosen by one truth value."""
    result = _common_lane((a, b)) or types.float64

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        yes = context.cast(builder, args[1], sig.args[1], result)
        no = context.cast(builder, args[2], sig.args[2], result)
        return builder.select(context.cast(builder, args[0], mask, types.boolean), yes, no)

    return signature(result, mask, a, b), codegen


@overload(plain.select)
def _select(mask, a, b):
    if isinstance(mask, MaskType):
        return lambda mask, a, b: _vector_select(mask, a, b)
    return lambda mask, a, b: _scalar_select(mask, a, b)


def _reduce_mask(all_set: bool) -> Any:
    @intrinsic
    def reduce(typingctx: Any, mask: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            bits = builder.bitcast(args[0], ir.IntType(mask.width))
            if all_set:
                return builder.icmp_unsigned("==", bits, ir.Constant(bits.type, -1))
            return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

        return signature(types.boolean, mask), codegen

    return reduce


_mask_any = _reduce_mask(all_set=False)
_mask_all = _reduce_mask(all_set=True)


@overload(plain.any_lane)
def _any_lane(mask):
    if isinstance(mask, MaskType):
        return lambda mask: _mask_any(mask)
    return lambda mask: mask


@overload(plain.all_lanes)
def _all_lanes(mask):
    if isinstance(mask, MaskType):
        return lambda mask: _mask_all(mask)
    return lambda mask: mask


@intrinsic
def _extract(typingctx: Any, x: Any, lane: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.extract_element(args[0], args[1])

    return signature(types.float64, x, types.int64), codegen


@overload(plain.lane_at)
def _lane_at(x, lane):
    if isinstance(x, LaneType):
        return lambda x, lane: _extract(x, lane)
    return lambda x, lane: x


def _lane_by_lane(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """Apply a C library function to each lane in turn."""

    @intrinsic
    def apply(typingctx: Any, x: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            scalar = signature(types.float64, types.float64)
            fn = context.typing_context.resolve_value_type(function)
            fn.get_call_type(context.typing_context, (types.float64,), {})
            call = context.get_function(fn, scalar)
            vector = ir.Constant(args[0].type, ir.Undefined)
            for lane in range(x.width):
                position = ir.Constant(ir.IntType(32), lane)
                value = call(builder, (builder.extract_element(args[0], position),))
                vector = builder.insert_element(vector, value, position)
            return vector

        return signature(x, x), codegen

    def choose(x):
        if isinstance(x, LaneType):
            return lambda x: apply(x)
        return lambda x: function(x)

    return choose


overload(plain.logarithm)(_lane_by_lane(math.log))
overload(plain.libm_sin)(_lane_by_lane(math.sin))
overload(plain.libm_cos)(_lane_by_lane(math.cos))
