"""Judge names and parents: who is who, and who hangs from whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from skodyn.conventions import GROUND
from skodyn.errors import TopologyError
from skodyn.faults import Fault, Subject, shown
from skodyn.model.builder_entries import BodyDescription, FrameDescription
from skodyn.model.subjects import subject
from skodyn.topology import Tree
from skodyn.topology.forest import NodeWords, child_lists, cycle_faults
from skodyn.wording import Spelling

__all__ = ["check_frames", "check_names", "check_tree", "duplicate_faults", "name_problem"]


def name_problem(given: Any) -> tuple[str, str] | None:
    """Why this cannot be a name, as the end of a clause, and the remedy; None if it can."""
    if not isinstance(given, str):
        return f"is named {shown(given)}", "give it a text for a name."
    if not given.strip():
        return f"has an empty name ({given!r})", "give it one."
    if not given.isprintable():
        return f"is named {given!r}, with characters that cannot be printed", "rename it."
    return None


def check_names(what: str, names: list[Any], faults: list[Fault]) -> bool:
    """Add the faults of names; say whether there were none."""
    found = [
        subject(what, names[k]).fault(f"{what} number {k + 1} {problem[0]}", problem[1])
        for k, problem in enumerate(map(name_problem, names))
        if problem
    ]
    texts = [name for name in names if isinstance(name, str)]
    found += duplicate_faults(Counter(texts), lambda name: subject(what, name))
    if GROUND in texts:
        whose = subject(what, GROUND)
        found.append(whose.fault(f"{whose.words} has the name of the ground", "rename it."))
    faults.extend(found)
    return not found


def duplicate_faults(counts: Counter[str], whose: Callable[[str], Subject]) -> list[Fault]:
    found = [(whose(name), count) for name, count in counts.items() if count > 1 and name.strip()]
    remedy = "give each its own."
    return [
        one.fault(f"{one.words}: {count} of them have this name", remedy) for one, count in found
    ]


def check_tree(
    bodies: Sequence[BodyDescription], names_ok: bool, faults: list[Fault]
) -> Tree | None:
    """The tree, if all names and parents are valid; cycles are looked for if all names are."""
    position: dict[Any, int] = {GROUND: -1}
    for k, b in enumerate(bodies):
        if isinstance(b.name, str):
            position.setdefault(b.name, k)
    spelling = Spelling(position)
    before = len(faults)
    for b in bodies:
        if not isinstance(b.parent, str):
            remedy = f"name a body, or {GROUND!r}."
            faults.append(subject("Body", b.name).found("parent", b.parent, remedy))
        elif b.parent not in position:
            whose = subject("Body", b.name)
            remedy = spelling.remedy(b.parent, f"name a body of the model, or {GROUND!r}")
            problem = f"{whose.words}: there is no parent {b.parent!r}"
            faults.append(whose.fault(problem, remedy, "parent", b.parent))
    if not names_ok:
        return None
    known = [b.parent if isinstance(b.parent, str) else GROUND for b in bodies]
    parents = [position.get(parent, -1) for parent in known]
    try:
        tree = Tree(parents, [b.name for b in bodies])
    except TopologyError:
        faults.extend(_cycle_faults([b.name for b in bodies], parents))
        return None
    return tree if len(faults) == before else None


def _cycle_faults(names: Sequence[str], parents: Sequence[int]) -> list[Fault]:
    """What keeps bodies from being a tree, if each name is there once and each parent is known."""
    words = NodeWords("body", "bodies", repr(GROUND))
    found = [(names[int(f.path[0])], f) for f in cycle_faults(names, child_lists(parents), words)]
    return [replace(fault, path=("bodies", name, "parent"), body=name) for name, fault in found]


def check_frames(
    bodies: Sequence[BodyDescription], frames: Sequence[FrameDescription], faults: list[Fault]
) -> None:
    known = {b.name for b in bodies if isinstance(b.name, str)} | {GROUND}
    spelling = Spelling(known)
    for f in frames:
        if not isinstance(f.body, str) or f.body not in known:
            guess = f.body if isinstance(f.body, str) else None
            remedy = spelling.remedy(guess, f"name a body of the model, or {GROUND!r}")
            whose = subject("Frame", f.name)
            problem = f"{whose.words}: there is no body {shown(f.body)} to fix it in"
            faults.append(whose.fault(problem, remedy, "body", f.body))
