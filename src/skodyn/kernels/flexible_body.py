"""Mass matrix and bias force of one flexible body, modes beside its six velocities.

With r = s + Σ φₑηₑ all inertia coupling follows from Qₑ = ∫ r φₑᵀ dm = Nₑ + Σ η_f S_fe, of which
nine numbers matter, D(Qₑ) and c = ax(Qₑ) = ∫ r × φₑ dm:

    J = J₀ + Σ ηₑ ½(D(Nₑ) + D(Qₑ))        mc = mc₀ + Σ ηₑ Ctₑ
    b_ω = ω×Jω + Σ η̇ₑ (D(Qₑ)ω + ω×cₑ)     b_v = ω×(ω×mc) + 2ω×Σ η̇ₑ Ctₑ
    bₑ  = −½ ωᵀD(Qₑ)ω + 2 ω·ċₑ

over masters and slaves alike. Slaves follow their masters with slope G and ξ̈ = Gη̈ + γ: with
W = [I; G], M = WᵀM_ext W and b = Wᵀ(b_ext + M_ext·[0; 0; γ]), which stays positive definite as any
sum over particles does. The strain energy is ½ηᵀKη, for beams with the next order of their
curvature behind it.
"""

from __future__ import annotations

from skodyn.jit import helper, routine
from skodyn.kernels.flexible_table import (
    add_sparse,
    clear_lanes,
    field,
    in_lanes3,
    lanes_of,
    modal_mass,
    shape_integral,
    triangle,
)
from skodyn.kernels.joint_motion import zero3
from skodyn.kernels.workspace import (
    DOF_LANES,
    GAIN,
    OMEGA,
    RESIDUE,
    body_count,
    body_parameters,
    body_slot,
    dof_slot,
    load3,
    load6,
    load_sym,
    parameter3,
    parameter_sym,
    store3,
    store6,
    store_sym,
)
from skodyn.lanes import fma, load, parameter, splat, store
from skodyn.model.flexible_layout import (
    ARM_RATE,
    BIAS,
    CARRIED,
    COUPLING,
    COUPLING_NUMBERS,
    COUPLINGS,
    DAMPING,
    ETA,
    ETA_RATE,
    FIRST,
    GAUSS,
    GAUSS_POINTS,
    IS_MIXED,
    MODE_V,
    MODES,
    OWN,
    PAIRS,
    PRODUCT_NUMBERS,
    PRODUCTS,
    SECOND,
    SHAPE_INTEGRALS,
    SHAPES,
    SLAVE_PRODUCT,
    SLAVES,
    SLOPE,
    STIFFNESS,
)
from skodyn.model.layout import FIRST_MOMENT, MASS, SECOND_MOMENT
from skodyn.spatial.inertia import rotate_inertia
from skodyn.spatial.linear3 import (
    add,
    add_scaled,
    cross,
    dot,
    multiply_sym_vector,
    multiply_vector,
    multiply_vector_transposed,
)


@helper
def add_scaled_sym(a, s, b):
    """a + s·b of symmetric matrices."""
    return (
        fma(s, b[0], a[0]), fma(s, b[1], a[1]), fma(s, b[2], a[2]),
        fma(s, b[3], a[3]), fma(s, b[4], a[4]), fma(s, b[5], a[5]),
    )  # fmt: skip


@helper
def mode_slot(model, record, i):
    """Record of the degree of freedom that master i is."""
    return dof_slot(body_count(model), field(model, record, MODE_V) + i)


@routine
def couple_shapes(work, model, record, moving):
    """D(Qₑ) and cₑ of every shape, and ċₑ if the body moves."""
    n, at = field(model, record, SHAPES), lanes_of(model, record, COUPLING)
    constants, one = field(model, record, COUPLINGS), splat(work, 1.0)
    for e in range(n):
        d = parameter_sym(work, model, constants + 9 * e)
        c = parameter3(work, model, constants + 9 * e + 6)
        store_sym(
            work,
            at + 9 * e,
            (one * d[0], one * d[1], one * d[2], one * d[3], one * d[4], one * d[5]),
        )
        store3(work, at + 9 * e + 6, (one * c[0], one * c[1], one * c[2]))
    rows, numbers = field(model, record, PRODUCTS), field(model, record, PRODUCT_NUMBERS)
    add_sparse(work, model, rows, numbers, lanes_of(model, record, ETA), at)
    if moving:
        _arm_rates(work, model, record, rows, numbers)


@helper
def _arm_rates(work, model, record, rows, numbers):
    """ċₑ = Σ η̇_f ax(S_fe): the same rows, of which the last three of nine count."""
    x, out = lanes_of(model, record, ETA_RATE), lanes_of(model, record, ARM_RATE)
    clear_lanes(work, out, 3 * field(model, record, SHAPES))
    place, at = rows + 1, numbers
    for _ in range(model.tree[rows]):
        row, count = model.tree[place], model.tree[place + 1]
        e, component = row // COUPLING_NUMBERS, row % COUPLING_NUMBERS
        if component >= 6:
            total = splat(work, 0.0)
            for c in range(count):
                entry = parameter(work, model.parameters, at + c)
                total = fma(entry, load(work, x + model.tree[place + 2 + c]), total)
            store(work, out + 3 * e + component - 6, total)
        place += 2 + count
        at += count


@helper
def coupling_of(work, model, record, e):
    """(D(Qₑ), cₑ)."""
    at = lanes_of(model, record, COUPLING) + COUPLING_NUMBERS * e
    return load_sym(work, at), load3(work, at + 6)


@routine
def deformed_inertia(work, model, k, record):
    """(m, mc, J) of body k in its own axes."""
    i, eta = body_parameters(k), lanes_of(model, record, ETA)
    one = splat(work, 1.0)
    h = in_lanes3(work, parameter3(work, model, i + FIRST_MOMENT))
    a = in_lanes3(work, parameter3(work, model, i + SECOND_MOMENT))
    b = in_lanes3(work, parameter3(work, model, i + SECOND_MOMENT + 3))
    j = (a[0], a[1], a[2], b[0], b[1], b[2])
    constants, integrals = field(model, record, COUPLINGS), field(model, record, SHAPE_INTEGRALS)
    at = lanes_of(model, record, COUPLING)
    for e in range(field(model, record, SHAPES)):
        amount = one * load(work, eta + e)
        undeformed = parameter_sym(work, model, constants + 9 * e)
        now = load_sym(work, at + 9 * e)
        h = add_scaled(h, amount, parameter3(work, model, integrals + 3 * e))
        j = add_scaled_sym(add_scaled_sym(j, 0.5 * amount, undeformed), 0.5 * amount, now)
    return one * parameter(work, model.parameters, i + MASS), h, j


@routine
def couple_masters(work, model, record, r):
    """P_rη of the body alone, one column a master, world axes, into GAIN."""
    m, b = field(model, record, MODES), field(model, record, SLAVES)
    slope, at = lanes_of(model, record, SLOPE), lanes_of(model, record, COUPLING) + 6
    integrals, first = field(model, record, SHAPE_INTEGRALS), mode_slot(model, record, 0) + GAIN
    for i in range(m):
        c = load3(work, at + 9 * i)
        f = in_lanes3(work, parameter3(work, model, integrals + 3 * i))
        for s in range(b):
            share = load(work, slope + s * m + i)
            c = add_scaled(c, share, load3(work, at + 9 * (m + s)))
            f = add_scaled(f, share, parameter3(work, model, integrals + 3 * (m + s)))
        store6(work, first + i * DOF_LANES, (multiply_vector(r, c), multiply_vector(r, f)))


@routine
def pair_masters(work, model, record):
    """P_ηη = WᵀMeW of the body alone."""
    m, b = field(model, record, MODES), field(model, record, SLAVES)
    pairs, slope = lanes_of(model, record, PAIRS), lanes_of(model, record, SLOPE)
    carried = lanes_of(model, record, CARRIED)
    for s in range(b):  # what a slave's momentum is by each master's rate
        for i in range(m):
            total = splat(work, 0.0)
            for t in range(b):
                weight = modal_mass(work, model, record, m + s, m + t)
                total = fma(weight, load(work, slope + t * m + i), total)
            store(work, carried + s * m + i, total)
    mixed = field(model, record, IS_MIXED) > 0
    for i in range(m):
        for j in range(i + 1):
            total = splat(work, 1.0) * modal_mass(work, model, record, i, j)
            for s in range(b):
                own, other = load(work, slope + s * m + i), load(work, slope + s * m + j)
                total = fma(own, load(work, carried + s * m + j), total)
                if mixed:
                    total = fma(modal_mass(work, model, record, i, m + s), other, total)
                    total = fma(modal_mass(work, model, record, j, m + s), own, total)
            store(work, pairs + triangle(i) + j, total)


@helper
def weigh(work, model, k, record, r, moving):
    """Everything that M(k) is made of, kept in world axes; (m, mc, J) in axes of the body."""
    couple_shapes(work, model, record, moving)
    inertia = deformed_inertia(work, model, k, record)
    _, h, j = rotate_inertia(r, inertia)
    own = lanes_of(model, record, OWN)
    store3(work, own + FIRST, h)
    store_sym(work, own + SECOND, j)
    couple_masters(work, model, record, r)
    pair_masters(work, model, record)
    return inertia


@helper
def own_inertia(work, model, k, record):
    """(m, h, J) of a body that has been weighed, world axes."""
    own = lanes_of(model, record, OWN)
    mass = splat(work, 1.0) * parameter(work, model.parameters, body_parameters(k) + MASS)
    return mass, load3(work, own + FIRST), load_sym(work, own + SECOND)


@helper
def own_bias(work, model, record):
    """b of a body that has been loaded."""
    return load6(work, lanes_of(model, record, OWN) + BIAS)


@helper
def square_of(w):
    """−½(ωωᵀ) as what D of a shape is weighed with."""
    return (
        -0.5 * (w[0] * w[0]), -(w[0] * w[1]), -(w[0] * w[2]),
        -0.5 * (w[1] * w[1]), -(w[1] * w[2]), -0.5 * (w[2] * w[2]),
    )  # fmt: skip


@helper
def shape_bias(work, model, record, e, w, squares):
    """bₑ, with what the slaves' own acceleration adds."""
    m, b = field(model, record, MODES), field(model, record, SLAVES)
    d, _ = coupling_of(work, model, record, e)
    c_rate = load3(work, lanes_of(model, record, ARM_RATE) + 3 * e)
    upper = fma(
        squares[0], d[0], fma(squares[1], d[1], fma(squares[2], d[2], 2.0 * dot(w, c_rate)))
    )
    total = fma(squares[3], d[3], fma(squares[4], d[4], fma(squares[5], d[5], upper)))
    product = lanes_of(model, record, SLAVE_PRODUCT)
    if e >= m or field(model, record, IS_MIXED) > 0:
        for s in range(b):
            weight = modal_mass(work, model, record, e, m + s)
            total = fma(weight, load(work, product + s), total)
    return total


@routine
def load_body(work, model, k, record, r, inertia):
    """b: six numbers into OWN, one for each master into RESIDUE, with the strain's part."""
    m, b, n = (
        field(model, record, MODES),
        field(model, record, SLAVES),
        field(model, record, SHAPES),
    )
    rate, product = lanes_of(model, record, ETA_RATE), lanes_of(model, record, SLAVE_PRODUCT)
    w = multiply_vector_transposed(r, load3(work, body_slot(k) + OMEGA))
    zero = splat(work, 0.0)
    d_sum, c_sum, f_sum = (zero, zero, zero, zero, zero, zero), zero3(work), zero3(work)
    at, integrals = lanes_of(model, record, COUPLING), field(model, record, SHAPE_INTEGRALS)
    for e in range(n):
        x = load(work, rate + e)
        d_sum = add_scaled_sym(d_sum, x, load_sym(work, at + 9 * e))
        c_sum = add_scaled(c_sum, x, load3(work, at + 9 * e + 6))
        f_sum = add_scaled(f_sum, x, parameter3(work, model, integrals + 3 * e))
    _, h, j = inertia
    turning = add(cross(w, add(multiply_sym_vector(j, w), c_sum)), multiply_sym_vector(d_sum, w))
    pushing = cross(w, add_scaled(cross(w, h), 2.0, f_sum))
    for s in range(b):
        x = load(work, product + s)
        _, c = coupling_of(work, model, record, m + s)
        turning = add_scaled(turning, x, c)
        pushing = add_scaled(pushing, x, shape_integral(work, model, record, m + s))
    own = lanes_of(model, record, OWN)
    store6(work, own + BIAS, (multiply_vector(r, turning), multiply_vector(r, pushing)))
    squares = square_of(w)
    for i in range(m):
        store(
            work,
            mode_slot(model, record, i) + RESIDUE,
            shape_bias(work, model, record, i, w, squares),
        )
    for s in range(b):
        of_slave = shape_bias(work, model, record, m + s, w, squares)
        for i in range(m):
            share = load(work, lanes_of(model, record, SLOPE) + s * m + i)
            at = mode_slot(model, record, i) + RESIDUE
            store(work, at, fma(share, of_slave, load(work, at)))


@routine
def strain_body(work, model, record, moving):
    """Add Kη + Cη̇, and for beams the force of their curvature's next order, to RESIDUE."""
    m, eta = field(model, record, MODES), lanes_of(model, record, ETA)
    rate, p = lanes_of(model, record, ETA_RATE), model.parameters
    for i in range(m):
        at = mode_slot(model, record, i) + RESIDUE
        k = parameter(work, p, field(model, record, STIFFNESS) + i)
        total = fma(k, load(work, eta + i), load(work, at))
        if moving:
            c = parameter(work, p, field(model, record, DAMPING) + i)
            total = fma(c, load(work, rate + i), total)
        store(work, at, total)
    for g in range(field(model, record, GAUSS_POINTS)):
        at = field(model, record, GAUSS) + g * (4 * m + 1)
        v, vv, w, ww = bent_at(work, model, at, m, eta)
        pull = parameter(work, p, at) * fma(v, vv, w * ww)
        for i in range(m):
            here = at + 1 + i
            slope = fma(parameter(work, p, here), vv, parameter(work, p, here + m) * v)
            slope = fma(parameter(work, p, here + 2 * m), ww, slope)
            slope = fma(parameter(work, p, here + 3 * m), w, slope)
            out = mode_slot(model, record, i) + RESIDUE
            store(work, out, fma(pull, slope, load(work, out)))


@helper
def bent_at(work, model, at, m, eta):
    """(v′, v″, w′, w″) at a Gauss point of a beam."""
    p, zero = model.parameters, splat(work, 0.0)
    v, vv, w, ww = zero, zero, zero, zero
    for i in range(m):
        x, here = load(work, eta + i), at + 1 + i
        v, vv = fma(parameter(work, p, here), x, v), fma(parameter(work, p, here + m), x, vv)
        w = fma(parameter(work, p, here + 2 * m), x, w)
        ww = fma(parameter(work, p, here + 3 * m), x, ww)
    return v, vv, w, ww


@routine
def strain_energy(work, model, record):
    """½ηᵀKη, and what the next order of a beam's curvature adds."""
    m, eta, p = field(model, record, MODES), lanes_of(model, record, ETA), model.parameters
    total = splat(work, 0.0)
    for i in range(m):
        x = load(work, eta + i)
        total = fma(0.5 * parameter(work, p, field(model, record, STIFFNESS) + i) * x, x, total)
    for g in range(field(model, record, GAUSS_POINTS)):
        at = field(model, record, GAUSS) + g * (4 * m + 1)
        v, vv, w, ww = bent_at(work, model, at, m, eta)
        bent = fma(v, vv, w * ww)
        total = fma(0.5 * parameter(work, p, at) * bent, bent, total)
    return total
