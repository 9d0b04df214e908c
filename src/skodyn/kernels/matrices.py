"""Matrices, nv × nv: in lanes of the workspace, or as rows of numbers, which is what users get.

A kernel that writes one element after another, here and there, writes to lanes if it works on
several states: rows of different states lie far apart, and every element would go to as many places
as there are states. From lanes a matrix is delivered in one pass, four numbers at a time. One state
is written where it belongs at once.
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.workspace import body_count, entry
from skodyn.lanes import load, load_rows, single, splat, store, store_four, store_rows
from skodyn.model.layout import SUBTREE_END


@helper
def put(w, table, first, stride, i, x):
    """Element i of rows that lie `stride` apart; stride 0 means lanes side by side.

    One state has one row, and no need to ask.
    """
    if not single(w) and stride == 0:
        store(w, table, first + i, x)
    else:
        store_rows(w, table, first, stride, i, x)


@helper
def get(w, table, first, stride, i):
    """What `put` has written."""
    if not single(w) and stride == 0:
        return load(w, table, first + i)
    return load_rows(w, table, first, stride, i)


@helper
def columns_of(nv):
    """Length of a row of a matrix that is kept in lanes: whole blocks of four."""
    return (nv + 3) // 4 * 4


def matrix_lanes(nv: int) -> int:
    """How many lanes such a matrix needs."""
    return nv * ((nv + 3) // 4 * 4)


@helper
def element_slot(nv, at, down, across, f):
    """The lane of element f of a matrix whose row i and column j is at i·down + j·across."""
    return at + f // nv * down + f % nv * across


@helper
def deliver_matrix(w, nv, ws, at, down, across, out, first, stride):
    """From lanes, row i and column j at i·down + j·across, to rows of nv × nv numbers.

    They are written four at a time, those at the end of a row with the first of the next; but rows
    of one state are copied.
    """
    if single(w) and across == 1:
        for i in range(nv):
            for j in range(nv):
                store(w, out, first + i * nv + j, load(w, ws, at + i * down + j))
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
        x = (load(w, ws, a), load(w, ws, b), load(w, ws, c), load(w, ws, d))
        store_four(w, out, first, stride, f, x)
    for f in range(whole, nv * nv):
        x = load(w, ws, element_slot(nv, at, down, across, f))
        store_rows(w, out, first, stride, f, x)


@helper
def place_to_write(w, nv, out, first, stride, ws, at):
    """(table, first, stride, length of a row) for `put`; rows of numbers, or lanes from `at` on."""
    if single(w):
        return out, first, stride, nv
    return ws, at, 0, columns_of(nv)


@helper
def deliver_lanes(w, nv, ws, at, out, first, stride):
    """Take a matrix from where `place_to_write` has had it written."""
    if not single(w):
        deliver_matrix(w, nv, ws, at, columns_of(nv), 1, out, first, stride)


@helper
def clear_unrelated_pairs(w, tree, table, first, stride, columns, nv):
    """Zero an nv × nv matrix, its rows `columns` apart, if the tree branches."""
    n = body_count(tree)
    branched = False
    for k in range(n):
        branched = branched or entry(tree, k, SUBTREE_END) != n
    if branched:
        for i in range(nv * columns):
            put(w, table, first, stride, i, splat(w, 0.0))
