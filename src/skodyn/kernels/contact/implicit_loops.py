"""One Newton step of an implicit step in models with loops, by a single embedded sweep.

Velocities at the end keep G·(v − v₀) = −h·Ġv₀, so that v = v₀ + h·x_p + Xw with the X and x_p of
constraint embedding (embedded_group.py): an affine set, on which the cost stays convex. Contact
stiffness is inertia of the body it touches and S that of a rotor, as in a tree:

    X*(𝓜 + S + J*GJ)X·w = X*(r − (𝓜 + S + J*GJ)·h·x_p)

is forward dynamics on the tree of groups with other inertias, h·x_p in place of x_p and impulses in
place of forces. Long loops (loop_range.py) yield as trees, and their rows hold afterwards.
"""

from skodyn.jit import helper, routine
from skodyn.kernels.aba_passes import backsubstitute_dof, pass_force_inward, passed_force
from skodyn.kernels.articulated_inertia import gathered_inertia, joint_trouble, pass_inertia_inward
from skodyn.kernels.contact.implicit_sweep import (
    STEP,
    bear_point,
    dof_place,
    move_point,
    project_resisted,
)
from skodyn.kernels.joint_kinds import is_free
from skodyn.kernels.joint_motion import joint_column, relative_velocity, zero3
from skodyn.kernels.kinematics import body_inertia
from skodyn.kernels.loops.embedded_group import (
    add_particular,
    carry_rigidly,
    moves_with_group,
    open_group,
    project_whole_group,
)
from skodyn.kernels.loops.group_mass import apply_mass
from skodyn.kernels.loops.loop_groups import factor_groups
from skodyn.kernels.loops.loop_range import close_range_group, in_range_space, open_range_group
from skodyn.kernels.loops.loop_table import (
    first_group_on,
    group_at,
    group_count,
    group_of,
    groups_on,
    loop_lane,
    loop_places,
    stage_at,
)
from skodyn.kernels.loops.loop_variables import dof_place as place_in_v
from skodyn.kernels.loops.loop_variables import dof_scale, member_body
from skodyn.kernels.packed_model import body_count, entry
from skodyn.kernels.status import NOT_FINITE, OK, failure
from skodyn.kernels.tuples import all_finite, load3, load6, load_matrix, store6
from skodyn.kernels.workspace import BODY, body_slot
from skodyn.lanes import fma, load, load_rows, store, store_rows
from skodyn.model.layout import N_DOF, PARENT, V_START
from skodyn.model.loops import loop_layout as its
from skodyn.spatial.articulated import add_applied_articulated
from skodyn.spatial.linear3 import cross, subtract
from skodyn.spatial.motion import add_scaled_spatial, shift_motion, subtract_spatial

__all__ = ["factor_loops", "open_group_of", "sweep_looped"]

# ---- what stays in a step -----------------------------------------------------------------------


@helper
def factor_loops(work, model, q, v, what, h):
    """X and h·x_p of every group, at poses and rates that are in the workspace.

    Velocities of free joints are those along the axes of the start of the step, so Ġv₀ is that of
    axes that stay. what: as of `factor_groups`.
    """
    for k in range(body_count(model)):
        if is_free(model, k):
            slot = body_slot(k)
            spin, slide, _, _ = relative_velocity(
                work, model, k, load_matrix(work, slot + BODY.ROTATION), v
            )
            a = load6(work, slot + BODY.CORIOLIS)
            store6(work, slot + BODY.CORIOLIS, (a[0], subtract(a[1], cross(spin, slide))))
    status = factor_groups(work, model, q, v, what, False)
    for g in range(group_count(model)):
        group = group_at(model, g)
        stage = stage_at(model, group, 0)
        if in_range_space(model, group):
            _shorten(
                work, loop_lane(model, stage + its.SIDE_LANE), model.tree[stage + its.STAGE_ROWS], h
            )
        else:
            _shorten(
                work, loop_lane(model, group + its.VALUE_LANE), model.tree[group + its.DOFS], h
            )
    return status


@helper
def _shorten(work, at, count, h):
    for i in range(count):
        store(work, at + i, h * load(work, at + i))


# ---- tips to base -------------------------------------------------------------------------------


@routine
def _begin_sweep(work, model, places):
    """h·x_p as motion of members, and the impulses that act on their joints."""
    none = zero3(work), zero3(work)
    for k in range(body_count(model)):
        store6(work, body_slot(k) + BODY.CORIOLIS, none)
    add_particular(work, model)
    for g in range(group_count(model)):
        group = group_at(model, g)
        if in_range_space(model, group):
            continue
        for i in range(model.tree[group + its.DOFS]):
            dof = place_in_v(model, group, i)
            own = dof_place(places, dof)
            given = load(work, loop_lane(model, group + its.VALUE_LANE) + i)
            way = load(work, own + STEP.SPEED) - load(work, own + STEP.START_SPEED)
            way = fma(-given, dof_scale(work, model, group, i), way)
            push = load(work, own + STEP.GIVEN) + load(work, own + STEP.PUSH)
            store_rows(work, places.impulses, dof, fma(load(work, own + STEP.SLOPE), way, push))


@routine
def _close_resisted_group(work, model, places, group):
    """Let a group yield as a whole, against S besides."""
    x, product = loop_lane(model, group + its.X_LANE), loop_lane(model, group + its.PRODUCT_LANE)
    m = model.tree[group + its.MOBILITY]
    apply_mass(work, model, group)
    for i in range(model.tree[group + its.DOFS]):
        scale = dof_scale(work, model, group, i)
        slope = load(work, dof_place(places, place_in_v(model, group, i)) + STEP.SLOPE)
        for u in range(m):
            at = product + i * m + u
            share = slope * scale * scale * load(work, x + i * m + u)
            store(work, at, load(work, at) + share)
    return project_whole_group(work, model, group)


@helper
def _close_groups_on(work, model, hooks, places, k):
    """All groups that body k carries."""
    status = OK
    for i in range(groups_on(model, hooks, k)):
        group = group_at(model, first_group_on(model, hooks, k) + i)
        if in_range_space(model, group):
            answer = close_range_group(work, model, group)
        else:
            answer = _close_resisted_group(work, model, places, group)
        status = status if status != OK else answer
    return status


@routine
def _gather(work, model, places):
    """Tips to base: P, z, u, 1/d and ε of single bodies, D, Y and y of groups."""
    n, status, hooks = body_count(model), OK, loop_places(model)
    for back in range(n):
        k = n - 1 - back
        answer = _close_groups_on(work, model, hooks, places, k)
        status = status if status != OK else answer
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        p = gathered_inertia(work, model, k, body_inertia(work, model, k, r))
        f = subtract_spatial(passed_force(work, model, k), load6(work, places.loads + 6 * k))
        for i in range(places.touched[k], places.touched[k + 1]):
            p, f = bear_point(work, places, places.touched[n + 1 + i], p, f)
        if moves_with_group(model, hooks, k):
            f = add_applied_articulated(f, p, load6(work, body_slot(k) + BODY.CORIOLIS))
            carry_rigidly(work, model, k, r, p, f, places.impulses)
        else:
            p, f, sound = project_resisted(work, model, places, k, r, p, f)
            if status == OK and not sound:
                status = joint_trouble(work, model, k)
        pass_inertia_inward(work, model, k, p, False)
        pass_force_inward(work, model, k, f, False)
    answer = _close_groups_on(work, model, hooks, places, -1)
    return status if status != OK else answer


# ---- base to tips -------------------------------------------------------------------------------


@helper
def open_group_of(work, model, k, changes):
    """What moves a group, where k is its first member: into `changes`, or ε of a long loop."""
    if group_of(model, k) < 0:
        return OK
    group = group_at(model, group_of(model, k))
    if member_body(model, group, 0) != k:
        return OK
    if in_range_space(model, group):
        open_range_group(work, model, group)
        return OK
    return open_group(work, model, group, changes)


@routine
def _scatter(work, model, places):
    """Base to tips: the next v of joints and points, and v − v₀ of bodies into MOTION."""
    n, status, hooks = body_count(model), OK, loop_places(model)
    store6(work, BODY.MOTION, (zero3(work), zero3(work)))
    for k in range(n):
        answer = open_group_of(work, model, k, places.changes)
        status = status if status != OK else answer
        slot, member = body_slot(k), moves_with_group(model, hooks, k)
        r = load_matrix(work, slot + BODY.ROTATION)
        inner = load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION)
        change = shift_motion(load3(work, slot + BODY.ARM), inner)
        for i in range(entry(model, k, N_DOF)):
            dof = entry(model, k, V_START) + i
            if member:
                x = load_rows(work, places.changes, dof)
            else:
                x = backsubstitute_dof(work, model, k, i, change)
                if status == OK and not all_finite(x):
                    status = failure(NOT_FINITE, k)
            own = dof_place(places, dof)
            store(work, own + STEP.NEXT_SPEED, load(work, own + STEP.START_SPEED) + x)
            change = add_scaled_spatial(change, x, joint_column(work, model, k, i, r))
        store6(work, slot + BODY.MOTION, change)
        for i in range(places.touched[k], places.touched[k + 1]):
            move_point(work, places, places.touched[n + 1 + i], change)
    return status


@helper
def sweep_looped(work, model, places):
    """Where Newton's step leads, into NEXT_SPEED and NEXT of points; `factor_loops` has run."""
    _begin_sweep(work, model, places)
    first = _gather(work, model, places)
    second = _scatter(work, model, places)
    return first if first != OK else second
