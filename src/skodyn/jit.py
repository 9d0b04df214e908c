"""The only door to numba's decorators, flags and cache directory.

Flags. No fast-math flag is set anywhere: not `reassoc`, and not `contract` either. Fused
multiply-adds are written out as `lanes.fma`, so a result is fixed by IEEE 754 alone and is the
same bits at every lane width, on every CPU, whatever the optimiser does around it.
`error_model="numpy"` makes a division by zero a value, not a branch.

Cache. numba stamps a cached kernel with the hash of the *defining* file only, so an edited helper
in another file would silently come back stale. Here each module has a cache folder named after a
hash of its own source and of all it imports from the package: an edit starts a new folder for
every kernel that it can reach, and for no other. NUMBA_CACHE_DIR is respected as the parent folder.
The folder is given to numba only while one of our kernels is being decorated, so other packages'
kernels stay where they were.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import numba
import platformdirs

from skodyn.sources import dependency_hash, source_hash

__all__ = [
    "COMPILE_FLAGS",
    "JIT_DISABLED",
    "brief_kernel",
    "cache_folder",
    "cache_root",
    "clear_cache",
    "compiled",
    "helper",
    "kernel",
    "kernel_folder",
    "routine",
]

JIT_DISABLED = bool(numba.config.DISABLE_JIT)
"""True under NUMBA_DISABLE_JIT=1: kernels then run as plain Python, at lane width 1."""

F = TypeVar("F", bound=Callable[..., Any])

COMPILE_FLAGS: dict[str, Any] = {"error_model": "numpy", "fastmath": False, "boundscheck": False}


def package_version() -> str:
    try:
        return metadata.version("skodyn")
    except metadata.PackageNotFoundError:  # a source tree on PYTHONPATH, not installed
        return "0+source"


def cache_root() -> Path:
    """The folder that holds one cache folder for each version of the package."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    return Path(chosen) / "skodyn" if chosen else Path(platformdirs.user_cache_dir("skodyn"))


@cache
def cache_folder() -> Path:
    """The cache folder of this version; a temporary one where the user's is read-only."""
    name = package_version()
    if _writable(cache_root() / name):
        return cache_root() / name
    return _private_temporary_folder() / name


def kernel_folder(module: str) -> Path:
    """The folder for the kernels of one module as its sources are now."""
    if module.startswith("skodyn."):
        return cache_folder() / f"{module.removeprefix('skodyn.')}-{dependency_hash(module)}"
    return cache_folder() / f"outside-{source_hash()}"  # a kernel written elsewhere may use any


@cache
def _private_temporary_folder() -> Path:
    """For this process alone: a cache holds code, so nobody else may have written it."""
    folder = Path(tempfile.mkdtemp(prefix="skodyn-cache-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def clear_cache() -> int:
    """Remove every compiled kernel of every version; return how many files went."""
    root = cache_root()
    count = sum(1 for path in root.rglob("*") if path.is_file()) if root.exists() else 0
    shutil.rmtree(root, ignore_errors=True)
    return count


@contextmanager
def _our_cache_folder(function: Callable[..., Any]) -> Iterator[None]:
    theirs = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(kernel_folder(function.__module__))
    try:
        yield
    finally:
        numba.config.CACHE_DIR = theirs


def helper(function: F) -> F:
    """A small function that kernels call and LLVM inlines. Compiled, it is for kernels only."""
    dispatcher = numba.njit(
        forceinline=True, no_cfunc_wrapper=True, no_cpython_wrapper=True, **COMPILE_FLAGS
    )(function)
    if not JIT_DISABLED:
        _bar_python(dispatcher)
    return dispatcher  # type: ignore[no-any-return]


def routine(function: F) -> F:
    """A larger function that kernels call, compiled once and not inlined. For kernels only.

    For what few models need, so that it weighs neither on the others' machine code nor on the time
    to compile every kernel that has it.
    """
    dispatcher = numba.njit(no_cfunc_wrapper=True, no_cpython_wrapper=True, **COMPILE_FLAGS)(
        function
    )
    if not JIT_DISABLED:
        _bar_python(dispatcher)
    return dispatcher  # type: ignore[no-any-return]


def _bar_python(dispatcher: Any) -> None:
    """Refuse calls from Python with a sentence.

    Helpers are compiled without the wrappers that such calls need, which takes a third off the
    compile time; without this, numba would jump into the missing wrapper and crash.
    """

    def refuse(*_args: Any, **_kwargs: Any) -> None:
        name = dispatcher.py_func.__name__
        raise TypeError(f"{name} is a helper: kernels can call it, Python can call {name}.py_func.")

    dispatcher._insert = lambda *_args, **_kwargs: None
    dispatcher._compile_for_args = refuse


def kernel(function: F) -> F:
    """An entry point from Python: cached on disk, releases the GIL."""
    with _our_cache_folder(function):
        return numba.njit(cache=True, nogil=True, **COMPILE_FLAGS)(function)  # type: ignore[no-any-return]


def brief_kernel(function: F) -> F:
    """An entry point for one state: cached on disk, keeps the GIL.

    Handing the GIL over and back takes a tenth of a small robot's call. As long as it is kept, no
    two such calls overlap, so all of them can share one workspace.
    """
    with _our_cache_folder(function):
        return numba.njit(cache=True, **COMPILE_FLAGS)(function)  # type: ignore[no-any-return]


@cache
def compiled(entry: Any, signature: tuple[Any, ...]) -> Any:
    """The kernel for exactly this signature, compiled or loaded from the cache on first use.

    From then on it compiles for nothing else: arguments of other types are turned away at once.
    """
    if not JIT_DISABLED:
        entry.compile(signature)
        entry.disable_compile()
    return entry
