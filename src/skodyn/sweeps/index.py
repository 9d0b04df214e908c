"""The index of a sweep: one HDF5 file (docs/sweeps.md has its schema), written by the driver alone.

Every data set is contiguous and has its place in the file from the beginning, so that HDF5's own
bookkeeping never changes while a sweep runs: what is written later are rows of plain numbers at
known places. A batch is written in two strokes: outcomes, flush; then the `status` bytes that vouch
for them, flush. Killed in between, the runs are still pending and are run again.

A new file is made under another name, synced and renamed, so there is never half an index.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import h5py
import numpy as np
from numpy.typing import NDArray

from skodyn.errors import LogError
from skodyn.io.checkpoint import sync_folder
from skodyn.io.log_files import check_space, check_target
from skodyn.io.log_layout import contiguous
from skodyn.io.schema import Names
from skodyn.sweeps.batch import PENDING, BatchResult
from skodyn.sweeps.plan import SweepPlan
from skodyn.typing import Floats

__all__ = ["Index", "IndexWriter", "create_index", "open_index"]

SCHEMA = "skodyn-sweep"
SCHEMA_VERSION = 1
TEXTS, TEXT_BYTES = 2048, 240
NOT_KEPT = "(more different reasons than the index keeps)"
SYNC_SECONDS = 5.0
_CHUNK = 65536


@dataclass(frozen=True)
class Column:
    """One data set with a row for each run."""

    dtype: str
    width: str = ""  # the dimension along a row, if it is one


COLUMNS = {
    "status": Column("u1"),
    "code": Column("<i8"),
    "steps": Column("<i8"),
    "id": Column("S16"),
    "reason": Column("<i4"),
    "q": Column("<f8", "q_name"),
    "v": Column("<f8", "v_name"),
    "metrics": Column("<f8", "metric"),
}


def create_index(path: Path, plan: SweepPlan, record: dict[str, Any], *, overwrite: bool) -> None:
    """A new index with all runs pending."""
    check_target(path, overwrite)
    if path.exists():
        open_index(path, "r+").close()  # only an index that nobody is writing is replaced
    names = Names.of(plan.model)
    labels = {
        "q_name": names.labels["q_name"],
        "v_name": names.labels["v_name"],
        "metric": tuple(plan.study.metrics),
        "parameter": plan.study.names,
    }
    row = 8 * sum(map(len, labels.values())) + 40
    check_space(path, row * plan.count)
    temporary = path.with_name(path.name + ".new")
    temporary.unlink(missing_ok=True)
    try:
        with h5py.File(temporary, "x") as file:
            _write_skeleton(file, plan, labels, record)
        _reserve(temporary)
        os.replace(temporary, path)
        sync_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise LogError(f"{path}: cannot create it: {error.strerror or error}") from error


def _write_skeleton(file: Any, plan: SweepPlan, labels: Any, record: dict[str, Any]) -> None:
    file.attrs["schema"], file.attrs["schema_version"] = SCHEMA, np.int64(SCHEMA_VERSION)
    for name, words in labels.items():
        file.create_dataset(name, data=np.array(words, dtype=object), dtype=h5py.string_dtype())
    for name, column in COLUMNS.items():
        shape = (plan.count, len(labels[column.width])) if column.width else (plan.count,)
        contiguous(file, name, shape, column.dtype)
    contiguous(file, "texts", (TEXTS,), f"S{TEXT_BYTES}")
    points = contiguous(file, "points", (plan.count, len(plan.study.names)), "<f8")
    for start in range(0, plan.count, _CHUNK):
        stop = min(start + _CHUNK, plan.count)
        points[start:stop] = plan.design.points(np.arange(start, stop))
    group = file.create_group("study")
    for name, text in record.items():
        group.create_dataset(name, data=text if isinstance(text, str) else json.dumps(text))


def _reserve(path: Path) -> None:
    """Take the disk space now: a sweep must not find the disk full after a week."""
    handle = os.open(path, os.O_RDWR)
    try:
        try:
            os.posix_fallocate(handle, 0, max(os.fstat(handle).st_size, 1))
        except (AttributeError, OSError) as error:
            if getattr(error, "errno", None) in (28, 122):  # no space, quota
                raise
        os.fsync(handle)
    finally:
        os.close(handle)


def open_index(path: str | os.PathLike[str], mode: str = "r") -> Any:
    """The open file of an index, or a LogError that says why it is none."""
    if not Path(path).is_file():
        raise LogError(f"{path}: there is no such file.")
    if not h5py.is_hdf5(path):
        raise LogError(f"{path} is not an HDF5 file; give the index of a sweep.")
    try:
        file = h5py.File(path, mode, locking=mode != "r")
    except OSError as error:
        if "lock" in str(error):
            raise LogError(f"{path} is in use by another sweep; wait for it to end.") from None
        raise LogError(f"{path}: cannot open it: {error}") from error
    try:
        _check_schema(path, file)
    except BaseException:
        file.close()
        raise
    return file


def _check_schema(path: str | os.PathLike[str], file: Any) -> None:
    try:
        schema, version = file.attrs.get("schema"), int(file.attrs.get("schema_version", 0))
        missing = [name for name in (*COLUMNS, "texts", "points", "study") if name not in file]
    except (OSError, RuntimeError, ValueError) as error:
        raise LogError(f"{path} is damaged ({error}); restore a copy.") from error
    if schema != SCHEMA:
        raise LogError(f"{path} is not the index of a sweep; give one that skodyn sweep wrote.")
    if version > SCHEMA_VERSION:
        raise LogError(f"{path} was written by a newer skodyn; upgrade skodyn.")
    if missing:
        raise LogError(f"{path} is damaged: it has no {', '.join(missing)}; restore a copy.")


class Index:
    """Reading: status, points and texts."""

    def __init__(self, file: Any) -> None:
        self.file = file

    @property
    def count(self) -> int:
        return len(self.file["status"])

    def text(self, name: str) -> str:
        value = self.file["study"][name][()]
        return value.decode() if isinstance(value, bytes) else str(value)

    def status(self) -> NDArray[np.uint8]:
        return np.asarray(self.file["status"][:])

    def points(self, indices: NDArray[np.int64]) -> Floats:
        """Rows of parameter values; indices must increase."""
        out = np.empty((len(indices), self.file["points"].shape[1]))
        for at, rows in stretches(indices):
            out[at] = self.file["points"][rows]
        return out

    def reason(self, number: int) -> str:
        return self.file["texts"][number - 1].decode(errors="replace") if number else ""


def stretches(indices: NDArray[np.int64]) -> Iterator[tuple[slice, slice]]:
    """(slice of the indices, slice of the rows they name) for each unbroken stretch."""
    if not len(indices):
        return
    breaks = np.flatnonzero(np.diff(indices) != 1) + 1
    for start, stop in zip([0, *breaks.tolist()], [*breaks.tolist(), len(indices)], strict=True):
        first = int(indices[start])
        yield slice(start, stop), slice(first, first + stop - start)


class IndexWriter(Index):
    """The only writer of an index; rows that are complete are never written again."""

    def __init__(self, path: Path) -> None:
        super().__init__(open_index(path, "r+"))
        self.path = path
        self.state = self.status()
        self._texts = {t: i for i, t in enumerate(self.file["texts"][:].tolist(), 1) if t}
        self._synced = time.monotonic()

    def pending(self, start: int, limit: int) -> NDArray[np.int64]:
        """The first `limit` runs from `start` on that are not complete."""
        found: list[NDArray[np.int64]] = []
        while start < len(self.state) and limit > 0:
            stop = min(start + max(_CHUNK, limit), len(self.state))
            rows = start + np.flatnonzero(self.state[start:stop] == PENDING)[:limit]
            found.append(rows)
            limit -= len(rows)
            start = stop
        return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)

    def commit(self, result: BatchResult) -> int:
        """Write outcomes, then the bytes that vouch for them; how many runs were new."""
        fresh = np.flatnonzero(self.state[result.run] == PENDING)
        order = fresh[np.argsort(result.run[fresh])]
        runs = result.run[order]
        if not len(runs):
            return 0
        columns = {name: getattr(result, name)[order] for name in COLUMNS if name != "reason"}
        columns["reason"] = np.array(
            [self.text_number(result.reasons.get(run, "")) for run in runs.tolist()], dtype="<i4"
        )
        status = columns.pop("status")
        for at, rows in stretches(runs):
            for name, values in columns.items():
                if self.file[name].size:
                    self.file[name][rows] = values[at]
        self.file.flush()
        for at, rows in stretches(runs):
            self.file["status"][rows] = status[at]
        self.file.flush()
        self.state[runs] = status
        self._sync()
        return len(runs)

    def text_number(self, text: str) -> int:
        if not text:
            return 0
        cut = text.encode()[:TEXT_BYTES].decode(errors="ignore").encode()
        if cut not in self._texts:
            if len(self._texts) == TEXTS - 1:
                cut = NOT_KEPT.encode()
            number = len(self._texts) + 1
            if number > TEXTS:
                return TEXTS
            self._texts[cut] = number
            self.file["texts"][number - 1] = cut
        return self._texts[cut]

    def _sync(self) -> None:
        if time.monotonic() - self._synced > SYNC_SECONDS:
            os.fsync(self.file.id.get_vfd_handle())
            self._synced = time.monotonic()

    def close(self) -> None:
        if self.file:
            self.file.flush()
            os.fsync(self.file.id.get_vfd_handle())
            self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
