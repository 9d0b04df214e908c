"""The table `flexible` of a body in a model file: its keys, and the beam or body that it means."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from skodyn.errors import ModelError
from skodyn.faults import shown
from skodyn.model.flexible.beams import BEAM_KEYS, beam_of
from skodyn.model.flexible.bent import UNREAD

__all__ = ["FLEXIBLE_KEYS", "read_flexible"]

FLEXIBLE_KEYS = ("beam", "modes", "segments", "damping", "stiffening", "nodes", "loaded", "file")
_PATH = "give the path of a file that FlexibleBody.save wrote."
_EXAMPLE = "write beam = { length = …, mass_per_length = …, bending_stiffness = … } and modes"
Known = Callable[[dict[str, Any], tuple[str, ...], tuple[str, ...], str], dict[str, Any]]
Tell = Callable[..., None]


class Context(NamedTuple):
    """Whom to ask for known keys, and to tell of faults; from where files are seen."""

    known: Known
    fault: Tell
    folder: Path


def read_flexible(table: Any, body: str, context: Context) -> Any:
    """The beam or body; UNREAD, with faults, if nobody can know."""
    at, whose = ("bodies", body, "flexible"), f"Body {body!r}"
    if not isinstance(table, dict):
        context.fault(at, f"{whose}: flexible is {shown(table)}", f"{_EXAMPLE}.")
        return UNREAD
    given = context.known(table, FLEXIBLE_KEYS, at, f"flexible of body {body!r}")
    if "file" in given:
        return _from_file(given, body, context)
    if "beam" not in given:
        context.fault(at, f"{whose}: flexible has no beam and no file", f"{_EXAMPLE}, or file.")
        return UNREAD
    if not isinstance(given["beam"], dict):
        what = f"{whose}: flexible.beam is {shown(given['beam'])}"
        context.fault((*at, "beam"), what, f"{_EXAMPLE}.")
        return UNREAD
    beam = context.known(given["beam"], BEAM_KEYS, (*at, "beam"), f"beam of body {body!r}")
    return beam_of({**given, "beam": beam})


def _from_file(given: dict[str, Any], body: str, context: Context) -> Any:
    """A body that was saved; whatever else could be said of it stands in its file."""
    from skodyn.io.flexible_files import load  # h5py takes time to import

    at, whose = ("bodies", body, "flexible"), f"Body {body!r}"
    beside = [key for key in given if key not in ("file", "stiffening")]
    for key in beside:
        if key == "beam":
            what, remedy = "flexible has both beam and file", "give the one or the other."
        else:
            what, remedy = f"flexible.{key} follows from file", "leave it out."
        context.fault((*at, key), f"{whose}: {what}", remedy)
    name = given["file"]
    if not isinstance(name, str) or not name:
        context.fault((*at, "file"), f"{whose}: flexible.file is {shown(name)}", _PATH)
        return UNREAD
    try:
        found = load(context.folder / name)
    except ModelError as error:
        for fault in error.faults:
            problem = f"{whose}: flexible.file has a fault"
            context.fault((*at, "file"), problem, "", name, cause=fault)
        return UNREAD
    asked = given.get("stiffening", len(found.slaves) > 0)
    if asked is not (len(found.slaves) > 0):
        what = f"{whose}: flexible.stiffening is {shown(asked)}, but the body in the file "
        if asked is True:
            what, remedy = what + "has no second_order shapes", "split the body, or leave it out."
        else:
            what, remedy = what + "says by itself what stiffens", "leave it out."
        context.fault((*at, "stiffening"), what, remedy)
        return UNREAD
    return UNREAD if beside else found
