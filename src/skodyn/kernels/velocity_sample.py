"""Velocities with covariance 𝓜⁻¹ from white noise: v = (I − HψK)* D^(−1/2) x, O(N).

The Innovations factorisation 𝓜⁻¹ = (I − HψK)* D⁻¹ (I − HψK) (Jain 2011-II, Lemma 11) read as a
square root: a base-to-tips scatter in which degree of freedom i adds noise of variance 1/d_i to
what the motion of the bodies before it makes most likely.
"""

from __future__ import annotations

from skodyn.jit import brief_kernel, helper, kernel
from skodyn.kernels.mass_matrix_solve import prepare, scatter_answers
from skodyn.kernels.signatures import BATCH, one_state
from skodyn.kernels.status import BAD_INPUT, OK, coordinates_fit, finite
from skodyn.kernels.workspace import PIVOT, RESIDUE, body_count, dof_slot, unpack
from skodyn.lanes import LANES, WIDTH_1, WIDTH_N, load, load_rows, pointer, sqrt, store
from skodyn.model.layout import NQ, NV


@helper
def sweep(w, tree, p, row, q, x, out, ws):
    """v of the states that begin at `row`, from rows of white noise x."""
    nv, n = tree[NV], body_count(tree)
    status = prepare(w, tree, p, q, row * tree[NQ], tree[NQ], ws)
    if status != OK:
        return status
    for i in range(nv):
        record = dof_slot(n, i)
        noise = load_rows(w, x, row * nv, nv, i) / sqrt(load(w, ws, record + PIVOT))
        store(w, ws, record + RESIDUE, noise)  # √d·x, which the scatter divides by d
    return scatter_answers(w, tree, p, n, out, row * nv, nv, 1, ws)


@brief_kernel(*one_state(1))
def sample_velocity(block, q, x, out):
    """One state."""
    tree, p, ws = unpack(block)
    sizes = x.size == tree[NV] and out.size == tree[NV]
    if not (sizes and coordinates_fit(tree, q) and finite(x)):
        return BAD_INPUT
    return sweep(WIDTH_1, tree, p, 0, pointer(q), pointer(x), pointer(out), ws)


@kernel(*BATCH)
def sample_velocity_batch(tree, p, start, stop, q, _v, x, _f_ext, _f_stride, out, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = sweep(
            WIDTH_N, pointer(tree), pointer(p), first, pointer(q), pointer(x), pointer(out),
            pointer(ws),
        )  # fmt: skip
        if status != OK:
            return status, first
    return OK, 0
