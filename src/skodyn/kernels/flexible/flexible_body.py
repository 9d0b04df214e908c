"""Mass matrix and bias force of one flexible body, modes beside its six velocities.

With r = s + Σ φₑηₑ all inertia coupling follows from Qₑ = ∫ r φₑᵀ dm = Nₑ + Σ η_f S_fe, of which
nine numbers matter, D(Qₑ) and c = ax(Qₑ) = ∫ r × φₑ dm:

    J = J₀ + Σ ηₑ ½(D(Nₑ) + D(Qₑ))        mc = mc₀ + Σ ηₑ Ctₑ
    b_ω = ω×Jω + Σ η̇ₑ (D(Qₑ)ω + ω×cₑ)     b_v = ω×(ω×mc) + 2ω×Σ η̇ₑ Ctₑ
    bₑ  = −½ ωᵀD(Qₑ)ω + 2 ω·ċₑ

over masters and slaves alike. Slaves follow their masters with slope G and ξ̈ = Gη̈ + γ: with
W = [I; G], M = WᵀM_ext W and b = Wᵀ(b_ext + M_ext·[0; 0; γ]), which stays positive definite as any
sum over particles does. What bending costs is in flexible_strain.py.
"""

from skodyn.jit import helper
from skodyn.kernels.flexible.flexible_bending import shape_counts
from skodyn.kernels.flexible.flexible_products import fill_product, fill_two_products
from skodyn.kernels.flexible.flexible_table import (
    add_scaled_four,
    columns3,
    columns6,
    columns_of_four,
    field,
    lanes_of,
    load3_apart,
    load6_apart,
    parameter3_apart,
    parameter_columns3,
    parameters_of_four,
    store_columns6,
    store_columns_of_four,
    zeros_of_four,
)
from skodyn.kernels.joint_motion import zero3
from skodyn.kernels.packed_model import body_parameters, parameter3
from skodyn.kernels.tuples import load3, load6, load_sym, store3, store6, store_sym
from skodyn.kernels.workspace import BODY, DOF, body_slot
from skodyn.lanes import fma, load, parameter, splat
from skodyn.lanes.columns import (
    columns_at_once,
    load_columns,
    parameter_columns,
    splat_columns,
    store_columns,
)
from skodyn.model.flexible import flexible_layout as its
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
def in_lanes3(work, a):
    """Three parameters that a sum of lanes begins with."""
    return (splat(work, a[0]), splat(work, a[1]), splat(work, a[2]))


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
    return field(model, record, its.MODE_SLOT) + i * DOF.size


@helper
def couple_shapes(work, model, record, moving):
    """D(Qₑ) and cₑ of every shape, and ċₑ if the body moves."""
    pitch, arms = field(model, record, its.PITCH), field(model, record, its.ARMS)
    at, eta = lanes_of(model, record, its.COUPLING), lanes_of(model, record, its.ETA)
    constants = field(model, record, its.COUPLINGS)
    beyond, at_arms = constants + 6 * pitch, at + 6 * pitch
    fill_product(work, model, field(model, record, its.TURNING), constants, eta, at)
    if moving:
        rate, out = lanes_of(model, record, its.ETA_RATE), lanes_of(model, record, its.ARM_RATE)
        fill_two_products(work, model, arms, beyond, (eta, at_arms), (rate, out))
    else:
        fill_product(work, model, arms, beyond, eta, at_arms)


@helper
def turning_of(work, at, pitch):
    """D(Q) of the shape whose numbers begin at `at`."""
    a, b = load6_apart(work, at, pitch)
    return (a[0], a[1], a[2], b[0], b[1], b[2])


@helper
def deformed_inertia(work, model, k, record):
    """(m, mc, J) of body k in its own axes."""
    i, eta = body_parameters(k), lanes_of(model, record, its.ETA)
    one, pitch = splat(work, 1.0), field(model, record, its.PITCH)
    h = in_lanes3(work, parameter3(work, model, i + FIRST_MOMENT))
    a = in_lanes3(work, parameter3(work, model, i + SECOND_MOMENT))
    b = in_lanes3(work, parameter3(work, model, i + SECOND_MOMENT + 3))
    j = (a[0], a[1], a[2], b[0], b[1], b[2])
    constants = field(model, record, its.COUPLINGS)
    integrals = field(model, record, its.SHAPE_INTEGRALS)
    at = lanes_of(model, record, its.COUPLING)
    for e in range(field(model, record, its.SHAPES)):
        amount = one * load(work, eta + e)
        upper = parameter3_apart(work, model, constants + e, pitch)
        lower = parameter3_apart(work, model, constants + e + 3 * pitch, pitch)
        now = load6_apart(work, at + e, pitch)
        upper, lower = add(upper, now[0]), add(lower, now[1])
        h = add_scaled(h, amount, parameter3_apart(work, model, integrals + e, pitch))
        both = (upper[0], upper[1], upper[2], lower[0], lower[1], lower[2])
        j = add_scaled_sym(j, 0.5 * amount, both)
    return one * parameter(work, model.parameters, i + MASS), h, j


@helper
def couple_masters(work, model, record, r):
    """P_rη of the body alone, one column a master, world axes, into GAINS."""
    m, b, masters = shape_counts(model, record)
    slope, gains = lanes_of(model, record, its.SLOPE), lanes_of(model, record, its.GAINS)
    pitch, integrals = field(model, record, its.PITCH), field(model, record, its.SHAPE_INTEGRALS)
    at = lanes_of(model, record, its.COUPLING) + 6 * pitch
    for i in range(0, m, columns_at_once(work)):
        c = columns3(work, at + i, pitch)
        f = parameter_columns3(work, model, integrals + i, pitch)
        for s in range(b):
            share = load_columns(work, slope + s * masters + i)
            c = add_scaled(c, share, load3_apart(work, at + m + s, pitch))
            f = add_scaled(f, share, parameter3_apart(work, model, integrals + m + s, pitch))
        u = multiply_vector(r, c), multiply_vector(r, f)
        store_columns6(work, gains + i, masters, u)


@helper
def carry_slaves(work, model, record):
    """What a slave's momentum is by each master's rate, into CARRIED."""
    m, b, masters = shape_counts(model, record)
    slope, carried = lanes_of(model, record, its.SLOPE), lanes_of(model, record, its.CARRIED)
    pitch, step = field(model, record, its.PITCH), columns_at_once(work)
    mass = field(model, record, its.MODAL_MASS) + m * pitch + m
    for s in range(b):
        for i in range(0, m, its.FOUR):
            if step > 1:
                total = splat_columns(work, 0.0)
                for t in range(b):
                    weight = parameter(work, model.parameters, mass + s * pitch + t)
                    total = fma(load_columns(work, slope + t * masters + i), weight, total)
                store_columns(work, carried + s * masters + i, total)
            else:
                four = zeros_of_four(work)
                for t in range(b):
                    weight = parameter(work, model.parameters, mass + s * pitch + t)
                    four = add_scaled_four(
                        four, weight, columns_of_four(work, slope + t * masters + i)
                    )
                store_columns_of_four(work, carried + s * masters + i, four)


@helper
def pair_four(work, model, record, i, j):
    """Four columns of P_ηη, from j on, of master i, if no inertia is mixed."""
    b, masters = field(model, record, its.SLAVES), field(model, record, its.MODE_PITCH)
    slope = lanes_of(model, record, its.SLOPE) + i
    carried = lanes_of(model, record, its.CARRIED) + j
    mass = field(model, record, its.MODAL_MASS) + i * field(model, record, its.PITCH) + j
    total = parameters_of_four(work, model, mass)
    for s in range(b):
        own = load(work, slope + s * masters)
        total = add_scaled_four(total, own, columns_of_four(work, carried + s * masters))
    store_columns_of_four(work, lanes_of(model, record, its.PAIRS) + i * masters + j, total)


@helper
def pair_masters(work, model, record):
    """P_ηη = WᵀMeW of the body alone."""
    m, b, masters = shape_counts(model, record)
    pairs, slope = lanes_of(model, record, its.PAIRS), lanes_of(model, record, its.SLOPE)
    carried, pitch = lanes_of(model, record, its.CARRIED), field(model, record, its.PITCH)
    mass, step = field(model, record, its.MODAL_MASS), columns_at_once(work)
    carry_slaves(work, model, record)
    mixed = field(model, record, its.IS_MIXED) > 0
    if step == 1 and b > 0 and not mixed:
        for i in range(m):
            for j in range(0, i + 1, its.FOUR):
                pair_four(work, model, record, i, j)
        return
    for i in range(m):
        for j in range(0, i + 1, step):
            total = parameter_columns(work, model.parameters, mass + i * pitch + j)
            for s in range(b):
                own = load(work, slope + s * masters + i)
                total = fma(load_columns(work, carried + s * masters + j), own, total)
                if mixed:
                    other = load_columns(work, slope + s * masters + j)
                    weight = parameter(work, model.parameters, mass + i * pitch + m + s)
                    total = fma(other, weight, total)
                    weights = parameter_columns(work, model.parameters, mass + (m + s) * pitch + j)
                    total = fma(weights, own, total)
            store_columns(work, pairs + i * masters + j, total)


@helper
def gain_of(work, model, record, i):
    """P_rη of master i, which has not yielded."""
    return load6_apart(
        work, lanes_of(model, record, its.GAINS) + i, field(model, record, its.MODE_PITCH)
    )


@helper
def yielded_gain(work, model, record, i):
    """P_rη of master i as it was when it yielded.

    One state takes four columns at once, writes over those of masters that have yielded, and so
    keeps u apart. Several states do not, and have fewer numbers to move.
    """
    if columns_at_once(work) > 1:
        return load6(work, mode_slot(model, record, i) + DOF.GAIN)
    return gain_of(work, model, record, i)


@helper
def pair_row(model, record, i):
    """Where row i of P_ηη begins."""
    return lanes_of(model, record, its.PAIRS) + i * field(model, record, its.MODE_PITCH)


@helper
def weigh(work, model, k, record, r, moving):
    """Everything that M(k) is made of, kept in world axes; (m, mc, J) in axes of the body."""
    couple_shapes(work, model, record, moving)
    inertia = deformed_inertia(work, model, k, record)
    _, h, j = rotate_inertia(r, inertia)
    own = lanes_of(model, record, its.OWN)
    store3(work, own + its.FIRST, h)
    store_sym(work, own + its.SECOND, j)
    couple_masters(work, model, record, r)
    pair_masters(work, model, record)
    return inertia


@helper
def own_inertia(work, model, k, record):
    """(m, h, J) of a body that has been weighed, world axes."""
    own = lanes_of(model, record, its.OWN)
    mass = splat(work, 1.0) * parameter(work, model.parameters, body_parameters(k) + MASS)
    return mass, load3(work, own + its.FIRST), load_sym(work, own + its.SECOND)


@helper
def own_bias(work, model, record):
    """b of a body that has been loaded."""
    return load6(work, lanes_of(model, record, its.OWN) + its.BIAS)


@helper
def square_of(w):
    """−½(ωωᵀ) as what D of a shape is weighed with."""
    return (
        -0.5 * (w[0] * w[0]), -(w[0] * w[1]), -(w[0] * w[2]),
        -0.5 * (w[1] * w[1]), -(w[1] * w[2]), -0.5 * (w[2] * w[2]),
    )  # fmt: skip


@helper
def shape_biases(work, model, record, w):
    """bₑ of every shape, with what the slaves' own acceleration adds, into BIASES."""
    m, b, _ = shape_counts(model, record)
    pitch, mass = field(model, record, its.PITCH), field(model, record, its.MODAL_MASS)
    at, rates = lanes_of(model, record, its.COUPLING), lanes_of(model, record, its.ARM_RATE)
    product, out = lanes_of(model, record, its.SLAVE_PRODUCT), lanes_of(model, record, its.BIASES)
    step = columns_at_once(work)
    squares = square_of(w)
    mixed = field(model, record, its.IS_MIXED) > 0
    for e in range(0, m + b, step):
        first, second = columns6(work, at + e, pitch)
        total = 2.0 * dot(w, columns3(work, rates + e, pitch))
        total = fma(first[0], squares[0], fma(first[1], squares[1], total))
        total = fma(first[2], squares[2], fma(second[0], squares[3], total))
        total = fma(second[1], squares[4], fma(second[2], squares[5], total))
        if mixed or e + step > m:
            for s in range(b):
                weights = parameter_columns(work, model.parameters, mass + (m + s) * pitch + e)
                total = fma(weights, load(work, product + s), total)
        store_columns(work, out + e, total)


@helper
def load_body(work, model, k, record, r, inertia):
    """b: six numbers into OWN, one for each master into LOADS."""
    m, b, masters = shape_counts(model, record)
    rate = lanes_of(model, record, its.ETA_RATE)
    product = lanes_of(model, record, its.SLAVE_PRODUCT)
    w = multiply_vector_transposed(r, load3(work, body_slot(k) + BODY.OMEGA))
    zero, pitch = splat(work, 0.0), field(model, record, its.PITCH)
    d_sum, c_sum, f_sum = (zero, zero, zero, zero, zero, zero), zero3(work), zero3(work)
    at = lanes_of(model, record, its.COUPLING)
    integrals = field(model, record, its.SHAPE_INTEGRALS)
    arms = at + 6 * pitch
    for e in range(m + b):
        x = load(work, rate + e)
        d_sum = add_scaled_sym(d_sum, x, turning_of(work, at + e, pitch))
        c_sum = add_scaled(c_sum, x, load3_apart(work, arms + e, pitch))
        f_sum = add_scaled(f_sum, x, parameter3_apart(work, model, integrals + e, pitch))
    _, h, j = inertia
    turning = add(cross(w, add(multiply_sym_vector(j, w), c_sum)), multiply_sym_vector(d_sum, w))
    pushing = cross(w, add_scaled(cross(w, h), 2.0, f_sum))
    for s in range(b):
        x, e = load(work, product + s), m + s
        turning = add_scaled(turning, x, load3_apart(work, arms + e, pitch))
        pushing = add_scaled(pushing, x, parameter3_apart(work, model, integrals + e, pitch))
    own = lanes_of(model, record, its.OWN)
    store6(work, own + its.BIAS, (multiply_vector(r, turning), multiply_vector(r, pushing)))
    shape_biases(work, model, record, w)
    biases, loads = lanes_of(model, record, its.BIASES), lanes_of(model, record, its.LOADS)
    slope = lanes_of(model, record, its.SLOPE)
    for i in range(0, m, columns_at_once(work)):
        total = load_columns(work, biases + i)
        for s in range(b):
            share = load_columns(work, slope + s * masters + i)
            total = fma(share, load(work, biases + m + s), total)
        store_columns(work, loads + i, total)
