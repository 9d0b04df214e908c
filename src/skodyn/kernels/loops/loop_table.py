"""What kernels ask of a model's loops: the table of model/loops/loop_layout.py."""

from __future__ import annotations

from typing import NamedTuple

from skodyn.jit import helper
from skodyn.kernels.workspace import free_slot
from skodyn.lanes import load_rows, parameter, splat
from skodyn.model.layout import LOOPS
from skodyn.model.loops.loop_layout import (
    CONSTRAINT_RECORD,
    CONSTRAINTS_AT,
    CONSUMED,
    DOF_CELLS,
    DOF_LINEAR,
    DOF_PLACE,
    DOFS_AT,
    FIRST_NEW,
    GROUP_RECORD,
    GROUPS,
    GROUPS_AT,
    HOOKS_AT,
    LENGTH_PARAMETER,
    MEMBER_BODY,
    MEMBER_DOF,
    MEMBER_INNER,
    MEMBER_RECORD,
    MEMBERS_AT,
    MEMBERSHIP_AT,
    PIVOTS,
    RANK,
    ROWS,
    STAGE_RECORD,
    STAGES_AT,
    TOUCHED_AT,
)


@helper
def has_loops(model):
    return model.tree[LOOPS] > 0


@helper
def _header(model, column):
    return model.tree[model.tree[LOOPS] + column]


@helper
def group_count(model):
    return _header(model, GROUPS)


@helper
def row_total(model):
    """How many rows all loops and couplings have."""
    return _header(model, ROWS)


@helper
def group_at(model, g):
    """Where the record of group g lies."""
    return _header(model, GROUPS_AT) + g * GROUP_RECORD


@helper
def stage_at(model, group, s):
    """Where the record of stage s of a group lies."""
    return model.tree[group + STAGES_AT] + s * STAGE_RECORD


@helper
def constraint_at(model, c):
    """Where the record of constraint c lies."""
    return _header(model, CONSTRAINTS_AT) + c * CONSTRAINT_RECORD


@helper
def first_group_on(model, places, k):
    """The first group that body k carries; −1 is the ground."""
    return model.tree[places.hooks + 2 * (k + 1)]


@helper
def groups_on(model, places, k):
    """How many groups body k carries."""
    return model.tree[places.hooks + 2 * (k + 1) + 1]


class LoopPlaces(NamedTuple):
    """Where hooks, memberships and groups begin: read once for a walk over all bodies."""

    hooks: int
    membership: int
    groups: int


@helper
def loop_places(model):
    return LoopPlaces(
        _header(model, HOOKS_AT), _header(model, MEMBERSHIP_AT), _header(model, GROUPS_AT)
    )


@helper
def group_of(model, k):
    """The group whose member body k is, or −1."""
    return model.tree[_header(model, MEMBERSHIP_AT) + k]


@helper
def loop_lane(model, cell):
    """The lane that a cell of a record names."""
    return free_slot(model) + model.tree[cell]


@helper
def header_lane(model, column):
    """The lane that a column of the header names."""
    return free_slot(model) + _header(model, column)


@helper
def member_body(model, group, i):
    return model.tree[model.tree[group + MEMBERS_AT] + i * MEMBER_RECORD + MEMBER_BODY]


@helper
def member_dof(model, group, i):
    """The number in its group of the first degree of freedom of member i."""
    return model.tree[model.tree[group + MEMBERS_AT] + i * MEMBER_RECORD + MEMBER_DOF]


@helper
def inner_member(model, group, i):
    """The member that member i hangs on, or −1 for the group's parent."""
    return model.tree[model.tree[group + MEMBERS_AT] + i * MEMBER_RECORD + MEMBER_INNER]


@helper
def dof_place(model, group, i):
    """Where degree of freedom i of a group lies in v."""
    return model.tree[model.tree[group + DOFS_AT] + i * DOF_CELLS + DOF_PLACE]


@helper
def group_length(work, model, group):
    """What makes radians of a group comparable to metres."""
    return splat(work, 1.0) * parameter(
        work, model.parameters, model.tree[group + LENGTH_PARAMETER]
    )


@helper
def dof_scale(work, model, group, i):
    """By which a variable becomes a velocity: lengths are counted in lengths of the group."""
    linear = model.tree[model.tree[group + DOFS_AT] + i * DOF_CELLS + DOF_LINEAR] > 0
    return group_length(work, model, group) if linear else splat(work, 1.0)


@helper
def kept_variable(model, stage, i):
    """The i-th of the variables that a stage keeps until it makes some depend on others."""
    return model.tree[model.tree[stage + TOUCHED_AT] + model.tree[stage + CONSUMED] + i]


@helper
def new_variable(model, stage, t):
    """The t-th of the variables that those of a stage are written in: what is left of the ones that
    might have come to depend on others, and then those that could not."""
    left = model.tree[stage + PIVOTS] - model.tree[stage + RANK]
    if t < left:
        return model.tree[stage + FIRST_NEW] + t
    return kept_variable(model, stage, model.tree[stage + RANK] + t)


@helper
def touched_variable(model, stage, i):
    return model.tree[model.tree[stage + TOUCHED_AT] + i]


@helper
def scaled_rate(work, model, group, v, i):
    """The variable that degree of freedom i is when all move with v."""
    cell = model.tree[group + DOFS_AT] + i * DOF_CELLS
    rate = load_rows(work, v, model.tree[cell + DOF_PLACE])
    return rate / group_length(work, model, group) if model.tree[cell + DOF_LINEAR] > 0 else rate
