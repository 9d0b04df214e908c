"""The table of flexible bodies behind the tree of recursions: model/flexible_layout.py."""

from __future__ import annotations

from typing import Any

from skodyn.jit import helper
from skodyn.kernels.workspace import body_count, free_slot
from skodyn.lanes import (
    Work,
    columns_at_once,
    fma,
    load,
    load_columns,
    parameter,
    splat_columns,
    store,
    store_columns,
)
from skodyn.model.flexible_layout import FLEXIBLE_LANES, FOUR, NODE_LANES, RECORDS
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


# ---- fours: one component of several masters or shapes, taken at once of one state ---------------


@helper
def parameter_columns(work, model, i):
    """As many parameters as columns are taken at once."""
    if columns_at_once(work) > 1:
        return load_columns(Work(work.width, model.parameters), i)
    return splat_columns(work, parameter(work, model.parameters, i))


@helper
def parameter_columns3(work, model, i, pitch):
    return (
        parameter_columns(work, model, i),
        parameter_columns(work, model, i + pitch),
        parameter_columns(work, model, i + 2 * pitch),
    )


@helper
def columns3(work, i, pitch):
    """Three components that lie `pitch` apart."""
    return (
        load_columns(work, i),
        load_columns(work, i + pitch),
        load_columns(work, i + 2 * pitch),
    )


@helper
def store_columns3(work, i, pitch, a):
    store_columns(work, i, a[0])
    store_columns(work, i + pitch, a[1])
    store_columns(work, i + 2 * pitch, a[2])


@helper
def columns6(work, i, pitch):
    """Those of 6-vectors."""
    return columns3(work, i, pitch), columns3(work, i + 3 * pitch, pitch)


@helper
def store_columns6(work, i, pitch, a):
    store_columns3(work, i, pitch, a[0])
    store_columns3(work, i + 3 * pitch, pitch, a[1])


@helper
def load3_apart(work, i, pitch):
    """Three components of one column."""
    return (load(work, i), load(work, i + pitch), load(work, i + 2 * pitch))


@helper
def load6_apart(work, i, pitch):
    """A 6-vector that is one column."""
    return load3_apart(work, i, pitch), load3_apart(work, i + 3 * pitch, pitch)


@helper
def parameter3_apart(work, model, i, pitch):
    p = model.parameters
    return (
        parameter(work, p, i),
        parameter(work, p, i + pitch),
        parameter(work, p, i + 2 * pitch),
    )


@helper
def clear_columns(work, at, count):
    for i in range(0, count, columns_at_once(work)):
        store_columns(work, at + i, splat_columns(work, 0.0))


# ---- products ------------------------------------------------------------------------------------


@helper
def add_product(work, model, product, x, out):
    """out += matrix·x; x and out are lanes."""
    if columns_at_once(work) > 1:
        _add_fours(work, model, product, x, out)
    else:
        _add_entries(work, model, product, x, out)


@helper
def _add_fours(work, model, product, x, out):
    """Four rows at once."""
    tree, place = model.tree, product + 2
    for _ in range(tree[product]):
        target, count, numbers = out + tree[place], tree[place + 1], tree[place + 2]
        total = load_columns(work, target)
        for c in range(count):
            weights = parameter_columns(work, model, numbers + FOUR * c)
            total = fma(weights, load(work, x + tree[place + 3 + c]), total)
        store_columns(work, target, total)
        place += 3 + count


@helper
def _add_entries(work, model, product, x, out):
    """One row after the other, without its zeros."""
    tree = model.tree
    place = product + tree[product + 1]
    rows = tree[place]
    place += 1
    for _ in range(rows):
        target, count = out + tree[place], tree[place + 1]
        total = load(work, target)
        for c in range(count):
            at = place + 2 + 2 * c
            weight = parameter(work, model.parameters, tree[at + 1])
            total = fma(weight, load(work, x + tree[at]), total)
        store(work, target, total)
        place += 2 + 2 * count


def is_bent(tree: Any) -> bool:
    """Has a packed model flexible bodies?"""
    full = int(tree[FULL])
    return full > 0 and int(tree[full + FLEXIBLE]) > 0


def flexible_lanes(tree: Any) -> int:
    """Lanes that the flexible bodies of a packed model need behind its workspace."""
    full = int(tree[FULL])
    return int(tree[full + int(tree[full + FLEXIBLE]) + FLEXIBLE_LANES])
