"""How a solver is called for one state: any number of right-hand sides, each a row."""

from __future__ import annotations

from typing import Any

from skodyn.jit import brief_kernel
from skodyn.kernels.entries import named_like, one_state_signature, row_of
from skodyn.kernels.packed_model import velocity_count
from skodyn.kernels.status import BAD_INPUT, OK, coordinates_fit, finite
from skodyn.kernels.workspace import unpack
from skodyn.lanes import Rows, pointer

__all__ = ["solve_kernel"]


def solve_kernel(name: str, prepare: Any, solve: Any) -> Any:
    """The kernel that prepares a state once and solves for each row of `rhs`.

    prepare(work, model, q) and solve(work, model, rhs, out) are helpers that return a status.
    """

    def entry(block, q, rhs, out):
        work, model = unpack(block)
        nv = velocity_count(model)
        rows = rhs.size // max(nv, 1)
        sizes = rhs.size == rows * nv and out.size == rhs.size
        if not (sizes and coordinates_fit(model, q) and finite(rhs)):
            return BAD_INPUT
        status = prepare(work, model, row_of(q))
        for row in range(rows):
            given, result = Rows(pointer(rhs), row * nv, nv), Rows(pointer(out), row * nv, nv)
            answer = solve(work, model, given, result)
            status = status if status != OK else answer
        return status

    return brief_kernel(*one_state_signature(1))(named_like(entry, name, solve))
