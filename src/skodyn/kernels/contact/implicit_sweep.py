"""One Newton step of an implicit step, by a single articulated-body sweep.

For contacts with the ground J = B*φ*H*, so contact stiffness is inertia of the body it touches, and
what resists in a joint is a rotor's inertia:

    𝓜 + S + J*GJ = Hφ(M + BGB*)φ*H* + S

One gather for the articulated inertias P, the pivots D + S and the residuals ε, one scatter for the
change of velocity: Jain 2011-II Algorithm 6.1 with other numbers, O(N) whatever the contacts. Loads
of bodies are impulses: bias forces, gravity and what pushes from outside, times the step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import Record, helper, shared_routine
from skodyn.kernels.aba_passes import backsubstitute_dof, pass_force_inward, passed_force
from skodyn.kernels.articulated_inertia import (
    SINGULAR_PIVOT,
    gathered_inertia,
    joint_trouble,
    pass_inertia_inward,
    project_column,
)
from skodyn.kernels.contact.contact_geometry import choose3
from skodyn.kernels.contact.implicit_law import POINT, is_stiff, stiffness_of
from skodyn.kernels.forward_dynamics import add_outer_force
from skodyn.kernels.joint_kinds import is_free
from skodyn.kernels.joint_motion import joint_column, relative_velocity, zero3
from skodyn.kernels.kinematics import body_inertia, ground_acceleration
from skodyn.kernels.packed_model import armature, body_count, entry
from skodyn.kernels.status import NOT_FINITE, OK, failure
from skodyn.kernels.tuples import all_finite, load3, load6, load_matrix, store6
from skodyn.kernels.workspace import BODY, DOF, body_slot, dof_slot
from skodyn.lanes import all_lanes, any_lane, fma, load, select, splat, store
from skodyn.model.contact import contact_layout as its
from skodyn.model.contact.implicit_layout import PAIR, SECOND_SIDE, TOUCH_CODES
from skodyn.model.layout import N_DOF, PARENT, V_START
from skodyn.spatial.articulated import (
    add_articulated,
    apply_articulated,
    shift_articulated,
    subtract_rank_one,
)
from skodyn.spatial.inertia import apply_inertia
from skodyn.spatial.linear3 import cross, negate, subtract
from skodyn.spatial.motion import (
    add_scaled_spatial,
    add_spatial,
    dot_spatial,
    shift_force,
    shift_motion,
    subtract_spatial,
)

STEP = Record(
    "degree of freedom of an implicit step",
    COORDINATE=(1, "q at the start, of joints that have one for each"),
    START_SPEED=(1, "v at the start"),
    SPEED=(1, "v where the iteration is"),
    NEXT_SPEED=(1, "and where it goes"),
    GIVEN=(1, "h·τ of what is not solved for"),
    PUSH=(1, "h·T of springs, dampers, friction, stops, servos"),
    SLOPE=(1, "S, by which it falls with v"),
    EXPECTED_PUSH=(1, "what Newton's step expects of it"),
)


class Places(NamedTuple):
    """Where an implicit step keeps what, in lanes of the workspace; and who touches whom."""

    dofs: Any
    loads: Any
    servos: Any
    points: Any
    contacts: Any  # packed
    touched: Any  # starts, one per body and one more, then codes: implicit_layout.py
    pairs: Any  # numbers of points between two bodies
    n_pairs: Any
    matrix: Any  # where lanes for them begin
    impulses: Any  # rows that are free while Newton's method runs: one number for each velocity
    changes: Any  # likewise; behind them, rates of integrals
    outer: Any  # the model as the state has it, where joints follow others


@helper
def point_record(p):
    """Where the integers of contact point p are."""
    return its.CONTACT_HEADER + its.CONTACT_RECORD * p


@helper
def point_slot(places, p):
    """Record of contact point p."""
    return places.points + POINT.size * p


@helper
def dof_place(places, dof):
    """Record of a degree of freedom."""
    return places.dofs + STEP.size * dof


@helper
def bear_loads(work, model, places, v, f_ext, h):
    """LOAD(k) = −h·(M·α₀ + b − f) of every body, α₀ being accelerations while v̇ = 0.

    Velocities of free joints are those along the axes of the start of the step, which stay: no
    term for axes that turn.
    """
    h = h * splat(work, 1.0)
    store6(work, BODY.MOTION, ground_acceleration(work, model))
    for k in range(body_count(model)):
        slot = body_slot(k)
        inner = load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION)
        alpha = shift_motion(load3(work, slot + BODY.ARM), inner)
        alpha = add_spatial(alpha, load6(work, slot + BODY.CORIOLIS))
        r = load_matrix(work, slot + BODY.ROTATION)
        if is_free(model, k):
            spin, slide, _, _ = relative_velocity(work, model, k, r, v)
            alpha = alpha[0], subtract(alpha[1], cross(spin, slide))
        store6(work, slot + BODY.MOTION, alpha)
        inertia = body_inertia(work, model, k, r)
        f = add_outer_force(work, k, apply_inertia(inertia, alpha), inertia, f_ext)
        store6(work, places.loads + 6 * k, add_scaled_spatial(_nothing(work), -h, f))


@helper
def _nothing(work):
    zero = zero3(work)
    return zero, zero


@helper
def choose6(mask, a, b):
    return choose3(mask, a[0], b[0]), choose3(mask, a[1], b[1])


@helper
def choose_sym(mask, a, b):
    return (
        select(mask, a[0], b[0]), select(mask, a[1], b[1]), select(mask, a[2], b[2]),
        select(mask, a[3], b[3]), select(mask, a[4], b[4]), select(mask, a[5], b[5]),
    )  # fmt: skip


@helper
def choose_articulated(mask, p, q):
    b, c = p[1], q[1]
    middle = (
        select(mask, b[0], c[0]), select(mask, b[1], c[1]), select(mask, b[2], c[2]),
        select(mask, b[3], c[3]), select(mask, b[4], c[4]), select(mask, b[5], c[5]),
        select(mask, b[6], c[6]), select(mask, b[7], c[7]), select(mask, b[8], c[8]),
    )  # fmt: skip
    return choose_sym(mask, p[0], q[0]), middle, choose_sym(mask, p[2], q[2])


@helper
def point_of(code):
    return code // TOUCH_CODES


@helper
def side_of(code):
    return code % 2


@helper
def is_pair(code):
    return (code // PAIR) % 2 == 1


@helper
def is_second(code):
    return (code // SECOND_SIDE) % 2 == 1


@helper
def bear_point(work, places, code, big_p, f):
    """P + BGB* and f − B(γ + G·(v − v₀)) of a point that touches the body.

    Lanes in which it resists nothing are left alone, to the sign of a zero. What points between two
    bodies add to P is left to implicit_pairs.py.
    """
    p, side = point_of(code), side_of(code)
    slot, at = point_slot(places, p), point_record(p)
    stiff = is_stiff(work, slot)
    if not any_lane(stiff):
        return big_p, f
    g = stiffness_of(work, places.contacts, at, slot)
    way = subtract_spatial(load6(work, slot + POINT.MOTION), load6(work, slot + POINT.START))
    pushed = add_spatial(load6(work, slot + POINT.IMPULSE), apply_articulated(g, way))
    if side == 1:
        pushed = negate(pushed[0]), negate(pushed[1])
    arm = load3(work, slot + POINT.ARMS + 3 * side)
    less = choose6(stiff, subtract_spatial(f, shift_force(arm, pushed)), f)
    if is_pair(code):
        return big_p, less
    more = add_articulated(big_p, shift_articulated(g, arm))
    return choose_articulated(stiff, more, big_p), less


@helper
def project_resisted(work, model, places, k, r, big_p, z):
    """(P⁺, z⁺, sound): every degree of freedom of joint k yields, against S besides."""
    n, sound = body_count(model), True
    for back in range(entry(model, k, N_DOF)):
        i = entry(model, k, N_DOF) - 1 - back
        dof = entry(model, k, V_START) + i
        own, record = dof_place(places, dof), dof_slot(n, dof)
        h = joint_column(work, model, k, i, r)
        u, d, size = project_column(big_p, h)
        d = d + armature(work, model, dof)
        sound = sound and all_lanes(d > SINGULAR_PIVOT * size)
        slope = load(work, own + STEP.SLOPE)
        pivot = 1.0 / (d + slope)
        rhs = load(work, own + STEP.GIVEN) + load(work, own + STEP.PUSH)
        rhs = fma(slope, load(work, own + STEP.SPEED) - load(work, own + STEP.START_SPEED), rhs)
        epsilon = rhs - dot_spatial(h, z)
        store6(work, record + DOF.GAIN, u)
        store(work, record + DOF.PIVOT, pivot)
        store(work, record + DOF.RESIDUE, epsilon)
        big_p = subtract_rank_one(big_p, u, pivot)
        z = add_scaled_spatial(z, epsilon * pivot, u)
    return big_p, z, sound


@helper
def change_of_dof(work, model, places, k, i, change):
    """The change of a velocity."""
    return backsubstitute_dof(work, model, k, i, change)


@shared_routine
def gather_impulses(yields, work, model, places):
    """Tips to base: P, z, and per degree of freedom u, 1/d and ε.

    yields: `project_resisted`, or one that knows driven joints (implicit_drives.py).
    """
    n, status = body_count(model), OK
    for back in range(n):
        k = n - 1 - back
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        big_p = gathered_inertia(work, model, k, body_inertia(work, model, k, r))
        f = subtract_spatial(passed_force(work, model, k), load6(work, places.loads + 6 * k))
        for i in range(places.touched[k], places.touched[k + 1]):
            code = places.touched[n + 1 + i]
            big_p, f = bear_point(work, places, code, big_p, f)
        p_plus, z_plus, sound = yields(work, model, places, k, r, big_p, f)
        pass_inertia_inward(work, model, k, p_plus, False)
        pass_force_inward(work, model, k, z_plus, False)
        if status == OK and not sound:
            status = joint_trouble(work, model, k)
    return status


@helper
def scatter_changes(answers, work, model, places):
    """Base to tips: the next v of joints and points, and v − v₀ of bodies into MOTION.

    answers: how a velocity changes, with the parent's change.
    """
    status = OK
    store6(work, BODY.MOTION, _nothing(work))
    n = body_count(model)
    for k in range(n):
        slot = body_slot(k)
        r = load_matrix(work, slot + BODY.ROTATION)
        inner = load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION)
        change = shift_motion(load3(work, slot + BODY.ARM), inner)
        for i in range(entry(model, k, N_DOF)):
            x = answers(work, model, places, k, i, change)
            own = dof_place(places, entry(model, k, V_START) + i)
            store(work, own + STEP.NEXT_SPEED, load(work, own + STEP.START_SPEED) + x)
            if status == OK and not all_finite(x):
                status = failure(NOT_FINITE, k)
            change = add_scaled_spatial(change, x, joint_column(work, model, k, i, r))
        store6(work, slot + BODY.MOTION, change)
        for i in range(places.touched[k], places.touched[k + 1]):
            code = places.touched[n + 1 + i]
            move_point(work, places, code, change)
    return status


@helper
def move_point(work, places, code, change):
    """NEXT of a point; of one between two bodies, what the body adds to it."""
    slot, side = point_slot(places, point_of(code)), side_of(code)
    moved = shift_motion(load3(work, slot + POINT.ARMS + 3 * side), change)
    if side == 1:
        moved = negate(moved[0]), negate(moved[1])
    before = load6(work, slot + (POINT.NEXT if is_second(code) else POINT.START))
    store6(work, slot + POINT.NEXT, add_spatial(before, moved))


@helper
def kinetic_slope(work, model, places):
    """Δ*𝓜Δ of Δ = NEXT_SPEED − SPEED, body by body; the places of a(k) are free by now."""
    total = splat(work, 0.0)
    store6(work, BODY.CORIOLIS, _nothing(work))
    for k in range(body_count(model)):
        slot = body_slot(k)
        r = load_matrix(work, slot + BODY.ROTATION)
        inner = load6(work, body_slot(entry(model, k, PARENT)) + BODY.CORIOLIS)
        change = shift_motion(load3(work, slot + BODY.ARM), inner)
        for i in range(entry(model, k, N_DOF)):
            dof = entry(model, k, V_START) + i
            own = dof_place(places, dof)
            x = load(work, own + STEP.NEXT_SPEED) - load(work, own + STEP.SPEED)
            total = fma(armature(work, model, dof) * x, x, total)
            change = add_scaled_spatial(change, x, joint_column(work, model, k, i, r))
        store6(work, slot + BODY.CORIOLIS, change)
        total = total + dot_spatial(change, apply_inertia(body_inertia(work, model, k, r), change))
    return total
