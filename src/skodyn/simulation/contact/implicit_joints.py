"""Springs, dampers, friction, stops and servos of joints as functions of the velocity at the end of
an implicit step.

Each is an impulse h·T that never rises with v, and S = −h·dT/dv adds to the joint's D like a rotor:

    spring, damper   −h·(k·(q + h·v − rest) + c·v)               S = h·(h·k + c)
    friction         −h·F·v/√(v² + vs²)                          S = h·F·vs²/(v² + vs²)^(3/2)
    stop             h·(k·(depth − h·v) − c·v)₊, c if it is reached at the start
    servo            h·(kp·(target − q − h·v) + kd·(target_velocity − v) + …), cut to ±h·limit

Negative gains are taken from the start of the step.
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.contact.implicit_sweep import STEP, dof_place
from skodyn.kernels.joint_kinds import has_quaternion
from skodyn.kernels.packed_model import body_count, entry, velocity_count
from skodyn.lanes import (
    absolute,
    fma,
    load,
    load_rows,
    parameter,
    select,
    splat,
    sqrt,
    store,
    store_rows,
)
from skodyn.model.contact.implicit_layout import SERVOS, SERVOS_AT
from skodyn.model.layout import N_DOF, V_START
from skodyn.simulation.forces import (
    CODES_RECORD,
    COUNT,
    DAMPING,
    FIRST,
    FRICTION,
    FRICTION_SPEED,
    INTEGRAL,
    LOWER,
    OFFSET,
    PASSIVE,
    PASSIVE_RECORD,
    REST,
    SECOND,
    STIFFNESS,
    STOP_DAMPING,
    STOP_STIFFNESS,
    UPPER,
    positive,
)

__all__ = [
    "advance_joints",
    "are_resisted",
    "keep_pushes",
    "measure_joints",
    "prepare_servos",
    "push_along",
    "retreat_joints",
]

SMALL_SHARE = 1e-4
"""Of slope times speed, what counts as an impulse when residuals are judged: implicit_points.py."""


@helper
def are_resisted(system, implicit):
    """Does any joint have a force that is solved for?"""
    return system.codes[PASSIVE] > 0 or implicit[SERVOS] > 0


@helper
def stop_impulse(work, numbers, at, depth, h, v):
    """(h·T, S) of a stop that v moves away from."""
    k, zero = parameter(work, numbers, at + STOP_STIFFNESS), splat(work, 0.0)
    c = select(depth > 0.0, zero + parameter(work, numbers, at + STOP_DAMPING), zero)
    grade = fma(splat(work, h), k, c)
    force = fma(-grade, v, k * depth)
    pushes = force > 0.0
    return select(pushes, h * force, zero), select(pushes, h * grade, zero)


@helper
def passive_impulse(work, numbers, at, h, q, v, has_position):
    """(h·T, S) of spring, damper, friction and stops."""
    c = parameter(work, numbers, at + DAMPING)
    vs = splat(work, 1.0) * parameter(work, numbers, at + FRICTION_SPEED)
    inverse = 1.0 / sqrt(fma(v, v, vs * vs))
    rub = (h * parameter(work, numbers, at + FRICTION)) * inverse
    push = -(rub * v)
    slope = rub * (vs * inverse) * (vs * inverse)
    if has_position:
        k = parameter(work, numbers, at + STIFFNESS)
        stretch = fma(h, v, q) - parameter(work, numbers, at + REST)
        push = fma(-h, fma(k, stretch, c * v), push)
        slope = fma(splat(work, h), fma(splat(work, h), k, c), slope)
        low = stop_impulse(work, numbers, at, parameter(work, numbers, at + LOWER) - q, h, v)
        high = stop_impulse(work, numbers, at, q - parameter(work, numbers, at + UPPER), h, -v)
        return push + low[0] - high[0], slope + low[1] + high[1]
    return fma(-h, c * v, push), fma(splat(work, h), c, slope)


@helper
def servo_grade(work, numbers, i, h):
    """h·kp + kd of gains that are not negative."""
    one = splat(work, 1.0)
    kp, kd = parameter(work, numbers, i), parameter(work, numbers, i + 1)
    return fma(h, positive(one * kp), positive(one * kd))


@helper
def servo_impulse(work, numbers, i, base, h, v):
    """(h·T, S) of a servo whose numbers begin at i."""
    grade = servo_grade(work, numbers, i, h)
    wanted = fma(-grade, v, base)
    limit = splat(work, 1.0) * parameter(work, numbers, i + 5)
    beyond = absolute(wanted) > limit
    force = select(wanted > limit, limit, select(wanted < -limit, -limit, wanted))
    return h * force, select(beyond, splat(work, 0.0), h * grade)


@helper
def prepare_servos(work, system, implicit, places, state, effects):
    """What does not change in a step: the force while v = 0; and the rates of integrals."""
    nv = velocity_count(system.model)
    for number in range(implicit[SERVOS]):
        at = implicit[SERVOS_AT] + CODES_RECORD * number
        numbers, i, dof = system.numbers, implicit[at + OFFSET], implicit[at + FIRST]
        kd = splat(work, 1.0) * parameter(work, numbers, i + 1)
        error = parameter(work, numbers, i + 3) - load_rows(work, state.q, implicit[at + SECOND])
        base = fma(parameter(work, numbers, i), error, kd * parameter(work, numbers, i + 4))
        base = fma(positive(-kd), load(work, dof_place(places, dof) + STEP.START_SPEED), base)
        if implicit[at + INTEGRAL] >= 0:
            z = nv + implicit[at + INTEGRAL]
            base = fma(parameter(work, numbers, i + 2), load_rows(work, state.y, z), base)
            store_rows(work, effects.rates, z, error)
        if implicit[at + COUNT] > 0:  # gravity compensation
            base = base + load_rows(work, effects.gravity, dof)
        store(work, places.servos + number, base)


@helper
def joint_impulses(work, system, places, h, k, i, v):
    """(h·T, S) of the passive forces of degree of freedom i of joint k."""
    dof = entry(system.model, k, V_START) + i
    q = load(work, dof_place(places, dof) + STEP.COORDINATE)
    one_each = not has_quaternion(system.model, k)
    return passive_impulse(work, system.numbers, PASSIVE_RECORD * dof, h, q, v, one_each)


@helper
def keep_pushes(work, system, implicit, places, h):
    """PUSH and SLOPE where the iteration is."""
    if system.codes[PASSIVE] > 0:
        for k in range(body_count(system.model)):
            for i in range(entry(system.model, k, N_DOF)):
                own = dof_place(places, entry(system.model, k, V_START) + i)
                found = joint_impulses(work, system, places, h, k, i, load(work, own + STEP.SPEED))
                store(work, own + STEP.PUSH, found[0])
                store(work, own + STEP.SLOPE, found[1])
    else:
        for dof in range(velocity_count(system.model)):
            store(work, dof_place(places, dof) + STEP.PUSH, splat(work, 0.0))
            store(work, dof_place(places, dof) + STEP.SLOPE, splat(work, 0.0))
    for number in range(implicit[SERVOS]):
        at = implicit[SERVOS_AT] + CODES_RECORD * number
        own = dof_place(places, implicit[at + FIRST])
        base, v = load(work, places.servos + number), load(work, own + STEP.SPEED)
        found = servo_impulse(work, system.numbers, implicit[at + OFFSET], base, h, v)
        store(work, own + STEP.PUSH, load(work, own + STEP.PUSH) + found[0])
        store(work, own + STEP.SLOPE, load(work, own + STEP.SLOPE) + found[1])


@helper
def push_along(work, system, implicit, places, h, share):
    """Σ h·T·Δ at a share of the way, which began at NEXT_SPEED."""
    total = splat(work, 0.0)
    if system.codes[PASSIVE] > 0:
        for k in range(body_count(system.model)):
            for i in range(entry(system.model, k, N_DOF)):
                own = dof_place(places, entry(system.model, k, V_START) + i)
                v = load(work, own + STEP.NEXT_SPEED)
                way = load(work, own + STEP.SPEED) - v
                found = joint_impulses(work, system, places, h, k, i, fma(share, way, v))
                total = fma(found[0], way, total)
    for number in range(implicit[SERVOS]):
        at = implicit[SERVOS_AT] + CODES_RECORD * number
        own, base = dof_place(places, implicit[at + FIRST]), load(work, places.servos + number)
        v = load(work, own + STEP.NEXT_SPEED)
        way = load(work, own + STEP.SPEED) - v
        i = implicit[at + OFFSET]
        found = servo_impulse(work, system.numbers, i, base, h, fma(share, way, v))
        total = fma(found[0], way, total)
    return total


@helper
def advance_joints(work, system, places, done):
    """Go where Newton's step leads, NEXT_SPEED keeping where one came from; Σ S·Δ²."""
    total = splat(work, 0.0)
    for dof in range(velocity_count(system.model)):
        own = dof_place(places, dof)
        here = load(work, own + STEP.SPEED)
        there = select(done, here, load(work, own + STEP.NEXT_SPEED))
        way, slope = there - here, load(work, own + STEP.SLOPE)
        store(work, own + STEP.EXPECTED_PUSH, fma(-slope, way, load(work, own + STEP.PUSH)))
        store(work, own + STEP.SPEED, there)
        store(work, own + STEP.NEXT_SPEED, here)
        total = fma(slope * way, way, total)
    return total


@helper
def retreat_joints(work, system, places, share, shorter):
    """Go only a share of the way, in the lanes where it is to be shorter."""
    for dof in range(velocity_count(system.model)):
        own = dof_place(places, dof)
        old, there = load(work, own + STEP.NEXT_SPEED), load(work, own + STEP.SPEED)
        store(work, own + STEP.SPEED, select(shorter, fma(share, there - old, old), there))


@helper
def measure_joints(work, system, places, h):
    """(slope of the cost at the end of the way, Σ h·T·Δ there, largest residual over its scale)."""
    zero, one = splat(work, 0.0), splat(work, 1.0)
    slope, along, worst = zero, zero, zero
    for dof in range(velocity_count(system.model)):
        own = dof_place(places, dof)
        push, v = load(work, own + STEP.PUSH), load(work, own + STEP.SPEED)
        off = load(work, own + STEP.EXPECTED_PUSH) - push
        way = v - load(work, own + STEP.NEXT_SPEED)
        slope, along = fma(off, way, slope), fma(push, way, along)
        reach = fma(1.0 / h, absolute(load(work, own + STEP.COORDINATE)), absolute(v))
        size = fma(SMALL_SHARE * load(work, own + STEP.SLOPE), reach, absolute(push))
        ratio = absolute(off) / select(size > 0.0, size, one)
        worst = select(ratio > worst, ratio, worst)
    return slope, along, worst
