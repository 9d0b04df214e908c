"""v̇ and the applied forces of states that have been simulated: channels of the log."""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import FLOATS, RESULT, Group, kernel
from skodyn.kernels.packed_model import velocity_count
from skodyn.kernels.status import OK
from skodyn.lanes import WIDTH_1, Rows, pointer, shift_pointer
from skodyn.model.layout import NQ
from skodyn.simulation.fixed_step import extended_size
from skodyn.simulation.steppers.tables import copy
from skodyn.simulation.structures import SYSTEM_ARRAYS, State, opened, start_of, table
from skodyn.simulation.systems.system import DRIVE, F_EXT, TAU, evaluate


class StateRows(NamedTuple):
    """States that have been simulated."""

    t: Any
    q: Any
    y: Any


class RateRows(NamedTuple):
    """What is found of them; `rates` is storage for one row."""

    vdot: Any
    tau: Any
    f_ext: Any  # empty where nothing pushes bodies
    drive: Any  # empty where no motion is prescribed
    rates: Any


@kernel(SYSTEM_ARRAYS, Group(StateRows, (FLOATS,) * 3), Group(RateRows, (RESULT,) * 5))
def evaluate_rows(arrays, states, out):
    """Rows of v̇, τ and forces on bodies."""
    work, system = opened(WIDTH_1, arrays)
    nq, nv, ny = system.model.tree[NQ], velocity_count(system.model), extended_size(system)
    rates = Rows(pointer(out.rates), 0, ny)
    for row in range(states.t.size):
        state = State(Rows(pointer(states.q), row * nq, nq), Rows(pointer(states.y), row * ny, ny))
        status = evaluate(work, system, states.t[row], state, rates)
        if status != OK:
            return status
        copy(nv, shift_pointer(pointer(out.vdot), row * nv), start_of(rates))
        copy(nv, shift_pointer(pointer(out.tau), row * nv), start_of(table(system, TAU)))
        if out.f_ext.size > 0:
            forces = table(system, F_EXT)
            place = shift_pointer(pointer(out.f_ext), row * forces.stride)
            copy(forces.stride, place, start_of(forces))
        if out.drive.size > 0:
            place = shift_pointer(pointer(out.drive), row * nv)
            copy(nv, place, start_of(table(system, DRIVE)))
    return OK
