"""What metrics see of models with flexible bodies: energies, momenta and places.

A part of its own in the place of that which looks at contacts, so that the loops of rigid models
stay as they are; and the same of rows that a run alone has left, to the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.dynamics.algorithms import ENERGY
from skodyn.dynamics.body_poses import forward_kinematics
from skodyn.dynamics.driver import NOTHING, run
from skodyn.jit import COUNT, helper
from skodyn.kernels.energy import ROW as SUMS
from skodyn.kernels.entries import Given
from skodyn.kernels.flexible import flexible_energy
from skodyn.kernels.forward_kinematics import POSITION
from skodyn.kernels.mimics import full_model
from skodyn.kernels.packed_model import body_count
from skodyn.kernels.rows import store_row3
from skodyn.kernels.status import OK
from skodyn.kernels.tuples import load3
from skodyn.kernels.workspace import sum_slot
from skodyn.lanes import Rows, load_rows, parts_of, store_rows
from skodyn.simulation.structures import ROWS, STATE, SYSTEM, table
from skodyn.simulation.systems.system import FULL_Q, FULL_Y
from skodyn.typing import Floats

__all__ = ["COPY_STATE", "LOOK_AT_BENT", "PLACES", "TOTAL", "looks_of", "numbers_of"]

TOTAL, PLACES = SUMS, SUMS + 1
"""Behind the sums of energy.py: the whole energy, then where every body is."""


def numbers_of(n_bodies: int) -> int:
    """How many numbers are looked at."""
    return PLACES + 3 * n_bodies


@helper
def look_at_bent(work, system, at, state, out):
    """Sums over bodies, their energy as a whole, and origins of all bodies."""
    model = full_model(system.model)
    none = Rows(out.data, 0, 0)
    flexible_energy.sweep(work, model, Given(state.q, state.y, none, none), out)
    store_rows(work, out, TOTAL, load_rows(work, out, 0) + load_rows(work, out, 1))
    for k in range(body_count(model)):
        store_row3(work, out, PLACES + 3 * k, load3(work, sum_slot(model, k) + POSITION))
    return OK


@helper
def copy_state(work, system, state):
    """The state where metrics look for that of every joint; modes are coordinates as others."""
    q, y = table(system, FULL_Q), table(system, FULL_Y)
    for i in range(q.stride):
        store_rows(work, q, i, load_rows(work, state.q, i))
    for i in range(y.stride):
        store_rows(work, y, i, load_rows(work, state.y, i))
    return OK


LOOK_AT_BENT = parts_of(look_at_bent, SYSTEM, COUNT, STATE, ROWS)
COPY_STATE = parts_of(copy_state, SYSTEM, STATE)


def looks_of(model: Any, q: Floats, v: Floats) -> Floats:
    """(states, numbers) of rows of a run alone."""
    sums = run(ENERGY, model, (SUMS,), q, v, NOTHING, None, None, 1)
    places = forward_kinematics(model, q, threads=1)[1]
    whole = sums[:, :1] + sums[:, 1:2]
    return np.concatenate((sums, whole, places.reshape(len(q), -1)), axis=1)
