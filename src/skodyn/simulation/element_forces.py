"""All elements of a system, evaluated from packed tables.

A part of the loop: called by its address where a system has elements, and compiled only then. What
most models with elements have is inside of it, since a call of another part costs some 20 ns a
stage; every other kind brings a part of its own along (element.py).
"""

from __future__ import annotations

from skodyn.jit import call_part, helper, shared_routine
from skodyn.kernels import inverse_dynamics
from skodyn.kernels.entries import Given
from skodyn.kernels.forward_kinematics import scatter_positions, scatter_velocities
from skodyn.kernels.kinematics import scatter_rates
from skodyn.kernels.mimics import fold_forces, full_model, has_mimics
from skodyn.kernels.status import OK
from skodyn.lanes import Rows
from skodyn.simulation.element_kinds.point_spring import point_spring
from skodyn.simulation.element_kinds.servo import servo
from skodyn.simulation.element_kinds.sinusoid import sinusoid
from skodyn.simulation.element_kinds.torque_table import torque_table
from skodyn.simulation.element_kinds.wrench import wrench
from skodyn.simulation.forces import (
    CODE,
    CODES_HEADER,
    CODES_RECORD,
    ELEMENTS,
    GRAVITY_COMPENSATED,
    ON_BODIES,
    OWN_PART,
    POINT_SPRING,
    SECOND,
    SERVO,
    SINUSOID,
    TORQUE_TABLE,
)
from skodyn.simulation.steppers.tables import clear
from skodyn.simulation.structures import GRAVITY_PART, size_of, start_of


@helper
def place_bodies(work, model, state, f_ext):
    """Poses and velocities, and no force on any body yet."""
    clear(size_of(work, f_ext), start_of(f_ext))
    status = scatter_rates(work, model, state.q, state.y)
    scatter_positions(work, model)
    scatter_velocities(work, model, state.y)
    return status


@helper
def apply_elements(work, system, t, state, effects):
    """All elements in turn; the state and the effects are those of every joint.

    What pushes bodies leaves them placed: forward dynamics goes on from there.
    """
    codes, status = system.codes, OK
    if codes[GRAVITY_COMPENSATED] > 0:
        call_part(system.parts[GRAVITY_PART], work, system, state.q, effects.gravity)
    if codes[ON_BODIES] > 0:
        status = place_bodies(work, full_model(system.model), state, effects.f_ext)
    each_element(work, system, codes[ELEMENTS], t, state, effects)
    return status


@shared_routine
def each_element(work, system, count, t, state, effects):
    """The first elements, so many, each by itself; what they need is ready."""
    codes = system.codes
    for e in range(count):
        at = CODES_HEADER + CODES_RECORD * e
        code = codes[at + CODE]
        if code == SERVO:
            servo(work, system, at, state, effects)
        elif code == SINUSOID:
            sinusoid(work, system, at, t, effects.tau)
        elif code == TORQUE_TABLE:
            torque_table(work, system, at, t, effects.tau)
        elif code == POINT_SPRING:
            point_spring(work, system, at, effects.f_ext)
        elif code == OWN_PART:
            call_part(system.parts[codes[at + SECOND]], work, system, at, t, state, effects)
        else:
            wrench(work, system, at, effects.f_ext)


@helper
def compensate_gravity(work, system, q, gravity):
    """The torques that hold the system; on the joints of the state, if some are mimics."""
    none = Rows(q.data, 0, 0)
    inverse_dynamics.sweep(work, full_model(system.model), Given(q, none, none, none), gravity)
    if has_mimics(system.model):
        fold_forces(work, system.model, gravity)
    return OK
