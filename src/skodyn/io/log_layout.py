"""Where things lie in the file of a log: HDF5 makes it once, whole, and never touches it again.

A log is an HDF5 file in which every dataset is contiguous and has its place from the beginning,
followed by one block of ours, the footer. What changes while a run goes on lies in a few known
ranges of bytes: rows, their checksums, the two copies of the state, and the length of each channel
(a number in the header of its dataset). All other bytes stay as they were made; the footer keeps
their checksum, and readers compare it before they let HDF5 near the file.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Self

import h5py
import numpy as np
from h5py._objects import phil

from skodyn.errors import LogError
from skodyn.forks import on_fork
from skodyn.io.disk import read_at, reserve, write_at
from skodyn.io.schema import Names, dtype_of

__all__ = [
    "SCHEMA",
    "SCHEMA_VERSION",
    "STATE_BYTES",
    "Content",
    "Layout",
    "Place",
    "contiguous",
    "make_log",
]

# h5py's one lock: a fork waits until no thread is inside HDF5, or its child could never use it
on_fork(before=phil.acquire, in_parent=phil.release, in_child=phil.release)

SCHEMA = "skodyn-log"
SCHEMA_VERSION = 3
"""The newest; a log without a table of events is of schema 2, which older readers know."""

EVENT_DATA = {"event_t": "<f8", "contact_events": "<f8"}
"""A table of its own length, in runs that log contacts: times, and what happened."""

STATE_BYTES = 2**15  # of each copy
FOOTER = 4096
_MAGIC = (b"skodyn-log-2", b"skodyn-log-3")  # without and with a table of events
_EVENTS = 1024  # for how many there is room at first
_PAGE_BYTES = 2**18  # of all channels together
_DATASPACE, _LAYOUT, _CONTINUATION = 1, 8, 16  # kinds of messages in the header of an HDF5 object


class Content(NamedTuple):
    """What never changes in a log."""

    names: Names
    channels: tuple[str, ...]
    description: str
    scenario: str
    record: str
    events: int = _EVENTS  # for how many there is room, in logs that have such a table

    @property
    def has_events(self) -> bool:
        return "event_part" in self.names.labels


class Place(NamedTuple):
    """Where a channel lies: two numbers in the header of its dataset, how many rows and how many
    bytes it has; its rows; and the shape of a row."""

    length: int
    stored: int
    data: int
    shape: tuple[int, ...]

    @property
    def row(self) -> int:
        """Bytes of a row."""
        return 8 * math.prod(self.shape)


class Layout(NamedTuple):
    """The map of a log, as its footer keeps it."""

    size: int  # bytes before the footer
    capacity: int  # rows for which there is room
    page: int  # rows that have one checksum in each channel
    state: int
    checks: int  # a row of 32-bit checksums for each page, one for each channel
    channels: dict[str, Place]
    fixed: int = 0  # checksum of all bytes that never change
    event_capacity: int = 0
    events: dict[str, Place] = {}  # noqa: RUF012 - a table of its own length, if there is one

    @property
    def checks_bytes(self) -> int:
        return 4 * len(self.channels) * -(-self.capacity // self.page)

    def encode(self) -> bytes:
        given = self._asdict()
        if not self.events:  # as it was before there were any
            given = {key: value for key, value in given.items() if "event" not in key}
        text = json.dumps(given, separators=(",", ":")).encode()
        if len(text) > FOOTER - 64:
            raise LogError(
                f"A log has no room to describe {len(self.channels)} channels; log fewer, or one "
                "with several parts."
            )
        magic = _MAGIC[bool(self.events)]
        return (b"%s %08x %s\n" % (magic, zlib.crc32(text), text)).ljust(FOOTER, b"\0")

    @classmethod
    def read(cls, handle: int) -> Self | None:
        """The layout in the footer of an open file; None if it has none, or none that is whole."""
        end = os.fstat(handle).st_size - FOOTER
        block = read_at(handle, FOOTER, end) if end > 0 else b""
        magic, _, rest = block.rstrip(b"\0").partition(b" ")
        crc, _, text = rest.partition(b" ")
        text = text.removesuffix(b"\n")
        if magic not in _MAGIC or crc != b"%08x" % zlib.crc32(text):
            return None
        found = json.loads(text)
        for key in ("channels", "events"):
            given = found.get(key, {}).items()
            places = {name: Place(a, b, c, tuple(shape)) for name, (a, b, c, shape) in given}
            found[key] = places
        layout = cls(**found)
        return layout if layout.size == end else None

    def write_length(self, handle: int, rows: int, events: int, *, shrinks: bool = False) -> None:
        """Tell HDF5 how many rows there are. It opens no contiguous dataset of none, and none that
        claims more rows than bytes, so these are written in the order that never does."""
        lengths = [(place, max(rows, 1)) for place in self.channels.values()]
        lengths += [(place, max(events, 1)) for place in self.events.values()]
        for place, shown in lengths:
            numbers = [(place.stored, shown * place.row), (place.length, shown)]
            for at, number in reversed(numbers) if shrinks else numbers:
                write_at(handle, number.to_bytes(8, "little"), at)

    def changing(self) -> Iterator[tuple[int, int]]:
        """Ranges of bytes that change: (start, stop)."""
        yield self.state, self.state + 2 * STATE_BYTES
        yield self.checks, self.checks + self.checks_bytes
        for place, room in self._places():
            yield place.length, place.length + 8
            yield place.stored, place.stored + 8
            yield place.data, place.data + room * place.row

    def _places(self) -> Iterator[tuple[Place, int]]:
        """Everything that grows, and the room it has."""
        yield from ((place, self.capacity) for place in self.channels.values())
        yield from ((place, self.event_capacity) for place in self.events.values())

    def checksum(self, handle: int) -> int:
        """Of all bytes that never change."""
        at, found = 0, 0
        for start, stop in sorted(self.changing()):
            found = zlib.crc32(read_at(handle, start - at, at), found)
            at = stop
        return zlib.crc32(read_at(handle, self.size - at, at), found)


def make_log(path: Path, handle: int, content: Content, capacity: int) -> Layout:
    """Make a log without rows at `path`, which is open as `handle`, with room for so many."""
    with h5py.File(path, "w", libver="earliest", locking=False) as file:
        layout = _write_all(file, content, capacity)
    layout = layout._replace(size=os.fstat(handle).st_size)
    growing = [(layout.channels, name, capacity) for name in layout.channels]
    growing += [(layout.events, name, layout.event_capacity) for name in layout.events]
    for group, name, room in growing:
        place = group[name]
        length = _find_message(handle, place.length, _DATASPACE) + 8
        stored = _find_message(handle, place.length, _LAYOUT) + 10
        found = _number(handle, 8, length), _number(handle, 8, stored)
        if found != (room, room * place.row):
            raise LogError(
                f"{path}: this HDF5 library ({h5py.version.hdf5_version}) does not keep the length "
                f"of {name!r} where its format says; install another h5py."
            )
        group[name] = place._replace(length=length, stored=stored)
        write_at(handle, _never_written(name, place), place.data)
    layout.write_length(handle, 0, 0)
    reserve(handle, 2 * STATE_BYTES, layout.state)
    reserve(handle, layout.checks_bytes, layout.checks)
    layout = layout._replace(fixed=layout.checksum(handle))
    write_at(handle, layout.encode(), layout.size)
    return layout


def _never_written(name: str, place: Place) -> bytes:
    """The row that other programs see in a log that has none."""
    value: Any = -1 if dtype_of(name) == "<i8" else np.nan
    return np.full(place.shape, value, dtype=dtype_of(name)).tobytes()


def _find_message(handle: int, header: int, wanted: int) -> int:
    """Where a message in the header of a dataset begins (HDF5 file format, IV.A.1.a)."""
    blocks = [(header + 16, _number(handle, 4, header + 8))]
    for start, size in blocks:  # it grows by what continuations name
        at = start
        while at < start + size:
            kind, body = _number(handle, 2, at), at + 8
            if kind == wanted:
                return body
            if kind == _CONTINUATION:
                blocks.append((_number(handle, 8, body), _number(handle, 8, body + 8)))
            at = body + _number(handle, 2, at + 2)
    return 0


def _number(handle: int, size: int, offset: int) -> int:
    return int.from_bytes(read_at(handle, size, offset), "little")


def _write_all(file: Any, content: Content, capacity: int) -> Layout:
    names, channels = content.names, content.channels
    file.attrs["schema"] = SCHEMA
    file.attrs["schema_version"] = np.int64(SCHEMA_VERSION if content.has_events else 2)
    _write_scales(file, names)
    _write_model(file, content)
    group = file.create_group("provenance")
    group.create_dataset("scenario", data=content.scenario)
    group.create_dataset("record", data=content.record)
    row_bytes = sum(names.row_bytes(channel) for channel in channels)
    page = max(1, _PAGE_BYTES // max(row_bytes, 8))
    checks = contiguous(group, "checks", (-(-capacity // page), len(channels)), "<u4")
    checks.attrs["channels"] = ",".join(channels)
    checks.attrs["rows_of_a_page"] = np.int64(page)
    state = contiguous(group, "state", (2,), f"S{STATE_BYTES}")
    places = {name: _write_channel(file, name, names, capacity) for name in channels}
    at = [one.id.get_offset() for one in (state, checks)]
    layout = Layout(0, capacity, page, at[0], at[1], places)
    if not content.has_events:
        return layout
    return layout._replace(
        event_capacity=content.events, events=_write_events(file, names, content.events)
    )


def contiguous(group: Any, name: str, shape: tuple[int, ...], dtype: str) -> Any:
    """A data set with its place in the file from the start; what is not written reads as zeros."""
    settings = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    settings.set_layout(h5py.h5d.CONTIGUOUS)
    settings.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    settings.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    settings.set_obj_track_times(False)
    kind = h5py.h5t.py_create(np.dtype(dtype), logical=True)
    space = h5py.h5s.create_simple(shape)
    return h5py.Dataset(h5py.h5d.create(group.id, name.encode(), kind, space, settings))


def _write_channel(file: Any, name: str, names: Names, capacity: int) -> Place:
    channel, shape = names.data(name), names.row_shape(name)
    data = contiguous(file, name, (capacity, *shape), channel.dtype)
    data.attrs["long_name"] = channel.meaning
    if name in names.own:  # others' files of logs have no entry for it: it describes itself
        data.attrs["unit"] = channel.unit
    if name == "t":
        data.make_scale("t")
    else:
        for axis, dim in enumerate(channel.dims):
            data.dims[axis].attach_scale(file[dim])
    header = h5py.h5o.get_info(data.id).addr  # its length is looked for when the file is complete
    stored = data.size > 0  # a model that cannot move has no coordinates
    return Place(header, 0, data.id.get_offset() if stored else 0, shape)


def _write_events(file: Any, names: Names, room: int) -> dict[str, Place]:
    """The table of events: when, and what; its dimension is time of its own."""
    times = contiguous(file, "event_t", (room,), "<f8")
    times.attrs["long_name"] = "time of events [s]"
    times.make_scale("event_t")
    parts = len(names.labels["event_part"])
    table = contiguous(file, "contact_events", (room, parts), "<f8")
    table.attrs["long_name"] = "contacts made (1) and broken (0), by number; gap's rate [m/s]"
    for axis, dim in enumerate(("event_t", "event_part")):
        table.dims[axis].attach_scale(file[dim])
    return {
        data.name[1:]: Place(
            h5py.h5o.get_info(data.id).addr, 0, data.id.get_offset(), data.shape[1:]
        )
        for data in (times, table)
    }


def _write_scales(file: Any, names: Names) -> None:
    """The labels of each dimension, as dimension scales: xarray finds its coordinates there."""
    for dim, labels in names.labels.items():
        file.create_dataset(dim, data=np.array(labels, dtype=object), dtype=h5py.string_dtype())
        file[dim].make_scale(dim)


def _write_model(file: Any, content: Content) -> None:
    group, names = file.create_group("model"), content.names
    joints = np.array(names.joints, dtype=object)
    group.create_dataset("joint", data=joints, dtype=h5py.string_dtype())
    group.create_dataset("joint_columns", data=names.columns)
    group.create_dataset("parent", data=names.parents)
    group.create_dataset("description", data=content.description)
