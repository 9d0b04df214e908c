"""Compile every kernel once, so that nobody waits for the compiler later.

Where there is a C compiler, all kernels go into one shared object in the cache folder, the same
that a wheel ships. Without one, numba's own cache is filled, kernel by kernel.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from skodyn.jit import Part, build, folders, shipped

__all__ = ["missing", "precompile"]

Progress = Callable[[int, int, str], None]
"""Called with (kernels done, kernels in all, the last one's name)."""


def missing() -> list[str]:
    """Kernels that no object holds as the sources are now."""
    held = shipped.opened()
    return [name for name in build.all_kernels() if held is None or not held.holds(name)]


def precompile(progress: Progress, workers: int = 1) -> Path | None:
    """The object that was built; None if numba's cache was filled instead."""
    if not shipped.why_not() and build.linker():
        folder = folders.cache_folder() / "objects"
        return build.build_object(folder, shipped.level(), workers, progress)
    fill_numba_cache(progress, workers)
    return None


def fill_numba_cache(progress: Progress, workers: int = 1) -> None:
    """Have numba compile each kernel, or find it in its cache."""
    names = build.in_order(build.all_kernels())
    if workers == 1:
        for done, name in enumerate(names, start=1):
            progress(done, len(names), compile_one(name))
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        tasks = [pool.submit(compile_one, name) for name in names]
        for done, task in enumerate(as_completed(tasks), start=1):
            progress(done, len(names), task.result())


def compile_one(name: str) -> str:
    """Compile a kernel with numba, or load it from its cache."""
    kernel = build.all_kernels()[name]
    _ = kernel.address if isinstance(kernel, Part) else kernel.dispatcher
    return name
