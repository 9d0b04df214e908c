"""What the loops of a sweep take; the words are those of `skodyn.jit`."""

from __future__ import annotations

from skodyn.jit import COUNT, FLAG, FLOATS, INTS, NUMBER, PLACES, RESULT
from skodyn.simulate.signatures import ADDRESS

GROUPS = (
    INTS, RESULT, INTS, RESULT, ADDRESS, FLOATS, COUNT, NUMBER, NUMBER, NUMBER, COUNT, COUNT,
    PLACES, COUNT, *[RESULT] * 5, INTS, FLOATS, ADDRESS, RESULT, RESULT,
)  # fmt: skip
"""Runs in lanes, group by group."""

ROWS = (
    INTS, FLOATS, FLAG, NUMBER, FLOATS, FLOATS, FLOATS, RESULT, INTS, FLOATS, ADDRESS, RESULT,
    RESULT,
)  # fmt: skip
"""Rows that a single run has produced."""
