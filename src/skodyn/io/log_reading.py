"""Reading the file of a log: nothing is handed on whose checksum does not match."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from skodyn.channels.entry import DataSet, built_in_data
from skodyn.errors import LogError
from skodyn.io.disk import checksum, open_file, read_at, read_into
from skodyn.io.log_layout import (
    EVENT_DATA,
    SCHEMA,
    SCHEMA_VERSION,
    STATE_BYTES,
    Content,
    Layout,
    Place,
)
from skodyn.io.log_state import State, newest, with_repetition
from skodyn.io.schema import Names, always_there, dtype_of, labels_of_all

__all__ = ["OpenLog", "in_words", "open_log", "read_layout_and_state"]

_READ_AT_ONCE = 2**25  # bytes
_NO_STATE = "{} is damaged: neither copy of its state can be read; restore a copy."
_SAID_BY_HDF5 = (OSError, RuntimeError, KeyError, ValueError, TypeError)


def open_log(path: str | os.PathLike[str]) -> OpenLog:
    """The open log, or a LogError that says why it is none.

    Readers take no lock: every state that a writer leaves behind is readable, and a viewer left
    open must not keep a run from being resumed.
    """
    given = Path(path)
    if not given.is_file():
        raise LogError(f"{path}: there is no such file.")
    with in_words(path, "open"):
        handle = open_file(given, os.O_RDONLY)
        try:
            layout = Layout.read(handle)
            if layout is not None:
                return OpenLog(given, handle, layout, read_state(given, handle, layout))
            return _without_footer(given, handle)
        except BaseException:
            os.close(handle)
            raise


def _open_hdf5(path: Path) -> Any:
    try:
        return h5py.File(path, "r", locking=False)
    except OSError as error:
        if "locking flag" not in str(error):
            raise
        return h5py.File(path, "r")  # this process has it open by other means


def read_layout_and_state(path: Path, handle: int) -> tuple[Layout, State]:
    """What a writer must know to go on; a LogError if the file is no log that can be continued."""
    layout = Layout.read(handle)
    if layout is None:
        open_log(path).close()  # says what it is, if it is no log
        raise LogError(
            f"{path} was written by an older skodyn or changed by another program; it can be read "
            "but not continued. Start the run again."
        )
    return layout, read_state(path, handle, layout)


def read_state(path: Path, handle: int, layout: Layout) -> State:
    if layout.checksum(handle) != layout.fixed:
        raise LogError(
            f"{path} is damaged, or was changed by another program: what describes its rows is not "
            "as skodyn wrote it; restore a copy."
        )
    state = newest(read_at(handle, 2 * STATE_BYTES, layout.state))
    if state is None:
        raise LogError(_NO_STATE.format(path))
    return state


@contextmanager
def in_words(path: str | os.PathLike[str], doing: str) -> Iterator[None]:
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
    if code == errno.EFBIG or "File too large" in said:
        return f"{path}: the file may not grow further (file size limit); raise it with ulimit -f."
    if code == errno.EWOULDBLOCK or "unable to lock" in said or "already open" in said:
        return f"{path} is in use by a run or an open reader; end that first or choose a new name."
    if "truncated" in said:
        return f"{path} is cut short: bytes at its end are missing; restore a complete copy."
    if doing == "open" and code is None:  # HDF5 says it, not the system
        return f"{path} is damaged or cut short ({said}); restore a copy."
    return f"{path}: cannot {doing} it: {said}"


class OpenLog:
    """A log that is open for reading."""

    def __init__(self, path: Path, handle: int, layout: Layout, state: State) -> None:
        self.path, self._handle, self._layout, self.state = path, handle, layout, state
        self.channels = tuple(layout.channels)
        self._hdf5: Any = None

    @property
    def rows(self) -> int:
        """Rows that are complete in every channel."""
        return self.state.rows

    @property
    def _file(self) -> Any:
        """What never changes, as HDF5 reads it. Rows are read without it: a process that has the
        file open twice would get their number from the first time."""
        if self._hdf5 is None:
            self._hdf5 = _open_hdf5(self.path)
        return self._hdf5

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1
        if self._hdf5 is not None:
            self._hdf5.close()

    @contextmanager
    def _damage_named(self) -> Iterator[None]:
        try:
            yield
        except _SAID_BY_HDF5 as error:
            raise LogError(f"{self.path} is damaged: {error}; restore a copy.") from error

    def read(self, channel: str, rows: range, columns: slice) -> NDArray[Any]:
        """Rows of a channel; `rows` must not go backward."""
        shape = self._layout.channels[channel].shape
        array = np.empty((len(rows), *shape), dtype=dtype_of(channel))
        for at, span, keep in self._spans(rows):
            some = self._sound_rows(channel, span)[keep]
            array[at : at + len(some)] = some
        return array if array.ndim == 1 else array[:, columns]

    def _spans(self, rows: range) -> Iterator[tuple[int, range, slice]]:
        """Whole pages that hold the rows from number `at` of them on, and which are meant."""
        page, bytes_of_row = self._layout.page, sum(p.row for p in self._layout.channels.values())
        pages = 1 if rows.step > page else max(1, _READ_AT_ONCE // (page * max(bytes_of_row, 8)))
        at, end = 0, min((rows[-1] // page + 1) * page, self.rows) if rows else 0
        while at < len(rows):
            start = rows[at] // page * page
            stop = min(start + pages * page, end)
            count = len(range(rows[at], min(stop, rows.stop), rows.step))
            if count == 0:
                raise LogError(
                    f"{self.path} has {self.rows} rows now, fewer than when it was opened: its run "
                    "was resumed from an earlier checkpoint; open it again."
                )
            first = rows[at] - start
            last = first + (count - 1) * rows.step
            yield at, range(start, stop), slice(first, last + 1, rows.step)
            at += count

    def _sound_rows(self, channel: str, span: range) -> NDArray[Any]:
        """Rows of whole pages, if their checksums are right."""
        array, page = self._stored_rows(channel, span), self._layout.page
        for start in range(span.start, span.stop, page):
            stop = min(start + page, span.stop)
            rows = array[start - span.start : stop - span.start]
            if checksum(rows) != self._check(channel, start):
                raise LogError(
                    f"{self.path} is damaged: rows {start} to {stop - 1} of channel {channel!r} "
                    "are not as skodyn wrote them (their checksum differs). Others can still be "
                    f"read, as in traj[:{start}] or traj[{stop}:]; restore a copy."
                )
        return array

    def _check(self, channel: str, start: int) -> int:
        """The checksum of the page that begins at a row."""
        column, page = self.channels.index(channel), self._layout.page
        if start + page > self.rows:
            return self.state.partial[column]
        return self._stored_check(start // page, column)

    def _stored_rows(self, channel: str, span: range) -> NDArray[Any]:
        place = self._layout.channels[channel]
        array = np.empty((len(span), *place.shape), dtype=dtype_of(channel))
        with in_words(self.path, "read"):
            read_into(self._handle, array, place.data + span.start * place.row)
        return array

    def _stored_check(self, page: int, column: int) -> int:
        at = self._layout.checks + 4 * (page * len(self.channels) + column)
        return int.from_bytes(read_at(self._handle, 4, at), "little")

    def names(self) -> Names:
        with self._damage_named():
            own = self._own_data()
            dims = {dim for dim in labels_of_all() if dim in self._file}
            dims |= {dim for data in own.values() for dim in data.dims[1:]}
            dims |= {"event_part"} & set(self._file)  # of the table of events
            labels = {dim: tuple(self._file[dim].asstr()[:]) for dim in dims}
            group = self._file["model"]
            joints = tuple(group["joint"].asstr()[:])
            return Names(labels, joints, group["joint_columns"][:], group["parent"][:], own)

    def _own_data(self) -> dict[str, DataSet]:
        """Data sets that are not skodyn's own, as the file describes them."""
        found = {}
        for name in (name for name in self.channels if name not in built_in_data()):
            data = self._file[name]
            dims = tuple(str(dim.keys()[0]) for dim in data.dims)
            found[name] = DataSet(dims, _text(data.attrs["long_name"]), _text(data.attrs["unit"]))
        return found

    def events(self) -> dict[str, NDArray[Any]] | None:
        """The table of events, whole, if this log has one and its checksums are right."""
        if not self.state.event_checks:
            return None
        tables = {name: self._stored_events(name) for name in EVENT_DATA}
        for (name, array), check in zip(tables.items(), self.state.event_checks, strict=True):
            if checksum(array) != check:
                raise LogError(
                    f"{self.path} is damaged: {name!r} is not as skodyn wrote it (its checksum "
                    "differs). Rows can still be read; restore a copy."
                )
        return tables

    def _stored_events(self, name: str) -> NDArray[Any]:
        place = self._layout.events[name]
        array = np.empty((self.state.events, *place.shape), dtype=EVENT_DATA[name])
        with in_words(self.path, "read"):
            read_into(self._handle, array, place.data)
        return array

    def model_text(self) -> str | None:
        """The model as JSON; None in a log that was written before logs kept it."""
        with self._damage_named():
            if "description" not in self._file["model"]:
                return None
            return text_in(self._file["model/description"])

    def record(self) -> dict[str, Any]:
        """What the first session came from."""
        with self._damage_named():
            return dict(json.loads(text_in(self._file["provenance/record"])))

    def content(self) -> Content:
        """All that never changes, to make a larger file of it."""
        with self._damage_named():
            group = self._file["provenance"]
            texts = text_in(group["scenario"]), text_in(group["record"])
        names, text = self.names(), self.model_text() or ""
        return Content(names, self.channels, text, *texts, max(self._layout.event_capacity, 1))

    def about(self) -> dict[str, Any]:
        """Provenance, and how the run ended."""
        first, state = self.record(), self.state
        with self._damage_named():
            record = {"scenario": text_in(self._file["provenance/scenario"]), **first}
        if state.resumed:
            record["resumed"] = [with_repetition(session, first) for session in state.resumed]
        if state.resumed_left_out:
            record["resumed_left_out"] = state.resumed_left_out
        if state.ended:
            record["ended"] = state.ended
        return {
            "provenance": record,
            "status": state.status,
            "message": state.message,
            "summary": state.summary,
        }


def text_in(dataset: Any) -> str:
    return _text(dataset[()])


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


# ---- logs that HDF5 must read alone ---------------------------------------------------------


def _without_footer(path: Path, handle: int) -> OpenLog:
    """A log of schema 1, one that another program wrote anew, or none at all."""
    if not h5py.is_hdf5(path):
        raise LogError(f"{path} is not an HDF5 file; give a log written by skodyn.")
    file = _open_hdf5(path)
    try:
        version = _checked_version(path, file)
        return (LogOfSchema1 if version == 1 else CopiedLog)(path, handle, file)
    except BaseException:
        file.close()
        raise


def _checked_version(path: Path, file: Any) -> int:
    if file.attrs.get("schema") != SCHEMA:
        raise LogError(f"{path} is an HDF5 file but not a skodyn log; give another one.")
    version = int(file.attrs.get("schema_version", 0))
    if version > SCHEMA_VERSION:
        raise LogError(
            f"{path} has log schema {version}, this skodyn reads up to {SCHEMA_VERSION}; "
            "upgrade skodyn."
        )
    if missing := [name for name in (*always_there(), "model", "provenance") if name not in file]:
        raise LogError(f"{path} is damaged: it has no {', '.join(missing)}; restore a copy.")
    return version


class CopiedLog(OpenLog):
    """A log that lost its footer: another program packed it anew or added to it.

    Its rows still have their checksums; where they lie is left to HDF5.
    """

    def __init__(self, path: Path, handle: int, file: Any) -> None:
        self.path, self._handle, self._hdf5 = path, handle, file
        with self._damage_named():
            checks = file["provenance/checks"].attrs
            self.channels = tuple(str(checks["channels"]).split(","))
            places = {name: Place(0, 0, 0, file[name].shape[1:]) for name in self.channels}
            self._layout = Layout(0, 0, int(checks["rows_of_a_page"]), 0, 0, places)
            state = newest(file["provenance/state"][:].tobytes())
        if state is None:
            raise LogError(_NO_STATE.format(path))
        self.state = state

    def _stored_rows(self, channel: str, span: range) -> NDArray[Any]:
        with self._damage_named():
            rows: NDArray[Any] = self._file[channel][span.start : span.stop]
        if len(rows) != len(span):
            raise LogError(f"{self.path} is damaged: {channel!r} has lost rows; restore a copy.")
        return np.ascontiguousarray(rows)

    def _stored_events(self, name: str) -> NDArray[Any]:
        with self._damage_named():
            return np.ascontiguousarray(self._file[name][: self.state.events])

    def _stored_check(self, page: int, column: int) -> int:
        with self._damage_named():
            return int(self._file["provenance/checks"][page, column])


class LogOfSchema1(OpenLog):
    """A log in chunks, written by HDF5 itself; it has no checksums."""

    def __init__(self, path: Path, handle: int, file: Any) -> None:
        self.path, self._handle, self._hdf5 = path, handle, file
        self.channels = tuple(name for name in built_in_data() if name in file)
        with self._damage_named():
            rows = int(min([file.attrs["rows"], *(len(file[c]) for c in self.channels)]))
            group = file["provenance"]
            texts: dict[str, Any] = {
                key: _text(group.attrs[key]) for key in ("status", "message", "ended")
            }
            summary = json.loads(text_in(group["summary"])) if "summary" in group else {}
            numbers = sorted(int(name[7:]) for name in group if name.startswith("resume-"))
            sessions = [json.loads(text_in(group[f"resume-{number}"])) for number in numbers]
        resumed = tuple({**session, "as_before": []} for session in sessions)
        self.state = State((), rows=rows, **texts, summary=summary, resumed=resumed)

    def read(self, channel: str, rows: range, columns: slice) -> NDArray[Any]:
        chosen = slice(rows.start, rows.stop, rows.step)
        with self._damage_named():
            data = self._file[channel]
            array: NDArray[Any] = data[chosen] if data.ndim == 1 else data[chosen, columns]
        return array
