"""Where a joint puts its child, and how fast: the only kernel code that looks at joint kinds.

With l from the parent's to the child's origin and (Δω, Δv) the relative velocity H*(k)·v(k), all in
world axes, the Coriolis acceleration of Jain 2011-II eq. 1 is for every joint

    a(k) = [ ωₚ × Δω + c_ω ;  ωₚ × (ωₚ × l + 2 Δv) + c_v ]

where ωₚ is the parent's and c = [c_ω; c_v] is the joint's own velocity product: the turning of
later axes by earlier ones in a series joint, Δω × Δv in a free joint, zero otherwise.
"""

from skodyn.conventions import QUATERNION_TOLERANCE, JointKind
from skodyn.jit import helper
from skodyn.kernels.joint_trigonometry import sincos_of
from skodyn.kernels.packed_model import (
    body_count,
    body_parameters,
    dof_parameters,
    entry,
    parameter3,
    parameter_matrix,
)
from skodyn.kernels.rows import row3, row4
from skodyn.kernels.tuples import load6, store6
from skodyn.kernels.workspace import DOF, dof_slot
from skodyn.lanes import absolute, all_lanes, load_rows, parameter, splat
from skodyn.model.layout import (
    KIND,
    N_DOF,
    PITCH,
    PLACE_ROTATION,
    PLACE_TRANSLATION,
    Q_START,
    TWIST,
    V_START,
)
from skodyn.spatial.linear3 import (
    add,
    add_cross,
    add_scaled,
    cross,
    multiply,
    multiply_vector,
    scale,
    x_axis,
    y_axis,
    z_axis,
)
from skodyn.spatial.rotations import (
    axis_angle_matrix,
    quaternion_matrix,
    quaternion_norm_squared,
    turn_about_z,
)

FIXED, REVOLUTE, PRISMATIC = int(JointKind.FIXED), int(JointKind.REVOLUTE), int(JointKind.PRISMATIC)
HELICAL, SERIES = int(JointKind.HELICAL), int(JointKind.SERIES)
SPHERICAL, FREE = int(JointKind.SPHERICAL), int(JointKind.FREE)


@helper
def zero3(work):
    zero = splat(work, 0.0)
    return (zero, zero, zero)


@helper
def is_unit(p):
    """Is the quaternion of unit length, in every lane?"""
    return all_lanes(absolute(quaternion_norm_squared(p) - 1.0) <= 2.0 * QUATERNION_TOLERANCE)


@helper
def joint_pose(work, model, k, parent_rotation, q):
    """(R, l, sound): the child's rotation, the arm from the parent's origin, valid coordinates?

    Joints with several degrees of freedom also leave their columns of H* in the workspace.
    """
    constants = body_parameters(k)
    i = entry(model, k, Q_START)
    kind = entry(model, k, KIND)
    r = multiply(parent_rotation, parameter_matrix(work, model, constants + PLACE_ROTATION))
    l = multiply_vector(parent_rotation, parameter3(work, model, constants + PLACE_TRANSLATION))
    sound = True
    if (kind == REVOLUTE) | (kind == HELICAL):
        if kind == HELICAL:
            pitch = parameter(work, model.parameters, constants + PITCH)
            l = add_scaled(l, pitch * load_rows(work, q, i), z_axis(r))
        s, c = sincos_of(work, model, q, i)
        r = turn_about_z(r, s, c)
    elif kind == PRISMATIC:
        l = add_scaled(l, load_rows(work, q, i), z_axis(r))
    elif kind == SERIES:
        r, l = _series_pose(work, model, k, r, l, q)
    elif (kind == SPHERICAL) | (kind == FREE):
        if kind == FREE:
            l = add(l, multiply_vector(r, row3(work, q, i + 4)))
        turn = row4(work, q, i)
        sound = is_unit(turn)
        r = multiply(r, quaternion_matrix(turn))
        _store_axes(work, model, k, r, kind == FREE)
    return r, l, sound


@helper
def _series_pose(work, model, k, r, l, q):
    """A product of exponentials of constant twists [u; t], one per degree of freedom."""
    n = body_count(model)
    for d in range(entry(model, k, N_DOF)):
        dof = entry(model, k, V_START) + d
        constants = dof_parameters(n, dof) + TWIST
        u, t = parameter3(work, model, constants), parameter3(work, model, constants + 3)
        shift = multiply_vector(r, t)
        store6(work, dof_slot(n, dof) + DOF.COLUMN, (multiply_vector(r, u), shift))
        i = entry(model, k, Q_START) + d
        amount = load_rows(work, q, i)
        l = add_scaled(l, amount, shift)
        s, c = sincos_of(work, model, q, i)
        turns = absolute(u[0]) + absolute(u[1]) + absolute(u[2])  # zero for a translation
        if all_lanes(splat(work, 0.0) < turns):
            r = multiply(r, axis_angle_matrix(u, s, c))
    return r, l


@helper
def _store_axes(work, model, k, r, slides):
    """The columns of a joint that turns about the axes of its body, and slides along them."""
    at, zero = dof_slot(body_count(model), entry(model, k, V_START)) + DOF.COLUMN, zero3(work)
    x, y, z = x_axis(r), y_axis(r), z_axis(r)
    store6(work, at, (x, zero))
    store6(work, at + DOF.size, (y, zero))
    store6(work, at + 2 * DOF.size, (z, zero))
    if slides:
        store6(work, at + 3 * DOF.size, (zero, x))
        store6(work, at + 4 * DOF.size, (zero, y))
        store6(work, at + 5 * DOF.size, (zero, z))


@helper
def joint_column(work, model, k, d, r):
    """Column d of H*(k) in world axes, given the body's rotation."""
    kind = entry(model, k, KIND)
    z, zero = z_axis(r), zero3(work)
    if kind == REVOLUTE:
        return z, zero
    if kind == PRISMATIC:
        return zero, z
    if kind == HELICAL:
        return z, scale(
            splat(work, 1.0) * parameter(work, model.parameters, body_parameters(k) + PITCH), z
        )
    return load6(work, dof_slot(body_count(model), entry(model, k, V_START) + d) + DOF.COLUMN)


@helper
def relative_velocity(work, model, k, r, v):
    """(Δω, Δv, c_ω, c_v): H*(k)·v(k), and the joint's own velocity product."""
    kind, i = entry(model, k, KIND), entry(model, k, V_START)
    zero = zero3(work)
    spin, slide, turn_product, slide_product = zero, zero, zero, zero
    if (kind == REVOLUTE) | (kind == HELICAL):
        spin = scale(load_rows(work, v, i), z_axis(r))
        if kind == HELICAL:
            slide = scale(parameter(work, model.parameters, body_parameters(k) + PITCH), spin)
    elif kind == PRISMATIC:
        slide = scale(load_rows(work, v, i), z_axis(r))
    elif (kind == SPHERICAL) | (kind == FREE):
        spin = multiply_vector(r, row3(work, v, i))
        if kind == FREE:
            slide = multiply_vector(r, row3(work, v, i + 3))
            slide_product = cross(spin, slide)
    elif kind == SERIES:
        for d in range(entry(model, k, N_DOF)):
            u, t = load6(work, dof_slot(body_count(model), i + d) + DOF.COLUMN)
            rate = load_rows(work, v, i + d)
            turn_product = add_cross(turn_product, spin, scale(rate, u))
            spin = add_scaled(spin, rate, u)
            slide = add_scaled(slide, rate, t)
    return spin, slide, turn_product, slide_product


@helper
def coriolis_acceleration(parent_omega, l, motion):
    """a(k) from the parent's angular velocity, the arm and relative_velocity's answer."""
    spin, slide, turn_product, slide_product = motion
    moving = add_scaled(cross(parent_omega, l), 2.0, slide)
    return (
        add_cross(turn_product, parent_omega, spin),
        add_cross(slide_product, parent_omega, moving),
    )
