"""The only door to the compiler: decorators, flags, cache folders, and code that ships ready."""

from __future__ import annotations

from skodyn.jit.flags import COMPILE_FLAGS
from skodyn.jit.folders import cache_folder, cache_root, clear_cache, kernel_folder, package_version
from skodyn.jit.foreign import ForeignFunction, call_part
from skodyn.jit.functions import (
    BEFORE_COMPILING,
    JIT_DISABLED,
    KERNELS,
    Helper,
    Kernel,
    Part,
    brief_kernel,
    helper,
    kernel,
    part,
    plain,
    routine,
    shared_routine,
)
from skodyn.jit.kinds import (
    COUNT,
    FLAG,
    FLOAT_POINTER,
    FLOATS,
    INT_POINTER,
    INTS,
    MATRIX,
    NUMBER,
    PLACES,
    RESULT,
    Group,
    Kind,
)
from skodyn.jit.meanings import before_compiling
from skodyn.jit.records import Record

__all__ = [
    "BEFORE_COMPILING",
    "COMPILE_FLAGS",
    "COUNT",
    "FLAG",
    "FLOATS",
    "FLOAT_POINTER",
    "INTS",
    "INT_POINTER",
    "JIT_DISABLED",
    "KERNELS",
    "MATRIX",
    "NUMBER",
    "PLACES",
    "RESULT",
    "ForeignFunction",
    "Group",
    "Helper",
    "Kernel",
    "Kind",
    "Part",
    "Record",
    "before_compiling",
    "brief_kernel",
    "cache_folder",
    "cache_root",
    "call_part",
    "clear_cache",
    "helper",
    "kernel",
    "kernel_folder",
    "package_version",
    "part",
    "plain",
    "routine",
    "shared_routine",
]
