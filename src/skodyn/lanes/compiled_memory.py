"""What the functions of plain.py that read and write memory mean to numba."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.core.typing.templates import signature

from skodyn.jit.memory_kinds import CONSTANTS, NUMBERS, lies_in
from skodyn.lanes import columns, plain
from skodyn.lanes.compiled import in_place

__all__ = ["Memory", "check_source", "width_of"]

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


@in_place(plain.table_entry)
def _table_entry(typingctx: Any, table: Any, i: Any) -> Any:
    if table != types.CPointer(types.int64):
        raise TypingError(f"entries of tables are read through a pointer to integers, not {table}")

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        address = builder.gep(args[0], [_as_int(context, builder, args[1], i)])
        return lies_in(builder.load(address), CONSTANTS)

    return signature(types.int64, table, i), write


@in_place(plain.shift_pointer)
def _shift_pointer(typingctx: Any, source: Any, count: Any) -> Any:
    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.gep(args[0], [_as_int(context, builder, args[1], count)])

    return signature(source, source, count), write


def check_source(source: Any) -> None:
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


def width_of(work: Any) -> Any:
    """The type of the width tag in that of a Work."""
    if not isinstance(work, types.NamedTuple) or work.instance_class is not plain.Work:
        raise TypingError(f"functions of lanes take the work of a sweep first, not {work}")
    check_source(work.types[1])
    return work.types[0]


def _check_rows(rows: Any) -> None:
    if not isinstance(rows, types.NamedTuple) or rows.instance_class is not plain.Rows:
        raise TypingError(f"rows of a table are Rows(data, first, stride), not {rows}")
    check_source(rows.types[0])


class Memory:
    """The arguments of a call as the instructions that read and write them.

    source: which argument is the memory, a Work or Rows or a plain pointer; kind: what lies there.
    """

    def __init__(
        self, context: Any, builder: Any, sig: Any, args: Any, source: int = 0, kind: str = NUMBERS
    ) -> None:
        self.context, self.builder, self.kind = context, builder, kind
        self.types, self.args = sig.args, args
        self.lanes = width_of(sig.args[0]).lanes
        self.source, self.data = sig.args[source], args[source]
        if isinstance(self.source, types.NamedTuple):
            at = self.source.fields.index("lanes" if source == 0 else "data")
            self.source, self.data = (
                self.source.types[at],
                self.builder.extract_value(self.data, at),
            )

    def integer(self, n: int) -> Any:
        return _as_int(self.context, self.builder, self.args[n], self.types[n])

    def at(self, index: Any) -> Any:
        return _element(self.context, self.builder, self.source, self.data, index)

    def load_vector(self, index: Any, lanes: int) -> Any:
        """`lanes` numbers from element `index` on."""
        kind = ir.VectorType(ir.DoubleType(), lanes)
        address = self.builder.bitcast(self.at(index), kind.as_pointer())
        return lies_in(self.builder.load(address, align=8, typ=kind), self.kind)

    def store_vector(self, index: Any, value: Any) -> None:
        address = self.builder.bitcast(self.at(index), value.type.as_pointer())
        lies_in(self.builder.store(value, address, align=8), self.kind)

    def load(self, index: Any, lanes: int) -> Any:
        if lanes == 1:
            return lies_in(self.builder.load(self.at(index)), self.kind)
        return self.load_vector(index, lanes)

    def store(self, index: Any, value: Any) -> None:
        if isinstance(value.type, ir.VectorType):
            self.store_vector(index, value)
        else:
            lies_in(self.builder.store(value, self.at(index)), self.kind)

    def lane(self, n: int) -> Any:
        """Where lane n of the arguments begins."""
        return self.scaled(self.integer(n))

    def scaled(self, index: Any) -> Any:
        return self.builder.mul(index, ir.Constant(_INTEGER, self.lanes))

    def rows(self) -> list[Any]:
        """The indices of column i of (work, rows, i)."""
        first, stride = (
            _as_int(
                self.context,
                self.builder,
                self.builder.extract_value(self.args[1], n),
                self.types[1].types[n],
            )
            for n in (1, 2)
        )
        i = self.integer(2)
        indices = [self.builder.add(first, i)]
        for _ in range(self.lanes - 1):
            indices.append(self.builder.add(indices[-1], stride))
        return indices

    def cast(self, n: int, typ: Any) -> Any:
        return self.context.cast(self.builder, self.args[n], self.types[n], typ)

    def nothing(self) -> Any:
        return self.context.get_dummy_value()


# ---- lanes ------------------------------------------------------------------------------------


def _load(typingctx: Any, work: Any, i: Any) -> Any:
    w = width_of(work)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory = Memory(context, builder, sig, args)
        return memory.load(memory.lane(1), w.lanes)

    return signature(w.lane, work, i), write


def _store(typingctx: Any, work: Any, i: Any, x: Any) -> Any:
    w = width_of(work)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory = Memory(context, builder, sig, args)
        memory.store(memory.lane(1), memory.cast(2, w.lane))
        return memory.nothing()

    return signature(types.none, work, i, x), write


in_place(plain.load)(_load)
in_place(plain.store)(_store)


@in_place(plain.load_rows)
def _load_rows(typingctx: Any, work: Any, rows: Any, i: Any) -> Any:
    _check_rows(rows)
    w = width_of(work)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory = Memory(context, builder, sig, args, source=1)
        if w.lanes == 1:
            return memory.load(memory.rows()[0], 1)
        vector = ir.Constant(context.get_value_type(w.lane), ir.Undefined)
        for lane, index in enumerate(memory.rows()):
            value = memory.load(index, 1)
            vector = builder.insert_element(vector, value, ir.Constant(ir.IntType(32), lane))
        return vector

    return signature(w.lane, work, rows, i), write


@in_place(plain.expect_rows)
def _expect_rows(typingctx: Any, work: Any, rows: Any, i: Any) -> Any:
    """A prefetch, which never faults: behind the last rows of a table there may be nothing."""
    _check_rows(rows)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory = Memory(context, builder, sig, args, source=1)
        first, stride = (builder.extract_value(args[1], n) for n in (1, 2))
        ahead = builder.mul(stride, ir.Constant(_INTEGER, memory.lanes))
        index = builder.add(builder.add(first, ahead), memory.integer(2))
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        address = builder.bitcast(memory.at(index), byte)
        to_read, soon, data = (ir.Constant(word, n) for n in (0, 3, 1))
        builder.call(fetch, [address, to_read, soon, data])
        return memory.nothing()

    return signature(types.none, work, rows, i), write


@in_place(plain.store_rows)
def _store_rows(typingctx: Any, work: Any, rows: Any, i: Any, x: Any) -> Any:
    _check_rows(rows)
    w = width_of(work)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory = Memory(context, builder, sig, args, source=1)
        value = memory.cast(3, w.lane)
        if w.lanes == 1:
            memory.store(memory.rows()[0], value)
            return memory.nothing()
        for lane, index in enumerate(memory.rows()):
            memory.store(index, builder.extract_element(value, ir.Constant(ir.IntType(32), lane)))
        return memory.nothing()

    return signature(types.none, work, rows, i, x), write


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


@in_place(columns.store_four)
def _store_four(typingctx: Any, work: Any, rows: Any, i: Any, x: Any) -> Any:
    """Four lanes turn into four rows: one vector store for each state."""
    _check_rows(rows)
    w = width_of(work)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory = Memory(context, builder, sig, args, source=1)
        lanes = [builder.extract_value(args[3], j) for j in range(4)]
        if w.lanes == 1:
            for j, value in enumerate(lanes):
                memory.store(builder.add(memory.rows()[0], ir.Constant(_INTEGER, j)), value)
            return memory.nothing()
        for row, index in zip(_transposed(builder, lanes), memory.rows(), strict=True):
            memory.store_vector(index, row)
        return memory.nothing()

    return signature(types.none, work, rows, i, x), write


@in_place(plain.parameter)
def _parameter(typingctx: Any, work: Any, array: Any, i: Any) -> Any:
    check_source(array)
    w = width_of(work)
    own = w.lanes > 1 and w.own_parameters

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory = Memory(context, builder, sig, args, source=1)
        return memory.load(memory.lane(2), w.lanes) if own else memory.load(memory.integer(2), 1)

    return signature(w.lane if own else types.float64, work, array, i), write


@in_place(columns.turn_square)
def _turn_square(typingctx: Any, work: Any, at: Any, to: Any, pitch: Any) -> Any:
    w = width_of(work)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory = Memory(context, builder, sig, args)
        at, to, pitch = (memory.integer(n) for n in (1, 2, 3))

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

    return signature(types.none, work, at, to, pitch), write


# ---- widths -----------------------------------------------------------------------------------


def _constant(result: Any, value: Any, *args: Any) -> Any:
    """A number that is known when a kernel is compiled."""

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.get_constant(result, value)

    return signature(result, *args), write


@in_place(plain.single)
def _single(typingctx: Any, work: Any) -> Any:
    return _constant(types.boolean, width_of(work).lanes == 1, work)


@in_place(columns.columns_at_once)
def _columns_at_once(typingctx: Any, work: Any) -> Any:
    return _constant(types.int64, 4 if width_of(work).lanes == 1 else 1, work)


@in_place(plain.states)
def _states(typingctx: Any, work: Any) -> Any:
    return _constant(types.int64, width_of(work).lanes, work)
