"""Hybrid dynamics: some joints' accelerations are given, the other joints' forces, and all found.

Trees have a kernel for it, one gather and two scatters (kernels/hybrid_dynamics.py). With mimic
joints or loops the forces of the prescribed joints solve (𝓜⁻¹)_pp·𝒯_p = v̇_p − (v̇ without them)_p:
an O(N) solve for each of their velocities, and a small dense system.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from skodyn.dynamics.algorithm import Algorithm
from skodyn.dynamics.arguments import check_finite, read_arguments, read_partly
from skodyn.dynamics.coupled import deliver
from skodyn.dynamics.driver import COMPILED, NOTHING, TURNED_AWAY, first_block, flat_forces, run
from skodyn.dynamics.functions import forward_dynamics
from skodyn.dynamics.moved import moved_to
from skodyn.errors import StateError
from skodyn.faults import Fault
from skodyn.kernels import hybrid_dynamics as _hybrid
from skodyn.model.model import Model
from skodyn.model.prescription import Prescription, find_prescription
from skodyn.typing import (
    Accelerations,
    Coordinates,
    Floats,
    GeneralizedForces,
    Velocities,
    Wrenches,
)

__all__ = ["HybridDynamics", "hybrid_dynamics"]

HYBRID = Algorithm(
    _hybrid.hybrid_dynamics, _hybrid.hybrid_dynamics_batch, x="tau or vdot", dimensions=2
)

BOTH = _hybrid.hybrid_dynamics_of_both


class HybridDynamics(NamedTuple):
    """Accelerations and forces of all joints: what was given, and what was found."""

    vdot: Floats
    tau: Floats


def hybrid_dynamics(
    model: Model,
    q: Coordinates,
    v: Velocities,
    tau: GeneralizedForces | None = None,
    vdot: Accelerations | None = None,
    prescribed: Iterable[str] = (),
    f_ext: Wrenches | None = None,
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> HybridDynamics:
    """Accelerations of some joints and forces of the others, O(n).

    Joints in `prescribed` move by given accelerations; on all others given forces act.

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
        Generalised forces, N m and N; zero if left out. At prescribed joints they are not read.
    vdot : array_like, shape (nv,) or (B, nv), optional
        Accelerations; zero if left out. Only those of prescribed joints are read.
    prescribed : iterable of str
        Names of the joints whose acceleration is given.
    f_ext : array_like, shape (n, 6) or (B, n, 6), optional
        External forces [moment; force] on the n bodies, in world axes at each body's origin,
        N m and N.
    out : ndarray of float64, shape (2, nv) or (B, 2, nv), optional
        Where v̇ and tau are written.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    motion : HybridDynamics
        `vdot` and `tau` of all joints, each of shape (nv,) or (B, nv).

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    DynamicsError
        Nothing resists a joint, so that the mass matrix is singular; the message names the joint.
    ModelError
        There is no such joint.

    See Also
    --------
    forward_dynamics : no joint is prescribed.
    inverse_dynamics : all are.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> q, v, none = [0.5, 0.2], [0.0, 0.0], [0.0, 0.0]
    >>> found = sk.hybrid_dynamics(model, q, v, tau=none, vdot=[1.0, 0.0], prescribed=["link1"])
    >>> np.allclose(sk.forward_dynamics(model, q, v, found.tau), found.vdot)
    True
    """
    choice = find_prescription(model, prescribed)
    forces = choice.zeros if tau is None else tau
    rates = choice.zeros if vdot is None else vdot
    if threads is None and type(q) is COMPILED and q.ndim == 1:  # type: ignore[union-attr]
        result = np.empty((2, model.nv)) if out is None else out
        block = choice.blocks[0] if choice.blocks else first_block(choice.model)
        pushed = NOTHING if f_ext is None else flat_forces(model, f_ext)
        try:
            status = BOTH.ready(block, q, v, forces, rates, pushed, result)
        except TypeError:  # not contiguous float64 arrays of the right number of axes
            status = TURNED_AWAY
        if status == 0:
            return HybridDynamics(*result)
    x = _read(choice, q, v, (forces, rates), f_ext)
    model._refuse_flexible("hybrid_dynamics")
    if model.mimics or model.has_loops:
        both = deliver(_by_compliance(choice, model, q, v, x, f_ext, threads), out)
    else:
        both = run(HYBRID, choice.model, (2, model.nv), q, v, x, f_ext, out, threads)
    return HybridDynamics(both[..., 0, :], both[..., 1, :])


Pair = tuple[ArrayLike, ArrayLike]


def _read(
    choice: Prescription, q: Coordinates, v: Velocities, given: Pair, f_ext: Wrenches | None
) -> Floats:
    """v̇ where it is prescribed, tau elsewhere; a StateError lists every fault of all arguments."""
    faults: list[Fault] = []
    tau = read_partly(given[0], "tau", ~choice.known, faults)
    vdot = read_partly(given[1], "vdot", choice.known, faults)
    batches = {n: len(a) for n, a in (("tau", tau), ("vdot", vdot)) if a is not None and a.ndim > 1}
    if len(set(batches.values())) > 1:
        listed = ", ".join(f"{name} has {count}" for name, count in batches.items())
        faults.append(Fault(f"The numbers of states differ: {listed}", "give each the same."))
    if tau is None or vdot is None or faults:
        try:
            read_arguments(HYBRID, choice.model, q, v, NOTHING, f_ext)
        except StateError as error:
            faults = [*error.faults, *faults]
        raise StateError(faults)
    return np.where(choice.known, vdot, tau)


def _by_compliance(
    choice: Prescription, model: Model, q: Coordinates, v: Velocities, x: Floats,
    f_ext: Wrenches | None, threads: int | None,
) -> Floats:  # fmt: skip
    """With mimic joints or loops: find the forces under which prescribed joints move as they do."""
    inputs = read_arguments(HYBRID, model, q, v, x, f_ext)
    check_finite(HYBRID, inputs)
    rows, p = inputs.rows, choice.dofs
    states = (a.reshape(rows, -1) for a in (inputs.q, inputs.v, inputs.x))
    q_rows, v_rows, x_rows = (np.ascontiguousarray(a) for a in states)
    pushed = inputs.f_ext.reshape(rows, model.n_bodies, 6) if inputs.f_ext.size else None
    result = np.empty((rows, 2, model.nv))
    vdot, tau = result[:, 0], result[:, 1]
    tau[...] = np.where(choice.known, 0.0, x_rows)
    vdot[...] = forward_dynamics(model, q_rows, v_rows, tau, pushed, threads=threads)
    if p.size:
        found = moved_to(choice, "accelerations", q_rows, vdot, x_rows, threads)
        tau[:, p], vdot[...] = found.forces, found.found
    return result.reshape(*inputs.batch_shape, 2, model.nv)
