"""What forces and accelerations become when they pass a joint: the two halves of Algorithm 6.1.

Inward, a degree of freedom with column h, u = P·h and pivot d takes the part of a force z that it
can yield to,  ε = 𝒯 − h·z,  z ← z + u ε/d.  Outward, it answers an acceleration α by
v̇ = (ε − u·α)/d,  α ← α + h v̇.  With 𝒯 = 0 these are z ← ψ-part of z, and α ← its transpose.
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.joint_motion import joint_column, zero3
from skodyn.kernels.workspace import (
    ARM,
    FORCE,
    GAIN,
    PIVOT,
    RESIDUE,
    body_count,
    body_slot,
    carried_slot,
    dof_slot,
    entry,
    load3,
    load6,
    store6,
    sum_slot,
)
from skodyn.lanes import load, load_rows, store
from skodyn.model.layout import N_DOF, PARENT, SUBTREE_END, V_START
from skodyn.spatial.linear3 import add_scaled
from skodyn.spatial.motion import add_spatial, dot_spatial, shift_force


@helper
def add_scaled_spatial(a, s, b):
    """a + s·b of 6-vectors."""
    return add_scaled(a[0], s, b[0]), add_scaled(a[1], s, b[1])


@helper
def take_residue(w, tree, p, k, r, z, tau, v_first, nv, ws):
    """z⁺ from z, with 𝒯 given; stores ε of every degree of freedom of joint k."""
    for d_back in range(entry(tree, k, N_DOF)):
        i = entry(tree, k, N_DOF) - 1 - d_back
        dof = entry(tree, k, V_START) + i
        h = joint_column(w, tree, p, k, i, r, ws)
        epsilon = load_rows(w, tau, v_first, nv, dof) - dot_spatial(h, z)
        record = dof_slot(body_count(tree), dof)
        store(w, ws, record + RESIDUE, epsilon)
        ratio = epsilon * load(w, ws, record + PIVOT)
        z = add_scaled_spatial(z, ratio, load6(w, ws, record + GAIN))
    return z


@helper
def answer_acceleration(w, tree, k, i, alpha, ws):
    """v̇ of degree of freedom i of joint k, given α as far as the joint's earlier ones made it."""
    record = dof_slot(body_count(tree), entry(tree, k, V_START) + i)
    u = load6(w, ws, record + GAIN)
    return (load(w, ws, record + RESIDUE) - dot_spatial(u, alpha)) * load(w, ws, record + PIVOT)


@helper
def yield_force(w, tree, p, k, r, f, ws):
    """τ̄(k)·f: what of a force passes joint k when the joint is left free."""
    for d_back in range(entry(tree, k, N_DOF)):
        i = entry(tree, k, N_DOF) - 1 - d_back
        h = joint_column(w, tree, p, k, i, r, ws)
        record = dof_slot(body_count(tree), entry(tree, k, V_START) + i)
        ratio = -(dot_spatial(h, f) * load(w, ws, record + PIVOT))
        f = add_scaled_spatial(f, ratio, load6(w, ws, record + GAIN))
    return f


@helper
def passed_force(w, tree, k, ws):
    """What the children of body k have passed inward; k + 1 has just come by."""
    if entry(tree, k, SUBTREE_END) > k + 1:
        return load6(w, ws, sum_slot(tree, -1) + FORCE)
    return zero3(w), zero3(w)


@helper
def kept_force(w, tree, k, ws):
    """The same after a gather that was told to keep the sums."""
    if entry(tree, k, SUBTREE_END) > k + 1:
        return load6(w, ws, sum_slot(tree, k) + FORCE)
    return zero3(w), zero3(w)


@helper
def pass_force_inward(w, tree, k, f, keep, ws):
    """Add φ·f to the parent's sum, carried and kept as in pass_inertia_inward."""
    parent = entry(tree, k, PARENT)
    if parent < 0:
        return
    shifted = shift_force(load3(w, ws, body_slot(k) + ARM), f)
    slot = sum_slot(tree, parent) + FORCE
    if entry(tree, k, SUBTREE_END) != entry(tree, parent, SUBTREE_END):
        shifted = add_spatial(shifted, load6(w, ws, slot))
    store6(w, ws, carried_slot(tree, k, parent) + FORCE, shifted)
    if keep and parent == k - 1:
        store6(w, ws, slot, shifted)
