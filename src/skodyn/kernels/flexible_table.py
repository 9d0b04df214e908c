"""The table of flexible bodies behind the tree of recursions: model/flexible_layout.py."""

from __future__ import annotations

from typing import Any

from skodyn.jit import helper, routine
from skodyn.kernels.workspace import body_count, free_slot, parameter3, parameter_sym
from skodyn.lanes import fma, load, parameter, splat, store
from skodyn.model.flexible_layout import (
    COUPLING_NUMBERS,
    COUPLINGS,
    FLEXIBLE_LANES,
    MODAL_MASS,
    NODE_LANES,
    RECORDS,
    SHAPE_INTEGRALS,
    SHAPES,
)
from skodyn.model.layout import FLEXIBLE, FULL


@helper
def flexible_record(model, k):
    """Where the record of body k begins, 0 if it is rigid; the ground (−1) is."""
    if k < 0:
        return 0
    return model.tree[model.tree[FLEXIBLE] + RECORDS + k]


@helper
def node_record(model, k):
    """Where the record of what body k hangs on begins, 0 if on no node."""
    return model.tree[model.tree[FLEXIBLE] + RECORDS + body_count(model) + k]


@helper
def field(model, record, i):
    """One integer of a record."""
    return model.tree[record + i]


@helper
def lanes_of(model, record, i):
    """Where a table of a flexible body begins in the workspace."""
    return free_slot(model) + model.tree[record + i]


@helper
def node_lanes(model, node):
    """Where Π of what hangs on a node begins."""
    return free_slot(model) + model.tree[node + NODE_LANES]


@helper
def triangle(i):
    """Where row i of a lower triangle begins."""
    return i * (i + 1) // 2


@helper
def in_lanes3(work, a):
    """Three parameters that a sum of lanes begins with."""
    return (splat(work, a[0]), splat(work, a[1]), splat(work, a[2]))


@helper
def shape_integral(work, model, record, e):
    """∫ φ dm of shape e."""
    return parameter3(work, model, field(model, record, SHAPE_INTEGRALS) + 3 * e)


@helper
def undeformed_coupling(work, model, record, e):
    """(D(N), ax(N)) of shape e."""
    at = field(model, record, COUPLINGS) + COUPLING_NUMBERS * e
    return parameter_sym(work, model, at), parameter3(work, model, at + 6)


@helper
def modal_mass(work, model, record, e, f):
    """∫ φₑ·φ_f dm."""
    at = field(model, record, MODAL_MASS) + field(model, record, SHAPES) * e + f
    return parameter(work, model.parameters, at)


@routine
def add_sparse(work, model, rows, numbers, x, out):
    """out += rows·x, for the rows that are not zero; x and out are lanes."""
    place, at = rows + 1, numbers
    for _ in range(model.tree[rows]):
        target, count = out + model.tree[place], model.tree[place + 1]
        total = load(work, target)
        for c in range(count):
            entry = parameter(work, model.parameters, at + c)
            total = fma(entry, load(work, x + model.tree[place + 2 + c]), total)
        store(work, target, total)
        place += 2 + count
        at += count


@helper
def clear_lanes(work, at, count):
    for i in range(count):
        store(work, at + i, splat(work, 0.0))


def is_bent(tree: Any) -> bool:
    """Has a packed model flexible bodies?"""
    full = int(tree[FULL])
    return full > 0 and int(tree[full + FLEXIBLE]) > 0


def flexible_lanes(tree: Any) -> int:
    """Lanes that the flexible bodies of a packed model need behind its workspace."""
    full = int(tree[FULL])
    return int(tree[full + int(tree[full + FLEXIBLE]) + FLEXIBLE_LANES])
