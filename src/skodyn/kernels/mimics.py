"""Between the state of a model with mimic joints and the tree in which every joint has its own.

Tables have one row per lane. `tree` is the layout of the state, `full_tree(tree)` that of the
recursions; without mimic joints both are the same. Multiplication and addition are not fused, so
that kernels and `Model.expand_q` give a mimic joint the same bits.
"""

from __future__ import annotations

from typing import Any

from skodyn.jit import helper, routine
from skodyn.kernels.workspace import DOF_LANES, body_count, dof_parameters, free_slot
from skodyn.lanes import load_rows, parameter, shift_pointer, splat, store_rows
from skodyn.model.layout import (
    COUPLED_DOF,
    COUPLED_Q,
    COUPLED_ROW,
    COUPLING_HEADER,
    FOLLOWS,
    FULL,
    MIMIC_RECORD,
    MIMICS,
    MULTIPLIER,
    NQ,
    NV,
    OFFSET,
    SOURCES,
)


@helper
def full_tree(tree):
    """The tree with a coordinate for every joint."""
    return shift_pointer(tree, tree[FULL])


@helper
def mimic_count(tree):
    return tree[2 * tree[FULL] + MIMICS]


@helper
def source_count(tree):
    return tree[2 * tree[FULL] + SOURCES]


@helper
def full_q(tree, i):
    """Where coordinate i of the state lies in the full tree."""
    return tree[2 * tree[FULL] + COUPLING_HEADER + i]


@helper
def full_dof(tree, i):
    """Where velocity i of the state lies in the full tree."""
    return tree[2 * tree[FULL] + COUPLING_HEADER + tree[NQ] + i]


@helper
def coupled(tree, c, column):
    """One integer of coupled joint c; sources come first, mimic j is number source_count + j."""
    rows = 2 * tree[FULL] + COUPLING_HEADER + tree[NQ] + tree[NV]
    return tree[rows + COUPLED_ROW * c + column]


@helper
def mimic_parameter(w, tree, p, j, which):
    """Multiplier or offset of mimic j."""
    full = full_tree(tree)
    start = dof_parameters(body_count(full), full[NV])
    return parameter(w, p, start + MIMIC_RECORD * j + which)


@helper
def multiplier(w, tree, p, c):
    """How fast coupled joint c moves when its source moves by one; 1 for a source."""
    j = c - source_count(tree)
    return splat(w, 1.0) * mimic_parameter(w, tree, p, j, MULTIPLIER) if j >= 0 else splat(w, 1.0)


@routine
def expand_coordinates(w, tree, p, q, first, stride, out, out_stride):
    """q of every joint."""
    for i in range(tree[NQ]):
        store_rows(w, out, 0, out_stride, full_q(tree, i), load_rows(w, q, first, stride, i))
    sources = source_count(tree)
    for j in range(mimic_count(tree)):
        source = coupled(tree, coupled(tree, sources + j, FOLLOWS), COUPLED_Q)
        moved = mimic_parameter(w, tree, p, j, MULTIPLIER) * load_rows(
            w, out, 0, out_stride, source
        )
        x = moved + mimic_parameter(w, tree, p, j, OFFSET)
        store_rows(w, out, 0, out_stride, coupled(tree, sources + j, COUPLED_Q), x)


@routine
def expand_rates(w, tree, p, v, first, stride, out, out_stride):
    """G·v."""
    for i in range(tree[NV]):
        store_rows(w, out, 0, out_stride, full_dof(tree, i), load_rows(w, v, first, stride, i))
    sources = source_count(tree)
    for j in range(mimic_count(tree)):
        source = coupled(tree, coupled(tree, sources + j, FOLLOWS), COUPLED_DOF)
        x = mimic_parameter(w, tree, p, j, MULTIPLIER) * load_rows(w, out, 0, out_stride, source)
        store_rows(w, out, 0, out_stride, coupled(tree, sources + j, COUPLED_DOF), x)


@routine
def spread_forces(w, tree, tau, first, stride, out, out_stride):
    """Forces on every joint of which Gᵀ makes tau again: none on those that follow."""
    for i in range(full_tree(tree)[NV]):
        store_rows(w, out, 0, out_stride, i, splat(w, 0.0))
    for i in range(tree[NV]):
        store_rows(w, out, 0, out_stride, full_dof(tree, i), load_rows(w, tau, first, stride, i))


@routine
def fold_forces(w, tree, p, tau, stride):
    """Add what acts on mimic joints to their sources, in place; what the state has of it is Gᵀτ."""
    sources = source_count(tree)
    for j in range(mimic_count(tree)):
        source = coupled(tree, coupled(tree, sources + j, FOLLOWS), COUPLED_DOF)
        own = load_rows(w, tau, 0, stride, coupled(tree, sources + j, COUPLED_DOF))
        folded = mimic_parameter(w, tree, p, j, MULTIPLIER) * own
        store_rows(w, tau, 0, stride, source, load_rows(w, tau, 0, stride, source) + folded)


@routine
def pick_rates(w, tree, full, full_stride, out, first, stride):
    """What the state has of a row over the full tree."""
    for i in range(tree[NV]):
        store_rows(w, out, first, stride, i, load_rows(w, full, 0, full_stride, full_dof(tree, i)))


# ---- scratch, behind the records of the full tree ----------------------------------------------


@helper
def scratch_slot(tree):
    """First lane of the scratch of coupled_accelerations.py."""
    return free_slot(full_tree(tree))


@helper
def factor_lanes(tree):
    """Lanes that coupled_accelerations.py keeps between right-hand sides."""
    s = source_count(tree)
    k = s + mimic_count(tree)
    return k * full_tree(tree)[NV] + k * k + k * s + s * s + k + s


def mimic_lanes(model: Any) -> int:
    """Lanes that a model with mimic joints needs beyond a workspace for its own nv."""
    if not model.mimics:
        return 0
    nq, nv, m = int(model.uncoupled.nq), int(model.uncoupled.nv), len(model.mimics)
    s = len({mimic.source for mimic in model.mimics.values()})
    k = s + m
    factors = k * nv + k * k + k * s + s * s + k + s
    return m * (DOF_LANES + 2) + factors + nq + 3 * nv
