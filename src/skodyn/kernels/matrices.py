"""Matrices, nv × nv: in lanes of the workspace, or as rows of numbers, which is what users get.

A kernel that writes one element after another, here and there, writes to lanes if it works on
several states: rows of different states lie far apart, and every element would go to as many places
as there are states. From lanes a matrix is delivered in one pass, four numbers at a time. One state
is written where it belongs at once.
"""

from __future__ import annotations

from typing import NamedTuple

from skodyn.jit import helper, plain
from skodyn.kernels.packed_model import body_count, entry, velocity_count
from skodyn.lanes import Rows, Work, load, load_rows, single, splat, store, store_rows
from skodyn.lanes.columns import columns_at_once, load_columns, store_columns, store_four
from skodyn.model.layout import SUBTREE_END


class Matrix(NamedTuple):
    """Where a sweep writes a matrix, one for each state.

    Rows of numbers; with stride 0, lanes of a workspace that begin at rows.first. Row i and column
    j are at i·down + j·across.
    """

    rows: Rows
    down: int
    across: int


@helper
def put(work, matrix, i, j, x):
    """Write an element. One state has one row, and no need to ask."""
    rows, at = matrix.rows, i * matrix.down + j * matrix.across
    if not single(work) and rows.stride == 0:
        store(Work(work.width, rows.data), rows.first + at, x)
    else:
        store_rows(work, rows, at, x)


@helper
def get(work, matrix, i, j):
    """What `put` has written."""
    rows, at = matrix.rows, i * matrix.down + j * matrix.across
    if not single(work) and rows.stride == 0:
        return load(Work(work.width, rows.data), rows.first + at)
    return load_rows(work, rows, at)


@helper
def columns_of(nv):
    """Length of a row of a matrix that is kept in lanes: whole blocks of four."""
    return (nv + 3) // 4 * 4


def matrix_lanes(nv: int) -> int:
    """How many lanes such a matrix needs."""
    return nv * int(plain(columns_of)(nv))


@helper
def element_slot(nv, at, down, across, f):
    """The lane of element f of a matrix whose row i and column j is at i·down + j·across."""
    return at + f // nv * down + f % nv * across


@helper
def copy_row(work, nv, at, out, to):
    """nv numbers of one state, a register at a time and then those that are left."""
    step, there = columns_at_once(work), Work(work.width, out.data)
    whole = nv // step * step
    for j in range(0, whole, step):
        store_columns(there, out.first + to + j, load_columns(work, at + j))
    for j in range(whole, nv):
        store_rows(work, out, to + j, load(work, at + j))


@helper
def deliver_matrix(work, nv, at, down, across, out):
    """From lanes, row i and column j at i·down + j·across, to rows of nv × nv numbers.

    They are written four at a time, those at the end of a row with the first of the next; but rows
    of one state are copied.
    """
    if single(work) and across == 1:
        for i in range(nv):
            copy_row(work, nv, at + i * down, out, i * nv)
        return
    whole, row, j = nv * nv // 4 * 4, at, 0
    for f in range(0, whole, 4):
        k = row + j * across
        a, b, c, d = k, k + across, k + 2 * across, k + 3 * across
        j += 4
        if j > nv:
            b = element_slot(nv, at, down, across, f + 1)
            c = element_slot(nv, at, down, across, f + 2)
            d = element_slot(nv, at, down, across, f + 3)
        while j >= nv:
            j -= nv
            row += down
        x = (load(work, a), load(work, b), load(work, c), load(work, d))
        store_four(work, out, f, x)
    for f in range(whole, nv * nv):
        x = load(work, element_slot(nv, at, down, across, f))
        store_rows(work, out, f, x)


@helper
def place_to_write(work, nv, out, at):
    """The matrix to `put` elements in: rows of numbers at once, or lanes from `at` on."""
    if single(work):
        return Matrix(out, nv, 1)
    return Matrix(Rows(work.lanes, at, 0), columns_of(nv), 1)


@helper
def deliver_lanes(work, nv, at, out):
    """Take a matrix from where `place_to_write` has had it written."""
    if not single(work):
        deliver_matrix(work, nv, at, columns_of(nv), 1, out)


@helper
def clear_unrelated_pairs(work, model, matrix):
    """Zero an nv × nv matrix if the tree branches."""
    n, nv = body_count(model), velocity_count(model)
    branched = False
    for k in range(n):
        branched = branched or entry(model, k, SUBTREE_END) != n
    if branched:
        for i in range(nv):
            for j in range(matrix.down):
                put(work, matrix, i, j, splat(work, 0.0))
