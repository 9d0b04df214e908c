"""Newton's step of an implicit step where joints follow others.

Velocities of the full tree are found as if none followed, by one sweep with contact stiffness as
inertia; with the factors that it leaves, mimic joints are made to follow their sources
(coupled_accelerations.py), which minimises the same quadratic among velocities that do.
"""

from skodyn.jit import helper, routine
from skodyn.kernels.aba_passes import backsubstitute_dof
from skodyn.kernels.contact.implicit_pairs import (
    enter_tree_body,
    gather_pair_loads,
    scatter_pair_changes,
)
from skodyn.kernels.contact.implicit_sweep import gather_impulses, project_resisted, scatter_changes
from skodyn.kernels.coupled_accelerations import couple_accelerations, factor_couplings
from skodyn.kernels.packed_model import entry
from skodyn.kernels.status import first_trouble
from skodyn.lanes import load_rows, store_rows
from skodyn.model.layout import V_START

__all__ = ["backsubstitute_coupled", "sweep_coupled"]


@helper
def _change_kept_in_row(work, model, places, k, i, change):
    """The change of a velocity if no joint follows, kept in a row."""
    x = backsubstitute_dof(work, model, k, i, change)
    store_rows(work, places.changes, entry(model, k, V_START) + i, x)
    return x


@helper
def _change_of_row(work, model, places, k, i, change):
    """What the row has."""
    return load_rows(work, places.changes, entry(model, k, V_START) + i)


@helper
def sweep_coupled(work, model, places):
    """Where Newton's step leads; model: the full tree."""
    first = gather_impulses(project_resisted, work, model, places)
    second = scatter_changes(_change_kept_in_row, work, model, places)
    third = factor_couplings(work, places.outer)
    fourth = couple_accelerations(work, places.outer, places.changes)
    fifth = scatter_changes(_change_of_row, work, model, places)
    return first_trouble(first, second, first_trouble(third, fourth, fifth))


@routine
def backsubstitute_coupled(work, model, places, keep):
    """What the LOAD of all pairs moves (implicit_pairs.py)."""
    gather_pair_loads(work, model, places)
    scatter_pair_changes(enter_tree_body, _change_kept_in_row, work, model, places, False)
    couple_accelerations(work, places.outer, places.changes)
    scatter_pair_changes(enter_tree_body, _change_of_row, work, model, places, keep)
