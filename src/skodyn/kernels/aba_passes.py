"""What forces and accelerations become when they pass a joint: the two halves of Algorithm 6.1.

Inward, a degree of freedom with column h, u = P·h and pivot d takes the part of a force z that it
can yield to,  ε = 𝒯 − h·z,  z ← z + u ε/d.  Outward, it answers an acceleration α by
v̇ = (ε − u·α)/d,  α ← α + h v̇.  With 𝒯 = 0 these are z ← ψ-part of z, and α ← its transpose.
"""

from skodyn.jit import helper
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.packed_model import body_count, entry
from skodyn.kernels.tuples import load3, load6, store6
from skodyn.kernels.workspace import BODY, DOF, SUMS, body_slot, carried_slot, dof_slot, sum_slot
from skodyn.lanes import load, load_rows, store
from skodyn.model.layout import N_DOF, PARENT, SUBTREE_END, V_START
from skodyn.spatial.motion import add_scaled_spatial, add_spatial, dot_spatial, shift_force


@helper
def eliminate_joint(work, model, k, r, z, tau):
    """z⁺ from z, with 𝒯 given; stores ε of every degree of freedom of joint k."""
    for d_back in range(entry(model, k, N_DOF)):
        i = entry(model, k, N_DOF) - 1 - d_back
        dof = entry(model, k, V_START) + i
        h = joint_column(work, model, k, i, r)
        epsilon = load_rows(work, tau, dof) - dot_spatial(h, z)
        record = dof_slot(body_count(model), dof)
        store(work, record + DOF.RESIDUE, epsilon)
        ratio = epsilon * load(work, record + DOF.PIVOT)
        z = add_scaled_spatial(z, ratio, load6(work, record + DOF.GAIN))
    return z


@helper
def backsubstitute_dof(work, model, k, i, alpha):
    """v̇ of degree of freedom i of joint k, given α as far as the joint's earlier ones made it."""
    record = dof_slot(body_count(model), entry(model, k, V_START) + i)
    u = load6(work, record + DOF.GAIN)
    return (load(work, record + DOF.RESIDUE) - dot_spatial(u, alpha)) * load(
        work, record + DOF.PIVOT
    )


@helper
def project_force(work, model, k, r, f):
    """τ̄(k)·f: what of a force passes joint k when the joint is left free."""
    for d_back in range(entry(model, k, N_DOF)):
        i = entry(model, k, N_DOF) - 1 - d_back
        h = joint_column(work, model, k, i, r)
        record = dof_slot(body_count(model), entry(model, k, V_START) + i)
        ratio = -(dot_spatial(h, f) * load(work, record + DOF.PIVOT))
        f = add_scaled_spatial(f, ratio, load6(work, record + DOF.GAIN))
    return f


@helper
def passed_force(work, model, k):
    """What the children of body k have passed inward; k + 1 has just come by."""
    if entry(model, k, SUBTREE_END) > k + 1:
        return load6(work, sum_slot(model, -1) + SUMS.FORCE)
    return zero3(work), zero3(work)


@helper
def kept_force(work, model, k):
    """The same after a gather that was told to keep the sums."""
    if entry(model, k, SUBTREE_END) > k + 1:
        return load6(work, sum_slot(model, k) + SUMS.FORCE)
    return zero3(work), zero3(work)


@helper
def pass_force_inward(work, model, k, f, keep):
    """Add φ·f to the parent's sum, carried and kept as in pass_inertia_inward."""
    parent = entry(model, k, PARENT)
    if parent < 0:
        return
    shifted = shift_force(load3(work, body_slot(k) + BODY.ARM), f)
    slot = sum_slot(model, parent) + SUMS.FORCE
    if entry(model, k, SUBTREE_END) != entry(model, parent, SUBTREE_END):
        shifted = add_spatial(shifted, load6(work, slot))
    store6(work, carried_slot(model, k, parent) + SUMS.FORCE, shifted)
    if keep and parent == k - 1:
        store6(work, slot, shifted)
