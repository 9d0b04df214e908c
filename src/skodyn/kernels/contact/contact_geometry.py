"""Gap, normal, point and turning of one contact point (docs/contact.md, the table of shapes).

Depth and normal come from the surface's signed distance, so that the rate of the gap is exactly the
normal part of the velocity at the point. Closest points are found by clamps and selects: lanes do
not branch. ωc is how the pair (normal, tangent plane) turns: with b where b is flat; else n × ṅ,
and about n with the mean of both bodies.
"""

from skodyn.jit import helper, shared_routine
from skodyn.kernels.contact.contact_field import field_at
from skodyn.kernels.forward_kinematics import POSITION
from skodyn.kernels.tuples import load3, load_matrix
from skodyn.kernels.workspace import BODY, body_slot, sum_slot
from skodyn.lanes import absolute, fma, parameter, select, splat, sqrt
from skodyn.model.contact import contact_layout as its
from skodyn.model.contact.contact_layout import Touch
from skodyn.spatial.linear3 import (
    add,
    add_cross,
    add_scaled,
    cross,
    dot,
    multiply,
    multiply_vector,
    multiply_vector_transposed,
    scale,
    subtract,
)

PARALLEL = 1e-14
"""sin² of the angle below which two axes are parallel and touch at the middle they share."""
UPRIGHT = 1e-24
"""sin² of the tilt below which a rim lies flat, and its lowest point is a fixed one."""


@helper
def number(work, contacts, i):
    """A number of the tables as a lane."""
    return splat(work, 1.0) * parameter(work, contacts.numbers, i)


@helper
def number3(work, contacts, i):
    return (number(work, contacts, i), number(work, contacts, i + 1), number(work, contacts, i + 2))


@helper
def number9(work, contacts, i):
    a, b, c = (
        number3(work, contacts, i),
        number3(work, contacts, i + 3),
        number3(work, contacts, i + 6),
    )
    return (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2])


@helper
def origin_of(work, model, k):
    return load3(work, sum_slot(model, k) + POSITION)


@helper
def placed(work, model, k, x):
    """A point of body k in world axes."""
    r = load_matrix(work, body_slot(k) + BODY.ROTATION)
    return add(origin_of(work, model, k), multiply_vector(r, x))


@helper
def velocity_at(work, model, k, x):
    """Velocity of body k at a point of the world."""
    slot = body_slot(k)
    omega, speed = load3(work, slot + BODY.OMEGA), load3(work, slot + BODY.MOTION + 3)
    return add_cross(speed, omega, subtract(x, origin_of(work, model, k)))


@helper
def spin_of(work, k):
    return load3(work, body_slot(k) + BODY.OMEGA)


@helper
def unit(work, a, size):
    """a over its length; upward where it has none."""
    there = size > 0.0
    one, zero = splat(work, 1.0), splat(work, 0.0)
    over = one / select(there, size, one)
    return (
        select(there, over * a[0], zero),
        select(there, over * a[1], zero),
        select(there, over * a[2], one),
    )


@helper
def clamp(x, half):
    x = select(x > half, half, x)
    return select(x < -half, -half, x)


@helper
def choose3(mask, a, b):
    return (select(mask, a[0], b[0]), select(mask, a[1], b[1]), select(mask, a[2], b[2]))


# ---- feelers: the point that is deepest along a direction ---------------------------------------


@helper
def deepest_of_ellipsoid(work, contacts, i, r, centre, n):
    """c − E·(radii² ∘ m)/|radii ∘ m| with m = Eᵀ·n: its support point."""
    axes = multiply(r, number9(work, contacts, i + 3))
    radii = number3(work, contacts, i + 12)
    m = multiply_vector_transposed(axes, n)
    m = (radii[0] * m[0], radii[1] * m[1], radii[2] * m[2])
    size = sqrt(dot(m, m))
    m = (radii[0] * m[0], radii[1] * m[1], radii[2] * m[2])
    return subtract(centre, multiply_vector(axes, scale(1.0 / size, m)))


@helper
def deepest_of_rim(work, contacts, i, r, centre, n):
    """c − R·d/|d| − edge·n with d the part of n in the plane of the rim."""
    u = multiply_vector(r, number3(work, contacts, i + 3))
    d = add_scaled(n, -dot(n, u), u)
    square = dot(d, d)
    tilted = square > UPRIGHT
    fixed = multiply_vector(r, number3(work, contacts, i + 8))
    over = 1.0 / sqrt(select(tilted, square, splat(work, 1.0)))
    d = choose3(tilted, scale(over, d), fixed)
    low = add_scaled(centre, -number(work, contacts, i + 6), d)
    return add_scaled(low, -number(work, contacts, i + 7), n)


@helper
def deepest(work, model, contacts, at, n):
    """The point of the feeler that reaches furthest against n."""
    codes = contacts.codes
    k, i = codes[at + its.BODY_A], codes[at + its.FEELER_AT]
    r = load_matrix(work, body_slot(k) + BODY.ROTATION)
    centre = add(origin_of(work, model, k), multiply_vector(r, number3(work, contacts, i)))
    if codes[at + its.FEELER] == its.BALL:
        return add_scaled(centre, -number(work, contacts, i + 3), n)
    if codes[at + its.FEELER] == its.ELLIPSOID:
        return deepest_of_ellipsoid(work, contacts, i, r, centre, n)
    return deepest_of_rim(work, contacts, i, r, centre, n)


# ---- surfaces -----------------------------------------------------------------------------------


@helper
def touch_plane(work, model, contacts, at):
    """A half space: of the world, or of a body."""
    codes = contacts.codes
    k, i = codes[at + its.BODY_B], codes[at + its.SURFACE_AT]
    if codes[at + its.SURFACE] == its.FLOOR:
        n, height = number3(work, contacts, i), number(work, contacts, i + 3)
    else:
        r = load_matrix(work, body_slot(k) + BODY.ROTATION)
        n = multiply_vector(r, number3(work, contacts, i + 3))
        height = dot(n, placed(work, model, k, number3(work, contacts, i)))
    low = deepest(work, model, contacts, at, n)
    gap = dot(n, low) - height
    return Touch(gap, n, add_scaled(low, -0.5 * gap, n), spin_of(work, k))


@shared_routine
def touch_field(work, model, contacts, at):
    """A height field: gap (z − f)·n_z below the feeler's centre; other feelers are asked twice."""
    codes = contacts.codes
    k, i = codes[at + its.BODY_B], codes[at + its.SURFACE_AT]
    r = load_matrix(work, body_slot(k) + BODY.ROTATION)
    axes = multiply(r, number9(work, contacts, i + 3))
    origin = placed(work, model, k, number3(work, contacts, i))
    centre = number3(work, contacts, codes[at + its.FEELER_AT])
    x = placed(work, model, codes[at + its.BODY_A], centre)
    local = multiply_vector_transposed(axes, subtract(x, origin))
    f, slope = field_at(work, model, contacts, at, local)
    n = multiply_vector(axes, slope)
    low = deepest(work, model, contacts, at, n)
    if codes[at + its.FEELER] == its.BALL:
        radius = number(work, contacts, codes[at + its.FEELER_AT] + 3)
        gap = fma(local[2] - f, slope[2], -radius)
    else:
        local = multiply_vector_transposed(axes, subtract(low, origin))
        f, slope = field_at(work, model, contacts, at, local)
        n = multiply_vector(axes, slope)
        gap = (local[2] - f) * slope[2]
    return Touch(gap, n, add_scaled(low, -0.5 * gap, n), spin_of(work, k))


@helper
def way_out(work, x, half):
    """(depth, normal) of a point inside a box, through its nearest face."""
    one = splat(work, 1.0)
    d = (absolute(x[0]) - half[0], absolute(x[1]) - half[1], absolute(x[2]) - half[2])
    second = d[1] > d[0]
    best = select(second, d[1], d[0])
    third = d[2] > best
    zero = splat(work, 0.0)
    first = select(second, zero, one)
    middle = select(second, one, zero)
    n = (select(third, zero, first), select(third, zero, middle), select(third, one, zero))
    signs = (
        select(x[0] < 0.0, -n[0], n[0]),
        select(x[1] < 0.0, -n[1], n[1]),
        select(x[2] < 0.0, -n[2], n[2]),
    )
    return select(third, d[2], best), signs


@shared_routine
def touch_box(work, model, contacts, at):
    """A ball on a box: exact distance to faces, edges and corners; from inside, to a face."""
    codes = contacts.codes
    a, b, i = codes[at + its.BODY_A], codes[at + its.BODY_B], codes[at + its.SURFACE_AT]
    axes = multiply(load_matrix(work, body_slot(b) + BODY.ROTATION), number9(work, contacts, i + 3))
    half = number3(work, contacts, i + 12)
    place = placed(work, model, a, number3(work, contacts, codes[at + its.FEELER_AT]))
    radius = number(work, contacts, codes[at + its.FEELER_AT] + 3)
    origin = placed(work, model, b, number3(work, contacts, i))
    x = multiply_vector_transposed(axes, subtract(place, origin))
    d = (x[0] - clamp(x[0], half[0]), x[1] - clamp(x[1], half[1]), x[2] - clamp(x[2], half[2]))
    distance = sqrt(dot(d, d))
    outside = distance > 0.0
    depth, inward = way_out(work, x, half)
    n = choose3(outside, unit(work, d, distance), inward)
    gap = select(outside, distance, depth) - radius
    # in the axes of the box, d changes where the clamp holds; on a face that does not turn n
    rate = multiply_vector_transposed(
        axes, subtract(velocity_at(work, model, a, place), velocity_at(work, model, b, place))
    )
    zero = splat(work, 0.0)
    rate = (
        select(absolute(d[0]) > 0.0, rate[0], zero),
        select(absolute(d[1]) > 0.0, rate[1], zero),
        select(absolute(d[2]) > 0.0, rate[2], zero),
    )
    rate = scale(1.0 / select(outside, distance, splat(work, 1.0)), rate)
    spin = choose3(outside, cross(n, rate), (zero, zero, zero))
    turn = add(spin_of(work, b), multiply_vector(axes, spin))
    n = multiply_vector(axes, n)
    return Touch(gap, n, add_scaled(place, -fma(0.5, gap, radius), n), turn)


@helper
def round_touch(work, model, contacts, at, x, d, rate, radii):
    """Two round shapes whose nearest points on axis or centre are d apart; rate is ḋ."""
    size = sqrt(dot(d, d))
    n = unit(work, d, size)
    gap = size - (radii[0] + radii[1])
    over = 1.0 / select(size > 0.0, size, splat(work, 1.0))
    mean = add(
        spin_of(work, contacts.codes[at + its.BODY_A]),
        spin_of(work, contacts.codes[at + its.BODY_B]),
    )
    turn = add_scaled(scale(over, cross(n, rate)), 0.5 * dot(n, mean), n)
    return Touch(gap, n, add_scaled(x, -fma(0.5, gap, radii[0]), n), turn)


@helper
def touch_balls(work, model, contacts, at):
    """Sphere on sphere."""
    codes = contacts.codes
    a = codes[at + its.BODY_A]
    b = codes[at + its.BODY_B]
    i = codes[at + its.FEELER_AT]
    j = codes[at + its.SURFACE_AT]
    x = placed(work, model, a, number3(work, contacts, i))
    y = placed(work, model, b, number3(work, contacts, j))
    rate = subtract(velocity_at(work, model, a, x), velocity_at(work, model, b, y))
    radii = (number(work, contacts, i + 3), number(work, contacts, j + 3))
    return round_touch(work, model, contacts, at, x, subtract(x, y), rate, radii)


@helper
def nearest_on_axes(work, r, axes, halves):
    """(s, t) of the nearest points p + s·u and q + t·w of two segments; r = p − q."""
    u, w = axes
    b, c, f = dot(u, w), dot(u, r), dot(w, r)
    square = 1.0 - b * b
    crossing = square > PARALLEL
    far = fma(b, f, -c) / select(crossing, square, splat(work, 1.0))
    middle = 0.5 * (clamp(-c - halves[1], halves[0]) + clamp(halves[1] - c, halves[0]))
    s = select(crossing, clamp(far, halves[0]), middle)
    t = clamp(fma(b, s, f), halves[1])
    s = select(crossing, clamp(fma(b, t, -c), halves[0]), s)
    return s, t


@helper
def sliding(work, spins, d, rate, axes, at, halves):
    """ḋ with the nearest points sliding along their axes, so that d stays across them.

    ḋ = rate + ṡ·u − ṫ·w, ḋ·u = −d·u̇ where s is between its ends, ḋ·w = −d·ẇ where t is.
    """
    u, w = axes
    zero, one = splat(work, 0.0), splat(work, 1.0)
    first = -(dot(d, cross(spins[0], u)) + dot(rate, u))
    second = -(dot(d, cross(spins[1], w)) + dot(rate, w))
    free_s, free_t = absolute(at[0]) < halves[0], absolute(at[1]) < halves[1]
    b = dot(u, w)
    square = 1.0 - b * b
    crossing = square > PARALLEL
    both = fma(-b, second, first) / select(crossing, square, one)
    held = select(free_s, first, zero)
    ds = select(free_t, select(free_s, select(crossing, both, first), zero), held)
    dt = select(free_t, fma(b, ds, -second), zero)
    dt = select(crossing, dt, select(free_s, zero, dt))
    return add_scaled(add_scaled(rate, ds, u), -dt, w)


@shared_routine
def touch_axes(work, model, contacts, at):
    """Capsule on capsule; a ball is one of no length."""
    codes = contacts.codes
    a = codes[at + its.BODY_A]
    b = codes[at + its.BODY_B]
    i = codes[at + its.FEELER_AT]
    j = codes[at + its.SURFACE_AT]
    p = placed(work, model, a, number3(work, contacts, i))
    q = placed(work, model, b, number3(work, contacts, j))
    u = multiply_vector(
        load_matrix(work, body_slot(a) + BODY.ROTATION), number3(work, contacts, i + 3)
    )
    w = multiply_vector(
        load_matrix(work, body_slot(b) + BODY.ROTATION), number3(work, contacts, j + 3)
    )
    halves = (number(work, contacts, i + 6), number(work, contacts, j + 6))
    radii = (number(work, contacts, i + 7), number(work, contacts, j + 7))
    s, t = nearest_on_axes(work, subtract(p, q), (u, w), halves)
    x, y = add_scaled(p, s, u), add_scaled(q, t, w)
    d = subtract(x, y)
    rate = subtract(velocity_at(work, model, a, x), velocity_at(work, model, b, y))
    spins = (spin_of(work, a), spin_of(work, b))
    rate = sliding(work, spins, d, rate, (u, w), (s, t), halves)
    return round_touch(work, model, contacts, at, x, d, rate, radii)


@helper
def touch(work, model, contacts, at):
    """The contact point whose record is at `at`; poses and velocities are in the workspace."""
    surface = contacts.codes[at + its.SURFACE]
    if surface == its.BOX:
        return touch_box(work, model, contacts, at)
    if surface == its.FIELD:
        return touch_field(work, model, contacts, at)
    if surface == its.BALL_SURFACE:
        return touch_balls(work, model, contacts, at)
    if surface == its.STRAIGHT_SURFACE:
        return touch_axes(work, model, contacts, at)
    return touch_plane(work, model, contacts, at)
