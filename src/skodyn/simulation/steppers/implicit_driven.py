"""Newton's steps of implicit_contact where joints have prescribed motions: a part of their own.

Driven joints have the velocity of their motion at the end of the step, which all others feel
(kernels/contact/implicit_drives.py); where they are then the loop says, as with every method.
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.contact.implicit_drives import (
    backsubstitute_or_follow,
    project_or_follow,
    work_of_drives,
)
from skodyn.kernels.contact.implicit_pairs import backsubstitute_in_tree, correct_for_pairs
from skodyn.kernels.contact.implicit_sweep import gather_impulses, scatter_changes
from skodyn.kernels.joint_kinds import is_free
from skodyn.kernels.packed_model import entry
from skodyn.kernels.rows import row3, row4
from skodyn.kernels.status import OK
from skodyn.lanes import load_rows, store_rows
from skodyn.model.layout import Q_START, V_START
from skodyn.simulation.contact.implicit_newton import BEGIN, END
from skodyn.simulation.forces import FIRST, MOTIONS
from skodyn.simulation.steppers.implicit_contact import implicit_codes, places_of
from skodyn.simulation.systems.driven_motions import driven_dofs, is_of_joint, motion_record
from skodyn.simulation.systems.driven_system import state_there
from skodyn.spatial.linear3 import component, multiply_vector, multiply_vector_transposed
from skodyn.spatial.rotations import quaternion_matrix


@helper
def newton_driven(work, system, t, h, state, what):
    """What stays in a step, one Newton step, or the work of drives, which is added to the state."""
    model, places = system.model, places_of(system, implicit_codes(system))
    if what == BEGIN:
        give_changes(work, system, t + h, state, places.changes)
        return OK
    if what == END:
        done = state.y.stride - 1
        added = work_of_drives(work, model, places)
        store_rows(work, state.y, done, load_rows(work, state.y, done) + added)
        return OK
    first = gather_impulses(project_or_follow, work, model, places)
    second = scatter_changes(backsubstitute_or_follow, work, model, places)
    if first == OK and second == OK and places.n_pairs > 0:
        correct_for_pairs(backsubstitute_in_tree, work, model, places)
    return first if first != OK else second


@helper
def give_changes(work, system, t, state, changes):
    """By how much driven joints are faster at time t, along the axes of the start."""
    there = state_there(work, system, t, state)
    for m in range(system.codes[MOTIONS]):
        at = motion_record(system, m)
        first, dofs = driven_dofs(system, at)
        for dof in range(first, first + dofs):
            change = load_rows(work, there.y, dof) - load_rows(work, state.y, dof)
            store_rows(work, changes, dof, change)
        if is_of_joint(system, at) and is_free(system.model, system.codes[at + FIRST]):
            turn_back(work, system.model, system.codes[at + FIRST], state, there, changes)


@helper
def turn_back(work, model, k, state, there, changes):
    """The same of the way that a free joint slides, whose axes have turned."""
    i, j = entry(model, k, Q_START), entry(model, k, V_START) + 3
    way = multiply_vector(quaternion_matrix(row4(work, there.q, i)), row3(work, there.y, j))
    way = multiply_vector_transposed(quaternion_matrix(row4(work, state.q, i)), way)
    for d in range(3):
        x = component(way, d)
        store_rows(work, changes, j + d, x - load_rows(work, state.y, j + d))
