"""Contacts of given states: how far shapes are apart, and what they do to each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skodyn.conventions import GROUND
from skodyn.dynamics.algorithm import FEW
from skodyn.errors import DynamicsError, ModelError, StateError
from skodyn.faults import Fault, shown
from skodyn.jit import JIT_DISABLED
from skodyn.kernels.contact import contact_states as rows
from skodyn.kernels.packed_model import PackedModel
from skodyn.kernels.workspace import workspace_lanes
from skodyn.lanes import LANES
from skodyn.lanes.cache_lines import line_zeros
from skodyn.model.builder_entries import CollisionDescription
from skodyn.model.contact.collision_checks import check_collisions
from skodyn.model.contact.contact_layout import PackedContacts
from skodyn.model.contact.contact_tables import ContactTables, pack_contacts
from skodyn.model.contact.contacts import Contact
from skodyn.model.model import Model
from skodyn.model.shapes import Collision, HalfSpace
from skodyn.typing import Floats

__all__ = [
    "ContactForces",
    "ContactGaps",
    "Ground",
    "contact_forces",
    "contact_gaps",
    "with_ground",
]

Ground = Mapping[str, Any] | Sequence[Any]


@dataclass(frozen=True)
class ContactGaps:
    """How far shapes are apart: gap (…, contacts), negative inside; normal from b to a and the
    point in the middle of the overlap, both (…, contacts, 3) in world axes. `labels` name contacts.
    """

    labels: tuple[str, ...]
    gap: Floats
    normal: Floats
    point: Floats


@dataclass(frozen=True)
class ContactForces:
    """What shapes do to each other, on a; the opposite acts on b at the same point.

    force and moment about the point, (…, contacts, 3) in world axes; gap, slip_speed and
    normal_speed (at which the gap opens), (…, contacts); sticks: does friction hold, or is nothing
    touched; stored: the energy that contacts hold; loss: the power that they lose; bristle_rates:
    (…, bristles).
    """

    labels: tuple[str, ...]
    gap: Floats
    normal: Floats
    point: Floats
    force: Floats
    moment: Floats
    normal_speed: Floats
    slip_speed: Floats
    sticks: NDArray[np.bool_]
    stored: Floats
    loss: Floats
    bristle_rates: Floats


def with_ground(model: Model, ground: Ground = ()) -> Model:
    """The model with further shapes of the world: a list of shapes, or shapes by name.

    The first half space of a list is called "floor"; others are called after their type.
    """
    given = _ground_items(model, ground)
    if not given:
        return model
    faults: list[Fault] = []
    found = check_collisions(given, model.body_names, faults)
    own = model.collisions.get(GROUND, ())
    taken = {one.name for one in own}
    for one in found.get(GROUND, ()):
        if one.name in taken:
            faults.append(
                Fault(f"The ground has a shape {one.name!r} already", "give another name.")
            )
    if faults:
        raise ModelError(faults)
    return replace(model, collisions={**model.collisions, GROUND: (*own, *found[GROUND])})


def _ground_items(model: Model, ground: Any) -> list[CollisionDescription]:
    if isinstance(ground, Mapping):
        named: list[tuple[Any, Any]] = list(ground.items())
    elif isinstance(ground, Sequence) and not isinstance(ground, str):
        named = [(None, shape) for shape in ground]
    else:
        raise ModelError(
            f"ground is {shown(ground)}", "give a list of shapes, for example [HalfSpace()]."
        )
    taken = {one.name for one in model.collisions.get(GROUND, ())}
    items = []
    for given_name, given in named:
        name, shape = given_name, given
        origin: Any = (0.0, 0.0, 0.0)
        turn: Any = None
        if isinstance(given, Collision):
            name = given_name or given.name
            shape, origin, turn = given.shape, given.translation, given.rotation
        if name is None and isinstance(shape, HalfSpace) and "floor" not in taken:
            name = "floor"
            taken.add(name)
        items.append(CollisionDescription(name, GROUND, shape, origin, turn))
    return items


def contact_gaps(
    model: Model, contacts: Sequence[Contact], q: ArrayLike, *, ground: Ground = ()
) -> ContactGaps:
    """How far the shapes of contacts are apart.

    Parameters
    ----------
    model : Model
        The system.
    contacts : sequence of Contact
        Which shapes may touch which.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    ground : sequence
        Shapes of the world beside those of the model, for example ``[sk.HalfSpace()]``.

    Returns
    -------
    gaps : ContactGaps
        Gap, normal and point of each contact; negative gaps overlap, m.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    ModelError
        A contact names no shape of the model.

    See Also
    --------
    contact_forces : what they do to each other.

    Examples
    --------
    >>> b = sk.ModelBuilder()
    >>> b.add_body("ball", "world", sk.Free(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    >>> b.add_collision("ball", sk.Sphere(0.1))
    >>> contact = sk.Contact("ball", "floor", stiffness=1e4)
    >>> model = b.build()
    >>> q = model.neutral()
    >>> q[6] = 0.5    # half a metre above the floor
    >>> sk.contact_gaps(model, [contact], q, ground=[sk.HalfSpace()]).gap
    array([0.4])
    """
    model._refuse_flexible("contact_gaps")
    placed = with_ground(model, ground)
    tables = pack_contacts(placed, contacts)
    states, shape = _rows(q, model.nq, "q")
    v = np.zeros((len(states), model.nv))
    found = evaluate_contacts(placed, tables, states, v, _no_bristles(tables, len(states)))
    found = found.reshape(*shape, tables.n_points, rows.POINT.size)
    return ContactGaps(
        tables.labels,
        found[..., rows.POINT.GAP].copy(),
        found[..., rows.POINT.NORMAL : rows.POINT.NORMAL + 3].copy(),
        found[..., rows.POINT.PLACE : rows.POINT.PLACE + 3].copy(),
    )


def contact_forces(
    model: Model,
    contacts: Sequence[Contact],
    q: ArrayLike,
    v: ArrayLike,
    bristles: ArrayLike | None = None,
    *,
    ground: Ground = (),
) -> ContactForces:
    """What the shapes of contacts do to each other.

    Parameters
    ----------
    model : Model
        The system.
    contacts : sequence of Contact
        Which shapes may touch which, and by which law.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    v : array_like, shape (nv,) or (B, nv)
        Velocities, rad/s and m/s; of spherical and free joints in the axes of the child.
    bristles : array_like, optional
        How far friction is strained, m, as a run carries it; zero if left out. Three numbers for
        each contact point with friction, three more where it resists turning; they are those of the
        side that touches with points (not the half space, box or height field).
    ground : sequence
        Shapes of the world beside those of the model, for example ``[sk.HalfSpace()]``.

    Returns
    -------
    forces : ContactForces
        On the shapes a, in world axes, N and N m; the opposite acts on b at the same point.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    ModelError
        A contact names no shape of the model.

    See Also
    --------
    contact_gaps : how far shapes are apart.

    Examples
    --------
    >>> b = sk.ModelBuilder()
    >>> b.add_body("ball", "world", sk.Free(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    >>> b.add_collision("ball", sk.Sphere(0.1))
    >>> model = b.build()
    >>> q, v = model.neutral(), np.zeros(6)
    >>> q[6] = 0.099    # a millimetre into the floor
    >>> contact = sk.Contact("ball", "floor", stiffness=1e4)
    >>> sk.contact_forces(model, [contact], q, v, ground=[sk.HalfSpace()]).force.round(6)
    array([[ 0.,  0., 10.]])
    """
    model._refuse_flexible("contact_forces")
    placed = with_ground(model, ground)
    tables = pack_contacts(placed, contacts)
    states, shape = _rows(q, model.nq, "q")
    rates, v_shape = _rows(v, model.nv, "v")
    if v_shape != shape:
        raise StateError(f"q has {shape or 'one state'} and v {v_shape or 'one'}", "give as many.")
    strain = _no_bristles(tables, len(states))
    if bristles is not None:
        strain, s_shape = _rows(bristles, tables.n_bristles, "bristles")
        if s_shape != shape:
            raise StateError(
                f"q has shape {shape} of states and bristles {s_shape}", "give as many."
            )
    found = evaluate_contacts(placed, tables, states, rates, strain)
    return forces_of(tables, found.reshape(*shape, tables.n_points, rows.POINT.size))


def forces_of(tables: ContactTables, found: Floats) -> ContactForces:
    """Rows of the kernel by name."""

    def vector(at: int) -> Floats:
        return found[..., at : at + 3].copy()

    return ContactForces(
        tables.labels,
        found[..., rows.POINT.GAP].copy(),
        vector(rows.POINT.NORMAL),
        vector(rows.POINT.PLACE),
        vector(rows.POINT.FORCE),
        vector(rows.POINT.MOMENT),
        found[..., rows.POINT.SPEED].copy(),
        found[..., rows.POINT.SLIP].copy(),
        ~_slipping(tables, found),
        found[..., rows.POINT.STORED].copy(),
        found[..., rows.POINT.LOSS].copy(),
        _bristle_rates(tables, found),
    )


def _slipping(tables: ContactTables, found: Floats) -> NDArray[np.bool_]:
    """Where shapes touch and friction is at its limit, or there is none."""
    smooth = np.array([count == 0 for _, count in tables.bristles_of_points], dtype=bool)
    slips: NDArray[np.bool_] = (found[..., rows.POINT.GAP] < 0.0) & (
        smooth | (found[..., rows.POINT.SHARE] < 1.0)
    )
    return slips


def _bristle_rates(tables: ContactTables, found: Floats) -> Floats:
    out = np.zeros((*found.shape[:-2], tables.n_bristles))
    for point, (first, count) in enumerate(tables.bristles_of_points):
        if count:
            out[..., first : first + count] = found[
                ..., point, rows.POINT.RATES : rows.POINT.RATES + count
            ]
    return out


def evaluate_contacts(
    model: Model,
    tables: ContactTables,
    q: Floats,
    v: Floats,
    bristles: Floats,
    wide: bool | None = None,
) -> Floats:
    """(states, points, ROW): everything about the contacts of rows of states.

    wide: a register full at a time; by default if there are so many.
    """
    q, v = model.coupling.expand_q(q), model.coupling.expand_v(v)
    tree = model.uncoupled.opened
    count = len(q)
    out = np.empty((count, tables.n_points, rows.POINT.size))
    if not out.size:
        return out
    if wide is None:
        wide = not JIT_DISABLED and count >= (LANES if _batch_is_ready() else FEW)
    kernel = rows.contact_states_batch if wide else rows.contact_states
    lanes = (LANES if wide else 1) * workspace_lanes(tree.n_bodies, tree.nq, tree.nv)
    status, row = kernel.ready(
        PackedModel(tree.kernel_tree, tree.parameters),
        PackedContacts(tables.codes, tables.numbers),
        0,
        count,
        rows.States(*(np.ascontiguousarray(x).reshape(-1) for x in (q, v, bristles))),
        out.reshape(-1),
        line_zeros(lanes, poison=True),
    )
    if status != 0:
        for state in q[row : row + LANES]:
            tree.check_q(state)  # which names the joint
        raise DynamicsError(
            "A state is so large that results are NaN or infinite; give ordinary SI values."
        )
    return out


def _batch_is_ready() -> bool:
    """Whether nobody has to wait for the compiler; both ways have the same bits."""
    batch = rows.contact_states_batch
    return "ready" in vars(batch) or batch.is_at_hand


def _no_bristles(tables: ContactTables, count: int) -> Floats:
    return np.zeros((count, tables.n_bristles))


def _rows(given: ArrayLike, size: int, name: str) -> tuple[Floats, tuple[int, ...]]:
    """(rows, shape of the batch) of one state or many."""
    array = np.asarray(given, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] != size or not np.isfinite(array).all():
        raise StateError(f"{name} is {shown(given)}", f"give {size} finite numbers for each state.")
    shape = array.shape[:-1]
    return array.reshape(math.prod(shape), size), shape
