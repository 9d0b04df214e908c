"""Jacobian of a point that is rigid in the frame of a body, in a tree with flexible bodies."""

from skodyn.jit import helper
from skodyn.kernels.entries import batch, one_state
from skodyn.kernels.flexible.flexible_bending import carried_column
from skodyn.kernels.flexible.flexible_table import field, flexible_record, node_record
from skodyn.kernels.flexible.flexible_tree import scatter_bent_poses
from skodyn.kernels.jacobian import body_of, point_arm, shape, write_column, write_joint_columns
from skodyn.kernels.packed_model import entry, velocity_count
from skodyn.kernels.status import NOT_FINITE, OK, failure
from skodyn.kernels.tuples import finite3, load3
from skodyn.kernels.workspace import BODY, body_slot
from skodyn.lanes import store_rows
from skodyn.model.flexible import flexible_layout as its
from skodyn.model.layout import PARENT
from skodyn.spatial.linear3 import add, add_cross


@helper
def write_mode_columns(work, model, k, arm, nv, out):
    """Columns of the modes that move the node on which body k hangs."""
    node = node_record(model, k)
    if node > 0:
        record = flexible_record(model, entry(model, k, PARENT))
        for i in range(field(model, record, its.MODES)):
            u, t = carried_column(work, model, record, node, i)
            column = u, add_cross(t, u, arm)
            write_column(work, out, nv, field(model, record, its.MODE_V) + i, column)


@helper
def sweep(work, model, given, out):
    """J, 6 × nv."""
    nv = velocity_count(model)
    status = scatter_bent_poses(work, model, given.q)
    for i in range(6 * nv):
        store_rows(work, out, i, 0.0)
    k = body_of(given.x, 0)
    arm = point_arm(work, k, given.x, 0)
    while k >= 0:
        if status == OK and not finite3(arm):
            status = failure(NOT_FINITE, k)
        write_joint_columns(work, model, k, arm, nv, out)
        write_mode_columns(work, model, k, arm, nv, out)
        arm = add(arm, load3(work, body_slot(k) + BODY.ARM))
        k = entry(model, k, PARENT)
    return status


flexible_jacobian = one_state("flexible_jacobian", sweep, shape, "q x", dimensions=2)
flexible_jacobian_batch = batch("flexible_jacobian_batch", sweep, shape, shared_x=True)
