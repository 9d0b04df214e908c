"""Every inertia of every body, written out: composite R, articulated P and P⁺, compliance Υ.

A look inside the recursions of Jain 2011-II (Algorithm 4.1, eq. 33 and eq. 24 with 𝔸 = 𝔹 = ψ).
Per body 73 numbers: R as (m, h, J), then P, P⁺ and Υ as three blocks each; behind the bodies, the
columns of H*, six numbers per degree of freedom.
"""

from skodyn.jit import helper
from skodyn.kernels.articulated_inertia import gathered_inertia, pass_inertia_inward, project_joint
from skodyn.kernels.compliance import scatter_compliances
from skodyn.kernels.entries import batch, one_state
from skodyn.kernels.joint_motion import joint_column
from skodyn.kernels.kinematics import body_inertia, scatter_poses
from skodyn.kernels.mass_matrix import gather_composite_inertia
from skodyn.kernels.packed_model import body_count, entry
from skodyn.kernels.rows import store_row3
from skodyn.kernels.status import OK, SINGULAR, failure
from skodyn.kernels.tuples import load_articulated, load_matrix
from skodyn.kernels.workspace import BODY, SUMS, body_slot, sum_slot
from skodyn.lanes import store_rows
from skodyn.model.layout import N_DOF, NV, V_START

COMPOSITE, ARTICULATED, PASSED_ON, COMPLIANCE = 0, 10, 31, 52
ROW = 73


@helper
def shape(model, count):
    """A row for each body, then the joints' columns, all in one."""
    return ROW * body_count(model) + 6 * model.tree[NV], 1


@helper
def write_articulated(work, out, at, y):
    for i in range(6):
        store_rows(work, out, at + i, y[0][i])
        store_rows(work, out, at + 15 + i, y[2][i])
    for i in range(9):
        store_rows(work, out, at + 6 + i, y[1][i])


@helper
def write_composites(work, model, out):
    n = body_count(model)
    for back in range(n):
        k = n - 1 - back
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        m, h, j = gather_composite_inertia(work, model, k, r)
        at = ROW * k + COMPOSITE
        store_rows(work, out, at, m)
        store_row3(work, out, at + 1, h)
        for i in range(6):
            store_rows(work, out, at + 4 + i, j[i])


@helper
def write_articulated_inertias(work, model, out):
    n = body_count(model)
    status = OK
    for back in range(n):
        k = n - 1 - back
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        big_p = gathered_inertia(work, model, k, body_inertia(work, model, k, r))
        p_plus, sound = project_joint(work, model, k, r, big_p)
        pass_inertia_inward(work, model, k, p_plus, False)
        write_articulated(work, out, ROW * k + ARTICULATED, big_p)
        write_articulated(work, out, ROW * k + PASSED_ON, p_plus)
        for i in range(entry(model, k, N_DOF)):
            u, t = joint_column(work, model, k, i, r)
            at = ROW * n + 6 * (entry(model, k, V_START) + i)
            store_row3(work, out, at, u)
            store_row3(work, out, at + 3, t)
        if not sound:
            status = failure(SINGULAR, k)
    return status


@helper
def sweep(work, model, given, out):
    """Composite and articulated inertias, and compliances."""
    status = scatter_poses(work, model, given.q)
    write_composites(work, model, out)
    answer = write_articulated_inertias(work, model, out)
    scatter_compliances(work, model)
    for k in range(body_count(model)):
        y = load_articulated(work, sum_slot(model, k) + SUMS.INERTIA)
        write_articulated(work, out, ROW * k + COMPLIANCE, y)
    return status if status != OK else answer


body_inertias = one_state("body_inertias", sweep, shape, "q")
body_inertias_batch = batch("body_inertias_batch", sweep, shape)
