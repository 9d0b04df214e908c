"""A body that moves freely before the world: where it is, and its six accelerations at once.

Nothing holds such a body, so its articulated inertia P need not yield joint by joint: with the
force f that it is left with and a(k) its Coriolis acceleration (Jain 2011-II Algorithm 6.1, last
step of the gather),

    (P + rotors)·x = R·𝒯 − f − P·(α⁺ + a),   v̇ = Rᵀ·x,   α = α⁺ + x + a

which is solved by the Schur complement of the linear block, LDLᵀ of two blocks of three: a sixth of
the operations of six yields.
"""

from skodyn.jit import helper
from skodyn.kernels.articulated_inertia import SINGULAR_PIVOT
from skodyn.kernels.entries import is_given
from skodyn.kernels.joint_kinds import is_free
from skodyn.kernels.joint_motion import is_unit
from skodyn.kernels.kinematics import ground_acceleration
from skodyn.kernels.packed_model import (
    armature,
    body_count,
    body_parameters,
    entry,
    parameter3,
    parameter_matrix,
)
from skodyn.kernels.rows import row3, row4, store_row3
from skodyn.kernels.tuples import finite_spatial, load6, store6
from skodyn.kernels.workspace import BODY, DOF, body_slot, dof_slot
from skodyn.lanes import all_lanes, fma, select, splat, store
from skodyn.model.layout import (
    PARENT,
    PLACE_ROTATION,
    PLACE_TRANSLATION,
    Q_START,
    SUBTREE_END,
    V_START,
)
from skodyn.spatial.articulated import add_applied_articulated
from skodyn.spatial.linear3 import (
    add_multiplied_vector,
    component,
    dot,
    multiply,
    multiply_vector,
    multiply_vector_transposed,
    negate,
    scale,
    subtract,
)
from skodyn.spatial.motion import add_spatial
from skodyn.spatial.rotations import quaternion_matrix

__all__ = ["backsubstitute_free_root", "free_root_pose", "is_free_root"]


@helper
def is_free_root(model, k):
    return entry(model, k, PARENT) < 0 and is_free(model, k)


@helper
def free_root_pose(work, model, k, q):
    """(R, l, sound) as joint_pose gives them, without the columns of H*."""
    constants, i = body_parameters(k), entry(model, k, Q_START)
    one = splat(work, 1.0)
    place = parameter_matrix(work, model, constants + PLACE_ROTATION)
    arm = parameter3(work, model, constants + PLACE_TRANSLATION)
    turn = row4(work, q, i)
    l = add_multiplied_vector(
        (one * arm[0], one * arm[1], one * arm[2]), place, row3(work, q, i + 4)
    )
    return multiply(place, quaternion_matrix(turn)), l, is_unit(turn)


@helper
def factor3(s):
    """(1/d, l, d) of a symmetric matrix: LDLᵀ."""
    first = 1.0 / s[0]
    l1, l2 = s[1] * first, s[2] * first
    second = fma(-l1, s[1], s[3])
    over = 1.0 / second
    rest = fma(-l1, s[2], s[4])
    l3 = rest * over
    third = fma(-l3, rest, fma(-l2, s[2], s[5]))
    return (first, over, 1.0 / third), (l1, l2, l3), (s[0], second, third)


@helper
def solve3(factor, b):
    """The x of L·D·Lᵀ·x = b."""
    pivots, l, _ = factor
    y = fma(-l[0], b[0], b[1])
    z = fma(-l[2], y, fma(-l[1], b[0], b[2]))
    z = z * pivots[2]
    y = fma(-l[2], z, y * pivots[1])
    return fma(-l[0], y, fma(-l[1], z, b[0] * pivots[0])), y, z


@helper
def large_enough(factor, s):
    """Are all pivots more than rounding? A NaN among them is in the last one, too."""
    d = factor[2]
    least = select(d[0] < d[1], d[0], d[1])
    least = select(least < d[2], least, d[2])
    return all_lanes(least > SINGULAR_PIVOT * (s[0] + s[3] + s[5]))


@helper
def with_rotor(work, model, dof, s):
    """s + R·rotors·Rᵀ, where all degrees of freedom of a joint have the same rotor."""
    rotor = armature(work, model, dof)
    return (s[0] + rotor, s[1], s[2], s[3] + rotor, s[4], s[5] + rotor)


@helper
def divide3(over, b):
    """The same where the matrix is one number: that of a body alone, whose linear block is m·1."""
    return scale(over, b)


@helper
def solve_root(solve, linear, blocks, b):
    """(x of P·x = b, factor of its angular block): C first, then A − B·C⁻¹·Bᵀ.

    solve(linear, y) is C⁻¹·y; blocks: A and B.
    """
    a, m = blocks
    rows = (m[0], m[1], m[2]), (m[3], m[4], m[5]), (m[6], m[7], m[8])
    w = solve(linear, rows[0]), solve(linear, rows[1]), solve(linear, rows[2])
    angular = factor3(
        (
            a[0] - dot(rows[0], w[0]),
            a[1] - dot(rows[0], w[1]),
            a[2] - dot(rows[0], w[2]),
            a[3] - dot(rows[1], w[1]),
            a[4] - dot(rows[1], w[2]),
            a[5] - dot(rows[2], w[2]),
        )
    )
    slide = solve(linear, b[1])
    turn = solve3(angular, subtract(b[0], multiply_vector(m, slide)))
    back = (
        fma(w[0][0], turn[0], fma(w[1][0], turn[1], w[2][0] * turn[2])),
        fma(w[0][1], turn[0], fma(w[1][1], turn[1], w[2][1] * turn[2])),
        fma(w[0][2], turn[0], fma(w[1][2], turn[1], w[2][2] * turn[2])),
    )
    return (turn, subtract(slide, back)), angular


@helper
def solved(work, model, k, blocks, b):
    """(x, pivots of the angular block and of the linear one, sound) with blocks A, B and C."""
    a, m, c = blocks
    if entry(model, k, SUBTREE_END) == k + 1:
        over = 1.0 / c[0]
        x, angular = solve_root(divide3, over, (a, m), b)
        sound = large_enough(angular, a) and all_lanes(c[0] > 0.0)
        return x, angular[0], (over, over, over), sound
    linear = factor3(c)
    x, angular = solve_root(solve3, linear, (a, m), b)
    return x, angular[0], linear[0], large_enough(angular, a) and large_enough(linear, c)


@helper
def backsubstitute_free_root(work, model, k, r, p, f, tau, rates):
    """(sound, finite): v̇ of the joint of a free root body into `rates`, α(k) into the workspace."""
    slot, first = body_slot(k), entry(model, k, V_START)
    carried = add_spatial(load6(work, slot + BODY.CORIOLIS), ground_acceleration(work, model))
    pull = add_applied_articulated(f, p, carried)
    pushed = negate(pull[0]), negate(pull[1])
    if is_given(tau):
        pushed = (
            add_multiplied_vector(pushed[0], r, row3(work, tau, first)),
            add_multiplied_vector(pushed[1], r, row3(work, tau, first + 3)),
        )
    blocks = (with_rotor(work, model, first, p[0]), p[1], with_rotor(work, model, first + 3, p[2]))
    x, angular, linear, sound = solved(work, model, k, blocks, pushed)
    store6(work, slot + BODY.MOTION, add_spatial(x, carried))
    store_row3(work, rates, first, multiply_vector_transposed(r, x[0]))
    store_row3(work, rates, first + 3, multiply_vector_transposed(r, x[1]))
    if not sound:
        for i in range(3):
            at = dof_slot(body_count(model), first + i) + DOF.PIVOT
            store(work, at, component(angular, i))
            store(work, at + DOF.size * 3, component(linear, i))
    return sound, finite_spatial(x)
