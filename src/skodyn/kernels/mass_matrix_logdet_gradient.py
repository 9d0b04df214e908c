"""The gradient of log det 𝓜 along every velocity direction, O(N): PyCraft eq. 48, for every joint.

For v drawn from N(0, 𝓜⁻¹), tr(𝓜⁻¹ ∂_i𝓜) is the mean of v*(∂_i𝓜)v. Displacing degree of freedom i
moves everything outboard by its column h, so v*(∂_i𝓜)v = 2 (V₋ × h)·p with p the momentum of all
that and V₋ the velocity that i turns away from: the parent's, moved by the earlier degrees of
freedom of a series joint. The mean of V₋ p* is Υ₋ P⁺: Υ₋ is the covariance of V₋ (the compliance of
Jain 2011-II eq. 60), and P⁺ the articulated inertia that V₋ sees through the joint. Hence

    ∂_i log det 𝓜 = −2 tr(h× Υ₋ P⁺).

For a hinge Υ₋ P⁺ may be exchanged for Υ P, both after the joint, and h× = H̃* is skew: that is
eq. 48 as printed, 2 tr(P Υ H̃*). In a joint with several degrees of freedom P⁺ is taken after i and
the later ones have yielded; in a spherical or free joint after all of them.
"""

from __future__ import annotations

from skodyn.jit import brief_kernel, helper, kernel
from skodyn.kernels.articulated_inertia import gather_articulated_inertias, kept_inertia
from skodyn.kernels.compliance import shift_compliance, yield_compliance
from skodyn.kernels.joint_motion import joint_column
from skodyn.kernels.kinematics import body_inertia, scatter_poses
from skodyn.kernels.screws import turns_with_child
from skodyn.kernels.signatures import BATCH, one_state
from skodyn.kernels.status import BAD_INPUT, NOT_FINITE, OK, coordinates_fit, failure
from skodyn.kernels.workspace import (
    ARM,
    GAIN,
    INERTIA,
    PIVOT,
    ROTATION,
    body_count,
    body_slot,
    dof_slot,
    entry,
    load3,
    load6,
    load_articulated,
    load_matrix,
    store_articulated,
    sum_slot,
    unpack,
)
from skodyn.lanes import (
    LANES,
    WIDTH_1,
    WIDTH_N,
    absolute,
    all_lanes,
    fma,
    load,
    load_rows,
    pointer,
    splat,
    store_rows,
)
from skodyn.model.layout import N_DOF, NQ, NV, PARENT, V_START
from skodyn.spatial.articulated import subtract_rank_one
from skodyn.spatial.linear3 import add, add_matrix, dot, multiply, transpose

_INFINITY = float("inf")


@helper
def _full(s):
    """A symmetric matrix with all nine numbers."""
    return (s[0], s[1], s[2], s[1], s[3], s[4], s[2], s[4], s[5])


@helper
def _axial(m):
    """a with tr(x̃·m) = a·x for every x."""
    return (m[5] - m[7], m[6] - m[2], m[1] - m[3])


@helper
def turning_trace(y, p):
    """(a, b) with tr(h× Υ P) = a·(angular part of h) + b·(linear part of h)."""
    ya, yb, yc = _full(y[0]), y[1], _full(y[2])
    pa, pb, pc = _full(p[0]), p[1], _full(p[2])
    upper = add_matrix(multiply(ya, pa), multiply(yb, transpose(pb)))
    lower = add_matrix(multiply(transpose(yb), pb), multiply(yc, pc))
    across = add_matrix(multiply(ya, pb), multiply(yb, pc))
    return add(_axial(upper), _axial(lower)), _axial(across)


@helper
def yielded(w, tree, k, i, p, ws):
    """P after the degrees of freedom i and later of joint k have yielded."""
    for back in range(entry(tree, k, N_DOF) - i):
        d = entry(tree, k, N_DOF) - 1 - back
        record = dof_slot(body_count(tree), entry(tree, k, V_START) + d)
        p = subtract_rank_one(p, load6(w, ws, record + GAIN), load(w, ws, record + PIVOT))
    return p


@helper
def joint_gradient(w, tree, p, k, y, factor, out, first, stride, ws):
    """Υ(k); adds factor times the derivative to `out` for every degree of freedom of joint k."""
    n, status = body_count(tree), OK
    r = load_matrix(w, ws, body_slot(k) + ROTATION)
    big_p = kept_inertia(w, tree, k, body_inertia(w, p, k, r), ws)
    with_child = turns_with_child(tree, k)
    before = y
    for i in range(entry(tree, k, N_DOF)):
        dof = entry(tree, k, V_START) + i
        record = dof_slot(n, dof)
        h = joint_column(w, tree, p, k, i, r, ws)
        a, b = turning_trace(before, yielded(w, tree, k, 0 if with_child else i, big_p, ws))
        x = -2.0 * (dot(a, h[0]) + dot(b, h[1]))
        x = fma(factor, x, load_rows(w, out, first, stride, dof))
        store_rows(w, out, first, stride, dof, x)
        if status == OK and not all_lanes(absolute(x) < _INFINITY):
            status = failure(NOT_FINITE, k)
        y = yield_compliance(y, h, load6(w, ws, record + GAIN), load(w, ws, record + PIVOT))
        if not with_child:
            before = y
    return y, status


@helper
def add_gradient(w, tree, p, q, q_first, factor, out, first, stride, ws):
    """Add factor·∇ log det 𝓜 to rows of nv numbers."""
    status = scatter_poses(w, tree, p, q, q_first, tree[NQ], ws)
    answer = gather_articulated_inertias(w, tree, p, True, ws)
    status = status if status != OK else answer
    zero = splat(w, 0.0)
    none = (zero, zero, zero, zero, zero, zero)
    store_articulated(w, ws, sum_slot(tree, -1) + INERTIA, (none, (*none, zero, zero, zero), none))
    for k in range(body_count(tree)):
        y = load_articulated(w, ws, sum_slot(tree, entry(tree, k, PARENT)) + INERTIA)
        y = shift_compliance(y, load3(w, ws, body_slot(k) + ARM))
        y, answer = joint_gradient(w, tree, p, k, y, factor, out, first, stride, ws)
        status = status if status != OK else answer
        store_articulated(w, ws, sum_slot(tree, k) + INERTIA, y)  # P(k) has done its work
    return status


@helper
def sweep(w, tree, p, row, q, out, ws):
    """∇ log det 𝓜 of the states that begin at `row`."""
    nv = tree[NV]
    for i in range(nv):
        store_rows(w, out, row * nv, nv, i, splat(w, 0.0))
    return add_gradient(w, tree, p, q, row * tree[NQ], 1.0, out, row * nv, nv, ws)


@brief_kernel(*one_state(0))
def mass_matrix_logdet_gradient(block, q, out):
    """One state."""
    tree, p, ws = unpack(block)
    if not (coordinates_fit(tree, q) and out.size == tree[NV]):
        return BAD_INPUT
    return sweep(WIDTH_1, tree, p, 0, pointer(q), pointer(out), ws)


@kernel(*BATCH)
def mass_matrix_logdet_gradient_batch(tree, p, start, stop, q, _v, _x, _f_ext, _f_stride, out, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = sweep(
            WIDTH_N, pointer(tree), pointer(p), first, pointer(q), pointer(out), pointer(ws)
        )
        if status != OK:
            return status, first
    return OK, 0
