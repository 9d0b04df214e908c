"""The midpoint rule on the manifold of closed loops where the motion of some joints is prescribed.

The action is made stationary as in looped_midpoint.py, among ways whose ends have driven joints
where they are at these times. So v̄ of driven joints is known from the beginning, variations leave
them alone, and Y, a basis of what is left, stands where X stood: Y(Y*𝓜Y)⁻¹Y*·r is S·r + S·E*·u with
nothing left at driven joints. At the end v₁ of driven joints is that of their motion. What drives
give is found as impulses at both ends, −u at the start and u at the end; their work is that along
v̄, of second order as the rule is.
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.joint_kinds import has_quaternion, is_free
from skodyn.kernels.loops.loop_holding import is_driven
from skodyn.kernels.packed_model import body_count, entry, velocity_count
from skodyn.kernels.rows import row3, row4
from skodyn.kernels.status import OK
from skodyn.lanes import load_rows, select, splat, store_rows
from skodyn.model.layout import N_DOF, NQ, NV, Q_START, V_START
from skodyn.simulation.lie import move_coordinates
from skodyn.simulation.steppers.implicit_midpoint import MIDDLE_Q, MIDDLE_Y
from skodyn.simulation.steppers.looped_midpoint import begin_step, find_step, solve_at
from skodyn.simulation.steppers.tables import clear
from skodyn.simulation.structures import size_of, start_of, table
from skodyn.simulation.systems.driven_looped import reach, solve_for_drives
from skodyn.simulation.systems.driven_system import state_there
from skodyn.simulation.systems.system import DRIVE, DRIVEN_Y, FOUND, GIVEN
from skodyn.spatial.linear3 import multiply_vector_transposed, scale, subtract
from skodyn.spatial.rotations import quaternion_conjugate, quaternion_matrix, quaternion_product

CORRECTIONS = 8
"""Of a mean velocity of turning: each leaves less than the angle of a step of the error before."""


@helper
def add_small(work, rows, first, x):
    for i in range(3):
        store_rows(work, rows, first + i, load_rows(work, rows, first + i) + x[i])


@helper
def turn_towards(work, p0, p1):
    """The small turn from p0 to p1, to second order."""
    w, x, y, z = quaternion_product(quaternion_conjugate(p0), p1)
    two = select(w > 0.0, splat(work, 2.0), splat(work, -2.0))
    return two * x, two * y, two * z


@helper
def mean_of_joint(work, system, k, dt, reached, wanted, mean):
    """v̄ of a driven joint, from where v̄ has led it, and where it should be."""
    model = system.model
    at, first = entry(model, k, Q_START), entry(model, k, V_START)
    if has_quaternion(model, k):
        p0, p1 = row4(work, reached, at), row4(work, wanted, at)
        add_small(work, mean, first, scale(1.0 / dt, turn_towards(work, p0, p1)))
        if is_free(model, k):
            way = subtract(row3(work, wanted, at + 4), row3(work, reached, at + 4))
            slide = multiply_vector_transposed(quaternion_matrix(p0), way)
            add_small(work, mean, first + 3, scale(1.0 / dt, slide))
        return
    for i in range(entry(model, k, N_DOF)):
        missing = load_rows(work, wanted, at + i) - load_rows(work, reached, at + i)
        rate = load_rows(work, mean, first + i)
        store_rows(work, mean, first + i, rate + missing / dt)


@helper
def drive_mean(work, system, t, dt, state):
    """v̄ of driven joints, which leads them to where they are at t + dt."""
    there = state_there(work, system, t + dt, state)
    mean, reached = table(system, MIDDLE_Y), table(system, MIDDLE_Q)
    for _ in range(CORRECTIONS if system.model.tree[NQ] > system.model.tree[NV] else 2):
        move_coordinates(work, system.model, state.q, mean, dt, reached)
        for k in range(body_count(system.model)):
            if is_driven(system.model, k):
                mean_of_joint(work, system, k, dt, reached, there.q, mean)


@helper
def solve_held(work, system, at_end, q, right, out):
    """Y(Y*𝓜Y)⁻¹Y*·right; at the end, with the velocities of driven joints in DRIVEN_Y."""
    first = solve_at(work, system.model, q, right, out)
    second = solve_for_drives(work, system)
    if at_end:
        reach(work, system, table(system, DRIVEN_Y), out, table(system, GIVEN))
    else:
        nothing = table(system, FOUND)
        clear(size_of(work, nothing), start_of(nothing))
        reach(work, system, nothing, out, table(system, DRIVE))
    return first if first != OK else second


@helper
def step_driven_looped(work, system, t, dt, state, new):
    """The state at t + dt."""
    status = begin_step(work, system, state)
    drive_mean(work, system, t, dt, state)
    if status == OK:
        status = find_step(solve_held, work, system, t, dt, state, new)
    mean, start, end = table(system, MIDDLE_Y), table(system, DRIVE), table(system, GIVEN)
    done, total = new.y.stride - 1, load_rows(work, new.y, new.y.stride - 1)
    for i in range(velocity_count(system.model)):
        impulse = load_rows(work, end, i) - load_rows(work, start, i)
        total = total + impulse * load_rows(work, mean, i)
    store_rows(work, new.y, done, total)
    return status
