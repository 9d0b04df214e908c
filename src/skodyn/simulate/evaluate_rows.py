"""v̇ and the applied generalised forces of states that have been simulated: channels of the log."""

from __future__ import annotations

from skodyn.jit import kernel
from skodyn.kernels.status import OK
from skodyn.lanes import WIDTH_1, pointer, shift_pointer
from skodyn.model.layout import NQ, NV
from skodyn.simulate.signatures import ROWS
from skodyn.simulate.steppers.tables import copy
from skodyn.simulate.system import evaluate, extended_size


@kernel(*ROWS)
def evaluate_rows(tree, p, codes, numbers, controller, settings, t, q, y, rates, memory, ws, vdot,
                  tau):  # fmt: skip
    """Rows of v̇ and τ from rows of q and y at the times t."""
    nq, nv = tree[NQ], tree[NV]
    ny = extended_size(pointer(tree), pointer(codes))
    for row in range(t.size):
        status = evaluate(
            WIDTH_1, 1, pointer(tree), pointer(p), pointer(codes), pointer(numbers), controller,
            pointer(settings), settings.size, t[row], shift_pointer(pointer(q), row * nq),
            shift_pointer(pointer(y), row * ny), pointer(rates), pointer(memory), pointer(ws),
        )  # fmt: skip
        if status != OK:
            return status
        copy(nv, shift_pointer(pointer(vdot), row * nv), pointer(rates))
        copy(nv, shift_pointer(pointer(tau), row * nv), pointer(memory))
    return OK
