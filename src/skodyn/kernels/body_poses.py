"""Poses of all bodies in the world, in the axes of those who described them: one outward scatter.

R(k)·Aᵀ(k), where A are the axes of the kernel frame in the body frame, and the origin, which is its
parent's plus the arm. `x` holds Aᵀ of each body, nine numbers. Rotations and positions are two
results: arrays of their own for one state; for a batch all rotations of a state stand before all of
its positions.
"""

from skodyn.jit import FLOATS, RESULT, brief_kernel, helper
from skodyn.kernels.entries import BLOCK, Given, batch, no_row, row_of
from skodyn.kernels.forward_kinematics import POSITION
from skodyn.kernels.kinematics import scatter_poses_inlined
from skodyn.kernels.packed_model import body_count, entry
from skodyn.kernels.rows import store_row3
from skodyn.kernels.status import BAD_INPUT, NOT_FINITE, OK, coordinates_fit, failure, finite
from skodyn.kernels.tuples import finite3, load3, load_matrix, store3
from skodyn.kernels.workspace import BODY, body_slot, sum_slot, unpack
from skodyn.lanes import Rows, fma, splat
from skodyn.model.layout import PARENT
from skodyn.spatial.linear3 import add

AXES, POSE = 9, 4
"""Numbers of a body in x, and its rows of three in the output."""


@helper
def turned_row(r, x, at):
    """A row of R times Aᵀ, summed from the first to the last."""
    return (
        fma(r[2], x[at + 6], fma(r[1], x[at + 3], r[0] * x[at])),
        fma(r[2], x[at + 7], fma(r[1], x[at + 4], r[0] * x[at + 1])),
        fma(r[2], x[at + 8], fma(r[1], x[at + 5], r[0] * x[at + 2])),
    )


@helper
def write_poses(work, model, given, rotations, positions):
    """Nine numbers of each body, and three of each."""
    status = scatter_poses_inlined(work, model, given.q)
    zero = splat(work, 0.0)
    store3(work, sum_slot(model, -1) + POSITION, (zero, zero, zero))
    for k in range(body_count(model)):
        inner = load3(work, sum_slot(model, entry(model, k, PARENT)) + POSITION)
        position = add(inner, load3(work, body_slot(k) + BODY.ARM))
        store3(work, sum_slot(model, k) + POSITION, position)
        store_row3(work, positions, 3 * k, position)
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        for row in range(3):
            i = 3 * row
            turned = turned_row((r[i], r[i + 1], r[i + 2]), given.x.data, AXES * k)
            store_row3(work, rotations, AXES * k + i, turned)
        if status == OK and not finite3(position):
            status = failure(NOT_FINITE, k)
    return status


@helper
def sweep(work, model, given, out):
    """Both in one row of a table for each state."""
    behind = Rows(out.data, out.first + AXES * body_count(model), out.stride)
    return write_poses(work, model, given, out, behind)


@helper
def shape(model, count):
    return (POSE * body_count(model), 3) if count == AXES * body_count(model) else (-1, 1)


@brief_kernel(BLOCK, FLOATS, FLOATS, RESULT.of(3), RESULT.of(2))
def body_poses(block, q, x, rotations, positions):
    """Of one state: rotations n × 3 × 3, positions n × 3."""
    work, model = unpack(block)
    n = body_count(model)
    fit = rotations.shape == (n, 3, 3) and positions.shape == (n, 3) and x.size == AXES * n
    if not (fit and coordinates_fit(model, q) and finite(x)):
        return BAD_INPUT
    none = no_row(q)
    given = Given(row_of(q), none, row_of(x), none)
    return write_poses(work, model, given, row_of(rotations), row_of(positions))


body_poses_batch = batch("body_poses_batch", sweep, shape, shared_x=True)
