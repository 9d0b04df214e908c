"""The inertias inside the recursions, as 6×6 matrices, under the papers' symbols."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skodyn.dynamics.algorithm import Algorithm
from skodyn.dynamics.body_poses import forward_kinematics
from skodyn.dynamics.driver import run
from skodyn.kernels import body_inertias as kernel
from skodyn.kernels import joint_columns as _columns
from skodyn.model.model import Model
from skodyn.typing import Coordinates, Floats

__all__ = ["BodyInertias", "body_inertias", "joint_columns"]

INERTIAS = Algorithm(kernel.body_inertias, kernel.body_inertias_batch)
COLUMNS = Algorithm(_columns.joint_columns, _columns.joint_columns_batch, dimensions=2)
_SYMMETRIC = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])


@dataclass(frozen=True)
class BodyInertias:
    """Per body, world axes, about the body's origin. Lists hold one array per body.

    Jain 2011-II: R Algorithm 4.1; P, D, G, tau, tau_bar, P_plus eq. 33, with a joint's armature
    added to the diagonal of D; psi is the weight
    ψ(℘(k), k) = φ(℘(k), k)·τ̄(k) of eq. 35; Upsilon eq. 24 for Ω of eq. 60.
    """

    H: list[Floats]
    R: Floats
    P: Floats
    P_plus: Floats
    D: list[Floats]
    G: list[Floats]
    tau: Floats
    tau_bar: Floats
    psi: Floats
    Upsilon: Floats


def joint_columns(model: Model, q: Coordinates) -> Floats:
    """The columns of H* as rows, (nv, 6): world axes, about the origin of the joint's body."""
    return run(COLUMNS, model, (model.nv, 6), q)


def body_inertias(model: Model, q: Coordinates) -> BodyInertias:
    """Composite and articulated body inertias and what else the recursions hold inside.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,)
        Coordinates of one state.

    Returns
    -------
    inertias : BodyInertias
        R, P, D, G, τ, τ̄, P⁺, ψ, Υ of each body, under the papers' symbols.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.

    See Also
    --------
    operators : the same as operators to compute with.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> inside = sk.body_inertias(model, [0.5, 0.0])
    >>> np.allclose(inside.P[1], inside.R[1])    # at the tip, nothing hangs on the body
    True
    """
    model._refuse_mimics("body_inertias")  # articulated inertias are those of a tree
    model._refuse_loops("body_inertias")
    model._refuse_flexible("body_inertias")
    n, nv = model.n_bodies, model.nv
    flat = run(INERTIAS, model, (kernel.ROW * n + 6 * nv,), np.asarray(q, dtype=np.float64))
    rows = flat[: kernel.ROW * n].reshape(n, kernel.ROW)
    columns = flat[kernel.ROW * n :].reshape(nv, 6)
    P = _blocks(rows[:, kernel.ARTICULATED :])
    H = [columns[model.v_slice(name)] for name in model.joint_names]
    rotors = [joint.armature * np.eye(joint.nv) for joint in model.joints]
    D = [h @ p @ h.T + j for h, p, j in zip(H, P, rotors, strict=True)]
    G = [p @ h.T @ np.linalg.inv(d) for h, p, d in zip(H, P, D, strict=True)]
    tau = np.array([g @ h for g, h in zip(G, H, strict=True)])
    tau_bar = np.eye(6) - tau
    return BodyInertias(
        H=H,
        R=_rigid(rows[:, kernel.COMPOSITE :]),
        P=P,
        P_plus=_blocks(rows[:, kernel.PASSED_ON :]),
        D=D,
        G=G,
        tau=tau,
        tau_bar=tau_bar,
        psi=_shifts(model, q) @ tau_bar,
        Upsilon=_blocks(rows[:, kernel.COMPLIANCE :]),
    )


def _blocks(rows: Floats) -> Floats:
    """(n, 21…) three-block records -> (n, 6, 6)."""
    full = np.empty((len(rows), 6, 6))
    full[:, :3, :3] = rows[:, 0:6][:, _SYMMETRIC]
    full[:, :3, 3:] = rows[:, 6:15].reshape(-1, 3, 3)
    full[:, 3:, :3] = full[:, :3, 3:].transpose(0, 2, 1)
    full[:, 3:, 3:] = rows[:, 15:21][:, _SYMMETRIC]
    return full


def _rigid(rows: Floats) -> Floats:
    """(n, 10…) records (m, h, J) -> (n, 6, 6)."""
    full = np.zeros((len(rows), 6, 6))
    full[:, :3, :3] = rows[:, 4:10][:, _SYMMETRIC]
    full[:, :3, 3:] = cross_matrices(rows[:, 1:4])
    full[:, 3:, :3] = -full[:, :3, 3:]
    full[:, 3:, 3:] = rows[:, 0, None, None] * np.eye(3)
    return full


def cross_matrices(vectors: Floats) -> Floats:
    full = np.zeros((len(vectors), 3, 3))
    x, y, z = vectors.T
    full[:, 0, 1], full[:, 0, 2], full[:, 1, 2] = -z, y, -x
    return full - full.transpose(0, 2, 1)


def _shifts(model: Model, q: Coordinates) -> Floats:
    """φ(℘(k), k) of every body; the ground's origin is the world's."""
    _, origin = forward_kinematics(model, q)
    inner = np.where((model.parent >= 0)[:, None], origin[model.parent], 0.0)
    shifts = np.broadcast_to(np.eye(6), (model.n_bodies, 6, 6)).copy()
    shifts[:, :3, 3:] = cross_matrices(origin - inner)
    return shifts
