"""Spatial algebra: every helper against dense NumPy and SciPy, and the same bits at width 4.

One kernel per module runs all its helpers on a table of samples. Rows of the table are numbers,
columns are samples (see test_lanes.py); SAMPLES says which rows make up which quantity. Beside each
kernel stands a dict with the dense meaning of every helper, in the order of the kernel's results.

Samples are of order one and a helper is a few correctly rounded operations, so results agree with
the dense ones to some tens of units in the last place: TOLERANCE.
"""

import math
from functools import cache
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose

import naive
from adapters import at_width
from skodyn.jit import helper
from skodyn.lanes import WIDTH_1, WIDTH_N, Work, load, sincos, sqrt, store
from skodyn.spatial import articulated, inertia, linear3, motion, rotations

TOLERANCE = 1e-13
COUNT = 32
PI = math.pi

SAMPLES = {  # name: (first row, rows)
    "a": (0, 3),
    "b": (3, 3),
    "c": (6, 3),
    "d": (9, 3),
    "k": (12, 1),
    "m": (13, 9),
    "n": (22, 9),
    "s": (31, 6),
    "t": (37, 6),
    "r": (43, 9),  # a rotation matrix
    "p": (52, 4),  # unit quaternions
    "e": (56, 4),
    "u": (60, 3),  # a unit vector
}
A, B, C, D, K, M, N, S, T, R, P, E, U = (first for first, _ in SAMPLES.values())
ROWS = 63
UPPER = (0, 0, 0, 1, 1, 2), (0, 1, 2, 1, 2, 2)


@cache
def samples():
    """The table: normal numbers; rotations among them of all sizes, from zero to a half turn."""
    rng = np.random.default_rng(11)
    table = rng.normal(size=(ROWS, COUNT))
    for j in range(COUNT):
        table[R : R + 9, j] = naive.quaternion_matrix(naive.random_unit(rng, 4)).ravel()
    for first, size in ((P, 4), (E, 4), (U, 3)):
        table[first : first + size] /= np.linalg.norm(table[first : first + size], axis=0)
    sizes = [0.0, 1e-300, 1e-160, 1e-9, 1e-3, 0.49999, 0.5, 0.50001, 1.0, 3.0, PI, 6.0, 20.0]
    direction = table[A : A + 3, : len(sizes)]
    table[A : A + 3, : len(sizes)] = direction / np.linalg.norm(direction, axis=0) * sizes
    return table


# ---- kernels over the table -----------------------------------------------------------------


@helper
def three(w, x, row, n, i):
    return (
        load(Work(w, x), row * n + i),
        load(Work(w, x), (row + 1) * n + i),
        load(Work(w, x), (row + 2) * n + i),
    )


@helper
def four(w, x, row, n, i):
    return (load(Work(w, x), row * n + i), *three(w, x, row + 1, n, i))


@helper
def six(w, x, row, n, i):
    return (*three(w, x, row, n, i), *three(w, x, row + 3, n, i))


@helper
def nine(w, x, row, n, i):
    return (*six(w, x, row, n, i), *three(w, x, row + 6, n, i))


@helper
def put1(w, out, row, n, i, value):
    """Store a number in a row of the result and return the next free row; the others likewise."""
    store(Work(w, out), row * n + i, value)
    return row + 1


@helper
def put3(w, out, row, n, i, v):
    store(Work(w, out), row * n + i, v[0])
    store(Work(w, out), (row + 1) * n + i, v[1])
    store(Work(w, out), (row + 2) * n + i, v[2])
    return row + 3


@helper
def put4(w, out, row, n, i, p):
    return put3(w, out, put1(w, out, row, n, i, p[0]), n, i, p[1:])


@helper
def put6(w, out, row, n, i, s):
    return put3(w, out, put3(w, out, row, n, i, s[:3]), n, i, s[3:])


@helper
def put9(w, out, row, n, i, m):
    return put3(w, out, put6(w, out, row, n, i, m[:6]), n, i, m[6:])


@helper
def put_spatial(w, out, row, n, i, v):
    return put3(w, out, put3(w, out, row, n, i, v[0]), n, i, v[1])


@helper
def put_pose(w, out, row, n, i, pose):
    return put3(w, out, put4(w, out, row, n, i, pose[0]), n, i, pose[1])


@helper
def put_inertia(w, out, row, n, i, body):
    row = put3(w, out, put1(w, out, row, n, i, body[0]), n, i, body[1])
    return put6(w, out, row, n, i, body[2])


@helper
def put_articulated(w, out, row, n, i, p):
    row = put9(w, out, put6(w, out, row, n, i, p[0]), n, i, p[1])
    return put6(w, out, row, n, i, p[2])


@helper
def linear3_kernel(w, x, out, n):
    for i in range(n):
        a, b, c = three(w, x, A, n, i), three(w, x, B, n, i), three(w, x, C, n, i)
        k, m, o = load(Work(w, x), K * n + i), nine(w, x, M, n, i), nine(w, x, N, n, i)
        s, t, r = six(w, x, S, n, i), six(w, x, T, n, i), nine(w, x, R, n, i)
        row = put1(w, out, 0, n, i, linear3.dot(a, b))
        row = put3(w, out, row, n, i, linear3.cross(a, b))
        row = put3(w, out, row, n, i, linear3.add(a, b))
        row = put3(w, out, row, n, i, linear3.subtract(a, b))
        row = put3(w, out, row, n, i, linear3.negate(a))
        row = put3(w, out, row, n, i, linear3.scale(k, a))
        row = put3(w, out, row, n, i, linear3.add_scaled(a, k, b))
        row = put3(w, out, row, n, i, linear3.add_cross(c, a, b))
        for j in range(2, -1, -1):
            row = put1(w, out, row, n, i, linear3.component(a, j))
        row = put3(w, out, row, n, i, linear3.x_axis(m))
        row = put3(w, out, row, n, i, linear3.y_axis(m))
        row = put3(w, out, row, n, i, linear3.z_axis(m))
        row = put9(w, out, row, n, i, linear3.from_columns(a, b, c))
        row = put9(w, out, row, n, i, linear3.transpose(m))
        row = put3(w, out, row, n, i, linear3.multiply_vector(m, a))
        row = put3(w, out, row, n, i, linear3.multiply_vector_transposed(m, a))
        row = put9(w, out, row, n, i, linear3.multiply(m, o))
        row = put3(w, out, row, n, i, linear3.multiply_sym_vector(s, a))
        row = put3(w, out, row, n, i, linear3.add_multiplied_vector(c, m, a))
        row = put3(w, out, row, n, i, linear3.add_multiplied_sym_vector(c, s, a))
        row = put6(w, out, row, n, i, linear3.add_sym(s, t))
        row = put9(w, out, row, n, i, linear3.add_matrix(m, o))
        row = put6(w, out, row, n, i, linear3.rotate_sym(r, s))
        row = put6(w, out, row, n, i, linear3.subtract_scaled_outer_sym(s, k, a))
        put9(w, out, row, n, i, linear3.subtract_outer(m, a, b))


@helper
def rotations_kernel(w, x, out, n):
    for i in range(n):
        a, u = three(w, x, A, n, i), three(w, x, U, n, i)
        p, e, r = four(w, x, P, n, i), four(w, x, E, n, i), nine(w, x, R, n, i)
        sine, cosine = p[0], p[1]  # any two numbers will do where they enter linearly
        row = put9(w, out, 0, n, i, rotations.turn_about_z(r, sine, cosine))
        row = put9(w, out, row, n, i, rotations.axis_angle_matrix(u, sine, cosine))
        row = put9(w, out, row, n, i, rotations.quaternion_matrix(p))
        row = put4(w, out, row, n, i, rotations.quaternion_product(p, e))
        row = put4(w, out, row, n, i, rotations.quaternion_conjugate(p))
        row = put1(w, out, row, n, i, rotations.quaternion_norm_squared(r))
        row = put1(w, out, row, n, i, rotations.half_sinc(0.0 * sine, sine))
        row = put4(w, out, row, n, i, rotations.quaternion_exp(a))
        put9(w, out, row, n, i, rotations.rotation_exp(a))


@helper
def motion_kernel(w, x, out, n):
    for i in range(n):
        a, b = three(w, x, A, n, i), three(w, x, B, n, i)
        c, d = three(w, x, C, n, i), three(w, x, D, n, i)
        row = put_spatial(w, out, 0, n, i, motion.shift_force(a, (b, c)))
        row = put_spatial(w, out, row, n, i, motion.shift_motion(a, (b, c)))
        row = put_spatial(w, out, row, n, i, motion.add_spatial((a, b), (c, d)))
        row = put_spatial(w, out, row, n, i, motion.subtract_spatial((a, b), (c, d)))
        k = load(Work(w, x), K * n + i)
        row = put_spatial(w, out, row, n, i, motion.add_scaled_spatial((a, b), k, (c, d)))
        row = put1(w, out, row, n, i, motion.dot_spatial((a, b), (c, d)))
        row = put_spatial(w, out, row, n, i, motion.cross_motion((a, b), (c, d)))
        row = put_spatial(w, out, row, n, i, motion.cross_force((a, b), (c, d)))
        put_pose(w, out, row, n, i, motion.motion_exp(a, b))


@helper
def inertia_kernel(w, x, out, n):
    for i in range(n):
        a, b = three(w, x, A, n, i), three(w, x, B, n, i)
        c, r = three(w, x, C, n, i), nine(w, x, R, n, i)
        h, s, t = three(w, x, D, n, i), six(w, x, S, n, i), six(w, x, T, n, i)
        m = load(Work(w, x), K * n + i)
        body, other = (m, h, s), (2.0 * m, a, t)
        row = put_inertia(w, out, 0, n, i, inertia.rotate_inertia(r, body))
        row = put_spatial(w, out, row, n, i, inertia.apply_inertia(body, (b, c)))
        row = put6(w, out, row, n, i, inertia.shift_second_moment(s, m, h, b))
        row = put_inertia(w, out, row, n, i, inertia.shift_inertia(body, b))
        row = put_inertia(w, out, row, n, i, inertia.add_inertia(body, other))
        row = put_spatial(w, out, row, n, i, inertia.gyroscopic_force(body, b))
        row = put_spatial(w, out, row, n, i, inertia.add_gyroscopic_force((a, c), body, b))
        put_inertia(w, out, row, n, i, inertia.inertia_about_com(m, h, s))


@helper
def articulated_kernel(w, x, out, n):
    for i in range(n):
        a, b, c = three(w, x, A, n, i), three(w, x, B, n, i), three(w, x, C, n, i)
        s, t, h = six(w, x, S, n, i), six(w, x, T, n, i), three(w, x, D, n, i)
        p, q = (s, nine(w, x, M, n, i), t), (t, nine(w, x, N, n, i), s)
        k = load(Work(w, x), K * n + i)
        row = put_articulated(w, out, 0, n, i, articulated.articulated_from_inertia((k, h, s)))
        row = put_articulated(w, out, row, n, i, articulated.add_articulated(p, q))
        row = put_articulated(
            w, out, row, n, i, articulated.add_inertia_to_articulated(p, (k, h, s))
        )
        row = put_spatial(w, out, row, n, i, articulated.apply_articulated(p, (a, b)))
        row = put_spatial(w, out, row, n, i, articulated.add_applied_articulated((h, c), p, (a, b)))
        row = put_articulated(w, out, row, n, i, articulated.subtract_rank_one(p, (a, b), k))
        row = put_articulated(w, out, row, n, i, articulated.shift_articulated(p, c))
        put_articulated(w, out, row, n, i, articulated.shift_remainder(p, (a, b), k, c))


@helper
def two_ways_kernel(w, x, out, n):
    """What is left of P, seen from elsewhere: in one go, and in two."""
    for i in range(n):
        a, b, c = three(w, x, A, n, i), three(w, x, B, n, i), three(w, x, C, n, i)
        p = six(w, x, S, n, i), nine(w, x, M, n, i), six(w, x, T, n, i)
        k = load(Work(w, x), K * n + i)
        row = put_articulated(w, out, 0, n, i, articulated.shift_remainder(p, (a, b), k, c))
        left = articulated.subtract_rank_one(p, (a, b), k)
        put_articulated(w, out, row, n, i, articulated.shift_articulated(left, c))


# ---- what they must give, from 3×3 and 6×6 matrices -------------------------------------------


def matrix(values):
    return np.reshape(values, (3, 3))


def symmetric(values):
    full = np.zeros((3, 3))
    full[UPPER] = values
    return full + np.triu(full, 1).T


def upper(full):
    assert_allclose(full, full.T, rtol=0, atol=TOLERANCE * (1 + np.abs(full).max()))
    return full[UPPER]


def spatial_inertia(m, h, s):
    """M = [[J, h̃], [−h̃, m·I]]."""
    return np.block([[symmetric(s), naive.tilde(h)], [-naive.tilde(h), m * np.eye(3)]])


def inertia_numbers(full):
    """(m, h, J) of a 6×6 matrix that has the form of a rigid body's inertia."""
    m, h = full[3, 3], np.array([full[2, 4], full[0, 5], full[1, 3]])
    numbers = np.concatenate([[m], h, upper(full[:3, :3])])
    assert_allclose(spatial_inertia(m, h, numbers[4:]), full, rtol=0, atol=1e-12)
    return numbers


def blocks(s, m, t):
    """[[A, B], [Bᵀ, C]]."""
    return np.block([[symmetric(s), matrix(m)], [matrix(m).T, symmetric(t)]])


def articulated_numbers(full):
    assert_allclose(full, full.T, rtol=0, atol=TOLERANCE * (1 + np.abs(full).max()))
    return np.concatenate([upper(full[:3, :3]), full[:3, 3:].ravel(), upper(full[3:, 3:])])


def motion_cross_matrix(v):
    w, x = naive.tilde(v[:3]), naive.tilde(v[3:])
    return np.block([[w, np.zeros((3, 3))], [x, w]])


def twist_matrix(w, v):
    """The 4×4 matrix whose exponential is the rigid motion."""
    return np.block([[naive.tilde(w), np.reshape(v, (3, 1))], [np.zeros((1, 4))]])


def moved(w, v):
    """[quaternion; displacement] after the twist, from the matrix exponential."""
    pose = scipy.linalg.expm(twist_matrix(w, v))
    return np.concatenate([turned(w), pose[:3, 3]])


def turned(w):
    """The quaternion of a rotation vector, from the exponential of a 4×4 quaternion matrix."""
    x, y, z = w / 2
    left = np.array([[0, -x, -y, -z], [x, 0, -z, y], [y, z, 0, -x], [z, -y, x, 0]])
    return scipy.linalg.expm(left)[:, 0]


def about_z(sine, cosine):
    return np.array([[cosine, -sine, 0], [sine, cosine, 0], [0, 0, 1]])


def pair(angular, linear):
    return np.concatenate([angular, linear])


I3 = np.eye(3)
LINEAR3 = {
    "dot": lambda x: x.a @ x.b,
    "cross": lambda x: np.cross(x.a, x.b),
    "add": lambda x: x.a + x.b,
    "subtract": lambda x: x.a - x.b,
    "negate": lambda x: -x.a,
    "scale": lambda x: x.k * x.a,
    "add_scaled": lambda x: x.a + x.k * x.b,
    "add_cross": lambda x: x.c + np.cross(x.a, x.b),
    "component": lambda x: x.a[::-1],
    "x_axis": lambda x: matrix(x.m)[:, 0],
    "y_axis": lambda x: matrix(x.m)[:, 1],
    "z_axis": lambda x: matrix(x.m)[:, 2],
    "from_columns": lambda x: np.column_stack([x.a, x.b, x.c]),
    "transpose": lambda x: matrix(x.m).T,
    "multiply_vector": lambda x: matrix(x.m) @ x.a,
    "multiply_vector_transposed": lambda x: matrix(x.m).T @ x.a,
    "multiply": lambda x: matrix(x.m) @ matrix(x.n),
    "multiply_sym_vector": lambda x: symmetric(x.s) @ x.a,
    "add_multiplied_vector": lambda x: x.c + matrix(x.m) @ x.a,
    "add_multiplied_sym_vector": lambda x: x.c + symmetric(x.s) @ x.a,
    "add_sym": lambda x: x.s + x.t,
    "add_matrix": lambda x: x.m + x.n,
    "rotate_sym": lambda x: upper(matrix(x.r) @ symmetric(x.s) @ matrix(x.r).T),
    "subtract_scaled_outer_sym": lambda x: upper(symmetric(x.s) - x.k * np.outer(x.a, x.a)),
    "subtract_outer": lambda x: matrix(x.m) - np.outer(x.a, x.b),
}
ROTATIONS = {
    "turn_about_z": lambda x: matrix(x.r) @ about_z(x.p[0], x.p[1]),
    "axis_angle_matrix": lambda x: (
        x.p[1] * I3 + x.p[0] * naive.tilde(x.u) + (1 - x.p[1]) * np.outer(x.u, x.u)
    ),
    "quaternion_matrix": lambda x: naive.quaternion_matrix(x.p),
    "quaternion_product": lambda x: naive.quaternion_product(x.p, x.e),
    "quaternion_conjugate": lambda x: x.p * [1, -1, -1, -1],
    "quaternion_norm_squared": lambda x: x.r[:4] @ x.r[:4],
    "half_sinc": lambda x: 0.5,
    "quaternion_exp": lambda x: turned(x.a),
    "rotation_exp": lambda x: scipy.linalg.expm(naive.tilde(x.a)),
}
MOTION = {
    "shift_force": lambda x: naive.shift(x.a) @ pair(x.b, x.c),
    "shift_motion": lambda x: naive.shift(x.a).T @ pair(x.b, x.c),
    "add_spatial": lambda x: pair(x.a, x.b) + pair(x.c, x.d),
    "subtract_spatial": lambda x: pair(x.a, x.b) - pair(x.c, x.d),
    "add_scaled_spatial": lambda x: pair(x.a, x.b) + x.k * pair(x.c, x.d),
    "dot_spatial": lambda x: pair(x.a, x.b) @ pair(x.c, x.d),
    "cross_motion": lambda x: motion_cross_matrix(pair(x.a, x.b)) @ pair(x.c, x.d),
    # the dual: ⟨v × m, f⟩ + ⟨m, v ×* f⟩ = 0
    "cross_force": lambda x: -motion_cross_matrix(pair(x.a, x.b)).T @ pair(x.c, x.d),
    "motion_exp": lambda x: moved(x.a, x.b),
}
INERTIA = {
    "rotate_inertia": lambda x: inertia_numbers(
        np.kron(np.eye(2), matrix(x.r))
        @ spatial_inertia(x.k, x.d, x.s)
        @ np.kron(np.eye(2), matrix(x.r)).T
    ),
    "apply_inertia": lambda x: spatial_inertia(x.k, x.d, x.s) @ pair(x.b, x.c),
    "shift_second_moment": lambda x: upper(
        (naive.shift(x.b) @ spatial_inertia(x.k, x.d, x.s) @ naive.shift(x.b).T)[:3, :3]
    ),
    "shift_inertia": lambda x: inertia_numbers(
        naive.shift(x.b) @ spatial_inertia(x.k, x.d, x.s) @ naive.shift(x.b).T
    ),
    "add_inertia": lambda x: inertia_numbers(
        spatial_inertia(x.k, x.d, x.s) + spatial_inertia(2 * x.k, x.a, x.t)
    ),
    # d/dt(M V) for V = [ω; 0] held constant, with M carried along by ω
    "gyroscopic_force": lambda x: (
        np.kron(np.eye(2), naive.tilde(x.b))
        @ spatial_inertia(x.k, x.d, x.s)
        @ pair(x.b, np.zeros(3))
    ),
    "add_gyroscopic_force": lambda x: pair(x.a, x.c) + INERTIA["gyroscopic_force"](x),
    "inertia_about_com": lambda x: inertia_numbers(
        naive.shift(x.d) @ spatial_inertia(x.k, np.zeros(3), x.s) @ naive.shift(x.d).T
    ),
}
ARTICULATED = {
    "articulated_from_inertia": lambda x: articulated_numbers(spatial_inertia(x.k, x.d, x.s)),
    "add_articulated": lambda x: articulated_numbers(blocks(x.s, x.m, x.t) + blocks(x.t, x.n, x.s)),
    "add_inertia_to_articulated": lambda x: articulated_numbers(
        blocks(x.s, x.m, x.t) + spatial_inertia(x.k, x.d, x.s)
    ),
    "apply_articulated": lambda x: blocks(x.s, x.m, x.t) @ pair(x.a, x.b),
    "add_applied_articulated": lambda x: pair(x.d, x.c) + blocks(x.s, x.m, x.t) @ pair(x.a, x.b),
    "subtract_rank_one": lambda x: articulated_numbers(
        blocks(x.s, x.m, x.t) - x.k * np.outer(pair(x.a, x.b), pair(x.a, x.b))
    ),
    "shift_articulated": lambda x: articulated_numbers(
        naive.shift(x.c) @ blocks(x.s, x.m, x.t) @ naive.shift(x.c).T
    ),
    "shift_remainder": lambda x: articulated_numbers(
        naive.shift(x.c)
        @ (blocks(x.s, x.m, x.t) - x.k * np.outer(pair(x.a, x.b), pair(x.a, x.b)))
        @ naive.shift(x.c).T
    ),
}
GROUPS = {
    linear3: (linear3_kernel, LINEAR3),
    rotations: (rotations_kernel, ROTATIONS),
    motion: (motion_kernel, MOTION),
    inertia: (inertia_kernel, INERTIA),
    articulated: (articulated_kernel, ARTICULATED),
}
CASES = [(module, name) for module, (_, dense) in GROUPS.items() for name in dense]
ONLY_IN_ROUND_TRIPS = {
    rotations: {"quaternion_log", "rotation_log", "matrix_quaternion"},
    motion: {"third_order_coefficient", "motion_log"},
}


def module_name(module):
    return module.__name__.rpartition(".")[2]


def sample(j):
    """Column j of the table, by name."""
    table = samples()
    values = {name: table[at : at + size, j] for name, (at, size) in SAMPLES.items()}
    return SimpleNamespace(**values | {"k": values["k"][0]})


@cache
def evaluated(module, w):
    """(name -> rows of results, all rows) of a module's kernel at a width."""
    source, dense = GROUPS[module]
    sizes = [np.size(meaning(sample(0))) for meaning in dense.values()]
    out = np.full((sum(sizes), COUNT), np.nan)
    at_width(source, w)(samples().reshape(-1), out.reshape(-1), COUNT // w.lanes)
    return dict(zip(dense, np.split(out, np.cumsum(sizes)[:-1]), strict=True)), out


@pytest.mark.parametrize(("module", "name"), CASES, ids=[name for _, name in CASES])
def test_a_helper_agrees_with_dense_matrices(module, name):
    results, _ = evaluated(module, WIDTH_1)
    meaning = GROUPS[module][1][name]
    for j in range(COUNT):
        expected = np.ravel(meaning(sample(j)))
        scale = 1 + np.abs(expected).max()
        assert_allclose(results[name][:, j], expected, rtol=0, atol=TOLERANCE * scale)


# linear3 is left out: the other four are built on it, and compiling it alone takes seconds
@pytest.mark.parametrize("module", list(GROUPS)[1:], ids=module_name)
def test_each_lane_has_the_bits_of_width_1(module):
    _, alone = evaluated(module, WIDTH_1)
    _, together = evaluated(module, WIDTH_N)
    assert np.isfinite(alone).all()
    assert (alone.view(np.uint64) == together.view(np.uint64)).all()


def test_shift_remainder_has_the_bits_of_its_two_halves():
    out = np.full((42, COUNT), np.nan)
    at_width(two_ways_kernel, WIDTH_1)(samples().reshape(-1), out.reshape(-1), COUNT)
    assert np.isfinite(out).all()
    assert out[:21].tobytes() == out[21:].tobytes()


@pytest.mark.parametrize("module", GROUPS, ids=module_name)
def test_no_helper_is_forgotten(module):
    helpers = {
        name
        for name, value in vars(module).items()
        if callable(value) and value.__module__ == module.__name__
    }
    assert helpers == set(GROUPS[module][1]) | ONLY_IN_ROUND_TRIPS.get(module, set())


# ---- exponentials and logarithms, there and back ----------------------------------------------


@helper
def round_trips(w, x, out, n):
    """Width 1 only, as the logarithms are. Rows of x: a rotation vector and a velocity."""
    for i in range(n):
        a, v = three(w, x, 0, n, i), three(w, x, 3, n, i)
        p, shift = motion.motion_exp(a, v)
        r = rotations.rotation_exp(a)
        back = motion.motion_log(p, shift)
        t2 = linear3.dot(a, a)
        theta = sqrt(t2)
        row = put3(w, out, 0, n, i, rotations.quaternion_log(rotations.quaternion_exp(a)))
        row = put3(w, out, row, n, i, rotations.rotation_log(r))
        row = put4(w, out, row, n, i, rotations.matrix_quaternion(r))
        row = put9(w, out, row, n, i, rotations.rotation_exp(rotations.rotation_log(r)))
        row = put9(w, out, row, n, i, r)
        row = put_spatial(w, out, row, n, i, back)
        row = put_pose(w, out, row, n, i, (p, shift))
        row = put_pose(w, out, row, n, i, motion.motion_exp(back[0], back[1]))
        row = put1(w, out, row, n, i, rotations.half_sinc(theta, sincos(0.5 * theta)[0]))
        put1(w, out, row, n, i, motion.third_order_coefficient(t2, theta, sincos(theta)[0]))


SIZES = {"quaternion_log": 3, "rotation_log": 3, "matrix_quaternion": 4, "again": 9, "r": 9}
SIZES |= {"motion_log": 6, "moved": 7, "moved_again": 7, "half_sinc": 1, "third_order": 1}
NEAR_ZERO = [0.0, 1e-320, 1e-300, 1e-162, 1e-155, 1e-150, 1e-80, 1e-20, 1e-8, 1e-5, 1e-3, 0.1]
MIDDLE = [0.3, 0.49, 0.4999999, 0.5, 0.5000001, 0.6, 1.0, 1.5, PI / 2, 2.0, 2.5, 3.0]
NEAR_PI = [PI - 0.1, PI - 1e-3, PI - 1e-6, PI - 1e-9, PI - 1e-12, PI - 4e-15]
BEYOND = [PI, PI + 1e-9, PI + 0.1, 5.0, 2 * PI - 1e-6]


@cache
def there_and_back(angles):
    """(rotation vectors, velocities, name -> results): each angle about eight directions."""
    rng = np.random.default_rng(12)
    axes = [*np.eye(3), *-np.eye(3), naive.random_unit(rng), naive.random_unit(rng)]
    w = np.array([angle * axis for angle in angles for axis in axes])
    v = rng.normal(size=w.shape)
    out = np.full((sum(SIZES.values()), len(w)), np.nan)
    table = np.ascontiguousarray(np.hstack([w, v]).T)
    _round_trips_entry()(table.reshape(-1), out.reshape(-1), len(w))
    parts = np.split(out.T, np.cumsum(list(SIZES.values()))[:-1], axis=1)
    return w, v, dict(zip(SIZES, parts, strict=True))


@cache
def _round_trips_entry():
    return at_width(round_trips, WIDTH_1)


def relative_error(actual, expected):
    """Largest error in a row over the row's length; zero rows must be met exactly."""
    error, length = np.abs(actual - expected).max(axis=1), np.abs(expected).max(axis=1)
    assert (error[length < 1e-300] <= 5e-324).all()
    return np.max(error[length >= 1e-300] / length[length >= 1e-300], initial=0.0)


ANGLES = pytest.mark.parametrize(
    "angles",
    [tuple(NEAR_ZERO), tuple(MIDDLE), tuple(NEAR_PI)],
    ids=["near zero", "middle", "near pi"],
)


@ANGLES
@pytest.mark.parametrize("name", ["quaternion_log", "rotation_log"])
def test_log_of_exp_is_the_rotation_vector(angles, name):
    w, _, results = there_and_back(angles)
    assert relative_error(results[name], w) < 1e-14  # relative, however small the rotation


@ANGLES
def test_motion_log_of_motion_exp_is_the_twist(angles):
    w, v, results = there_and_back(angles)
    assert relative_error(results["motion_log"][:, :3], w) < 1e-14
    assert relative_error(results["motion_log"][:, 3:], v) < TOLERANCE


@pytest.mark.parametrize("name", ["quaternion_log", "rotation_log"])
def test_log_goes_the_shorter_way_round(name):
    w, _, results = there_and_back(tuple(BEYOND[1:]))
    length = np.linalg.norm(w, axis=1, keepdims=True)
    shorter = w * (1 - 2 * PI / length)
    # 2π − 1e-6 leaves a small difference of numbers of order one: compare absolutely
    assert_allclose(results[name], shorter, rtol=0, atol=1e-14)


@pytest.mark.parametrize("angles", [tuple(NEAR_ZERO + MIDDLE + NEAR_PI + BEYOND)])
def test_exp_of_log_is_the_rotation_and_the_motion_at_every_angle(angles):
    _, _, results = there_and_back(angles)
    assert_allclose(results["again"], results["r"], rtol=0, atol=TOLERANCE)
    there, back = results["moved"], results["moved_again"]
    sign = np.where((there[:, :4] * back[:, :4]).sum(axis=1) < 0, -1.0, 1.0)
    assert_allclose(sign[:, None] * back[:, :4], there[:, :4], rtol=0, atol=TOLERANCE)
    # near 2π the shift shrinks to almost nothing along some directions: compare with order one
    assert_allclose(back[:, 4:], there[:, 4:], rtol=0, atol=4 * TOLERANCE)


def test_rotation_exp_quaternion_matrix_and_matrix_quaternion_agree():
    w, _, results = there_and_back(tuple(NEAR_ZERO + MIDDLE + NEAR_PI + BEYOND))
    exact = scipy.linalg.expm(np.array([naive.tilde(row) for row in w]))
    assert_allclose(results["r"].reshape(-1, 3, 3), exact, rtol=0, atol=1e-14)
    for r, p in zip(exact, results["matrix_quaternion"], strict=True):
        assert_allclose(naive.quaternion_matrix(p), r, rtol=0, atol=1e-14)
        assert abs(p @ p - 1) < 1e-15


def test_series_coefficients_are_exact_on_both_sides_of_their_switch():
    w, _, results = there_and_back(tuple(NEAR_ZERO + MIDDLE + NEAR_PI))
    for row, half_sinc, third in zip(w, results["half_sinc"], results["third_order"], strict=True):
        with mpmath.workprec(300):
            theta = mpmath.sqrt(sum(mpmath.mpf(x) ** 2 for x in row.tolist()))
            if theta < 1e-30:
                exact = 0.5, mpmath.mpf(1) / 6
            else:
                exact = mpmath.sin(theta / 2) / theta, (theta - mpmath.sin(theta)) / theta**3
            assert abs(half_sinc[0] / exact[0] - 1) < 1e-15
            assert abs(third[0] / exact[1] - 1) < 1e-14
