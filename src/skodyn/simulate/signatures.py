"""What the loops of a simulation take; the words are those of `skodyn.jit`."""

from __future__ import annotations

from skodyn.jit import COUNT, FLOATS, INTS, NUMBER, RESULT

ADDRESS = COUNT  # of a controller; 0 for none
SYSTEM = (INTS, FLOATS, INTS, FLOATS, ADDRESS, FLOATS)
"""tree, parameters, codes and numbers of forces, controller, its parameters"""
BUFFERS = (RESULT,) * 7
"""q, y, scratch, memory, workspace, rows of q and of y"""

FIXED_STEPS = (*SYSTEM, COUNT, COUNT, NUMBER, NUMBER, NUMBER, COUNT, *BUFFERS)
ADAPTIVE_STEPS = (*SYSTEM, RESULT, COUNT, *[NUMBER] * 6, *BUFFERS)
ROWS = (*SYSTEM, FLOATS, FLOATS, FLOATS, *[RESULT] * 5)
