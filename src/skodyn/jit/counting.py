"""Loops over ranges, as LLVM knows loops: a count that goes up or down until it is at the end.

numba works out how often a loop runs, by a division, and keeps what it counts in four places.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from skodyn.jit.calls import reserve

__all__ = ["COUNTED", "begin", "counted", "first_of", "range_of", "second_of"]

_COUNT = ir.IntType(64)
COUNTED = types.Pair(types.int64, types.boolean)
"""What a loop asks for: the next count, and whether there is one."""


def range_of(builder: Any, form: Any, limits: list[Any]) -> Any:
    """range(stop), range(start, stop) or range(start, stop, step)."""
    if len(limits) == 1:
        limits = [ir.Constant(_COUNT, 0), *limits]
    if len(limits) == 2:
        limits = [*limits, ir.Constant(_COUNT, 1)]
    if isinstance(limits[2], ir.Constant) and limits[2].constant == 0:
        raise ValueError("range() arg 3 must not be zero")
    return _together(builder, form, limits)


def begin(builder: Any, limits: Any) -> Any:
    """An iterator: where the count is kept, the end, the step."""
    start, stop, step = (builder.extract_value(limits, i) for i in range(3))
    place = reserve(builder, _COUNT)
    builder.store(start, place)
    form = ir.LiteralStructType([_COUNT.as_pointer(), _COUNT, _COUNT, _COUNT.as_pointer()])
    return _together(builder, form, [place, stop, step])


def counted(builder: Any, iterator: Any) -> Any:
    """The next count and whether it is in the range."""
    place, stop, step = (builder.extract_value(iterator, i) for i in range(3))
    count = builder.load(place)
    builder.store(builder.add(count, step, flags=["nsw"]), place)
    up, down = (builder.icmp_signed(sign, count, stop) for sign in "<>")
    if isinstance(step, ir.Constant):
        goes_on = up if step.constant > 0 else down
    else:  # a step of zero leads nowhere, and ends at once
        rises, falls = (builder.icmp_signed(sign, step, ir.Constant(_COUNT, 0)) for sign in "><")
        goes_on = builder.or_(builder.and_(rises, up), builder.and_(falls, down))
    return _together(builder, ir.LiteralStructType([_COUNT, ir.IntType(1)]), [count, goes_on])


def first_of(builder: Any, pair: Any) -> Any:
    return builder.extract_value(pair, 0)


def second_of(builder: Any, pair: Any) -> Any:
    return builder.extract_value(pair, 1)


def _together(builder: Any, form: Any, members: list[Any]) -> Any:
    made = ir.Constant(form, ir.Undefined)
    for i, member in enumerate(members):
        made = builder.insert_value(made, member, i)
    return made
