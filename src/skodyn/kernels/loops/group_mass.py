"""𝓜X of a group, 𝓜 its composite mass matrix, and what of each column arrives at its parent c.

Two ways. *By pairs*: F_i = R(k)h_i is carried inward and meets the joints on its way, as in the
composite rigid body algorithm (Jain 2011-II eq. 20); each number 𝓜_ij is used where it is found.
*By columns*: a scatter of velocities and a gather of momenta over the group for each column of X,
which stays linear in the length of the group. The plan says which is shorter
(model/loops/loop_tables.py). Rows of X, and of 𝓜X, are in units of the group (loop_rows.py).
"""

from skodyn.jit import helper, routine
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.loops.loop_table import loop_lane
from skodyn.kernels.loops.loop_variables import (
    dof_place,
    dof_scale,
    inner_member,
    member_body,
    member_dof,
)
from skodyn.kernels.packed_model import armature, body_count, entry
from skodyn.kernels.tuples import load3, load6, load_matrix, store6
from skodyn.kernels.workspace import BODY, DOF, SUMS, body_slot, dof_slot, free_slot, sum_slot
from skodyn.lanes import fma, load, splat, store
from skodyn.model.layout import N_DOF, PARENT, V_START
from skodyn.model.loops import loop_layout as its
from skodyn.spatial.motion import (
    add_scaled_spatial,
    add_spatial,
    dot_spatial,
    shift_force,
    shift_motion,
)


@helper
def inner_motion(work, model, k):
    """φ*·MOTION of the parent of body k."""
    inner = load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION)
    return shift_motion(load3(work, body_slot(k) + BODY.ARM), inner)


@helper
def apply_mass(work, model, group):
    """𝓜X into PRODUCT, X*Φ* into PASSED; F of the members' joints is not there any more then."""
    if model.tree[group + its.BY_PAIRS] > 0:
        _multiply_by_pairs(work, model, group)
        _add_up_arrivals(work, model, group)
    else:
        passed = loop_lane(model, group + its.PASSED_LANE)
        for u in range(model.tree[group + its.MOBILITY]):
            _scatter_column(work, model, group, u)
            store6(work, passed + 6 * u, _gather_column(work, model, group, u))


# ---- by pairs ----------------------------------------------------------------------------------


@routine
def _meet(work, model, group, i, j, mass):
    """Let 𝓜_ij, and 𝓜_ji, do their part in 𝓜X; i and j count within the group."""
    m, free = model.tree[group + its.MOBILITY], free_slot(model)
    x = free + model.tree[group + its.X_LANE]
    product = free + model.tree[group + its.PRODUCT_LANE]
    mass = mass * dof_scale(work, model, group, i) * dof_scale(work, model, group, j)
    for u in range(m):
        at = product + i * m + u
        store(work, at, fma(mass, load(work, x + j * m + u), load(work, at)))
        if i != j:
            at = product + j * m + u
            store(work, at, fma(mass, load(work, x + i * m + u), load(work, at)))


@helper
def _carry_inward(work, model, group, member, j, f):
    """Φ of degree of freedom j in its group: F, from its member's parent on inward to c."""
    f = shift_force(load3(work, body_slot(member_body(model, group, member)) + BODY.ARM), f)
    inner = inner_member(model, group, member)
    while inner >= 0:
        k, first = member_body(model, group, inner), member_dof(model, group, inner)
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        for i in range(entry(model, k, N_DOF)):
            mass = dot_spatial(joint_column(work, model, k, i, r), f)
            _meet(work, model, group, first + i, j, mass)
        f = shift_force(load3(work, body_slot(k) + BODY.ARM), f)
        inner = inner_member(model, group, inner)
    return f


@helper
def _multiply_by_pairs(work, model, group):
    n, product = body_count(model), loop_lane(model, group + its.PRODUCT_LANE)
    for i in range(model.tree[group + its.DOFS] * model.tree[group + its.MOBILITY]):
        store(work, product + i, splat(work, 0.0))
    for member in range(model.tree[group + its.MEMBERS]):
        k, first = member_body(model, group, member), member_dof(model, group, member)
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        for j in range(entry(model, k, N_DOF)):
            dof = entry(model, k, V_START) + j
            f = load6(work, dof_slot(n, dof) + DOF.GAIN)
            for i in range(j):
                mass = dot_spatial(joint_column(work, model, k, i, r), f)
                _meet(work, model, group, first + i, first + j, mass)
            mass = dot_spatial(joint_column(work, model, k, j, r), f) + armature(work, model, dof)
            _meet(work, model, group, first + j, first + j, mass)
            f = _carry_inward(work, model, group, member, first + j, f)
            store6(work, dof_slot(n, dof) + DOF.GAIN, f)


@helper
def _add_up_arrivals(work, model, group):
    """X*Φ*, with Φ in GAIN."""
    x, passed = loop_lane(model, group + its.X_LANE), loop_lane(model, group + its.PASSED_LANE)
    m, n = model.tree[group + its.MOBILITY], body_count(model)
    for u in range(m):
        total = zero3(work), zero3(work)
        for i in range(model.tree[group + its.DOFS]):
            rate = load(work, x + i * m + u) * dof_scale(work, model, group, i)
            phi = load6(work, dof_slot(n, dof_place(model, group, i)) + DOF.GAIN)
            total = add_scaled_spatial(total, rate, phi)
        store6(work, passed + 6 * u, total)


# ---- by columns --------------------------------------------------------------------------------


@routine
def _scatter_column(work, model, group, u):
    """V of every member when only variable u moves, with rate one; their sums begin at zero."""
    x, m = loop_lane(model, group + its.X_LANE), model.tree[group + its.MOBILITY]
    none = zero3(work), zero3(work)
    for i in range(model.tree[group + its.MEMBERS]):
        k, first = member_body(model, group, i), member_dof(model, group, i)
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        inside = entry(model, k, PARENT) != model.tree[group + its.PARENT_BODY]
        motion = inner_motion(work, model, k) if inside else none
        for j in range(entry(model, k, N_DOF)):
            rate = load(work, x + (first + j) * m + u) * dof_scale(work, model, group, first + j)
            motion = add_scaled_spatial(motion, rate, joint_column(work, model, k, j, r))
        store6(work, body_slot(k) + BODY.MOTION, motion)
        store6(work, sum_slot(model, k) + SUMS.FORCE, none)


@routine
def _gather_column(work, model, group, u):
    """Column u of 𝓜X, times the scales of its rows, into PRODUCT; the column of Φ that arrives."""
    x, m = loop_lane(model, group + its.X_LANE), model.tree[group + its.MOBILITY]
    n, product = body_count(model), loop_lane(model, group + its.PRODUCT_LANE)
    arrived = zero3(work), zero3(work)
    for back in range(model.tree[group + its.MEMBERS]):
        i = model.tree[group + its.MEMBERS] - 1 - back
        k, first = member_body(model, group, i), member_dof(model, group, i)
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        motion = load6(work, body_slot(k) + BODY.MOTION)
        outer = load6(work, sum_slot(model, k) + SUMS.FORCE)
        passed = outer
        for j in range(entry(model, k, N_DOF)):
            dof, scale = entry(model, k, V_START) + j, dof_scale(work, model, group, first + j)
            rate = load(work, x + (first + j) * m + u) * scale
            gain = load6(work, dof_slot(n, dof) + DOF.GAIN)
            h = joint_column(work, model, k, j, r)
            momentum = dot_spatial(gain, motion) + dot_spatial(h, outer)
            momentum = fma(armature(work, model, dof), rate, momentum)
            store(work, product + (first + j) * m + u, momentum * scale)
            passed = add_scaled_spatial(passed, rate, gain)
        passed = shift_force(load3(work, body_slot(k) + BODY.ARM), passed)
        parent = entry(model, k, PARENT)
        if parent == model.tree[group + its.PARENT_BODY]:
            arrived = add_spatial(arrived, passed)
        else:
            at = sum_slot(model, parent) + SUMS.FORCE
            store6(work, at, add_spatial(load6(work, at), passed))
    return arrived
