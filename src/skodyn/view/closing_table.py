"""Loops and couplings for the page: rows that its sliders keep closed (page/assembly.js)."""

from __future__ import annotations

from typing import Any

from skodyn.model.loops.closing import Row
from skodyn.model.loops.loop_description import JointCoupling, Loop, closing_rows
from skodyn.model.loops.loop_geometry import end_bodies
from skodyn.model.loops.loop_systems import LoopSystem, loop_systems
from skodyn.model.model import Model

__all__ = ["MOST_CLOSED", "closing_table"]

MOST_CLOSED = 60
"""Coordinates of a group up to which the page assembles it, within some 10 ms a move."""


def closing_table(model: Model, firsts: dict[str, int]) -> list[dict[str, Any]]:
    """Groups of joints that move together. firsts: the first slider of each joint."""
    return [_group(model, system, firsts) for system in loop_systems(model)]


def _group(model: Model, system: LoopSystem, firsts: dict[str, int]) -> dict[str, Any]:
    columns: list[int] = []
    units: list[float] = []
    for k in system.members:
        joint, first = model.joints[k], firsts[model.joint_names[k]]
        columns += range(first, first + joint.nv)
        units += [1.0 if turns else system.length for turns in joint.turning]
    loops = [one for one in system.constraints if isinstance(one, Loop)]
    relations = [one for one in system.constraints if isinstance(one, JointCoupling)]
    return {
        "columns": columns,
        "units": units,
        "length": system.length,
        "loops": [_loop(model, loop) for loop in loops],
        "relations": [_relation(model, one, system.length, firsts) for one in relations],
    }


def _loop(model: Model, loop: Loop) -> dict[str, Any]:
    a, b = end_bodies(model, loop)
    rows = closing_rows(loop.joint, loop.rotation_a, loop.rotation_b)
    return {
        "a": a,
        "b": b,
        "pointA": loop.translation_a.tolist(),
        "pointB": loop.translation_b.tolist(),
        "rows": [_row(row) for row in rows],
    }


def _row(row: Row) -> dict[str, Any]:
    return {"kind": row.kind, "c": row.c} | {
        name: getattr(row, name).tolist() for name in ("u", "w", "e")
    }


def _relation(
    model: Model, coupling: JointCoupling, length: float, firsts: dict[str, int]
) -> dict[str, Any]:
    turns = model.joints[model.joint_index(coupling.joints[0])].turning[0]
    return {
        "of": [firsts[name] for name in coupling.joints],
        "coefficients": list(coupling.coefficients),
        "factors": list(coupling.factors),
        "offset": coupling.offset,
        "unit": 1.0 if turns else length,
    }
