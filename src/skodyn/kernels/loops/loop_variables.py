"""Members of a group, their degrees of freedom, and the variables that its stages make of these."""

from skodyn.jit import helper
from skodyn.lanes import load_rows, parameter, splat
from skodyn.model.loops import loop_layout as its


@helper
def member_body(model, group, i):
    return model.tree[model.tree[group + its.MEMBERS_AT] + i * its.MEMBER_RECORD + its.MEMBER_BODY]


@helper
def member_dof(model, group, i):
    """The number in its group of the first degree of freedom of member i."""
    return model.tree[model.tree[group + its.MEMBERS_AT] + i * its.MEMBER_RECORD + its.MEMBER_DOF]


@helper
def inner_member(model, group, i):
    """The member that member i hangs on, or −1 for the group's parent."""
    return model.tree[model.tree[group + its.MEMBERS_AT] + i * its.MEMBER_RECORD + its.MEMBER_INNER]


@helper
def dof_place(model, group, i):
    """Where degree of freedom i of a group lies in v."""
    return model.tree[model.tree[group + its.DOFS_AT] + i * its.DOF_CELLS + its.DOF_PLACE]


@helper
def group_length(work, model, group):
    """What makes radians of a group comparable to metres."""
    return splat(work, 1.0) * parameter(
        work, model.parameters, model.tree[group + its.LENGTH_PARAMETER]
    )


@helper
def dof_scale(work, model, group, i):
    """By which a variable becomes a velocity: lengths are counted in lengths of the group."""
    linear = model.tree[model.tree[group + its.DOFS_AT] + i * its.DOF_CELLS + its.DOF_LINEAR] > 0
    return group_length(work, model, group) if linear else splat(work, 1.0)


@helper
def kept_variable(model, stage, i):
    """The i-th of the variables that a stage keeps until it makes some depend on others."""
    return model.tree[model.tree[stage + its.TOUCHED_AT] + model.tree[stage + its.CONSUMED] + i]


@helper
def new_variable(model, stage, t):
    """The t-th of the variables that those of a stage are written in: what is left of the ones that
    might have come to depend on others, and then those that could not."""
    left = model.tree[stage + its.PIVOTS] - model.tree[stage + its.RANK]
    if t < left:
        return model.tree[stage + its.FIRST_NEW] + t
    return kept_variable(model, stage, model.tree[stage + its.RANK] + t)


@helper
def touched_variable(model, stage, i):
    return model.tree[model.tree[stage + its.TOUCHED_AT] + i]


@helper
def scaled_rate(work, model, group, v, i):
    """The variable that degree of freedom i is when all move with v."""
    cell = model.tree[group + its.DOFS_AT] + i * its.DOF_CELLS
    rate = load_rows(work, v, model.tree[cell + its.DOF_PLACE])
    return (
        rate / group_length(work, model, group) if model.tree[cell + its.DOF_LINEAR] > 0 else rate
    )
