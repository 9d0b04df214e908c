"""Contacts between two bodies in a Newton step: a Woodbury correction of the sweep without them.

They couple branches, so their stiffness is no inertia of one body. With G = L·L* and 𝓗 what one
sweep solves, contacts with the ground included,

    (𝓗 + J*GJ)⁻¹·r = y − 𝓗⁻¹J*L·λ,   y = 𝓗⁻¹·r,   (1 + L*J𝓗⁻¹J*L)·λ = L*J·y

The matrix of λ is positive definite, with a column for the normal of each point and one for each
component of what its friction sees; each takes a gather and a scatter with the factors of the
sweep. L of friction is √Gt·(1 − ŵŵᵀ), its own square. For some points only, a gripper's.
"""

from skodyn.jit import helper, routine, shared_routine
from skodyn.kernels.aba_passes import pass_force_inward, passed_force
from skodyn.kernels.contact.contact_law import across, twisted
from skodyn.kernels.contact.implicit_law import POINT, is_stiff, turning_lengths
from skodyn.kernels.contact.implicit_sweep import (
    STEP,
    change_of_dof,
    dof_place,
    is_pair,
    is_second,
    point_of,
    point_record,
    point_slot,
    side_of,
)
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.packed_model import body_count, entry
from skodyn.kernels.tuples import load3, load6, load_matrix, store6
from skodyn.kernels.workspace import BODY, DOF, body_slot, dof_slot
from skodyn.lanes import any_lane, fma, load, select, splat, sqrt, store
from skodyn.model.contact import contact_layout as its
from skodyn.model.layout import N_DOF, PARENT, V_START
from skodyn.spatial.linear3 import add_scaled, component, negate, scale
from skodyn.spatial.motion import (
    add_scaled_spatial,
    add_spatial,
    dot_spatial,
    shift_force,
    shift_motion,
    subtract_spatial,
)

__all__ = [
    "backsubstitute_in_tree",
    "backsubstitute_point",
    "correct_for_pairs",
    "enter_tree_body",
    "gather_pair_loads",
    "less_pair_loads",
    "project_load",
    "scatter_pair_changes",
]


@helper
def columns_of(places, p):
    """How many columns of L a point has."""
    return 7 if places.contacts.codes[point_record(p) + its.TURNS] > 0 else 4


@helper
def unit_of(work, j):
    """The j-th unit vector of three, j known at run time only."""
    one, zero = splat(work, 1.0), splat(work, 0.0)
    return (one if j == 0 else zero, one if j == 1 else zero, one if j == 2 else zero)


@helper
def column_of(work, places, p, j):
    """Column j of L as [moment; force] on a: the normal, three of shift, three of rotation."""
    slot, at = point_slot(places, p), point_record(p)
    n, none = load3(work, slot + POINT.NORMAL), zero3(work)
    if j == 0:
        return none, scale(sqrt(load(work, slot + POINT.ALONG)), n)
    size = sqrt(load(work, slot + POINT.ACROSS))
    way = load6(work, slot + POINT.WAY)
    along = component(way[1], j - 1) if j < 4 else component(way[0], j - 4)
    cut = -(load(work, slot + POINT.SLIPS) * along)
    shift = add_scaled(unit_of(work, j - 1), cut, way[1])
    if places.contacts.codes[at + its.TURNS] > 0:
        turn = add_scaled(unit_of(work, j - 4), cut, way[0])
        torsion, rolling = turning_lengths(work, places.contacts, at)
        return scale(size, twisted(work, n, turn, torsion, rolling)), scale(size, across(n, shift))
    return none, scale(size, across(n, shift))


@helper
def less_pair_loads(work, model, places, k, f):
    """f less the LOAD of all pairs that body k has a part in."""
    n = body_count(model)
    for i in range(places.touched[k], places.touched[k + 1]):
        code = places.touched[n + 1 + i]
        if is_pair(code):
            slot, side = point_slot(places, point_of(code)), side_of(code)
            push = load6(work, slot + POINT.LOAD)
            if side == 1:
                push = negate(push[0]), negate(push[1])
            f = subtract_spatial(f, shift_force(load3(work, slot + POINT.ARMS + 3 * side), push))
    return f


@helper
def project_load(work, model, k, f):
    """f⁺: what is left of a load when joint k has yielded, with the factors of the sweep."""
    n = body_count(model)
    r = load_matrix(work, body_slot(k) + BODY.ROTATION)
    for last in range(entry(model, k, N_DOF)):
        i = entry(model, k, N_DOF) - 1 - last
        record = dof_slot(n, entry(model, k, V_START) + i)
        epsilon = -dot_spatial(joint_column(work, model, k, i, r), f)
        store(work, record + DOF.RESIDUE, epsilon)
        ratio = epsilon * load(work, record + DOF.PIVOT)
        f = add_scaled_spatial(f, ratio, load6(work, record + DOF.GAIN))
    return f


@helper
def gather_pair_loads(work, model, places):
    """Tips to base: residuals of the LOAD of all pairs, with the factors of the sweep."""
    n = body_count(model)
    for back in range(n):
        k = n - 1 - back
        f = less_pair_loads(work, model, places, k, passed_force(work, model, k))
        pass_force_inward(work, model, k, project_load(work, model, k, f), False)


@helper
def backsubstitute_point(work, places, code, change, keep):
    """How a point moves with one of its bodies: RESPONSE of pairs; NEXT if it is to be kept."""
    slot, side = point_slot(places, point_of(code)), side_of(code)
    moved = shift_motion(load3(work, slot + POINT.ARMS + 3 * side), change)
    if side == 1:
        moved = negate(moved[0]), negate(moved[1])
    if keep:
        store6(work, slot + POINT.NEXT, add_spatial(load6(work, slot + POINT.NEXT), moved))
    elif is_pair(code):
        if is_second(code):
            moved = add_spatial(load6(work, slot + POINT.RESPONSE), moved)
        store6(work, slot + POINT.RESPONSE, moved)


@helper
def enter_tree_body(work, model, places, k):
    """Before a body of a tree there is nothing to do."""


@helper
def scatter_pair_changes(enter, answers, work, model, places, keep):
    """Base to tips: what the LOAD of all pairs moves; `keep` adds it to Newton's step.

    enter: what is done before a body is looked at; answers: how a velocity changes, with the
    parent's change.
    """
    n, zero = body_count(model), zero3(work)
    store6(work, BODY.MOTION, (zero, zero))
    for k in range(n):
        enter(work, model, places, k)
        slot = body_slot(k)
        r = load_matrix(work, slot + BODY.ROTATION)
        inner = load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION)
        change = shift_motion(load3(work, slot + BODY.ARM), inner)
        for i in range(entry(model, k, N_DOF)):
            x = answers(work, model, places, k, i, change)
            if keep:
                own = dof_place(places, entry(model, k, V_START) + i) + STEP.NEXT_SPEED
                store(work, own, load(work, own) + x)
            change = add_scaled_spatial(change, x, joint_column(work, model, k, i, r))
        store6(work, slot + BODY.MOTION, change)
        for i in range(places.touched[k], places.touched[k + 1]):
            backsubstitute_point(work, places, places.touched[n + 1 + i], change, keep)


@routine
def backsubstitute_in_tree(work, model, places, keep):
    """What the LOAD of all pairs moves, in a model without loops."""
    gather_pair_loads(work, model, places)
    scatter_pair_changes(enter_tree_body, change_of_dof, work, model, places, keep)


@helper
def clear_loads(work, places):
    zero = zero3(work)
    for i in range(places.n_pairs):
        store6(work, point_slot(places, places.pairs[i]) + POINT.LOAD, (zero, zero))


@helper
def write_column(work, places, matrix, size, column):
    """A column of 1 + L*J𝓗⁻¹J*L from the RESPONSE of all pairs."""
    row = 0
    for i in range(places.n_pairs):
        p = places.pairs[i]
        moved = load6(work, point_slot(places, p) + POINT.RESPONSE)
        for j in range(columns_of(places, p)):
            value = dot_spatial(column_of(work, places, p, j), moved)
            own = splat(work, 1.0) if row == column else splat(work, 0.0)
            store(work, matrix + row * size + column, own + value)
            row += 1


@helper
def write_unit_column(work, matrix, size, column):
    for row in range(size):
        own = splat(work, 1.0) if row == column else splat(work, 0.0)
        store(work, matrix + row * size + column, own)


@helper
def solve_positive(work, matrix, size, x):
    """x ← A⁻¹·x of a positive definite A, by Cholesky's factors in its lower half."""
    for j in range(size):
        for i in range(j, size):
            total = load(work, matrix + i * size + j)
            for k in range(j):
                left, right = load(work, matrix + i * size + k), load(work, matrix + j * size + k)
                total = fma(-left, right, total)
            if i == j:
                store(work, matrix + j * size + j, sqrt(total))
            else:
                store(
                    work, matrix + i * size + j, total / load(work, matrix + j * size + j)
                )  # fmt: skip
    for i in range(size):
        total = load(work, x + i)
        for k in range(i):
            total = fma(-load(work, matrix + i * size + k), load(work, x + k), total)
        store(work, x + i, total / load(work, matrix + i * size + i))
    for back in range(size):
        i = size - 1 - back
        total = load(work, x + i)
        for k in range(i + 1, size):
            total = fma(-load(work, matrix + k * size + i), load(work, x + k), total)
        store(work, x + i, total / load(work, matrix + i * size + i))


@helper
def fill_system(answer, work, model, places, matrix, size, x):
    """The matrix and the right-hand side of λ."""
    column = 0
    for i in range(places.n_pairs):
        p = places.pairs[i]
        slot = point_slot(places, p)
        way = subtract_spatial(load6(work, slot + POINT.NEXT), load6(work, slot + POINT.START))
        for j in range(columns_of(places, p)):
            own = column_of(work, places, p, j)
            store(work, x + column, dot_spatial(own, way))
            if any_lane(is_stiff(work, slot)):
                clear_loads(work, places)
                store6(work, slot + POINT.LOAD, own)
                answer(work, model, places, False)
                write_column(work, places, matrix, size, column)
            else:
                write_unit_column(work, matrix, size, column)
            column += 1


@shared_routine
def correct_for_pairs(answer, work, model, places):
    """Take what pairs resist off the step that a sweep without them has found.

    answer: finds what the LOAD of all pairs moves.
    """
    stiff, size = splat(work, 0.0), 0
    for i in range(places.n_pairs):
        mine = is_stiff(work, point_slot(places, places.pairs[i]))
        stiff = select(mine, splat(work, 1.0), stiff)
        size += columns_of(places, places.pairs[i])
    if not any_lane(stiff > 0.0):
        return
    matrix, x = places.matrix, places.matrix + size * size
    fill_system(answer, work, model, places, matrix, size, x)
    solve_positive(work, matrix, size, x)
    column = 0
    for i in range(places.n_pairs):
        p = places.pairs[i]
        zero = zero3(work)
        push = zero, zero
        for j in range(columns_of(places, p)):
            push = add_scaled_spatial(
                push, -load(work, x + column), column_of(work, places, p, j)
            )  # fmt: skip
            column += 1
        store6(work, point_slot(places, p) + POINT.LOAD, push)
    answer(work, model, places, True)
