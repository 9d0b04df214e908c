"""What a kernel says back: one integer, zero if all is well, else a code and the body concerned."""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.model.layout import N_BODIES, NQ, NV

OK = 0
SINGULAR = 1  # a degree of freedom that nothing resists
NOT_FINITE = 2
NOT_UNIT = 3  # a quaternion
BAD_INPUT = 4  # an argument of the wrong length, or NaN or infinity in it
_CODES = 8
_INFINITY = float("inf")


@helper
def failure(code, k):
    """The status for trouble `code` at body k."""
    return code + _CODES * k


@helper
def finite(array):
    """Is every number of an array finite?"""
    sound = True
    for i in range(array.size):
        sound &= abs(array[i]) < _INFINITY
    return sound


@helper
def coordinates_fit(tree, q):
    """Are there as many coordinates as the model has, all finite?"""
    return q.size == tree[NQ] and finite(q)


@helper
def state_fits(tree, q, v, f_ext):
    """Do coordinates, velocities (or none) and forces (or none) fit the model, all finite?"""
    sizes = v.size in (0, tree[NV]) and f_ext.size in (0, 6 * tree[N_BODIES])
    return sizes and coordinates_fit(tree, q) and finite(v) and finite(f_ext)


def decode(status: int) -> tuple[int, int]:
    """(code, body) of a status that is not zero."""
    return status % _CODES, status // _CODES
