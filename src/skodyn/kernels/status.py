"""What a kernel says back: one integer, zero if all is well, else a code and the body concerned."""

from __future__ import annotations

from skodyn.jit import helper

OK = 0
SINGULAR = 1  # a degree of freedom that nothing resists
NOT_FINITE = 2
NOT_UNIT = 3  # a quaternion
_CODES = 8


@helper
def failure(code, k):
    """The status for trouble `code` at body k."""
    return code + _CODES * k


def decode(status: int) -> tuple[int, int]:
    """(code, body) of a status that is not zero."""
    return status % _CODES, status // _CODES
