"""D⁻¹x from the Cholesky factors of D, one node after another."""

from __future__ import annotations

from skodyn.jit import COUNT, FLOATS, INTS, RESULT, kernel
from skodyn.sko.blocks import Blocks, Floats
from skodyn.sko.small import part_of, small, solve_lower, solve_upper

__all__ = ["solve_blocks"]


def solve_blocks(factor: Blocks, columns: Floats) -> Floats:
    """(L·L*)⁻¹ times a matrix of columns, block by block."""
    y = columns.copy()
    solve_sweep.ready(
        factor.data, factor.starts, factor.row_starts, columns.shape[1], y.reshape(-1)
    )
    return y


_SOLVE = (FLOATS, INTS, INTS, COUNT, RESULT)


@kernel(*_SOLVE)
def solve_sweep(factor, starts, dof, columns, y):
    """y(k) becomes L⁻*(k)·L⁻¹(k)·y(k)."""
    for k in range(starts.size - 1):
        y_k = part_of(y, dof, k, columns)
        L = small(factor, starts[k], y_k.rows, y_k.rows)
        solve_lower(L, y_k)
        solve_upper(L, y_k)
