"""What the package must know of a channel, and all channels by name.

The keys of scenario files, the data sets of logs, what is computed between two chunks of a run and
what is drawn of it follow from these entries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from skodyn.channels.curves import Curves, Family
from skodyn.channels.rows import Rows
from skodyn.faults import Fault
from skodyn.model.model import Model
from skodyn.registry import Registry

__all__ = [
    "CHANNELS",
    "Channel",
    "DataSet",
    "Labels",
    "built_in_data",
    "drawn_channels",
    "known_labels",
    "loggable",
]

Labels = dict[str, tuple[str, ...]]


class DataSet(NamedTuple):
    """Rows of a log under one name: its dimensions, time first, and what it means."""

    dims: tuple[str, ...]
    meaning: str
    unit: str = ""
    dtype: str = "<f8"


def _no_labels(_model: Model) -> Labels:
    return {}


def _no_fault(_model: Model) -> Fault | None:
    return None


@dataclass(frozen=True, eq=False)
class Channel:
    """One quantity that a run can log.

    data: the data sets that it fills, by name. compute: their rows. labels: those along its
    dimensions, for a model. fault: why a model cannot have it, or None.
    draw: curves of one of its data sets; without it, it is no curve. on_its_own: its panels share
    no row with those of others. usual: a plot says if it was not logged. always: every log has it.
    algorithm: of dynamics/algorithms.py; its batch kernel is ready before anybody times a step.
    order: where it comes in lists, logs and plots.
    """

    name: str
    data: Mapping[str, DataSet]
    compute: Callable[[Rows], Mapping[str, Any]]
    labels: Callable[[Model], Labels] = _no_labels
    fault: Callable[[Model], Fault | None] = _no_fault
    draw: Callable[[str, Curves], list[Family]] | None = None
    on_its_own: bool = False
    usual: bool = False
    always: bool = False
    algorithm: str = ""
    order: int = 100


CHANNELS: Registry[Channel] = Registry(
    "a channel",
    lambda thing: isinstance(thing, Channel),
    lambda channel: channel.name,
    "skodyn.channels.entries",
    order=lambda channel: channel.order,
)
"""Every channel by its name."""


def loggable() -> tuple[str, ...]:
    """The channels that can be asked for, those of others included."""
    return tuple(name for name, channel in CHANNELS.items() if not channel.always)


def built_in_data() -> dict[str, DataSet]:
    """The data sets of the package's own channels, in the order of logs."""
    own = CHANNELS.built_in.values()
    return {name: data for channel in own for name, data in channel.data.items()}


def drawn_channels() -> dict[str, Channel]:
    """The package's own data sets that are curves over time, and the channels they belong to."""
    own = CHANNELS.built_in.values()
    return {name: channel for channel in own if channel.draw for name in channel.data}


def known_labels(model: Model) -> Labels:
    """The labels along every dimension that the package's own channels have for a model."""
    found: Labels = {}
    for channel in CHANNELS.built_in.values():
        found |= channel.labels(model)
    return found
