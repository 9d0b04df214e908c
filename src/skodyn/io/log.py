"""The HDF5 log: one file per run, one versioned schema (docs/hdf5-schema.md), safe to kill.

HDF5 keeps no journal: a process that is killed while HDF5 creates or moves something leaves a file
that nobody can open. So HDF5 only makes the file, whole and with room for all rows, under another
name (io/log_layout.py). From then on rows, their checksums and the state of the run are written to
their places by this module, in an order in which every prefix is a valid log:

- rows go beyond the end of what is promised; then checksums, then the lengths of the channels;
- the state, which promises them, comes last, and twice (io/log_state.py);
- what does not fit is not squeezed in: a larger file is made beside the log and renamed over it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from skodyn.channels.entry import Channel
from skodyn.errors import LogError
from skodyn.io.disk import (
    checksum,
    claim,
    discard,
    give_name,
    lock,
    open_file,
    release,
    renames_open_files,
    write_at,
)
from skodyn.io.log_files import check_space, check_target, refuse_to_replace, temporary_name
from skodyn.io.log_layout import EVENT_DATA, STATE_BYTES, Content, Layout, make_log
from skodyn.io.log_reading import OpenLog, in_words, open_log, read_layout_and_state
from skodyn.io.log_state import State, plain, without_repetition
from skodyn.io.model_record import model_text
from skodyn.io.schema import Names, chosen_data, dtype_of
from skodyn.model.model import Model

__all__ = ["LogWriter"]

STATUSES = ("running", "finished", "failed", "interrupted")

_ROOM = 2**20  # bytes of rows in a log that was not told how many there will be


class LogWriter:
    """Appends blocks of rows to a log; make one with `create` or `reopen`."""

    def __init__(self, path: Path, handle: int, layout: Layout, state: State) -> None:
        self.path = path
        self._handle: int | None = handle
        self._layout, self._state = layout, state
        self.channels = tuple(layout.channels)
        self._rows = state.rows
        self._partial = state.partial  # checksums of the page that is not full yet
        self._full: list[tuple[int, ...]] = []  # of pages that were filled since the last flush
        self._events, self._event_checks = state.events, state.event_checks
        self._state_bytes = STATE_BYTES  # how many may lie in a copy of the state

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
        own: Sequence[Channel] = (),
    ) -> Self:
        """A new log. `channels`: data sets to log besides t, step, q and v; own: the channels among
        them that are not skodyn's own.

        provenance: what `io.provenance.collect` returned. expected_rows: the room that is made, of
        which only what is written takes disk space; more rows than that cost a copy of the file.
        """
        file_path, names = Path(path), Names.of(model, own)
        chosen = chosen_data(channels, names.own)
        check_target(file_path, overwrite)
        row_bytes = sum(names.row_bytes(channel) for channel in chosen)
        check_space(file_path, row_bytes * (expected_rows or 0))
        record = {key: value for key, value in provenance.items() if key != "scenario"}
        content = Content(
            names, chosen, model_text(model), str(provenance.get("scenario", "")),
            json.dumps(record, indent=1, ensure_ascii=False, default=plain),
        )  # fmt: skip
        room = expected_rows or _ROOM // max(row_bytes, 8)
        with in_words(path, "create"):
            refuse_to_replace(file_path)
            checks = (0,) * len(EVENT_DATA) if content.has_events else ()
            state = State((0,) * len(chosen), event_checks=checks)
            return cls._make(file_path, content, max(room, 1), state)

    @classmethod
    def _make(
        cls,
        path: Path,
        content: Content,
        room: int,
        state: State,
        old: OpenLog | None = None,
        let_go: Callable[[], None] = lambda: None,
    ) -> Self:
        """A new log with the rows of an old one; it gets its name only once it is complete.

        let_go: called before it gets it.
        """
        temporary = temporary_name(path)
        handle = claim(temporary)
        try:
            log = cls(path, handle, make_log(temporary, handle, content, room), state)
            if old is not None:
                log._copy_rows(old)
            log.flush(sync=old is not None)
            let_go()
            log._handle = give_name(handle, temporary, path)
        except BaseException:
            discard(handle, temporary)
            raise
        return log

    @classmethod
    def reopen(
        cls, path: str | os.PathLike[str], provenance: Mapping[str, Any] | None = None
    ) -> Self:
        """A log to continue after its last flushed row; `provenance` describes the new session."""
        given = Path(path)
        if not given.is_file():
            raise LogError(f"{path}: there is no such file.")
        with in_words(path, "reopen"):
            handle = open_file(given, os.O_RDWR)
            try:
                lock(handle)
                log = cls(given, handle, *read_layout_and_state(given, handle))
                temporary_name(given).unlink(missing_ok=True)  # of a run that was killed as it grew
                log._begin_session(provenance)
            except BaseException:
                os.close(handle)
                raise
        return log

    @property
    def rows(self) -> int:
        """Rows appended so far, flushed or not."""
        return self._rows

    @property
    def events(self) -> int:
        """Events appended so far, flushed or not."""
        return self._events

    def append_events(self, t: NDArray[Any], events: NDArray[Any]) -> None:
        """Add to the table of events: their times, and a row for each."""
        if not len(t):
            return
        stop = self._events + len(t)
        if stop > self._layout.event_capacity:
            self._grow(self._rows, stop)
        handle = self._open_handle()
        arrays = [np.ascontiguousarray(array, dtype="<f8") for array in (t, events)]
        with in_words(self.path, "write"):
            for place, array in zip(self._layout.events.values(), arrays, strict=True):
                write_at(handle, array, place.data + self._events * place.row)
        self._event_checks = tuple(map(checksum, arrays, self._event_checks))
        self._events = stop

    def append(self, block: Mapping[str, NDArray[Any]]) -> None:
        """Add a block of rows: one array for each channel, all of the same length."""
        handle = self._open_handle()
        arrays = self._checked(block)
        start, stop = self._rows, self._rows + len(arrays["t"])
        if stop > self._layout.capacity:
            self._grow(stop, self._events)
            handle = self._open_handle()
        with in_words(self.path, "write"):
            for name, array in arrays.items():
                place = self._layout.channels[name]
                if array.size:
                    write_at(handle, array, place.data + start * place.row)
        self._take_checksums(arrays, start, stop)
        self._rows = stop

    def flush(self, *, sync: bool = False) -> None:
        """Make all rows survive the death of this process; with `sync`, a power cut as well.

        Ask for `sync` before a checkpoint that counts on these rows.
        """
        handle, layout = self._open_handle(), self._layout
        with in_words(self.path, "write"):
            if self._full:
                first = self._rows // layout.page - len(self._full)
                row = 4 * len(self.channels)
                write_at(handle, np.array(self._full, dtype="<u4"), layout.checks + first * row)
                self._full = []
            layout.write_length(handle, self._rows, self._events)
            if sync:
                os.fsync(handle)  # the promise must not reach the disk before the rows
            self._write_state(rows=self._rows, partial=self._partial, **self._events_now())
            if sync:
                os.fsync(handle)

    def _events_now(self) -> dict[str, Any]:
        return {"events": self._events, "event_checks": self._event_checks}

    def truncate(self, rows: int, events: int = 0) -> None:
        """Drop all rows from number `rows` on, as a resume from an earlier checkpoint needs, and
        all events from number `events` on."""
        handle = self._open_handle()
        if not (0 <= rows <= self._rows and 0 <= events <= self._events):
            raise LogError(
                f"{self.path} has {self._rows} rows and cannot be cut to {rows}; the checkpoint "
                "and the log do not belong together."
            )
        self.flush()
        with in_words(self.path, "truncate"):
            self._partial, self._event_checks = self._checksums_to(rows), self._checks_to(events)
            self._rows, self._events = rows, events
            # the promise shrinks first
            self._write_state(rows=rows, partial=self._partial, **self._events_now())
            self._layout.write_length(handle, rows, events, shrinks=True)

    def finish(
        self, status: str, message: str = "", summary: Mapping[str, Any] | None = None
    ) -> None:
        """Flush, write how the run ended, and close. Works on a full disk."""
        if status not in STATUSES:
            raise LogError(f"{status!r} is not a status of a run; use one of {STATUSES}.")
        try:
            self.flush()
            with in_words(self.path, "write"):
                ended = datetime.now(UTC).isoformat()
                given = {"status": status, "message": message, "summary": dict(summary or {})}
                self._write_state(**given, ended=ended)
        finally:
            self.close()

    def close(self) -> None:
        """Let go of the file. A log closed without `finish` keeps the status "running"."""
        if self._handle is not None:
            handle, self._handle = self._handle, None
            with in_words(self.path, "close"):
                release(handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: Any, _trace: Any) -> None:
        if self._handle is None:
            return
        if kind is None:
            self.finish("finished")
        elif issubclass(kind, KeyboardInterrupt):
            self.finish("interrupted", "stopped by Ctrl-C")
        else:
            self.finish("failed", f"{kind.__name__}: {error}")

    def __repr__(self) -> str:
        state = "closed" if self._handle is None else "open"
        return f"<LogWriter {str(self.path)!r}: {self._rows} rows, {state}>"

    # ---- how --------------------------------------------------------------------------------

    def _open_handle(self) -> int:
        if self._handle is None:
            raise LogError(f"{self.path} is closed; use LogWriter.reopen to add to it.")
        return self._handle

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
            dtype = np.dtype(dtype_of(name))
            expected = (rows, *self._layout.channels[name].shape)
            if array.shape != expected or not np.can_cast(array.dtype, dtype, "same_kind"):
                raise LogError(
                    f"Channel {name!r} takes {dtype} of shape {expected}, "
                    f"this block has {array.dtype} of shape {array.shape}."
                )
            arrays[name] = np.ascontiguousarray(array, dtype=dtype)
        return arrays

    def _take_checksums(self, arrays: Mapping[str, NDArray[Any]], start: int, stop: int) -> None:
        """Go on with the checksums of pages over rows start … stop − 1."""
        page, at = self._layout.page, start
        while at < stop:
            end = min(stop, (at // page + 1) * page)
            pieces = [array[at - start : end - start] for array in arrays.values()]
            self._partial = tuple(map(checksum, pieces, self._partial))
            if end % page == 0:
                self._full.append(self._partial)
                self._partial = (0,) * len(self.channels)
            at = end

    def _checksums_to(self, rows: int) -> tuple[int, ...]:
        """Checksums of the rows of a page before row `rows`, which must be sound."""
        start = rows // self._layout.page * self._layout.page
        if start == rows:
            return (0,) * len(self.channels)
        kept = open_log(self.path)
        try:
            arrays = [kept.read(name, range(start, rows), slice(None)) for name in self.channels]
        finally:
            kept.close()
        return tuple(checksum(array) for array in arrays)

    def _checks_to(self, events: int) -> tuple[int, ...]:
        """Checksums of the table of events before number `events`, which must be sound."""
        if events == self._events:
            return self._event_checks
        kept = open_log(self.path)
        try:
            tables = kept.events() or {}
        finally:
            kept.close()
        return tuple(checksum(np.ascontiguousarray(array[:events])) for array in tables.values())

    def _write_state(self, **changes: Any) -> None:
        """Both copies of the state, one after the other."""
        state = replace(self._state, number=self._state.number + 1, **changes)
        line = state.encode()
        padded = line.ljust(self._state_bytes, b"\0")
        for copy in range(2):
            write_at(self._open_handle(), padded, self._layout.state + copy * STATE_BYTES)
        self._state, self._state_bytes = state, len(line)

    def _begin_session(self, provenance: Mapping[str, Any] | None) -> None:
        """Mark the run as running again, and keep where."""
        resumed = self._state.resumed
        if provenance is not None:
            now = {key: value for key, value in provenance.items() if key != "scenario"}
            before = open_log(self.path)
            try:
                resumed = (*resumed, without_repetition(now, before.record()))
            finally:
                before.close()
        self._write_state(status="running", message="", ended="", summary={}, resumed=resumed)

    def _grow(self, rows: int, events: int) -> None:
        """Make room for so many rows and events: a larger file takes the place of this one."""
        self.flush()
        with in_words(self.path, "write"):
            old = open_log(self.path)
            try:
                room = self._layout.capacity
                room = room if rows <= room else max(rows, 2 * room)
                content = old.content()
                if events > content.events:
                    content = content._replace(events=max(events, 2 * content.events))
                none = (0,) * len(self._event_checks)
                empty = replace(
                    self._state, rows=0, partial=(0,) * len(self.channels), events=0,
                    event_checks=none,
                )  # fmt: skip
                larger = self._make(self.path, content, room, empty, old, lambda: self._let_go(old))
            finally:
                old.close()
            if self._handle is not None:
                release(self._handle)
        self._handle, self._layout, self._state = larger._handle, larger._layout, larger._state
        self._partial, self._state_bytes = larger._partial, larger._state_bytes
        self._events, self._event_checks = larger._events, larger._event_checks

    def _let_go(self, old: OpenLog) -> None:
        """Windows puts nothing into the place of a file that is open."""
        if not renames_open_files():
            old.close()
            self.close()

    def _copy_rows(self, old: OpenLog) -> None:
        for start in range(0, old.rows, self._layout.page):
            rows = range(start, min(start + self._layout.page, old.rows))
            self.append({name: old.read(name, rows, slice(None)) for name in self.channels})
        events = old.events()
        if events is not None:
            self.append_events(*events.values())
