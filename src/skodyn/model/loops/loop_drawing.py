"""Loops, couplings and groups, for the eye and for other programs: a part of drawing.py."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from skodyn.errors import SkodynError, faults_of
from skodyn.model.joints import Joint
from skodyn.model.loops.loop_description import JointCoupling, Loop
from skodyn.wording import listed

if TYPE_CHECKING:
    from skodyn.model.loops.loop_groups import DescribedGroup
    from skodyn.model.model import Model

__all__ = [
    "coupling_words",
    "describe_coupling",
    "describe_group",
    "describe_loop",
    "drawn_groups",
    "group_lines",
    "loop_cells",
    "vector_words",
]

_LARGE = 64  # degrees of freedom of a group, from which on its dense blocks are felt

_POWERS = ("", "", "²", "³", "⁴")


# ---- data ---------------------------------------------------------------------------------------


def describe_loop(loop: Loop) -> dict[str, Any]:
    """As a table of a model file."""
    parameters = {key: np.asarray(value).tolist() for key, value in _parameters(loop.joint)}
    return {
        "joint": {"type": loop.joint.type_name, **parameters},
        "body_a": loop.body_a,
        "translation_a": loop.translation_a.tolist(),
        "rotation_a": loop.rotation_a.tolist(),
        "body_b": loop.body_b,
        "translation_b": loop.translation_b.tolist(),
        "rotation_b": loop.rotation_b.tolist(),
    }


def describe_coupling(coupling: JointCoupling) -> dict[str, Any]:
    """As a table of a model file."""
    if coupling.coefficients:
        joint, source = coupling.joints
        return {"joint": joint, "source": source, "coefficients": list(coupling.coefficients)}
    if len(coupling.joints) == 1:
        return {"joint": coupling.joints[0], "coefficients": [coupling.offset]}
    terms = dict(zip(coupling.joints, coupling.factors, strict=True))
    return {"terms": terms, "offset": coupling.offset}


def describe_group(group: DescribedGroup) -> dict[str, Any]:
    given = asdict(group)
    return {key: list(x) if isinstance(x, tuple) else x for key, x in given.items()}


def _parameters(joint: Joint) -> list[tuple[str, Any]]:
    """A closing joint has neither a name nor an armature of its own."""
    names = [f.name for f in fields(joint) if f.name not in ("name", "armature")]
    return [(name, getattr(joint, name)) for name in names]


# ---- words --------------------------------------------------------------------------------------


def loop_cells(loop: Loop) -> tuple[str, str]:
    """For example ('revolute axis (0, 0, 1)', 'coupler at (0.9, 0, 0) – rocker at (0.7, 0, 0)')."""
    joint = [f" {key} {vector_words(value)}" for key, value in _parameters(loop.joint)]
    ends = (
        f"{body} at {vector_words(place)}"
        for body, place in ((loop.body_a, loop.translation_a), (loop.body_b, loop.translation_b))
    )
    return loop.joint.type_name + "".join(joint), " – ".join(ends)


def coupling_words(coupling: JointCoupling) -> str:
    """For example 'q2 = 0.1 - 0.5 × q1 + 0.3 × q1²', or 'left + right - 2 × cage = 0'."""
    if coupling.coefficients:
        joint, source = coupling.joints
        powers = ["", *(f"{source}{power}" for power in _POWERS[1:])]
        return f"{joint} = {_sum(coupling.coefficients, powers)}"
    return f"{_sum(coupling.factors, coupling.joints)} = {coupling.offset:.6g}"


def _sum(factors: Any, names: Any) -> str:
    """Terms with their signs between them; those of zero are left out."""
    words = ""
    for factor, name in zip(factors, names, strict=False):
        if factor:
            size = f"{abs(factor):.6g}"
            term = size if not name else name if size == "1" else f"{size} × {name}"
            minus = "-" if factor < 0.0 else ""
            words += f" {minus or '+'} {term}" if words else f"{minus}{term}"
    return words or "0"


def group_lines(model: Model) -> list[str]:
    """For each group, for example "loop 'pin': 5 rows, 3 redundant; mobility 1 (…)".

    Raises what a mechanism raises that cannot be closed.
    """
    return [_group_words(model, group) for group in model.groups]


def drawn_groups(model: Model) -> list[str]:
    """The same, with the reason in their place if the mechanism cannot be closed."""
    try:
        return group_lines(model)
    except SkodynError as error:
        return [str(fault) for fault in faults_of(error)]


def _group_words(model: Model, group: DescribedGroup) -> str:
    rows = "1 row" if group.rows == 1 else f"{group.rows} rows"
    words = f"{_members(model, group)}: {rows}, {group.redundant or 'none'} redundant"
    words += f"; mobility {group.mobility} ({listed(group.joints, 6)}, on {group.parent!r})"
    if group.dofs > _LARGE:
        words += f"; {group.dofs} degrees of freedom in one group may be slow"
    return words


def _members(model: Model, group: DescribedGroup) -> str:
    words = []
    for one, known in (("loop", model.loops), ("coupling", model.couplings)):
        names = [name for name in group.constraints if name in known]
        if names:
            words.append(f"{one}{'s' * (len(names) > 1)} {listed(names)}")
    return " and ".join(words)


def vector_words(value: Any) -> str:
    """A number or a vector in six digits: 0.5, (0, 1, 0)."""
    numbers = np.atleast_1d(np.asarray(value, dtype=np.float64)) + 0.0  # no −0
    words = ", ".join(f"{x:.6g}" for x in numbers)
    return f"({words})" if np.ndim(value) else words
