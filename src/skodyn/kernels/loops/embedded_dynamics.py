"""Forward dynamics of models with loops, by constraint embedding, in O(N) for small groups.

A group of bodies that loops bind together is one joint of a coarser tree (embedded_group.py), with

    H(𝔖) = X*·H𝔸,   a(𝔖) = 𝔸*(a + H*x_p)

and Algorithm 6.1 of Jain 2011-II holds on the tree of groups and single bodies. No matrix larger
than X is formed. Groups with much freedom take another way (loop_range.py).
"""

from skodyn.jit import brief_kernel, helper, routine, shared_routine
from skodyn.kernels.aba_passes import backsubstitute_dof, pass_force_inward, passed_force
from skodyn.kernels.articulated_inertia import gathered_inertia, joint_trouble, pass_inertia_inward
from skodyn.kernels.entries import Given, batch, one_state_signature, per_dof, row_of
from skodyn.kernels.forward_dynamics import add_outer_force, project_loaded_joint
from skodyn.kernels.joint_motion import joint_column
from skodyn.kernels.kinematics import body_inertia, ground_acceleration, move_body, scatter_rates
from skodyn.kernels.loops.embedded_group import (
    add_particular,
    carry_rigidly,
    close_group,
    moves_with_group,
    open_group,
)
from skodyn.kernels.loops.loop_filling import ACCELERATIONS, GAMMAS
from skodyn.kernels.loops.loop_groups import factor_groups
from skodyn.kernels.loops.loop_range import close_range_group, in_range_space, open_range_group
from skodyn.kernels.loops.loop_table import first_group_on, group_at, groups_on, loop_places
from skodyn.kernels.loops.loop_variables import member_body
from skodyn.kernels.packed_model import body_count, entry, velocity_count
from skodyn.kernels.status import (
    BAD_INPUT,
    NOT_FINITE,
    OK,
    coordinates_fit,
    failure,
    first_trouble,
    velocities_fit,
)
from skodyn.kernels.tuples import all_finite, load3, load6, load_matrix, store6
from skodyn.kernels.workspace import BODY, DOF, body_slot, dof_slot, unpack
from skodyn.lanes import Rows, load, pointer, store_rows
from skodyn.model.layout import N_DOF, PARENT, SUBTREE_END, V_START
from skodyn.spatial.articulated import add_applied_articulated
from skodyn.spatial.motion import add_scaled_spatial, add_spatial, shift_motion

_INFINITY = float("inf")


# ---- tips to base ------------------------------------------------------------------------------


@helper
def close_groups_on(work, model, places, k):
    """All groups that body k carries."""
    status = OK
    for i in range(groups_on(model, places, k)):
        group = group_at(model, first_group_on(model, places, k) + i)
        if in_range_space(model, group):
            answer = close_range_group(work, model, group)
        else:
            answer = close_group(work, model, group)
        status = status if status != OK else answer
    return status


@shared_routine
def gather_embedded(work, model, tau, f_ext):
    """Tips to base: P, z, u, 1/d and ε of single bodies, D, Y and y of groups."""
    n, places = body_count(model), loop_places(model)
    status = OK
    for back in range(n):
        k = n - 1 - back
        answer = close_groups_on(work, model, places, k)
        status = status if status != OK else answer
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        inertia = body_inertia(work, model, k, r)
        p = gathered_inertia(work, model, k, inertia)
        f = add_outer_force(work, k, passed_force(work, model, k), inertia, f_ext)
        z = add_applied_articulated(f, p, load6(work, body_slot(k) + BODY.CORIOLIS))
        if moves_with_group(model, places, k):
            carry_rigidly(work, model, k, r, p, z, tau)
        else:
            p, z, sound = project_loaded_joint(work, model, k, r, p, z, tau)
            if status == OK and not sound:
                status = joint_trouble(work, model, k)
        pass_inertia_inward(work, model, k, p, False)
        pass_force_inward(work, model, k, z, False)
    answer = close_groups_on(work, model, places, -1)
    return status if status != OK else answer


# ---- base to tips ------------------------------------------------------------------------------


@shared_routine
def scatter_embedded(work, model, ground, out):
    """Base to tips: θ̈ and α, given the acceleration of the ground."""
    n, places = body_count(model), loop_places(model)
    status = OK
    store6(work, BODY.MOTION, ground)
    for k in range(n):
        slot, member = body_slot(k), moves_with_group(model, places, k)
        g = model.tree[places.membership + k]
        if g >= 0:
            group = group_at(model, g)
            if member_body(model, group, 0) == k:
                if member:
                    answer = open_group(work, model, group, out)
                    status = status if status != OK else answer
                else:
                    open_range_group(work, model, group)
        if member and entry(model, k, SUBTREE_END) == k + 1:
            continue  # nobody asks for its α
        r = load_matrix(work, slot + BODY.ROTATION)
        inner = load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION)
        alpha = shift_motion(load3(work, slot + BODY.ARM), inner)
        for i in range(entry(model, k, N_DOF)):
            dof = entry(model, k, V_START) + i
            if member:
                rate = load(work, dof_slot(n, dof) + DOF.RESIDUE)
            else:
                rate = backsubstitute_dof(work, model, k, i, alpha)
                store_rows(work, out, dof, rate)
                if status == OK and not all_finite(rate):
                    status = failure(NOT_FINITE, k)
            alpha = add_scaled_spatial(alpha, rate, joint_column(work, model, k, i, r))
        store6(work, slot + BODY.MOTION, add_spatial(alpha, load6(work, slot + BODY.CORIOLIS)))
    return status


# ---- the algorithms ----------------------------------------------------------------------------


@routine
def _scatter_spins(work, model, v):
    """ω and a(k) of every body, whose poses are in the workspace."""
    for k in range(body_count(model)):
        r, l = load_matrix(work, body_slot(k) + BODY.ROTATION), load3(work, body_slot(k) + BODY.ARM)
        _, a = move_body(work, model, k, r, l, v)
        store6(work, body_slot(k) + BODY.CORIOLIS, a)


@helper
def accelerate_embedded(work, model, given, out, what, strict):
    """θ̈; what: ACCELERATIONS, or GAMMAS where poses and factors are those of this q already.

    strict: states whose loops are open are refused.
    """
    first = OK
    if what == GAMMAS:
        _scatter_spins(work, model, given.v)
    else:
        first = scatter_rates(work, model, given.q, given.v)
    closed = factor_groups(work, model, given.q, given.v, what, strict)
    add_particular(work, model)
    second = gather_embedded(work, model, given.x, given.f_ext)
    third = scatter_embedded(work, model, ground_acceleration(work, model), out)
    return first_trouble(first, closed, first_trouble(second, third, OK))


@helper
def sweep(work, model, given, out):
    """θ̈; x holds tau."""
    return accelerate_embedded(work, model, given, out, ACCELERATIONS, True)


@helper
def pushed_length(model, x):
    """How many numbers of external forces lie behind tau: none, all, or −1 for a wrong length."""
    nv, length = velocity_count(model), 6 * body_count(model)
    if x.size == nv:
        return 0
    return length if x.size == nv + length + 1 and x[nv + length] != x[nv + length] else -1


@brief_kernel(*one_state_signature(2))
def forward_dynamics(block, q, v, x, out):
    """One state; x holds tau. Behind it may lie external forces with a NaN at the end, which no tau
    has: who has none passes an argument less, as of a tree."""
    work, model = unpack(block)
    nv, pushes = velocity_count(model), pushed_length(model, x)
    fit = coordinates_fit(model, q) and velocities_fit(model, v) and out.size == nv
    if not fit or pushes < 0:
        return BAD_INPUT
    for i in range(nv + pushes):
        fit &= abs(x[i]) < _INFINITY
    if not fit:
        return BAD_INPUT
    forces = Rows(pointer(x), nv, pushes)
    return sweep(work, model, Given(row_of(q), row_of(v), row_of(x), forces), row_of(out))


forward_dynamics_batch = batch("forward_dynamics_batch", sweep, per_dof)
