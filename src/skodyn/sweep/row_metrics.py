"""Metrics of rows that a run at width 1 has produced: the same reductions as in the lane loop."""

from __future__ import annotations

from skodyn.jit import kernel
from skodyn.lanes import WIDTH_1, pointer, shift_pointer
from skodyn.model.layout import NQ
from skodyn.sweep.sampling import sample
from skodyn.sweep.signatures import ROWS


@kernel(*ROWS)
def reduce_rows(tree, p, first, dt, t, q, y, ws, metrics, levels, function, values, kept):
    """Take in one row after another; `first` says that the first of them is the start."""
    nq, ny = tree[NQ], y.size // t.size
    for row in range(t.size):
        sample(WIDTH_1, 1, first and row == 0, dt, t[row], pointer(tree), pointer(p),
               pointer(metrics), pointer(levels), function, shift_pointer(pointer(q), row * nq),
               shift_pointer(pointer(y), row * ny), ny, pointer(values), pointer(kept),
               pointer(ws))  # fmt: skip
    return t.size
