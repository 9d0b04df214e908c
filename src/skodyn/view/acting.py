"""What acts in a run, as arrows: contacts, velocities of centres of mass, wrenches and springs.

Contacts come from the log if it has them. Otherwise they are evaluated anew for each frame from
the contacts of the run: their normal part alone, since how far friction is strained is not known
from positions and velocities.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.conventions import GROUND
from skodyn.dynamics import forward_kinematics, velocities
from skodyn.dynamics.contact_functions import contact_forces
from skodyn.errors import SkodynError
from skodyn.io.trajectory import Trajectory
from skodyn.model.model import Model
from skodyn.scenario import parse_scenario
from skodyn.simulation.elements import Forces, PointSpring, Wrench
from skodyn.view.arrows import ArrowField
from skodyn.view.closures import FORCE

__all__ = ["STICKS", "acting_in", "arrow_fields"]

STICKS, SLIPS = "#0072B2", "#D55E00"
_SPEED, _SPRING = "#009E73", "#CC79A7"
_MOST_BODIES = 250  # velocities of more are a thicket, and weigh as much as the poses
_SLIPS_FROM = 1e-3  # m/s; what slides faster across a contact slips

Floats = NDArray[np.float64]


def acting_in(trajectory: Trajectory) -> Forces | None:
    """The forces of a run: those it was given, or those of its scenario; None if nobody knows."""
    if trajectory.acting is not None:
        return trajectory.acting  # type: ignore[no-any-return]
    if not trajectory.scenario_text:
        return None
    folder = trajectory.provenance.get("scenario_folder", ".")
    try:
        return parse_scenario(trajectory.scenario_text, folder).forces
    except SkodynError:  # its files have changed or are gone: there is nothing to recompute from
        return None


def arrow_fields(
    trajectory: Trajectory, model: Model, rows: NDArray[np.bool_], upright: Floats
) -> tuple[ArrowField, ...]:
    """Whatever of these the run has; `rows` are those that are drawn."""
    q, v = trajectory.q[rows], trajectory.v[rows]
    v = np.nan_to_num(v, posinf=0.0, neginf=0.0)
    acting = acting_in(trajectory)
    found: list[ArrowField | None] = [_contacts(trajectory, model, rows, acting)]
    if model.n_bodies < _MOST_BODIES:
        found.append(_speeds(model, q, v))
    if acting is not None:
        found += [_wrenches(model, q, acting), _springs(model, q, v, acting)]
    return tuple(_turned(one, upright) for one in found if one is not None)


def _turned(field: ArrowField, upright: Floats) -> ArrowField:
    """From world axes to the picture's."""
    places = None if field.places is None else field.places @ upright.T
    points, ends = field.points, field.ends
    if field.bodies is not None and points is not None:
        points = np.where(field.bodies[:, None] < 0, points @ upright.T, points)
    if ends is not None:
        ends = (ends[0], np.where(ends[0][:, None] < 0, ends[1] @ upright.T, ends[1]))
    vectors = field.vectors @ upright.T
    return replace(field, vectors=vectors, places=places, points=points, ends=ends)


# ---- contacts -------------------------------------------------------------------------------


def _contacts(
    trajectory: Trajectory, model: Model, rows: NDArray[np.bool_], acting: Forces | None
) -> ArrowField | None:
    """Forces at the points where shapes touch."""
    colours: tuple[str, ...] = (STICKS, SLIPS)
    keys: tuple[str, ...] = ("sticks", "slips")
    q, v = trajectory.q[rows], np.nan_to_num(trajectory.v[rows])
    contacts = () if acting is None else acting.contacts
    words = "contact forces"
    slips = None
    if contacts:
        try:
            again = contact_forces(model, contacts, q, v)
        except SkodynError:
            return None
        slips = (again.slip_speed > _SLIPS_FROM).astype(np.uint8)
    if {"contact_force", "contact_point", "contact_slip"} <= set(trajectory.channels):
        force, point = (trajectory[name][rows] for name in ("contact_force", "contact_point"))
        slips = (trajectory["contact_slip"][rows] > 0.0).astype(np.uint8)
    elif contacts:
        normal = (again.force * again.normal).sum(axis=-1, keepdims=True)
        force, point = normal * again.normal, again.point
        words = "contact forces (normal part)"
    else:
        return None
    force, point = np.nan_to_num(force), np.nan_to_num(point)
    if not np.any(force):
        return None
    if slips is None or slips.shape != force.shape[:2]:
        slips, colours, keys = None, colours[:1], ()
    return ArrowField("contacts", words, "N", force, colours, keys, places=point, states=slips)


# ---- velocities, wrenches, springs ----------------------------------------------------------


def _poses(model: Model, q: Floats) -> tuple[Floats, Floats]:
    return forward_kinematics(model.opened, np.ascontiguousarray(q))


def _point(model: Model, name: str, at: Any) -> tuple[int, Floats]:
    """The body that a body or frame belongs to, −1 for the ground, and a point in its axes."""
    frame = model.frame(name)
    k = -1 if frame.body == GROUND else model.body_index(frame.body)
    return k, frame.translation + frame.rotation @ np.asarray(at, dtype=np.float64)


def _speeds(model: Model, q: Floats, v: Floats) -> ArrowField | None:
    """Velocities of centres of mass."""
    try:
        spatial, _, _ = velocities(model.opened, np.ascontiguousarray(q), np.ascontiguousarray(v))
    except SkodynError:
        return None
    rotations, _ = _poses(model, q)
    arms = np.einsum("fnij,nj->fni", rotations, model.com)
    speed = spatial[..., 3:] + np.cross(spatial[..., :3], arms)
    if not np.any(speed):
        return None
    own = {"bodies": np.arange(model.n_bodies), "points": np.array(model.com)}
    return ArrowField("velocities", "velocities", "m/s", speed, (_SPEED,), **own)  # type: ignore[arg-type]


def _wrenches(model: Model, q: Floats, acting: Forces) -> ArrowField | None:
    """Constant forces on bodies; moments are not drawn."""
    given = [one for one in acting.elements if isinstance(one, Wrench) and np.any(one.force)]
    if not given:
        return None
    rotations, _ = _poses(model, q)
    bodies, points, vectors = [], [], []
    for one in given:
        k, point = _point(model, one.body, one.point)
        force = np.asarray(one.force, dtype=np.float64)
        turned = rotations[:, k] @ (model.frame(one.body).rotation @ force)
        vectors.append(turned if one.frame == "body" else np.tile(force, (len(q), 1)))
        bodies.append(k)
        points.append(point)
    own: dict[str, Any] = {"bodies": np.array(bodies), "points": np.array(points, dtype=float)}
    return ArrowField("forces", "forces", "N", np.stack(vectors, axis=1), (FORCE,), **own)


def _springs(model: Model, q: Floats, v: Floats, acting: Forces) -> ArrowField | None:
    """Springs between points: the line between them, and what acts on the first body."""
    given = [one for one in acting.elements if isinstance(one, PointSpring)]
    if not given:
        return None
    rotations, positions = _poses(model, q)
    spatial, _, _ = velocities(model.opened, np.ascontiguousarray(q), np.ascontiguousarray(v))
    ends: list[tuple[list[int], list[Floats]]] = [([], []), ([], [])]
    forces = []
    for one in given:
        moved = []
        for side, (body, at) in enumerate(((one.body_a, one.point_a), (one.body_b, one.point_b))):
            k, point = _point(model, body, at)
            ends[side][0].append(k)
            ends[side][1].append(point)
            arm = rotations[:, k] @ point
            speed = spatial[:, k, 3:] + np.cross(spatial[:, k, :3], arm)
            held = np.broadcast_to(point, arm.shape)
            moved.append((held, 0 * held) if k < 0 else (positions[:, k] + arm, speed))
        (a, va), (b, vb) = moved
        length = np.linalg.norm(b - a, axis=1, keepdims=True)
        line = (b - a) / np.where(length > 0, length, 1.0)
        rate = ((vb - va) * line).sum(axis=1, keepdims=True)
        forces.append((one.stiffness * (length - one.length) + one.damping * rate) * line)
    (bodies, points), (others, far) = ((np.array(k), np.array(p)) for k, p in ends)
    return ArrowField(
        "springs", "springs", "N", np.stack(forces, axis=1), (_SPRING,), bodies=bodies,
        points=points, ends=(others, far),
    )  # fmt: skip
