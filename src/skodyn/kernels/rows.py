"""Tuples of numbers in and out of rows: parts of q, v and forces."""

from skodyn.jit import helper
from skodyn.lanes import load_rows, store_rows


@helper
def row3(work, a, i):
    return (load_rows(work, a, i), load_rows(work, a, i + 1), load_rows(work, a, i + 2))


@helper
def row4(work, a, i):
    v = row3(work, a, i + 1)
    return (load_rows(work, a, i), v[0], v[1], v[2])


@helper
def row6(work, a, i):
    return row3(work, a, i), row3(work, a, i + 3)


@helper
def store_row3(work, a, i, x):
    store_rows(work, a, i, x[0])
    store_rows(work, a, i + 1, x[1])
    store_rows(work, a, i + 2, x[2])
