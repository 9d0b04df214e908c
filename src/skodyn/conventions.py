"""The notation page: what every number means, written once.

| matter | choice |
| --- | --- |
| 6-vectors | angular first: velocity [ω; v], force [moment; force] |
| kernel frame | world axes, each body's own origin as reference point |
| φ(p,k) | [[I, l̃],[0, I]], l from parent origin to child origin; φ* carries velocity outward |
| numbering | base first, depth first: parent[k] < k, ground is −1, a subtree is one index range |
| gather, scatter | tips to base (descending loop), base to tips (ascending loop) |
| state | q (nq) and v (nv), nq ≥ nv; v is not the derivative of q where nq > nv |
| quaternion | scalar first (w, x, y, z), unit, child → parent |
| spherical joint | q: quaternion; v: relative angular velocity in child axes |
| free joint | q: quaternion, then position; v: [ω; v] of the child origin in child axes |
| other joints | q: angles and lengths in the order the joint lists them; v: their rates |
| inertia input | mass, centre of mass, 3×3 about the centre of mass in body axes |
| external force | (n_bodies, 6), [moment; force] at the body origin in world axes |
| units | SI and radians |

Words in the API, the papers' symbols inside kernels:

| symbol | word |
| --- | --- |
| ℘(k), C(k) | parent, children |
| θ̇, 𝒯 | v, tau (generalised velocity and force) |
| V, α, a, b, f | spatial velocity, acceleration, Coriolis acceleration, gyroscopic force, force |
| H* | columns that turn joint rates into relative spatial velocity |
| M, R, P | inertia of a body, of the composite body, of the articulated body |
| D, G, τ̄, P⁺, ψ | joint-space part of P, gain, projection, what P passes inward, its propagation |

Kernel frame of a body. Where a joint has one axis, kernels use a body frame turned so that the axis
is z (`Model.alignment`): the world axis is then a column of the rotation matrix, and the joint
rotation touches two columns only. Only rotation matrices that leave the kernels must be turned
back; origins, forces, velocities and accelerations are in world axes and do not notice.
"""

from __future__ import annotations

from enum import IntEnum

__all__ = ["DEFAULT_GRAVITY", "GROUND", "QUATERNION_TOLERANCE", "JointKind"]

GROUND = "world"
"""Name of the inertial frame, the parent of base bodies."""

DEFAULT_GRAVITY = (0.0, 0.0, -9.81)

QUATERNION_TOLERANCE = 1e-8
"""How far the norm of a quaternion may be from 1."""


class JointKind(IntEnum):
    """How a kernel treats a joint. Several joint types may share one kind."""

    FIXED = 0
    REVOLUTE = 1  # about z of the kernel frame
    PRISMATIC = 2  # along z of the kernel frame
    HELICAL = 3  # about and along z of the kernel frame
    SERIES = 4  # a product of exponentials of constant twists, one per degree of freedom
    SPHERICAL = 5
    FREE = 6
