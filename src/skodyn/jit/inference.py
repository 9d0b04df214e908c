"""A helper from Python to typed instructions.

What does not depend on types, from bytecode to single assignments, is done once for a function,
not once for each signature.
"""

from __future__ import annotations

from contextlib import nullcontext
from types import ModuleType
from typing import Any, NamedTuple

from numba import types
from numba.core import bytecode, ir
from numba.core.compiler import StateDict
from numba.core.interpreter import (
    Interpreter,
    peep_hole_call_function_ex_to_call_function_kw,
    peep_hole_list_to_tuple,
)
from numba.core.ir_utils import build_definitions
from numba.core.rewrites import rewrite_registry
from numba.core.ssa import reconstruct_ssa
from numba.core.typed_passes import PreLowerStripPhis
from numba.core.typeinfer import StaticGetItemConstraint, TypeInferer
from numba.core.typing import signature

from skodyn.jit.records import Record

__all__ = ["Typed", "is_helper", "known_signature", "typed"]


class Untyped(NamedTuple):
    """A function as single assignments, before types are known."""

    body: Any
    varied: frozenset[str]  # variables that depend on the way that was taken


class Typed(NamedTuple):
    """A function for types of arguments."""

    body: Any
    varied: frozenset[str]
    types: Any  # of variables
    calls: Any  # signatures of what it calls
    result: Any


_OWNERS = (Record, ModuleType)
"""What kernels take places from by name."""

_UNTYPED: dict[Any, Untyped] = {}


def typed(function: Any, given: tuple[Any, ...], context: Any, target: Any) -> Typed:
    """Everything up to typed instructions."""
    if function not in _UNTYPED:
        _UNTYPED[function] = _untyped(function)
    untyped = _UNTYPED[function]
    body = untyped.body.copy()
    if len(given) != body.arg_count:
        raise TypeError(f"{function.__name__} takes {body.arg_count} arguments")
    inferer = HelperInferer(context, body, WarningsAsTheyCome())
    with context.callstack.register(target, inferer, body.func_id, given):
        for index, (name, typ) in enumerate(zip(body.arg_names, given, strict=True)):
            inferer.seed_argument(name, index, typ)
        inferer.build_constraint()
        inferer.propagate()
        found, result, calls = inferer.unify()
    body = PreLowerStripPhis()._strip_phi_nodes(body)
    return Typed(body, untyped.varied, found, calls, result)


def _untyped(function: Any) -> Untyped:
    """numba's passes, less the lifetimes of variables, which nothing here asks for."""
    state = StateDict()
    state.func_id = bytecode.FunctionIdentity.from_function(function)
    state.func_ir = Reader(state.func_id).interpret(bytecode.ByteCode(state.func_id))
    state.typemap = state.calltypes = None
    blocks = state.func_ir.blocks
    for kind in rewrite_registry.rewrites["before-inference"]:
        rewrite = kind(state)
        for key in blocks:
            while rewrite.match(state.func_ir, blocks[key], None, None):
                blocks[key] = rewrite.apply()
    body = reconstruct_ssa(state.func_ir)
    body._definitions = build_definitions(body.blocks)
    varied = {
        assign.target.name
        for block in body.blocks.values()
        for assign in block.find_insts(ir.Assign)
        if getattr(assign.value, "op", "") == "phi"
    }
    return Untyped(body, frozenset(varied))


class Reader(Interpreter):
    """numba's own, less what it looks for in code with `with`, `try` and dictionaries."""

    def post_process(self, peepholes: Any, func_ir: Any) -> Any:
        wanted = (peep_hole_list_to_tuple, peep_hole_call_function_ex_to_call_function_kw)
        read = super().post_process([step for step in peepholes if step in wanted], func_ir)
        for block in read.blocks.values():
            _name_places(block)
        return read


def _name_places(block: Any) -> None:
    """`BODY.ARM` of a record and `its.MEMBERS` of a module are the numbers they stand for."""
    owners: dict[str, Any] = {}
    for assign in list(block.find_insts(ir.Assign)):
        value = assign.value
        if isinstance(value, ir.Global | ir.FreeVar) and isinstance(value.value, _OWNERS):
            owners[assign.target.name] = value.value
            block.body.remove(assign)
        elif isinstance(value, ir.Expr) and value.op == "getattr" and value.value.name in owners:
            place = getattr(owners[value.value.name], value.attr)
            assign.value = ir.Global(value.attr, place, value.loc)


class WarningsAsTheyCome:
    """In place of numba's, which notes at each of its steps which line a warning would be about."""

    _nothing = nullcontext()

    def catch_warnings(self, **_where: Any) -> Any:
        return self._nothing


_FOUND: dict[Any, Any] = {}
"""Signatures of functions for types of arguments: a search through many templates each."""


def known_signature(function: Any, context: Any, given: Any) -> Any:
    key = function, tuple(given)
    if key not in _FOUND:
        _FOUND[key] = context.resolve_function_type(function, key[1], {})
    return _FOUND[key]


def is_helper(typ: Any) -> bool:
    """Is it the type of a helper, which is compiled here and not by numba's dispatcher?"""
    return type(typ) is types.Dispatcher and hasattr(typ.dispatcher, "compiled_for")


def _signature_of_helper(typ: Any, given: tuple[Any, ...]) -> Any:
    key = typ, given
    if key not in _FOUND:
        written, folded = typ.dispatcher._compiler.fold_argument_types(given, {})
        made = typ.dispatcher.compiled_for(folded)
        _FOUND[key] = signature(made.result, *folded).replace(pysig=written)
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
        if is_helper(fnty) and not kw_args:
            # one copy for all constants: inlined, LLVM knows them anyhow
            return _signature_of_helper(fnty, tuple(map(types.unliteral, pos_args)))
        if type(fnty) is types.Function and not kw_args:
            return known_signature(fnty, self.context, pos_args)
        return super().resolve_call(fnty, pos_args, kw_args)

    def typeof_expr(self, inst: Any, target: Any, expr: Any) -> None:
        if expr.op != "static_getitem":
            super().typeof_expr(inst, target, expr)
            return
        member = MemberConstraint(target.name, expr.value, expr.index, expr.index_var, expr.loc)
        self.constraints.append(member)
        self.calls.append((inst.value, member))
