"""Derivatives of hybrid dynamics, from those of inverse dynamics and the mass matrix.

With p the velocities whose acceleration is given and f the others, the differential of
𝒯 = 𝓜 v̇ + … at the motion that hybrid dynamics finds is d𝒯 = ∂𝒯/∂q dq + ∂𝒯/∂v dv + 𝓜 dv̇. Rows f
are solved for dv̇_f, rows p then say what d𝒯_p is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from skodyn.dynamics.derivatives import inverse_dynamics_derivatives
from skodyn.dynamics.hybrid import hybrid_dynamics
from skodyn.dynamics.mass_matrices import mass_matrix
from skodyn.model.columns import Floats
from skodyn.model.model import Model
from skodyn.model.prescription import find_prescription

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
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    vdot: ArrayLike | None = None,
    prescribed: Iterable[str] = (),
    f_ext: ArrayLike | None = None,
    *,
    threads: int | None = None,
) -> HybridDerivatives:
    """Derivatives of `hybrid_dynamics` along each velocity direction; O(N³), dense."""
    model.refuse_loops("hybrid_dynamics_derivatives")
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
