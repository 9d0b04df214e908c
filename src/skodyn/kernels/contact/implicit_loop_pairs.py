"""Contacts between two bodies in a Newton step of a model with loops: implicit_pairs.py.

What a LOAD moves, by a gather and a scatter with the factors D, Y of groups and R, S of long loops
that the sweep has left; h·x_p and Ġv₀, which no load changes, have no part in it.
"""

from skodyn.jit import helper, routine
from skodyn.kernels.aba_passes import backsubstitute_dof, pass_force_inward, passed_force
from skodyn.kernels.contact.implicit_loops import open_group_of
from skodyn.kernels.contact.implicit_pairs import (
    less_pair_loads,
    project_load,
    scatter_pair_changes,
)
from skodyn.kernels.dense import solve_lower
from skodyn.kernels.joint_motion import joint_column
from skodyn.kernels.loops.embedded_group import moves_with_group
from skodyn.kernels.loops.loop_range import add_free_rates, in_range_space
from skodyn.kernels.loops.loop_table import (
    first_group_on,
    group_at,
    groups_on,
    loop_lane,
    loop_places,
    stage_at,
)
from skodyn.kernels.loops.loop_variables import dof_place as place_in_v
from skodyn.kernels.loops.loop_variables import dof_scale
from skodyn.kernels.packed_model import body_count, entry
from skodyn.kernels.tuples import load6, load_matrix, store6
from skodyn.kernels.workspace import BODY, DOF, SUMS, body_slot, dof_slot, sum_slot
from skodyn.lanes import fma, load, splat, store
from skodyn.model.layout import N_DOF, V_START
from skodyn.model.loops import loop_layout as its
from skodyn.spatial.motion import add_scaled_spatial, dot_spatial

__all__ = ["backsubstitute_with_loops"]


@routine
def _reduce_loads(work, model, group):
    """X*ρ, into RATE."""
    x, rates = loop_lane(model, group + its.X_LANE), loop_lane(model, group + its.RATE_LANE)
    m, n = model.tree[group + its.MOBILITY], body_count(model)
    for t in range(m):
        total = splat(work, 0.0)
        for i in range(model.tree[group + its.DOFS]):
            rest = load(work, dof_slot(n, place_in_v(model, group, i)) + DOF.RESIDUE)
            rest = rest * dof_scale(work, model, group, i)
            total = fma(load(work, x + i * m + t), rest, total)
        store(work, rates + t, total)


@routine
def _close_loaded_group(work, model, group):
    """y of a group, or e of a long loop, and what of it arrives at the parent."""
    rates = loop_lane(model, group + its.RATE_LANE)
    passed = loop_lane(model, group + its.PASSED_LANE)
    if in_range_space(model, group):
        count, sign = model.tree[stage_at(model, group, 0) + its.RANK], -1.0
        add_free_rates(work, model, group, False)
    else:
        count, sign = model.tree[group + its.MOBILITY], 1.0
        _reduce_loads(work, model, group)
    solve_lower(work, loop_lane(model, group + its.MASS_LANE), count, rates, 1)
    if model.tree[group + its.PARENT_BODY] >= 0:
        at = sum_slot(model, -1) + SUMS.FORCE
        f = load6(work, at)
        for t in range(count):
            f = add_scaled_spatial(f, sign * load(work, rates + t), load6(work, passed + 6 * t))
        store6(work, at, f)


@helper
def _close_loaded_groups_on(work, model, hooks, k):
    for i in range(groups_on(model, hooks, k)):
        _close_loaded_group(work, model, group_at(model, first_group_on(model, hooks, k) + i))


@routine
def _gather_loads(work, model, places):
    """Tips to base: residuals of the LOAD of all pairs."""
    n, hooks = body_count(model), loop_places(model)
    for back in range(n):
        k = n - 1 - back
        _close_loaded_groups_on(work, model, hooks, k)
        f = less_pair_loads(work, model, places, k, passed_force(work, model, k))
        if moves_with_group(model, hooks, k):
            r = load_matrix(work, body_slot(k) + BODY.ROTATION)
            for i in range(entry(model, k, N_DOF)):
                record = dof_slot(n, entry(model, k, V_START) + i)
                h = joint_column(work, model, k, i, r)
                store(work, record + DOF.RESIDUE, -dot_spatial(h, f))
        else:
            f = project_load(work, model, k, f)
        pass_force_inward(work, model, k, f, False)
    _close_loaded_groups_on(work, model, hooks, -1)


@helper
def _enter_group(work, model, places, k):
    """Before its first member, what moves a group is found."""
    open_group_of(work, model, k, places.changes)


@helper
def _change_in_group(work, model, places, k, i, change):
    """The change of a velocity; that of a group's member is known."""
    if moves_with_group(model, loop_places(model), k):
        return load(work, dof_slot(body_count(model), entry(model, k, V_START) + i) + DOF.RESIDUE)
    return backsubstitute_dof(work, model, k, i, change)


@routine
def _scatter_answers(work, model, places, keep):
    scatter_pair_changes(_enter_group, _change_in_group, work, model, places, keep)


@helper
def backsubstitute_with_loops(work, model, places, keep):
    """What the LOAD of all pairs moves."""
    _gather_loads(work, model, places)
    _scatter_answers(work, model, places, keep)
