"""How numba compiles our functions: helpers are kept as instructions, kernels are optimised once.

numba on its own optimises every function it meets and turns it into machine code, with all that it
calls inlined; a tower of five functions is then compiled five times. Here a helper is typed and
lowered once for each signature and kept as LLVM's intermediate form, as it is (helpers.py). A
kernel links in each helper that it reaches, and only the whole is optimised and emitted.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, _LowerResult
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
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

from skodyn.jit.helpers import compile_helper, module_of, reached

__all__ = ["HelperCompiler", "KernelCompiler", "optimise"]


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
    """For a caller that numba compiles: what helpers.py makes, as numba knows it."""

    _name = "skodyn_helper_lowering"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        made = compile_helper(state.func_id.func, state.args, state.flags.forceinline)
        state.library, state.return_type = made.library, made.result
        state.typemap, state.calltypes = made.descriptor.typemap, made.descriptor.calltypes
        state.func_ir = state.type_annotation = None
        entry = object()  # what numba finds the call by; there is no address
        state.targetctx.insert_func_defn([(made.call, entry, made.descriptor.argtypes)])
        state["cr"] = _LowerResult(made.descriptor, None, cfunc=entry, env=None)
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
        """No closures, no literals to unroll, no objects."""
        manager = PassManager("kernel")
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
            (KernelLowering, "lowering"),
            (NoPythonBackend, "result"),
        ):
            manager.add_pass(step, what)
        manager.finalize()
        return [manager]
