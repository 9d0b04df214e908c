"""The Coriolis matrix C with C·v + gravity = bias and 𝓜̇ − 2C skew-symmetric, O(N·depth).

Such a C is not unique. This one is C = Σ_k J* (M J̇ + ½ B J) over all bodies, with J the Jacobian
of a body, J̇ its rate of change, and B of screws.py (Echeandia and Wensing 2021,
doi:10.1115/1.4051169, have it for joints with constant columns). Since Ṁ = V ×* M − M V× and
Ṁ − B is skew, so is 𝓜̇ − 2C. It is also free of torsion, C(x)·e_j − C(e_j)·x = 𝓜 [x, e_j], which
makes it the Levi-Civita connection of the kinetic metric: C_ij = Σ_k Γ_ijk v_k with the Christoffel
symbols of the first kind, PyCraft eq. 38. The brackets [e_k, e_j] are those of the velocity
directions: zero but inside spherical and free joints, whose v is not a rate of coordinates. Here 𝓜
is without armature, which is constant and asks for armature·v̇ alone: it has no part in C.
"""

from __future__ import annotations

from skodyn.jit import brief_kernel, helper, kernel
from skodyn.kernels.matrices import (
    clear_unrelated_pairs,
    deliver_lanes,
    matrix_lanes,
    place_to_write,
    put,
)
from skodyn.kernels.screws import (
    COMPOSITE,
    MOMENTUM,
    RATE,
    SCREW,
    TURNING,
    apply_turning,
    apply_turning_transposed,
    matrix_slot,
    pass_sums_inward,
    scatter_screws,
    screw_body,
    screw_dof,
    screw_lanes,
)
from skodyn.kernels.signatures import BATCH, one_state
from skodyn.kernels.status import BAD_INPUT, NOT_FINITE, OK, coordinates_fit, failure, finite
from skodyn.kernels.workspace import (
    body_count,
    entry,
    finite_spatial,
    load3,
    load6,
    load_inertia,
    load_matrix,
    unpack,
)
from skodyn.lanes import LANES, WIDTH_1, WIDTH_N, pointer
from skodyn.model.layout import N_DOF, NQ, NV, PARENT, V_START
from skodyn.spatial.inertia import apply_inertia
from skodyn.spatial.linear3 import dot, scale
from skodyn.spatial.motion import add_spatial, dot_spatial


def coriolis_lanes(n_bodies: int, nv: int) -> int:
    """Lanes for the screws and for the matrix."""
    return screw_lanes(n_bodies, nv) + matrix_lanes(nv)


@helper
def carried(w, tree, k, d, ws):
    """(Mᶜ S, ½ Bᶜ* S, Mᶜ Ṡ + ½ Bᶜ S) of degree of freedom d of body k."""
    at, of = screw_body(tree, k), screw_dof(tree, d)
    inertia = load_inertia(w, ws, at + COMPOSITE)
    b, p2 = load_matrix(w, ws, at + TURNING), load3(w, ws, at + MOMENTUM)
    s = load6(w, ws, of + SCREW)
    half = apply_turning(b, p2, scale(0.5, s[0]))
    turning = scale(0.5, apply_turning_transposed(b, p2, s))
    rate = apply_inertia(inertia, load6(w, ws, of + RATE))
    return apply_inertia(inertia, s), turning, add_spatial(rate, half)


@helper
def write_pair(w, tree, a, d, load_on, table, first, stride, down, ws):
    """C_da and C_ad of an ancestor a and a degree of freedom d."""
    weight, turning, bracket = load_on
    of = screw_dof(tree, a)
    s, rate = load6(w, ws, of + SCREW), load6(w, ws, of + RATE)
    x = dot_spatial(weight, rate) + dot(turning, s[0])
    put(w, table, first, stride, d * down + a, x)
    put(w, table, first, stride, a * down + d, dot_spatial(s, bracket))


@helper
def sweep(w, tree, p, row, q, v, out, ws):
    """C of the states that begin at `row`."""
    n, nv = body_count(tree), tree[NV]
    size, at = nv * nv, matrix_slot(tree)
    table, first, stride, down = place_to_write(w, nv, out, row * size, size, ws, at)
    # accelerations play no part in C: v stands in for v̇
    status = scatter_screws(w, tree, p, q, row * tree[NQ], v, row * nv, v, row * nv, v, 0, 0, ws)
    clear_unrelated_pairs(w, tree, table, first, stride, down, nv)
    for back in range(n):
        k = n - 1 - back
        for e in range(entry(tree, k, N_DOF)):
            d = entry(tree, k, V_START) + e
            load_on = carried(w, tree, k, d, ws)
            if status == OK and not finite_spatial(load_on[2]):
                status = failure(NOT_FINITE, k)
            for a in range(entry(tree, k, V_START), d + 1):
                write_pair(w, tree, a, d, load_on, table, first, stride, down, ws)
            inner = entry(tree, k, PARENT)
            while inner >= 0:
                for c in range(entry(tree, inner, N_DOF)):
                    a = entry(tree, inner, V_START) + c
                    write_pair(w, tree, a, d, load_on, table, first, stride, down, ws)
                inner = entry(tree, inner, PARENT)
        pass_sums_inward(w, tree, k, False, ws)
    deliver_lanes(w, nv, ws, at, out, row * size, size)
    return status


@brief_kernel(*one_state(1, dimensions=2))
def coriolis_matrix(block, q, v, out):
    """One state."""
    tree, p, ws = unpack(block)
    nv = tree[NV]
    sizes = v.size == nv and out.size == nv * nv and out.shape[0] == nv
    if not (sizes and coordinates_fit(tree, q) and finite(v)):
        return BAD_INPUT
    return sweep(WIDTH_1, tree, p, 0, pointer(q), pointer(v), pointer(out), ws)


@kernel(*BATCH)
def coriolis_matrix_batch(tree, p, start, stop, q, v, _x, _f_ext, _f_stride, out, ws):
    """Rows start … stop − 1 of flat tables, a register full at a time; the last may overlap."""
    for row in range(start, stop, LANES):
        first = min(row, stop - LANES)
        status = sweep(
            WIDTH_N, pointer(tree), pointer(p), first, pointer(q), pointer(v), pointer(out),
            pointer(ws),
        )  # fmt: skip
        if status != OK:
            return status, first
    return OK, 0
