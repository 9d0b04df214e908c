"""Implicit Euler for contacts and joints: the new velocity minimises a convex function.

    𝓜(q)·(v⁺ − v) = h·(τ − bias) + h·T(v⁺) + J*γ(v⁺),   q⁺ = q ⊞ h·v⁺

with the impulses γ of contact points (kernels/contact/implicit_law.py) and h·T of springs, dampers,
friction, stops and servos of joints (implicit_joints.py); everything else is taken from the start
of the step. Newton's method with an exact line search finds v⁺ (the lagged form of A. Castro,
X. Han and J. Masterjohn, 2023; convexity after A. Castro, F. Permenter and X. Han, 2022); each
of its steps is one articulated-body sweep (implicit_sweep.py). The limit of friction μN
is that of the start of the step; when v⁺ is found, it is taken anew and v⁺ found once more.
First order; it dissipates, and steps may be long beside the periods of contacts.

Runs side by side iterate until all have converged, those that have are left as they are.
"""

from __future__ import annotations

import numpy as np

from skodyn.jit import call_part, helper
from skodyn.kernels.contact.implicit_law import POINT
from skodyn.kernels.contact.implicit_sweep import STEP, Places, bear_loads, dof_place
from skodyn.kernels.forward_kinematics import scatter_velocities
from skodyn.kernels.joint_kinds import has_quaternion, is_free
from skodyn.kernels.mimics import full_model, has_mimics
from skodyn.kernels.packed_model import armature, body_count, entry, velocity_count
from skodyn.kernels.rows import row3, row4, row6, store_row3
from skodyn.kernels.status import OK
from skodyn.kernels.tuples import load6
from skodyn.kernels.workspace import BODY, body_slot
from skodyn.lanes import Rows, fma, load, load_rows, shift_pointer, splat, store, store_rows
from skodyn.model.contact import contact_layout as its
from skodyn.model.contact.contact_layout import PackedContacts
from skodyn.model.contact.implicit_layout import (
    BRISTLE_INTEGRAL,
    CONTACTS_FROM_CODES,
    EXPLICIT,
    FULL_AT,
    LANES_AT,
    OWN_SWEEP,
    PAIRS,
    PAIRS_AT,
    PUSHED,
    SERVOS,
    TOUCHED_AT,
)
from skodyn.model.keys import SMALL, STEPS
from skodyn.model.layout import N_DOF, Q_START, V_START
from skodyn.registry import register
from skodyn.simulation.contact.implicit_joints import keep_pushes, prepare_servos
from skodyn.simulation.contact.implicit_newton import (
    ACT,
    BEGIN,
    END,
    EXPAND,
    changed_system,
    iterate,
    with_model,
)
from skodyn.simulation.contact.implicit_points import end_points, keep_responses, prepare_points
from skodyn.simulation.control.control_records import CONTROL_RECORD
from skodyn.simulation.element_forces import place_bodies
from skodyn.simulation.fixed_step import fixed_steps
from skodyn.simulation.forces import (
    CONTROLLERS,
    CONTROLLERS_AT,
    ELEMENTS,
    GRAVITY_COMPENSATED,
    MOTIONS,
)
from skodyn.simulation.lane_loop import lane_steps
from skodyn.simulation.lie import move_coordinates
from skodyn.simulation.memory import Sections
from skodyn.simulation.steppers.method import Method, Setting
from skodyn.simulation.structures import GRAVITY_PART, MIDPOINT, Effects, State, table
from skodyn.simulation.systems.system import (
    F_EXT,
    FULL_Q,
    FULL_RATES,
    FULL_TAU,
    FULL_Y,
    GRAVITY,
    SYSTEM_MEMORY,
    TAU,
    apply_forces,
    close,
    control,
)
from skodyn.spatial.linear3 import add_scaled, cross, multiply_vector, multiply_vector_transposed
from skodyn.spatial.motion import dot_spatial
from skodyn.spatial.rotations import quaternion_matrix

MEMORY = Sections(
    SYSTEM_MEMORY,
    RATES=(1, "y", "rates of integrals"),
    FULL_END=(1, "mimic y", "velocities of every joint at the end, and integrals"),
)
RATES, FULL_END = MEMORY.indices

# ---- where things are ---------------------------------------------------------------------------


@helper
def implicit_codes(system):
    """Behind the codes of all forces."""
    codes = system.codes
    return shift_pointer(codes, codes[CONTROLLERS_AT] + CONTROL_RECORD * codes[CONTROLLERS])


@helper
def explicit_system(system, implicit):
    """The system with those forces alone that are not solved for."""
    return changed_system(system, system.model, shift_pointer(implicit, implicit[EXPLICIT]))


@helper
def of_every_joint(work, system, t, h, state, new):
    """(system, state, end) with a coordinate for every joint; without mimic joints those given."""
    inner = with_model(system, full_model(system.model))
    if not has_mimics(system.model):
        return inner, state, new
    call_part(system.parts[MIDPOINT], work, system, t, h, state, EXPAND)
    every = State(table(system, FULL_Q), table(system, FULL_Y))
    return inner, every, State(new.q, table(system, FULL_END))


@helper
def places_of(system, implicit):
    """Records of every joint."""
    model = full_model(system.model)
    dofs = implicit[LANES_AT]
    loads = dofs + STEP.size * velocity_count(model)
    servos = loads + 6 * body_count(model)
    points = servos + implicit[SERVOS]
    first = implicit[CONTACTS_FROM_CODES]
    contacts = PackedContacts(shift_pointer(system.codes, first), system.numbers)
    count = contacts.codes[its.POINTS] if first > 0 else 0
    return Places(
        dofs,
        loads,
        servos,
        points if first > 0 else -1,
        contacts,
        shift_pointer(implicit, implicit[TOUCHED_AT]),
        shift_pointer(implicit, implicit[PAIRS_AT]),
        implicit[PAIRS],
        points + POINT.size * count,
        table(system, TAU),
        table(system, FULL_RATES if implicit[FULL_AT] > 0 else RATES),
        system.model,
    )


def lanes_of(n_bodies: int, nv: int, servos: int, points: int, columns: int) -> int:
    """How many lanes `places_of` lays out behind those of the recursions.

    columns: of the points between two bodies (implicit_pairs.py).
    """
    joints = STEP.size * nv + 6 * n_bodies + servos
    return joints + POINT.size * points + (columns + 1) * columns


# ---- the start of a step ------------------------------------------------------------------------


@helper
def act_explicitly(work, system, implicit, t, state, every, effects):
    """Forces that are not solved for; bodies are placed."""
    if system.codes[GRAVITY_COMPENSATED] > 0:
        call_part(system.parts[GRAVITY_PART], work, system, every.q, effects.gravity)
    explicit = explicit_system(system, implicit)
    placed = apply_forces(work, explicit, t, every, effects)
    if not has_mimics(system.model):
        control(work, system, t, state, effects.rates, effects.tau)
    elif system.codes[CONTROLLERS] > 0:
        call_part(system.parts[MIDPOINT], work, system, t, 0.0, state, ACT)
    if explicit.codes[ELEMENTS] == 0:
        placed = place_bodies(work, full_model(system.model), every, effects.f_ext)
    return placed


@helper
def prepare_joints(work, model, places, state, tau, h):
    """Velocities and impulses of all degrees of freedom."""
    for k in range(body_count(model)):
        one_each = not has_quaternion(model, k)
        for i in range(entry(model, k, N_DOF)):
            dof = entry(model, k, V_START) + i
            own = dof_place(places, dof)
            v = load_rows(work, state.y, dof)
            q = load_rows(work, state.q, entry(model, k, Q_START) + i) if one_each else 0.0 * v
            store(work, own + STEP.COORDINATE, q)
            store(work, own + STEP.START_SPEED, v)
            store(work, own + STEP.SPEED, v)
            store(work, own + STEP.GIVEN, h * load_rows(work, tau, dof))
        if is_free(model, k):
            turn_rotors(work, model, places, entry(model, k, V_START), state.y, h)


@helper
def turn_rotors(work, model, places, first, y, h):
    """Rotors of a free joint turn with its axes, its velocities do not: slide_straight."""
    along = cross(row3(work, y, first), row3(work, y, first + 3))
    for i in range(3):
        own = dof_place(places, first + 3 + i)
        x = along[0] if i == 0 else along[1] if i == 1 else along[2]
        rotor = h * armature(work, model, first + 3 + i)
        store(work, own + STEP.GIVEN, fma(rotor, x, load(work, own + STEP.GIVEN)))


# ---- the end of a step --------------------------------------------------------------------------


@helper
def work_of_joints(work, system, places, y):
    """Work of all generalised forces, at the velocities of the end, which are written to y."""
    total = splat(work, 0.0)
    for dof in range(velocity_count(system.model)):
        own = dof_place(places, dof)
        v = load(work, own + STEP.SPEED)
        store_rows(work, y, dof, v)
        total = fma(load(work, own + STEP.GIVEN) + load(work, own + STEP.PUSH), v, total)
    return total


@helper
def work_on_bodies(work, system, h, y, f_ext):
    """Work of what else pushes bodies, at the velocities of the end."""
    total = splat(work, 0.0)
    scatter_velocities(work, system.model, y)
    for k in range(body_count(system.model)):
        motion = load6(work, body_slot(k) + BODY.MOTION)
        total = total + dot_spatial(row6(work, f_ext, 6 * k), motion)
    return h * total


@helper
def finish(work, system, implicit, places, h, state, new):
    """Velocities, bristles and integrals of the end."""
    nv, ny, rates = velocity_count(system.model), state.y.stride, places.changes
    done = work_of_joints(work, system, places, new.y)
    if implicit[PUSHED] > 0:
        done = done + work_on_bodies(work, system, h, new.y, table(system, F_EXT))
    first = nv + implicit[BRISTLE_INTEGRAL]
    for i in range(nv, first):
        rate = load_rows(work, rates, i)
        store_rows(work, new.y, i, fma(h, rate, load_rows(work, state.y, i)))
    if implicit[CONTACTS_FROM_CODES] > 0:
        bristles = Rows(new.y.data, new.y.first + first, new.y.stride)
        pushed, lost = end_points(work, places, bristles, h)
        at = first + places.contacts.codes[its.BRISTLES]
        store_rows(work, new.y, at, load_rows(work, state.y, at) + pushed)
        store_rows(work, new.y, at + 1, load_rows(work, state.y, at + 1) + lost)
        done = done + pushed
    store_rows(work, new.y, ny - 1, load_rows(work, state.y, ny - 1) + done)


@helper
def slide_straight(work, model, h, state, new):
    """Let free joints slide straight on, and turn their velocities into the axes of the end.

    The gap of a round body changes then by h·vn exactly, and no kinetic energy comes from axes that
    turn.
    """
    for k in range(body_count(model)):
        if is_free(model, k):
            i, j = entry(model, k, Q_START), entry(model, k, V_START) + 3
            way = multiply_vector(quaternion_matrix(row4(work, state.q, i)), row3(work, new.y, j))
            end = quaternion_matrix(row4(work, new.q, i))
            place = add_scaled(row3(work, state.q, i + 4), h * splat(work, 1.0), way)
            store_row3(work, new.q, i + 4, place)
            store_row3(work, new.y, j, multiply_vector_transposed(end, way))


@helper
def find_end(work, system, implicit, places, dt, state, new):
    """Velocities and integrals of the end, where all that does not change is prepared."""
    keep_pushes(work, system, implicit, places, dt)
    keep_responses(work, places, dt)
    status = iterate(work, system, implicit, places, dt, state)
    if status == OK:
        finish(work, system, implicit, places, dt, state, new)
    return status


@helper
def prepare(work, system, implicit, places, dt, state, effects):
    """What does not change in a step, of joints, servos, points and bodies."""
    model = system.model
    prepare_joints(work, model, places, state, effects.tau, dt)
    prepare_servos(work, system, implicit, places, state, effects)
    first = velocity_count(model) + implicit[BRISTLE_INTEGRAL]
    bristles = Rows(state.y.data, state.y.first + first, state.y.stride)
    prepare_points(work, model, places, bristles, dt)
    bear_loads(work, model, places, state.y, effects.f_ext, dt)


@helper
def step(work, system, t, dt, state, new):
    """The state at t + dt."""
    model, implicit = system.model, implicit_codes(system)
    inner, every, end = of_every_joint(work, system, t, dt, state, new)
    places = places_of(system, implicit)
    tau = table(system, FULL_TAU if implicit[FULL_AT] > 0 else TAU)
    effects = Effects(tau, places.changes, table(system, GRAVITY), table(system, F_EXT))
    status = act_explicitly(work, system, implicit, t, state, every, effects)
    if status != OK:
        return status
    prepare(work, inner, implicit, places, dt, every, effects)
    if implicit[OWN_SWEEP] > 0:
        status = call_part(system.parts[MIDPOINT], work, system, t, dt, state, BEGIN)
    if status == OK:
        status = find_end(work, inner, implicit, places, dt, every, end)
    if status != OK:
        return status
    if implicit[FULL_AT] > 0 or system.codes[MOTIONS] > 0:
        call_part(system.parts[MIDPOINT], work, system, t, dt, new, END)
    move_coordinates(work, model, state.q, new.y, dt, new.q)
    slide_straight(work, model, dt, state, new)
    return close(work, system, t + dt, new)


METHOD = register(
    Method(
        "implicit_contact",
        MEMORY,
        fixed_steps("implicit_contact_run", step),
        lane_steps("implicit_contact_sweep", step),
        numbers=lambda settings: np.array([settings.tolerance, settings.iterations, 2.0]),
        settings=(
            Setting("tolerance", 1e-8, SMALL, "of the implicit equations"),
            Setting("iterations", 50, STEPS, "of Newton's method in a step, at most"),
        ),
        solves_contacts=True,
    )
)
