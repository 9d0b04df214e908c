"""Operational space compliance between any nodes: Ω = ψ* H* D⁻¹ H ψ, Jain 2011-II eq. 60.

Its diagonal blocks Υ(k) follow from the backward Lyapunov recursion (eq. 24 with 𝔸 = 𝔹 = ψ), a
base-to-tips scatter. Any other block is, by the four cases of Algorithm 4.3,

    Ω(i, j) = ψ*(c, i)·Υ(c)·ψ(c, j)     with c the closest common ancestor of i and j, themselves
                                         included; zero if they only share the ground.

ψ(c, j) is applied to the six unit forces at node j by carrying them inward to c, joint by joint.
`x` holds (body, point in the kernel frame) for each node.
"""

from __future__ import annotations

from skodyn.jit import brief_kernel, helper, kernel
from skodyn.kernels.jacobian import point_arm
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.mass_matrix_solve import prepare
from skodyn.kernels.residuals import yield_force
from skodyn.kernels.signatures import BATCH, one_state
from skodyn.kernels.status import BAD_INPUT, NOT_FINITE, OK, coordinates_fit, failure, finite
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
    free_slot,
    load3,
    load6,
    load_articulated,
    load_matrix,
    store6,
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
    load,
    pointer,
    splat,
    store_rows,
)
from skodyn.model.layout import N_DOF, NQ, PARENT, SUBTREE_END, V_START
from skodyn.spatial.articulated import (
    apply_articulated,
    shift_articulated,
    subtract_rank_one,
)
from skodyn.spatial.linear3 import negate, transpose
from skodyn.spatial.motion import dot_spatial, shift_force

_INFINITY = float("inf")

SCRATCH_LANES = 72
"""Twelve 6-vectors behind the degree-of-freedom records."""


@helper
def swap_blocks(y):
    """[[A, B], [Bᵀ, C]] -> [[C, Bᵀ], [B, A]]: forces and motions change places."""
    return y[2], transpose(y[1]), y[0]


@helper
def shift_compliance(y, l):  # noqa: E741
    """φ*·Y·φ, which is φ·(swapped Y)·φ* with the arm reversed, swapped back."""
    return swap_blocks(shift_articulated(swap_blocks(y), negate(l)))


@helper
def yield_compliance(y, h, u, pivot):
    """(I − h uᵀ/d)·Y·(I − u hᵀ/d) + h hᵀ/d for one degree of freedom.

    With s = Y·u/d and t = u·s/d this is Y − (s hᵀ + h sᵀ) + (t + 1/d)·h hᵀ, two rank-one updates:
    for c = t + 1/d,  Y − s sᵀ/c + (c h − s)(c h − s)ᵀ/c.
    """
    s = apply_articulated(y, u)
    s = _scaled(pivot, s)
    c = pivot + pivot * dot_spatial(u, s)
    rest = _difference(_scaled(c, h), s)
    return subtract_rank_one(subtract_rank_one(y, s, 1.0 / c), rest, -1.0 / c)


@helper
def _scaled(k, a):
    return (k * a[0][0], k * a[0][1], k * a[0][2]), (k * a[1][0], k * a[1][1], k * a[1][2])


@helper
def _difference(a, b):
    return (
        (a[0][0] - b[0][0], a[0][1] - b[0][1], a[0][2] - b[0][2]),
        (a[1][0] - b[1][0], a[1][1] - b[1][1], a[1][2] - b[1][2]),
    )


@helper
def scatter_compliances(w, tree, p, ws):
    """Υ(k) of every body, into INERTIA: what the gather kept there is no longer needed."""
    n = body_count(tree)
    zero = splat(w, 0.0)
    none = (zero, zero, zero, zero, zero, zero)
    store_articulated(w, ws, sum_slot(tree, -1) + INERTIA, (none, (*none, zero, zero, zero), none))
    for k in range(n):
        slot = body_slot(k)
        r = load_matrix(w, ws, slot + ROTATION)
        y = load_articulated(w, ws, sum_slot(tree, entry(tree, k, PARENT)) + INERTIA)
        y = shift_compliance(y, load3(w, ws, slot + ARM))
        for i in range(entry(tree, k, N_DOF)):
            record = dof_slot(n, entry(tree, k, V_START) + i)
            h = joint_column(w, tree, p, k, i, r, ws)
            y = yield_compliance(y, h, load6(w, ws, record + GAIN), load(w, ws, record + PIVOT))
        store_articulated(w, ws, sum_slot(tree, k) + INERTIA, y)


@helper
def common_ancestor(tree, i, j):
    """The closest body that carries both, possibly one of them; −1 is the ground."""
    while i >= 0 and not (i <= j < entry(tree, i, SUBTREE_END)):
        i = entry(tree, i, PARENT)
    return i


@helper
def unit_force(w, i):
    """The i-th of the six unit forces."""
    one, zero = splat(w, 1.0), splat(w, 0.0)
    x = one if i % 3 == 0 else zero
    y = one if i % 3 == 1 else zero
    z = one if i % 3 == 2 else zero
    return ((x, y, z), zero3(w)) if i < 3 else (zero3(w), (x, y, z))


@helper
def carry_forces_inward(w, tree, p, node, x, stop, at, ws):
    """ψ(stop, k)·φ(k, point) on the six unit forces, into scratch at `at`."""
    for i in range(6):
        k = int(x[4 * node])
        f = shift_force(point_arm(w, k, x, node, ws), unit_force(w, i))
        while k != stop:
            r = load_matrix(w, ws, body_slot(k) + ROTATION)
            f = yield_force(w, tree, p, k, r, f, ws)
            f = shift_force(load3(w, ws, body_slot(k) + ARM), f)
            k = entry(tree, k, PARENT)
        store6(w, ws, at + 6 * i, f)


@helper
def write_block(w, tree, p, a, b, nodes, x, first, out, ws):
    """Ω between nodes a and b, and its transpose; are all its numbers finite?"""
    stride = 36 * nodes * nodes
    left, right = free_slot(tree), free_slot(tree) + 36
    c = common_ancestor(tree, int(x[4 * a]), int(x[4 * b]))
    if c >= 0:
        carry_forces_inward(w, tree, p, a, x, c, left, ws)
        carry_forces_inward(w, tree, p, b, x, c, right, ws)
    sound = True
    for j in range(6):
        for i in range(6):
            value = splat(w, 0.0)
            if c >= 0:
                y = load_articulated(w, ws, sum_slot(tree, c) + INERTIA)
                carried = apply_articulated(y, load6(w, ws, right + 6 * j))
                value = dot_spatial(load6(w, ws, left + 6 * i), carried)
            row, column = 6 * a + i, 6 * b + j
            store_rows(w, out, first, stride, row * 6 * nodes + column, value)
            store_rows(w, out, first, stride, column * 6 * nodes + row, value)
            sound = sound and all_lanes(absolute(value) < _INFINITY)
    return sound


@helper
def sweep(w, tree, p, row, nq, q, x, nodes, out, ws):
    """The (6·nodes)² compliance of the states that begin at `row`."""
    status = prepare(w, tree, p, q, row * nq, nq, ws)
    scatter_compliances(w, tree, p, ws)
    first = row * 36 * nodes * nodes
    for a in range(nodes):
        for b in range(a, nodes):
            sound = write_block(w, tree, p, a, b, nodes, x, first, out, ws)
            if status == OK and not sound:
                status = failure(NOT_FINITE, int(x[4 * a]))
    return status


@brief_kernel(*one_state(1, dimensions=2))
def compliance(block, q, x, out):
    """One state."""
    tree, p, ws = unpack(block)
    sizes = (
        x.size % 4 == 0
        and out.size == 36 * (x.size // 4) ** 2
        and out.shape[0] == 6 * (x.size // 4)
    )
    if not (sizes and coordinates_fit(tree, q) and finite(x)):
        return BAD_INPUT
    return sweep(
        WIDTH_1, tree, p, 0, tree[NQ], pointer(q), pointer(x),
        x.size // 4, pointer(out), ws,
    )  # fmt: skip


@kernel(*BATCH)
def compliance_batch(tree, p, start, stop, q, _v, x, _f_ext, _f_stride, out, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = sweep(
            WIDTH_N, pointer(tree), pointer(p), first, tree[NQ], pointer(q), pointer(x),
            x.size // 4, pointer(out), pointer(ws),
        )  # fmt: skip
        if status != OK:
            return status, first
    return OK, 0
