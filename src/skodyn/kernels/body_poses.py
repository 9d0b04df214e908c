"""Poses of all bodies in the world, in the axes of those who described them: one outward scatter.

R(k)·Aᵀ(k), where A are the axes of the kernel frame in the body frame, and the origin, which is its
parent's plus the arm. `x` holds Aᵀ of each body, nine numbers. All rotations stand before all
positions, so that each of the two lies in one piece.
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.entries import batch, one_state
from skodyn.kernels.forward_kinematics import POSITION
from skodyn.kernels.kinematics import scatter_poses
from skodyn.kernels.status import NOT_FINITE, OK, failure
from skodyn.kernels.workspace import (
    ARM,
    ROTATION,
    body_count,
    body_slot,
    entry,
    finite3,
    load3,
    load_matrix,
    store3,
    store_row3,
    sum_slot,
)
from skodyn.lanes import fma, splat
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
def sweep(work, model, given, out):
    """Nine numbers of each body, and after them three of each."""
    status = scatter_poses(work, model, given.q)
    zero = splat(work, 0.0)
    store3(work, sum_slot(model, -1) + POSITION, (zero, zero, zero))
    n = body_count(model)
    for k in range(n):
        inner = load3(work, sum_slot(model, entry(model, k, PARENT)) + POSITION)
        position = add(inner, load3(work, body_slot(k) + ARM))
        store3(work, sum_slot(model, k) + POSITION, position)
        store_row3(work, out, AXES * n + 3 * k, position)
        r = load_matrix(work, body_slot(k) + ROTATION)
        for row in range(3):
            i = 3 * row
            turned = turned_row((r[i], r[i + 1], r[i + 2]), given.x.data, AXES * k)
            store_row3(work, out, AXES * k + i, turned)
        if status == OK and not finite3(position):
            status = failure(NOT_FINITE, k)
    return status


@helper
def shape(model, count):
    return (POSE * body_count(model), 3) if count == AXES * body_count(model) else (-1, 1)


body_poses = one_state("body_poses", sweep, shape, "q x", dimensions=2)
body_poses_batch = batch("body_poses_batch", sweep, shape, shared_x=True)
