"""Jacobian of a point fixed in a body, and the part J̇·v of its acceleration, in world axes.

The column of an ancestor, (u; t) about that ancestor's origin, is (u; t + u × r)
at the point, with r from the ancestor's origin to the point: arms added up on the way inward.
`x` holds (body, point in the kernel frame).
"""

from skodyn.jit import helper
from skodyn.kernels.entries import batch, one_state
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.kinematics import scatter_poses, scatter_rates
from skodyn.kernels.packed_model import body_count, entry, velocity_count
from skodyn.kernels.rows import store_row3
from skodyn.kernels.status import NOT_FINITE, OK, failure
from skodyn.kernels.tuples import finite3, finite_spatial, load3, load6, load_matrix, store6
from skodyn.kernels.workspace import BODY, body_slot
from skodyn.lanes import store_rows
from skodyn.model.layout import N_DOF, PARENT, V_START
from skodyn.spatial.linear3 import add, add_cross, cross, multiply_vector
from skodyn.spatial.motion import add_spatial, shift_motion


@helper
def node_count(nodes):
    """How many points x holds: a body and three coordinates each."""
    return nodes.stride // 4


@helper
def body_of(nodes, i):
    return int(nodes.data[4 * i])


@helper
def point_arm(work, k, nodes, i):
    """From the origin of body k to point i, world axes."""
    x = nodes.data
    r = load_matrix(work, body_slot(k) + BODY.ROTATION)
    return multiply_vector(r, (x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]))


@helper
def write_column(work, out, nv, dof, h):
    """Column `dof` of a 6 × nv matrix, one per state."""
    for part in range(2):
        for i in range(3):
            store_rows(work, out, (3 * part + i) * nv + dof, h[part][i])


@helper
def write_joint_columns(work, model, k, arm, nv, out):
    """Columns of the joint of body k, of a point at `arm` from its origin."""
    r = load_matrix(work, body_slot(k) + BODY.ROTATION)
    for i in range(entry(model, k, N_DOF)):
        u, t = joint_column(work, model, k, i, r)
        write_column(work, out, nv, entry(model, k, V_START) + i, (u, add_cross(t, u, arm)))


@helper
def sweep(work, model, given, out):
    """J, 6 × nv."""
    nv = velocity_count(model)
    status = scatter_poses(work, model, given.q)
    for i in range(6 * nv):
        store_rows(work, out, i, 0.0)
    k = body_of(given.x, 0)
    arm = point_arm(work, k, given.x, 0)
    while k >= 0:
        if status == OK and not finite3(arm):
            status = failure(NOT_FINITE, k)
        write_joint_columns(work, model, k, arm, nv, out)
        arm = add(arm, load3(work, body_slot(k) + BODY.ARM))
        k = entry(model, k, PARENT)
    return status


@helper
def sweep_bias(work, model, given, out):
    """J̇·v: the acceleration of the point when v̇ = 0."""
    status = scatter_rates(work, model, given.q, given.v)
    zero = zero3(work)
    store6(work, BODY.MOTION, (zero, zero))
    for k in range(body_count(model)):
        slot = body_slot(k)
        inner = load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION)
        carried = shift_motion(load3(work, slot + BODY.ARM), inner)
        store6(work, slot + BODY.MOTION, add_spatial(carried, load6(work, slot + BODY.CORIOLIS)))
    k = body_of(given.x, 0)
    arm = point_arm(work, k, given.x, 0)
    omega = load3(work, body_slot(k) + BODY.OMEGA)
    alpha = shift_motion(arm, load6(work, body_slot(k) + BODY.MOTION))
    linear = add_cross(alpha[1], omega, cross(omega, arm))
    store_row3(work, out, 0, alpha[0])
    store_row3(work, out, 3, linear)
    if status == OK and not finite_spatial((alpha[0], linear)):
        status = failure(NOT_FINITE, k)
    return status


@helper
def shape(model, count):
    return (6, velocity_count(model)) if count == 4 else (-1, 1)


@helper
def shape_of_bias(model, count):
    return (6, 1) if count == 4 else (-1, 1)


jacobian = one_state("jacobian", sweep, shape, "q x", dimensions=2)
jacobian_batch = batch("jacobian_batch", sweep, shape, shared_x=True)
jacobian_dot_v = one_state("jacobian_dot_v", sweep_bias, shape_of_bias, "q v x")
jacobian_dot_v_batch = batch("jacobian_dot_v_batch", sweep_bias, shape_of_bias, shared_x=True)
