"""What kernels ask of a model's loops: the table of model/loops/loop_layout.py."""

from __future__ import annotations

from typing import NamedTuple

from skodyn.jit import helper
from skodyn.kernels.workspace import free_slot
from skodyn.model.layout import LOOPS
from skodyn.model.loops import loop_layout as its


@helper
def has_loops(model):
    return model.tree[LOOPS] > 0


@helper
def _header(model, column):
    return model.tree[model.tree[LOOPS] + column]


@helper
def group_count(model):
    return _header(model, its.GROUPS)


@helper
def row_total(model):
    """How many rows all loops and couplings have."""
    return _header(model, its.ROWS)


@helper
def group_at(model, g):
    """Where the record of group g lies."""
    return _header(model, its.GROUPS_AT) + g * its.GROUP_RECORD


@helper
def stage_at(model, group, s):
    """Where the record of stage s of a group lies."""
    return model.tree[group + its.STAGES_AT] + s * its.STAGE_RECORD


@helper
def constraint_at(model, c):
    """Where the record of constraint c lies."""
    return _header(model, its.CONSTRAINTS_AT) + c * its.CONSTRAINT_RECORD


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
        _header(model, its.HOOKS_AT),
        _header(model, its.MEMBERSHIP_AT),
        _header(model, its.GROUPS_AT),
    )


@helper
def group_of(model, k):
    """The group whose member body k is, or −1."""
    return model.tree[_header(model, its.MEMBERSHIP_AT) + k]


@helper
def loop_lane(model, cell):
    """The lane that a cell of a record names."""
    return free_slot(model) + model.tree[cell]


@helper
def header_lane(model, column):
    """The lane that a column of the header names."""
    return free_slot(model) + _header(model, column)
