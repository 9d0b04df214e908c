"""Compile all kernels into one shared object, on all cores.

One process lowers kernels to LLVM's instructions and puts them on a pile; the others lower the few
that share nothing with these, then they, and in the end the first one too, make object code of the
pile, large kernels first; the C compiler then links it.
A shared routine lies on the pile once, apart from the kernels that call it. A helper is lowered
once for each width and process, and what does not depend on types is shared by widths, so two
processes lower only where there are four cores or more: one kernels of one state, the other those
of batches. `skodyn cache warm` and the wheel's build both end here.
"""

from __future__ import annotations

import gc
import hashlib
import importlib
import json
import multiprocessing
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, wait
from functools import cache
from pathlib import Path
from typing import Any

from skodyn.jit.folders import package_version, put_in_one_stroke
from skodyn.jit.functions import KERNELS, ROUTINE, Kernel
from skodyn.jit.shipped import FORM, object_path, source_digest
from skodyn.sources import dependencies, file_of, modules_with

__all__ = ["all_kernels", "build_object", "in_order", "linker"]

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
    names = all_kernels()
    path = object_path(folder, level)
    with tempfile.TemporaryDirectory(prefix="skodyn-build-") as work:
        made = _emit_all(names, level, Path(work), workers, progress)
        folder.mkdir(parents=True, exist_ok=True)
        library = Path(work) / path.name
        _link(sorted(Path(work).glob("*.o")), library)
        listed = _listed(made, library, version or package_version())
        # the object first: without its list it is not looked at
        put_in_one_stroke(library.read_bytes(), path)
        put_in_one_stroke(json.dumps(listed, indent=1).encode(), path.with_suffix(".json"))
    return path


@cache
def all_kernels() -> dict[str, Kernel]:
    """Every kernel of the package; the modules that declare them are imported."""
    for words in (b"kernel(", b"one_state(", b"parts_of("):
        for module in modules_with(words):
            if not module.startswith("skodyn.jit."):
                importlib.import_module(module)
    return KERNELS


COMMON = ("forward_dynamics:", "energy", "explicit", "finite_rows", "forward_kinematics")
"""What most runs need."""


def in_order(names: Iterable[str]) -> list[str]:
    """Kernels of one state, then those of batches and lanes; common ones in front."""

    def rank(name: str) -> tuple[bool, bool, str]:
        return _is_wide(name), not any(word in name for word in COMMON), name

    return sorted(names, key=rank)


def _is_wide(name: str) -> bool:
    return name.endswith(("_batch", "_sweep", "_lanes"))


def _share(names: Iterable[str], worker: int, workers: int) -> list[str]:
    """What a worker lowers: those in lanes, or half of them, or the others; or nothing."""
    return [name for name in in_order(names) if _lowered_by(name, workers) == worker]


def _lowered_by(name: str, workers: int) -> int:
    if workers < 2:
        return 0
    if not name.startswith(IN_LANES):
        return 1 if workers < 4 else 2
    return int(_is_wide(name)) if workers >= 4 else 0


IN_LANES = ("kernels.", "simulation.")
"""Where kernels stand that share helpers; the others share few with them, and hardly any weight."""


def _emit_all(
    names: Iterable[str], level: int, work: Path, workers: int, progress: Progress
) -> dict[str, dict[str, Any]]:
    made: dict[str, dict[str, Any]] = {}
    settings = _processor_of(level) | LARGE_PAGES
    before = {name: os.environ.get(name) for name in settings}
    os.environ |= settings
    try:
        context = multiprocessing.get_context("spawn")
        names = list(names)
        with ProcessPoolExecutor(workers, mp_context=context) as pool:
            tasks = [
                pool.submit(_work, _share(names, worker, workers), workers, level, str(work))
                for worker in range(workers)
            ]
            _watch(tasks, names, work, progress)
        for task in tasks:
            made |= task.result()
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    return dict(sorted(made.items()))


def _watch(tasks: list[Any], names: list[str], work: Path, progress: Progress) -> None:
    """Tell how far it is, until all workers are done: a kernel is lowered, then emitted."""
    seen: set[str] = set()
    told = 0
    finished = False
    while not finished:
        finished = not wait(tasks, timeout=0.5).not_done
        written = {name for name in os.listdir(work) if _tells(name)}
        if len(written) // 2 > told:
            told = len(written) // 2
            progress(told, len(names), Path(max(written - seen)).stem)
        seen = written


def _tells(name: str) -> bool:
    """Is this file a step of a kernel? Routines, and what is being written, are not told."""
    return name.endswith((LOWERED, ".o")) and not name.startswith((ROUTINE, "."))


LOWERED = ".bc"
TAKEN = ".taken"  # a routine that a worker lowers
CLAIMED = ".claim"  # what a worker emits
DONE = ".done"  # a worker's word to the others: it will put nothing more on the pile


def _work(share: list[str], workers: int, level: int, work: str) -> dict[str, dict[str, Any]]:
    """In a worker: lower its share, then take from the pile until nothing is left."""
    try:
        made = _lower_share(share, Path(work))
    finally:
        os.close(tempfile.mkstemp(suffix=DONE, dir=work)[0])
    _emit_pile(workers, level, Path(work))
    return made


def _lower_share(share: list[str], work: Path) -> dict[str, dict[str, Any]]:
    """Put kernels on the pile."""
    gc.disable()  # nearly all that numba makes stays; looking through it takes a twentieth of this
    try:
        return {name: _lower_one(name, work) for name in share}
    finally:
        gc.freeze()  # nor is it looked through when the process ends
        gc.enable()


def _claim(path: Path) -> bool:
    """Has nobody else begun it?"""
    try:
        path.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _lower_one(name: str, work: Path) -> dict[str, Any]:
    """Put a kernel on the pile; what the list will say of it."""
    from skodyn.jit.entry import lower

    kernel = all_kernels()[name]
    lowered = lower(kernel, apart=True)
    _lower_routines(lowered.routines, work)
    _put_on_pile(lowered, work)
    return {
        "symbol": lowered.symbol,
        "signature": kernel.codes,
        "results": lowered.results,
        "module": kernel.py_func.__module__,
    }


def _lower_routines(routines: dict[str, Any], work: Path) -> None:
    """Put routines on the pile, and those that they call, unless they lie there."""
    from skodyn.jit.entry import lower_routine

    for symbol, library in routines.items():
        if _claim(work / (symbol + TAKEN)):
            lowered = lower_routine(library)
            _lower_routines(lowered.routines, work)
            _put_on_pile(lowered, work)


def _put_on_pile(lowered: Any, work: Path) -> None:
    put_in_one_stroke(lowered.module.as_bitcode(), work / (lowered.symbol + LOWERED))


def _emit_pile(workers: int, level: int, work: Path) -> None:
    """Make object code of what lies on the pile, until no worker will put more on it."""
    from skodyn.jit.entry import machine_for

    machine = machine_for(*MACHINES[level])
    while True:
        complete = sum(name.endswith(DONE) for name in os.listdir(work)) == workers
        names = os.listdir(work)  # after that: when all are done, the pile is whole
        claimed = {name.removesuffix(CLAIMED) for name in names if name.endswith(CLAIMED)}
        lowered = {name.removesuffix(LOWERED) for name in names if _is_on_pile(name)}
        if waiting := [work / (name + LOWERED) for name in lowered - claimed]:
            path = max(waiting, key=_size)
            if _claim(path.with_suffix(CLAIMED)):
                _emit_one(path, machine)
        elif complete:
            return
        else:
            time.sleep(0.1)


def _is_on_pile(name: str) -> bool:
    return name.endswith(LOWERED) and not name.startswith(".")  # else it is being written


def _size(path: Path) -> int:
    return path.stat().st_size


def _emit_one(path: Path, machine: Any) -> None:
    import llvmlite.binding as llvm

    from skodyn.jit.entry import emit_module

    code = emit_module(llvm.parse_bitcode(path.read_bytes()), machine)
    put_in_one_stroke(code, path.with_suffix(".o"))


BEYOND_LEVEL_3 = (
    "adx aes clflushopt clwb clzero fsgsbase invpcid mwaitx pclmul pku prfchw rdpid rdpru rdrnd "
    "rdseed sha sse4a vaes vpclmulqdq wbnoinvd xsavec xsaveopt xsaves"
)
"""What a Zen 3 can do and level 3 does not ask for."""

MACHINES = {
    3: ("znver3", ",".join(f"-{word}" for word in BEYOND_LEVEL_3.split())),
    4: ("x86-64-v4", ""),
}
"""LLVM's processor for each level: one whose timing it knows, less what is beyond the level.

Level 3 in general is timed like a Sandy Bridge; in the order that suits a Zen 3, batches of the
mass matrix are 2 to 6 % faster, inverse dynamics and its derivatives 1 to 4 %.
"""


LARGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""For workers, whose memory grows to a gigabyte: a twentieth of their time is finding pages."""


def _processor_of(level: int) -> dict[str, str]:
    """What numba is told, so that registers are as wide as those of the level."""
    wide = "+avx512f" if level >= 4 else "-avx512f"
    return {"NUMBA_CPU_NAME": f"x86-64-v{level}", "NUMBA_CPU_FEATURES": wide}


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
