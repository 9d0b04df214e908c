"""A model for the eye (`draw`) and for other programs (`describe`).

A body that is the only child of another is drawn right below it with ↳, at the same indentation:
a serial chain stays a straight column however long it is. Only branches indent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from skodyn.conventions import GROUND
from skodyn.model.flexible.bent_drawing import bent_rows, describe_bent
from skodyn.model.joints import Joint
from skodyn.model.loops.loop_drawing import (
    coupling_words,
    describe_coupling,
    describe_group,
    describe_loop,
    drawn_groups,
    loop_cells,
    vector_words,
)
from skodyn.model.mimics import Mimic
from skodyn.model.model import Model
from skodyn.model.shapes import Collision, Surface, Visual, shape_word, shape_words

__all__ = ["describe", "draw", "size_words"]

LIMIT = 200
"""How many bodies, frames, loops … are drawn unless everything is asked for."""

_DEEPEST = 24  # branches within branches; below that, lines name their parent instead


def draw(model: Model, *, everything: bool = False) -> str:
    """The tree as text, one body a line; a large one is cut to its first levels."""
    bodies = range(model.n_bodies) if everything else _first_levels(model, LIMIT)
    lines = [_header(model), GROUND, *_columns(_rows(model, bodies))]
    left_out = _left_out(model.n_bodies - len(bodies), "bodies")
    for what, rows in _lists(model):
        drawn = rows[: None if everything else LIMIT]
        if drawn:
            lines += [what, *_columns((f"   {first}", *rest) for first, *rest in drawn)]
        left_out += _left_out(len(rows) - len(drawn), what)
    for title, sentences in (("notes", model.notes), ("repairs", model.repairs)):
        if sentences:
            lines += [title, *(f"   {sentence}" for sentence in sentences)]
    if left_out:
        lines.append(f"… {' and '.join(left_out)} left out; `skodyn info --all` shows them")
    return "\n".join(lines)


def _lists(model: Model) -> list[tuple[str, list[tuple[str, ...]]]]:
    """What is listed below the tree, as rows of cells."""
    return [
        ("frames", [(name, *_frame_cells(frame)) for name, frame in model.frames.items()]),
        ("loops", [(name, *loop_cells(loop)) for name, loop in model.loops.items()]),
        ("couplings", [(name, coupling_words(one)) for name, one in model.couplings.items()]),
        ("collision shapes", _collision_rows(model)),
        ("flexible bodies", bent_rows(model)),
        ("groups", [(line,) for line in drawn_groups(model)]),
    ]


def _left_out(count: int, what: str) -> list[str]:
    return [f"{count} {what}"] if count else []


def describe(model: Model, *, groups: bool = False) -> dict[str, Any]:
    """The same as plain data, ready for JSON; groups, which take some time, if asked for."""
    parents = _parent_names(model)
    found = {"groups": [describe_group(group) for group in model.groups]} if groups else {}
    return {
        "name": model.name,
        "hash": model.content_hash,
        "n_bodies": model.n_bodies,
        "nq": model.nq,
        "nv": model.nv,
        "total_mass": float(model.mass.sum()),
        "gravity": model.gravity.tolist(),
        "bodies": [_body(model, k, parents[k]) for k in range(model.n_bodies)],
        "frames": [
            {
                "name": name,
                "body": frame.body,
                "translation": frame.translation.tolist(),
                "rotation": frame.rotation.tolist(),
            }
            for name, frame in model.frames.items()
        ],
        "loops": {name: describe_loop(loop) for name, loop in model.loops.items()},
        "couplings": {name: describe_coupling(one) for name, one in model.couplings.items()},
        **found,
        "joint_properties": {name: _plain(one) for name, one in model.joint_properties.items()},
        "limits": {name: _plain(one) for name, one in model.limits.items()},
        "visuals": describe_visuals(model),
        **({"collisions": describe_collisions(model)} if model.collisions else {}),
        **({"flexible": describe_bent(model)} if model.bent else {}),
        **({"starts": _starts(model)} if model.starts else {}),
        "notes": list(model.notes),
        "repairs": list(model.repairs),
    }


def _starts(model: Model) -> dict[str, dict[str, Any]]:
    return {name: {"q": q.tolist(), "v": v.tolist()} for name, (q, v) in model.starts.items()}


def _plain(given: Any) -> dict[str, Any]:
    """The fields of a dataclass of numbers; those that are infinite are left out, as in files."""
    return {key: value for key, value in asdict(given).items() if np.isfinite(value).all()}


def _shape(placed: Visual | Collision) -> dict[str, Any]:
    path = getattr(placed.shape, "path", None)
    return {
        "shape": shape_word(placed.shape),
        **{key: value for key, value in asdict(placed.shape).items() if key != "path"},
        **({"path": str(path)} if path else {}),
        "translation": placed.translation.tolist(),
        "rotation": placed.rotation.tolist(),
        **({"surface": asdict(surface)} if (surface := _surface(placed)) else {}),
    }


def _surface(placed: Visual | Collision) -> Surface | None:
    return placed.surface if isinstance(placed, Collision) else None


def _visual(visual: Visual) -> dict[str, Any]:
    return {**_shape(visual), "color": visual.color, "name": visual.name}


def describe_visuals(model: Model) -> dict[str, list[dict[str, Any]]]:
    """By body, in the order given; those of a robot file may have no names."""
    return {body: [_visual(one) for one in shapes] for body, shapes in model.visuals.items()}


def describe_collisions(model: Model) -> dict[str, dict[str, Any]]:
    """By body and name: the keys of a model file, but for the type, which is `shape`."""
    return {
        body: {one.name: _shape(one) for one in shapes} for body, shapes in model.collisions.items()
    }


def _collision_rows(model: Model) -> list[tuple[str, ...]]:
    """Name, size and place of every shape that can touch."""
    return [
        (f"{body}/{one.name}", shape_words(one.shape), f"at {vector_words(one.translation)}")
        for body, shapes in model.collisions.items()
        for one in shapes
    ]


def _body(model: Model, k: int, parent: str) -> dict[str, Any]:
    joint, name = model.joints[k], model.joint_names[k]
    return {
        "name": model.body_names[k],
        "parent": parent,
        "joint": {
            "name": name,
            "type": joint.type_name,
            **{key: np.asarray(value).tolist() for key, value in _parameters(joint)},
            **_place(model, name),
        },
        "translation": model.translation[k].tolist(),
        "rotation": model.rotation[k].tolist(),
        "mass": float(model.mass[k]),
        "com": model.com[k].tolist(),
        "inertia": model.inertia[k].tolist(),
    }


def _place(model: Model, name: str) -> dict[str, Any]:
    """Where a joint lies in the state, or whom it mimics."""
    if name in model.mimics:
        mimic = model.mimics[name]
        return {
            "mimic": {
                "joint": mimic.source,
                "multiplier": mimic.multiplier,
                "offset": mimic.offset,
            }
        }
    q, v = model.q_slice(name), model.v_slice(name)
    return {"q": [q.start, q.stop], "v": [v.start, v.stop]}


# ---- words --------------------------------------------------------------------------------------


def size_words(model: Model) -> str:
    """For example '2 bodies, nq 2, nv 2', or '3 bodies, nq 3, nv 3, 1 loop'."""
    bodies = "1 body" if model.n_bodies == 1 else f"{model.n_bodies} bodies"
    words = [f"{bodies}, nq {model.nq}, nv {model.nv}"]
    for count, what in ((len(model.loops), "loop"), (len(model.couplings), "coupling")):
        words += [f"{count} {what}{'s' * (count > 1)}"] if count else []
    return ", ".join(words)


def _header(model: Model) -> str:
    return (
        f"{model.name}: {size_words(model)}, {model.mass.sum():.6g} kg, "
        f"gravity {vector_words(model.gravity)}, hash {model.content_hash[:12]}"
    )


def _body_cells(model: Model, k: int) -> tuple[str, str, str]:
    """Joint, degrees of freedom, mass; a joint that is called like its body is not named again."""
    joint, name = model.joints[k], model.joint_names[k]
    words = f"{name}: " if name != model.body_names[k] else ""
    words += joint.type_name
    words += "".join(
        f" {key} {vector_words(value)}"
        for key, value in _parameters(joint)
        if key != "armature" or joint.armature  # few have one
    )
    if name in model.mimics:
        return f"{words} {_mimic_words(model.mimics[name])}", "mimic", f"{model.mass[k]:.6g} kg"
    return words, f"{joint.nv} dof", f"{model.mass[k]:.6g} kg"


def _mimic_words(mimic: Mimic) -> str:
    """For example '= -1 × finger1 + 0.02'."""
    sign = "-" if mimic.offset < 0.0 else "+"
    offset = f" {sign} {abs(mimic.offset):.6g}" if mimic.offset else ""
    return f"= {mimic.multiplier:.6g} × {mimic.source}{offset}"


def _parameters(joint: Joint) -> list[tuple[str, Any]]:
    return [(f.name, getattr(joint, f.name)) for f in fields(joint) if f.name != "name"]


def _frame_cells(frame: Any) -> tuple[str, str]:
    return f"in {frame.body}", f"at {vector_words(frame.translation)}"


def _parent_names(model: Model) -> list[str]:
    names = (*model.body_names, GROUND)
    return [names[p] for p in model.parent.tolist()]  # −1 is the last


def _columns(rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows of cells as lines, cells padded to the same width."""
    table = [tuple(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]


# ---- branches -----------------------------------------------------------------------------------


def _first_levels(model: Model, limit: int) -> list[int]:
    """The first bodies level by level, in drawing order; the parent of each is among them."""
    by_level = np.argsort(model.tree.level, kind="stable")
    return sorted(by_level[:limit].tolist())


def _rows(model: Model, drawn: Sequence[int]) -> list[tuple[str, ...]]:
    """Branch and name, joint, degrees of freedom, mass; preorder makes one pass enough."""
    parent = model.parent.tolist()
    children = np.diff(model.tree.child_start).tolist()
    last_drawn = {parent[k]: k for k in drawn}
    hidden = _hidden_below(model, drawn)
    names = _parent_names(model)
    margin = {-1: ("", 0)}  # what the lines of a body's children start with, and how deep
    rows: list[tuple[str, ...]] = []
    for k in drawn:
        before, depth = margin[parent[k]]
        if parent[k] >= 0 and children[parent[k]] == 1:
            branch, margin[k] = "↳ ", (before, depth)
        elif depth >= _DEEPEST:
            branch, margin[k] = f"┄ (on {names[k]}) ", (before, depth)
        else:
            last = last_drawn[parent[k]] == k
            branch = "└─ " if last else "├─ "
            margin[k] = (before + ("   " if last else "│  "), depth + 1)
        below = f"… {hidden[k]} more below" if hidden[k] else ""
        rows.append((before + branch + model.body_names[k], *_body_cells(model, k), below))
    return rows


def _hidden_below(model: Model, drawn: Sequence[int]) -> dict[int, int]:
    """How many bodies below each drawn one are not drawn, said only where the cut is."""
    tree = model.tree
    is_drawn = np.zeros(tree.n, dtype=np.bool_)
    is_drawn[np.asarray(drawn, dtype=np.int64)] = True
    drawn_before = np.concatenate(([0], np.cumsum(is_drawn)))
    hidden = {}
    for k in drawn:
        end = int(tree.subtree_end[k])
        children = tree.child_index[tree.child_start[k] : tree.child_start[k + 1]]
        below = end - k - int(drawn_before[end] - drawn_before[k])
        hidden[k] = 0 if is_drawn[children].all() else below
    return hidden
