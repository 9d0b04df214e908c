"""Routines that all kernels of an object share: one copy, under a name that every process gives."""

import subprocess
import sys

import llvmlite.binding as llvm
import pytest
from numba import typeof, types

from skodyn.jit import JIT_DISABLED, build, helper, kernel, routine, shared_routine
from skodyn.jit.compiling import learn_meanings
from skodyn.jit.entry import lower, lower_routine
from skodyn.jit.functions import ROUTINE
from skodyn.jit.kinds import NUMBER
from skodyn.jit.routines import routine_symbol
from skodyn.lanes import WIDTH_1, WIDTH_4

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")


@helper
def twice(x):
    return 2.0 * x


@shared_routine
def deepest(x):
    return twice(x) + 1.0


@shared_routine
def deeper(x):
    return deepest(x) * deepest(x + 1.0)


@routine
def own(x):
    return deeper(x) - 1.0


@kernel(NUMBER)
def calls_all(x):
    return own(x) + deeper(x)


def defined(module):
    return {f.name for f in module.functions if not f.is_declaration and ROUTINE in f.name}


def declared(module):
    return {f.name for f in module.functions if f.is_declaration and ROUTINE in f.name}


def test_a_kernel_of_an_object_holds_no_shared_routine():
    apart, whole = lower(calls_all, apart=True), lower(calls_all)
    (symbol,) = apart.routines
    assert symbol.startswith(ROUTINE + "deeper_")
    assert not defined(apart.module)
    assert declared(apart.module) == {symbol}
    assert len(defined(whole.module)) == 2
    assert not whole.routines


def test_kernels_and_shared_routines_begin_with_a_line_of_the_cache():
    kernel_alone = lower(calls_all, apart=True)
    (library,) = kernel_alone.routines.values()
    for made in (kernel_alone, lower_routine(library)):
        (head,) = (
            line
            for line in str(made.module).splitlines()
            if line.startswith("define") and f"@{made.symbol}(" in line
        )
        assert " align 64 " in head


def test_a_shared_routine_holds_what_it_inlines_and_no_other():
    (library,) = lower(calls_all, apart=True).routines.values()
    made = lower_routine(library)
    assert defined(made.module) == {library.symbol}
    (inner,) = made.routines
    assert inner.startswith(ROUTINE + "deepest_")
    assert declared(made.module) == {inner}
    seen = made.module.get_function(library.symbol)
    assert seen.linkage is llvm.Linkage.external
    assert seen.visibility is llvm.Visibility.hidden


def test_a_whole_kernel_gives_what_python_gives():
    assert calls_all(0.25) == 2 * (1.5 * 3.5) - 1.0


def test_every_routine_lies_on_the_pile_once(tmp_path):
    names = ["kernels.energy:energy", "kernels.hybrid_dynamics:hybrid_dynamics"]
    build._lower_share(names, tmp_path)
    pile = sorted(path.stem for path in tmp_path.glob("*" + build.LOWERED))
    rates = [name for name in pile if name.startswith(ROUTINE + "scatter_rates_")]
    assert len(rates) == 1
    for path in tmp_path.glob("*" + build.LOWERED):
        module = llvm.parse_bitcode(path.read_bytes())
        assert defined(module) <= {path.stem}
        assert declared(module) <= set(pile)  # else the linker would not find it


WORDS = """
from numba import types
from skodyn.jit.routines import routine_symbol
from skodyn.kernels.loops.loop_groups import least_change
from skodyn.kernels.loops.loop_projection import close_positions
given = (types.Dispatcher(least_change.dispatcher), types.CPointer(types.float64))
print(routine_symbol(close_positions.py_func, given))
"""


def test_every_process_gives_a_routine_the_same_name():
    command = [sys.executable, "-c", WORDS]
    first, second = (subprocess.check_output(command, text=True) for _ in range(2))
    assert first == second
    assert first.startswith(ROUTINE + "close_positions_")


def test_what_is_compiled_differently_has_another_name():
    learn_meanings()
    width = [types.BaseTuple.from_types([typeof(w), types.float64]) for w in (WIDTH_1, WIDTH_4)]
    given = [
        (types.float64,), (types.int64,), (types.UniTuple(types.float64, 2),),
        (types.UniTuple(types.float64, 3),), (types.Tuple([types.float64, types.int64]),),
        (types.Dispatcher(deeper.dispatcher),), (types.Dispatcher(deepest.dispatcher),),
        (width[0],), (width[1],),
    ]  # fmt: skip
    functions = (deeper.py_func, deepest.py_func)
    names = {routine_symbol(function, types_) for function in functions for types_ in given}
    assert len(names) == len(functions) * len(given)


def test_what_another_function_makes_is_linked_into_its_callers():
    @shared_routine
    def made_here(x):
        return x + 1.0

    assert routine_symbol(made_here.py_func, (types.float64,)) is None
    passed = (types.Dispatcher(made_here.dispatcher),)
    assert routine_symbol(deeper.py_func, passed) is None
    assert routine_symbol(deeper.py_func, (types.Tuple([types.int64, passed[0]]),)) is None
    calls_it = kernel(NUMBER)(lambda x: made_here(x) * 2.0)
    assert not lower(calls_it, apart=True).routines
    assert calls_it(1.5) == 5.0
