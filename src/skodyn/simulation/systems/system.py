"""The right-hand side of the equations of motion: forces, then forward dynamics.

A state is q (nq) and y = [v; z] (ny), where z are integrals: those of controllers, and last the
work that all forces but gravity have done, so that energy can be balanced. Tables hold one row per
lane.

What few models need is not written here but called by its address (parts.py): mimic joints and
loops, which have right-hand sides of their own, servos and other elements, the Fixman force.
"""

from __future__ import annotations

from skodyn.jit import call_part, helper
from skodyn.kernels.forward_dynamics import (
    accelerate_placed,
    gather_residuals,
    scatter_accelerations,
)
from skodyn.kernels.kinematics import scatter_rates, scatter_rates_inlined
from skodyn.kernels.loops.loop_table import has_loops
from skodyn.kernels.mimics import has_mimics
from skodyn.kernels.packed_model import body_count, velocity_count
from skodyn.kernels.rows import row6
from skodyn.kernels.status import OK, first_trouble
from skodyn.kernels.tuples import load6
from skodyn.kernels.workspace import BODY, body_slot
from skodyn.lanes import Rows, fma, load_rows, splat, store_rows
from skodyn.simulation.forces import (
    CONTACTS_ALONE,
    CONTROLLERS,
    ELEMENTS,
    FIXMAN,
    MOTIONS,
    ON_BODIES,
    PASSIVE,
    SAMPLED,
    passive_torques,
)
from skodyn.simulation.memory import Sections
from skodyn.simulation.steppers.tables import clear
from skodyn.simulation.structures import (
    CLOSING,
    CONTROLLING,
    COUPLED,
    DRIVEN,
    DRIVEN_COUPLED,
    ELEMENTS_PART,
    FIXMAN_PART,
    FOLLOWING,
    LOOPED,
    SAMPLING,
    TOUCHING,
    Effects,
    size_of,
    start_of,
    table,
)
from skodyn.spatial.motion import dot_spatial

CLOSE, NEWTON = range(2)
"""What is asked of the part that closes loops: looped_system.py."""

SYSTEM_MEMORY = Sections(
    TAU=(1, "v", "generalised forces"),
    GRAVITY=(1, "full v", "torques that hold the system against gravity"),
    F_EXT=(1, "forces", "external forces on bodies"),
    FULL_Q=(1, "mimic q", "coordinates of every joint, where some are mimics"),
    FULL_Y=(1, "mimic y", "velocities of every joint, and integrals"),
    FULL_TAU=(1, "mimic v", "forces on every joint"),
    FULL_RATES=(1, "mimic y", "rates of FULL_Y"),
    LOOPS_READY=(1, "one", "1 while loops are factored that a state may need once more"),
    DRIVEN_Q=(1, "driven q", "coordinates with driven joints where they are"),
    DRIVEN_Y=(1, "driven y", "velocities with theirs, and integrals"),
    GIVEN=(1, "driven v", "v̇ of driven joints, forces of the others"),
    FOUND=(1, "driven pair", "v̇ and forces of all joints"),
    DRIVE=(1, "driven v", "what drives add to the forces"),
    CONTROL=(1, "control", "what a controller says, and its workspace: control_records.py"),
    MORE=(1, "more", "rows of every joint for the dynamics that it asks for"),
)
TAU, GRAVITY, F_EXT, FULL_Q, FULL_Y, FULL_TAU, FULL_RATES, LOOPS_READY = SYSTEM_MEMORY.indices[:8]
DRIVEN_Q, DRIVEN_Y, GIVEN, FOUND, DRIVE, CONTROL, MORE = SYSTEM_MEMORY.indices[8:]


@helper
def forces_on_bodies(system):
    """External forces; rows that are not given if no element acts on a body."""
    rows = table(system, F_EXT)
    return Rows(rows.data, rows.first, rows.stride if system.codes[ON_BODIES] > 0 else 0)


@helper
def apply_forces(work, system, t, state, effects):
    """Everything but the controller; the state and the effects are those of every joint.

    The status is that of placing the bodies, where elements need them placed.
    """
    if system.codes[PASSIVE] > 0:
        passive_torques(work, system, state, effects.tau)
    else:
        clear(size_of(work, effects.tau), start_of(effects.tau))
    if system.codes[FIXMAN] > 0:  # forward dynamics sees what fails
        call_part(system.parts[FIXMAN_PART], work, system, state.q, effects.tau)
    if system.codes[ELEMENTS] > 0:
        return call_part(system.parts[ELEMENTS_PART], work, system, t, state, effects)
    return OK


@helper
def control(work, system, t, state, rates, tau):
    """Let controllers add their torques, and say the rates of their integrals."""
    if system.codes[CONTROLLERS] > 0:
        call_part(system.parts[CONTROLLING], work, system, t, state, rates, tau)


@helper
def power(work, model, y, tau, f_ext):
    """Power of the generalised forces and of the forces on bodies (their V is in MOTION)."""
    total = splat(work, 0.0)
    for i in range(velocity_count(model)):
        total = fma(load_rows(work, y, i), load_rows(work, tau, i), total)
    if f_ext.stride > 0:
        for k in range(body_count(model)):
            force = row6(work, f_ext, 6 * k)
            total = total + dot_spatial(force, load6(work, body_slot(k) + BODY.MOTION))
    return total


@helper
def accelerate(work, model, state, tau, f_ext, rates):
    """v̇ of a tree: Algorithm 6.1. Where elements push bodies, these have been placed before.

    Inlined, for steps of plain trees.
    """
    first = OK if f_ext.stride > 0 else scatter_rates_inlined(work, model, state.q, state.y)
    second = gather_residuals(work, model, tau, f_ext, False)
    third = scatter_accelerations(work, model, rates)
    return first_trouble(first, second, third)


@helper
def accelerate_apart(work, model, state, tau, f_ext, rates):
    """The same by passes that kernels share, for parts with more to do."""
    first = OK if f_ext.stride > 0 else scatter_rates(work, model, state.q, state.y)
    second = accelerate_placed(work, model, tau, f_ext, False, rates)
    return first if first != OK else second


@helper
def act(work, system, t, state, rates):
    """All forces of a state into TAU and F_EXT, and the rates of integrals; no mimic joints."""
    tau, f_ext = table(system, TAU), forces_on_bodies(system)
    effects = Effects(tau, rates, table(system, GRAVITY), f_ext)
    placed = apply_forces(work, system, t, state, effects)
    control(work, system, t, state, rates, tau)
    work_done = rates.stride - 1
    store_rows(work, rates, work_done, power(work, system.model, state.y, tau, f_ext))
    return placed


@helper
def evaluate(work, system, t, state, rates):
    """rates = ẏ at time t."""
    if system.codes[MOTIONS] > 0:
        which = DRIVEN_COUPLED if has_mimics(system.model) else DRIVEN
        return call_part(system.parts[which], work, system, t, state, rates)
    if has_mimics(system.model):
        return call_part(system.parts[COUPLED], work, system, t, state, rates)
    if has_loops(system.model):
        return call_part(system.parts[LOOPED], work, system, t, state, rates)
    if system.codes[CONTACTS_ALONE] > 0:
        return call_part(system.parts[TOUCHING], work, system, t, state, rates)
    placed = act(work, system, t, state, rates)
    tau, f_ext = table(system, TAU), forces_on_bodies(system)
    status = accelerate(work, system.model, state, tau, f_ext, rates)
    return placed if placed != OK else status


@helper
def follow(work, system, t, state):
    """Put joints whose motion is prescribed where they are at time t, if there are any, and loops
    behind them."""
    if system.codes[MOTIONS] > 0:
        return call_part(system.parts[FOLLOWING], work, system, t, state)
    return OK


@helper
def take_samples(work, system, t, state):
    """Let controllers that take samples look at the state at time t, if there are any."""
    if system.codes[SAMPLED] > 0:
        call_part(system.parts[SAMPLING], work, system, t, state)


@helper
def close(work, system, t, state):
    """Move a state at time t onto the manifold of its loops, if the model has any."""
    if has_loops(system.model):
        if system.codes[MOTIONS] > 0:
            return follow(work, system, t, state)
        return call_part(system.parts[CLOSING], work, system, state, state, CLOSE)
    return OK
