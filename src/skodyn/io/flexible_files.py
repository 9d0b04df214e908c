"""Flexible bodies in HDF5 files of their own: written under another name, renamed when complete.

    attributes   schema, schema_version, content_hash, display_hash
    data sets    mass, first_moment, … as `FlexibleBody` has them, labels
    nodes        name, position, translation, rotation: one row a node
    curvature, display    groups that are there if the body has them

This module is `sk.flexible`, too: all that makes a flexible body but a beam.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from skodyn.errors import LogError, ModelError
from skodyn.faults import Fault
from skodyn.io.checkpoint import sync_folder
from skodyn.io.log_files import check_space, check_target
from skodyn.model.flexible.modal_body import (
    BeamCurvature,
    FlexibleBody,
    FlexibleDisplay,
    FlexibleNode,
)
from skodyn.model.flexible.reduction import from_matrices

__all__ = ["BeamCurvature", "FlexibleNode", "from_matrices", "load"]

SCHEMA = "skodyn-flexible-body"
SCHEMA_VERSION = 1
_PARTS: dict[str, type[Any]] = {"curvature": BeamCurvature, "display": FlexibleDisplay}
_NOT_PLAIN = ("labels", "nodes", "file", *_PARTS)
_PLAIN = tuple(f.name for f in fields(FlexibleBody) if f.name not in _NOT_PLAIN)
_NODE = tuple(f.name for f in fields(FlexibleNode))
_WRITER = "give a file that FlexibleBody.save wrote."
_RESTORE = "restore a copy, or save the body again."
flexible = sys.modules[__name__]


# ---- writing ------------------------------------------------------------------------------------


def save_body(body: FlexibleBody, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """What `FlexibleBody.save` does."""
    target = Path(path)
    check_target(target, overwrite)
    if target.exists() and not _is_ours(target):
        raise LogError(f"{target} holds no flexible body and is not overwritten; "
                       "choose another name.")  # fmt: skip
    check_space(target, sum(array.nbytes for array in _arrays(body).values()))
    temporary = target.with_name(target.name + ".new")
    try:
        temporary.unlink(missing_ok=True)
        with h5py.File(temporary, "x") as file:
            _write(file, body)
        _sync(temporary)
        os.replace(temporary, target)
        sync_folder(target.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise LogError(f"{target}: cannot write it: {error.strerror or error}") from error


def _is_ours(path: Path) -> bool:
    try:
        with h5py.File(path, "r") as file:
            return bool(file.attrs.get("schema") == SCHEMA)
    except OSError:
        return False


def _arrays(body: FlexibleBody) -> dict[str, Any]:
    """Every array of a body by its place in the file."""
    found = {name: np.asarray(getattr(body, name)) for name in _PLAIN}
    nodes = body.nodes.values()
    found |= {f"nodes/{key}": np.stack([getattr(node, key) for node in nodes]) for key in _NODE}
    for part, cls in _PARTS.items():
        if (given := getattr(body, part)) is not None:
            found |= {f"{part}/{f.name}": getattr(given, f.name) for f in fields(cls)}
    return found


def _write(file: Any, body: FlexibleBody) -> None:
    file.attrs["schema"], file.attrs["schema_version"] = SCHEMA, np.int64(SCHEMA_VERSION)
    file.attrs["content_hash"] = body.content_hash
    file.attrs["display_hash"] = _display_hash(body)
    for place, words in (("labels", body.labels), ("nodes/name", tuple(body.nodes))):
        file.create_dataset(place, data=np.array(words, dtype=object), dtype=h5py.string_dtype())
    for place, array in _arrays(body).items():
        file.create_dataset(place, data=array)


def _display_hash(body: FlexibleBody) -> str:
    """Of what is only drawn, which is no part of the content."""
    digest = hashlib.sha256()
    for f in fields(body.display) if body.display is not None else ():
        array = getattr(body.display, f.name)
        digest.update(f"{array.dtype.str}{array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# ---- reading ------------------------------------------------------------------------------------


def load(path: str | os.PathLike[str]) -> FlexibleBody:
    """A flexible body from the file that `FlexibleBody.save` wrote.

    Parameters
    ----------
    path : path
        An HDF5 file.

    Returns
    -------
    body : FlexibleBody
        Equal to the one that was saved, to the bit; its `file` says where it lies.

    Raises
    ------
    ModelError
        There is no such file, it holds no flexible body or one of a newer version, or it is
        damaged.

    See Also
    --------
    FlexibleBody.save : the opposite.

    Examples
    --------
    >>> b = sk.ModelBuilder()
    >>> b.add_body("strip", flexible=sk.Beam(1.0, 0.3, 0.7, modes={"y": 2}))
    >>> strip = b.build().flexible["strip"]
    >>> strip.save("strip.h5", overwrite=True)
    >>> sk.flexible.load("strip.h5") == strip
    True
    """
    given = Path(path)
    if not os.path.isfile(given):  # which, unlike Path.is_file, never raises
        raise _refusal(given, "there is no such file", "check the path.")
    if not os.access(given, os.R_OK):
        raise _refusal(given, "this file is not readable", "change its permissions.")
    if not h5py.is_hdf5(given):
        raise _refusal(given, "this is not an HDF5 file", _WRITER)
    with _or_damaged(given), h5py.File(given, "r", locking=False) as file:
        _check_schema(given, file)
        body = _read(given, file)
        kept = [file.attrs[key] for key in ("content_hash", "display_hash")]
    if kept != [body.content_hash, _display_hash(body)]:
        raise _refusal(given, "this file is damaged: its numbers are not those saved", _RESTORE)
    return body


@contextmanager
def _or_damaged(path: Path) -> Iterator[None]:
    """Whatever HDF5 and NumPy say of a file that is not as it was written."""
    try:
        yield
    except ModelError as error:
        if any(fault.file for fault in error.faults):
            raise
        raise _refusal(path, f"this file is damaged: {error.faults[0].problem}", _RESTORE) from None
    except KeyError as error:
        what = str(error).strip("\"'")
        raise _refusal(path, f"this file is damaged: {what}", _RESTORE) from error
    except (OSError, RuntimeError, ValueError, TypeError, AttributeError) as error:
        raise _refusal(path, f"this file is damaged: {error}", _RESTORE) from error


def _refusal(path: Path, problem: str, remedy: str) -> ModelError:
    return ModelError(Fault(problem, remedy, file=str(path)))


def _check_schema(path: Path, file: Any) -> None:
    schema = file.attrs.get("schema")
    if schema != SCHEMA:
        what = "of no schema" if schema is None else f"of schema {schema!r}"
        raise _refusal(path, f"this file is {what}, not {SCHEMA!r}", _WRITER)
    version = int(file.attrs.get("schema_version", 0))
    if version != SCHEMA_VERSION:
        problem = f"this file is of version {version} of {SCHEMA!r}, not {SCHEMA_VERSION}"
        newer = version > SCHEMA_VERSION
        raise _refusal(path, problem, "upgrade skodyn." if newer else "save the body again.")


def _read(path: Path, file: Any) -> FlexibleBody:
    rows = zip(*(file["nodes"][key][()] for key in _NODE), strict=True)
    names = _words(file["nodes"]["name"])
    parts = {
        part: cls(**{f.name: file[part][f.name][()] for f in fields(cls)})
        for part, cls in _PARTS.items()
        if part in file
    }
    return FlexibleBody(
        **{name: file[name][()] for name in _PLAIN},
        labels=_words(file["labels"]),
        nodes={name: FlexibleNode(*row) for name, row in zip(names, rows, strict=True)},
        **parts,
        file=os.path.abspath(path),
    )


def _words(data: Any) -> tuple[str, ...]:
    return tuple(data.asstr()[()])
