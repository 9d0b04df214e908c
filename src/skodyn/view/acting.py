"""What acts in a run, as arrows: contacts, weights and velocities of bodies, force elements.

Elements say themselves how they are drawn (`Element.drawn`).

Contacts come from the log if it has them. Otherwise they are evaluated anew for each frame from
the contacts of the run: their normal part alone, since how far friction is strained is not known
from positions and velocities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.conventions import GROUND
from skodyn.dynamics.contact_functions import contact_forces
from skodyn.errors import SkodynError
from skodyn.io.trajectory import Trajectory, forces_of
from skodyn.model.model import Model
from skodyn.model.properties import JointProperties
from skodyn.scenario import parse_scenario
from skodyn.simulation.arrow import Arrow
from skodyn.simulation.elements import Forces
from skodyn.view.arrows import ArrowField
from skodyn.view.closures import FORCE
from skodyn.view.drawn_rows import DrawnRows

__all__ = ["STICKS", "acting_in", "arrow_fields"]

STICKS, SLIPS = "#0072B2", "#D55E00"
_SPEED, _SPRING, _TORQUE, _WEIGHT = "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
_MOST_BODIES = 250  # velocities of more are a thicket, and weigh as much as the poses
_SLIPS_FROM = 1e-3  # m/s; what slides faster across a contact slips

Floats = NDArray[np.float64]


def acting_in(trajectory: Trajectory) -> Forces | None:
    """The forces of a run: those it was given, or those of its scenario; None if nobody knows."""
    forces = forces_of(trajectory)
    if isinstance(forces, Forces):
        return forces
    if not trajectory.scenario_text:
        return None
    folder = trajectory.provenance.get("scenario_folder", ".")
    try:
        return parse_scenario(trajectory.scenario_text, folder).forces
    except SkodynError:  # its files have changed or are gone: there is nothing to recompute from
        return None


def arrow_fields(
    trajectory: Trajectory,
    model: Model,
    rows: NDArray[np.bool_],
    upright: Floats,
    exaggerate: float = 1.0,
) -> tuple[ArrowField, ...]:
    """Whatever of these the run has; `rows` are those that are drawn, with modes so many times
    larger."""
    t, q, v = trajectory.t[rows], trajectory.q[rows], trajectory.v[rows]
    drawn = DrawnRows(model, t, q, np.nan_to_num(v, posinf=0.0, neginf=0.0), exaggerate)
    acting = acting_in(trajectory)
    found: list[ArrowField | None] = [_contacts(trajectory, model, rows, acting)]
    if model.n_bodies < _MOST_BODIES:
        found += [_speeds(drawn), _weights(drawn)]
    if acting is not None:
        found += _elements(drawn, acting)
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


# ---- velocities, weights, elements ----------------------------------------------------------


def _point(rows: DrawnRows, name: str, at: Any, node: str = "") -> tuple[int, Floats]:
    """The body that a body or frame belongs to, −1 for the ground, and a point in its axes; one
    for each row if it is a node."""
    if node:
        return rows.model.body_index(name), rows.drawn_node(name, node)
    frame = rows.model.frame(name)
    k = -1 if frame.body == GROUND else rows.model.body_index(frame.body)
    return k, frame.translation + frame.rotation @ np.asarray(at, dtype=np.float64)


def _speeds(rows: DrawnRows) -> ArrowField | None:
    """Velocities of centres of mass."""
    model = rows.model
    try:
        spatial = rows.spatial
    except SkodynError:
        return None
    arms = np.einsum("fnij,nj->fni", rows.poses[0], model.com)
    speed = spatial[..., 3:] + np.cross(spatial[..., :3], arms)
    return _on_bodies(model, ("velocities", "velocities", "m/s"), speed, _SPEED)


def _weights(rows: DrawnRows) -> ArrowField | None:
    """Weights of the bodies, at their centres of mass."""
    each = rows.model.mass[:, None] * rows.model.gravity
    weights = np.broadcast_to(each, (len(rows.t), *each.shape))
    return _on_bodies(rows.model, ("weights", "weights", "N"), weights, _WEIGHT)


def _on_bodies(
    model: Model, words: tuple[str, str, str], vectors: Floats, colour: str
) -> ArrowField | None:
    """An arrow on the centre of mass of each body."""
    own: dict[str, Any] = {"bodies": np.arange(model.n_bodies), "points": np.array(model.com)}
    return ArrowField(*words, vectors, (colour,), **own) if np.any(vectors) else None


def _elements(rows: DrawnRows, acting: Forces) -> list[ArrowField]:
    """What force elements, and springs of joints, say of how they are drawn."""
    arrows = [arrow for element in acting.elements for arrow in element.drawn(rows)]
    arrows += [_joint_spring(rows, name, one) for name, one in _sprung(rows.model, acting)]
    springs = [one for one in arrows if one.tied_to is not None]
    moments = [one for one in arrows if one.is_moment and one.tied_to is None]
    forces = [one for one in arrows if not one.is_moment and one.tied_to is None]
    found = []
    for given, layer, unit, colour in (
        (forces, "forces", "N", FORCE),
        (moments, "torques", "N m", _TORQUE),
        (springs, "springs", "N", _SPRING),
    ):
        if given:
            found.append(_field(rows, given, (layer, layer, unit), colour))
    return found


def _sprung(model: Model, acting: Forces) -> list[tuple[str, JointProperties]]:
    """Joints of one degree of freedom that have a spring, and it."""
    single = {name for name, joint in zip(model.joint_names, model.joints, strict=True)
              if joint.nv == 1 and not joint.has_quaternion}  # fmt: skip
    return [(n, one) for n, one in acting.joints.items() if n in single and np.any(one.stiffness)]


def _joint_spring(rows: DrawnRows, name: str, given: JointProperties) -> Arrow:
    stiffness = float(np.ravel(given.stiffness)[0])
    return rows.at_joint(name, -stiffness * (rows.joint(name)[0] - given.rest))


def _field(
    rows: DrawnRows, arrows: Sequence[Arrow], words: tuple[str, str, str], colour: str
) -> ArrowField:
    """Arrows of one layer."""
    starts = [_point(rows, one.body, one.point, one.node) for one in arrows]
    ends = [_point(rows, *one.tied_to) for one in arrows if one.tied_to is not None]
    (bodies, points), far = _columns(starts), _columns(ends) if ends else None
    vectors = np.stack([one.vectors for one in arrows], axis=1)
    return ArrowField(*words, vectors, (colour,), bodies=bodies, points=points, ends=far)


def _columns(given: Sequence[tuple[int, Floats]]) -> tuple[NDArray[np.int64], Floats]:
    """Bodies and points: (k, 3), or (rows, k, 3) if one of them moves in its body."""
    points = np.stack(np.broadcast_arrays(*(point for _, point in given)), axis=-2)
    return np.array([k for k, _ in given]), points.astype(np.float64)
