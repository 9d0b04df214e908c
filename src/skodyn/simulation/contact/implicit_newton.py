"""Newton's method of an implicit step, with an exact line search; lanes that are done stay.

The cost along a step is a scalar function of contacts and joints, so a line search needs no sweep.
"""

from __future__ import annotations

from skodyn.jit import call_part, helper, routine
from skodyn.kernels.contact.implicit_pairs import backsubstitute_in_tree, correct_for_pairs
from skodyn.kernels.contact.implicit_sweep import (
    change_of_dof,
    gather_impulses,
    kinetic_slope,
    project_resisted,
    scatter_changes,
)
from skodyn.kernels.packed_model import body_count
from skodyn.kernels.status import NOT_CONVERGED, OK
from skodyn.kernels.tuples import load6
from skodyn.lanes import absolute, all_lanes, any_lane, fma, select, splat
from skodyn.model.contact.implicit_layout import OWN_SWEEP
from skodyn.simulation.contact.implicit_joints import (
    advance_joints,
    are_resisted,
    keep_pushes,
    measure_joints,
    push_along,
    retreat_joints,
)
from skodyn.simulation.contact.implicit_points import (
    advance_points,
    impulses_along,
    keep_responses,
    largest,
    largest3,
    measure_points,
    renew_limits,
    retreat_points,
)
from skodyn.simulation.structures import MIDPOINT, System

__all__ = [
    "ACT",
    "BEGIN",
    "END",
    "EXPAND",
    "ITERATIONS",
    "PASSES",
    "SWEEP",
    "TOLERANCE",
    "changed_system",
    "iterate",
    "with_model",
]

BEGIN, SWEEP, END, EXPAND, ACT = range(5)
"""What is asked of Newton's steps where they are a part of their own: steppers/implicit_looped.py,
implicit_driven.py, implicit_coupled.py."""

# of `method`
TOLERANCE, ITERATIONS, PASSES = range(3)
OVERSHOOT = 0.1
"""A step that climbs again by less than this share of what it should have gone down is taken."""
LINE_TOLERANCE, LINE_STEPS = 1e-4, 40
STAGNANT = 1e-6
"""Residuals this small that do not fall any more are rounding."""


@helper
def touched_weight(work, model, places):
    """The largest load of a body that a contact may touch."""
    weight = splat(work, 0.0)
    for k in range(body_count(model)):
        if places.touched[k + 1] > places.touched[k]:
            weight = largest(weight, largest3(load6(work, places.loads + 6 * k)[1]))
    return weight


@routine
def respond_all(work, system, implicit, places, h):
    """Impulses and slopes where the iteration is."""
    keep_responses(work, places, h)
    if are_resisted(system, implicit):
        keep_pushes(work, system, implicit, places, h)


@helper
def measure(work, system, implicit, places, h, weight):
    """(slope of the cost at the end of the way, Σ impulses·Δ there, largest residual)."""
    points = measure_points(work, places, weight)
    if not are_resisted(system, implicit):
        return points
    joints = measure_joints(work, system, places, h)
    return joints[0] + points[0], joints[1] + points[1], largest(joints[2], points[2])


@helper
def line_search(work, system, implicit, places, h, end, along, shorter):
    """The share of the way at which the cost is least, where it is to be shorter; else 1.

    end: the slope at the end of the way; along: Σ impulses·Δ there. By the rule of Illinois.
    """
    zero, one = splat(work, 0.0), splat(work, 1.0)
    inertia = kinetic_slope(work, system.model, places)
    first = slope_at(work, system, implicit, places, h, zero, (end, along, inertia))
    searches = select(shorter & (first < 0.0), one, zero)
    low, high, at_low, at_high, last, share = zero, one, first, end, zero, one
    for _ in range(LINE_STEPS):
        moving = searches > 0.5
        span = select(moving, at_high - at_low, one)
        share = select(moving, (low * at_high - high * at_low) / span, share)
        value = slope_at(work, system, implicit, places, h, share, (end, along, inertia))
        below, above = moving & (value < 0.0), moving & (value >= 0.0)
        # an end that stays twice counts half
        at_high = select(above, value, select(below & (last < 0.0), 0.5 * at_high, at_high))
        at_low = select(below, value, select(above & (last > 0.0), 0.5 * at_low, at_low))
        low, high = select(below, share, low), select(above, share, high)
        last = select(below, -one, select(above, one, last))
        near = absolute(value) <= LINE_TOLERANCE * absolute(first)
        searches = select(near, zero, searches)
        if not any_lane(searches > 0.5):
            break
    return share


@helper
def slope_at(work, system, implicit, places, h, share, known):
    """Slope of the cost at a share of the way; known: its end, Σ impulses·Δ there, Δ*𝓜Δ."""
    found = impulses_along(work, places, h, share)
    found = found + push_along(work, system, implicit, places, h, share)
    return fma(share - 1.0, known[2], known[0]) + (known[1] - found)


@helper
def with_model(system, model):
    """The system with another model."""
    return changed_system(system, model, system.codes)


@helper
def changed_system(system, model, codes):
    """The system with this model and these codes of forces."""
    return System(
        model,
        codes,
        system.numbers,
        system.method,
        system.parts,
        system.memory,
        system.places,
        system.plain_parameters,
        system.plain_numbers,
        system.first_run,
    )


@helper
def sweep(work, system, implicit, places, h, state):
    """Where Newton's step leads, into NEXT_SPEED and NEXT of points."""
    if implicit[OWN_SWEEP] > 0:
        outer = with_model(system, places.outer)
        return call_part(system.parts[MIDPOINT], work, outer, 0.0, h, state, SWEEP)
    first = gather_impulses(project_resisted, work, system.model, places)
    second = scatter_changes(change_of_dof, work, system.model, places)
    if first == OK and second == OK and places.n_pairs > 0:
        correct_for_pairs(backsubstitute_in_tree, work, system.model, places)
    return first if first != OK else second


@helper
def descend(work, system, implicit, places, h, state, known):
    """Newton's step, then as far as the cost falls; (status, whole, largest residual).

    known: which lanes are done, an impulse to compare with, and whether it is the first step. Where
    loops or motions must hold, that one is taken whole: it leads among velocities that keep them.
    """
    done, weight, first = known
    status = sweep(work, system, implicit, places, h, state)
    if status != OK:
        return status, done, weight
    bound = advance_points(work, places, done) + advance_joints(work, system, places, done)
    respond_all(work, system, implicit, places, h)
    slope, along, worst = measure(work, system, implicit, places, h, weight)
    shorter = (slope > OVERSHOOT * bound) & (worst > system.method[TOLERANCE])
    whole = splat(work, 1.0)
    if any_lane(shorter) and not (first and implicit[OWN_SWEEP] > 0):
        share = line_search(work, system, implicit, places, h, slope, along, shorter)
        shorter = share < 1.0
        retreat_points(work, places, share, shorter)
        retreat_joints(work, system, places, share, shorter)
        respond_all(work, system, implicit, places, h)
        whole = select(shorter, splat(work, 0.0), whole)
    return OK, whole > 0.5, worst


@helper
def renew(work, system, implicit, places, h, found, weight):
    """Take F anew in the lanes where v⁺ is found; the largest residual with it."""
    renew_limits(work, places, h, found)
    keep_responses(work, places, h)
    return measure(work, system, implicit, places, h, weight)[2]


@helper
def iterate(work, system, implicit, places, h, state):
    """v⁺ of every degree of freedom, into SPEED."""
    tolerance, passes = system.method[TOLERANCE], system.method[PASSES]
    zero, one = splat(work, 0.0), splat(work, 1.0)
    weight = touched_weight(work, system.model, places)
    done, passed, before = zero, zero, splat(work, float("inf"))
    for number in range(2 * int(system.method[ITERATIONS])):
        known = done > 0.5, weight, number == 0
        status, whole, worst = descend(work, system, implicit, places, h, state, known)
        if status != OK:
            return status
        stuck = (worst >= before) & (worst <= STAGNANT)
        found = whole & ((worst <= tolerance) | stuck) & (done < 0.5)
        before = select(whole, worst, splat(work, float("inf")))
        if any_lane(found):
            passed = select(found, passed + one, passed)
            again = found & (passed < passes)
            if any_lane(again):
                rest = renew(work, system, implicit, places, h, again, weight)
                again = again & (rest > tolerance)
            done = select(found, select(again, zero, one), done)
            before = select(found, splat(work, float("inf")), before)
            if all_lanes(done > 0.5):
                return OK
    return NOT_CONVERGED
