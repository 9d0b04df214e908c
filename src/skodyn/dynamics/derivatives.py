"""Derivatives of the dynamics on the manifold: along each velocity direction, not by coordinate.

Column i of a derivative by q is the limit of (f(q ⊞ ε e_i) − f(q))/ε, where q ⊞ ε e_i is
`model.integrate(q, ε e_i)`: a turn about an axis of the child for spherical and free joints, the
ordinary partial derivative for all others. Every function takes one state or a batch; matrices of
one result lie side by side in `out`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skodyn.conventions import JointKind
from skodyn.dynamics import coupled as _coupled
from skodyn.dynamics.driver import NOTHING, Algorithm, run
from skodyn.dynamics.explain import check_finite, read_arguments
from skodyn.dynamics.functions import forward_dynamics
from skodyn.dynamics.mass_matrices import mass_matrix_inverse
from skodyn.errors import DynamicsError, StateError
from skodyn.kernels import coriolis_matrix as _coriolis
from skodyn.kernels import forward_dynamics_derivatives as _forward
from skodyn.kernels import inverse_dynamics_derivatives as _inverse
from skodyn.model.columns import Floats
from skodyn.model.model import Model

__all__ = [
    "christoffel_symbols",
    "coriolis_matrix",
    "forward_dynamics_derivatives",
    "inverse_dynamics_derivatives",
    "linearize",
]


INVERSE = Algorithm(
    _inverse.inverse_dynamics_derivatives,
    _inverse.inverse_dynamics_derivatives_batch,
    "vxf",
    "vdot",
    dimensions=3,
    scratch=lambda model: _inverse.derivative_lanes(model.n_bodies, model.nv),
    coupled=_coupled.projected_square,
)


def inverse_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    vdot: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> tuple[Floats, Floats]:
    """(∂τ/∂q, ∂τ/∂v), each nv × nv; ∂τ/∂v̇ is the mass matrix. O(N·depth).

    External forces keep their world axes and act at their body's origin. `out`: (2, nv, nv).
    """
    shape = (2, model.nv, model.nv)
    both = run(INVERSE, model, shape, q, v, vdot, f_ext, out, threads)
    return both[..., 0, :, :], both[..., 1, :, :]


def _forward_coupled(
    _algorithm: Algorithm, model: Model, shape: tuple[int, ...], q: Any, v: Any, x: Any, f_ext: Any,
    out: Floats | None, threads: int | None,
) -> Floats:  # fmt: skip
    """With mimic joints: −𝓜⁻¹ times the derivatives of inverse dynamics, as dense matrices."""
    vdot = forward_dynamics(model, q, v, x, f_ext, threads=threads)
    by_q, by_v = inverse_dynamics_derivatives(model, q, v, vdot, f_ext, threads=threads)
    inverse = mass_matrix_inverse(model, q, threads=threads)
    result = np.empty((*vdot.shape[:-1], *shape))
    result[..., 0, :, :] = 0.0 - inverse @ by_q
    result[..., 1, :, :] = 0.0 - inverse @ by_v
    result[..., 2, :, :] = inverse
    return _coupled.deliver(result, out)


FORWARD = Algorithm(
    _forward.forward_dynamics_derivatives,
    _forward.forward_dynamics_derivatives_batch,
    "vxf",
    "tau",
    dimensions=3,
    scratch=lambda model: _forward.derivative_lanes(model.indices, model.nv),
    coupled=_forward_coupled,
)


def forward_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> tuple[Floats, Floats, Floats]:
    """(∂v̇/∂q, ∂v̇/∂v, ∂v̇/∂τ = 𝓜⁻¹), each nv × nv.

    External forces keep their world axes and act at their body's origin. `out`: (3, nv, nv).
    """
    shape = (3, model.nv, model.nv)
    all_three = run(FORWARD, model, shape, q, v, tau, f_ext, out, threads)
    return all_three[..., 0, :, :], all_three[..., 1, :, :], all_three[..., 2, :, :]


def linearize(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    vdot: ArrayLike | None = None,
    prescribed: Iterable[str] = (),
    threads: int | None = None,
) -> tuple[Floats, Floats]:
    """(A, B), 2nv × 2nv and 2nv × nv, of d/dt (δq, δv) = A·(δq, δv) + B·δτ along a motion.

    δq is tangent: the neighbour is at q ⊞ δq. Where v is the rate of coordinates, d/dt δq = δv. For
    spherical and free joints two motions with the same v do not keep their distance in the child's
    axes, which turn: d/dt δq = δv − v × δq, and for a free joint with × of 6-vectors,
    [ω × δθ; ω × δx + v × δθ].

    Joints named in `prescribed` move by `vdot`, as in `hybrid_dynamics`; their columns of B are by
    δv̇ instead of δτ.
    """
    dq, dv, inverse = _accelerations(model, (q, v, tau, f_ext), vdot, prescribed, threads)
    nv = model.nv
    A = np.zeros((*dq.shape[:-2], 2 * nv, 2 * nv))
    B = np.zeros((*dq.shape[:-2], 2 * nv, nv))
    A[..., :nv, :nv] -= _brackets(model, np.asarray(v, dtype=np.float64))
    A[..., :nv, nv:] = np.eye(nv)
    A[..., nv:, :nv], A[..., nv:, nv:], B[..., nv:, :] = dq, dv, inverse
    return A, B


def _accelerations(
    model: Model, given: tuple[Any, Any, Any, Any], vdot: Any, prescribed: Any, threads: int | None
) -> tuple[Floats, Floats, Floats]:
    """Derivatives of v̇ by q, v and the inputs."""
    q, v, tau, f_ext = given
    if vdot is None and not prescribed:
        return forward_dynamics_derivatives(model, q, v, tau, f_ext, threads=threads)
    if not prescribed:
        raise StateError("vdot is given, but no joint is prescribed; name some in prescribed.")
    from skodyn.dynamics.hybrid_derivatives import hybrid_dynamics_derivatives  # built on this file

    found = hybrid_dynamics_derivatives(
        model, q, v, tau, vdot, prescribed, f_ext, threads=threads
    )  # fmt: skip
    return found.vdot_by_q, found.vdot_by_v, found.vdot_by_input


def _brackets(model: Model, v: Floats) -> Floats:
    """The matrix of w ↦ [v, w] in the velocity directions: zero but for quaternion joints."""
    matrix = np.zeros((*v.shape[:-1], model.nv, model.nv))
    for name, joint in zip(model.joint_names, model.joints, strict=True):
        if joint.kind not in (JointKind.SPHERICAL, JointKind.FREE):
            continue
        i = model.v_slice(name).start
        turn = _tilde(v[..., i : i + 3])
        matrix[..., i : i + 3, i : i + 3] = turn
        if joint.kind == JointKind.FREE:
            matrix[..., i + 3 : i + 6, i + 3 : i + 6] = turn
            matrix[..., i + 3 : i + 6, i : i + 3] = _tilde(v[..., i + 3 : i + 6])
    return matrix


def _tilde(x: Floats) -> Floats:
    """The matrix of y ↦ x × y."""
    matrix = np.zeros((*x.shape, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        matrix[..., k, j], matrix[..., j, k] = x[..., i], -x[..., i]
    return matrix


CORIOLIS = Algorithm(
    _coriolis.coriolis_matrix,
    _coriolis.coriolis_matrix_batch,
    "v",
    dimensions=2,
    scratch=lambda model: _coriolis.coriolis_lanes(model.n_bodies, model.nv),
    coupled=_coupled.projected_square,
)


def coriolis_matrix(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> Floats:
    """C (nv × nv) with C·v + gravity_force = bias_force and 𝓜̇ − 2C skew-symmetric. O(N·depth).

    Of the many such matrices, the one of the Christoffel symbols: C_ij = Σ_k Γ_ijk v_k.
    """
    return run(CORIOLIS, model, (model.nv, model.nv), q, v, out=out, threads=threads)


def christoffel_symbols(model: Model, q: ArrayLike, *, threads: int | None = None) -> Floats:
    """Γ_ijk of the first kind, (nv, nv, nv): the force i that v_j and v_k ask for (PyCraft eq. 38).

    Γ_ijk = ½ (∂_k 𝓜_ij + ∂_j 𝓜_ik − ∂_i 𝓜_jk + ⟨[e_k, e_j], e_i⟩ − ⟨[e_j, e_i], e_k⟩
    − ⟨[e_k, e_i], e_j⟩), ⟨x, y⟩ = x*𝓜y, derivatives along velocity directions. The brackets vanish
    but inside spherical and free joints, so that for all others this is the textbook formula,
    symmetric in j and k; in general Γ_ijk − Γ_ikj = ⟨[e_k, e_j], e_i⟩. In the brackets 𝓜 is that of
    the bodies alone: a rotor asks for armature·v̇ and nothing else, whatever its joint.
    """
    given = _checked_states(model, q)
    nv = model.nv
    states = np.repeat(given.reshape(-1, model.nq), nv, axis=0)
    unit = np.tile(np.eye(nv), (len(states) // max(nv, 1), 1))
    try:
        by_direction = coriolis_matrix(model, states, unit, threads=threads)
    except DynamicsError:  # it counts a state for each direction: let the one that was given fail
        for direction in np.eye(nv):
            coriolis_matrix(model, given, direction)
        raise
    shaped = by_direction.reshape(*given.shape[:-1], nv, nv, nv)
    return np.ascontiguousarray(np.moveaxis(shaped, -3, -1))


def _checked_states(model: Model, q: ArrayLike) -> Floats:
    """q as finite numbers with unit quaternions, one state or a batch."""
    inputs = read_arguments(CORIOLIS, model, q, NOTHING, NOTHING, None)
    check_finite(CORIOLIS, inputs)
    model.check_q(inputs.q)
    return inputs.q
