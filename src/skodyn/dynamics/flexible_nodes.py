"""Nodes of flexible bodies: where they are, how far they moved, how they move with everything."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skodyn.dynamics.body_poses import forward_kinematics
from skodyn.dynamics.driver import run
from skodyn.dynamics.flexible_algorithms import BENT_JACOBIAN
from skodyn.dynamics.nodes import one_node
from skodyn.errors import ModelError
from skodyn.model.flexible.modal_body import ROOT, FlexibleBody, FlexibleNode
from skodyn.model.model import Model
from skodyn.typing import Floats

__all__ = ["deflections", "node_jacobian", "node_poses"]


def deflections(model: Model, q: ArrayLike, body: str) -> Floats:
    """How far the nodes of a flexible body have moved from where they are undeformed.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states.
    body : str
        Name of a flexible body.

    Returns
    -------
    moved : ndarray, shape (k, 3) or (B, k, 3)
        A row for each of its k nodes, in the order of `model.flexible[body].nodes`, in axes of the
        body, m.

    Raises
    ------
    StateError
        q has the wrong shape or is not finite, or a quaternion is not of unit length.
    ModelError
        There is no such body, or it is rigid.

    See Also
    --------
    node_poses : where the nodes are in the world.

    Examples
    --------
    >>> strip = sk.Beam(1.0, mass_per_length=0.3, bending_stiffness=0.7, modes={"y": 2})
    >>> b = sk.ModelBuilder()
    >>> b.add_body("strip", joint=sk.Revolute(axis=(0, 0, 1)), flexible=strip)
    >>> moved = sk.deflections(b.build(), [0.3, 0.01, 0.0], "strip")
    >>> moved[1, 1].round(6)    # the tip, by the first mode
    np.float64(0.01)
    """
    found = _flexible(model, body)
    amounts = shape_amounts(found, model.check_q(q)[..., model.mode_slice(body)])
    moves = [_sum(amounts, node.translation) for node in found.nodes.values()]
    return np.stack(moves, axis=-2)


def node_poses(model: Model, q: ArrayLike, body: str) -> Floats:
    """Poses of the nodes of a flexible body in the world.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states.
    body : str
        Name of a flexible body.

    Returns
    -------
    poses : ndarray, shape (k, 4, 4) or (B, k, 4, 4)
        Homogeneous matrices of its k nodes, in the order of `model.flexible[body].nodes`: the axes
        in [:3, :3], the origin in [:3, 3], m.

    Raises
    ------
    StateError
        q has the wrong shape or is not finite, or a quaternion is not of unit length.
    ModelError
        There is no such body, or it is rigid.

    See Also
    --------
    deflections : how far they moved in their body.

    Examples
    --------
    >>> strip = sk.Beam(1.0, mass_per_length=0.3, bending_stiffness=0.7, modes={"y": 2})
    >>> b = sk.ModelBuilder()
    >>> b.add_body("strip", joint=sk.Revolute(axis=(0, 0, 1)), flexible=strip)
    >>> sk.node_poses(b.build(), [0.0, 0.0, 0.0], "strip")[1, :3, 3]
    array([1., 0., 0.])
    """
    return poses_of_nodes(model, q, body)


def poses_of_nodes(model: Model, q: ArrayLike, body: str, *, threads: int | None = None) -> Floats:
    """`node_poses` on so many threads."""
    found = _flexible(model, body)
    given = model.check_q(q)
    k = model.body_index(body)
    rotations, places = forward_kinematics(model, given, threads=threads)
    rotation, place = rotations[..., k, :, :], places[..., k, :]
    amounts = shape_amounts(found, given[..., model.mode_slice(body)])
    poses = np.zeros((*given.shape[:-1], len(found.nodes), 4, 4))
    poses[..., 3, 3] = 1.0
    for i, node in enumerate(found.nodes.values()):
        moved = node.position + _sum(amounts, node.translation)
        poses[..., i, :3, :3] = rotation @ turn(_sum(amounts, node.rotation))
        poses[..., i, :3, 3] = place + (rotation @ moved[..., None])[..., 0]
    return poses


def node_jacobian(model: Model, q: ArrayLike, body: str, node: str, point: Floats) -> Floats:
    """J of a point that is fixed to a node, in the node's axes from it."""
    given, own, at = model.check_q(q), model.flexible[body], model.flexible[body].nodes[node]
    modes = given[..., model.mode_slice(body)]
    k = model.body_index(body)
    rotation = forward_kinematics(model, given)[0][..., k, :, :]
    amounts = shape_amounts(own, modes)
    theta = _sum(amounts, at.rotation)
    offset = _applied(rotation @ turn(theta), np.asarray(point))
    arm = _applied(rotation, at.position + _sum(amounts, at.translation)) + offset
    x = np.array([float(k), 0.0, 0.0, 0.0])
    found = run(BENT_JACOBIAN, model, (6, model.nv), given, x=x)
    found[..., 3:, :] += np.cross(found[..., :3, :], arm[..., None], axis=-2)
    phi, psi = _master_shapes(own, at, modes)
    spin = rotation @ turn_rate(theta) @ psi
    columns = model.mode_slice(body, "v")
    found[..., :3, columns] = spin
    moved = rotation @ phi + np.cross(spin, offset[..., None], axis=-2)
    found[..., 3:, columns] = moved
    return found


def _flexible(model: Model, body: str) -> FlexibleBody:
    model.mode_slice(body)  # it says what is wrong
    return model.flexible[body]


def shape_amounts(body: FlexibleBody, eta: Floats) -> Floats:
    """How much there is of each shape: η and ξ, (…, n)."""
    slope = _slope(body, eta)
    return np.concatenate((eta, 0.5 * (slope * eta[..., None, :]).sum(axis=-1)), axis=-1)


def _slope(body: FlexibleBody, eta: Floats) -> Floats:
    """A_b·η, (…, slaves, m)."""
    found: Floats = (body.slaves * eta[..., None, None, :]).sum(axis=-1)
    return found


def _sum(amounts: Floats, shapes: Floats) -> Floats:
    """Σ shapes·amounts, (…, 3)."""
    found: Floats = (shapes * amounts[..., None, :]).sum(axis=-1)
    return found


def _applied(matrix: Floats, vector: Floats) -> Floats:
    found: Floats = (matrix @ vector[..., None])[..., 0]
    return found


def _master_shapes(body: FlexibleBody, node: FlexibleNode, eta: Floats) -> tuple[Floats, Floats]:
    """(φ, ψ) of masters with what slaves add, (…, 3, m)."""
    m, slope = body.modes, _slope(body, eta)
    phi = node.translation[:, :m] + node.translation[:, m:] @ slope
    return phi, node.rotation[:, :m] + node.rotation[:, m:] @ slope


def _tilde(a: Floats) -> Floats:
    found = np.zeros((*a.shape[:-1], 3, 3))
    for i, j, axis, sign in ((0, 1, 2, -1), (0, 2, 1, 1), (1, 2, 0, -1)):
        found[..., i, j] = sign * a[..., axis]
        found[..., j, i] = -sign * a[..., axis]
    return found


def _coefficients(theta: Floats) -> tuple[Floats, Floats, Floats]:
    """sin θ/θ, (1 − cos θ)/θ², (θ − sin θ)/θ³, for (…, 1, 1)."""
    square = (theta * theta).sum(axis=-1)[..., None, None]
    angle = np.sqrt(square)
    sinc, half = np.sinc(angle / np.pi), np.sinc(0.5 * angle / np.pi)
    small = square < 1e-4
    safe = np.where(small, 1.0, square)
    series = 1 / 6 - square / 120 + square * square / 5040
    return sinc, 0.5 * half * half, np.where(small, series, (1.0 - sinc) / safe)


def turn(theta: Floats) -> Floats:
    """exp(θ̃)."""
    x = _tilde(theta)
    a, b, _ = _coefficients(theta)
    found: Floats = np.eye(3) + a * x + b * (x @ x)
    return found


def turn_rate(theta: Floats) -> Floats:
    """The left Jacobian of exp."""
    x = _tilde(theta)
    _, b, c = _coefficients(theta)
    found: Floats = np.eye(3) + b * x + c * (x @ x)
    return found


def place_jacobian(
    model: Model, q: Any, name: Any, point: Floats, out: Floats | None, threads: int | None
) -> Floats:
    """J of a point of a body, or of a frame that may be fixed to a node."""
    frame = model.frame(name) if isinstance(name, str) else None
    body = frame.body if frame is not None else name
    named = frame is not None and name != body
    if named and frame is not None and body in model.flexible:
        place = model.bent[body].frames[name] if body in model.bent else None
        node = place.node if place is not None else ROOT
        offset = frame.translation + frame.rotation @ point
        found = node_jacobian(model, q, body, node, offset)
        if out is None:
            return found
        out[...] = found
        return out
    if body in model.flexible and np.any(point):
        raise ModelError(
            f"Body {body!r} is flexible: its point {np.asarray(point).tolist()} is not fixed in "
            "its frame",
            "name a frame at one of its nodes, or its origin.",
        )
    x = one_node(model, name, point)
    return run(BENT_JACOBIAN, model, (6, model.nv), q, x=x, out=out, threads=threads)
