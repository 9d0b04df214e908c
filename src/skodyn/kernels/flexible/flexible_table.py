"""The table of flexible bodies behind the tree of recursions: model/flexible/flexible_layout.py."""

from __future__ import annotations

from typing import Any

from skodyn.jit import helper
from skodyn.kernels.packed_model import body_count
from skodyn.lanes import fma, load, parameter, table_entry
from skodyn.lanes.columns import (
    columns_at_once,
    load_columns,
    parameter_columns,
    splat_columns,
    store_columns,
)
from skodyn.model.flexible import flexible_layout as its
from skodyn.model.layout import FLEXIBLE, FULL


@helper
def flexible_record(model, k):
    """Where the record of body k begins, 0 if it is rigid; the ground (−1) is."""
    if k < 0:
        return 0
    return table_entry(model.tree, table_entry(model.tree, FLEXIBLE) + its.RECORDS + k)


@helper
def node_record(model, k):
    """Where the record of what body k hangs on begins, 0 if on no node."""
    records = table_entry(model.tree, FLEXIBLE) + its.RECORDS
    return table_entry(model.tree, records + body_count(model) + k)


@helper
def field(model, record, i):
    """One integer of a record."""
    return table_entry(model.tree, record + i)


@helper
def first_three(model, place):
    """The integers that a four or a row of a product begins with."""
    return field(model, place, 0), field(model, place, 1), field(model, place, 2)


@helper
def lanes_of(model, record, i):
    """Where a table of a flexible body begins in the workspace."""
    return table_entry(model.tree, record + i)


@helper
def node_lanes(model, node):
    """Where Π of what hangs on a node begins."""
    return table_entry(model.tree, node + its.NODE_LANES)


# ---- fours: one component of several masters or shapes, taken at once of one state ---------------


@helper
def parameter_columns3(work, model, i, pitch):
    p = model.parameters
    return (
        parameter_columns(work, p, i),
        parameter_columns(work, p, i + pitch),
        parameter_columns(work, p, i + 2 * pitch),
    )


@helper
def columns3(work, i, pitch):
    """Three components that lie `pitch` apart."""
    return (load_columns(work, i), load_columns(work, i + pitch), load_columns(work, i + 2 * pitch))


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
    return (parameter(work, p, i), parameter(work, p, i + pitch), parameter(work, p, i + 2 * pitch))


@helper
def clear_columns(work, at, count):
    for i in range(0, count, columns_at_once(work)):
        store_columns(work, at + i, splat_columns(work, 0.0))


# ---- four columns of several states: sums that do not wait for each other -----------------------


@helper
def columns_of_four(work, i):
    """Four columns, one behind the other."""
    return (
        load_columns(work, i),
        load_columns(work, i + 1),
        load_columns(work, i + 2),
        load_columns(work, i + 3),
    )


@helper
def store_columns_of_four(work, i, a):
    store_columns(work, i, a[0])
    store_columns(work, i + 1, a[1])
    store_columns(work, i + 2, a[2])
    store_columns(work, i + 3, a[3])


@helper
def parameters_of_four(work, model, i):
    p = model.parameters
    return (
        parameter_columns(work, p, i),
        parameter_columns(work, p, i + 1),
        parameter_columns(work, p, i + 2),
        parameter_columns(work, p, i + 3),
    )


@helper
def zeros_of_four(work):
    zero = splat_columns(work, 0.0)
    return (zero, zero, zero, zero)


@helper
def add_scaled_four(total, s, a):
    """total + s·a."""
    return (
        fma(s, a[0], total[0]),
        fma(s, a[1], total[1]),
        fma(s, a[2], total[2]),
        fma(s, a[3], total[3]),
    )


def is_bent(tree: Any) -> bool:
    """Has a packed model flexible bodies?"""
    full = int(tree[FULL])
    return full > 0 and int(tree[full + FLEXIBLE]) > 0


def flexible_lanes(tree: Any) -> int:
    """Lanes that the flexible bodies of a packed model need behind its workspace."""
    full = int(tree[FULL])
    return int(tree[full + int(tree[full + FLEXIBLE]) + its.FLEXIBLE_LANES])
