"""The joints of a model for the page: what its sliders move, and forward kinematics for it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.model.joints import Joint
from skodyn.model.loops.loop_geometry import constraint_rows
from skodyn.model.loops.loop_systems import loop_systems
from skodyn.model.model import Model
from skodyn.model.properties import JointLimits
from skodyn.view.closing_table import MOST_CLOSED, closing_table
from skodyn.view.rotations import quaternions

__all__ = ["FAR", "MOST_SLIDERS", "OPEN", "joint_table", "no_sliders"]

MOST_SLIDERS = 200
FAR = 0.15
"""How far sliders of modes reach, in lengths of the body: what modes are for."""

OPEN = 1e-9
"""How far apart, m or rad, the ends of loops may be."""

Floats = NDArray[np.float64]


def joint_table(model: Model, q: Floats | None, extent: float) -> dict[str, Any] | None:
    """Sliders and the tree they move; None for a replay, and where `no_sliders` has a reason."""
    if q is None or no_sliders(model, q):
        return None
    sliders: list[dict[str, Any]] = []
    start: list[float] = []
    firsts: dict[str, int] = {}
    for k, name in enumerate(model.joint_names):
        if name in model.mimics:
            continue
        firsts[name] = len(sliders)
        joint = model.joints[k]
        own = model.q_slice(name)
        start += _start(joint, q[own.start : own.start + joint.nq])
        sliders += _sliders(model, name, joint, extent)
        modes = _modes(model, k)
        start += q[model.mode_slice(model.body_names[k])].tolist() if modes else []
        sliders += modes
    bodies = [_body(model, k, firsts) for k in range(model.n_bodies)]
    for slider, value in zip(sliders, start, strict=True):  # a start beyond limits is kept
        slider["low"], slider["high"] = min(slider["low"], value), max(slider["high"], value)
    groups = closing_table(model, firsts) if model.has_loops else []
    return {"sliders": sliders, "start": start, "bodies": bodies, "groups": groups}


def no_sliders(model: Model, q: Floats) -> str:
    """Why the joints of a model cannot be moved in the page; nothing if they can."""
    if model.nv > MOST_SLIDERS:
        return f"no sliders for more than {MOST_SLIDERS} coordinates"
    if not model.has_loops:
        return ""
    if model.flexible:
        return "no sliders: loops and bodies that bend are not closed in the page"
    if max((len(system.dofs) for system in loop_systems(model)), default=0) > MOST_CLOSED:
        return f"no sliders for more than {MOST_CLOSED} coordinates that move together"
    if max(float(np.abs(rows.g).max(initial=0.0)) for rows in constraint_rows(model, q)) > OPEN:
        return "no sliders: its loops are open"
    return ""


def _start(joint: Joint, q: Floats) -> list[float]:
    """Coordinates as sliders have them: a rotation vector for a quaternion."""
    if joint.has_quaternion:
        return [*_rotation_vector(q[:4]), *q[4:].tolist()]
    return [float(x) for x in q]


def _rotation_vector(quaternion: Floats) -> list[float]:
    w, axis = float(quaternion[0]), np.asarray(quaternion[1:])
    size = float(np.linalg.norm(axis))
    angle = 2 * math.atan2(size, abs(w))
    scale = angle / size if size > 1e-12 else 2.0
    return [float(x) * (scale if w >= 0 else -scale) for x in axis]


def _sliders(model: Model, name: str, joint: Joint, extent: float) -> list[dict[str, Any]]:
    if joint.has_quaternion:
        parts = ["turn x", "turn y", "turn z"]
        parts += ["x", "y", "z"] if joint.is_floating else []
        units = ["rad" if part.startswith("turn") else "m" for part in parts]
    else:
        parts, units = list(joint.q_parts), list(joint.q_units)
    rows = []
    for part, unit in zip(parts, units, strict=True):
        reach = math.pi if unit == "rad" else extent
        lowest, highest = _limits(model, name)  # of joints with one coordinate: no other has any
        label = name if joint.nv == 1 else f"{name} {part}"
        row: dict[str, Any] = {"name": label, "unit": unit}
        row["low"], row["lowest"] = (-reach, None) if math.isinf(lowest) else (lowest, lowest)
        row["high"], row["highest"] = (reach, None) if math.isinf(highest) else (highest, highest)
        rows.append(row)
    return rows


def _limits(model: Model, name: str) -> tuple[float, float]:
    """How far a joint may go by its own limits and by those of the joints that mimic it."""
    own = model.limits.get(name, JointLimits())
    lowest, highest = own.lower, own.upper
    for follower, mimic in model.mimics.items():
        if mimic.source != name or follower not in model.limits:
            continue
        given = model.limits[follower]
        ends = sorted((x - mimic.offset) / mimic.multiplier for x in (given.lower, given.upper))
        lowest, highest = max(lowest, ends[0]), min(highest, ends[1])
    return lowest, highest


def _modes(model: Model, k: int) -> list[dict[str, Any]]:
    """A slider for each mode of a flexible body, as far as modes are for."""
    body = model.flexible.get(model.body_names[k])
    if body is None:
        return []
    reaches = [FAR * body.length if unit == "m" else 0.5 for unit in body.units]
    rows = zip(model.mode_names(model.joint_names[k]), body.units, reaches, strict=True)
    return [{"name": name, "unit": unit, "low": -x, "high": x} for name, unit, x in rows]


def _bent(model: Model, k: int) -> dict[str, Any]:
    """What the page needs to move what hangs on the nodes of a flexible body."""
    body = model.flexible.get(model.body_names[k])
    row: dict[str, Any] = {"modes": 0}
    if body is not None:
        slaves = body.slaves.reshape(-1).tolist()
        row |= {"modes": body.modes, "shapes": body.shapes, "slaves": slaves}
    hangs = model.attached.get(model.body_names[k])
    if hangs:
        node = model.flexible[model.body_names[model.parent[k]]].nodes[hangs]
        parts = ("position", "translation", "rotation")
        row["node"] = {part: getattr(node, part).tolist() for part in parts}
    return row


def _body(model: Model, k: int, firsts: dict[str, int]) -> dict[str, Any]:
    joint, name = model.joints[k], model.joint_names[k]
    kind = "screws"
    if joint.has_quaternion:
        kind = "free" if joint.is_floating else "ball"
    mimic = model.mimics.get(name)
    row: dict[str, Any] = {
        "parent": int(model.parent[k]),
        "place": model.translation[k].tolist(),
        "turn": quaternions(model.rotation[k]).tolist(),
        "kind": kind,
        "twists": [[list(u), list(t)] for u, t in joint.twists()],
        "first": firsts.get(name, 0),
        "count": joint.nv,
        "mimic": None,
        **_bent(model, k),
    }
    if mimic is not None:
        row["mimic"] = {
            "of": firsts[mimic.source],
            "multiplier": mimic.multiplier,
            "offset": mimic.offset,
        }
    return row
