"""Judge names and parents: who is who, and who hangs from whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from skodyn.conventions import GROUND
from skodyn.errors import TopologyError
from skodyn.model.columns import shown
from skodyn.model.description import BodyDescription, FrameDescription
from skodyn.topology import Tree
from skodyn.topology.wording import Spelling

__all__ = ["check_frames", "check_names", "check_tree", "duplicate_faults", "text_fault"]


def text_fault(given: Any) -> str:
    """Why this cannot be a name, as the end of a sentence; empty if it can."""
    if not isinstance(given, str):
        return f"is named {shown(given)}; give it a text for a name."
    if not given.strip():
        return f"has an empty name ({given!r}); give it one."
    if not given.isprintable():
        return f"is named {given!r}, with characters that cannot be printed; rename it."
    return ""


def check_names(what: str, names: list[Any], faults: list[str]) -> bool:
    """Add the faults of names; say whether there were none."""
    found = [
        f"{what} number {k + 1} {fault}" for k, fault in enumerate(map(text_fault, names)) if fault
    ]
    texts = [name for name in names if isinstance(name, str)]
    found += duplicate_faults(what, Counter(texts))
    if GROUND in texts:
        found.append(f"{what} {GROUND!r} has the name of the ground; rename it.")
    faults.extend(found)
    return not found


def duplicate_faults(what: str, counts: Counter[str]) -> list[str]:
    return [
        f"{what} {name!r}: {count} of them have this name; give each its own."
        for name, count in counts.items()
        if count > 1 and name.strip()
    ]


def check_tree(bodies: Sequence[BodyDescription], names_ok: bool, faults: list[str]) -> Tree | None:
    """The tree, if all names and parents are sound; cycles are looked for if all names are."""
    position: dict[Any, int] = {GROUND: -1}
    for k, b in enumerate(bodies):
        if isinstance(b.name, str):
            position.setdefault(b.name, k)
    spelling = Spelling(position)
    before = len(faults)
    for b in bodies:
        if not isinstance(b.parent, str):
            given = f"parent is {shown(b.parent)}; name a body, or {GROUND!r}."
            faults.append(f"Body {shown(b.name)}: {given}")
        elif b.parent not in position:
            remedy = spelling.remedy(b.parent, f"name a body of the model, or {GROUND!r}")
            faults.append(f"Body {shown(b.name)}: there is no parent {b.parent!r}; {remedy}")
    if not names_ok:
        return None
    known = [b.parent if isinstance(b.parent, str) else GROUND for b in bodies]
    try:
        tree = Tree([position.get(parent, -1) for parent in known], [b.name for b in bodies])
    except TopologyError as error:
        faults.extend(_of_bodies(fault) for fault in error.faults)
        return None
    return tree if len(faults) == before else None


def _of_bodies(fault: str) -> str:
    """A sentence about a cycle of nodes, said of bodies; names in between are left alone."""
    for start, ours in (("The nodes ", "The bodies "), ("Node ", "Body ")):
        if fault.startswith(start):
            fault = ours + fault.removeprefix(start)
    for end, ours in (
        ("to the ground or to another node.", f"to {GROUND!r} or to another body."),
        ("to the ground or to a node outside the cycle.", f"to {GROUND!r} or another body."),
    ):
        if fault.endswith(end):
            fault = fault.removesuffix(end) + ours
    return fault


def check_frames(
    bodies: Sequence[BodyDescription], frames: Sequence[FrameDescription], faults: list[str]
) -> None:
    known = {b.name for b in bodies if isinstance(b.name, str)} | {GROUND}
    spelling = Spelling(known)
    for f in frames:
        if not isinstance(f.body, str) or f.body not in known:
            guess = f.body if isinstance(f.body, str) else None
            remedy = spelling.remedy(guess, f"name a body of the model, or {GROUND!r}")
            where = f"Frame {shown(f.name)}"
            faults.append(f"{where}: there is no body {shown(f.body)} to fix it in; {remedy}")
