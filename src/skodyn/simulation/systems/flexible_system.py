"""The right-hand side of models with flexible bodies, in the place of that with mimic joints.

Steppers see the layout of the state, in which modes are coordinates like others; forces and
dynamics see the tree of bodies behind it (model/flexible/flexible_layout.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.jit import helper
from skodyn.kernels.entries import Given
from skodyn.kernels.flexible import flexible_inverse
from skodyn.kernels.flexible.flexible_dynamics import (
    gather_bent_residuals,
    scatter_bent_accelerations,
)
from skodyn.kernels.flexible.flexible_kinematics import scatter_bent_velocities
from skodyn.kernels.flexible.flexible_table import field, flexible_record, is_bent
from skodyn.kernels.flexible.flexible_tree import scatter_bent_rates
from skodyn.kernels.forward_kinematics import scatter_positions
from skodyn.kernels.kinematics import ground_acceleration
from skodyn.kernels.mimics import full_model
from skodyn.kernels.packed_model import PackedModel, body_count, velocity_count
from skodyn.kernels.status import OK, first_trouble
from skodyn.lanes import Rows, fma, load_rows, parameter, shift_pointer, splat, store_rows
from skodyn.model.flexible import flexible_layout as its
from skodyn.model.layout import FLEXIBLE, FULL, N_BODIES
from skodyn.simulation.element_forces import each_element
from skodyn.simulation.forces import DAMPING as JOINT_DAMPING
from skodyn.simulation.forces import ELEMENTS, GRAVITY_COMPENSATED, ON_BODIES, PASSIVE_RECORD
from skodyn.simulation.forces import STIFFNESS as JOINT_STIFFNESS
from skodyn.simulation.steppers.implicit_midpoint import HALF_STEP, SPRUNG_MODEL
from skodyn.simulation.steppers.tables import clear
from skodyn.simulation.structures import Effects, size_of, start_of, table
from skodyn.simulation.systems.system import (
    GRAVITY,
    TAU,
    apply_forces,
    control,
    forces_on_bodies,
    power,
)


@helper
def damped_power(work, model, y):
    """What the damping of modes takes, negative."""
    total = splat(work, 0.0)
    for k in range(body_count(model)):
        record = flexible_record(model, k)
        if record > 0:
            start = field(model, record, its.MODE_V)
            for i in range(field(model, record, its.MODES)):
                c = parameter(work, model.parameters, field(model, record, its.DAMPING) + i)
                rate = load_rows(work, y, start + i)
                total = fma(-(c * rate), rate, total)
    return total


@helper
def act_bent(work, system, t, state, rates):
    """All forces of a state into TAU and F_EXT, and the rates of integrals."""
    model, tau, f_ext = full_model(system.model), table(system, TAU), forces_on_bodies(system)
    clear(size_of(work, tau), start_of(tau))  # joints do not speak of modes
    effects = Effects(tau, rates, table(system, GRAVITY), f_ext)
    placed = apply_forces(work, system, t, state, effects)
    control(work, system, t, state, rates, tau)
    done = power(work, model, state.y, tau, f_ext) + damped_power(work, model, state.y)
    store_rows(work, rates, rates.stride - 1, done)
    return placed


@helper
def accelerate_bent(work, model, state, tau, f_ext, rates):
    """v̇; where elements push bodies, these have been placed before."""
    first = OK if f_ext.stride > 0 else scatter_bent_rates(work, model, state.q, state.y)
    second = gather_bent_residuals(work, model, tau, f_ext)
    ground = ground_acceleration(work, model)
    third = scatter_bent_accelerations(work, model, ground, True, rates)
    return first_trouble(first, second, third)


@helper
def evaluate_bent(work, system, t, state, rates):
    """rates = ẏ at time t."""
    placed = act_bent(work, system, t, state, rates)
    tau, f_ext = table(system, TAU), forces_on_bodies(system)
    status = accelerate_bent(work, full_model(system.model), state, tau, f_ext, rates)
    return placed if placed != OK else status


# ---- elements: element_forces.py, on bodies that bend --------------------------------------------


@helper
def apply_bent_elements(work, system, t, state, effects):
    """All elements in turn; what pushes bodies leaves them placed."""
    codes, status, model = system.codes, OK, full_model(system.model)
    if codes[GRAVITY_COMPENSATED] > 0:
        none = Rows(state.q.data, 0, 0)
        flexible_inverse.sweep(work, model, Given(state.q, none, none, none), effects.gravity)
    if codes[ON_BODIES] > 0:
        clear(size_of(work, effects.f_ext), start_of(effects.f_ext))
        status = scatter_bent_rates(work, model, state.q, state.y)
        scatter_positions(work, model)
        scatter_bent_velocities(work, model, state.y)
    each_element(work, system, codes[ELEMENTS], t, state, effects)
    return status


# ---- implicit springs: sprung_system.py, with modes among them -----------------------------------


@helper
def hold_bent_springs(work, system, model, rates, tau):
    """tau ← tau + S·a_old, for joints and modes."""
    half = system.method[HALF_STEP]
    for dof in range(velocity_count(model)):
        at = PASSIVE_RECORD * dof
        k = parameter(work, system.numbers, at + JOINT_STIFFNESS)
        s = half * fma(half, k, parameter(work, system.numbers, at + JOINT_DAMPING))
        held = fma(s, load_rows(work, rates, dof), load_rows(work, tau, dof))
        store_rows(work, tau, dof, held)
    for body in range(body_count(model)):
        record = flexible_record(model, body)
        if record > 0:
            start = field(model, record, its.MODE_V)
            for i in range(field(model, record, its.MODES)):
                k = parameter(work, model.parameters, field(model, record, its.STIFFNESS) + i)
                c = parameter(work, model.parameters, field(model, record, its.DAMPING) + i)
                s = half * fma(half, k, c)
                old = load_rows(work, rates, start + i)
                store_rows(work, tau, start + i, fma(s, old, load_rows(work, tau, start + i)))


@helper
def evaluate_bent_springs(work, system, t, state, rates):
    """rates = ẏ at time t, but with a_new in place of v̇."""
    model = full_model(system.model)
    parameters = shift_pointer(model.parameters, int(system.method[SPRUNG_MODEL]))
    placed = act_bent(work, system, t, state, rates)
    tau, f_ext = table(system, TAU), forces_on_bodies(system)
    hold_bent_springs(work, system, model, rates, tau)
    sprung = PackedModel(model.tree, parameters)
    status = accelerate_bent(work, sprung, state, tau, f_ext, rates)
    return placed if placed != OK else status


def mode_springs(tree: Any) -> tuple[Any, Any, Any]:
    """Of every mode: its degree of freedom, and where its stiffness and damping lie."""
    if not is_bent(tree):
        return (np.zeros(0, dtype=np.int64),) * 3
    bodies = tree[int(tree[FULL]) :]
    at = int(bodies[FLEXIBLE])
    records = bodies[at + its.RECORDS : at + its.RECORDS + int(bodies[N_BODIES])]
    rows = [
        np.stack(
            [
                bodies[r + place] + np.arange(bodies[r + its.MODES])
                for place in (its.MODE_V, its.STIFFNESS, its.DAMPING)
            ]
        )
        for r in records[records > 0].tolist()
    ]
    dofs, stiffness, damping = np.concatenate(rows, axis=1)
    return dofs, stiffness, damping
