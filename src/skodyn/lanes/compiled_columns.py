"""What the functions of columns.py, and columns side by side, mean to numba."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core.typing.templates import signature

from skodyn.jit.memory_kinds import CONSTANTS
from skodyn.lanes import columns, plain
from skodyn.lanes.compiled import LaneType, in_place
from skodyn.lanes.compiled_memory import Memory, check_source, width_of


def _columns_type(w: Any) -> Any:
    return LaneType(4) if w.lanes == 1 else w.lane


@in_place(columns.load_columns)
def _load_columns(typingctx: Any, work: Any, i: Any) -> Any:
    w = width_of(work)
    result = _columns_type(w)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory = Memory(context, builder, sig, args)
        return memory.load_vector(memory.lane(1), result.width)

    return signature(result, work, i), write


@in_place(columns.parameter_columns)
def _parameter_columns(typingctx: Any, work: Any, array: Any, i: Any) -> Any:
    check_source(array)
    w = width_of(work)
    result = _columns_type(w)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory = Memory(context, builder, sig, args, source=1, kind=CONSTANTS)
        if w.lanes == 1:
            return memory.load_vector(memory.integer(2), result.width)
        if w.own_parameters:
            return memory.load(memory.lane(2), w.lanes)
        return context.cast(builder, memory.load(memory.integer(2), 1), types.float64, result)

    return signature(result, work, array, i), write


@in_place(columns.store_columns)
def _store_columns(typingctx: Any, work: Any, i: Any, x: Any) -> Any:
    w = width_of(work)

    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        memory = Memory(context, builder, sig, args)
        memory.store_vector(memory.lane(1), memory.cast(2, _columns_type(w)))
        return memory.nothing()

    return signature(types.none, work, i, x), write


def _broadcast(result: Any, work: Any, x: Any) -> Any:
    def write(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.cast(builder, args[1], x, result)

    return signature(result, work, x), write


@in_place(plain.splat)
def _splat(typingctx: Any, work: Any, x: Any) -> Any:
    return _broadcast(width_of(work).lane, work, x)


@in_place(columns.splat_columns)
def _splat_columns(typingctx: Any, work: Any, x: Any) -> Any:
    return _broadcast(_columns_type(width_of(work)), work, x)
