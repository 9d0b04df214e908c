"""The processor that kernels are made for.

It is numba's idea of it that counts: NUMBA_CPU_NAME and NUMBA_CPU_FEATURES may name another, and
shipped code is then left alone.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache

__all__ = ["features", "has_wide_registers", "is_chosen", "name"]


def is_chosen() -> bool:
    """Has somebody named a processor other than this one?"""
    return any(os.environ.get(f"NUMBA_CPU_{word}") for word in ("NAME", "FEATURES"))


@cache
def name() -> str:
    """LLVM's name for the processor."""
    chosen = os.environ.get("NUMBA_CPU_NAME")
    if chosen:
        return chosen
    import llvmlite.binding as llvm

    return str(llvm.get_host_cpu_name())


@cache
def features() -> str:
    """What it can do, in LLVM's words: "+avx2,-avx512f,…"."""
    chosen = os.environ.get("NUMBA_CPU_FEATURES")
    if chosen is not None:
        return chosen
    import llvmlite.binding as llvm

    return str(llvm.get_host_cpu_features().flatten())


@cache
def has_wide_registers() -> bool:
    """Eight numbers to a register?"""
    if not is_chosen():
        with suppress(ImportError):  # installed without a C compiler
            from skodyn.jit import launch  # type: ignore[attr-defined]

            return bool(launch.has_avx512())
    return "+avx512f" in features().split(",")
