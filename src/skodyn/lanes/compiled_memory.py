"""What the functions of plain.py that read and write memory mean to numba."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.core.typing.templates import signature
from numba.extending import intrinsic, overload

from skodyn.lanes import plain

# ---- arrays and pointers ----------------------------------------------------------------------


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


# ---- lanes ------------------------------------------------------------------------------------


def _address(context: Any, builder: Any, sig: Any, args: Any, vector: Any) -> Any:
    """Where lane i of the arguments (w, array, i, …) begins, as the address of a vector."""
    index = _as_int(context, builder, args[2], sig.args[2])
    index = builder.mul(index, ir.Constant(ir.IntType(64), sig.args[0].lanes))
    address = _pointer(context, builder, sig.args[1], args[1], index)
    return builder.bitcast(address, vector.as_pointer())


@intrinsic
def _vector_load(typingctx: Any, w: Any, array: Any, i: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        vector = context.get_value_type(w.lane)
        address = _address(context, builder, sig, args, vector)
        return builder.load(address, align=8, typ=vector)

    return signature(w.lane, w, array, i), codegen


@intrinsic
def _vector_store(typingctx: Any, w: Any, array: Any, i: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        address = _address(context, builder, sig, args, context.get_value_type(w.lane))
        builder.store(context.cast(builder, args[3], x, w.lane), address, align=8)
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


def _transposed(builder: Any, lanes: list[Any]) -> list[Any]:
    """Four vectors with a number for each state as vectors of four numbers, one for each state.

    Neighbours are paired first, then pairs of pairs, in whole registers; what belongs to a state
    is then half of a register of eight numbers, or one of four.
    """
    width = lanes[0].type.count

    def shuffle(a: Any, b: Any, order: list[int]) -> Any:
        kind = ir.VectorType(ir.IntType(32), len(order))
        return builder.shuffle_vector(a, b, ir.Constant(kind, order))

    states: list[Any] = [None] * width
    for odd in (0, 1):
        order = [k + odd + other for k in range(0, width, 2) for other in (0, width)]
        first, second = shuffle(lanes[0], lanes[1], order), shuffle(lanes[2], lanes[3], order)
        for k in (0, 2):
            pieces = [p + k for p in range(0, width, 4)]
            order = [p + e + other for p in pieces for other in (0, width) for e in (0, 1)]
            both = shuffle(first, second, order)
            for n, piece in enumerate(pieces):
                states[piece + odd] = shuffle(both, both, list(range(4 * n, 4 * n + 4)))
    return states


@intrinsic
def _vector_store_four(
    typingctx: Any, w: Any, array: Any, first: Any, stride: Any, i: Any, x: Any
) -> Any:
    """Four lanes turn into four rows: one vector store for each state."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        lanes = [builder.extract_value(args[5], j) for j in range(4)]
        indices = _row_indices(context, builder, sig, args, w.lanes)
        for row, index in zip(_transposed(builder, lanes), indices, strict=True):
            address = _pointer(context, builder, array, args[1], index)
            builder.store(row, builder.bitcast(address, row.type.as_pointer()), align=8)
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
    if w.lanes > 1:
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


@overload(plain.turn_square)
def _turn_square(w, array, at, to, pitch):
    if w.lanes == 1:

        def one(w, array, at, to, pitch):
            rows = (
                _vector_load(plain.WIDTH_4, _moved(array, at), 0),
                _vector_load(plain.WIDTH_4, _moved(array, at + pitch), 0),
                _vector_load(plain.WIDTH_4, _moved(array, at + 2 * pitch), 0),
                _vector_load(plain.WIDTH_4, _moved(array, at + 3 * pitch), 0),
            )
            _vector_store_four(plain.WIDTH_4, array, to, pitch, 0, rows)

        return one

    def many(w, array, at, to, pitch):
        for i in range(4):
            for j in range(4):
                x = _vector_load(w, array, at + i * pitch + j)
                _vector_store(w, array, to + j * pitch + i, x)

    return many


# ---- columns ----------------------------------------------------------------------------------


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


@overload(plain.splat_columns)
def _splat_columns(w, x):
    if w.lanes == 1:
        return lambda w, x: _broadcast(plain.WIDTH_4, x)
    return lambda w, x: _broadcast(w, x)


@overload(plain.store_columns)
def _store_columns(w, array, i, x):
    if w.lanes == 1:
        return lambda w, array, i, x: _vector_store(plain.WIDTH_4, _moved(array, i), 0, x)
    return lambda w, array, i, x: _vector_store(w, array, i, x)
