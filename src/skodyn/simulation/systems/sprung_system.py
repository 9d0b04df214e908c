"""The right-hand side of the implicit midpoint rule whose joint springs and dampers are implicit.

In the middle of a step q̄ = q₀ ⊞ dt/2·v̄ and v̄ = v₀ + dt/2·a, so a spring k and a damper c of a
degree of freedom change their force by −S per unit of a, S = dt²·k/4 + dt·c/2. The iteration

    (𝓜 + S)·a_new = f(a_old) + S·a_old

is Newton's for them and has the solution of the plain one, 𝓜a = f(a), whatever S is: steps may be
long beside the periods of springs. S enters as a rotor does. Parameters of a model with such rotors
lie behind the model's own (`with_springs`), and recursions are given the one or the other. Models
with loops have such an iteration of their own (steppers/looped_midpoint.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.jit import helper
from skodyn.kernels.mimics import full_model, has_mimics
from skodyn.kernels.packed_model import PackedModel, velocity_count
from skodyn.kernels.status import OK
from skodyn.lanes import fma, load_rows, parameter, shift_pointer, store_rows
from skodyn.model.layout import ARMATURE, BODY_RECORD, DOF_RECORD, FULL, HEADER, N_BODIES, NV
from skodyn.simulation.forces import DAMPING, PASSIVE_RECORD, STIFFNESS
from skodyn.simulation.steppers.implicit_midpoint import HALF_STEP, SPRUNG_MODEL
from skodyn.simulation.structures import table
from skodyn.simulation.systems.coupled_system import accelerate_coupled, act_coupled
from skodyn.simulation.systems.flexible_system import mode_springs
from skodyn.simulation.systems.system import (
    FULL_RATES,
    FULL_TAU,
    TAU,
    accelerate_apart,
    act,
    forces_on_bodies,
)


@helper
def sprung_model(system):
    """The model whose rotors have S added."""
    parameters = shift_pointer(system.model.parameters, int(system.method[SPRUNG_MODEL]))
    return PackedModel(system.model.tree, parameters)


@helper
def hold_springs(work, system, model, rates, tau):
    """tau ← tau + S·a_old; a_old is what `rates` holds of the last iteration."""
    half = system.method[HALF_STEP]
    for dof in range(velocity_count(model)):
        at = PASSIVE_RECORD * dof
        k = parameter(work, system.numbers, at + STIFFNESS)
        s = half * fma(half, k, parameter(work, system.numbers, at + DAMPING))
        held = fma(s, load_rows(work, rates, dof), load_rows(work, tau, dof))
        store_rows(work, tau, dof, held)


@helper
def evaluate_sprung(work, system, t, state, rates):
    """rates = ẏ at time t, but with a_new in place of v̇."""
    sprung = sprung_model(system)
    if has_mimics(system.model):
        placed = act_coupled(work, system, t, state, rates)
        full = full_model(sprung)
        hold_springs(work, system, full, table(system, FULL_RATES), table(system, FULL_TAU))
        status = accelerate_coupled(work, system, sprung, rates)
        return placed if placed != OK else status
    placed = act(work, system, t, state, rates)
    tau = table(system, TAU)
    hold_springs(work, system, sprung, rates, tau)
    status = accelerate_apart(work, sprung, state, tau, forces_on_bodies(system), rates)
    return placed if placed != OK else status


def with_springs(tree: Any, parameters: Any, numbers: Any, dt: float) -> Any:
    """Parameters of a model, or one row for each of many, with those of the sprung one behind.

    numbers: of the forces, likewise.
    """
    at = int(tree[FULL])  # rows of springs are those of every joint, mimic ones included
    bodies, dofs = int(tree[at + N_BODIES]), np.arange(int(tree[at + NV]))
    rotors = HEADER + bodies * BODY_RECORD + dofs * DOF_RECORD + ARMATURE
    k = numbers[..., PASSIVE_RECORD * dofs + STIFFNESS]
    c = numbers[..., PASSIVE_RECORD * dofs + DAMPING]
    sprung = parameters.copy()
    sprung[..., rotors] += 0.5 * dt * (0.5 * dt * k + c)
    modes, stiffness, damping = mode_springs(tree)
    k, c = parameters[..., stiffness], parameters[..., damping]
    sprung[..., rotors[modes]] += 0.5 * dt * (0.5 * dt * k + c)
    return np.concatenate((parameters, sprung), axis=-1)
