"""Velocities with covariance 𝓜⁻¹ from white noise: v = (I − HψK)* D^(−1/2) x, O(N).

The Innovations factorisation 𝓜⁻¹ = (I − HψK)* D⁻¹ (I − HψK) (Jain 2011-II, Lemma 11) read as a
square root: a base-to-tips scatter in which degree of freedom i adds noise of variance 1/d_i to
what the motion of the bodies before it makes most likely.
"""

from skodyn.jit import helper
from skodyn.kernels.entries import batch, one_state, per_dof, per_dof_of_x
from skodyn.kernels.mass_matrix_solve import prepare, scatter_solution
from skodyn.kernels.packed_model import body_count, velocity_count
from skodyn.kernels.status import OK
from skodyn.kernels.workspace import DOF, dof_slot
from skodyn.lanes import load, load_rows, sqrt, store


@helper
def sweep(work, model, given, out):
    """v from rows of white noise x."""
    status = prepare(work, model, given.q)
    if status != OK:
        return status
    for i in range(velocity_count(model)):
        record = dof_slot(body_count(model), i)
        noise = load_rows(work, given.x, i) / sqrt(load(work, record + DOF.PIVOT))
        store(work, record + DOF.RESIDUE, noise)  # √d·x, which the scatter divides by d
    return scatter_solution(work, model, out)


sample_velocity = one_state("sample_velocity", sweep, per_dof_of_x, "q x")
sample_velocity_batch = batch("sample_velocity_batch", sweep, per_dof)
