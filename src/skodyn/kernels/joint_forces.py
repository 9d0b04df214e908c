"""The force transmitted through each joint while the system moves under given torques.

After forward dynamics, by either form of the articulated model (Jain, SOA slides 2024):

    f = P·(α − a) + z     on the outboard side of the joint,
    f = P⁺·α⁺ + z⁺        on its inboard side.

Both are written, six numbers each per body; they agree to rounding.
"""

from skodyn.jit import helper
from skodyn.kernels.aba_passes import kept_force
from skodyn.kernels.articulated_inertia import kept_inertia
from skodyn.kernels.entries import batch, one_state
from skodyn.kernels.forward_dynamics import accelerate_placed, add_outer_force
from skodyn.kernels.kinematics import body_inertia, scatter_rates
from skodyn.kernels.packed_model import body_count, entry, velocity_count
from skodyn.kernels.rows import store_row3
from skodyn.kernels.status import OK
from skodyn.kernels.tuples import load3, load6, load_matrix
from skodyn.kernels.workspace import BODY, DOF, body_slot, dof_slot
from skodyn.lanes import load
from skodyn.model.layout import N_DOF, PARENT, V_START
from skodyn.spatial.articulated import add_applied_articulated, apply_articulated, subtract_rank_one
from skodyn.spatial.motion import add_scaled_spatial, add_spatial, shift_motion, subtract_spatial

ROW = 12


@helper
def both_sides(work, model, k, f_ext):
    """f(k) from P and z, and from P⁺ and z⁺."""
    slot = body_slot(k)
    inertia = body_inertia(work, model, k, load_matrix(work, slot + BODY.ROTATION))
    big_p = kept_inertia(work, model, k, inertia)
    a = load6(work, slot + BODY.CORIOLIS)
    f = kept_force(work, model, k)
    f = add_outer_force(work, k, f, inertia, f_ext)
    z = add_applied_articulated(f, big_p, a)
    motion = subtract_spatial(load6(work, slot + BODY.MOTION), a)
    outboard = add_spatial(apply_articulated(big_p, motion), z)
    for d_back in range(entry(model, k, N_DOF)):
        i = entry(model, k, N_DOF) - 1 - d_back
        record = dof_slot(body_count(model), entry(model, k, V_START) + i)
        u, pivot = load6(work, record + DOF.GAIN), load(work, record + DOF.PIVOT)
        big_p = subtract_rank_one(big_p, u, pivot)
        z = add_scaled_spatial(z, load(work, record + DOF.RESIDUE) * pivot, u)
    inner = load6(work, body_slot(entry(model, k, PARENT)) + BODY.MOTION)
    alpha_plus = shift_motion(load3(work, slot + BODY.ARM), inner)
    return outboard, add_spatial(apply_articulated(big_p, alpha_plus), z)


@helper
def sweep(work, model, given, out):
    """v̇, then both forms of f of every body; x holds tau."""
    first = scatter_rates(work, model, given.q, given.v)
    second = accelerate_placed(work, model, given.x, given.f_ext, True, out)
    for k in range(body_count(model)):
        outboard, inboard = both_sides(work, model, k, given.f_ext)
        at = velocity_count(model) + ROW * k
        store_row3(work, out, at, outboard[0])
        store_row3(work, out, at + 3, outboard[1])
        store_row3(work, out, at + 6, inboard[0])
        store_row3(work, out, at + 9, inboard[1])
    return first if first != OK else second


@helper
def shape(model, count):
    nv = velocity_count(model)
    return (nv + ROW * body_count(model), 1) if count == nv else (-1, 1)


joint_forces = one_state("joint_forces", sweep, shape, "q v x f")
joint_forces_batch = batch("joint_forces_batch", sweep, shape)
