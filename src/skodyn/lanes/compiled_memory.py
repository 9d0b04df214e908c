"""What the functions of plain.py that read and write memory mean to numba."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.core.typing.templates import signature

from skodyn.lanes import plain
from skodyn.lanes.compiled import LaneType, in_place

_INTEGER = ir.IntType(64)

# ---- arrays and pointers ----------------------------------------------------------------------


@in_place(plain.pointer)
def _pointer(typingctx: Any, array: Any) -> Any:
    if not isinstance(array, types.Array) or array.layout != "C":
        raise TypingError(f"a kernel takes contiguous arrays, not {array}")

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.make_array(array)(context, builder, args[0]).data

    return signature(types.CPointer(array.dtype), array), write


@in_place(plain.integers)
def _integers(typingctx: Any, source: Any) -> Any:
    result = types.CPointer(types.int64)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.bitcast(args[0], context.get_value_type(result))

    return signature(result, source), write


@in_place(plain.shift_pointer)
def _shift_pointer(typingctx: Any, source: Any, count: Any) -> Any:
    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.gep(args[0], [_as_int(context, builder, args[1], count)])

    return signature(source, source, count), write


def _check_source(source: Any) -> None:
    """Lanes are read from pointers, or from arrays that are as flat as those."""
    if isinstance(source, types.CPointer):
        return
    flat = isinstance(source, types.Array) and source.layout == "C" and source.ndim == 1
    if not flat or source.dtype != types.float64:
        raise TypingError(f"lanes live in flat contiguous float64 arrays, not in {source}")


def _element(context: Any, builder: Any, source: Any, value: Any, index: Any) -> Any:
    """Address of element `index`, with no bounds or negative-index check in the way."""
    if isinstance(source, types.CPointer):
        return builder.gep(value, [index])
    return builder.gep(context.make_array(source)(context, builder, value).data, [index])


def _as_int(context: Any, builder: Any, value: Any, typ: Any) -> Any:
    return context.cast(builder, value, typ, types.int64)


class _Memory:
    """The arguments (w, array, …) of a call as the instructions that read and write them."""

    def __init__(self, context: Any, builder: Any, sig: Any, args: Any) -> None:
        self.context, self.builder = context, builder
        self.types, self.args = sig.args, args
        self.lanes = sig.args[0].lanes

    def integer(self, n: int) -> Any:
        return _as_int(self.context, self.builder, self.args[n], self.types[n])

    def at(self, index: Any) -> Any:
        return _element(self.context, self.builder, self.types[1], self.args[1], index)

    def load_vector(self, index: Any, lanes: int) -> Any:
        """`lanes` numbers from element `index` on."""
        kind = ir.VectorType(ir.DoubleType(), lanes)
        address = self.builder.bitcast(self.at(index), kind.as_pointer())
        return self.builder.load(address, align=8, typ=kind)

    def store_vector(self, index: Any, value: Any) -> None:
        address = self.builder.bitcast(self.at(index), value.type.as_pointer())
        self.builder.store(value, address, align=8)

    def load(self, index: Any, lanes: int) -> Any:
        if lanes == 1:
            return self.builder.load(self.at(index))
        return self.load_vector(index, lanes)

    def store(self, index: Any, value: Any) -> None:
        if isinstance(value.type, ir.VectorType):
            self.store_vector(index, value)
        else:
            self.builder.store(value, self.at(index))

    def lane(self, n: int) -> Any:
        """Where lane n of the arguments begins."""
        return self.scaled(self.integer(n))

    def scaled(self, index: Any) -> Any:
        return self.builder.mul(index, ir.Constant(_INTEGER, self.lanes))

    def rows(self) -> list[Any]:
        """The indices of column i of rows `first`, … of (w, array, first, stride, i)."""
        first, stride, i = (self.integer(n) for n in (2, 3, 4))
        indices = [self.builder.add(first, i)]
        for _ in range(self.lanes - 1):
            indices.append(self.builder.add(indices[-1], stride))
        return indices

    def cast(self, n: int, typ: Any) -> Any:
        return self.context.cast(self.builder, self.args[n], self.types[n], typ)

    def nothing(self) -> Any:
        return self.context.get_dummy_value()


# ---- lanes ------------------------------------------------------------------------------------


def _load(typingctx: Any, w: Any, array: Any, i: Any) -> Any:
    _check_source(array)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory = _Memory(context, builder, sig, args)
        return memory.load(memory.lane(2), w.lanes)

    return signature(w.lane, w, array, i), write


def _store(typingctx: Any, w: Any, array: Any, i: Any, x: Any) -> Any:
    _check_source(array)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory = _Memory(context, builder, sig, args)
        memory.store(memory.lane(2), memory.cast(3, w.lane))
        return memory.nothing()

    return signature(types.none, w, array, i, x), write


in_place(plain.load)(_load)
in_place(plain.store)(_store)


@in_place(plain.load_rows)
def _load_rows(typingctx: Any, w: Any, array: Any, first: Any, stride: Any, i: Any) -> Any:
    _check_source(array)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory = _Memory(context, builder, sig, args)
        if w.lanes == 1:
            return memory.load(memory.rows()[0], 1)
        vector = ir.Constant(context.get_value_type(w.lane), ir.Undefined)
        for lane, index in enumerate(memory.rows()):
            value = memory.load(index, 1)
            vector = builder.insert_element(vector, value, ir.Constant(ir.IntType(32), lane))
        return vector

    return signature(w.lane, w, array, first, stride, i), write


@in_place(plain.store_rows)
def _store_rows(typingctx: Any, w: Any, array: Any, first: Any, stride: Any, i: Any, x: Any) -> Any:
    _check_source(array)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory = _Memory(context, builder, sig, args)
        value = memory.cast(5, w.lane)
        if w.lanes == 1:
            memory.store(memory.rows()[0], value)
            return memory.nothing()
        for lane, index in enumerate(memory.rows()):
            memory.store(index, builder.extract_element(value, ir.Constant(ir.IntType(32), lane)))
        return memory.nothing()

    return signature(types.none, w, array, first, stride, i, x), write


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


@in_place(plain.store_four)
def _store_four(typingctx: Any, w: Any, array: Any, first: Any, stride: Any, i: Any, x: Any) -> Any:
    """Four lanes turn into four rows: one vector store for each state."""
    _check_source(array)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory = _Memory(context, builder, sig, args)
        lanes = [builder.extract_value(args[5], j) for j in range(4)]
        if w.lanes == 1:
            for j, value in enumerate(lanes):
                memory.store(builder.add(memory.rows()[0], ir.Constant(_INTEGER, j)), value)
            return memory.nothing()
        for row, index in zip(_transposed(builder, lanes), memory.rows(), strict=True):
            memory.store_vector(index, row)
        return memory.nothing()

    return signature(types.none, w, array, first, stride, i, x), write


@in_place(plain.parameter)
def _parameter(typingctx: Any, w: Any, array: Any, i: Any) -> Any:
    _check_source(array)
    own = w.lanes > 1 and w.own_parameters

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory = _Memory(context, builder, sig, args)
        return memory.load(memory.lane(2), w.lanes) if own else memory.load(memory.integer(2), 1)

    return signature(w.lane if own else types.float64, w, array, i), write


@in_place(plain.turn_square)
def _turn_square(typingctx: Any, w: Any, array: Any, at: Any, to: Any, pitch: Any) -> Any:
    _check_source(array)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory = _Memory(context, builder, sig, args)
        at, to, pitch = (memory.integer(n) for n in (2, 3, 4))

        def places(start: Any) -> list[Any]:
            return [
                builder.add(start, builder.mul(pitch, ir.Constant(_INTEGER, n))) for n in range(4)
            ]

        if w.lanes == 1:
            lanes = [memory.load_vector(place, 4) for place in places(at)]
            for place, row in zip(places(to), _transposed(builder, lanes), strict=True):
                memory.store_vector(place, row)
            return memory.nothing()
        for i, start in enumerate(places(at)):
            for j, end in enumerate(places(to)):
                source = builder.add(start, ir.Constant(_INTEGER, j))
                target = builder.add(end, ir.Constant(_INTEGER, i))
                memory.store(memory.scaled(target), memory.load(memory.scaled(source), w.lanes))
        return memory.nothing()

    return signature(types.none, w, array, at, to, pitch), write


# ---- columns ----------------------------------------------------------------------------------


def _columns_type(w: Any) -> Any:
    return LaneType(4) if w.lanes == 1 else w.lane


@in_place(plain.load_columns)
def _load_columns(typingctx: Any, w: Any, array: Any, i: Any) -> Any:
    _check_source(array)
    result = _columns_type(w)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory = _Memory(context, builder, sig, args)
        return memory.load_vector(memory.lane(2), result.width)

    return signature(result, w, array, i), write


@in_place(plain.store_columns)
def _store_columns(typingctx: Any, w: Any, array: Any, i: Any, x: Any) -> Any:
    _check_source(array)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory = _Memory(context, builder, sig, args)
        memory.store_vector(memory.lane(2), memory.cast(3, _columns_type(w)))
        return memory.nothing()

    return signature(types.none, w, array, i, x), write


def _broadcast(result: Any, w: Any, x: Any) -> Any:
    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.cast(builder, args[1], x, result)

    return signature(result, w, x), write


@in_place(plain.splat)
def _splat(typingctx: Any, w: Any, x: Any) -> Any:
    return _broadcast(w.lane, w, x)


@in_place(plain.splat_columns)
def _splat_columns(typingctx: Any, w: Any, x: Any) -> Any:
    return _broadcast(_columns_type(w), w, x)


# ---- widths -----------------------------------------------------------------------------------


def _constant(result: Any, value: Any, *args: Any) -> Any:
    """A number that is known when a kernel is compiled."""

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.get_constant(result, value)

    return signature(result, *args), write


@in_place(plain.single)
def _single(typingctx: Any, w: Any) -> Any:
    return _constant(types.boolean, w.lanes == 1, w)


@in_place(plain.columns_at_once)
def _columns_at_once(typingctx: Any, w: Any) -> Any:
    return _constant(types.int64, 4 if w.lanes == 1 else 1, w)
