"""Tuples of numbers in and out of the workspace: vectors, matrices, inertias."""

from skodyn.jit import helper
from skodyn.lanes import absolute, all_lanes, load, store

_INFINITY = float("inf")


@helper
def all_finite(x):
    """Is it a finite number in every lane?"""
    return all_lanes(absolute(x) < _INFINITY)


@helper
def load3(work, i):
    return (load(work, i), load(work, i + 1), load(work, i + 2))


@helper
def store3(work, i, a):
    store(work, i, a[0])
    store(work, i + 1, a[1])
    store(work, i + 2, a[2])


@helper
def finite3(a):
    """Are all three numbers finite, in every lane?"""
    return all_lanes(absolute(a[0]) + absolute(a[1]) + absolute(a[2]) < _INFINITY)


@helper
def finite_spatial(a):
    """Are all six numbers finite, in every lane?"""
    return finite3(a[0]) and finite3(a[1])


@helper
def load6(work, i):
    """A 6-vector."""
    return load3(work, i), load3(work, i + 3)


@helper
def store6(work, i, a):
    store3(work, i, a[0])
    store3(work, i + 3, a[1])


@helper
def load_matrix(work, i):
    a, b, c = load3(work, i), load3(work, i + 3), load3(work, i + 6)
    return (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2])


@helper
def store_matrix(work, i, m):
    store3(work, i, (m[0], m[1], m[2]))
    store3(work, i + 3, (m[3], m[4], m[5]))
    store3(work, i + 6, (m[6], m[7], m[8]))


@helper
def load_sym(work, i):
    a, b = load3(work, i), load3(work, i + 3)
    return (a[0], a[1], a[2], b[0], b[1], b[2])


@helper
def store_sym(work, i, s):
    store3(work, i, (s[0], s[1], s[2]))
    store3(work, i + 3, (s[3], s[4], s[5]))


@helper
def load_articulated(work, i):
    return load_sym(work, i), load_matrix(work, i + 6), load_sym(work, i + 15)


@helper
def store_articulated(work, i, p):
    store_sym(work, i, p[0])
    store_matrix(work, i + 6, p[1])
    store_sym(work, i + 15, p[2])


@helper
def load_inertia(work, i):
    return load(work, i), load3(work, i + 1), load_sym(work, i + 4)


@helper
def store_inertia(work, i, inertia):
    store(work, i, inertia[0])
    store3(work, i + 1, inertia[1])
    store_sym(work, i + 4, inertia[2])
