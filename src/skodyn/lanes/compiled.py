"""What the functions of plain.py mean to numba: LLVM vectors of doubles and their instructions.

Nothing here is called from Python; `skodyn.jit` imports it before the first compilation.
`LaneType(4)` lives in one 256-bit register; `MaskType(4)` is what comparing two of them gives.
Width 1 has no type of its own: it is float64 and bool.
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
from numba.core.typing.templates import (
    AbstractTemplate,
    infer,
    infer_global,
    make_intrinsic_template,
    signature,
)
from numba.extending import lower_builtin, lower_cast, models, register_model, typeof_impl

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
    form = ir.VectorType(_DOUBLE, width)
    if isinstance(scalar, ir.Constant):
        return ir.Constant(form, [scalar] * width)
    nothing = ir.Constant(form, ir.Undefined)
    first = builder.insert_element(nothing, scalar, ir.Constant(ir.IntType(32), 0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
    return builder.shuffle_vector(first, nothing, everywhere)


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


def in_place(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Say what a function of plain.py becomes where it is called: instructions, not a call.

    The decorated function takes numba's typing context and the types of the arguments, and returns
    the signature and a function that writes the instructions. numba's `overload` would make a
    function of each instead, to be compiled, called and inlined: most of the time that kernels took
    to compile.
    """

    def register(define: Callable[..., Any]) -> Callable[..., Any]:
        template = make_intrinsic_template(function, define, function.__name__)
        infer(template)
        infer_global(function, types.Function(template))
        return define

    return register


def _llvm_call(function: Callable[..., Any], name: str) -> None:
    """Let `function` be LLVM's function `name`, on floats or on lanes, mixed at will."""

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values = [
            context.cast(builder, a, t, sig.return_type)
            for a, t in zip(args, sig.args, strict=True)
        ]
        kind = values[0].type
        suffix = f"v{kind.count}f64" if isinstance(kind, ir.VectorType) else "f64"
        called = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(kind, [kind] * len(values)), f"{name}.{suffix}"
        )
        return builder.call(called, values)

    def result(*args: Any) -> Any:
        return signature(_common_lane(args) or types.float64, *args), write

    if function is plain.fma:
        in_place(function)(lambda typingctx, a, b, c: result(a, b, c))
    else:
        in_place(function)(lambda typingctx, x: result(x))


_llvm_call(plain.fma, "llvm.fma")
_llvm_call(plain.sqrt, "llvm.sqrt")
_llvm_call(plain.floor, "llvm.floor")
_llvm_call(plain.absolute, "llvm.fabs")


@in_place(plain.select)
def _select(typingctx: Any, mask: Any, a: Any, b: Any) -> Any:
    """A select instruction, not a branch, also when a and b are lanes chosen by one truth value."""
    by_lane = isinstance(mask, MaskType)
    result = _common_lane((a, b)) or (LaneType(mask.width) if by_lane else types.float64)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        yes = context.cast(builder, args[1], sig.args[1], result)
        no = context.cast(builder, args[2], sig.args[2], result)
        chosen = args[0] if by_lane else context.cast(builder, args[0], mask, types.boolean)
        return builder.select(chosen, yes, no)

    return signature(result, mask, a, b), write


def _reduction(all_set: bool) -> Callable[..., Any]:
    def define(typingctx: Any, mask: Any) -> Any:
        def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            if not isinstance(mask, MaskType):
                return context.cast(builder, args[0], mask, types.boolean)
            bits = builder.bitcast(args[0], ir.IntType(mask.width))
            if all_set:
                return builder.icmp_unsigned("==", bits, ir.Constant(bits.type, -1))
            return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

        return signature(types.boolean, mask), write

    return define


in_place(plain.any_lane)(_reduction(all_set=False))
in_place(plain.all_lanes)(_reduction(all_set=True))


@in_place(plain.lane_at)
def _lane_at(typingctx: Any, x: Any, lane: Any) -> Any:
    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if not isinstance(x, LaneType):
            return context.cast(builder, args[0], x, types.float64)
        return builder.extract_element(args[0], context.cast(builder, args[1], lane, types.int64))

    return signature(types.float64, x, lane), write


def _lane_by_lane(function: Callable[..., Any], scalar: Callable[[float], float]) -> None:
    """Let `function` be a function of the C library, applied to each lane in turn."""

    @in_place(function)
    def _(typingctx: Any, x: Any) -> Any:
        result = x if isinstance(x, LaneType) else types.float64

        def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            known = context.typing_context.resolve_value_type(scalar)
            known.get_call_type(context.typing_context, (types.float64,), {})
            call = context.get_function(known, signature(types.float64, types.float64))
            if not isinstance(x, LaneType):
                return call(builder, (context.cast(builder, args[0], x, types.float64),))
            vector = ir.Constant(args[0].type, ir.Undefined)
            for lane in range(x.width):
                position = ir.Constant(ir.IntType(32), lane)
                value = call(builder, (builder.extract_element(args[0], position),))
                vector = builder.insert_element(vector, value, position)
            return vector

        return signature(result, x), write


_lane_by_lane(plain.logarithm, math.log)
_lane_by_lane(plain.libm_sin, math.sin)
_lane_by_lane(plain.libm_cos, math.cos)
