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

from skodyn.jit import helper, shared_routine
from skodyn.kernels.articulated_inertia import gather_articulated_inertias, kept_inertia
from skodyn.kernels.compliance import project_compliance, shift_compliance
from skodyn.kernels.derivative_terms import turns_with_child
from skodyn.kernels.entries import batch, one_state, per_dof
from skodyn.kernels.joint_motion import joint_column
from skodyn.kernels.kinematics import body_inertia, scatter_poses
from skodyn.kernels.packed_model import body_count, entry, velocity_count
from skodyn.kernels.status import NOT_FINITE, OK, failure
from skodyn.kernels.tuples import (
    all_finite,
    load3,
    load6,
    load_articulated,
    load_matrix,
    store_articulated,
)
from skodyn.kernels.workspace import BODY, DOF, SUMS, body_slot, dof_slot, sum_slot
from skodyn.lanes import fma, load, load_rows, splat, store_rows
from skodyn.model.layout import N_DOF, PARENT, V_START
from skodyn.spatial.articulated import subtract_rank_one
from skodyn.spatial.linear3 import add, add_matrix, dot, multiply, transpose


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
def yielded(work, model, k, i, p):
    """P after the degrees of freedom i and later of joint k have yielded."""
    for back in range(entry(model, k, N_DOF) - i):
        d = entry(model, k, N_DOF) - 1 - back
        record = dof_slot(body_count(model), entry(model, k, V_START) + d)
        p = subtract_rank_one(p, load6(work, record + DOF.GAIN), load(work, record + DOF.PIVOT))
    return p


@helper
def joint_gradient(work, model, k, y, factor, out):
    """Υ(k); adds factor times the derivative to `out` for every degree of freedom of joint k."""
    n, status = body_count(model), OK
    r = load_matrix(work, body_slot(k) + BODY.ROTATION)
    big_p = kept_inertia(work, model, k, body_inertia(work, model, k, r))
    with_child = turns_with_child(model, k)
    before = y
    for i in range(entry(model, k, N_DOF)):
        dof = entry(model, k, V_START) + i
        record = dof_slot(n, dof)
        h = joint_column(work, model, k, i, r)
        a, b = turning_trace(before, yielded(work, model, k, 0 if with_child else i, big_p))
        x = -2.0 * (dot(a, h[0]) + dot(b, h[1]))
        x = fma(factor, x, load_rows(work, out, dof))
        store_rows(work, out, dof, x)
        if status == OK and not all_finite(x):
            status = failure(NOT_FINITE, k)
        y = project_compliance(y, h, load6(work, record + DOF.GAIN), load(work, record + DOF.PIVOT))
        if not with_child:
            before = y
    return y, status


@shared_routine
def add_gradient(work, model, q, factor, out):
    """Add factor·∇ log det 𝓜 to rows of nv numbers."""
    status = scatter_poses(work, model, q)
    answer = gather_articulated_inertias(work, model, True)
    status = status if status != OK else answer
    zero = splat(work, 0.0)
    none = (zero, zero, zero, zero, zero, zero)
    store_articulated(
        work, sum_slot(model, -1) + SUMS.INERTIA, (none, (*none, zero, zero, zero), none)
    )
    for k in range(body_count(model)):
        y = load_articulated(work, sum_slot(model, entry(model, k, PARENT)) + SUMS.INERTIA)
        y = shift_compliance(y, load3(work, body_slot(k) + BODY.ARM))
        y, answer = joint_gradient(work, model, k, y, factor, out)
        status = status if status != OK else answer
        store_articulated(work, sum_slot(model, k) + SUMS.INERTIA, y)  # P(k) has done its work
    return status


@helper
def sweep(work, model, given, out):
    """∇ log det 𝓜."""
    for i in range(velocity_count(model)):
        store_rows(work, out, i, splat(work, 0.0))
    return add_gradient(work, model, given.q, 1.0, out)


mass_matrix_logdet_gradient = one_state("mass_matrix_logdet_gradient", sweep, per_dof, "q")
mass_matrix_logdet_gradient_batch = batch("mass_matrix_logdet_gradient_batch", sweep, per_dof)
