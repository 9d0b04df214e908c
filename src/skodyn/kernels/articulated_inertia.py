"""Articulated body inertias: the Riccati recursion of Jain 2011-II eq. 33, a tips-to-base gather.

A joint with several degrees of freedom yields one at a time, the outermost first: with u = P·h and
d = h·u for its column h,

    P ← P − u uᵀ/d

After the last one P has become P⁺ = τ̄·P. The pivots d and the vectors u are the LDLᵀ (Cholesky)
factors of D(k) = H P H* in disguise: det D is the product of the pivots, and D⁻¹ is applied by
running through the degrees of freedom in turn. A locked joint has none, and passes P through.
A rotor's inertia (armature) belongs to one degree of freedom alone and adds to its d: diagonal as
it is, it stays where it is while the others yield.
"""

from skodyn.jit import helper
from skodyn.kernels.joint_motion import REVOLUTE, joint_column
from skodyn.kernels.kinematics import body_inertia
from skodyn.kernels.packed_model import armature, body_count, entry
from skodyn.kernels.status import NOT_FINITE, OK, SINGULAR, failure
from skodyn.kernels.tuples import load3, load_articulated, load_matrix, store6, store_articulated
from skodyn.kernels.workspace import BODY, DOF, SUMS, body_slot, carried_slot, dof_slot, sum_slot
from skodyn.lanes import absolute, all_lanes, fma, load, store
from skodyn.model.layout import KIND, N_DOF, PARENT, SUBTREE_END, V_START
from skodyn.spatial.articulated import (
    add_articulated,
    add_inertia_to_articulated,
    apply_articulated,
    articulated_from_inertia,
    shift_articulated,
    subtract_rank_one,
)
from skodyn.spatial.linear3 import dot, multiply_sym_vector, multiply_vector_transposed, z_axis
from skodyn.spatial.motion import dot_spatial

_INFINITY = float("inf")

SINGULAR_PIVOT = 1e-14
"""A pivot below this fraction of the inertia it comes from is rounding, not physics."""


@helper
def project_column(p, h):
    """(u, d, scale): u = P·h, d = h·u, and the size of the inertia that d is made of."""
    u = apply_articulated(p, h)
    trace_a = p[0][0] + p[0][3] + p[0][5]
    trace_c = p[2][0] + p[2][3] + p[2][5]
    size = fma(dot(h[0], h[0]), trace_a, dot(h[1], h[1]) * trace_c)
    return u, dot_spatial(h, u), size


@helper
def turn_gain(work, model, k, z, p):
    """(u, 1/d, sound) of a joint that turns about the unit vector z; stores u and 1/d."""
    n, dof = body_count(model), entry(model, k, V_START)
    u = multiply_sym_vector(p[0], z), multiply_vector_transposed(p[1], z)
    d = dot(z, u[0]) + armature(work, model, dof)
    sound = all_lanes(d > SINGULAR_PIVOT * (p[0][0] + p[0][3] + p[0][5]))
    pivot = 1.0 / d
    slot = dof_slot(n, dof)
    store6(work, slot + DOF.GAIN, u)
    store(work, slot + DOF.PIVOT, pivot)
    return u, pivot, sound


@helper
def project_joint(work, model, k, r, p):
    """(P⁺, sound): let every degree of freedom of joint k yield; store u and 1/d of each."""
    n = body_count(model)
    sound = True
    if entry(model, k, KIND) == REVOLUTE:
        u, pivot, sound = turn_gain(work, model, k, z_axis(r), p)
        return subtract_rank_one(p, u, pivot), sound
    for d_back in range(entry(model, k, N_DOF)):
        i = entry(model, k, N_DOF) - 1 - d_back
        h = joint_column(work, model, k, i, r)
        dof = entry(model, k, V_START) + i
        u, d, size = project_column(p, h)
        d = d + armature(work, model, dof)
        pivot = 1.0 / d
        slot = dof_slot(n, dof)
        store6(work, slot + DOF.GAIN, u)
        store(work, slot + DOF.PIVOT, pivot)
        p = subtract_rank_one(p, u, pivot)
        sound = sound and all_lanes(d > SINGULAR_PIVOT * size)
    return p, sound


@helper
def joint_trouble(work, model, k):
    """The status for a joint that is not sound: too little inertia, or too much for a double."""
    for d_back in range(entry(model, k, N_DOF)):
        dof = entry(model, k, V_START) + entry(model, k, N_DOF) - 1 - d_back
        size = absolute(load(work, dof_slot(body_count(model), dof) + DOF.PIVOT))
        if not all_lanes(size > 0.0):  # d was infinite or NaN
            return failure(NOT_FINITE, k)
        if not all_lanes(size < _INFINITY):
            break  # d was zero, and what follows is NaN because of it
    return failure(SINGULAR, k)


@helper
def gathered_inertia(work, model, k, inertia):
    """P(k): the body's own inertia and what its children have passed inward."""
    if entry(model, k, SUBTREE_END) > k + 1:  # it has children, and k + 1 has just come by
        passed = load_articulated(work, sum_slot(model, -1) + SUMS.INERTIA)
        return add_inertia_to_articulated(passed, inertia)
    return articulated_from_inertia(inertia)


@helper
def kept_inertia(work, model, k, inertia):
    """P(k) after a gather that was told to keep the sums."""
    if entry(model, k, SUBTREE_END) > k + 1:
        passed = load_articulated(work, sum_slot(model, k) + SUMS.INERTIA)
        return add_inertia_to_articulated(passed, inertia)
    return articulated_from_inertia(inertia)


@helper
def pass_inertia_inward(work, model, k, p_plus, keep):
    """Add φ P⁺ φ* to the parent's sum; its last child comes first and starts it.

    The first child comes last, right before its parent: the sum is then carried in one place that
    stays in the fastest cache, and `keep` says whether the parent's record should have it too.
    """
    parent = entry(model, k, PARENT)
    if parent < 0:
        return
    shifted = shift_articulated(p_plus, load3(work, body_slot(k) + BODY.ARM))
    slot = sum_slot(model, parent) + SUMS.INERTIA
    if entry(model, k, SUBTREE_END) != entry(model, parent, SUBTREE_END):
        shifted = add_articulated(shifted, load_articulated(work, slot))
    store_articulated(work, carried_slot(model, k, parent) + SUMS.INERTIA, shifted)
    if keep and parent == k - 1:
        store_articulated(work, slot, shifted)


@helper
def gather_articulated_inertias(work, model, keep):
    """P, and u and 1/d of every degree of freedom; poses must be in the workspace.

    `keep` leaves behind what kept_inertia needs.
    """
    n = body_count(model)
    status = OK
    for back in range(n):
        k = n - 1 - back
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        p = gathered_inertia(work, model, k, body_inertia(work, model, k, r))
        p_plus, sound = project_joint(work, model, k, r, p)
        pass_inertia_inward(work, model, k, p_plus, keep)
        if status == OK and not sound:
            status = joint_trouble(work, model, k)
    return status
