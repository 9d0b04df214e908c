"""Moving along a joint's manifold: what Runge–Kutta–Munthe-Kaas methods need of it.

Coordinates near q are written q ⊞ u with u a velocity held for unit time. While they move with v,

    u̇ = dexp⁻¹(u)·v = v + ½[u, v] + 1/12 [u, [u, v]] − 1/720 [u, [u, [u, [u, v]]]] + …

for velocities in child axes (H. Munthe-Kaas, BIT 38, 1998; the sign of the second term is that of
the left-trivialised differential). The next term is of sixth order in u, beyond what methods of
order five can see. Joints without quaternions commute: u̇ = v.
"""

from __future__ import annotations

from skodyn.jit import helper, shared_routine
from skodyn.kernels.joint_kinds import has_quaternion, is_free
from skodyn.kernels.packed_model import body_count, entry
from skodyn.kernels.rows import row3, row4, store_row3
from skodyn.lanes import load_rows, shift_pointer, states, store_rows
from skodyn.model.layout import N_DOF, NQ, NV, Q_START, V_START
from skodyn.model.manifold import integrate_free, integrate_spherical
from skodyn.simulation.steppers.tables import copy
from skodyn.spatial.linear3 import add_scaled, cross
from skodyn.spatial.motion import cross_motion


@helper
def inverse_differential_turn(u, v):
    """dexp⁻¹(u)·v for rotations."""
    a = cross(u, v)
    b = cross(u, a)
    d = cross(u, cross(u, b))
    return add_scaled(add_scaled(add_scaled(v, 0.5, a), 1.0 / 12.0, b), -1.0 / 720.0, d)


@helper
def inverse_differential_motion(u, v):
    """dexp⁻¹(u)·v for rigid motions."""
    a = cross_motion(u, v)
    b = cross_motion(u, a)
    d = cross_motion(u, cross_motion(u, b))
    angular = add_scaled(add_scaled(v[0], 0.5, a[0]), 1.0 / 12.0, b[0])
    linear = add_scaled(add_scaled(v[1], 0.5, a[1]), 1.0 / 12.0, b[1])
    return add_scaled(angular, -1.0 / 720.0, d[0]), add_scaled(linear, -1.0 / 720.0, d[1])


@helper
def store_row4(work, a, i, x):
    store_rows(work, a, i, x[0])
    store_row3(work, a, i + 1, (x[1], x[2], x[3]))


@helper
def commutes(model):
    """No joint has a quaternion, which is one number more than it has velocities."""
    return model.tree[NQ] == model.tree[NV]


@helper
def move_coordinates_inlined(work, model, q, u, scale, out):
    """out = q ⊞ scale·u, joint by joint; tables of w rows. For steps of trees."""
    if commutes(model):
        for i in range(model.tree[NQ]):
            step = scale * load_rows(work, u, i)
            store_rows(work, out, i, load_rows(work, q, i) + step)
        return
    for k in range(body_count(model)):
        i, j = entry(model, k, Q_START), entry(model, k, V_START)
        if has_quaternion(model, k) and not is_free(model, k):
            turn = _scaled3(scale, row3(work, u, j))
            store_row4(work, out, i, integrate_spherical(row4(work, q, i), turn))
        elif is_free(model, k):
            turn = _scaled3(scale, row3(work, u, j))
            slide = _scaled3(scale, row3(work, u, j + 3))
            pose = row4(work, q, i), row3(work, q, i + 4)
            p, x = integrate_free(pose[0], pose[1], turn, slide)
            store_row4(work, out, i, p)
            store_row3(work, out, i + 4, x)
        else:
            for d in range(entry(model, k, N_DOF)):
                step = scale * load_rows(work, u, j + d)
                store_rows(work, out, i + d, load_rows(work, q, i + d) + step)


@shared_routine
def move_coordinates(work, model, q, u, scale, out):
    """The same, for steps with more to do."""
    move_coordinates_inlined(work, model, q, u, scale, out)


@helper
def _scaled3(s, a):
    return (s * a[0], s * a[1], s * a[2])


@helper
def copy_velocities(work, model, v, out):
    """out = v, which is dexp⁻¹(0)·v; tables of w rows."""
    for lane in range(states(work)):
        to = shift_pointer(out.data, out.first + lane * out.stride)
        copy(model.tree[NV], to, shift_pointer(v.data, v.first + lane * v.stride))


@helper
def coordinate_rates(work, model, u, v, out):
    """out = dexp⁻¹(u)·v, joint by joint; tables of w rows."""
    if commutes(model):
        for i in range(model.tree[NV]):
            store_rows(work, out, i, load_rows(work, v, i))
        return
    for k in range(body_count(model)):
        j = entry(model, k, V_START)
        if has_quaternion(model, k) and not is_free(model, k):
            rate = inverse_differential_turn(row3(work, u, j), row3(work, v, j))
            store_row3(work, out, j, rate)
        elif is_free(model, k):
            u6 = row3(work, u, j), row3(work, u, j + 3)
            v6 = row3(work, v, j), row3(work, v, j + 3)
            turn, slide = inverse_differential_motion(u6, v6)
            store_row3(work, out, j, turn)
            store_row3(work, out, j + 3, slide)
        else:
            for d in range(entry(model, k, N_DOF)):
                store_rows(work, out, j + d, load_rows(work, v, j + d))
