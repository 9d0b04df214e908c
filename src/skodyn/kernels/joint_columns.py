"""Every column of H* in world axes about its body's origin: six numbers per degree of freedom."""

from skodyn.jit import helper
from skodyn.kernels.entries import batch, one_state
from skodyn.kernels.joint_motion import joint_column
from skodyn.kernels.kinematics import scatter_poses
from skodyn.kernels.packed_model import body_count, entry, velocity_count
from skodyn.kernels.rows import store_row3
from skodyn.kernels.tuples import load_matrix
from skodyn.kernels.workspace import BODY, body_slot
from skodyn.model.layout import N_DOF, V_START


@helper
def sweep(work, model, given, out):
    """Six numbers for each degree of freedom."""
    status = scatter_poses(work, model, given.q)
    for k in range(body_count(model)):
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        for i in range(entry(model, k, N_DOF)):
            at = 6 * (entry(model, k, V_START) + i)
            u, t = joint_column(work, model, k, i, r)
            store_row3(work, out, at, u)
            store_row3(work, out, at + 3, t)
    return status


@helper
def shape(model, count):
    return velocity_count(model), 6


joint_columns = one_state("joint_columns", sweep, shape, "q", dimensions=2)
joint_columns_batch = batch("joint_columns_batch", sweep, shape)
