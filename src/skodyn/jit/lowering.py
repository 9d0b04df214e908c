"""A helper from Python to LLVM's instructions, with as few of them as will do.

numba writes a call for code that may raise, count references and be called from Python: the result
comes back through memory, a status beside it, tuples travel member by member, every variable that
two blocks share lies in memory, and is emptied where it ends. LLVM takes all that away again, once
for each kernel. Helpers raise nothing and own nothing, so here a call has no status, tuples travel
whole to what is inlined, and a variable that is set once, before the function branches, is that
value. Where the width decides a branch, only the way that is taken is written. Results still come
back through memory: given as values, LLVM orders the sweeps of batches such that more of them do
not fit into registers, and forward dynamics was 4 to 6 % slower.

What does not depend on types, from bytecode to single assignments, is done once for a function,
not once for each signature.
"""

from __future__ import annotations

import operator as operators
from contextlib import nullcontext
from typing import Any

import llvmlite.ir
from numba import types
from numba.core import cgutils, ir, lowering
from numba.core.callconv import CPUCallConv
from numba.core.cpu import CPUContext
from numba.core.ir_utils import build_definitions
from numba.core.ssa import reconstruct_ssa
from numba.core.typed_passes import PreLowerStripPhis
from numba.core.typeinfer import StaticGetItemConstraint, TypeInferer
from numba.core.untyped_passes import GenericRewrites, TranslateByteCode

__all__ = ["HelperLower", "call_of", "prepare"]

# ---- before lowering --------------------------------------------------------------------------

_UNTYPED: dict[Any, Any] = {}
"""Functions as single assignments, before types are known."""


def prepare(state: Any) -> None:
    """Everything up to typed instructions."""
    function = state.func_id.func
    if function not in _UNTYPED:
        TranslateByteCode().run_pass(state)
        GenericRewrites().run_pass(state)
        _UNTYPED[function] = _singly_assigned(state.func_ir)
    state.func_ir = _UNTYPED[function].copy()
    state.nargs = state.func_ir.arg_count
    _infer_types(state)
    state.func_ir = PreLowerStripPhis()._strip_phi_nodes(state.func_ir)
    state.type_annotation = None


def _singly_assigned(function: Any) -> Any:
    """numba's own pass, less the lifetimes of variables, which nothing here asks for."""
    made = reconstruct_ssa(function)
    made._definitions = build_definitions(made.blocks)
    return made


def _infer_types(state: Any) -> None:
    context, function = state.typingctx, state.func_ir
    if len(state.args) != function.arg_count:
        raise TypeError(f"{state.func_id.func_name} takes {function.arg_count} arguments")
    inferer = HelperInferer(context, function, WarningsAsTheyCome())
    with context.callstack.register(state.targetctx.target, inferer, function.func_id, state.args):
        for index, (name, typ) in enumerate(zip(function.arg_names, state.args, strict=True)):
            inferer.seed_argument(name, index, typ)
        inferer.build_constraint()
        inferer.propagate()
        state.typemap, state.return_type, state.calltypes = inferer.unify()


class WarningsAsTheyCome:
    """In place of numba's, which notes at each of its steps which line a warning would be about."""

    _nothing = nullcontext()

    def catch_warnings(self, **_where: Any) -> Any:
        return self._nothing


_FOUND: dict[Any, Any] = {}
"""Signatures of functions for types of arguments: a search through many templates each."""


def _signature(function: Any, context: Any, given: Any) -> Any:
    key = function, tuple(given)
    if key not in _FOUND:
        _FOUND[key] = context.resolve_function_type(function, key[1], {})
    return _FOUND[key]


class MemberConstraint(StaticGetItemConstraint):
    """What a fixed member of a tuple is."""

    def __call__(self, typeinfer: Any) -> None:
        known = typeinfer.typevars[self.value.name].get()
        if type(self.index) is int and all(isinstance(typ, types.BaseTuple) for typ in known):
            for typ in known:
                key = "member", typ, self.index
                if key not in _FOUND:
                    _FOUND[key] = typeinfer.context.resolve_static_getitem(typ, self.index)
                typeinfer.add_type(self.target, _FOUND[key].return_type, loc=self.loc)
        else:
            super().__call__(typeinfer)


class HelperInferer(TypeInferer):
    """numba's own, which remembers what it found."""

    def resolve_call(self, fnty: Any, pos_args: Any, kw_args: Any) -> Any:
        if type(fnty) is types.Dispatcher and not kw_args:
            # one copy for all constants: inlined, LLVM knows them anyhow
            return _signature(fnty, self.context, map(types.unliteral, pos_args))
        if type(fnty) is types.Function and not kw_args:
            return _signature(fnty, self.context, pos_args)
        return super().resolve_call(fnty, pos_args, kw_args)

    def typeof_expr(self, inst: Any, target: Any, expr: Any) -> None:
        if expr.op != "static_getitem":
            super().typeof_expr(inst, target, expr)
            return
        member = MemberConstraint(target.name, expr.value, expr.index, expr.index_var, expr.loc)
        self.constraints.append(member)
        self.calls.append((inst.value, member))


# ---- calls ------------------------------------------------------------------------------------


class HelperConvention(CPUCallConv):
    """How a helper returns. How it calls others, and how these return, is numba's own."""

    def return_value(self, builder: Any, retval: Any) -> Any:
        if not _is_helper(builder.function):
            return super().return_value(builder, retval)
        builder.store(retval, builder.function.args[0])
        return builder.ret_void()

    def _return_errcode_raw(self, builder: Any, code: Any) -> Any:
        if not _is_helper(builder.function):
            return super()._return_errcode_raw(builder, code)
        return builder.ret_void()

    def return_user_exc(self, builder: Any, *args: Any, **kwargs: Any) -> Any:
        if not _is_helper(builder.function):
            return super().return_user_exc(builder, *args, **kwargs)
        return self._return_errcode_raw(builder, None)

    def return_dynamic_user_exc(self, builder: Any, *args: Any, **kwargs: Any) -> Any:
        if not _is_helper(builder.function):
            return super().return_dynamic_user_exc(builder, *args, **kwargs)
        return self._return_errcode_raw(builder, None)

    def return_status_propagate(self, builder: Any, status: Any) -> Any:
        if not _is_helper(builder.function):
            return super().return_status_propagate(builder, status)
        return self._return_errcode_raw(builder, None)


class HelperContext(CPUContext):
    """numba's context while a helper is lowered."""

    @property
    def call_conv(self) -> Any:
        return HelperConvention(self)


def _is_helper(function: Any) -> bool:
    return isinstance(function.ftype.return_type, llvmlite.ir.VoidType)


def _declared(context: Any, module: Any, descriptor: Any) -> Any:
    """The function as LLVM knows it; what is inlined takes tuples whole."""
    found = module.globals.get(descriptor.mangled_name)
    if found is not None:
        return found
    result = context.call_conv.get_return_type(descriptor.restype)
    given = (
        [context.get_value_type(typ) for typ in _given(descriptor)]
        if descriptor.inline
        else context.call_conv._get_arg_packer(descriptor.argtypes).argument_types
    )
    form = llvmlite.ir.FunctionType(llvmlite.ir.VoidType(), [result, *given])
    function = llvmlite.ir.Function(module, form, descriptor.mangled_name)
    function.args[0].add_attribute("noalias")
    if descriptor.inline:
        function.attributes.add("alwaysinline")
    return function


def _given(descriptor: Any) -> list[Any]:
    return [typ for typ in descriptor.argtypes if not isinstance(typ, types.Omitted)]


def call_of(descriptor: Any, library: Any) -> Any:
    """How a call of a helper is written."""

    def call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        function = _declared(context, builder.module, descriptor)
        if descriptor.inline:
            pairs = zip(descriptor.argtypes, args, strict=True)
            values = [value for typ, value in pairs if not isinstance(typ, types.Omitted)]
        else:
            packer = context.call_conv._get_arg_packer(descriptor.argtypes)
            values = packer.as_arguments(builder, args)
        result = cgutils.alloca_once(builder, function.args[0].type.pointee)
        builder.call(function, [result, *values])
        data = context.data_model_manager[descriptor.restype]
        return data.from_return(builder, builder.load(result))

    call.signature = descriptor.argtypes  # type: ignore[attr-defined]
    call.libs = (library,)  # type: ignore[attr-defined]
    return call


# ---- bodies -----------------------------------------------------------------------------------

_NAMES_OF_CODE = (types.Dispatcher, types.Function)
_COMPARISONS = (
    operators.lt, operators.le, operators.eq, operators.ne, operators.ge, operators.gt,
)  # fmt: skip


class HelperLower(lowering.Lower):
    """numba's own, less what helpers do not need."""

    def init(self) -> None:
        super().init()
        self.context.__class__ = HelperContext  # a copy, made for this function
        self._singly_assigned_vars |= self._set_in_front()

    def _set_in_front(self) -> set[str]:
        """Variables that are set once, in the first block: known in all others."""
        times: dict[str, int] = {}
        for block in self.func_ir.blocks.values():
            for set_ in block.find_insts(ir.Assign):
                times[set_.target.name] = times.get(set_.target.name, 0) + 1
        first = self.func_ir.blocks[self.firstblk]
        names = {set_.target.name for set_ in first.find_insts(ir.Assign)}
        return {name for name in names if times[name] == 1}

    def emit_environment_object(self) -> None:
        """Only what raises looks into it."""

    def setup_function(self, fndesc: Any) -> None:
        self.function = _declared(self.context, self.module, fndesc)
        self.function.linkage = "linkonce_odr"
        self.entry_block = self.function.append_basic_block("entry")
        self.builder = llvmlite.ir.IRBuilder(self.entry_block)
        self.call_helper = None

    def extract_function_arguments(self) -> Any:
        if self.fndesc.inline:
            values = iter(self.function.args[1:])
            self.fnargs = [
                None if isinstance(typ, types.Omitted) else next(values)
                for typ in self.fndesc.argtypes
            ]
        else:
            packer = self.call_conv._get_arg_packer(self.fndesc.argtypes)
            self.fnargs = packer.from_arguments(self.builder, self.function.args[1:])
        return self.fnargs

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

    def lower_inst(self, inst: Any) -> Any:
        if isinstance(inst, ir.Jump):
            self._reached.add(inst.target)
        elif isinstance(inst, ir.Branch):
            return self._lower_branch(inst)
        return super().lower_inst(inst)

    def _lower_branch(self, inst: Any) -> None:
        """Both ways, or one if it is known which: `single(work)` is, once the width is."""
        condition = self.loadvar(inst.cond.name)
        known = self.context.cast(
            self.builder, condition, self.typeof(inst.cond.name), types.boolean
        )
        if isinstance(known, llvmlite.ir.Constant):
            way = inst.truebr if known.constant else inst.falsebr
            self._reached.add(way)
            self.builder.branch(self.blkmap[way])
        else:
            self._reached |= {inst.truebr, inst.falsebr}
            self.builder.cbranch(known, self.blkmap[inst.truebr], self.blkmap[inst.falsebr])

    def lower_block(self, block: Any) -> None:
        self.pre_block(block)
        for instruction in block.body:
            self.loc = instruction.loc
            self.lower_inst(instruction)

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        if isinstance(ty, _NAMES_OF_CODE):
            return self.context.get_dummy_value()  # its type says which it is
        return super().lower_assign(ty, inst)

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        known = expr.static_lhs, expr.static_rhs
        if any(value is not ir.UNDEFINED for value in known):
            return super().lower_binop(resty, expr, op)
        asked = self.fndesc.calltypes[expr]
        typing = self.context.typing_context
        operator = typing.resolve_value_type(op)
        values = [
            self.context.cast(self.builder, self.loadvar(side.name), self.typeof(side.name), typ)
            for side, typ in zip((expr.lhs, expr.rhs), asked.args, strict=True)
        ]
        if op in _COMPARISONS and all(isinstance(v, llvmlite.ir.Constant) for v in values):
            answer = op(*(value.constant for value in values))
            return llvmlite.ir.Constant(llvmlite.ir.IntType(1), int(answer))
        write = self.context.get_function(operator, _signature(operator, typing, asked.args))
        result = write(self.builder, values)
        return self.context.cast(self.builder, result, asked.return_type, resty)

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """Without the size that numba asks LLVM for, which a debugger would be told."""
        return cgutils.alloca_once(self.builder, lltype, name=name)

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self._alloca_var(name, self.typeof(name))
            self.builder.store(value, self.varmap[name])
