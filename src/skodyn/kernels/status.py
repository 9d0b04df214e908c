"""What a kernel says back: one integer, zero if all is well, else a code and the body concerned."""

from __future__ import annotations

from enum import IntEnum

from skodyn.jit import helper
from skodyn.model.layout import N_BODIES, NQ, NV


class Code(IntEnum):
    """What can go wrong. A further code needs a line here, its number below, and its sentence."""

    OK = 0
    SINGULAR = 1  # a degree of freedom that nothing resists
    NOT_FINITE = 2
    NOT_UNIT = 3  # a quaternion
    BAD_INPUT = 4  # an argument of the wrong length, or NaN or infinity in it
    NOT_CONVERGED = 5  # a step is too long for the iteration of an implicit method
    OUT_OF_BOUNDS = 6  # a velocity beyond the bound; with the degree of freedom, not the body
    STEP_TOO_SMALL = 7  # the tolerance cannot be met with any step that still moves time
    LOOP_OPEN = 8  # the ends of a loop are apart; with the loop, not the body, as those below
    LOOP_RATE = 9  # they part
    LOOP_SINGULAR = 10  # a group of loops that nothing resists


# plain integers, which is what kernels take
(
    OK, SINGULAR, NOT_FINITE, NOT_UNIT, BAD_INPUT, NOT_CONVERGED, OUT_OF_BOUNDS, STEP_TOO_SMALL,
    LOOP_OPEN, LOOP_RATE, LOOP_SINGULAR,
) = map(int, Code)  # fmt: skip
RADIX = len(Code)
"""A status is a code and RADIX times the body."""
_INFINITY = float("inf")


@helper
def failure(code, k):
    """The status for trouble `code` at body k."""
    return code + RADIX * k


@helper
def first_trouble(first, second, third):
    """The first of three statuses that is not OK."""
    if first != OK:
        return first
    return second if second != OK else third


@helper
def finite(array):
    """Is every number of an array finite?"""
    sound = True
    for i in range(array.size):
        sound &= abs(array[i]) < _INFINITY
    return sound


@helper
def coordinates_fit(model, q):
    """Are there as many coordinates as the model has, all finite?"""
    return q.size == model.tree[NQ] and finite(q)


@helper
def velocities_fit(model, v):
    """Is there a finite velocity for each degree of freedom?"""
    return v.size == model.tree[NV] and finite(v)


@helper
def forces_fit(model, f_ext):
    """Does every body have its external force, or none, all finite?"""
    return f_ext.size in (0, 6 * model.tree[N_BODIES]) and finite(f_ext)


@helper
def code_of(status):
    """What went wrong, without where."""
    return status % RADIX


def decode(status: int) -> tuple[int, int]:
    """(code, body) of a status that is not zero."""
    body, code = divmod(status, RADIX)
    return code, body
