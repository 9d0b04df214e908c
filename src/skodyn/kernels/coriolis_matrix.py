"""The Coriolis matrix C with C·v + gravity = bias and 𝓜̇ − 2C skew-symmetric, O(N·depth).

Such a C is not unique. This one is C = Σ_k J* (M J̇ + ½ B J) over all bodies, with J the Jacobian
of a body, J̇ its rate of change, and B of derivative_terms.py (Echeandia and Wensing 2021,
doi:10.1115/1.4051169, have it for joints with constant columns). Since Ṁ = V ×* M − M V× and
Ṁ − B is skew, so is 𝓜̇ − 2C. It is also free of torsion, C(x)·e_j − C(e_j)·x = 𝓜 [x, e_j], which
makes it the Levi-Civita connection of the kinetic metric: C_ij = Σ_k Γ_ijk v_k with the Christoffel
symbols of the first kind, PyCraft eq. 38. The brackets [e_k, e_j] are those of the velocity
directions: zero but inside spherical and free joints, whose v is not a rate of coordinates. Here 𝓜
is without armature, which is constant and asks for armature·v̇ alone: it has no part in C.
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.derivative_terms import (
    SCREW_BODY,
    SCREW_DOF,
    apply_turning,
    apply_turning_transposed,
    matrix_slot,
    pass_sums_inward,
    scatter_screws,
    screw_body,
    screw_dof,
    screw_lanes,
)
from skodyn.kernels.entries import Given, batch, one_state, square
from skodyn.kernels.matrices import (
    clear_unrelated_pairs,
    deliver_lanes,
    matrix_lanes,
    place_to_write,
    put,
)
from skodyn.kernels.packed_model import body_count, entry, velocity_count
from skodyn.kernels.status import NOT_FINITE, OK, failure
from skodyn.kernels.tuples import finite_spatial, load3, load6, load_inertia, load_matrix
from skodyn.lanes import Rows
from skodyn.model.layout import N_DOF, PARENT, V_START
from skodyn.spatial.inertia import apply_inertia
from skodyn.spatial.linear3 import dot, scale
from skodyn.spatial.motion import add_spatial, dot_spatial


def coriolis_lanes(n_bodies: int, nv: int) -> int:
    """Lanes for the screws and for the matrix."""
    return screw_lanes(n_bodies, nv) + matrix_lanes(nv)


@helper
def carried(work, model, k, d):
    """(Mᶜ S, ½ Bᶜ* S, Mᶜ Ṡ + ½ Bᶜ S) of degree of freedom d of body k."""
    at, of = screw_body(model, k), screw_dof(model, d)
    inertia = load_inertia(work, at + SCREW_BODY.COMPOSITE)
    b, p2 = load_matrix(work, at + SCREW_BODY.TURNING), load3(work, at + SCREW_BODY.MOMENTUM)
    s = load6(work, of + SCREW_DOF.SCREW)
    half = apply_turning(b, p2, scale(0.5, s[0]))
    turning = scale(0.5, apply_turning_transposed(b, p2, s))
    rate = apply_inertia(inertia, load6(work, of + SCREW_DOF.RATE))
    return apply_inertia(inertia, s), turning, add_spatial(rate, half)


@helper
def write_pair(work, model, a, d, load_on, matrix):
    """C_da and C_ad of an ancestor a and a degree of freedom d."""
    weight, turning, bracket = load_on
    of = screw_dof(model, a)
    s, rate = load6(work, of + SCREW_DOF.SCREW), load6(work, of + SCREW_DOF.RATE)
    x = dot_spatial(weight, rate) + dot(turning, s[0])
    put(work, matrix, d, a, x)
    put(work, matrix, a, d, dot_spatial(s, bracket))


@helper
def sweep(work, model, given, out):
    """C."""
    n, nv, at = body_count(model), velocity_count(model), matrix_slot(model)
    matrix = place_to_write(work, nv, out, at)
    # accelerations play no part in C, nor do external forces: v stands in for v̇
    no_forces = Rows(given.v.data, 0, 0)
    status = scatter_screws(work, model, Given(given.q, given.v, given.v, no_forces))
    clear_unrelated_pairs(work, model, matrix)
    for back in range(n):
        k = n - 1 - back
        for e in range(entry(model, k, N_DOF)):
            d = entry(model, k, V_START) + e
            load_on = carried(work, model, k, d)
            if status == OK and not finite_spatial(load_on[2]):
                status = failure(NOT_FINITE, k)
            for a in range(entry(model, k, V_START), d + 1):
                write_pair(work, model, a, d, load_on, matrix)
            inner = entry(model, k, PARENT)
            while inner >= 0:
                for c in range(entry(model, inner, N_DOF)):
                    write_pair(work, model, entry(model, inner, V_START) + c, d, load_on, matrix)
                inner = entry(model, inner, PARENT)
        pass_sums_inward(work, model, k, False)
    deliver_lanes(work, nv, at, out)
    return status


coriolis_matrix = one_state("coriolis_matrix", sweep, square, "q v", dimensions=2)
coriolis_matrix_batch = batch("coriolis_matrix_batch", sweep, square)
