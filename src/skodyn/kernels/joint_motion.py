"""Where a joint puts its child, and how fast: the only kernel code that looks at joint kinds.

With l from the parent's to the child's origin and (Δω, Δv) the relative velocity H*(k)·v(k), all in
world axes, the Coriolis acceleration of Jain 2011-II eq. 1 is for every joint

    a(k) = [ ωₚ × Δω + c_ω ;  ωₚ × (ωₚ × l + 2 Δv) + c_v ]

where ωₚ is the parent's and c = [c_ω; c_v] is the joint's own velocity product: the turning of
later axes by earlier ones in a series joint, Δω × Δv in a free joint, zero otherwise.
"""

from __future__ import annotations

from skodyn.conventions import QUATERNION_TOLERANCE, JointKind
from skodyn.jit import helper
from skodyn.kernels.turns import turn_of
from skodyn.kernels.workspace import (
    COLUMN,
    body_count,
    body_parameters,
    dof_parameters,
    dof_slot,
    entry,
    load6,
    parameter3,
    parameter_matrix,
    row3,
    row4,
    store6,
)
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
    column,
    cross,
    multiply,
    multiply_vector,
    scale,
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
def zero3(w):
    zero = splat(w, 0.0)
    return (zero, zero, zero)


@helper
def is_unit(p):
    """Is the quaternion of unit length, in every lane?"""
    return all_lanes(absolute(quaternion_norm_squared(p) - 1.0) <= 2.0 * QUATERNION_TOLERANCE)


@helper
def joint_pose(w, tree, p, k, parent_rotation, q, q_first, nq, ws):
    """(R, l, sound): the child's rotation, the arm from the parent's origin, valid coordinates?

    Joints with several degrees of freedom also leave their columns of H* in the workspace.
    """
    constants = body_parameters(k)
    i = entry(tree, k, Q_START)
    kind = entry(tree, k, KIND)
    r = multiply(parent_rotation, parameter_matrix(w, p, constants + PLACE_ROTATION))
    l = multiply_vector(parent_rotation, parameter3(w, p, constants + PLACE_TRANSLATION))  # noqa: E741
    sound = True
    if kind == REVOLUTE:
        s, c = turn_of(w, tree, q, q_first, nq, i, ws)
        r = turn_about_z(r, s, c)
    elif kind == PRISMATIC:
        l = add_scaled(l, load_rows(w, q, q_first, nq, i), column(r, 2))  # noqa: E741
    elif kind == HELICAL:
        angle = load_rows(w, q, q_first, nq, i)
        l = add_scaled(l, parameter(w, p, constants + PITCH) * angle, column(r, 2))  # noqa: E741
        s, c = turn_of(w, tree, q, q_first, nq, i, ws)
        r = turn_about_z(r, s, c)
    elif kind == SERIES:
        r, l = _series_pose(w, tree, p, k, r, l, q, q_first, nq, ws)  # noqa: E741
    elif kind == SPHERICAL:
        turn = row4(w, q, q_first, nq, i)
        sound = is_unit(turn)
        r = multiply(r, quaternion_matrix(turn))
        _angular_columns(w, tree, k, r, ws)
    elif kind == FREE:
        turn = row4(w, q, q_first, nq, i)
        sound = is_unit(turn)
        l = add(l, multiply_vector(r, row3(w, q, q_first, nq, i + 4)))  # noqa: E741
        r = multiply(r, quaternion_matrix(turn))
        _angular_columns(w, tree, k, r, ws)
        _linear_columns(w, tree, k, r, ws)
    return r, l, sound


@helper
def _series_pose(w, tree, p, k, r, l, q, q_first, nq, ws):  # noqa: E741
    """A product of exponentials of constant twists [u; t], one per degree of freedom."""
    n = body_count(tree)
    for d in range(entry(tree, k, N_DOF)):
        dof = entry(tree, k, V_START) + d
        constants = dof_parameters(n, dof) + TWIST
        u, t = parameter3(w, p, constants), parameter3(w, p, constants + 3)
        shift = multiply_vector(r, t)
        store6(w, ws, dof_slot(n, dof) + COLUMN, (multiply_vector(r, u), shift))
        i = entry(tree, k, Q_START) + d
        amount = load_rows(w, q, q_first, nq, i)
        l = add_scaled(l, amount, shift)  # noqa: E741
        s, c = turn_of(w, tree, q, q_first, nq, i, ws)
        turns = absolute(u[0]) + absolute(u[1]) + absolute(u[2])  # zero for a translation
        if all_lanes(splat(w, 0.0) < turns):
            r = multiply(r, axis_angle_matrix(u, s, c))
    return r, l


@helper
def _angular_columns(w, tree, k, r, ws):
    n = body_count(tree)
    zero = zero3(w)
    for d in range(3):
        slot = dof_slot(n, entry(tree, k, V_START) + d) + COLUMN
        store6(w, ws, slot, (_pick_column(r, d), zero))


@helper
def _linear_columns(w, tree, k, r, ws):
    n = body_count(tree)
    zero = zero3(w)
    for d in range(3):
        slot = dof_slot(n, entry(tree, k, V_START) + 3 + d) + COLUMN
        store6(w, ws, slot, (zero, _pick_column(r, d)))


@helper
def _pick_column(r, d):
    """Column d of a matrix, d known at run time only."""
    if d == 0:
        return column(r, 0)
    if d == 1:
        return column(r, 1)
    return column(r, 2)


@helper
def joint_column(w, tree, p, k, d, r, ws):
    """Column d of H*(k) in world axes, given the body's rotation."""
    kind = entry(tree, k, KIND)
    z, zero = column(r, 2), zero3(w)
    if kind == REVOLUTE:
        return z, zero
    if kind == PRISMATIC:
        return zero, z
    if kind == HELICAL:
        return z, scale(splat(w, 1.0) * parameter(w, p, body_parameters(k) + PITCH), z)
    return load6(w, ws, dof_slot(body_count(tree), entry(tree, k, V_START) + d) + COLUMN)


@helper
def relative_velocity(w, tree, p, k, r, v, v_first, nv, ws):
    """(Δω, Δv, c_ω, c_v): H*(k)·v(k), and the joint's own velocity product."""
    kind, i = entry(tree, k, KIND), entry(tree, k, V_START)
    zero = zero3(w)
    spin, slide, turn_product, slide_product = zero, zero, zero, zero
    if kind == REVOLUTE:
        spin = scale(load_rows(w, v, v_first, nv, i), column(r, 2))
    elif kind == PRISMATIC:
        slide = scale(load_rows(w, v, v_first, nv, i), column(r, 2))
    elif kind == HELICAL:
        spin = scale(load_rows(w, v, v_first, nv, i), column(r, 2))
        slide = scale(parameter(w, p, body_parameters(k) + PITCH), spin)
    elif kind == SPHERICAL:
        spin = multiply_vector(r, row3(w, v, v_first, nv, i))
    elif kind == FREE:
        spin = multiply_vector(r, row3(w, v, v_first, nv, i))
        slide = multiply_vector(r, row3(w, v, v_first, nv, i + 3))
        slide_product = cross(spin, slide)
    elif kind == SERIES:
        for d in range(entry(tree, k, N_DOF)):
            u, t = load6(w, ws, dof_slot(body_count(tree), i + d) + COLUMN)
            rate = load_rows(w, v, v_first, nv, i + d)
            turn_product = add_cross(turn_product, spin, scale(rate, u))
            spin = add_scaled(spin, rate, u)
            slide = add_scaled(slide, rate, t)
    return spin, slide, turn_product, slide_product


@helper
def coriolis_acceleration(parent_omega, l, motion):  # noqa: E741
    """a(k) from the parent's angular velocity, the arm and relative_velocity's answer."""
    spin, slide, turn_product, slide_product = motion
    moving = add_scaled(cross(parent_omega, l), 2.0, slide)
    return (
        add_cross(turn_product, parent_omega, spin),
        add_cross(slide_product, parent_omega, moving),
    )
