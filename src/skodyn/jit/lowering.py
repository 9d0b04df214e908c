"""A helper from typed instructions to LLVM's, with as few of them as will do.

numba writes a call for code that may raise, count references and be called from Python: a status
comes back beside the result, tuples travel member by member, every variable that two blocks share
lies in memory, and is emptied where it begins and ends. LLVM takes all that away again, once for
each kernel. Helpers raise nothing and own nothing, so here a call has no status, tuples travel
whole to what is inlined, and a variable that is set in one place is that value. Where the width
decides a branch, only the way that is taken is written.
"""

from __future__ import annotations

import operator as operators
from typing import Any

import llvmlite.ir
from numba import types
from numba.core import ir, lowering

from skodyn.jit.calls import HelperContext, declared, has_result, reserve
from skodyn.jit.counting import COUNTED, begin, counted, first_of, range_of, second_of
from skodyn.jit.folding import FoldingBuilder, drop_unused
from skodyn.jit.inference import is_helper, known_signature

__all__ = ["HelperLower"]

_NAMES_OF_CODE = (types.Dispatcher, types.Function)

_SIGNS = {
    operators.lt: "<",
    operators.le: "<=",
    operators.eq: "==",
    operators.ne: "!=",
    operators.ge: ">=",
    operators.gt: ">",
}
_OF_NUMBERS = {
    operators.add: "fadd",
    operators.sub: "fsub",
    operators.mul: "fmul",
    operators.truediv: "fdiv",
}
_OF_LOOPS = {
    "getiter": begin,
    "iternext": counted,
    "pair_first": first_of,
    "pair_second": second_of,
}
_OF_COUNTS = {operators.add: "add", operators.sub: "sub", operators.mul: "mul"}


class HelperLower(lowering.Lower):
    """numba's own, less what helpers do not need."""

    def __init__(
        self, context: Any, library: Any, descriptor: Any, body: Any, varied: frozenset[str]
    ) -> None:
        self.varied = varied
        super().__init__(context, library, descriptor, body, metadata={})

    def init(self) -> None:
        super().init()
        self.context.__class__ = HelperContext  # a copy, made for this function

    def _find_singly_assigned_variable(self) -> None:
        """Variables that are set in one place: they are that value wherever they are looked at."""
        times: dict[str, int] = {}
        for block in self.func_ir.blocks.values():
            for assign in block.find_insts(ir.Assign):
                times[assign.target.name] = times.get(assign.target.name, 0) + 1
        self._singly_assigned_vars = {
            name for name, count in times.items() if count == 1 and name not in self.varied
        }
        self._blk_local_varmap: dict[str, Any] = {}

    def emit_environment_object(self) -> None:
        """Only what raises looks into it."""

    def setup_function(self, fndesc: Any) -> None:
        self.function = declared(self.context, self.module, fndesc)
        self.function.linkage = "linkonce_odr"
        self.entry_block = self.function.append_basic_block("entry")
        self.builder = FoldingBuilder(self.entry_block)
        self.call_helper = None

    def extract_function_arguments(self) -> Any:
        given = self.function.args[has_result(self.fndesc) :]
        if self.fndesc.inline:
            values = iter(given)
            self.fnargs = [
                None if isinstance(typ, types.Omitted) else next(values)
                for typ in self.fndesc.argtypes
            ]
        else:
            packer = self.call_conv._get_arg_packer(self.fndesc.argtypes)
            self.fnargs = packer.from_arguments(self.builder, given)
        return self.fnargs

    def lower_normal_function(self, fndesc: Any) -> None:
        super().lower_normal_function(fndesc)
        drop_unused(self.function)

    def pre_block(self, block: Any) -> None:
        self._cur_ir_block = block

    # ---- blocks that can be reached

    def lower_function_body(self) -> Any:
        for offset in self.blocks:
            self.blkmap[offset] = self.function.append_basic_block(f"B{offset}")
        self.pre_lower()
        before = self.builder.basic_block
        self._lower_reached()
        self.post_lower()
        return before

    def _lower_reached(self) -> None:
        """Lower what the first block leads to; what only another width reaches is left empty."""
        self._reached, done = {self.firstblk}, set[int]()
        while waiting := sorted(self._reached - done):
            for offset in waiting:
                done.add(offset)
                self.builder.position_at_end(self.blkmap[offset])
                self.lower_block(self.blocks[offset])
        for offset in self.blocks.keys() - done:
            self.builder.position_at_end(self.blkmap[offset])
            self.builder.unreachable()

    def lower_block(self, block: Any) -> None:
        self.pre_block(block)
        for instruction in block.body:
            self.loc = instruction.loc
            self.lower_inst(instruction)

    # ---- one instruction after the other

    def lower_inst(self, inst: Any) -> Any:
        if isinstance(inst, ir.Assign):
            value = self.lower_assign(self.typeof(inst.target.name), inst)
            self.storevar(value, inst.target.name)
        elif isinstance(inst, ir.Jump):
            self._reached.add(inst.target)
            self.builder.branch(self.blkmap[inst.target])
        elif isinstance(inst, ir.Branch):
            self._lower_branch(inst)
        elif isinstance(inst, ir.Return):
            if has_result(self.fndesc):
                self.builder.store(self.loadvar(inst.value.name), self.function.args[0])
            self.builder.ret_void()
        else:
            super().lower_inst(inst)

    def _lower_branch(self, inst: Any) -> None:
        """Both ways, or one if it is known which: `single(work)` is, once the width is."""
        known = self._given(inst.cond, types.boolean)
        if isinstance(known, llvmlite.ir.Constant):
            way = inst.truebr if known.constant else inst.falsebr
            self._reached.add(way)
            self.builder.branch(self.blkmap[way])
        else:
            self._reached |= {inst.truebr, inst.falsebr}
            self.builder.cbranch(known, self.blkmap[inst.truebr], self.blkmap[inst.falsebr])

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        if isinstance(ty, _NAMES_OF_CODE):
            return self.context.get_dummy_value()  # its type says which it is
        return super().lower_assign(ty, inst)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        if expr.op in _OF_LOOPS and self._counts(expr):
            value = self.loadvar(expr.value.name)
            return _OF_LOOPS[expr.op](self.builder, value)
        if expr.op == "static_getitem" and type(expr.index) is int:
            typ = self.typeof(expr.value.name)
            if isinstance(typ, types.BaseTuple) and typ[expr.index] == resty:
                index = expr.index % len(typ)
                return self.builder.extract_value(self.loadvar(expr.value.name), index)
        elif expr.op == "getattr":
            typ = self.typeof(expr.value.name)
            if isinstance(typ, types.BaseNamedTuple):
                index = typ.fields.index(expr.attr)
                if typ[index] == resty:
                    return self.builder.extract_value(self.loadvar(expr.value.name), index)
        return super().lower_expr(resty, expr)

    def _counts(self, expr: Any) -> bool:
        """Is it about a range of counts?"""
        return self.typeof(expr.value.name) in (
            types.range_state64_type,
            types.range_iter64_type,
            COUNTED,
        )

    def lower_call(self, resty: Any, expr: Any) -> Any:
        typ = self.typeof(expr.func.name)
        if resty == types.range_state64_type and typ.typing_key is range:
            limits = [self._given(variable, types.int64) for variable in expr.args]
            return range_of(self.builder, self.context.get_value_type(resty), limits)
        if not is_helper(typ) or expr.kws or expr.vararg:
            return super().lower_call(resty, expr)
        asked = self.fndesc.calltypes[expr]
        made = typ.dispatcher.compiled_for(asked.args)
        pairs = zip(expr.args, asked.args, strict=False)
        values = [self._given(variable, wanted) for variable, wanted in pairs]
        left_out = [None] * (len(asked.args) - len(values))  # defaults, which the helper knows
        result = made.call(self.context, self.builder, asked, values + left_out)
        self.context.add_linking_libs([made.library])
        return self.context.cast(self.builder, result, asked.return_type, resty)

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        known = expr.static_lhs, expr.static_rhs
        if any(value is not ir.UNDEFINED for value in known):
            return super().lower_binop(resty, expr, op)
        asked = self.fndesc.calltypes[expr]
        pairs = zip((expr.lhs, expr.rhs), asked.args, strict=True)
        values = [self._given(variable, wanted) for variable, wanted in pairs]
        result = self._written(op, asked, values)
        return self.context.cast(self.builder, result, asked.return_type, resty)

    def _written(self, op: Any, asked: Any, values: list[Any]) -> Any:
        """An operation of two values; numba's own divides only where the divisor is not zero."""
        if op in _SIGNS and all(isinstance(value, llvmlite.ir.Constant) for value in values):
            answer = op(*(value.constant for value in values))
            return llvmlite.ir.Constant(llvmlite.ir.IntType(1), int(answer))
        if asked.args == (types.float64, types.float64) and op in _OF_NUMBERS:
            return getattr(self.builder, _OF_NUMBERS[op])(*values)
        if asked.args == (types.int64, types.int64):
            if op in _OF_COUNTS:
                return getattr(self.builder, _OF_COUNTS[op])(*values, flags=["nsw"])
            if op in _SIGNS:
                return self.builder.icmp_signed(_SIGNS[op], *values)
        typing = self.context.typing_context
        operator = typing.resolve_value_type(op)
        write = self.context.get_function(operator, known_signature(operator, typing, asked.args))
        return write(self.builder, values)

    # ---- variables

    def _given(self, variable: Any, wanted: Any) -> Any:
        """A variable's value as a type."""
        name = variable.name
        return self.context.cast(self.builder, self.loadvar(name), self.typeof(name), wanted)

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        return reserve(self.builder, lltype, name)

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self._alloca_var(name, self.typeof(name))
            self.builder.store(value, self.varmap[name])
