"""`skodyn cache info | clear | warm`."""

from __future__ import annotations

import argparse
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from skodyn import jit
from skodyn.cores import core_count
from skodyn.jit import folders, shipped
from skodyn.progress import in_time, shown

__all__ = ["add_command"]


def add_command(commands: Any) -> None:
    cache = commands.add_parser("cache", help="show, remove or compile kernels")
    actions = cache.add_subparsers(title="actions", metavar="ACTION", required=True)
    for name, command, words in (
        ("info", _info, "which compiled code is used, where it is kept, and how much of it"),
        ("clear", _clear, "remove the compiled kernels of every version"),
        ("warm", _warm, "compile every kernel now"),
    ):
        action = actions.add_parser(name, help=words, description=words)
        action.set_defaults(command=command)
        if name == "warm":
            words = "processes that compile at once; default: one for each core"
            action.add_argument("--jobs", metavar="N", type=int, help=words)


def _info(options: argparse.Namespace) -> None:
    print(f"kernels {_ready()}")
    folder = folders.cache_folder()
    files, size = _contents(folder)
    print(f"folder  {folder}")
    print(f"files   {files}")
    print(f"size    {size / 1e6:.1f} MB")
    for other in sorted(folders.cache_root().glob("*")):
        if other != folder and other.is_dir():
            files, size = _contents(other)
            print(f"other version  {other.name}: {files} files, {size / 1e6:.1f} MB")


def _ready() -> str:
    """Which code runs: a shared object's, or what numba compiles."""
    if jit.JIT_DISABLED:
        return "run as plain Python: NUMBA_DISABLE_JIT is set"
    held = shipped.opened()
    if held is None:
        reason = shipped.why_not() or "none is built; 'skodyn cache warm' builds one"
        return f"are compiled by numba when first used (no shared object: {reason})"
    names = held.listed["kernels"]
    ready = sum(map(held.holds, names))
    made_by = ", ".join(f"{name} {version}" for name, version in held.listed["made_by"].items())
    rest = "" if ready == len(names) else f"; sources of {len(names) - ready} others have changed"
    return f"{ready} ready in {held.path}, made by {made_by}{rest}"


def _contents(folder: Path) -> tuple[int, int]:
    """(number of files, bytes) under a folder; files may vanish while they are counted."""
    count = size = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            if path.is_file():
                size += path.stat().st_size
                count += 1
    return count, size


def _clear(options: argparse.Namespace) -> None:
    print(f"removed {folders.clear_cache()} files from {folders.cache_root()}")


def _warm(options: argparse.Namespace) -> None:
    from skodyn import precompile  # it brings every kernel with it

    if jit.JIT_DISABLED:
        print("NUMBA_DISABLE_JIT is set: kernels run as plain Python, nothing is compiled")
        return
    if not precompile.missing():
        print("every kernel is ready")
        return
    began = time.perf_counter()
    jobs = core_count() if options.jobs is None else options.jobs
    with shown("kernels", True) as show:

        def tell(done: int, total: int, name: str) -> None:
            left = (time.perf_counter() - began) / done * (total - done)
            show(done, total, f"{done} of {total}, {in_time(left)} left  {name}")

        path = precompile.precompile(tell, jobs)
    where = f" in {path}" if path else ""
    print(f"every kernel is ready{where}: {time.perf_counter() - began:.0f} s")
