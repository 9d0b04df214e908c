"""How far a flexible body bends, and where its nodes go.

Masters η are coordinates, slaves follow: ξ_b = ½ηᵀA_bη, with the slope G = A·η of ξ by η. A node at
s moves to r = s + Σ φₑηₑ and turns by E = exp(θ̃), θ = Σ ψₑηₑ; with T the left Jacobian of exp its
angular velocity is Ω = T·θ̇. What hangs on it at d (world axes) moves with

    Π = [ T·ψ ; φ + (T·ψ) × d ]

for each master, φ and ψ being those of the master and, by G, of the slaves.
"""

from __future__ import annotations

from math import factorial
from typing import Any, NamedTuple

from skodyn.jit import helper
from skodyn.kernels.flexible.flexible_products import ZEROS, fill_product, fill_two_products
from skodyn.kernels.flexible.flexible_table import (
    field,
    lanes_of,
    load6_apart,
    node_lanes,
    parameter3_apart,
    parameter_columns3,
    store_columns6,
)
from skodyn.kernels.joint_motion import zero3
from skodyn.kernels.packed_model import parameter3
from skodyn.kernels.tuples import load6
from skodyn.lanes import all_lanes, fma, load, load_rows, select, sincos, splat, sqrt, store
from skodyn.lanes.columns import columns_at_once, load_columns
from skodyn.model.flexible import flexible_layout as its
from skodyn.spatial.linear3 import add, add_cross, add_scaled, cross, dot, multiply_vector

SMALL_TURN = 2.25
"""Squares of angles below this take the series."""


@helper
def bend(work, model, record, q):
    """η, ξ and G."""
    m, b, pitch = shape_counts(model, record)
    eta, slope = lanes_of(model, record, its.ETA), lanes_of(model, record, its.SLOPE)
    for i in range(m):
        store(work, eta + i, load_rows(work, q, field(model, record, its.MODE_Q) + i))
    if b > 0:
        fill_product(work, model, field(model, record, its.SQUARES), ZEROS, eta, slope)
    for s in range(b):
        total = splat(work, 0.0)
        for i in range(m):
            total = fma(load(work, slope + s * pitch + i), load(work, eta + i), total)
        store(work, eta + m + s, 0.5 * total)


@helper
def bend_moving(work, model, record, q, v):
    """The same with η̇, ξ̇ = G·η̇, and what ξ̈ is at η̈ = 0: η̇ᵀAη̇."""
    m, b, pitch = shape_counts(model, record)
    eta, slope = lanes_of(model, record, its.ETA), lanes_of(model, record, its.SLOPE)
    rate, turning = lanes_of(model, record, its.ETA_RATE), lanes_of(model, record, its.SLOPE_RATE)
    product = lanes_of(model, record, its.SLAVE_PRODUCT)
    for i in range(m):
        store(work, eta + i, load_rows(work, q, field(model, record, its.MODE_Q) + i))
        store(work, rate + i, load_rows(work, v, field(model, record, its.MODE_V) + i))
    if b > 0:
        squares = field(model, record, its.SQUARES)
        fill_two_products(work, model, squares, ZEROS, (eta, slope), (rate, turning))
    for s in range(b):
        total, moved, square = splat(work, 0.0), splat(work, 0.0), splat(work, 0.0)
        for i in range(m):
            x, g = load(work, rate + i), load(work, slope + s * pitch + i)
            total = fma(g, load(work, eta + i), total)
            moved = fma(g, x, moved)
            square = fma(load(work, turning + s * pitch + i), x, square)
        store(work, eta + m + s, 0.5 * total)
        store(work, rate + m + s, moved)
        store(work, product + s, square)


@helper
def shape_counts(model, record):
    """How many masters and slaves, and how far apart components of masters lie."""
    return (
        field(model, record, its.MODES),
        field(model, record, its.SLAVES),
        field(model, record, its.MODE_PITCH),
    )


# ---- turns ---------------------------------------------------------------------------------------


@helper
def _series(s, c):
    """Σ cᵢ·(−s)ⁱ."""
    x = -s
    high = fma(x, fma(x, fma(x, fma(x, c[9] + 0.0 * s, c[8]), c[7]), c[6]), c[5])
    return fma(x, fma(x, fma(x, fma(x, fma(x, high, c[4]), c[3]), c[2]), c[1]), c[0])


def _inverse_factorials(shift: int) -> tuple[float, ...]:
    """1/shift!, 1/(shift + 2)!, …"""
    return tuple(1.0 / factorial(shift + 2 * i) for i in range(10))


_A, _B = _inverse_factorials(4), _inverse_factorials(5)


class Turn(NamedTuple):
    """θ, and of exp(θ̃) = I + (1 − s·b)·θ̃ + a·θ̃²: a, b and their derivatives by s = θ·θ."""

    theta: Any
    square: Any
    a: Any
    b: Any
    a_rate: Any
    b_rate: Any


@helper
def turn_by(theta):
    """The coefficients of a turn; small ones by series, as cancellation would leave nothing.

    With a = ½ − s·A and b = 1/6 − s·B their derivatives are A − b/2 and (3B − A)/2.
    """
    s = dot(theta, theta)
    second_a, second_b = _series(s, _A), _series(s, _B)
    a, b = fma(-s, second_a, 0.5), fma(-s, second_b, 1.0 / 6.0)
    a_rate, b_rate = fma(-0.5, b, second_a), 0.5 * fma(3.0, second_b, -second_a)
    small = s < SMALL_TURN
    if not all_lanes(small):
        one = 1.0 + 0.0 * s
        safe = select(small, one, s)
        angle = sqrt(safe)
        sine, cosine = sincos(angle)
        ratio = sine / angle
        far_a, far_b = (one - cosine) / safe, (one - ratio) / safe
        far_a_rate = (0.5 * ratio - far_a) / safe
        far_b_rate = (0.5 * (ratio - cosine) / safe - far_b) / safe
        a, b = select(small, a, far_a), select(small, b, far_b)
        a_rate, b_rate = select(small, a_rate, far_a_rate), select(small, b_rate, far_b_rate)
    return Turn(theta, s, a, b, a_rate, b_rate)


@helper
def turn_matrix(turn):
    """E."""
    x, y, z = turn.theta
    sinc = fma(-turn.square, turn.b, 1.0)
    cosine = fma(-turn.square, turn.a, 1.0)
    a = turn.a
    return (
        fma(a * x, x, cosine), fma(a * x, y, -(sinc * z)), fma(a * x, z, sinc * y),
        fma(a * x, y, sinc * z), fma(a * y, y, cosine), fma(a * y, z, -(sinc * x)),
        fma(a * x, z, -(sinc * y)), fma(a * y, z, sinc * x), fma(a * z, z, cosine),
    )  # fmt: skip


@helper
def turn_rate(turn, x):
    """T·x."""
    once = cross(turn.theta, x)
    return add_scaled(add_scaled(x, turn.a, once), turn.b, cross(turn.theta, once))


@helper
def turn_product(turn, x):
    """Ṫ·x for θ̇ = x."""
    once = cross(turn.theta, x)
    pace = 2.0 * dot(turn.theta, x)
    first = add_scaled(zero_like(x), turn.a_rate * pace, once)
    second = add_scaled(first, turn.b_rate * pace, cross(turn.theta, once))
    return add_scaled(second, turn.b, cross(x, once))


@helper
def zero_like(a):
    zero = 0.0 * a[0]
    return (zero, zero, zero)


# ---- nodes ---------------------------------------------------------------------------------------


@helper
def node_sum(work, model, record, product, x):
    """(Σ φₑxₑ, Σ ψₑxₑ) of lanes x."""
    out = lanes_of(model, record, its.BENT)
    fill_product(work, model, product, ZEROS, x, out)
    return load6(work, out)


@helper
def node_pose(work, model, record, node):
    """(r, turn) of a node, in axes of its body."""
    shapes, eta = field(model, node, its.NODE_SHAPES), lanes_of(model, record, its.ETA)
    moved, theta = node_sum(work, model, record, shapes, eta)
    s = parameter3(work, model, field(model, node, its.NODE_NUMBERS))
    return add(s, moved), turn_by(theta)


@helper
def carry_modes(work, model, record, node, turn, parent_rotation, d):
    """Store Π of every master, world axes; d from the node to the origin of what hangs there."""
    m, b, pitch = shape_counts(model, record)
    at = node_lanes(model, node)
    slope = lanes_of(model, record, its.SLOPE)
    shapes = shapes_apart(model, record)
    numbers = field(model, node, its.NODE_NUMBERS) + 3
    for i in range(0, m, columns_at_once(work)):
        phi = parameter_columns3(work, model, numbers + i, shapes)
        psi = parameter_columns3(work, model, numbers + 3 * shapes + i, shapes)
        for s in range(b):
            share, of = load_columns(work, slope + s * pitch + i), numbers + m + s
            phi = add_scaled(phi, share, parameter3_apart(work, model, of, shapes))
            psi = add_scaled(psi, share, parameter3_apart(work, model, of + 3 * shapes, shapes))
        spin = multiply_vector(parent_rotation, turn_rate(turn, psi))
        moved = add_cross(multiply_vector(parent_rotation, phi), spin, d)
        store_columns6(work, at + i, pitch, (spin, moved))


@helper
def shapes_apart(model, record):
    """How far apart components of shapes lie."""
    return field(model, record, its.PITCH)


@helper
def carried_column(work, model, record, node, i):
    """Π of master i."""
    return load6_apart(work, node_lanes(model, node) + i, field(model, record, its.MODE_PITCH))


class NodeRates(NamedTuple):
    """Of a node seen from its body, in axes of the body: Ω, Ω̇ and ṙ, r̈ at η̈ = 0."""

    spin: Any
    spin_rate: Any
    velocity: Any
    acceleration: Any


@helper
def node_rates(work, model, record, node, turn):
    """How a node moves in its body."""
    shapes = field(model, node, its.NODE_SHAPES)
    rate = lanes_of(model, record, its.ETA_RATE)
    product = lanes_of(model, record, its.SLAVE_PRODUCT)
    velocity, theta_rate = node_sum(work, model, record, shapes, rate)
    spin, spin_rate = turn_rate(turn, theta_rate), turn_product(turn, theta_rate)
    acceleration = zero3(work)
    if field(model, record, its.SLAVES) > 0:
        slaves = field(model, node, its.NODE_SLAVES)
        acceleration, theta_product = node_sum(work, model, record, slaves, product)
        spin_rate = add(spin_rate, turn_rate(turn, theta_product))
    return NodeRates(spin, spin_rate, velocity, acceleration)
