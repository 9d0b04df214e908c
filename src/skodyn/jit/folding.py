"""Writes LLVM's instructions, less those whose result is known, or that nobody asks for.

Tuples are put together and taken apart all the time. LLVM would find out what comes out again, once
for each kernel; here it is seen when it is written.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from llvmlite.ir import Constant, IRBuilder, Undefined
from llvmlite.ir import instructions as written

__all__ = ["FoldingBuilder", "drop_unused"]


class FoldingBuilder(IRBuilder):
    """llvmlite's own, which looks through tuples."""

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        index = [idx] if isinstance(idx, int) else list(idx)
        while isinstance(agg, written.InsertValue):
            if agg.indices == index:
                return agg.value
            if agg.indices[0] == index[0]:
                break  # a part of what is asked for, or more than it
            agg = agg.aggregate
        if isinstance(agg, Constant) and agg.constant is Undefined and len(index) == 1:
            return Constant(agg.type.elements[index[0]], Undefined)
        return super().extract_value(agg, index, name)


_WITHOUT_EFFECT = (
    written.InsertValue,
    written.ExtractValue,
    written.LoadInstr,
    written.GEPInstr,
    written.CastInstr,
    written.ICMPInstr,
)


def drop_unused(function: Any) -> None:
    """Take out what nobody asks for, last first, so that what only it asked for goes too."""
    asked = Counter(
        id(value)
        for block in function.blocks
        for instruction in block.instructions
        for value in _asks_for(instruction)
    )
    for block in reversed(function.blocks):
        kept = []
        for instruction in reversed(block.instructions):
            if isinstance(instruction, _WITHOUT_EFFECT) and not asked[id(instruction)]:
                asked.subtract(map(id, instruction.operands))
            else:
                kept.append(instruction)
        block.instructions[:] = reversed(kept)


def _asks_for(instruction: Any) -> Any:
    if isinstance(instruction, written.PhiInstr):
        return [value for value, _ in instruction.incomings]
    return instruction.operands
