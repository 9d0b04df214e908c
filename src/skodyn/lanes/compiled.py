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
from numba.core.errors import TypingError
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


# ---- memory -----------------------------------------------------------------------------------


@intrinsic
def _data(typingctx: Any, array: Any) -> Any:
    if not isinstance(array, types.Array) or array.layout != "C":
        raise TypingError(f"a kernel takes contiguous arrays, not {array}")

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.make_array(array)(context, builder, args[0]).data

    return signature(types.CPointer(array.dtype), array), codegen


@overload(plain.pointer)
def _overload_pointer(array):
    return lambda array: _data(array)


@intrinsic
def _as_integers(typingctx: Any, source: Any) -> Any:
    result = types.CPointer(types.int64)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(result))

    return signature(result, source), codegen


@overload(plain.integers)
def _overload_integers(source):
    return lambda source: _as_integers(source)


@intrinsic
def _moved(typingctx: Any, source: Any, count: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.gep(args[0], [_as_int(context, builder, args[1], sig.args[1])])

    return signature(source, source, count), codegen


@overload(plain.shift_pointer)
def _overload_shift_pointer(source, count):
    return lambda source, count: _moved(source, count)


def _pointer(context: Any, builder: Any, source_type: Any, source: Any, index: Any) -> Any:
    """Address of element `index`, with no bounds or negative-index check in the way."""
    if isinstance(source_type, types.CPointer):
        return builder.gep(source, [index])
    if source_type.dtype != types.float64 or source_type.layout != "C" or source_type.ndim != 1:
        raise TypingError(f"lanes live in flat contiguous float64 arrays, not in {source_type}")
    return builder.gep(context.make_array(source_type)(context, builder, source).data, [index])


def _as_int(context: Any, builder: Any, value: Any, typ: Any) -> Any:
    return context.cast(builder, value, typ, types.int64)


@intrinsic
def _vector_load(typingctx: Any, w: Any, array: Any, i: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        index = builder.mul(
            _as_int(context, builder, args[2], sig.args[2]), ir.Constant(ir.IntType(64), w.lanes)
        )
        address = _pointer(context, builder, array, args[1], index)
        vector = context.get_value_type(w.lane)
        return builder.load(builder.bitcast(address, vector.as_pointer()), align=8, typ=vector)

    return signature(w.lane, w, array, i), codegen


@intrinsic
def _vector_store(typingctx: Any, w: Any, array: Any, i: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        index = builder.mul(
            _as_int(context, builder, args[2], sig.args[2]), ir.Constant(ir.IntType(64), w.lanes)
        )
        address = _pointer(context, builder, array, args[1], index)
        vector = context.get_value_type(w.lane)
        value = context.cast(builder, args[3], x, w.lane)
        builder.store(value, builder.bitcast(address, vector.as_pointer()), align=8)
        return context.get_dummy_value()

    return signature(types.none, w, array, i, x), codegen


def _row_indices(context: Any, builder: Any, sig: Any, args: Any, lanes_count: int) -> list[Any]:
    first, stride, i = (
        _as_int(context, builder, a, t) for a, t in zip(args[2:5], sig.args[2:5], strict=True)
    )
    index = builder.add(first, i)
    indices = [index]
    for _ in range(lanes_count - 1):
        index = builder.add(index, stride)
        indices.append(index)
    return indices


@intrinsic
def _vector_load_rows(typingctx: Any, w: Any, array: Any, first: Any, stride: Any, i: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        vector = ir.Constant(context.get_value_type(w.lane), ir.Undefined)
        for lane, index in enumerate(_row_indices(context, builder, sig, args, w.lanes)):
            value = builder.load(_pointer(context, builder, array, args[1], index))
            vector = builder.insert_element(vector, value, ir.Constant(ir.IntType(32), lane))
        return vector

    return signature(w.lane, w, array, first, stride, i), codegen


@intrinsic
def _vector_store_rows(
    typingctx: Any, w: Any, array: Any, first: Any, stride: Any, i: Any, x: Any
) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        vector = context.cast(builder, args[5], x, w.lane)
        for lane, index in enumerate(_row_indices(context, builder, sig, args, w.lanes)):
            value = builder.extract_element(vector, ir.Constant(ir.IntType(32), lane))
            builder.store(value, _pointer(context, builder, array, args[1], index))
        return context.get_dummy_value()

    return signature(types.none, w, array, first, stride, i, x), codegen


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """The columns of four vectors of four."""

    def shuffle(a: Any, b: Any, order: tuple[int, ...]) -> Any:
        return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), 4), order))

    low = [shuffle(rows[k], rows[k + 1], (0, 4, 2, 6)) for k in (0, 2)]
    high = [shuffle(rows[k], rows[k + 1], (1, 5, 3, 7)) for k in (0, 2)]
    pairs = (low, high)
    return [shuffle(*pairs[k % 2], (0, 1, 4, 5) if k < 2 else (2, 3, 6, 7)) for k in range(4)]


@intrinsic
def _vector_store_four(
    typingctx: Any, w: Any, array: Any, first: Any, stride: Any, i: Any, x: Any
) -> Any:
    """Four lanes turn into four rows: one vector store for each state."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        lanes = [builder.extract_value(args[5], j) for j in range(4)]
        vector = context.get_value_type(w.lane)
        indices = _row_indices(context, builder, sig, args, w.lanes)
        for row, index in zip(_transposed(builder, lanes), indices, strict=True):
            address = _pointer(context, builder, array, args[1], index)
            builder.store(row, builder.bitcast(address, vector.as_pointer()), align=8)
        return context.get_dummy_value()

    return signature(types.none, w, array, first, stride, i, x), codegen


@intrinsic
def _scalar_load(typingctx: Any, array: Any, i: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        index = _as_int(context, builder, args[1], sig.args[1])
        return builder.load(_pointer(context, builder, array, args[0], index))

    return signature(types.float64, array, i), codegen


@intrinsic
def _scalar_store(typingctx: Any, array: Any, i: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        index = _as_int(context, builder, args[1], sig.args[1])
        value = context.cast(builder, args[2], x, types.float64)
        builder.store(value, _pointer(context, builder, array, args[0], index))
        return context.get_dummy_value()

    return signature(types.none, array, i, x), codegen


@intrinsic
def _broadcast(typingctx: Any, w: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.cast(builder, args[1], sig.args[1], w.lane)

    return signature(w.lane, w, x), codegen


@overload(plain.splat)
def _overload_splat(w, x):
    return lambda w, x: _broadcast(w, x)


@overload(plain.columns_at_once)
def _columns_at_once(w):
    if w.lanes == 1:
        return lambda w: 4
    return lambda w: 1


@overload(plain.load_columns)
def _load_columns(w, array, i):
    if w.lanes == 1:
        return lambda w, array, i: _vector_load(plain.WIDTH_4, _moved(array, i), 0)
    return lambda w, array, i: _vector_load(w, array, i)


@overload(plain.store_columns)
def _store_columns(w, array, i, x):
    if w.lanes == 1:
        return lambda w, array, i, x: _vector_store(plain.WIDTH_4, _moved(array, i), 0, x)
    return lambda w, array, i, x: _vector_store(w, array, i, x)


@overload(plain.single)
def _single(w):
    if w.lanes == 1:
        return lambda w: True
    return lambda w: False


@overload(plain.load)
def _overload_load(w, array, i):
    if w.lanes == 1:
        return lambda w, array, i: _scalar_load(array, i)
    return lambda w, array, i: _vector_load(w, array, i)


@overload(plain.store)
def _overload_store(w, array, i, x):
    if w.lanes == 1:
        return lambda w, array, i, x: _scalar_store(array, i, x)
    return lambda w, array, i, x: _vector_store(w, array, i, x)


@overload(plain.load_rows)
def _overload_load_rows(w, array, first, stride, i):
    if w.lanes == 1:
        return lambda w, array, first, stride, i: _scalar_load(array, first + i)
    return lambda w, array, first, stride, i: _vector_load_rows(w, array, first, stride, i)


@overload(plain.store_rows)
def _overload_store_rows(w, array, first, stride, i, x):
    if w.lanes == 1:
        return lambda w, array, first, stride, i, x: _scalar_store(array, first + i, x)
    return lambda w, array, first, stride, i, x: _vector_store_rows(w, array, first, stride, i, x)


@overload(plain.store_four)
def _overload_store_four(w, array, first, stride, i, x):
    if w.lanes == 4:
        return lambda w, array, first, stride, i, x: _vector_store_four(
            w, array, first, stride, i, x
        )

    def one(w, array, first, stride, i, x):
        for j in range(4):
            _scalar_store(array, first + i + j, x[j])

    return one


@overload(plain.parameter)
def _overload_parameter(w, array, i):
    if w.lanes > 1 and w.own_parameters:
        return lambda w, array, i: _vector_load(w, array, i)
    return lambda w, array, i: _scalar_load(array, i)
