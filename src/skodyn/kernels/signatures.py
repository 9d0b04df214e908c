"""What the entry points of kernels take.

One state: the block that holds model and workspace (workspace.py), q, what else the algorithm is a
function of, and the result. A batch: tree, parameters, the range of rows, flat tables of q, v, x
and external forces with the length of a row of the last, the result and a workspace.
"""

from __future__ import annotations

from skodyn.jit import COUNT, FLOATS, INTS, RESULT, Kind

BLOCK = RESULT
BATCH = (INTS, FLOATS, COUNT, COUNT, *[FLOATS] * 4, COUNT, RESULT, RESULT)


def one_state(inputs: int, dimensions: int = 1) -> tuple[Kind, ...]:
    """With so many arguments besides q, and a result of so many dimensions."""
    return (BLOCK, FLOATS, *[FLOATS] * inputs, RESULT.of(dimensions))
