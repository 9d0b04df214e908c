"""Velocities onto the manifold of closed loops by impulses of the loops: in the mass metric.

Of all changes Δ with GΔ = −Gv the one with the least Δ*𝓜Δ is the acceleration of the mechanism at
rest whose rows ask for −Gv and on which nothing else acts (Gauss's principle):

    Δ = −𝓜⁻¹G*(G𝓜⁻¹G*)⁺Gv

so embedded dynamics find it, with x_p for γ = Gv. A multiplier that is off, as near singular
positions where small pivots magnify roundings, changes v by 𝓜⁻¹G*λ: across the manifold, as the
mass matrix measures. This map takes all of that away again. The least change of coordinates would
leave a part of it along the motion, as energy that comes from nowhere.

It costs a sweep, so it is done at the ends of steps that lie near a singular position. Which of the
two maps a step ends with does not touch its order: stages are all closed by one.
"""

from skodyn.jit import helper, routine
from skodyn.kernels.joint_motion import zero3
from skodyn.kernels.loops.embedded_dynamics import gather_embedded, scatter_embedded
from skodyn.kernels.loops.embedded_group import add_particular
from skodyn.kernels.loops.embedded_solve import stop_bodies
from skodyn.kernels.loops.loop_factor import reflect_side
from skodyn.kernels.loops.loop_filling import COLUMNS
from skodyn.kernels.loops.loop_groups import RATED, factor_group, particular_solution
from skodyn.kernels.loops.loop_projection import close_positions, close_velocities
from skodyn.kernels.loops.loop_range import in_range_space
from skodyn.kernels.loops.loop_table import group_at, group_count, header_lane, loop_lane, stage_at
from skodyn.kernels.packed_model import velocity_count
from skodyn.kernels.status import OK
from skodyn.lanes import (
    Rows,
    absolute,
    all_lanes,
    load,
    load_rows,
    select,
    splat,
    store,
    store_rows,
)
from skodyn.model.loops import loop_layout as its

NEAR = 0.01
"""A position is near a singular one if a pivot is below this part of the group's largest: roundings
of accelerations, which grow with the cube of it, are a million times larger there."""

_INFINITY = float("inf")


@routine
def _ask_for_rates(work, model, q, v):
    """Factors of all groups, and x_p with G·x_p = −Gv."""
    for g in range(group_count(model)):
        group = group_at(model, g)
        factor_group(work, model, group, q, v, COLUMNS, RATED)
        if in_range_space(model, group):
            reflect_side(work, model, stage_at(model, group, 0))
        else:
            particular_solution(work, model, group)


@routine
def far_from_singular(work, model):
    """1 in lanes where no group has a pivot that is small beside its others, else 0."""
    far = splat(work, 1.0)
    for g in range(group_count(model)):
        group = group_at(model, g)
        least, most = splat(work, _INFINITY), splat(work, 0.0)
        for s in range(model.tree[group + its.STAGES]):
            stage = stage_at(model, group, s)
            for j in range(model.tree[stage + its.RANK]):  # reciprocals; of one that vanished, zero
                size = absolute(load(work, loop_lane(model, stage + its.PIVOT_LANE) + j))
                least = select(size < least, size, least)
                most = select(size > most, size, most)
        far = select(least >= NEAR * most, far, splat(work, 0.0))
    return far


@routine
def push_velocities(work, model, q, v, change):
    """v ← v + Δ at poses that are in the workspace; leaves the factors of that q, and Δ."""
    none = zero3(work)
    _ask_for_rates(work, model, q, v)
    stop_bodies(work, model)
    add_particular(work, model)
    for i in range(velocity_count(model)):
        store_rows(work, change, i, splat(work, 0.0))
    first = gather_embedded(work, model, change, Rows(change.data, change.first, 0))
    second = scatter_embedded(work, model, (none, none), change)
    for i in range(velocity_count(model)):
        store_rows(work, v, i, load_rows(work, v, i) + load_rows(work, change, i))
    return first if first != OK else second


@routine
def settle_velocities(move, work, model, q, v, change):
    """v onto the manifold: by least changes, or by impulses in lanes near a singular position.

    The lanes that will say whose factors these are keep the quick answer meanwhile.
    """
    nv, quick = velocity_count(model), header_lane(model, its.FACTORED_LANE)
    for i in range(nv):
        store_rows(work, change, i, load_rows(work, v, i))
    status = close_velocities(move, work, model, q, v)
    far = far_from_singular(work, model) > 0.5
    if status != OK or all_lanes(far):
        return status
    for i in range(nv):
        store(work, quick + i, load_rows(work, v, i))
        store_rows(work, v, i, load_rows(work, change, i))
    status = push_velocities(work, model, q, v, change)
    for i in range(nv):
        store_rows(work, v, i, select(far, load(work, quick + i), load_rows(work, v, i)))
    return status


@helper
def settle_state(move, work, model, q, v, change):
    """Move q and v onto the manifold; `change` is room for as many numbers as v has."""
    first = close_positions(move, work, model, q, v)
    second = settle_velocities(move, work, model, q, v, change)
    return first if first != OK else second
