"""Where the rows of a trajectory come from: a log file, or arrays in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from skodyn.channels.entry import Channel
from skodyn.errors import LogError
from skodyn.io.log_reading import OpenLog, open_log
from skodyn.io.model_record import read_model
from skodyn.io.schema import Names, chosen_data
from skodyn.model.model import Model

__all__ = ["LogRows", "MemoryRows", "Source"]


class Source(Protocol):
    """Where rows come from."""

    names: Names
    channels: tuple[str, ...]
    rows: int
    label: str

    def read(self, channel: str, rows: range, columns: slice) -> NDArray[Any]: ...
    def events(self) -> tuple[NDArray[Any], NDArray[Any]] | None: ...
    def about(self) -> dict[str, Any]: ...
    def model(self) -> Model: ...


class MemoryRows:
    """Rows in memory."""

    label = "in memory"

    def __init__(
        self,
        model: Model,
        arrays: Mapping[str, NDArray[Any]],
        about: dict[str, Any],
        own: Sequence[Channel],
        events: tuple[NDArray[Any], NDArray[Any]] | None = None,
        acting: object = None,
    ) -> None:
        self._events, self.acting = events, acting
        self._model, self.names, self._about = model, Names.of(model, own), about
        self.channels = chosen_data(arrays, self.names.own)
        self._arrays = {name: np.asarray(arrays[name]) for name in self.channels}
        self.rows = len(self._arrays["t"])
        for name, array in self._arrays.items():
            if array.shape != (expected := (self.rows, *self.names.row_shape(name))):
                raise LogError(f"Channel {name!r} has shape {array.shape}, it must be {expected}.")

    def read(self, channel: str, rows: range, columns: slice) -> NDArray[Any]:
        array = self._arrays[channel][_as_slice(rows)]
        return array if columns == slice(None) else array[:, columns]

    def events(self) -> tuple[NDArray[Any], NDArray[Any]] | None:
        return self._events

    def about(self) -> dict[str, Any]:
        return self._about

    def model(self) -> Model:
        return self._model


class LogRows:
    """Rows in a log file; holds a handle only between `hold` and `release`."""

    def __init__(self, path: Path) -> None:
        self.path, self.label = path, repr(str(path))
        self._handle: OpenLog | None = None
        with self._log() as log:
            self.channels = log.channels
            self.rows = log.rows
            self.names = log.names()

    def hold(self) -> None:
        if not self._handle:
            self._handle = open_log(self.path)

    def release(self) -> None:
        if self._handle:
            self._handle.close()
        self._handle = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_handle": None}

    @contextmanager
    def _log(self) -> Iterator[OpenLog]:
        log = self._handle or open_log(self.path)
        try:
            yield log
        finally:
            if log is not self._handle:
                log.close()

    def read(self, channel: str, rows: range, columns: slice) -> NDArray[Any]:
        backward = rows.step < 0
        with self._log() as log:
            array = log.read(channel, rows[::-1] if backward else rows, columns)
        return array[::-1] if backward else array

    def events(self) -> tuple[NDArray[Any], NDArray[Any]] | None:
        with self._log() as log:
            found = log.events()
        return None if found is None else (found["event_t"], found["contact_events"])

    def model(self) -> Model:
        with self._log() as log:
            text = log.model_text()
        if text is None:
            raise LogError(
                f"{self.path} was written before logs kept their model; run it again, or give "
                "the model file."
            )
        return read_model(text)

    def about(self) -> dict[str, Any]:
        with self._log() as log:
            return log.about()


def _as_slice(rows: range) -> slice:
    """The slice that picks these rows; a range may stop before row 0, a slice may not."""
    return slice(rows.start, rows.stop if rows.stop >= 0 else None, rows.step)
