"""What a log says of its run, and changes as the run goes on: one line of JSON, kept twice.

Both copies are written at each flush, one after the other, each with its checksum. A kill between
or within the two leaves one of them whole, and a damaged byte the other.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from skodyn.io.log_layout import STATE_BYTES

__all__ = ["State", "newest", "plain", "without_repetition"]

MESSAGE_BYTES = 2000
_TOO_LONG = {"note": "too long to be kept"}


@dataclass(frozen=True)
class State:
    """Where a run is. `partial` are the checksums of the last rows, which do not fill a page."""

    partial: tuple[int, ...]
    number: int = 0  # it grows with each flush
    rows: int = 0
    status: str = "running"
    message: str = ""
    ended: str = ""
    summary: dict[str, Any] = field(default_factory=dict)
    resumed: tuple[dict[str, Any], ...] = ()
    resumed_left_out: int = 0
    events: int = 0
    event_checks: tuple[int, ...] = ()  # CRC-32 of the whole table, one for each data set

    def encode(self) -> bytes:
        """The line. Of what does not fit, old resumptions are left out first, then the summary."""
        state = replace(self, message=_cut(self.message, MESSAGE_BYTES))
        while len(line := state._line()) > STATE_BYTES:
            if state.resumed:
                left_out = state.resumed_left_out + 1
                state = replace(state, resumed=state.resumed[1:], resumed_left_out=left_out)
            else:
                state = replace(state, summary=_TOO_LONG)
        return line

    def _line(self) -> bytes:
        given = asdict(self)
        if not self.event_checks:  # a log without such a table
            given = {key: value for key, value in given.items() if "event" not in key}
        text = json.dumps(given, ensure_ascii=False, default=plain).encode()
        return b"%08x %s\n" % (zlib.crc32(text), text)


def newest(copies: bytes) -> State | None:
    """The newest whole copy, if there is one."""
    halves = (copies[:STATE_BYTES], copies[STATE_BYTES:])
    found = [state for half in halves if (state := _decode(half))]
    return max(found, key=lambda state: state.number, default=None)


def _decode(copy: bytes) -> State | None:
    crc, _, text = copy.rstrip(b"\0").removesuffix(b"\n").partition(b" ")
    if crc != b"%08x" % zlib.crc32(text):
        return None
    found = json.loads(text)
    for key in ("partial", "resumed", "event_checks"):
        found[key] = tuple(found.get(key, ()))
    return State(**found)


def without_repetition(now: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """The provenance of a later session; what is as in the first is named and not repeated."""
    told = json.loads(json.dumps(now, default=plain))
    same = sorted(key for key in told if key in before and told[key] == before[key])
    rest = {key: value for key, value in told.items() if key not in same}
    return {**rest, "as_before": same}


def with_repetition(kept: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """The whole of it again."""
    whole = {key: value for key, value in kept.items() if key != "as_before"}
    return whole | {key: before[key] for key in kept["as_before"]}


def plain(value: Any) -> Any:
    """NumPy numbers and arrays as JSON can hold them."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return str(value)


def _cut(text: str, size: int) -> str:
    """The longest beginning of a text that fits into so many bytes of UTF-8."""
    return text.encode()[:size].decode(errors="ignore")
