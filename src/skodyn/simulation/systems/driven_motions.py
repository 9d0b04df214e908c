"""Where joints with a prescribed motion are at time t, and how they move.

A joint that slides and turns about axes has a motion for each coordinate. One with a quaternion
goes along a way x = start ⊞ a·s(t): with a fixed direction a, in child axes, its velocity is a·ṡ
and its acceleration a·s̈, whatever the curve s is.
"""

from __future__ import annotations

import math

from skodyn.jit import call_part, helper, shared_routine
from skodyn.kernels.joint_kinds import has_quaternion, is_free
from skodyn.kernels.packed_model import entry
from skodyn.kernels.rows import store_row3
from skodyn.kernels.status import OK
from skodyn.lanes import fma, parameter, shift_pointer, sincos, splat, store_rows
from skodyn.model.layout import N_DOF, Q_START, V_START
from skodyn.model.manifold import integrate_free, integrate_spherical
from skodyn.simulation.control.control_records import Dynamics, Law
from skodyn.simulation.element_kinds.torque_table import table_interval, table_time
from skodyn.simulation.element_tools import numbers3
from skodyn.simulation.forces import (
    CODE,
    CODES_RECORD,
    COUNT,
    FIRST,
    INTEGRAL,
    JOINT_FUNCTION,
    MOTIONS,
    MOTIONS_AT,
    OFFSET,
    SECOND,
    SINE,
    SPLINE,
    STEADY,
    STEADY_JOINT,
)
from skodyn.simulation.lie import store_row4
from skodyn.simulation.structures import start_of, table
from skodyn.simulation.systems.system import FOUND


@helper
def motion_record(system, m):
    """Where motion m has its record, behind everything else."""
    return system.codes[MOTIONS_AT] + CODES_RECORD * m


@helper
def sine_motion(work, numbers, i, t):
    rate = (2.0 * math.pi) * (splat(work, 1.0) * parameter(work, numbers, i + 1))
    s, c = sincos(fma(rate, t, parameter(work, numbers, i + 2)))
    size = parameter(work, numbers, i)
    offset = parameter(work, numbers, i + 3)
    return fma(size, s, offset), size * rate * c, -(size * rate * rate * s)


@helper
def spline_motion(work, numbers, first, count, t):
    """All times, then six coefficients for each interval; at rest outside."""
    low, high = table_interval(work, numbers, first, count, t)
    start, end = table_time(work, numbers, first + low), table_time(work, numbers, first + high)
    s = min(max(t - start, 0.0), end - start)
    inside = 1.0 if start <= t <= end else 0.0
    x, rate, bend = splat(work, 0.0), splat(work, 0.0), splat(work, 0.0)
    for back in range(6):  # Horner's rule, with both derivatives
        c = parameter(work, numbers, first + count + 6 * low + 5 - back)
        bend = fma(s, bend, 2.0 * rate)
        rate = fma(s, rate, x)
        x = fma(s, x, c)
    return x, inside * rate, inside * bend


@helper
def call_motion(system, at, t, count):
    """What a function says: so many numbers. One state alone: such runs go one by one."""
    out = start_of(table(system, FOUND))
    settings = shift_pointer(system.numbers, system.codes[at + OFFSET])
    none = Dynamics(system.model.tree, settings, out, out, system.parts, out, out)
    given = system.codes[at + COUNT]
    law = Law(t, out, out, settings, out, out, out, out, 0, count, given, 0, 0, none)
    call_part(system.parts[system.codes[at + INTEGRAL]], law)
    return out


@helper
def motion_at(work, system, at, t):
    """(position, velocity, acceleration) of one coordinate."""
    codes, numbers, i = system.codes, system.numbers, system.codes[at + OFFSET]
    if codes[at + CODE] == STEADY:
        speed = splat(work, 1.0) * parameter(work, numbers, i + 1)
        return fma(speed, t, parameter(work, numbers, i)), speed, splat(work, 0.0)
    if codes[at + CODE] == SINE:
        return sine_motion(work, numbers, i, t)
    if codes[at + CODE] == SPLINE:
        return spline_motion(work, numbers, i, codes[at + COUNT], t)
    out, one = call_motion(system, at, t, 3), splat(work, 1.0)
    return one * out[0], one * out[1], one * out[2]


@helper
def is_of_joint(system, at):
    """Does it move several degrees of freedom at once?"""
    return system.codes[at + CODE] >= STEADY_JOINT


@helper
def driven_dofs(system, at):
    """(first, how many) of the degrees of freedom that a motion drives."""
    first = system.codes[at + FIRST]
    if is_of_joint(system, at):
        return entry(system.model, first, V_START), entry(system.model, first, N_DOF)
    return first, 1


@helper
def coordinate_count(model, k):
    """How many coordinates a joint has: one more than it has velocities, with a quaternion."""
    return entry(model, k, N_DOF) + (1 if has_quaternion(model, k) else 0)


@helper
def along(work, system, at, i, t):
    """(s, ṡ, s̈): t, or a sine whose frequency and phase stand at i."""
    if system.codes[at + CODE] == STEADY_JOINT:
        one = splat(work, 1.0)
        return one * t, one, splat(work, 0.0)
    rate = (2.0 * math.pi) * (splat(work, 1.0) * parameter(work, system.numbers, i))
    s, c = sincos(fma(rate, t, parameter(work, system.numbers, i + 1)))
    return s, rate * c, -(rate * rate * s)


@helper
def scaled_numbers(work, numbers, i, s):
    x, y, z = numbers3(work, numbers, i)
    return s * x, s * y, s * z


@helper
def follow_way(work, system, at, t, state):
    """The same for a joint with a quaternion."""
    model, numbers, k = system.model, system.numbers, system.codes[at + FIRST]
    i, dofs, one = system.codes[at + OFFSET], entry(model, k, N_DOF), splat(work, 1.0)
    in_q, in_v, way = entry(model, k, Q_START), entry(model, k, V_START), i + 1 + dofs
    s, rate, _ = along(work, system, at, way + dofs, t)
    axis = scaled_numbers(work, numbers, i + 1, one)
    turned = one * parameter(work, numbers, i), axis[0], axis[1], axis[2]
    turn = scaled_numbers(work, numbers, way, s)
    if is_free(model, k):
        place = scaled_numbers(work, numbers, i + 4, one)
        slide = scaled_numbers(work, numbers, way + 3, s)
        turned, place = integrate_free(turned, place, turn, slide)
        store_row3(work, state.q, in_q + 4, place)
    else:
        turned = integrate_spherical(turned, turn)
    store_row4(work, state.q, in_q, turned)
    for d in range(dofs):
        store_rows(work, state.y, in_v + d, rate * parameter(work, numbers, way + d))


@helper
def follow_function(work, system, at, t, state):
    """The same as a function says it of all coordinates and velocities."""
    model, k, one = system.model, system.codes[at + FIRST], splat(work, 1.0)
    nq, nv = coordinate_count(model, k), entry(model, k, N_DOF)
    out = call_motion(system, at, t, nq + 2 * nv)
    for i in range(nq):
        store_rows(work, state.q, entry(model, k, Q_START) + i, one * out[i])
    for i in range(nv):
        store_rows(work, state.y, entry(model, k, V_START) + i, one * out[nq + i])


@shared_routine
def follow_motions(work, system, t, state):
    """Put driven joints where they are at time t, with the velocity they have there."""
    for m in range(system.codes[MOTIONS]):
        at = motion_record(system, m)
        if system.codes[at + CODE] == JOINT_FUNCTION:
            follow_function(work, system, at, t, state)
        elif is_of_joint(system, at):
            follow_way(work, system, at, t, state)
        else:
            x, rate, _ = motion_at(work, system, at, t)
            store_rows(work, state.q, system.codes[at + SECOND], x)
            store_rows(work, state.y, system.codes[at + FIRST], rate)
    return OK


@helper
def accelerations_of(work, system, at, t, given):
    """v̇ of the degrees of freedom that a motion drives, to their places."""
    first, dofs = driven_dofs(system, at)
    if system.codes[at + CODE] == JOINT_FUNCTION:
        nq = coordinate_count(system.model, system.codes[at + FIRST])
        out = call_motion(system, at, t, nq + 2 * dofs)
        for d in range(dofs):
            store_rows(work, given, first + d, splat(work, 1.0) * out[nq + dofs + d])
    elif is_of_joint(system, at):
        way = system.codes[at + OFFSET] + 1 + dofs
        _, _, bend = along(work, system, at, way + dofs, t)
        for d in range(dofs):
            store_rows(work, given, first + d, bend * parameter(work, system.numbers, way + d))
    else:
        _, _, acceleration = motion_at(work, system, at, t)
        store_rows(work, given, first, acceleration)
