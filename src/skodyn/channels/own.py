"""A person's own channels: functions of t, q and v, computed in batches by numba where it can.

    @sk.channel(unit="m", labels=("x", "z"))
    def reach(t, q, v, positions, rotations):
        return positions[-1, 0], positions[-1, 2]

The function is called with one state and returns a number, or as many as its dimensions say. With
five parameters it is also given the positions (bodies, 3) and rotations (bodies, 3, 3) of all
bodies. A function that numba cannot compile is called through Python, and a warning says so.
"""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from skodyn.channels.batches import Batches, parameter_count
from skodyn.channels.entry import (
    CHANNELS,
    Channel,
    DataSet,
    Labels,
    built_in_data,
    known_labels,
    loggable,
)
from skodyn.channels.files import load_function, names_function
from skodyn.errors import ScenarioError, StateError
from skodyn.faults import Fault, shown
from skodyn.model.model import Model

__all__ = ["FunctionChannel", "channel", "chosen"]

_FORMS = {3: "(t, q, v)", 5: "(t, q, v, positions, rotations)"}
_TAKEN = ("model", "provenance")  # groups of a log


@dataclass(frozen=True, eq=False)
class FunctionChannel(Channel):
    """A channel that is a function of one state; calling it calls the function."""

    function: Callable[..., Any] = lambda t, q, v: 0.0

    def __call__(self, *state: Any) -> Any:
        return self.function(*state)


@overload
def channel(
    function: Callable[..., Any],
    *,
    name: str = ...,
    unit: str = ...,
    dims: Sequence[str] = ...,
    labels: Sequence[str] | Mapping[str, Sequence[str]] = ...,
    meaning: str = ...,
) -> FunctionChannel: ...
@overload
def channel(
    function: None = None,
    *,
    name: str = ...,
    unit: str = ...,
    dims: Sequence[str] = ...,
    labels: Sequence[str] | Mapping[str, Sequence[str]] = ...,
    meaning: str = ...,
) -> Callable[[Callable[..., Any]], FunctionChannel]: ...
def channel(
    function: Callable[..., Any] | None = None,
    *,
    name: str = "",
    unit: str = "",
    dims: Sequence[str] = (),
    labels: Sequence[str] | Mapping[str, Sequence[str]] = (),
    meaning: str = "",
) -> Any:
    """A channel of one's own: a function f(t, q, v) of one state, logged with every row.

    Parameters
    ----------
    function : callable
        f(t, q, v), or f(t, q, v, positions, rotations) if it needs the poses of bodies in world
        axes; returns a number, or an array or tuple of them. Without it, a decorator is returned.
    name : str
        What the channel is called in logs; the function's name unless given.
    unit : str
        Of all its numbers, for example "m".
    dims : sequence of str
        The dimensions of what it returns: q_name, v_name, body, axis, or names of its own.
    labels : sequence of str, or mapping
        Labels along its own dimensions. A mere sequence makes it a vector with these parts.
    meaning : str
        One line for the log; the first line of the function's docstring unless given.

    Returns
    -------
    FunctionChannel
        For `sk.simulate(channels=[…])`, `sk.register`, or "file.py:name" in a scenario.

    Raises
    ------
    StateError
        The function or the description cannot be a channel.

    Examples
    --------
    >>> import numpy as np, skodyn as sk
    >>> @sk.channel(unit="rad/s")
    ... def fastest(t, q, v):
    ...     return np.abs(v).max()
    """

    def made(function: Callable[..., Any]) -> FunctionChannel:
        called = name or getattr(function, "__name__", "")
        return _made(function, called, unit, dims, labels, meaning)

    return made if function is None else made(function)


def _made(
    function: Callable[..., Any],
    name: str,
    unit: str,
    dims: Sequence[str],
    labels: Sequence[str] | Mapping[str, Sequence[str]],
    meaning: str,
) -> FunctionChannel:
    plain = getattr(function, "py_func", function)
    if not isinstance(labels, Mapping):
        if labels and not dims:
            dims = (f"{name}_part",)
        labels = {dims[-1]: labels} if labels else {}
    own = {dim: tuple(map(str, some)) for dim, some in labels.items()}
    faults = _faults(plain, name, tuple(dims), own)
    if faults:
        raise StateError(faults)
    said = meaning or (inspect.getdoc(plain) or "").partition("\n")[0] or name
    data = DataSet(("t", *dims), f"{said} [{unit}]" if unit else said, unit)
    return FunctionChannel(
        name, {name: data}, Batches(name, function, data.dims[1:], own), lambda model: own,
        _fault_of(name, data, own), function=plain,
    )  # fmt: skip


def _faults(function: Any, name: str, dims: tuple[str, ...], own: Labels) -> list[Fault]:
    faults = []
    if not callable(function):
        faults.append(
            Fault(f"A channel was given {shown(function)}", f"give a function {_FORMS[3]}.")
        )
    if not name.isidentifier() or keyword.iskeyword(name):
        faults.append(Fault(f"A channel cannot be called {name!r}", "give a word, name='reach'."))
    known = {dim for data in built_in_data().values() for dim in data.dims}
    for word, what in ((name, "Channel"), *((dim, "Dimension") for dim in own)):
        if word in {*known, *built_in_data(), *CHANNELS.built_in, *_TAKEN}:
            faults.append(Fault(f"{what} {word!r} is one of skodyn's own", "give another name."))
    faults += [
        Fault(
            f"Channel {name!r} has no dimension {dim!r} to label",
            f"its dimensions are {', '.join(dims) or 'none'}.",
        )
        for dim in own
        if dim not in dims
    ]
    faults += [
        Fault(f"Dimension {dim!r} of channel {name!r} is {list(some)}", "give labels that differ.")
        for dim, some in own.items()
        if not some or len({*some}) < len(some)
    ]
    if callable(function) and (count := parameter_count(function)) not in _FORMS:
        faults.append(
            Fault(
                f"Channel {name!r} is a function of {count} parameters",
                f"write {name}{_FORMS[3]} or {name}{_FORMS[5]}.",
            )
        )
    return faults


def _fault_of(name: str, data: DataSet, own: Labels) -> Callable[[Model], Fault | None]:
    def fault(model: Model) -> Fault | None:
        known = known_labels(model) | own
        unknown = [dim for dim in data.dims[1:] if dim not in known]
        if not unknown:
            return None
        problem = f"Channel {name!r} has a dimension {unknown[0]!r} without labels"
        remedy = f"give labels={{{unknown[0]!r}: (…)}}, or one of {', '.join(known)}."
        return Fault(problem, remedy, ("channels",), name)

    return fault


# ---- what a run was asked for -------------------------------------------------------------------


def chosen(wanted: Sequence[Any], folder: Path) -> tuple[tuple[Channel, ...], list[Fault]]:
    """The channels that names, functions and "file.py:name" speak of, and what is wrong."""
    found: list[Channel] = []
    faults = []
    for one in wanted:
        try:
            entry = _one(one, folder)
        except (StateError, ScenarioError) as error:
            faults += list(error.faults)
            continue
        if entry is None:
            faults.append(
                Fault(f"Unknown channels {[one]}", f"choose from {', '.join(loggable())}.")
            )
        elif entry.name in [other.name for other in found]:
            faults.append(Fault(f"Channel {entry.name!r} is given twice", "leave one out."))
        else:
            found.append(entry)
    return tuple(found), faults


def _one(given: Any, folder: Path) -> Channel | None:
    if isinstance(given, Channel):
        return given
    if names_function(given):
        loaded: Any = load_function(given, folder)
        return loaded if isinstance(loaded, Channel) else channel(loaded)
    if isinstance(given, str):
        entry = CHANNELS.get(given)
        return entry if entry is not None and not entry.always else None
    return channel(given) if callable(given) else None
