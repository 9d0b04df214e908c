"""Everything that acts on a model, evaluated inside the jitted loop from packed tables.

`codes` (int64) and `numbers` (float64) are laid out by tables.py:

    codes    header | one record per element, but FIXMAN says where kT of all Fixman forces is, or 0
    numbers  one passive record per degree of freedom | the elements' own numbers
"""

from __future__ import annotations

import math

from skodyn.jit import helper
from skodyn.kernels.forward_kinematics import POSITION
from skodyn.kernels.joint_motion import FREE, SPHERICAL
from skodyn.kernels.workspace import (
    MOTION,
    ROTATION,
    body_count,
    body_slot,
    entry,
    load3,
    load6,
    load_matrix,
    row3,
    store_row3,
    sum_slot,
)
from skodyn.lanes import (
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
from skodyn.model.layout import KIND, N_DOF, Q_START, V_START
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

# header of `codes`
ELEMENTS, PASSIVE, ON_BODIES, GRAVITY_COMPENSATED, INTEGRALS, CONTROLLED, FIXMAN = range(7)
CODES_HEADER = 8

# a record of `codes`: what it is, which bodies or degrees of freedom, where its numbers begin
CODE, FIRST, SECOND, OFFSET, COUNT, INTEGRAL = range(6)
CODES_RECORD = 6

SERVO, SINUSOID, TORQUE_TABLE, WRENCH_WORLD, WRENCH_BODY, POINT_SPRING = range(1, 7)

# a passive record in `numbers`
STIFFNESS, REST, DAMPING, FRICTION, FRICTION_SPEED = range(5)
LOWER, UPPER, STOP_STIFFNESS, STOP_DAMPING = range(5, 9)
PASSIVE_RECORD = 9


@helper
def positive(x):
    return select(x > 0.0, x, 0.0 * x)


@helper
def passive_torque(w, numbers, at, q, v, has_position):
    """Spring, damper, friction and stops of one degree of freedom."""
    torque = -(parameter(w, numbers, at + DAMPING) * v)
    speed = parameter(w, numbers, at + FRICTION_SPEED)
    smooth = v / sqrt(fma(v, v, speed * speed))
    torque = fma(-parameter(w, numbers, at + FRICTION), smooth, torque)
    if has_position:
        stretch = q - parameter(w, numbers, at + REST)
        torque = fma(-parameter(w, numbers, at + STIFFNESS), stretch, torque)
        k = parameter(w, numbers, at + STOP_STIFFNESS)
        c = parameter(w, numbers, at + STOP_DAMPING)
        below = parameter(w, numbers, at + LOWER) - q
        above = q - parameter(w, numbers, at + UPPER)
        # a stop pushes, it never pulls
        torque = torque + select(below > 0.0, positive(k * below - c * v), 0.0 * v)
        torque = torque - select(above > 0.0, positive(k * above + c * v), 0.0 * v)
    return torque


@helper
def passive_torques(w, tree, numbers, q, nq, y, ny, tau, nv):
    for k in range(body_count(tree)):
        kind = entry(tree, k, KIND)
        has_position = kind not in (SPHERICAL, FREE)
        for d in range(entry(tree, k, N_DOF)):
            dof = entry(tree, k, V_START) + d
            v = load_rows(w, y, 0, ny, dof)
            x = load_rows(w, q, 0, nq, entry(tree, k, Q_START) + d) if has_position else v
            torque = passive_torque(w, numbers, PASSIVE_RECORD * dof, x, v, has_position)
            store_rows(w, tau, 0, nv, dof, torque)


@helper
def add_torque(w, tau, nv, dof, torque):
    store_rows(w, tau, 0, nv, dof, load_rows(w, tau, 0, nv, dof) + torque)


@helper
def servo(w, codes, at, numbers, q, nq, y, ny, nv, gravity, tau, rates):
    """PID torque; the rate of the integral is the position error."""
    dof, i = codes[at + FIRST], codes[at + OFFSET]
    error = parameter(w, numbers, i + 3) - load_rows(w, q, 0, nq, codes[at + SECOND])
    slip = parameter(w, numbers, i + 4) - load_rows(w, y, 0, ny, dof)
    torque = fma(parameter(w, numbers, i), error, parameter(w, numbers, i + 1) * slip)
    if codes[at + INTEGRAL] >= 0:
        z = nv + codes[at + INTEGRAL]
        torque = fma(parameter(w, numbers, i + 2), load_rows(w, y, 0, ny, z), torque)
        store_rows(w, rates, 0, ny, z, error)
    if codes[at + COUNT] > 0:  # gravity compensation
        torque = torque + load_rows(w, gravity, 0, nv, dof)
    limit = splat(w, 1.0) * parameter(w, numbers, i + 5)
    torque = select(torque > limit, limit, torque)
    add_torque(w, tau, nv, dof, select(torque < -limit, -limit, torque))


@helper
def sinusoid(w, codes, at, numbers, t, tau, nv):
    i = codes[at + OFFSET]
    angle = fma(2.0 * math.pi * t, parameter(w, numbers, i + 1), parameter(w, numbers, i + 2))
    s, _ = sincos(angle)
    torque = fma(parameter(w, numbers, i), s, parameter(w, numbers, i + 3))
    add_torque(w, tau, nv, codes[at + FIRST], torque)


@helper
def table_time(w, numbers, i):
    """A time of a torque table; lanes with parameters of their own share the times."""
    return lane_at(parameter(w, numbers, i), 0)


@helper
def torque_table(w, codes, at, numbers, t, tau, nv):
    """Linear between the times, constant outside; `numbers` holds all times, then all torques."""
    first, count = codes[at + OFFSET], codes[at + COUNT]
    low, high = 0, count - 1
    while high - low > 1:
        middle = (low + high) // 2
        if table_time(w, numbers, first + middle) <= t:
            low = middle
        else:
            high = middle
    start, end = table_time(w, numbers, first + low), table_time(w, numbers, first + high)
    part = (t - start) / (end - start) if end - start > 0.0 else 0.0
    part = min(max(part, 0.0), 1.0)
    left = parameter(w, numbers, first + count + low)
    right = parameter(w, numbers, first + count + high)
    add_torque(w, tau, nv, codes[at + FIRST], left + part * (right - left))


@helper
def add_force(w, f_ext, stride, k, force, arm, moment):
    """Add a force at `arm` from the origin of body k, and a moment."""
    if k >= 0:
        total = add(row3(w, f_ext, 0, stride, 6 * k), add_cross(moment, arm, force))
        store_row3(w, f_ext, 0, stride, 6 * k, total)
        linear = add(row3(w, f_ext, 0, stride, 6 * k + 3), force)
        store_row3(w, f_ext, 0, stride, 6 * k + 3, linear)


@helper
def numbers3(w, numbers, i):
    one = splat(w, 1.0)
    return (
        one * parameter(w, numbers, i),
        one * parameter(w, numbers, i + 1),
        one * parameter(w, numbers, i + 2),
    )


@helper
def wrench(w, codes, at, numbers, f_ext, stride, ws):
    """Numbers: point, force, moment."""
    k, i = codes[at + FIRST], codes[at + OFFSET]
    r = load_matrix(w, ws, body_slot(k) + ROTATION)
    arm = multiply_vector(r, numbers3(w, numbers, i))
    force, moment = numbers3(w, numbers, i + 3), numbers3(w, numbers, i + 6)
    if codes[at + CODE] == WRENCH_BODY:
        force, moment = multiply_vector(r, force), multiply_vector(r, moment)
    add_force(w, f_ext, stride, k, force, arm, moment)


@helper
def point_motion(w, tree, k, point, ws):
    """(arm from the body's origin, position, velocity) of a point fixed in body k or the ground."""
    slot = body_slot(k)
    arm = multiply_vector(load_matrix(w, ws, slot + ROTATION), point)
    omega, origin_velocity = load6(w, ws, slot + MOTION)
    return (
        arm,
        add(load3(w, ws, sum_slot(tree, k) + POSITION), arm),
        add_cross(origin_velocity, omega, arm),
    )


@helper
def point_spring(w, tree, codes, at, numbers, f_ext, stride, ws):
    """Numbers: point a, point b, stiffness, damping, length."""
    a, b, i = codes[at + FIRST], codes[at + SECOND], codes[at + OFFSET]
    arm_a, place_a, speed_a = point_motion(w, tree, a, numbers3(w, numbers, i), ws)
    arm_b, place_b, speed_b = point_motion(w, tree, b, numbers3(w, numbers, i + 3), ws)
    line = subtract(place_b, place_a)
    length = sqrt(dot(line, line))
    away = length > 0.0
    direction = scale(select(away, 1.0 / select(away, length, 1.0 + 0.0 * length), 0.0), line)
    rate = dot(direction, subtract(speed_b, speed_a))
    pull = parameter(w, numbers, i + 6) * (length - parameter(w, numbers, i + 8))
    pull = fma(parameter(w, numbers, i + 7), rate, pull)
    force = scale(pull, direction)
    none = cross(force, force)
    add_force(w, f_ext, stride, a, force, arm_a, none)
    add_force(w, f_ext, stride, b, negate(force), arm_b, none)


@helper
def clear(table, count):
    for i in range(count):
        table[i] = 0.0


@helper
def element_forces(
    w, tree, codes, numbers, t, q, nq, y, ny, nv, gravity, tau, rates, f_ext, stride, ws
):
    for e in range(codes[ELEMENTS]):
        at = CODES_HEADER + CODES_RECORD * e
        code = codes[at + CODE]
        if code == SERVO:
            servo(w, codes, at, numbers, q, nq, y, ny, nv, gravity, tau, rates)
        elif code == SINUSOID:
            sinusoid(w, codes, at, numbers, t, tau, nv)
        elif code == TORQUE_TABLE:
            torque_table(w, codes, at, numbers, t, tau, nv)
        elif code == POINT_SPRING:
            point_spring(w, tree, codes, at, numbers, f_ext, stride, ws)
        else:
            wrench(w, codes, at, numbers, f_ext, stride, ws)
