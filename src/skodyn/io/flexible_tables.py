"""The table `flexible` of a body in a model file: its keys, and the beam or body that it means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from skodyn.faults import shown
from skodyn.model.beams import BEAM_KEYS, beam_of
from skodyn.model.bent import UNREAD

__all__ = ["FLEXIBLE_KEYS", "read_flexible"]

FLEXIBLE_KEYS = ("beam", "modes", "segments", "damping", "stiffening", "nodes")
_EXAMPLE = "write beam = { length = …, mass_per_length = …, bending_stiffness = … } and modes"
Known = Callable[[dict[str, Any], tuple[str, ...], tuple[str, ...], str], dict[str, Any]]
Tell = Callable[..., None]


class Context(NamedTuple):
    """Whom to ask for known keys, and to tell of faults."""

    known: Known
    fault: Tell


def read_flexible(table: Any, body: str, context: Context) -> Any:
    """The beam, or UNREAD, with faults, if nobody can know."""
    at, whose = ("bodies", body, "flexible"), f"Body {body!r}"
    if not isinstance(table, dict):
        context.fault(at, f"{whose}: flexible is {shown(table)}", f"{_EXAMPLE}.")
        return UNREAD
    given = context.known(table, FLEXIBLE_KEYS, at, f"flexible of body {body!r}")
    if "beam" not in given:
        context.fault(at, f"{whose}: flexible has no beam", f"{_EXAMPLE}.")
        return UNREAD
    if not isinstance(given["beam"], dict):
        what = f"{whose}: flexible.beam is {shown(given['beam'])}"
        context.fault((*at, "beam"), what, f"{_EXAMPLE}.")
        return UNREAD
    beam = context.known(given["beam"], BEAM_KEYS, (*at, "beam"), f"beam of body {body!r}")
    return beam_of({**given, "beam": beam})
