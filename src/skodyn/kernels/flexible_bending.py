"""How far a flexible body bends, and where its nodes go.

Masters η are coordinates, slaves follow: ξ_b = ½ηᵀA_bη, with the slope G = A·η of ξ by η. A node at
s moves to r = s + Σ φₑηₑ and turns by E = exp(θ̃), θ = Σ ψₑηₑ; with T the left Jacobian of exp its
angular velocity is Ω = T·θ̇. What hangs on it at d (world axes) moves with

    Π = [ T·ψ ; φ + (T·ψ) × d ]

for each master, φ and ψ being those of the master and, by G, of the slaves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import helper, routine
from skodyn.kernels.flexible_table import (
    add_sparse,
    clear_lanes,
    field,
    in_lanes3,
    lanes_of,
    node_lanes,
)
from skodyn.kernels.joint_motion import zero3
from skodyn.kernels.workspace import parameter3, store6
from skodyn.lanes import all_lanes, fma, load, load_rows, select, sincos, splat, sqrt, store
from skodyn.model.flexible_layout import (
    ETA,
    ETA_RATE,
    MODE_Q,
    MODE_V,
    MODES,
    NODE_NUMBERS,
    SHAPES,
    SLAVE_PRODUCT,
    SLAVES,
    SLOPE,
    SLOPE_RATE,
    SQUARE_NUMBERS,
    SQUARES,
)
from skodyn.spatial.linear3 import add, add_cross, add_scaled, cross, dot, multiply_vector

SMALL_TURN = 2.25
"""Squares of angles below this take the series."""


@routine
def bend(work, model, record, q):
    """η, ξ and G."""
    m, b = field(model, record, MODES), field(model, record, SLAVES)
    eta, slope = lanes_of(model, record, ETA), lanes_of(model, record, SLOPE)
    for i in range(m):
        store(work, eta + i, load_rows(work, q, field(model, record, MODE_Q) + i))
    clear_lanes(work, slope, b * m)
    squares, numbers = field(model, record, SQUARES), field(model, record, SQUARE_NUMBERS)
    add_sparse(work, model, squares, numbers, eta, slope)
    for s in range(b):
        total = splat(work, 0.0)
        for i in range(m):
            total = fma(load(work, slope + s * m + i), load(work, eta + i), total)
        store(work, eta + m + s, 0.5 * total)


@routine
def bend_rates(work, model, record, v):
    """η̇, ξ̇ = G·η̇, and what ξ̈ is at η̈ = 0: η̇ᵀAη̇."""
    m, b = field(model, record, MODES), field(model, record, SLAVES)
    rate, slope = lanes_of(model, record, ETA_RATE), lanes_of(model, record, SLOPE)
    turning, product = lanes_of(model, record, SLOPE_RATE), lanes_of(model, record, SLAVE_PRODUCT)
    for i in range(m):
        store(work, rate + i, load_rows(work, v, field(model, record, MODE_V) + i))
    clear_lanes(work, turning, b * m)
    squares, numbers = field(model, record, SQUARES), field(model, record, SQUARE_NUMBERS)
    add_sparse(work, model, squares, numbers, rate, turning)
    for s in range(b):
        moved, square = splat(work, 0.0), splat(work, 0.0)
        for i in range(m):
            x = load(work, rate + i)
            moved = fma(load(work, slope + s * m + i), x, moved)
            square = fma(load(work, turning + s * m + i), x, square)
        store(work, rate + m + s, moved)
        store(work, product + s, square)


# ---- turns ---------------------------------------------------------------------------------------


@helper
def _series(s, c):
    """Σ cᵢ·(−s)ⁱ."""
    x = -s
    high = fma(x, fma(x, fma(x, fma(x, c[9] + 0.0 * s, c[8]), c[7]), c[6]), c[5])
    return fma(x, fma(x, fma(x, fma(x, fma(x, high, c[4]), c[3]), c[2]), c[1]), c[0])


def _inverse_factorials(shift: int, weighted: bool) -> tuple[float, ...]:
    """Coefficients of (1 − cos θ)/θ² (shift 2) or (θ − sin θ)/θ³ (3), or of their derivatives by
    θ², in powers of −θ²."""
    found, product = [], 1.0
    for i in range(2, shift + 1):
        product *= i
    for i in range(11):
        found.append(1.0 / product)
        product *= (2 * i + shift + 1) * (2 * i + shift + 2)
    return tuple(-(i + 1) * found[i + 1] for i in range(10)) if weighted else tuple(found[:10])


_A, _B = _inverse_factorials(2, False), _inverse_factorials(3, False)
_A_RATE, _B_RATE = _inverse_factorials(2, True), _inverse_factorials(3, True)


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
    """The coefficients of a turn; small ones by series, as cancellation would leave nothing."""
    s = dot(theta, theta)
    a, b, a_rate, b_rate = _series(s, _A), _series(s, _B), _series(s, _A_RATE), _series(s, _B_RATE)
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
def node_shape(work, model, node, e):
    """(φ, ψ) of shape e at a node."""
    at = field(model, node, NODE_NUMBERS) + 3 + 6 * e
    return parameter3(work, model, at), parameter3(work, model, at + 3)


@helper
def node_sum(work, model, node, x, first, behind):
    """(Σ φₑxₑ, Σ ψₑxₑ) over shapes first … behind − 1; x are lanes, of shape `first` on."""
    moved, turned = zero3(work), zero3(work)
    for e in range(first, behind):
        phi, psi = node_shape(work, model, node, e)
        amount = load(work, x + e - first)
        moved, turned = add_scaled(moved, amount, phi), add_scaled(turned, amount, psi)
    return moved, turned


@routine
def node_pose(work, model, record, node):
    """(r, turn) of a node, in axes of its body."""
    n, eta = field(model, record, SHAPES), lanes_of(model, record, ETA)
    moved, theta = node_sum(work, model, node, eta, 0, n)
    s = parameter3(work, model, field(model, node, NODE_NUMBERS))
    return add(s, moved), turn_by(theta)


@helper
def master_shape(work, model, record, node, i):
    """(φ, ψ) of master i with what its slaves add."""
    m, b = field(model, record, MODES), field(model, record, SLAVES)
    slope = lanes_of(model, record, SLOPE)
    phi, psi = node_shape(work, model, node, i)
    phi, psi = in_lanes3(work, phi), in_lanes3(work, psi)
    for s in range(b):
        share = load(work, slope + s * m + i)
        slave_phi, slave_psi = node_shape(work, model, node, m + s)
        phi, psi = add_scaled(phi, share, slave_phi), add_scaled(psi, share, slave_psi)
    return phi, psi


@routine
def carry_modes(work, model, record, node, turn, parent_rotation, d):
    """Store Π of every master, world axes; d from the node to the origin of what hangs there."""
    at = node_lanes(model, node)
    for i in range(field(model, record, MODES)):
        phi, psi = master_shape(work, model, record, node, i)
        spin = multiply_vector(parent_rotation, turn_rate(turn, psi))
        moved = add_cross(multiply_vector(parent_rotation, phi), spin, d)
        store6(work, at + 6 * i, (spin, moved))


class NodeRates(NamedTuple):
    """Of a node seen from its body, in axes of the body: Ω, Ω̇ and ṙ, r̈ at η̈ = 0."""

    spin: Any
    spin_rate: Any
    velocity: Any
    acceleration: Any


@routine
def node_rates(work, model, record, node, turn):
    """How a node moves in its body."""
    m, n = field(model, record, MODES), field(model, record, SHAPES)
    rate, product = lanes_of(model, record, ETA_RATE), lanes_of(model, record, SLAVE_PRODUCT)
    velocity, theta_rate = node_sum(work, model, node, rate, 0, n)
    acceleration, theta_product = node_sum(work, model, node, product, m, n)
    spin_rate = add(turn_product(turn, theta_rate), turn_rate(turn, theta_product))
    return NodeRates(turn_rate(turn, theta_rate), spin_rate, velocity, acceleration)
