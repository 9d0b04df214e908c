"""Constant matrices of flexible bodies times lanes: flexible_layout.FOUR says how they lie.

One state takes four rows at once. Several states take four rows that have the same columns, so that
a number of x is loaded once for all of them and no sum waits for another.
"""

from skodyn.jit import helper
from skodyn.kernels.flexible.flexible_table import add_scaled_four, first_three
from skodyn.lanes import fma, load, table_entry
from skodyn.lanes.columns import columns_at_once, parameter_columns, splat_columns, store_columns
from skodyn.model.flexible import flexible_layout as its

ZEROS = -1
"""Where a product begins that has no constants to be added to."""


@helper
def fill_product(work, model, product, begin, x, out):
    """out = constants + matrix·x; x and out are lanes, the constants lie at `begin`."""
    if columns_at_once(work) > 1:
        place = product + 2
        for _ in range(table_entry(model.tree, product)):
            _fill_four(work, model, place, begin, x, out)
            place += 3 + table_entry(model.tree, place + 1)
    else:
        fours, place = _first_rows(model, product)
        for _ in range(fours):
            place = _fill_rows(work, model, place, begin, x, out)
        single, place = table_entry(model.tree, place), place + 1
        for _ in range(single):
            place = _fill_row(work, model, place, begin, x, out)


@helper
def fill_two_products(work, model, product, begin, first, second):
    """The same matrix times two vectors, each with its result: (x, out). The second one begins with
    zeros."""
    tree = model.tree
    if columns_at_once(work) > 1:
        place = product + 2
        for _ in range(table_entry(tree, product)):
            if table_entry(tree, place + 1) > its.FOUR:
                _fill_four(work, model, place, begin, first[0], first[1])
                _fill_four(work, model, place, ZEROS, second[0], second[1])
            else:
                _fill_two_fours(work, model, place, begin, first, second)
            place += 3 + table_entry(tree, place + 1)
    else:
        fours, place = _first_rows(model, product)
        for _ in range(fours):
            place = _fill_two_rows(work, model, place, begin, first, second)
        single, place = table_entry(tree, place), place + 1
        for _ in range(single):
            _fill_row(work, model, place, begin, first[0], first[1])
            place = _fill_row(work, model, place, ZEROS, second[0], second[1])


# ---- one state: four rows at once ----------------------------------------------------------------


@helper
def _fill_four(work, model, place, begin, x, out):
    """Four rows at once; of more than four columns every second one goes into a sum of its own, so
    that neither waits for the other."""
    columns = place + 3
    row, count, numbers = first_three(model, place)
    total = _begin(work, model, begin, row)
    if count == its.FOUR:
        total = _add_column(work, model, numbers, columns, x, total)
        total = _add_column(work, model, numbers + its.FOUR, columns + 1, x, total)
        total = _add_column(work, model, numbers + 2 * its.FOUR, columns + 2, x, total)
        total = _add_column(work, model, numbers + 3 * its.FOUR, columns + 3, x, total)
    elif count < its.FOUR:
        for c in range(count):
            total = _add_column(work, model, numbers + its.FOUR * c, columns + c, x, total)
    else:
        other, pairs = splat_columns(work, 0.0), count // 2
        for c in range(pairs):
            at, column = numbers + 2 * its.FOUR * c, columns + 2 * c
            total = _add_column(work, model, at, column, x, total)
            other = _add_column(work, model, at + its.FOUR, column + 1, x, other)
        if count > 2 * pairs:
            last = count - 1
            total = _add_column(work, model, numbers + its.FOUR * last, columns + last, x, total)
        total = total + other
    store_columns(work, out + row, total)


@helper
def _add_column(work, model, numbers, column, x, total):
    """One column of four rows."""
    weights = parameter_columns(work, model.parameters, numbers)
    return fma(weights, load(work, x + table_entry(model.tree, column)), total)


@helper
def _fill_two_fours(work, model, place, begin, first, second):
    """Up to four columns of four rows for two vectors."""
    row, count, numbers = first_three(model, place)
    both = _begin(work, model, begin, row), splat_columns(work, 0.0)
    x, columns = (first[0], second[0]), place + 3
    if count == its.FOUR:
        both = _add_two_columns(work, model, numbers, columns, x, both)
        both = _add_two_columns(work, model, numbers + its.FOUR, columns + 1, x, both)
        both = _add_two_columns(work, model, numbers + 2 * its.FOUR, columns + 2, x, both)
        both = _add_two_columns(work, model, numbers + 3 * its.FOUR, columns + 3, x, both)
    else:
        for c in range(count):
            both = _add_two_columns(work, model, numbers + its.FOUR * c, columns + c, x, both)
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


# ---- several states: four rows that have the same columns ----------------------------------------


@helper
def _first_rows(model, product):
    """How many fours of rows there are for several states, and where they lie."""
    place = product + table_entry(model.tree, product + 1)
    return table_entry(model.tree, place), place + 1


@helper
def _fill_rows(work, model, place, begin, x, out):
    """Four rows; returns where the next ones lie."""
    rows, numbers = _four_rows(model, place)
    count, others, at = _columns(model, place, its.FOUR)
    total = _begin_four(work, model, begin, rows)
    for _ in range(count):
        total = _add_entries(work, model, at, numbers, x, total)
        at += 2
    if others > 0:
        other = _begin_four(work, model, ZEROS, rows)
        for _ in range(others):
            other = _add_entries(work, model, at, numbers, x, other)
            at += 2
        total = _sum_four(total, other)
    _store_four(work, out, rows, total)
    return at


@helper
def _fill_two_rows(work, model, place, begin, first, second):
    """The same for two vectors, whose numbers are loaded once."""
    rows, numbers = _four_rows(model, place)
    count, others, at = _columns(model, place, its.FOUR)
    ours, theirs = _begin_four(work, model, begin, rows), _begin_four(work, model, ZEROS, rows)
    for _ in range(count):
        weights = _weights(work, model, at, numbers)
        ours = _add_weighed(work, model, at, weights, first[0], ours)
        theirs = _add_weighed(work, model, at, weights, second[0], theirs)
        at += 2
    if others > 0:
        more, theirs_more = (
            _begin_four(work, model, ZEROS, rows),
            _begin_four(work, model, ZEROS, rows),
        )
        for _ in range(others):
            weights = _weights(work, model, at, numbers)
            more = _add_weighed(work, model, at, weights, first[0], more)
            theirs_more = _add_weighed(work, model, at, weights, second[0], theirs_more)
            at += 2
        ours, theirs = _sum_four(ours, more), _sum_four(theirs, theirs_more)
    _store_four(work, first[1], rows, ours)
    _store_four(work, second[1], rows, theirs)
    return at


@helper
def _columns(model, place, rows):
    """How many entries the first and the second sum have, and where they lie."""
    tree = model.tree
    return table_entry(tree, place), table_entry(tree, place + 1), place + 2 + 2 * rows


@helper
def _four_rows(model, place):
    """(rows, where the numbers of each begin)."""
    return _every_second(model, place + 2), _every_second(model, place + 3)


@helper
def _every_second(model, at):
    t = model.tree
    return (
        table_entry(t, at),
        table_entry(t, at + 2),
        table_entry(t, at + 4),
        table_entry(t, at + 6),
    )


@helper
def _begin(work, model, begin, row):
    """What a sum begins with."""
    if begin < 0:
        return splat_columns(work, 0.0)
    return parameter_columns(work, model.parameters, begin + row)


@helper
def _begin_four(work, model, begin, rows):
    return (
        _begin(work, model, begin, rows[0]),
        _begin(work, model, begin, rows[1]),
        _begin(work, model, begin, rows[2]),
        _begin(work, model, begin, rows[3]),
    )


@helper
def _weights(work, model, at, numbers):
    """One column of four rows."""
    p, more = model.parameters, table_entry(model.tree, at + 1)
    return (
        parameter_columns(work, p, numbers[0] + more),
        parameter_columns(work, p, numbers[1] + more),
        parameter_columns(work, p, numbers[2] + more),
        parameter_columns(work, p, numbers[3] + more),
    )


@helper
def _add_weighed(work, model, at, weights, x, total):
    return add_scaled_four(total, load(work, x + table_entry(model.tree, at)), weights)


@helper
def _add_entries(work, model, at, numbers, x, total):
    return _add_weighed(work, model, at, _weights(work, model, at, numbers), x, total)


@helper
def _sum_four(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3])


@helper
def _store_four(work, out, rows, total):
    store_columns(work, out + rows[0], total[0])
    store_columns(work, out + rows[1], total[1])
    store_columns(work, out + rows[2], total[2])
    store_columns(work, out + rows[3], total[3])


@helper
def _fill_row(work, model, place, begin, x, out):
    """One row; returns where the next one lies."""
    row, numbers = table_entry(model.tree, place + 2), table_entry(model.tree, place + 3)
    count, others, at = _columns(model, place, 1)
    total = _begin(work, model, begin, row)
    for _ in range(count):
        total = _add_entry(work, model, at, numbers, x, total)
        at += 2
    if others > 0:
        other = splat_columns(work, 0.0)
        for _ in range(others):
            other = _add_entry(work, model, at, numbers, x, other)
            at += 2
        total = total + other
    store_columns(work, out + row, total)
    return at


@helper
def _add_entry(work, model, at, numbers, x, total):
    weight = parameter_columns(work, model.parameters, numbers + table_entry(model.tree, at + 1))
    return fma(weight, load(work, x + table_entry(model.tree, at)), total)
