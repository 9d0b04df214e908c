"""Forces as the jitted loop reads them: the layout of their tables, and those of joints alone.

`codes` (int64) and `numbers` (float64) are packed by force_tables.py:

    codes    header | one record per element, but FIXMAN says where kT of all Fixman forces is, or 0
    numbers  one passive record per degree of freedom | the elements' own numbers
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.joint_kinds import has_quaternion
from skodyn.kernels.mimics import full_model
from skodyn.kernels.packed_model import body_count, entry
from skodyn.lanes import fma, load_rows, parameter, select, sqrt, store_rows
from skodyn.model.layout import N_DOF, Q_START, V_START

# header of `codes`
ELEMENTS, PASSIVE, ON_BODIES, GRAVITY_COMPENSATED, INTEGRALS, CONTROLLERS, FIXMAN, ACCOUNTS = range(
    8
)
MOTIONS, MOTIONS_AT = 8, 9  # how many joints are driven, and where their records begin
CONTROLLERS_AT, SAMPLED = 10, 11  # records of controllers; how many of them take samples
N_PARAMETERS, N_NUMBERS = 12, 13  # of one run: constants of the model, numbers of its forces
CONTROL_WORK = 14  # where the workspace of their dynamics begins in the table CONTROL
CONTACTS_ALONE = 15  # 1 where contacts of a tree are all that pushes bodies: touching_system.py
CODES_HEADER = 16

# a record of `codes`: what it is, which bodies or degrees of freedom, where its numbers begin
CODE, FIRST, SECOND, OFFSET, COUNT, INTEGRAL = range(6)
CODES_RECORD = 6

SERVO, SINUSOID, TORQUE_TABLE, WRENCH_WORLD, WRENCH_BODY, POINT_SPRING, OWN_PART, LAW = range(1, 9)
# of OWN_PART, SECOND says which of the system's parts it is

# of prescribed motions, behind everything else: FIRST and SECOND are the degree of freedom and the
# coordinate, INTEGRAL of a FUNCTION which of the system's parts it is. Behind the first four are
# those of a whole joint with several degrees of freedom; FIRST is its body
STEADY, SINE, SPLINE, FUNCTION, STEADY_JOINT, SINE_JOINT, JOINT_FUNCTION = range(1, 8)

# a passive record in `numbers`
STIFFNESS, REST, DAMPING, FRICTION, FRICTION_SPEED = range(5)
LOWER, UPPER, STOP_STIFFNESS, STOP_DAMPING = range(5, 9)
PASSIVE_RECORD = 9


@helper
def positive(x):
    return select(x > 0.0, x, 0.0 * x)


@helper
def passive_torque(work, numbers, at, q, v, has_position):
    """Spring, damper, friction and stops of one degree of freedom."""
    torque = -(parameter(work, numbers, at + DAMPING) * v)
    speed = parameter(work, numbers, at + FRICTION_SPEED)
    smooth = v / sqrt(fma(v, v, speed * speed))
    torque = fma(-parameter(work, numbers, at + FRICTION), smooth, torque)
    if has_position:
        stretch = q - parameter(work, numbers, at + REST)
        torque = fma(-parameter(work, numbers, at + STIFFNESS), stretch, torque)
        k = parameter(work, numbers, at + STOP_STIFFNESS)
        c = parameter(work, numbers, at + STOP_DAMPING)
        below = parameter(work, numbers, at + LOWER) - q
        above = q - parameter(work, numbers, at + UPPER)
        # a stop pushes, it never pulls
        torque = torque + select(below > 0.0, positive(k * below - c * v), 0.0 * v)
        torque = torque - select(above > 0.0, positive(k * above + c * v), 0.0 * v)
    return torque


@helper
def passive_torques(work, system, state, tau):
    """Springs, dampers, friction and stops of every joint."""
    model = full_model(system.model)
    for k in range(body_count(model)):
        has_position = not has_quaternion(model, k)
        for d in range(entry(model, k, N_DOF)):
            dof = entry(model, k, V_START) + d
            v = load_rows(work, state.y, dof)
            x = load_rows(work, state.q, entry(model, k, Q_START) + d) if has_position else v
            at = PASSIVE_RECORD * dof
            torque = passive_torque(work, system.numbers, at, x, v, has_position)
            store_rows(work, tau, dof, torque)
