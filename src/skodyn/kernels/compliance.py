"""Operational space compliance between any nodes: Ω = ψ* H* D⁻¹ H ψ, Jain 2011-II eq. 60.

Its diagonal blocks Υ(k) follow from the backward Lyapunov recursion (eq. 24 with 𝔸 = 𝔹 = ψ), a
base-to-tips scatter. Any other block is, by the four cases of Algorithm 4.3,

    Ω(i, j) = ψ*(c, i)·Υ(c)·ψ(c, j)     with c the closest common ancestor of i and j, themselves
                                         included; zero if they only share the ground.

ψ(c, j) is applied to the six unit forces at node j by carrying them inward to c, joint by joint.
`x` holds (body, point in the kernel frame) for each node.
"""

from skodyn.jit import helper, routine
from skodyn.kernels.aba_passes import project_force
from skodyn.kernels.entries import batch, one_state
from skodyn.kernels.jacobian import body_of, node_count, point_arm
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.mass_matrix_solve import prepare
from skodyn.kernels.packed_model import body_count, entry
from skodyn.kernels.status import NOT_FINITE, OK, failure
from skodyn.kernels.tuples import (
    all_finite,
    load3,
    load6,
    load_articulated,
    load_matrix,
    store6,
    store_articulated,
)
from skodyn.kernels.workspace import BODY, DOF, SUMS, body_slot, dof_slot, free_slot, sum_slot
from skodyn.lanes import load, splat, store_rows
from skodyn.model.layout import N_DOF, PARENT, SUBTREE_END, V_START
from skodyn.spatial.articulated import apply_articulated, shift_articulated, subtract_rank_one
from skodyn.spatial.linear3 import negate, transpose
from skodyn.spatial.motion import dot_spatial, shift_force

SCRATCH_LANES = 72
"""Twelve 6-vectors behind the degree-of-freedom records."""


@helper
def swap_blocks(y):
    """[[A, B], [Bᵀ, C]] -> [[C, Bᵀ], [B, A]]: forces and motions change places."""
    return y[2], transpose(y[1]), y[0]


@helper
def shift_compliance(y, l):
    """φ*·Y·φ, which is φ·(swapped Y)·φ* with the arm reversed, swapped back."""
    return swap_blocks(shift_articulated(swap_blocks(y), negate(l)))


@helper
def project_compliance(y, h, u, pivot):
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
def scatter_compliances(work, model):
    """Υ(k) of every body, into INERTIA: what the gather kept there is no longer needed."""
    n = body_count(model)
    zero = splat(work, 0.0)
    none = (zero, zero, zero, zero, zero, zero)
    store_articulated(
        work, sum_slot(model, -1) + SUMS.INERTIA, (none, (*none, zero, zero, zero), none)
    )
    for k in range(n):
        slot = body_slot(k)
        r = load_matrix(work, slot + BODY.ROTATION)
        y = load_articulated(work, sum_slot(model, entry(model, k, PARENT)) + SUMS.INERTIA)
        y = shift_compliance(y, load3(work, slot + BODY.ARM))
        for i in range(entry(model, k, N_DOF)):
            record = dof_slot(n, entry(model, k, V_START) + i)
            h = joint_column(work, model, k, i, r)
            y = project_compliance(
                y, h, load6(work, record + DOF.GAIN), load(work, record + DOF.PIVOT)
            )
        store_articulated(work, sum_slot(model, k) + SUMS.INERTIA, y)


@helper
def common_ancestor(model, i, j):
    """The closest body that carries both, possibly one of them; −1 is the ground."""
    while i >= 0 and not (i <= j < entry(model, i, SUBTREE_END)):
        i = entry(model, i, PARENT)
    return i


@helper
def unit_force(work, i):
    """The i-th of the six unit forces."""
    one, zero = splat(work, 1.0), splat(work, 0.0)
    x = one if i % 3 == 0 else zero
    y = one if i % 3 == 1 else zero
    z = one if i % 3 == 2 else zero
    return ((x, y, z), zero3(work)) if i < 3 else (zero3(work), (x, y, z))


@routine
def carry_forces_inward(work, model, nodes, node, stop, at):
    """ψ(stop, k)·φ(k, point) on the six unit forces, into scratch at `at`."""
    for i in range(6):
        k = body_of(nodes, node)
        f = shift_force(point_arm(work, k, nodes, node), unit_force(work, i))
        while k != stop:
            r = load_matrix(work, body_slot(k) + BODY.ROTATION)
            f = project_force(work, model, k, r, f)
            f = shift_force(load3(work, body_slot(k) + BODY.ARM), f)
            k = entry(model, k, PARENT)
        store6(work, at + 6 * i, f)


@helper
def write_block(work, model, nodes, a, b, out):
    """Ω between nodes a and b, and its transpose; are all its numbers finite?"""
    length = 6 * node_count(nodes)
    left, right = free_slot(model), free_slot(model) + 36
    c = common_ancestor(model, body_of(nodes, a), body_of(nodes, b))
    if c >= 0:
        carry_forces_inward(work, model, nodes, a, c, left)
        carry_forces_inward(work, model, nodes, b, c, right)
    sound = True
    for j in range(6):
        for i in range(6):
            value = splat(work, 0.0)
            if c >= 0:
                y = load_articulated(work, sum_slot(model, c) + SUMS.INERTIA)
                carried = apply_articulated(y, load6(work, right + 6 * j))
                value = dot_spatial(load6(work, left + 6 * i), carried)
            row, column = 6 * a + i, 6 * b + j
            store_rows(work, out, row * length + column, value)
            store_rows(work, out, column * length + row, value)
            sound = sound and all_finite(value)
    return sound


@helper
def sweep(work, model, given, out):
    """The (6·nodes)² compliance; x holds the nodes."""
    nodes = given.x
    status = prepare(work, model, given.q)
    scatter_compliances(work, model)
    for a in range(node_count(nodes)):
        for b in range(a, node_count(nodes)):
            sound = write_block(work, model, nodes, a, b, out)
            if status == OK and not sound:
                status = failure(NOT_FINITE, body_of(nodes, a))
    return status


@helper
def shape(model, count):
    """Six rows and columns for each node, of which x has four numbers."""
    return (6 * (count // 4), 6 * (count // 4)) if count % 4 == 0 else (-1, 1)


compliance = one_state("compliance", sweep, shape, "q x", dimensions=2)
compliance_batch = batch("compliance_batch", sweep, shape, shared_x=True)
