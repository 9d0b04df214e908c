"""Compile all kernels into one shared object, on all cores.

Each worker process takes kernels from a queue, those that took longest first, and hands back object
code; the C compiler then links it. `skodyn cache warm` and the wheel's build both end here.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import multiprocessing
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from typing import Any

from skodyn.jit.folders import package_version
from skodyn.jit.functions import KERNELS, Kernel
from skodyn.jit.shipped import FORM, object_path, signature_codes, source_digest
from skodyn.sources import dependencies, file_of, modules_with

__all__ = ["all_kernels", "build_object", "linker", "longest_first"]

Progress = Callable[[int, int, str], None]


def linker() -> str | None:
    """The C compiler that links an object."""
    return os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")


def build_object(
    folder: Path, level: int, workers: int, progress: Progress, version: str = ""
) -> Path:
    """The object of a level in a folder, with every kernel of the package.

    version: of the package that will ship it; the installed one's unless given.
    """
    names = longest_first(all_kernels())
    path = object_path(folder, level)
    with tempfile.TemporaryDirectory(prefix="skodyn-build-") as work:
        made = _emit_all(names, level, Path(work), workers, progress)
        folder.mkdir(parents=True, exist_ok=True)
        library = Path(work) / path.name
        _link([Path(work) / entry["file"] for entry in made.values()], library)
        listed = _listed(made, library, version or package_version())
        # the object first: without its list it is not looked at
        _put(library.read_bytes(), path)
        _put(json.dumps(listed, indent=1).encode(), path.with_suffix(".json"))
    return path


@cache
def all_kernels() -> dict[str, Kernel]:
    """Every kernel of the package; the modules that declare them are imported."""
    for module in modules_with(b"kernel("):
        if not module.startswith("skodyn.jit."):
            importlib.import_module(module)
    return KERNELS


def _put(data: bytes, path: Path) -> None:
    """Write a file in one stroke: a reader sees the old one or the new one."""
    waiting = path.with_name(f".{path.name}.{os.getpid()}")
    waiting.write_bytes(data)
    waiting.replace(path)


def longest_first(names: Iterable[str]) -> list[str]:
    """Loops hold whole simulations, derivatives most of the rest: nobody should wait for them."""
    order = ("sweep.lane", "simulate.", "derivatives", "coupled", "_batch")

    def rank(name: str) -> int:
        return next((i for i, word in enumerate(order) if word in name), len(order))

    return sorted(names, key=lambda name: (rank(name), name))


def _emit_all(
    names: list[str], level: int, work: Path, workers: int, progress: Progress
) -> dict[str, dict[str, Any]]:
    made: dict[str, dict[str, Any]] = {}
    before = {name: os.environ.get(name) for name in ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES")}
    os.environ |= _processor_of(level)
    try:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(workers, mp_context=context) as pool:
            tasks = {pool.submit(_emit_one, name, level, str(work)): name for name in names}
            for done, task in enumerate(as_completed(tasks), start=1):
                made[tasks[task]] = task.result()
                progress(done, len(names), tasks[task])
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    return dict(sorted(made.items()))


def _processor_of(level: int) -> dict[str, str]:
    """What numba is told, so that registers are as wide as those of the level."""
    wide = "+avx512f" if level >= 4 else "-avx512f"
    return {"NUMBA_CPU_NAME": f"x86-64-v{level}", "NUMBA_CPU_FEATURES": wide}


def _emit_one(name: str, level: int, work: str) -> dict[str, Any]:
    """In a worker: object code in a file, and what the list says of it."""
    from skodyn.jit.entry import emit, machine_for

    kernel = all_kernels()[name]
    emitted = emit(kernel, machine_for(f"x86-64-v{level}"))
    file = emitted.symbol + ".o"
    (Path(work) / file).write_bytes(emitted.code)
    return {
        "symbol": emitted.symbol,
        "signature": signature_codes(kernel),
        "results": emitted.results,
        "module": kernel.py_func.__module__,
        "file": file,
    }


def _link(objects: list[Path], library: Path) -> None:
    command = linker()
    assert command is not None
    done = subprocess.run(
        [command, "-shared", "-s", "-o", str(library), *map(str, objects), "-lm"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise OSError(f"{command} could not link the kernels: {done.stderr.strip()}")


def _listed(made: dict[str, dict[str, Any]], library: Path, version: str) -> dict[str, Any]:
    """What is in an object, and what it was made of."""
    from importlib import metadata

    modules = sorted({entry["module"] for entry in made.values()})
    form = dependencies("skodyn.jit.entry")
    sources_of = {module: sorted(map(file_of, dependencies(module) | form)) for module in modules}
    every = sorted({name for names in sources_of.values() for name in names})
    return {
        "form": FORM,
        "version": version,
        "digest": hashlib.sha256(library.read_bytes()).hexdigest(),
        "made_by": {name: metadata.version(name) for name in ("numba", "llvmlite", "numpy")},
        "sources": {name: source_digest(name) for name in every},
        "sources_of": sources_of,
        "kernels": {
            name: {key: entry[key] for key in ("symbol", "signature", "results", "module")}
            for name, entry in made.items()
        },
    }
