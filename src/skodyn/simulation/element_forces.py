"""Servos, sinusoids, tables, wrenches and springs, evaluated from packed tables.

A part of the loop: called by its address where a system has elements, and compiled only then.
An element may bring a part of its own along, see `OwnElement` in elements.py.
"""

from __future__ import annotations

import math

from skodyn.jit import call_part, helper
from skodyn.kernels import inverse_dynamics
from skodyn.kernels.entries import Given
from skodyn.kernels.forward_kinematics import POSITION, scatter_positions, scatter_velocities
from skodyn.kernels.kinematics import scatter_rates
from skodyn.kernels.mass_matrix_logdet_gradient import add_gradient
from skodyn.kernels.mimics import fold_forces, full_model, has_mimics
from skodyn.kernels.status import OK
from skodyn.kernels.workspace import (
    MOTION,
    ROTATION,
    body_slot,
    load3,
    load6,
    load_matrix,
    row3,
    store_row3,
    sum_slot,
    velocity_count,
)
from skodyn.lanes import (
    Rows,
    fma,
    lane_at,
    load_rows,
    parameter,
    select,
    sincos,
    splat,
    sqrt,
    store_rows,
)
from skodyn.simulation.forces import (
    CODE,
    CODES_HEADER,
    CODES_RECORD,
    COUNT,
    ELEMENTS,
    FIRST,
    FIXMAN,
    GRAVITY_COMPENSATED,
    INTEGRAL,
    OFFSET,
    ON_BODIES,
    OWN_PART,
    POINT_SPRING,
    SECOND,
    SERVO,
    SINUSOID,
    TORQUE_TABLE,
    WRENCH_BODY,
)
from skodyn.simulation.steppers.tables import clear
from skodyn.simulation.structures import GRAVITY_PART, size_of, start_of
from skodyn.spatial.linear3 import (
    add,
    add_cross,
    cross,
    dot,
    multiply_vector,
    negate,
    scale,
    subtract,
)


@helper
def add_torque(work, tau, dof, torque):
    store_rows(work, tau, dof, load_rows(work, tau, dof) + torque)


@helper
def servo(work, system, at, state, effects):
    """PID torque; the rate of the integral is the position error."""
    codes, numbers, i = system.codes, system.numbers, system.codes[at + OFFSET]
    dof = codes[at + FIRST]
    error = parameter(work, numbers, i + 3) - load_rows(work, state.q, codes[at + SECOND])
    slip = parameter(work, numbers, i + 4) - load_rows(work, state.y, dof)
    torque = fma(parameter(work, numbers, i), error, parameter(work, numbers, i + 1) * slip)
    if codes[at + INTEGRAL] >= 0:
        z = velocity_count(full_model(system.model)) + codes[at + INTEGRAL]
        torque = fma(parameter(work, numbers, i + 2), load_rows(work, state.y, z), torque)
        store_rows(work, effects.rates, z, error)
    if codes[at + COUNT] > 0:  # gravity compensation
        torque = torque + load_rows(work, effects.gravity, dof)
    limit = splat(work, 1.0) * parameter(work, numbers, i + 5)
    torque = select(torque > limit, limit, torque)
    add_torque(work, effects.tau, dof, select(torque < -limit, -limit, torque))


@helper
def sinusoid(work, system, at, t, tau):
    numbers, i = system.numbers, system.codes[at + OFFSET]
    phase = parameter(work, numbers, i + 2)
    angle = fma(2.0 * math.pi * t, parameter(work, numbers, i + 1), phase)
    s, _ = sincos(angle)
    torque = fma(parameter(work, numbers, i), s, parameter(work, numbers, i + 3))
    add_torque(work, tau, system.codes[at + FIRST], torque)


@helper
def table_time(work, numbers, i):
    """A time of a torque table; lanes with parameters of their own share the times."""
    return lane_at(parameter(work, numbers, i), 0)


@helper
def torque_table(work, system, at, t, tau):
    """Linear between the times, constant outside; `numbers` holds all times, then all torques."""
    codes, numbers = system.codes, system.numbers
    first, count = codes[at + OFFSET], codes[at + COUNT]
    low, high = 0, count - 1
    while high - low > 1:
        middle = (low + high) // 2
        if table_time(work, numbers, first + middle) <= t:
            low = middle
        else:
            high = middle
    start, end = table_time(work, numbers, first + low), table_time(work, numbers, first + high)
    part = (t - start) / (end - start) if end - start > 0.0 else 0.0
    part = min(max(part, 0.0), 1.0)
    left = parameter(work, numbers, first + count + low)
    right = parameter(work, numbers, first + count + high)
    add_torque(work, tau, codes[at + FIRST], left + part * (right - left))


@helper
def add_force(work, f_ext, k, force, arm, moment):
    """Add a force at `arm` from the origin of body k, and a moment."""
    if k >= 0:
        total = add(row3(work, f_ext, 6 * k), add_cross(moment, arm, force))
        store_row3(work, f_ext, 6 * k, total)
        store_row3(work, f_ext, 6 * k + 3, add(row3(work, f_ext, 6 * k + 3), force))


@helper
def numbers3(work, numbers, i):
    one = splat(work, 1.0)
    return (
        one * parameter(work, numbers, i),
        one * parameter(work, numbers, i + 1),
        one * parameter(work, numbers, i + 2),
    )


@helper
def wrench(work, system, at, f_ext):
    """Numbers: point, force, moment."""
    codes, numbers = system.codes, system.numbers
    k, i = codes[at + FIRST], codes[at + OFFSET]
    r = load_matrix(work, body_slot(k) + ROTATION)
    arm = multiply_vector(r, numbers3(work, numbers, i))
    force, moment = numbers3(work, numbers, i + 3), numbers3(work, numbers, i + 6)
    if codes[at + CODE] == WRENCH_BODY:
        force, moment = multiply_vector(r, force), multiply_vector(r, moment)
    add_force(work, f_ext, k, force, arm, moment)


@helper
def point_motion(work, model, k, point):
    """(arm from the body's origin, position, velocity) of a point fixed in body k or the ground."""
    slot = body_slot(k)
    arm = multiply_vector(load_matrix(work, slot + ROTATION), point)
    omega, origin_velocity = load6(work, slot + MOTION)
    return (
        arm,
        add(load3(work, sum_slot(model, k) + POSITION), arm),
        add_cross(origin_velocity, omega, arm),
    )


@helper
def point_spring(work, system, at, f_ext):
    """Numbers: point a, point b, stiffness, damping, length."""
    model, codes, numbers = full_model(system.model), system.codes, system.numbers
    a, b, i = codes[at + FIRST], codes[at + SECOND], codes[at + OFFSET]
    arm_a, place_a, speed_a = point_motion(work, model, a, numbers3(work, numbers, i))
    arm_b, place_b, speed_b = point_motion(work, model, b, numbers3(work, numbers, i + 3))
    line = subtract(place_b, place_a)
    length = sqrt(dot(line, line))
    away = length > 0.0
    direction = scale(select(away, 1.0 / select(away, length, 1.0 + 0.0 * length), 0.0), line)
    rate = dot(direction, subtract(speed_b, speed_a))
    pull = parameter(work, numbers, i + 6) * (length - parameter(work, numbers, i + 8))
    pull = fma(parameter(work, numbers, i + 7), rate, pull)
    force = scale(pull, direction)
    none = cross(force, force)
    add_force(work, f_ext, a, force, arm_a, none)
    add_force(work, f_ext, b, negate(force), arm_b, none)


@helper
def place_bodies(work, model, state, f_ext):
    """Poses and velocities, and no force on any body yet."""
    clear(size_of(work, f_ext), start_of(f_ext))
    scatter_rates(work, model, state.q, state.y)
    scatter_positions(work, model)
    scatter_velocities(work, model, state.y)


@helper
def apply_elements(work, system, t, state, effects):
    """All elements in turn; the state and the effects are those of every joint."""
    codes = system.codes
    if codes[GRAVITY_COMPENSATED] > 0:
        call_part(system.parts[GRAVITY_PART], work, system, state.q, effects.gravity)
    if codes[ON_BODIES] > 0:
        place_bodies(work, full_model(system.model), state, effects.f_ext)
    for e in range(codes[ELEMENTS]):
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
    return OK


@helper
def compensate_gravity(work, system, q, gravity):
    """The torques that hold the system; on the joints of the state, if some are mimics."""
    none = Rows(q.data, 0, 0)
    inverse_dynamics.sweep(work, full_model(system.model), Given(q, none, none, none), gravity)
    if has_mimics(system.model):
        fold_forces(work, system.model, gravity)
    return OK


@helper
def apply_fixman(work, system, q, tau):
    """The force of the Fixman potential on every degree of freedom."""
    factor = -0.5 * parameter(work, system.numbers, system.codes[FIXMAN])
    return add_gradient(work, system.model, q, factor, tau)
