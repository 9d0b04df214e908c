"""Between the state of a model with mimic joints and the tree in which every joint has its own.

Tables have one row per lane. `model` is the layout of the state, `full_model(model)` that of the
recursions; without mimic joints both are the same. Multiplication and addition are not fused, so
that kernels and `Model.expand_q` give a mimic joint the same bits.
"""

from __future__ import annotations

from typing import Any

from skodyn.jit import helper, plain, routine
from skodyn.kernels.packed_model import PackedModel, body_count, dof_parameters
from skodyn.kernels.workspace import free_slot, workspace_lanes
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
    N_BODIES,
    NQ,
    NV,
    OFFSET,
    SOURCES,
)


@helper
def has_mimics(model):
    return model.tree[FULL] > 0


@helper
def full_model(model):
    """The same with a coordinate for every joint."""
    return PackedModel(shift_pointer(model.tree, model.tree[FULL]), model.parameters)


@helper
def mimic_count(model):
    return model.tree[2 * model.tree[FULL] + MIMICS]


@helper
def source_count(model):
    return model.tree[2 * model.tree[FULL] + SOURCES]


@helper
def full_q(model, i):
    """Where coordinate i of the state lies in the full tree."""
    return model.tree[2 * model.tree[FULL] + COUPLING_HEADER + i]


@helper
def full_dof(model, i):
    """Where velocity i of the state lies in the full tree."""
    return model.tree[2 * model.tree[FULL] + COUPLING_HEADER + model.tree[NQ] + i]


@helper
def coupled(model, c, column):
    """One integer of coupled joint c; sources come first, mimic j is number source_count + j."""
    rows = 2 * model.tree[FULL] + COUPLING_HEADER + model.tree[NQ] + model.tree[NV]
    return model.tree[rows + COUPLED_ROW * c + column]


@helper
def mimic_parameter(work, model, j, which):
    """Multiplier or offset of mimic j."""
    full = full_model(model)
    start = dof_parameters(body_count(full), full.tree[NV])
    return parameter(work, model.parameters, start + MIMIC_RECORD * j + which)


@helper
def multiplier(work, model, c):
    """How fast coupled joint c moves when its source moves by one; 1 for a source."""
    j = c - source_count(model)
    one = splat(work, 1.0)
    return one * mimic_parameter(work, model, j, MULTIPLIER) if j >= 0 else one


@routine
def expand_coordinates(work, model, q, out):
    """q of every joint."""
    for i in range(model.tree[NQ]):
        store_rows(work, out, full_q(model, i), load_rows(work, q, i))
    sources = source_count(model)
    for j in range(mimic_count(model)):
        source = coupled(model, coupled(model, sources + j, FOLLOWS), COUPLED_Q)
        moved = mimic_parameter(work, model, j, MULTIPLIER) * load_rows(work, out, source)
        x = moved + mimic_parameter(work, model, j, OFFSET)
        store_rows(work, out, coupled(model, sources + j, COUPLED_Q), x)


@routine
def expand_rates(work, model, v, out):
    """G·v."""
    for i in range(model.tree[NV]):
        store_rows(work, out, full_dof(model, i), load_rows(work, v, i))
    sources = source_count(model)
    for j in range(mimic_count(model)):
        source = coupled(model, coupled(model, sources + j, FOLLOWS), COUPLED_DOF)
        x = mimic_parameter(work, model, j, MULTIPLIER) * load_rows(work, out, source)
        store_rows(work, out, coupled(model, sources + j, COUPLED_DOF), x)


@routine
def spread_forces(work, model, tau, out):
    """Forces on every joint of which Gᵀ makes tau again: none on those that follow."""
    for i in range(full_model(model).tree[NV]):
        store_rows(work, out, i, splat(work, 0.0))
    for i in range(model.tree[NV]):
        store_rows(work, out, full_dof(model, i), load_rows(work, tau, i))


@routine
def fold_forces(work, model, tau):
    """Add what acts on mimic joints to their sources, in place; what the state has of it is Gᵀτ."""
    sources = source_count(model)
    for j in range(mimic_count(model)):
        source = coupled(model, coupled(model, sources + j, FOLLOWS), COUPLED_DOF)
        own = load_rows(work, tau, coupled(model, sources + j, COUPLED_DOF))
        folded = mimic_parameter(work, model, j, MULTIPLIER) * own
        store_rows(work, tau, source, load_rows(work, tau, source) + folded)


@routine
def pick_rates(work, model, full, out):
    """What the state has of a row over the full tree."""
    for i in range(model.tree[NV]):
        store_rows(work, out, i, load_rows(work, full, full_dof(model, i)))


# ---- scratch, behind the records of the full tree ----------------------------------------------


@helper
def scratch_slot(model):
    """First lane of the scratch of coupled_accelerations.py."""
    return free_slot(full_model(model))


@helper
def factor_lanes(sources, mimics, nv):
    """Lanes that coupled_accelerations.py keeps between right-hand sides."""
    k = sources + mimics
    return k * nv + k * k + k * sources + sources * sources + k + sources


@helper
def behind_factors(model):
    """First lane behind that scratch, where simulations with driven joints keep theirs."""
    nv = full_model(model).tree[NV]
    return scratch_slot(model) + factor_lanes(source_count(model), mimic_count(model), nv)


def mimic_lanes(model: Any) -> int:
    """Lanes that a model with mimic joints needs beyond a workspace for its own nv."""
    return lanes_of_mimics(model.kernel_tree)


def lanes_of_mimics(tree: Any) -> int:
    """The same of a packed tree."""
    full = int(tree[FULL])
    if not full:
        return 0
    n, nq, nv = (int(tree[full + i]) for i in (N_BODIES, NQ, NV))
    own = workspace_lanes(n, int(tree[NQ]), int(tree[NV]))
    sources, mimics = int(tree[2 * full + SOURCES]), int(tree[2 * full + MIMICS])
    rows = nq + 3 * nv  # those of coupled_dynamics.py
    factors = plain(factor_lanes)(sources, mimics, nv)
    return int(workspace_lanes(n, nq, nv) - own + factors + rows)
