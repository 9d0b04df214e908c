"""Forward dynamics of models with loops and flexible bodies, in O(N·rows).

Joints and modes yield as those of a tree do (flexible_dynamics.py); then the independent rows of
all loops, W = Q₁*G, are made to hold (loop_range.py has the method, for a group on a body c; here
one group stands on the ground). One sweep for each row gives what its unit multiplier leaves at
joints and modes, B = D^(−1/2)(I − HψK)W*, and with

    B = QR,   e = W·v̇_tree + γ:        ε ← ε − D^(1/2)·Q·R⁻*·e

a second way outward has the accelerations.
"""

from skodyn.jit import helper, routine, shared_routine
from skodyn.kernels.dense import solve_lower
from skodyn.kernels.entries import batch, one_state, per_dof, per_dof_of_x
from skodyn.kernels.flexible import flexible_mass
from skodyn.kernels.flexible.flexible_body import mode_slot, pair_row, yielded_gain
from skodyn.kernels.flexible.flexible_dynamics import (
    gather_bent_inertias,
    gather_bent_residuals,
    hang_force,
    scatter_bent_accelerations,
)
from skodyn.kernels.flexible.flexible_loop_rows import factor_bent_rows, fill_bent_rows, the_filling
from skodyn.kernels.flexible.flexible_table import clear_columns, field, flexible_record, lanes_of
from skodyn.kernels.flexible.flexible_tree import scatter_bent_rates, scatter_masses
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.kinematics import ground_acceleration
from skodyn.kernels.loops.loop_factor import reflect_side
from skodyn.kernels.loops.loop_filling import ACCELERATIONS, COLUMNS, GAMMAS
from skodyn.kernels.loops.loop_groups import STRICT, TRUSTED
from skodyn.kernels.loops.loop_range import orthogonalise
from skodyn.kernels.loops.loop_table import group_at, loop_lane, stage_at
from skodyn.kernels.loops.loop_variables import dof_scale
from skodyn.kernels.packed_model import body_count, entry, velocity_count
from skodyn.kernels.solve_entries import solve_kernel
from skodyn.kernels.status import LOOP_SINGULAR, OK, failure, first_trouble
from skodyn.kernels.tuples import load3, load6, load_matrix, store6
from skodyn.kernels.workspace import BODY, DOF, SUMS, body_slot, dof_slot, sum_slot
from skodyn.lanes import fma, load, load_rows, splat, sqrt, store
from skodyn.lanes.columns import columns_at_once, load_columns, store_columns
from skodyn.model.flexible import flexible_layout as bent
from skodyn.model.layout import N_DOF, PARENT, V_START
from skodyn.model.loops import loop_layout as its
from skodyn.spatial.motion import add_scaled_spatial, add_spatial, dot_spatial, shift_force

# ---- what a multiplier does ----------------------------------------------------------------------


@helper
def _rank(model, group):
    return model.tree[stage_at(model, group, 0) + its.RANK]


@helper
def _row_entry(work, model, group, dof, i):
    """The force of unit multiplier i on a degree of freedom."""
    rows = loop_lane(model, group + its.X_LANE)
    x = load(work, rows + dof * _rank(model, group) + i)
    return x / dof_scale(work, model, group, dof)


@helper
def _leave(work, model, group, dof, i, epsilon, pivot):
    """Keep ε/√d."""
    at = loop_lane(model, group + its.PRODUCT_LANE) + dof * _rank(model, group) + i
    store(work, at, epsilon * sqrt(pivot))


@helper
def _push_modes(work, model, group, record, i, z):
    """z behind the modes of a body under multiplier i."""
    loads, start = lanes_of(model, record, bent.LOADS), field(model, record, bent.MODE_V)
    m = field(model, record, bent.MODES)
    for back in range(m):
        j = m - 1 - back
        slot, row = mode_slot(model, record, j), pair_row(model, record, j)
        pivot = load(work, slot + DOF.PIVOT)
        epsilon = _row_entry(work, model, group, start + j, i) - load(work, loads + j)
        _leave(work, model, group, start + j, i, epsilon, pivot)
        ratio = epsilon * pivot
        for h in range(0, j, columns_at_once(work)):
            moved = fma(load_columns(work, row + h), ratio, load_columns(work, loads + h))
            store_columns(work, loads + h, moved)
        z = add_scaled_spatial(z, ratio, yielded_gain(work, model, record, j))
    return z


@helper
def _push_joint(work, model, group, k, i, z):
    """z behind joint k under multiplier i."""
    n, r = body_count(model), load_matrix(work, body_slot(k) + BODY.ROTATION)
    for back in range(entry(model, k, N_DOF)):
        j = entry(model, k, N_DOF) - 1 - back
        dof = entry(model, k, V_START) + j
        slot = dof_slot(n, dof)
        pivot, h = load(work, slot + DOF.PIVOT), joint_column(work, model, k, j, r)
        epsilon = _row_entry(work, model, group, dof, i) - dot_spatial(h, z)
        _leave(work, model, group, dof, i, epsilon, pivot)
        z = add_scaled_spatial(z, epsilon * pivot, load6(work, slot + DOF.GAIN))
    return z


@routine
def _gather_multiplier(work, model, group, i):
    """Column i of B into PRODUCT: ε/√d of every joint and mode under multiplier i alone."""
    n, none = body_count(model), (zero3(work), zero3(work))
    for k in range(n):
        store6(work, sum_slot(model, k) + SUMS.FORCE, none)
        record = flexible_record(model, k)
        if record > 0:
            clear_columns(
                work, lanes_of(model, record, bent.LOADS), field(model, record, bent.MODES)
            )
    for back in range(n):
        k = n - 1 - back
        z, record = load6(work, sum_slot(model, k) + SUMS.FORCE), flexible_record(model, k)
        if record > 0:
            z = _push_modes(work, model, group, record, i, z)
        z = _push_joint(work, model, group, k, i, z)
        hang_force(work, model, k, z)
        parent = entry(model, k, PARENT)
        if parent >= 0:
            at = sum_slot(model, parent) + SUMS.FORCE
            passed = shift_force(load3(work, body_slot(k) + BODY.ARM), z)
            store6(work, at, add_spatial(load6(work, at), passed))


@shared_routine
def factor_multipliers(work, model):
    """B = QR, at inertias that have been gathered."""
    group = group_at(model, 0)
    for i in range(_rank(model, group)):
        _gather_multiplier(work, model, group, i)
    sound = orthogonalise(work, model, group)
    return OK if sound else failure(LOOP_SINGULAR, model.tree[group + its.FIRST_CONSTRAINT])


@routine
def hold_rows(work, model, vdot, moving):
    """ε with the forces of all loops, where `vdot` are the accelerations without them.

    moving: with γ, which `reflect_side` has left in SIDE.
    """
    group, n, nv = group_at(model, 0), body_count(model), velocity_count(model)
    rank, e = _rank(model, group), loop_lane(model, group + its.RATE_LANE)
    side = loop_lane(model, stage_at(model, group, 0) + its.SIDE_LANE)
    rows, q = loop_lane(model, group + its.X_LANE), loop_lane(model, group + its.PRODUCT_LANE)
    for i in range(rank):
        store(work, e + i, load(work, side + i) if moving else splat(work, 0.0))
    for dof in range(nv):
        rate = load_rows(work, vdot, dof) / dof_scale(work, model, group, dof)
        for i in range(rank):
            x = fma(load(work, rows + dof * rank + i), rate, load(work, e + i))
            store(work, e + i, x)
    solve_lower(work, loop_lane(model, group + its.MASS_LANE), rank, e, 1)
    for dof in range(nv):
        total, slot = splat(work, 0.0), dof_slot(n, dof)
        for i in range(rank):
            total = fma(load(work, q + dof * rank + i), load(work, e + i), total)
        root = sqrt(1.0 / load(work, slot + DOF.PIVOT))
        store(work, slot + DOF.RESIDUE, fma(-root, total, load(work, slot + DOF.RESIDUE)))


# ---- the algorithms ------------------------------------------------------------------------------


@helper
def accelerate_bent_looped(work, model, given, out, what, strict):
    """v̇ of bodies that have been placed and moved; what: ACCELERATIONS, or GAMMAS where the rows
    are factored for this q already. strict: states whose loops are open are refused."""
    closed = OK
    if what == GAMMAS:
        fill_bent_rows(work, model, the_filling(model, given.q, given.v, GAMMAS))
    else:
        mode = STRICT if strict else TRUSTED
        closed = factor_bent_rows(work, model, given.q, given.v, ACCELERATIONS, mode)
    reflect_side(work, model, stage_at(model, group_at(model, 0), 0))
    ground = ground_acceleration(work, model)
    first = gather_bent_residuals(work, model, given.x, given.f_ext)
    second = factor_multipliers(work, model)
    third = scatter_bent_accelerations(work, model, ground, True, out)
    hold_rows(work, model, out, True)
    fourth = scatter_bent_accelerations(work, model, ground, True, out)
    return first_trouble(closed, first, first_trouble(second, third, fourth))


@helper
def sweep(work, model, given, out):
    """v̇; x holds tau."""
    first = scatter_bent_rates(work, model, given.q, given.v)
    second = accelerate_bent_looped(work, model, given, out, ACCELERATIONS, True)
    return first if first != OK else second


bent_looped_forward = one_state("bent_looped_forward", sweep, per_dof_of_x, "q v x f")
bent_looped_forward_batch = batch("bent_looped_forward_batch", sweep, per_dof)


# ---- 𝓜·x = rhs ---------------------------------------------------------------------------------


@helper
def prepare_solve(work, model, q):
    """What every right-hand side shares."""
    first = scatter_masses(work, model, q)
    closed = factor_bent_rows(work, model, q, q, COLUMNS, STRICT)
    second = gather_bent_inertias(work, model)
    third = factor_multipliers(work, model)
    return first_trouble(first, closed, first_trouble(second, third, OK))


@helper
def solve(work, model, rhs, out):
    """X(X*𝓜X)⁻¹X*·rhs for one row per state; `prepare_solve` has run."""
    first = flexible_mass.solve(work, model, rhs, out)
    hold_rows(work, model, out, False)
    ground = zero3(work), zero3(work)
    second = scatter_bent_accelerations(work, model, ground, False, out)
    return first if first != OK else second


@helper
def sweep_solve(work, model, given, out):
    """X(X*𝓜X)⁻¹X*·x."""
    status = prepare_solve(work, model, given.q)
    return status if status != OK else solve(work, model, given.x, out)


bent_looped_solve = solve_kernel("bent_looped_solve", prepare_solve, solve)
bent_looped_solve_batch = batch("bent_looped_solve_batch", sweep_solve, per_dof)
