"""What is wrong with the links and joints of a mechanism, each by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skodyn.conventions import GROUND
from skodyn.faults import Fault, Subject, shown
from skodyn.model.builder_entries import BodyDescription, LoopDescription
from skodyn.model.columns import as_floats, read_column, read_inertias, read_rotations
from skodyn.model.joint_checks import is_joint, parameter_faults
from skodyn.model.joints import Joint
from skodyn.model.name_checks import check_names
from skodyn.model.subjects import subject
from skodyn.typing import Floats
from skodyn.wording import Spelling

if TYPE_CHECKING:
    from skodyn.model.description import ModelBuilder

__all__ = [
    "check_ends",
    "check_joints",
    "check_mechanism_names",
    "is_zero",
    "read_frames",
    "read_links",
    "text_of",
]


def is_zero(given: Any) -> bool:
    number = as_floats(given)
    return number is not None and number.shape == () and number == 0.0


def text_of(given: Any) -> str | None:
    return given if isinstance(given, str) else None


def check_mechanism_names(described: ModelBuilder, faults: list[Fault]) -> bool:
    """Joints may be cut or not, so their names must differ from those of loops, too."""
    before = len(faults)
    bodies = [b.name for b in described.bodies]
    links = [link.name for link in described.links]
    joints = [joint.name for joint in described.joints]
    for what, names in (("Body", bodies), ("Link", links), ("Joint", joints)):
        check_names(what, names, faults)
    carried = {_joint_name(b): b.name for b in described.bodies}
    for what, names, taken, owner in (
        ("Link", links, dict.fromkeys(map(text_of, bodies)), "a body"),
        ("Joint", joints, dict.fromkeys(text_of(loop.name) for loop in described.loops), "a loop"),
        ("Joint", joints, carried, "the joint of body {!r}"),
    ):
        for name in dict.fromkeys(x for x in map(text_of, names) if x is not None and x in taken):
            problem = f"{what} {name!r} has the name of {owner.format(taken[name])}"
            faults.append(subject(what, name).fault(problem, "rename one of them."))
    return len(faults) == before


def _joint_name(body: BodyDescription) -> str | None:
    return text_of((body.joint.joint_name if is_joint(body.joint) else None) or body.name)


def check_ends(described: ModelBuilder, faults: list[Fault]) -> bool:
    before = len(faults)
    names = [*(b.name for b in described.bodies), *(link.name for link in described.links)]
    known = {GROUND, *(name for name in names if isinstance(name, str))}
    spelling = Spelling(known)
    for joint in described.joints:
        whose, unknown = subject("Joint", joint.name), False
        for key, body in (("body_a", joint.body_a), ("body_b", joint.body_b)):
            if not isinstance(body, str) or body not in known:
                guess = body if isinstance(body, str) else None
                remedy = spelling.remedy(guess, f"name a link or a body, or {GROUND!r}")
                faults.append(whose.found(key, body, remedy, ", which is not a body"))
                unknown = True
        if not unknown and joint.body_a == joint.body_b:
            problem = f"{whose.words}: body_a and body_b are both {joint.body_a!r}"
            faults.append(
                whose.fault(problem, "join two different bodies.", "body_b", joint.body_b)
            )
    return len(faults) == before


def check_joints(given: Sequence[LoopDescription], faults: list[Fault]) -> bool:
    """Are all of them joints? Their parameters are judged, but do not matter to the graph."""
    rows: dict[type[Joint], list[LoopDescription]] = {}
    valid = True
    for described in given:
        joint = described.joint
        if not is_joint(joint):
            valid = False
            remedy = "give a joint such as Revolute(axis=(0, 0, 1))."
            faults.append(subject("Joint", described.name).found("joint", joint, remedy))
            continue
        rows.setdefault(type(joint), []).append(described)
        name = joint.joint_name
        if name is not None and not (isinstance(name, str) and name == described.name):
            whose = subject("Joint", described.name, f", {joint.type_name} joint", "joint")
            why = ", but a joint between links goes by the name that add_joint was given"
            faults.append(whose.found("name", name, "take it away.", why))
    for kind, some in rows.items():
        more = f", {kind.type_name} joint"
        owners = [subject("Joint", described.name, more, "joint") for described in some]
        faults.extend(parameter_faults(kind, [described.joint for described in some], owners))
    return valid


def read_frames(given: Sequence[LoopDescription], faults: list[Fault]) -> dict[str, Floats]:
    """rotation_a, translation_a, rotation_b, translation_b of all joints."""

    def owner(k: int) -> Subject:
        return subject("Joint", given[k].name)

    columns = {}
    for end in ("a", "b"):
        turn, shift = f"rotation_{end}", f"translation_{end}"
        columns[turn], found = read_rotations([getattr(x, turn) for x in given], owner, turn)
        faults.extend(found)
        columns[shift], found = read_column([getattr(x, shift) for x in given], (3,), shift, owner)
        faults.extend(found)
    return columns


def read_links(described: ModelBuilder, faults: list[Fault]) -> tuple[Floats, Floats]:
    """com and inertia of all links, in their own axes."""
    links = described.links

    def owner(k: int) -> Subject:
        return replace(subject("Link", links[k].name), words=f"Body {shown(links[k].name)}")

    com, found = read_column([link.com for link in links], (3,), "com", owner)
    inertia, more = read_inertias([link.inertia for link in links], owner)
    faults.extend(found + more)
    return com, inertia
