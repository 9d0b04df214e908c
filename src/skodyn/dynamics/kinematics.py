"""Where bodies are and how they move: poses, velocities, Jacobians, energy and momentum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skodyn.dynamics.driver import NOTHING, run
from skodyn.dynamics.explain import read_point
from skodyn.dynamics.functions import ENERGY, JACOBIAN, JACOBIAN_DOT_V, KINEMATICS, VELOCITIES
from skodyn.errors import DynamicsError, ModelError, StateError
from skodyn.kernels import energy as _energy
from skodyn.kernels import forward_kinematics as _kinematics
from skodyn.model.columns import Floats
from skodyn.model.model import Model
from skodyn.model.products import applied

__all__ = [
    "center_of_mass",
    "energy",
    "forward_kinematics",
    "jacobian",
    "jacobian_dot_v",
    "momentum",
    "velocities",
]


def forward_kinematics(
    model: Model, q: ArrayLike, *, threads: int | None = None
) -> tuple[Floats, Floats]:
    """(rotations (n, 3, 3), positions (n, 3)) of the body frames in the world."""
    shape = (model.n_bodies, _kinematics.ROW)
    table = run(KINEMATICS, model, shape, q, threads=threads)
    return _user_rotations(model, table), np.ascontiguousarray(table[..., 9:12])


def velocities(
    model: Model, q: ArrayLike, v: ArrayLike, *, threads: int | None = None
) -> tuple[Floats, Floats, Floats]:
    """Spatial velocities V, Coriolis accelerations a and gyroscopic forces b, each (n, 6).

    World axes, at each body's origin.
    """
    shape = (model.n_bodies, _kinematics.ROW)
    table = run(VELOCITIES, model, shape, q, v, threads=threads)
    parts = (table[..., 12:18], table[..., 18:24], table[..., 24:30])
    velocity, coriolis, gyroscopic = (np.ascontiguousarray(part) for part in parts)
    return velocity, coriolis, gyroscopic


def jacobian(
    model: Model,
    q: ArrayLike,
    body: str | int,
    point: ArrayLike = (0.0, 0.0, 0.0),
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> Floats:
    """6 × nv, world axes, at a point fixed in the body (given in body axes)."""
    node = node_table(model, [(body, point)])
    return run(JACOBIAN, model, (6, model.nv), q, NOTHING, node, None, out, threads)


def jacobian_dot_v(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    body: str | int,
    point: ArrayLike = (0.0, 0.0, 0.0),
    *,
    threads: int | None = None,
) -> Floats:
    """J̇·v (6,): the acceleration of the point when v̇ = 0."""
    node = node_table(model, [(body, point)])
    return run(JACOBIAN_DOT_V, model, (6,), q, v, node, None, None, threads)


def energy(
    model: Model, q: ArrayLike, v: ArrayLike, *, threads: int | None = None
) -> tuple[float | Floats, float | Floats]:
    """(kinetic, potential); potential is zero with all mass at the world origin."""
    table = run(ENERGY, model, (_energy.ROW,), q, v, NOTHING, None, None, threads)
    return number_or_array(table[..., 0]), number_or_array(table[..., 1])


def momentum(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    about: str = "origin",
    threads: int | None = None,
) -> Floats:
    """[angular; linear] momentum about the world origin, or about="com", the centre of mass."""
    if about not in ("origin", "com"):
        raise StateError(f"about is {about!r}; give 'origin' or 'com'.")
    table = run(ENERGY, model, (_energy.ROW,), q, v, NOTHING, None, None, threads)
    result = np.ascontiguousarray(table[..., 2:8])
    if about == "com":
        _check_mass(model, table)
        result[..., :3] -= np.cross(table[..., 8:11], table[..., 5:8])
    return result


def center_of_mass(model: Model, q: ArrayLike, *, threads: int | None = None) -> Floats:
    """Centre of mass in the world, (3,)."""
    table = run(ENERGY, model, (_energy.ROW,), q, np.zeros(model.nv), NOTHING, None, None, threads)
    _check_mass(model, table)
    return np.ascontiguousarray(table[..., 8:11])


def _check_mass(model: Model, table: Floats) -> None:
    if not table[..., 11].all():
        raise DynamicsError(
            f"Model {model.name!r} has no mass and so no centre of mass; give a body mass."
        )


def _user_rotations(model: Model, table: Floats) -> Floats:
    """Undo the kernel frames' alignment."""
    turned = table[..., :9].reshape(*table.shape[:-1], 3, 3)
    result: Floats = turned @ model.alignment.transpose(0, 2, 1)
    return result


def node_table(model: Model, nodes: Any) -> Floats:
    """(body, point in the kernel frame) for each node, flat."""
    try:
        pairs = [(body, point) for body, point in nodes]
    except (TypeError, ValueError):
        raise StateError(f"nodes is {nodes!r}; give a list of (body, point) pairs.") from None
    table = np.empty((len(pairs), 4))
    for row, (body, point) in zip(table, pairs, strict=True):
        k = _body_number(model, body)
        row[0] = k
        row[1:] = applied(model.alignment[k].T, read_point(point))
    return table.reshape(-1)


def _body_number(model: Model, body: Any) -> int:
    if isinstance(body, str):
        return model.body_index(body)
    if not isinstance(body, (int, np.integer)) or not 0 <= body < model.n_bodies:
        raise ModelError(
            f"There is no body {body!r}; give a name, or a number from 0 to {model.n_bodies - 1}."
        )
    return int(body)


def number_or_array(values: Floats) -> float | Floats:
    return float(values) if values.ndim == 0 else np.ascontiguousarray(values)
