"""How numba compiles our functions: helpers are kept as instructions, kernels are optimised once.

numba on its own optimises every function it meets and turns it into machine code, with all that it
calls inlined; a tower of five functions is then compiled five times. Here a helper is typed and
lowered once for each signature and kept as LLVM's intermediate form, as it is. A kernel links in
each helper that it reaches, and only the whole is optimised and emitted. On the way the upkeep that
numba writes around a call is left out, which our functions never need: they raise nothing, so no
status is looked at behind a call, and they own no memory, so no references are counted.

This leans on numba's inside (versions in `TRIED`): `available` says whether what is needed is
there, and without it `skodyn.jit` has numba compile the ordinary way, to the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import llvmlite.binding as llvm
from numba.core import cgutils
from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary
from numba.core.compiler import CompilerBase, _LowerResult
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.funcdesc import PythonFunctionDescriptor
from numba.core.typed_passes import (
    AnnotateTypes,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import (
    FixupArgs,
    GenericRewrites,
    IRProcessing,
    ReconstructSSA,
    TranslateByteCode,
)

from skodyn.jit.lowering import HelperLower, call_of, prepare
from skodyn.jit.routines import routine_symbol

__all__ = ["HelperCompiler", "KernelCompiler", "module_of", "optimise", "passes", "reached"]


SHARED: set[Any] = set()
"""Functions that are compiled apart from their callers where an object is built."""


# ---- libraries --------------------------------------------------------------------------------


class HelperLibrary(CPUCodeLibrary):
    """One helper as it was lowered, and the libraries of what it calls."""

    symbol: str | None = None  # of a routine that may be compiled apart from its callers
    _whole: Any = None

    def add_ir_module(self, ir_module: Any) -> None:
        text = cgutils.normalize_ir_text(str(ir_module))
        self._final_module = llvm.parse_assembly(text)
        self._final_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        self._finalized = True

    def own_module(self) -> Any:
        return self._final_module

    def _get_module_for_linking(self) -> Any:
        """For a caller outside this package, whose compiler links what it is given and no more."""
        if self._whole is None:
            self._whole = self._final_module.clone()
            for library in reached(self._linking_libraries):
                self._whole.link_in(module_of(library), preserve=True)
        return self._whole

    def _finalize_specific(self) -> None:
        pass


def reached(libraries: list[Any], apart: dict[str, Any] | None = None) -> Iterator[Any]:
    """These libraries and all that they call, each once.

    apart: takes the routines on the way, which then are neither followed nor linked.
    """
    seen: set[int] = set()
    waiting = list(libraries)
    while waiting:
        library = waiting.pop()
        if id(library) in seen:
            continue
        seen.add(id(library))
        if isinstance(library, HelperLibrary):
            if apart is not None and library.symbol is not None:
                apart[library.symbol] = library
                continue
            waiting += library._linking_libraries
        yield library


def module_of(library: Any) -> Any:
    """What is linked of a library: of a helper itself alone, of numba's own functions the whole."""
    return (
        library.own_module()
        if isinstance(library, HelperLibrary)
        else library._get_module_for_linking()
    )


def optimise(module: Any, machine: Any) -> None:
    """LLVM's passes over a whole kernel.

    Level 3 without unrolling and vectorising: the sweeps are written in registers already. Beside
    level 1 batches of forward dynamics are a sixth faster and the rest is as it was, for a tenth
    more time; unrolling and vectorising took three times as long for code that was no faster.
    """
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_unrolling = False
    options.loop_vectorization = False
    options.loop_interleaving = False
    options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


class KernelLibrary(JITCodeLibrary):
    """A kernel with everything that it calls linked in, each function once."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        optimise(self._final_module, self._codegen._tm)

    def finalize(self) -> None:
        direct = self._linking_libraries
        for library in reached(direct):
            self._final_module.link_in(module_of(library), preserve=True)
        self._linking_libraries: list[Any] = []  # all are in
        super().finalize()


# ---- lowering ---------------------------------------------------------------------------------


@register_pass(mutates_CFG=True, analysis_only=False)
class HelperLowering(LoweringPass):
    """From Python to LLVM's instructions, and no further."""

    _name = "skodyn_helper_lowering"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        prepare(state)
        context = state.targetctx
        library = HelperLibrary(context.codegen(), state.func_id.func_qualname)
        if state.func_id.func in SHARED:
            library.symbol = routine_symbol(state.func_id.func, state.args)
        state.library = library
        descriptor = PythonFunctionDescriptor.from_specialized_function(
            state.func_ir,
            state.typemap,
            state.return_type,
            state.calltypes,
            mangler=(lambda *_, **__: library.symbol) if library.symbol else context.mangler,
            inline=state.flags.forceinline,
            noalias=state.flags.noalias,
            abi_tags=[state.flags.get_mangle_string()],
        )
        with context.push_code_library(library):
            lower = HelperLower(context, library, descriptor, state.func_ir, metadata={})
            lower.lower()
        library.finalize()
        entry = object()  # what numba finds the call by; there is no address
        call = call_of(descriptor, library)
        context.insert_func_defn([(call, entry, call.signature)])
        state["cr"] = _LowerResult(descriptor, lower.call_helper, cfunc=entry, env=lower.env)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(NativeLowering):
    """numba's own, into a library that links as ours does."""

    _name = "skodyn_kernel_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return bool(super().run_pass(state))


# ---- pipelines --------------------------------------------------------------------------------


def passes(name: str, lowering_pass: Any) -> Any:
    """The passes that an entry point needs: no closures, no literals to unroll, no objects."""
    manager = PassManager(name)
    for step, what in (
        (TranslateByteCode, "analyzing bytecode"),
        (FixupArgs, "fix up args"),
        (IRProcessing, "processing IR"),
        (GenericRewrites, "constant indices"),
        (ReconstructSSA, "ssa"),
        (NopythonTypeInference, "types"),
        (PreLowerStripPhis, "remove phi nodes"),
        (IRLegalization, "legal IR"),
        (AnnotateTypes, "annotate types"),
        (lowering_pass, "lowering"),
        (NoPythonBackend, "result"),
    ):
        manager.add_pass(step, what)
    manager.finalize()
    return manager


class HelperCompiler(CompilerBase):
    """For what kernels call."""

    def define_pipelines(self) -> list[Any]:
        manager = PassManager("helper")
        manager.add_pass(HelperLowering, "lowering")
        manager.add_pass(NoPythonBackend, "result")
        manager.finalize()
        return [manager]


class KernelCompiler(CompilerBase):
    """For entry points."""

    def define_pipelines(self) -> list[Any]:
        return [passes("kernel", KernelLowering)]
