"""The table of flexible bodies behind the tree of recursions: model/flexible/flexible_layout.py."""

from __future__ import annotations

from typing import Any

from skodyn.jit import helper
from skodyn.kernels.workspace import body_count
from skodyn.lanes import (
    columns_at_once,
    fma,
    load,
    load_columns,
    parameter,
    parameter_columns,
    splat,
    splat_columns,
    store,
    store_columns,
    table_entry,
)
from skodyn.model.flexible.flexible_layout import FLEXIBLE_LANES, FOUR, NODE_LANES, RECORDS
from skodyn.model.layout import FLEXIBLE, FULL


@helper
def flexible_record(model, k):
    """Where the record of body k begins, 0 if it is rigid; the ground (−1) is."""
    if k < 0:
        return 0
    return table_entry(model.tree, table_entry(model.tree, FLEXIBLE) + RECORDS + k)


@helper
def node_record(model, k):
    """Where the record of what body k hangs on begins, 0 if on no node."""
    records = table_entry(model.tree, FLEXIBLE) + RECORDS
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
    return table_entry(model.tree, node + NODE_LANES)


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
    tree = model.tree
    if columns_at_once(work) > 1:
        place = product + 2
        for _ in range(table_entry(tree, product)):
            _add_four(work, model, place, x, out)
            place += 3 + table_entry(tree, place + 1)
    else:
        place = product + table_entry(tree, product + 1)
        rows = table_entry(tree, place)
        place += 1
        for _ in range(rows):
            _add_row(work, model, place, x, out)
            place += 3 + 2 * (table_entry(tree, place + 1) + table_entry(tree, place + 2))


@helper
def add_two_products(work, model, product, first, second):
    """The same matrix times two vectors, each with its result: (x, out)."""
    tree = model.tree
    if columns_at_once(work) > 1:
        place = product + 2
        for _ in range(table_entry(tree, product)):
            if table_entry(tree, place + 1) > FOUR:
                _add_four(work, model, place, first[0], first[1])
                _add_four(work, model, place, second[0], second[1])
            else:
                _add_two_fours(work, model, place, first, second)
            place += 3 + table_entry(tree, place + 1)
    else:
        add_product(work, model, product, first[0], first[1])
        add_product(work, model, product, second[0], second[1])


@helper
def _add_four(work, model, place, x, out):
    """Four rows at once; of more than four columns every second one goes into a sum of its own, so
    that neither waits for the other."""
    columns = place + 3
    row, count, numbers = first_three(model, place)
    target = out + row
    total = load_columns(work, target)
    if count == FOUR:
        total = _add_column(work, model, numbers, columns, x, total)
        total = _add_column(work, model, numbers + FOUR, columns + 1, x, total)
        total = _add_column(work, model, numbers + 2 * FOUR, columns + 2, x, total)
        total = _add_column(work, model, numbers + 3 * FOUR, columns + 3, x, total)
    elif count < FOUR:
        for c in range(count):
            total = _add_column(work, model, numbers + FOUR * c, columns + c, x, total)
    else:
        other, pairs = splat_columns(work, 0.0), count // 2
        for c in range(pairs):
            at, column = numbers + 2 * FOUR * c, columns + 2 * c
            total = _add_column(work, model, at, column, x, total)
            other = _add_column(work, model, at + FOUR, column + 1, x, other)
        if count > 2 * pairs:
            last = count - 1
            total = _add_column(work, model, numbers + FOUR * last, columns + last, x, total)
        total = total + other
    store_columns(work, target, total)


@helper
def _add_column(work, model, numbers, column, x, total):
    """One column of four rows."""
    weights = parameter_columns(work, model.parameters, numbers)
    return fma(weights, load(work, x + table_entry(model.tree, column)), total)


@helper
def _add_two_fours(work, model, place, first, second):
    """Up to four columns of four rows for two vectors."""
    row, count, numbers = first_three(model, place)
    both = load_columns(work, first[1] + row), load_columns(work, second[1] + row)
    x, columns = (first[0], second[0]), place + 3
    if count == FOUR:
        both = _add_two_columns(work, model, numbers, columns, x, both)
        both = _add_two_columns(work, model, numbers + FOUR, columns + 1, x, both)
        both = _add_two_columns(work, model, numbers + 2 * FOUR, columns + 2, x, both)
        both = _add_two_columns(work, model, numbers + 3 * FOUR, columns + 3, x, both)
    else:
        for c in range(count):
            both = _add_two_columns(work, model, numbers + FOUR * c, columns + c, x, both)
    store_columns(work, first[1] + row, both[0])
    store_columns(work, second[1] + row, both[1])


@helper
def _add_two_columns(work, model, numbers, column, x, both):
    weights = parameter_columns(work, model.parameters, numbers)
    at = table_entry(model.tree, column)
    return (
        fma(weights, load(work, x[0] + at), both[0]),
        fma(weights, load(work, x[1] + at), both[1]),
    )


@helper
def _add_row(work, model, place, x, out):
    """One row without its zeros, in as many sums as its four has."""
    row, count, others = first_three(model, place)
    target = out + row
    total, at = load(work, target), place + 3
    for c in range(count):
        total = _add_entry(work, model, at + 2 * c, x, total)
    if others > 0:
        other, at = splat(work, 0.0), at + 2 * count
        for c in range(others):
            other = _add_entry(work, model, at + 2 * c, x, other)
        total = total + other
    store(work, target, total)


@helper
def _add_entry(work, model, at, x, total):
    weight = parameter(work, model.parameters, table_entry(model.tree, at + 1))
    return fma(weight, load(work, x + table_entry(model.tree, at)), total)


def is_bent(tree: Any) -> bool:
    """Has a packed model flexible bodies?"""
    full = int(tree[FULL])
    return full > 0 and int(tree[full + FLEXIBLE]) > 0


def flexible_lanes(tree: Any) -> int:
    """Lanes that the flexible bodies of a packed model need behind its workspace."""
    full = int(tree[FULL])
    return int(tree[full + int(tree[full + FLEXIBLE]) + FLEXIBLE_LANES])
