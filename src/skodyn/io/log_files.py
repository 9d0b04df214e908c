"""What is looked at before a log is made: its folder, the disk, and what lies in its place."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import h5py

from skodyn.errors import LogError
from skodyn.io.disk import lock, open_file
from skodyn.wording import argument

__all__ = ["check_space", "check_target", "refuse_to_replace", "temporary_name"]


def check_target(path: Path, overwrite: bool) -> None:
    folder = path.parent
    if path.is_dir():
        raise LogError(f"{path} is a folder; give the name of a file, for example {path}/run.h5.")
    if not folder.is_dir():
        raise LogError(f"{path}: the folder {folder} does not exist; create it first.")
    if not os.access(folder, os.W_OK):
        raise LogError(f"{path}: the folder {folder} is not writable; choose another one.")
    if path.exists() and not overwrite:
        raise LogError(
            f"{path} exists and is not overwritten; choose another name, move it away, "
            f"or replace it with {argument('overwrite', yes=True)}."
        )


def temporary_name(path: Path) -> Path:
    """Where a log is made before it gets its name."""
    return path.with_name(path.name + ".new")


def refuse_to_replace(path: Path) -> None:
    """Unless nobody is hurt by it: not a live run, and nothing but a log."""
    if not path.exists():
        return
    if path.stat().st_size and not h5py.is_hdf5(path):
        raise LogError(f"{path} is not an HDF5 file and is not overwritten; choose another name.")
    handle = open_file(path, os.O_RDONLY)
    try:
        lock(handle)
    finally:
        os.close(handle)


def check_space(path: Path, expected: int) -> None:
    free = shutil.disk_usage(path.parent).free
    if expected > free:
        raise LogError(
            f"{path} will take about {expected / 1e9:.3g} GB, but {path.parent} has "
            f"{free / 1e9:.3g} GB free; log fewer rows or channels, or choose another disk."
        )
