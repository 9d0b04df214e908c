"""The HDF5 log: one file per run, one versioned schema (docs/hdf5-schema.md), safe to kill.

HDF5 keeps no journal, so a run that is killed leaves whatever bytes were written last. Three
habits make every such file readable up to its last flush:

- Chunks are not compressed. A compressed chunk that grows moves to another place in the file, and
  a kill between the move and the update of the index loses rows that were already safe (measured:
  half of all kill points inside a flush). It would also save only a fifth, at a tenth of the speed.
- `rows` is written, and flushed, after the rows it counts. Readers trust nothing beyond it.
- Disk space is reserved before HDF5 sees a block, so a full disk is an error here and not a
  half-written index there.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import h5py
import numpy as np
from numpy.typing import NDArray

from skodyn.errors import LogError
from skodyn.io.model_record import model_text
from skodyn.io.schema import ALWAYS, CHANNELS, Names, chosen_channels
from skodyn.model.model import Model

__all__ = ["LogWriter", "flushed_rows", "open_log"]

SCHEMA = "skodyn-log"
SCHEMA_VERSION = 1
STATUSES = ("running", "finished", "failed", "interrupted")

_KB, _MB = 2**10, 2**20
_SLACK = 128 * _KB  # room for chunk indices and headers, reserved with every block
_CANNOT_RESERVE = (errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)  # some systems and file systems
_TEXT_SIZES = {"status": 16, "message": 2000, "ended": 40}  # fixed, so they are written in place


# ---- opening --------------------------------------------------------------------------------


def open_log(path: str | os.PathLike[str], mode: str = "r") -> Any:
    """The open h5py file of a log, or a LogError that says why it is none.

    Readers take no lock: every state that a writer leaves behind is readable, and a viewer left
    open must not keep a run from being resumed.
    """
    if not Path(path).is_file():
        raise LogError(f"{path}: there is no such file.")
    with _in_words(path, "open"):
        if not h5py.is_hdf5(path):
            raise LogError(f"{path} is not an HDF5 file; give a log written by skodyn.")
        file = _open_unlocked(path) if mode == "r" else h5py.File(path, mode, locking="best-effort")
    try:
        _check_schema(path, file)
    except BaseException:
        file.close()
        raise
    return file


def _open_unlocked(path: str | os.PathLike[str]) -> Any:
    try:
        return h5py.File(path, "r", locking=False)
    except OSError as error:
        if "locking flag" not in str(error):
            raise
        return h5py.File(path, "r", locking="best-effort")  # this process is writing it


def _check_schema(path: str | os.PathLike[str], file: Any) -> None:
    if file.attrs.get("schema") != SCHEMA:
        raise LogError(f"{path} is an HDF5 file but not a skodyn log; give another one.")
    version = int(file.attrs["schema_version"])
    if version > SCHEMA_VERSION:
        raise LogError(
            f"{path} has log schema {version}, this skodyn reads up to {SCHEMA_VERSION}; "
            "upgrade skodyn."
        )
    if missing := [name for name in ALWAYS if name not in file]:
        raise LogError(f"{path} is damaged: it has no {', '.join(missing)}; restore a copy.")


def flushed_rows(file: Any) -> int:
    """Rows that are complete in every channel."""
    return int(min([file.attrs["rows"], *(len(file[c]) for c in CHANNELS if c in file)]))


def text_of(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


@contextmanager
def _in_words(path: str | os.PathLike[str], doing: str) -> Iterator[None]:
    """Turn what HDF5 and the system say into a LogError with a remedy."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        raise LogError(_sentence(path, doing, error)) from error


def _sentence(path: str | os.PathLike[str], doing: str, error: Exception) -> str:
    said, code = str(error), getattr(error, "errno", None)
    if code in (errno.ENOSPC, errno.EDQUOT) or "No space left" in said:
        return (
            f"{path}: the disk is full; rows flushed so far are safe. Free some space and resume, "
            "or log fewer rows or channels."
        )
    if code == errno.EFBIG:
        return f"{path}: the file may not grow further (file size limit); raise it with ulimit -f."
    if "unable to lock" in said or "locking flag" in said or "already open" in said:
        return f"{path} is in use by a run or an open reader; end that first or choose a new name."
    if "truncated" in said:
        return f"{path} is cut short: bytes at its end are missing; restore a complete copy."
    return f"{path}: cannot {doing} it: {said}"


# ---- writing --------------------------------------------------------------------------------


class LogWriter:
    """Appends blocks of rows to a log; make one with `create` or `reopen`."""

    def __init__(self, path: Path, file: Any) -> None:
        self.path = path
        self._file = file
        self.channels = tuple(name for name in CHANNELS if name in file)
        self._data = {name: file[name] for name in self.channels}
        self._rows = flushed_rows(file)
        self._unwritten = 0  # bytes of chunks that HDF5 still keeps, with no place in the file yet

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        channels: Iterable[str],
        model: Model,
        provenance: Mapping[str, Any],
        *,
        expected_rows: int | None = None,
        overwrite: bool = False,
    ) -> Self:
        """A new log. `channels`: what to log besides t, step, q and v.

        provenance: what `io.provenance.collect` returned. expected_rows: chunk sizes and the check
        for free space follow from it.
        """
        file_path, names, chosen = Path(path), Names.of(model), chosen_channels(channels)
        check_target(file_path, overwrite)
        row_bytes = sum(names.row_bytes(channel) for channel in chosen)
        check_space(file_path, row_bytes * (expected_rows or 0))
        with _in_words(path, "create"):
            _remove_old(file_path)
            file = h5py.File(file_path, "x", locking="best-effort")
            try:
                _write_skeleton(file, names, chosen, expected_rows)
                file["model"].create_dataset("description", data=model_text(model))
                _write_provenance(file, provenance)
                file.flush()
                return cls(file_path, file)
            except BaseException:
                file.close()
                raise

    @classmethod
    def reopen(
        cls, path: str | os.PathLike[str], provenance: Mapping[str, Any] | None = None
    ) -> Self:
        """A log to continue after its last flushed row; `provenance` describes the new session."""
        with _in_words(path, "reopen"):
            log = cls(Path(path), open_log(path, "r+"))
            try:
                log.truncate(log.rows)
                log._begin_session(provenance)
            except BaseException:
                log._file.close()
                raise
        return log

    @property
    def rows(self) -> int:
        """Rows appended so far, flushed or not."""
        return self._rows

    def append(self, block: Mapping[str, NDArray[Any]]) -> None:
        """Add a block of rows: one array for each channel, all of the same length."""
        self._check_open()
        arrays = self._checked(block)
        start, stop = self._rows, self._rows + len(arrays["t"])
        with _in_words(self.path, "write"):
            self._unwritten += self._growth(stop)
            self._reserve(self._unwritten)
            for name, array in arrays.items():
                self._data[name].resize(stop, axis=0)
                self._data[name][start:stop] = array
        self._rows = stop

    def flush(self, *, sync: bool = False) -> None:
        """Make all rows survive the death of this process; with `sync`, a power cut as well.

        Ask for `sync` before a checkpoint that counts on these rows.
        """
        self._check_open()
        with _in_words(self.path, "write"):
            self._file.flush()
            self._unwritten = 0
            self._file.attrs.modify("rows", np.int64(self._rows))
            self._file.flush()
            if sync:
                os.fsync(self._file.id.get_vfd_handle())

    def truncate(self, rows: int) -> None:
        """Drop all rows from number `rows` on, as a resume from an earlier checkpoint needs."""
        self._check_open()
        if not 0 <= rows <= self._rows:
            raise LogError(
                f"{self.path} has {self._rows} rows and cannot be cut to {rows}; the checkpoint "
                "and the log do not belong together."
            )
        with _in_words(self.path, "truncate"):
            self._file.attrs.modify("rows", np.int64(rows))
            self._file.flush()  # the promise shrinks before the rows go
            for data in self._data.values():
                data.resize(rows, axis=0)
            self._file.flush()
        self._rows = rows

    def finish(
        self, status: str, message: str = "", summary: Mapping[str, Any] | None = None
    ) -> None:
        """Flush, write how the run ended, and close. Works on a full disk, but for the summary."""
        if status not in STATUSES:
            raise LogError(f"{status!r} is not a status of a run; use one of {STATUSES}.")
        try:
            self.flush()
            self._write_end(status, message)
            if summary:
                self._write_summary(_json(summary))
        finally:
            self.close()

    def close(self) -> None:
        """Let go of the file. A log closed without `finish` keeps the status "running"."""
        if self._file:
            with _in_words(self.path, "close"):
                self._file.close()
                h5py.File(self.path, "r+").close()  # gives the reserved space back

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, _trace: Any) -> None:
        if not self._file:
            return
        if kind is None:
            self.finish("finished")
        elif issubclass(kind, KeyboardInterrupt):
            self.finish("interrupted", "stopped by Ctrl-C")
        else:
            self.finish("failed", f"{kind.__name__}: {error}")

    def __repr__(self) -> str:
        state = "open" if self._file else "closed"
        return f"<LogWriter {str(self.path)!r}: {self._rows} rows, {state}>"

    # ---- how --------------------------------------------------------------------------------

    def _check_open(self) -> None:
        if not self._file:
            raise LogError(f"{self.path} is closed; use LogWriter.reopen to add to it.")

    def _checked(self, block: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """The arrays of a block, or a LogError: a row is logged whole or not at all."""
        if wrong := set(block) ^ set(self.channels):
            raise LogError(
                f"{self.path} takes blocks of {', '.join(self.channels)}; "
                f"missing or unknown: {', '.join(sorted(wrong))}."
            )
        arrays = {name: np.asarray(block[name]) for name in self.channels}
        rows = len(arrays["t"]) if arrays["t"].ndim else 0
        for name, array in arrays.items():
            data = self._data[name]
            expected = (rows, *data.shape[1:])
            if array.shape != expected or not np.can_cast(array.dtype, data.dtype, "same_kind"):
                raise LogError(
                    f"Channel {name!r} takes {data.dtype} of shape {expected}, "
                    f"this block has {array.dtype} of shape {array.shape}."
                )
        return arrays

    def _growth(self, rows: int) -> int:
        """Bytes of the chunks that must be added to hold so many rows."""
        total = 0
        for data in self._data.values():
            chunk = data.chunks[0]
            new = -(-rows // chunk) - -(-self._rows // chunk)
            total += new * int(np.prod(data.chunks)) * data.dtype.itemsize
        return total

    def _reserve(self, size: int) -> None:
        """Take disk space beyond the end of the file, so that HDF5 cannot run out of it."""
        end, wanted = self._file.id.get_filesize(), size + _SLACK
        try:
            os.posix_fallocate(self._file.id.get_vfd_handle(), end, wanted)
        except (AttributeError, OSError) as error:
            if getattr(error, "errno", errno.ENOSYS) not in _CANNOT_RESERVE:
                raise
            if shutil.disk_usage(self.path.parent).free < wanted:
                raise OSError(errno.ENOSPC, "No space left") from None

    def _write_summary(self, text: str) -> None:
        try:
            self._reserve(len(text.encode()))
        except OSError:
            return  # the disk is full; the rows and the status are what matters
        with _in_words(self.path, "write"):
            self._file["provenance"].create_dataset("summary", data=text)

    def _begin_session(self, provenance: Mapping[str, Any] | None) -> None:
        group = self._file["provenance"]
        self._reserve(_SLACK)
        group.pop("summary", None)
        if provenance is not None:
            number = sum(name.startswith("resume-") for name in group) + 1
            group.create_dataset(f"resume-{number}", data=_json(_without_scenario(provenance)))
        self._write_end("running", "", ended="")

    def _write_end(self, status: str, message: str, ended: str | None = None) -> None:
        texts = {
            "status": status,
            "message": message,
            "ended": datetime.now(UTC).isoformat() if ended is None else ended,
        }
        with _in_words(self.path, "write"):
            for name, text in texts.items():
                self._file["provenance"].attrs.modify(name, _cut(text, _TEXT_SIZES[name]))
            self._file.flush()


# ---- the pieces of a new file ---------------------------------------------------------------


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
            "or ask for overwrite=True."
        )


def _remove_old(path: Path) -> None:
    """Make room for an overwrite, unless that would hurt: a live run, or no log at all.

    HDF5 itself empties a file before it asks for the lock, and would destroy a live run's log.
    """
    if not path.exists():
        return
    if path.stat().st_size and not h5py.is_hdf5(path):
        raise LogError(f"{path} is not an HDF5 file and is not overwritten; choose another name.")
    try:
        h5py.File(path, "r+", locking="best-effort").close()
    except OSError as error:
        if "lock" in str(error):
            raise
    path.unlink()


def check_space(path: Path, expected: int) -> None:
    free = shutil.disk_usage(path.parent).free
    if expected > free:
        raise LogError(
            f"{path} will take about {expected / 1e9:.3g} GB, but {path.parent} has "
            f"{free / 1e9:.3g} GB free; log fewer rows or channels, or choose another disk."
        )


def _write_skeleton(
    file: Any, names: Names, channels: Iterable[str], expected_rows: int | None
) -> None:
    file.attrs["schema"] = SCHEMA
    file.attrs["schema_version"] = np.int64(SCHEMA_VERSION)
    file.attrs["rows"] = np.int64(0)
    _write_scales(file, names)
    for channel in channels:
        _write_channel(file, channel, names, expected_rows)
    _write_model(file, names)


def _write_scales(file: Any, names: Names) -> None:
    """The labels of each dimension, as dimension scales: xarray finds its coordinates there."""
    for dim, labels in names.labels.items():
        file.create_dataset(dim, data=np.array(labels, dtype=object), dtype=h5py.string_dtype())
        file[dim].make_scale(dim)


def _write_channel(file: Any, name: str, names: Names, expected_rows: int | None) -> None:
    channel, shape = CHANNELS[name], names.row_shape(name)
    data = file.create_dataset(
        name,
        shape=(0, *shape),
        maxshape=(None, *(size or None for size in shape)),
        chunks=(_chunk_rows(names.row_bytes(name), expected_rows), *(size or 1 for size in shape)),
        dtype=channel.dtype,
        fillvalue=-1 if name == "step" else np.nan,  # what was never written shows
    )
    data.attrs["long_name"] = channel.meaning
    if name == "t":
        data.make_scale("t")
        return
    for axis, dim in enumerate(channel.dims):
        data.dims[axis].attach_scale(file[dim])


def _chunk_rows(row_bytes: int, expected_rows: int | None) -> int:
    """Chunks of 64 KB to 1 MB, about 32 of them: HDF5's index is one node up to 64 chunks."""
    row_bytes = max(row_bytes, 8)
    if expected_rows is None:
        return max(1, 256 * _KB // row_bytes)
    target = min(max(row_bytes * expected_rows // 32, 64 * _KB), _MB)
    return max(1, min(target // row_bytes, max(expected_rows, 64)))


def _write_model(file: Any, names: Names) -> None:
    group = file.create_group("model")
    joints = np.array(names.joints, dtype=object)
    group.create_dataset("joint", data=joints, dtype=h5py.string_dtype())
    group.create_dataset("joint_columns", data=names.columns)
    group.create_dataset("parent", data=names.parents)


def _write_provenance(file: Any, provenance: Mapping[str, Any]) -> None:
    group = file.create_group("provenance")
    group.create_dataset("scenario", data=str(provenance.get("scenario", "")))
    group.create_dataset("record", data=_json(_without_scenario(provenance)))
    for name, size in _TEXT_SIZES.items():
        text = b"running" if name == "status" else b""
        group.attrs.create(name, text, dtype=h5py.string_dtype("utf-8", size))


def _without_scenario(provenance: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in provenance.items() if key != "scenario"}


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, default=plain)


def plain(value: Any) -> Any:
    """NumPy numbers and arrays as JSON can hold them."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return str(value)


def _cut(text: str, size: int) -> bytes:
    """The longest beginning of a text that fits into so many bytes of UTF-8."""
    return text.encode()[:size].decode(errors="ignore").encode()
