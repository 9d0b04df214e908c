"""Checkpoints: everything a run needs to continue, in a small file that is never half written.

A file is three parts: a line with the format and a SHA-256 of the rest, a line of JSON (meta, and
each array's name, dtype and shape), and the bytes of the arrays one after the other. No pickle:
loading a checkpoint runs no code, and bits come back as they went.

`save` writes a temporary file beside the target, syncs it, and renames. The generation before is
kept as `<path>.previous`, so at any moment at least one complete generation is on disk.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import LogError
from skodyn.io.disk import open_file, write_at
from skodyn.io.log_state import plain

__all__ = ["Checkpoint", "load", "previous", "remove", "save"]

_FORMAT = b"skodyn-checkpoint-1"
_HEAD = len(_FORMAT) + 1 + 64 + 1  # format, space, digest, newline


class Checkpoint(NamedTuple):
    """A loaded checkpoint; `note` is empty, or says why the previous generation was taken."""

    arrays: dict[str, NDArray[Any]]
    meta: dict[str, Any]
    path: Path
    note: str


def previous(path: str | os.PathLike[str]) -> Path:
    """Where the generation before the newest is kept."""
    return Path(f"{os.fspath(path)}.previous")


def save(
    path: str | os.PathLike[str], arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]
) -> None:
    """Write a new generation; `meta` is anything JSON can hold, with integers of any size."""
    target, temporary = Path(path), Path(f"{os.fspath(path)}.writing")
    content = _encode(arrays, meta)
    try:
        _write_synced(temporary, content)
        if _is_sound(target):  # a damaged one must not push out the good one before it
            os.replace(target, previous(path))
        os.replace(temporary, target)
        sync_folder(target.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise LogError(
            f"{path}: cannot write the checkpoint ({error.strerror}); the one before is still "
            "there. Free some space or choose another folder, then resume."
        ) from error


def load(path: str | os.PathLike[str]) -> Checkpoint:
    """The newest complete generation."""
    reasons = []
    for file in (Path(path), previous(path)):
        try:
            arrays, meta = _decode(file.read_bytes())
        except (OSError, ValueError) as error:
            reasons.append(f"{file} {_why(error)}")
        else:
            note = f"{reasons[0]}; the previous checkpoint is used." if reasons else ""
            return Checkpoint(arrays, meta, file, note)
    raise LogError(f"No usable checkpoint: {', and '.join(reasons)}. Start the run again.")


def remove(path: str | os.PathLike[str]) -> None:
    """Forget both generations: a new run must never fall back to a checkpoint of an old one."""
    for file in (previous(path), Path(path)):
        file.unlink(missing_ok=True)


def _why(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "does not exist"
    if isinstance(error, OSError):
        return f"cannot be read ({error.strerror})"
    return f"is damaged ({error})"


def _is_sound(path: Path) -> bool:
    try:
        _checked_body(path.read_bytes())
    except (OSError, ValueError):
        return False
    return True


def _encode(arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> bytes:
    parts = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    for name, part in parts.items():
        if part.dtype.hasobject or part.dtype.fields:
            raise LogError(f"Array {name!r} has dtype {part.dtype}; a checkpoint holds numbers.")
    table = [[name, part.dtype.str, part.shape] for name, part in parts.items()]
    header = json.dumps({"meta": dict(meta), "arrays": table}, default=plain)
    body = b"".join((header.encode(), b"\n", *(part.tobytes() for part in parts.values())))
    return b"%s %s\n%s" % (_FORMAT, hashlib.sha256(body).hexdigest().encode(), body)


def _checked_body(content: bytes) -> bytes:
    head, body = content[:_HEAD], content[_HEAD:]
    if not head.startswith(_FORMAT + b" "):
        raise ValueError("it is not a skodyn checkpoint")
    if head.split()[-1] != hashlib.sha256(body).hexdigest().encode():
        raise ValueError("its checksum does not match")
    return body


def _decode(content: bytes) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    header, data = _checked_body(content).split(b"\n", 1)
    described, offset = json.loads(header), 0
    arrays = {}
    for name, dtype, shape in described["arrays"]:
        count = int(np.prod(shape, dtype=np.int64))
        flat = np.frombuffer(data, dtype=dtype, count=count, offset=offset)
        arrays[name] = flat.reshape(shape).copy()
        offset += flat.nbytes
    return arrays, described["meta"]


def _write_synced(path: Path, content: bytes) -> None:
    handle = open_file(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        write_at(handle, content, 0)
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """A rename is safe against a power cut only once its folder is on disk."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:  # Windows opens no folders
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
