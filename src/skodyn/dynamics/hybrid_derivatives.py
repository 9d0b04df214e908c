"""Derivatives of hybrid dynamics, from those of inverse dynamics and the mass matrix.

With p the velocities whose acceleration is given and f the others, the differential of
𝒯 = 𝓜 v̇ + … at the motion that hybrid dynamics finds is d𝒯 = ∂𝒯/∂q dq + ∂𝒯/∂v dv + 𝓜 dv̇. Rows f
are solved for dv̇_f, rows p then say what d𝒯_p is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from skodyn.dynamics.derivatives import inverse_dynamics_derivatives
from skodyn.dynamics.hybrid import hybrid_dynamics
from skodyn.dynamics.mass_matrices import mass_matrix
from skodyn.model.model import Model
from skodyn.model.prescription import find_prescription
from skodyn.typing import (
    Accelerations,
    Coordinates,
    Floats,
    GeneralizedForces,
    Velocities,
    Wrenches,
)

__all__ = ["HybridDerivatives", "hybrid_dynamics_derivatives"]


class HybridDerivatives(NamedTuple):
    """Derivatives of v̇ and tau of all joints, each nv × nv.

    Column i of those by input is by v̇_i where it is prescribed, by tau_i elsewhere.
    """

    vdot_by_q: Floats
    vdot_by_v: Floats
    vdot_by_input: Floats
    tau_by_q: Floats
    tau_by_v: Floats
    tau_by_input: Floats


def hybrid_dynamics_derivatives(
    model: Model,
    q: Coordinates,
    v: Velocities,
    tau: GeneralizedForces | None = None,
    vdot: Accelerations | None = None,
    prescribed: Iterable[str] = (),
    f_ext: Wrenches | None = None,
    *,
    threads: int | None = None,
) -> HybridDerivatives:
    """Derivatives of `hybrid_dynamics` along each velocity direction, O(n³), dense.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    v : array_like, shape (nv,) or (B, nv)
        Velocities, rad/s and m/s; of spherical and free joints in the axes of the child.
    tau : array_like, shape (nv,) or (B, nv), optional
        Generalised forces of the joints that are not prescribed.
    vdot : array_like, shape (nv,) or (B, nv), optional
        Accelerations of those that are.
    prescribed : iterable of str
        Names of the joints whose acceleration is given.
    f_ext : array_like, shape (n, 6) or (B, n, 6), optional
        External forces [moment; force] on the n bodies, in world axes at each body's origin,
        N m and N.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    derivatives : HybridDerivatives
        Of v̇ and tau by q, by v and by the inputs, each of shape (nv, nv) or (B, nv, nv).

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.
    ModelError
        There is no such joint, or the model has loops.

    See Also
    --------
    forward_dynamics_derivatives : no joint is prescribed.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> q, v = [0.5, 0.2], [0.3, 0.0]
    >>> free = sk.hybrid_dynamics_derivatives(model, q, v)
    >>> np.allclose(free.vdot_by_q, sk.forward_dynamics_derivatives(model, q, v, [0.0, 0.0])[0])
    True
    """
    model._refuse_loops("hybrid_dynamics_derivatives")
    model._refuse_flexible("hybrid_dynamics_derivatives")
    choice = find_prescription(model, prescribed)
    motion = hybrid_dynamics(model, q, v, tau, vdot, choice.joints, f_ext, threads=threads)
    by_q, by_v = inverse_dynamics_derivatives(model, q, v, motion.vdot, f_ext, threads=threads)
    mass = mass_matrix(model, q, threads=threads)
    unit = np.broadcast_to(np.eye(model.nv), (*motion.vdot.shape[:-1], model.nv, model.nv))
    mass = np.broadcast_to(mass, unit.shape)
    p, f = choice.dofs, choice.free
    # what 𝒯_f must make up for: dv̇_f = 𝓜_ff⁻¹·(d𝒯_f − …)
    needed = np.where(choice.known, -mass, unit)[..., f, :]
    moved = np.zeros((3, *unit.shape))
    for answer, rhs in zip(moved, (-by_q[..., f, :], -by_v[..., f, :], needed), strict=True):
        answer[..., f, :] = np.linalg.solve(mass[..., f[:, None], f], rhs)
    moved[2][..., p, :] = unit[..., p, :]
    forces = np.zeros_like(moved)
    forces[2][..., f, :] = unit[..., f, :]
    for force, answer, own in zip(forces, moved, (by_q, by_v, 0.0 * unit), strict=True):
        force[..., p, :] = own[..., p, :] + mass[..., p, :] @ answer
    return HybridDerivatives(*moved, *forces)
