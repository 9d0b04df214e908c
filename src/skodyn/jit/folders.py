"""Where compiled code is kept.

numba stamps a cached kernel with the hash of the *defining* file only, so an edited helper in
another file would silently come back stale. Here each module has a cache folder named after a hash
of its own source and of all it imports from the package: an edit starts a new folder for every
kernel that it can reach, and for no other. NUMBA_CACHE_DIR is respected as the parent folder.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from skodyn.sources import dependency_hash, source_hash

__all__ = [
    "cache_folder",
    "cache_root",
    "clear_cache",
    "is_kept",
    "kernel_folder",
    "package_version",
    "put_in_one_stroke",
]


@cache
def package_version() -> str:
    try:
        return metadata.version("skodyn")
    except metadata.PackageNotFoundError:  # a source tree on PYTHONPATH, not installed
        return "0+source"


def cache_root() -> Path:
    """The folder that holds one cache folder for each version of the package."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen) / "skodyn"
    import platformdirs  # here, because a run with shipped code never asks

    return Path(platformdirs.user_cache_dir("skodyn"))


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


def is_kept(function: Any) -> bool:
    """Has numba's cache an entry point of this module and name?"""
    return any(kernel_folder(function.__module__).rglob(f"*{function.__name__}-*.nbc"))


@cache
def _private_temporary_folder() -> Path:
    """For this process alone: a cache holds code, so nobody else may have written it."""
    folder = Path(tempfile.mkdtemp(prefix="skodyn-cache-"))
    atexit.register(_remove_own, folder, os.getpid())
    return folder


def _remove_own(folder: Path, owner: int) -> None:
    """Remove a folder at the end of the process that made it; a forked child leaves it alone."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def clear_cache() -> int:
    """Remove all compiled code of every version; return how many files went."""
    root = cache_root()
    count = sum(1 for path in root.rglob("*") if path.is_file()) if root.exists() else 0
    shutil.rmtree(root, ignore_errors=True)
    return count


def put_in_one_stroke(data: bytes, path: Path) -> None:
    """Write a file; a reader sees the old one or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    waiting = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    waiting.write_bytes(data)
    waiting.replace(path)
