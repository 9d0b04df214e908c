"""The factorisation behind everything that loops need, of one stage; groups: loop_groups.py.

A stage's rows, written in the variables that earlier stages have left, are factored by Householder
reflections with column pivoting (P. Businger, G. H. Golub, Numer. Math. 7, 1965),

    GΠ = Q [R₁₁ R₁₂; 0 0],   N = Π [−R₁₁⁻¹R₁₂; I],   p = Π [−R₁₁⁻¹Q₁*·rhs; 0]

so that G(N·u + p) + rhs = 0 for any u, the stage's new variables. As many columns are reflected as
the rank that the mechanism has on its manifold, never more; a pivot that has vanished beside the
rows, in a singular position, is left out. Only the first columns (`PIVOTS`) may come to depend on
others, all of them in a thorough plan.

Pivoting has no branch: columns change places by `select`, each lane for itself, and masks say how
to change back. Where a mask holds in no lane, nothing has to be exchanged.
"""

from __future__ import annotations

from typing import NamedTuple

from skodyn.jit import helper, routine
from skodyn.kernels.loops.loop_table import loop_lane
from skodyn.kernels.loops.loop_variables import group_length
from skodyn.kernels.workspace import free_slot
from skodyn.lanes import any_lane, fma, load, select, splat, sqrt, store
from skodyn.model.loops import loop_layout as its
from skodyn.model.loops.loop_layout import RANK_TOLERANCE, SMALL_ROWS

VANISHED = RANK_TOLERANCE
"""A pivot below this part of the rows' size stands for no equation."""
LARGE_PIVOT = 0.01
"""From this part on, what is divided by a pivot loses no more than two digits."""


class Shape(NamedTuple):
    """A stage's numbers, read once: between stores into lanes a compiler would read them again."""

    rows: int
    touched: int
    kept: int
    pivots: int  # how many columns may be brought forward
    rank: int
    new: int
    at: int  # the lane where the kept columns begin
    masks: int
    inverse: int  # lanes of 1/r_jj
    tau: int


@helper
def shape_of(model, stage):
    tree, free = model.tree, free_slot(model)
    return Shape(
        tree[stage + its.STAGE_ROWS],
        tree[stage + its.TOUCHED],
        tree[stage + its.KEPT],
        tree[stage + its.PIVOTS],
        tree[stage + its.RANK],
        tree[stage + its.NEW],
        free + tree[stage + its.MATRIX_LANE] + tree[stage + its.CONSUMED],
        free + tree[stage + its.MASK_LANE],
        free + tree[stage + its.PIVOT_LANE],
        free + tree[stage + its.TAU_LANE],
    )


@helper
def swap_where(work, mask, i, j):
    """Exchange lanes i and j where the mask holds."""
    a, b = load(work, i), load(work, j)
    store(work, i, select(mask, b, a))
    store(work, j, select(mask, a, b))


@routine
def go_through(work, model, stage):
    """Write the rows of a stage in the variables that earlier stages have left."""
    rows, touched = model.tree[stage + its.STAGE_ROWS], model.tree[stage + its.TOUCHED]
    at, cursor = loop_lane(model, stage + its.MATRIX_LANE), model.tree[stage + its.PASSES_AT]
    for _ in range(model.tree[stage + its.PASSES]):
        earlier, first = model.tree[cursor + its.PASS_STAGE], model.tree[cursor + its.PASS_FIRST]
        pairs, new = model.tree[cursor + its.PASS_PAIRS], model.tree[earlier + its.NEW]
        basis = loop_lane(model, earlier + its.BASIS_LANE)
        for row in range(rows):
            for t in range(new):
                place = at + row * touched + first + t
                total = load(work, place)
                for p in range(pairs):
                    slot = model.tree[cursor + its.PASS_HEADER + 2 * p]
                    i = model.tree[cursor + its.PASS_HEADER + 2 * p + 1]
                    factor = load(work, at + row * touched + slot)
                    total = fma(factor, load(work, basis + i * new + t), total)
                store(work, place, total)
        cursor += its.PASS_HEADER + 2 * pairs


@helper
def rows_size(work, model, stage):
    """The sum of squares of all entries."""
    at, total = loop_lane(model, stage + its.MATRIX_LANE), splat(work, 0.0)
    for i in range(model.tree[stage + its.STAGE_ROWS] * model.tree[stage + its.TOUCHED]):
        x = load(work, at + i)
        total = fma(x, x, total)
    return total


@helper
def bring_largest_forward(work, shape, j):
    """Exchange columns until the largest of those from j on, below row j, is the first of them."""
    rows, touched, pivots = shape.rows, shape.touched, shape.pivots
    at, masks = shape.at, shape.masks
    norms = masks + shape.rank * pivots
    for k in range(j, pivots):
        total = splat(work, 0.0)
        for row in range(j, rows):
            x = load(work, at + row * touched + k)
            total = fma(x, x, total)
        store(work, norms + k, total)
    for k in range(j + 1, pivots):
        larger = load(work, norms + k) > load(work, norms + j)
        store(work, masks + j * pivots + k, select(larger, splat(work, 1.0), splat(work, 0.0)))
        if not any_lane(larger):
            continue
        swap_where(work, larger, norms + j, norms + k)
        for row in range(rows):
            swap_where(work, larger, at + row * touched + j, at + row * touched + k)
    return load(work, norms + j)


@helper
def reflect(work, shape, j, norm, smallest):
    """One Householder reflection; a column smaller than `smallest` is left as it is."""
    rows, touched, at = shape.rows, shape.touched, shape.at
    one, zero = splat(work, 1.0), splat(work, 0.0)
    alive = norm > smallest
    head = load(work, at + j * touched + j)
    if j + 1 == rows:  # nothing below
        store(work, shape.tau + j, zero)
        reciprocal = select(alive, one / select(alive, head, one), zero)
        store(work, shape.inverse + j, reciprocal)
        return
    size = sqrt(norm)
    pivot = select(head > 0.0, -size, size)
    first = select(alive, head - pivot, one)  # v before it is made one at the top
    tau = select(alive, -(first / select(alive, pivot, one)), zero)
    inverse = one / first
    for row in range(j + 1, rows):
        place = at + row * touched + j
        store(work, place, load(work, place) * inverse)
    for k in range(j + 1, shape.kept):
        total = load(work, at + j * touched + k)
        for row in range(j + 1, rows):
            v = load(work, at + row * touched + j)
            total = fma(v, load(work, at + row * touched + k), total)
        total = total * tau
        store(work, at + j * touched + k, load(work, at + j * touched + k) - total)
        for row in range(j + 1, rows):
            v = load(work, at + row * touched + j)
            place = at + row * touched + k
            store(work, place, fma(-v, total, load(work, place)))
    store(work, shape.tau + j, tau)
    reciprocal = select(alive, one / select(alive, pivot, one), zero)
    store(work, shape.inverse + j, reciprocal)


@helper
def solve_triangle(work, shape, x, step):
    """x ← R₁₁⁻¹x in place, elements `step` lanes apart; vanished pivots give zero."""
    touched, rank, at = shape.touched, shape.rank, shape.at
    for back in range(rank):
        i = rank - 1 - back
        total = load(work, x + i * step)
        for k in range(i + 1, rank):
            total = fma(-load(work, at + i * touched + k), load(work, x + k * step), total)
        store(work, x + i * step, total * load(work, shape.inverse + i))


@helper
def change_back(work, shape, x, width):
    """Undo the exchanges on the rows, `width` lanes long, of what belongs to the columns."""
    pivots, rank, masks = shape.pivots, shape.rank, shape.masks
    for j_back in range(rank):
        j = rank - 1 - j_back
        for k_back in range(pivots - j - 1):
            k = pivots - 1 - k_back
            mask = load(work, masks + j * pivots + k) > 0.5
            if not any_lane(mask):
                continue
            for t in range(width):
                swap_where(work, mask, x + j * width + t, x + k * width + t)


@helper
def make_basis(work, shape, basis):
    """N, a row for each variable that may come to depend on others."""
    rank, new, touched, at = shape.rank, shape.new, shape.touched, shape.at
    for t in range(new):
        for i in range(rank):
            store(work, basis + i * new + t, -load(work, at + i * touched + rank + t))
        solve_triangle(work, shape, basis + t, new)
        for i in range(rank, shape.pivots):
            unit = splat(work, 1.0) if i - rank == t else splat(work, 0.0)
            store(work, basis + i * new + t, unit)
    change_back(work, shape, basis, new)


@routine
def factor_stage(work, model, group, stage):
    """Factor the rows that `fill_stage` has left, and make N; 1 where all pivots are large."""
    size, least = rows_size(work, model, stage), SMALL_ROWS * group_length(work, model, group)
    size = select(size > least * least, size, least * least)
    large = splat(work, 1.0)
    go_through(work, model, stage)
    shape = shape_of(model, stage)
    for j in range(shape.rank):
        norm = bring_largest_forward(work, shape, j)
        large = select(norm > LARGE_PIVOT * LARGE_PIVOT * size, large, splat(work, 0.0))
        reflect(work, shape, j, norm, VANISHED * VANISHED * size)
    make_basis(work, shape, loop_lane(model, stage + its.BASIS_LANE))
    return large


@routine
def solve_stage(work, model, stage):
    """p for the right-hand side in SIDE, which is overwritten."""
    rows, touched = model.tree[stage + its.STAGE_ROWS], model.tree[stage + its.TOUCHED]
    side, part = loop_lane(model, stage + its.SIDE_LANE), loop_lane(model, stage + its.PART_LANE)
    whole, cursor = loop_lane(model, stage + its.MATRIX_LANE), model.tree[stage + its.PASSES_AT]
    for _ in range(model.tree[stage + its.PASSES]):
        earlier, pairs = model.tree[cursor + its.PASS_STAGE], model.tree[cursor + its.PASS_PAIRS]
        for p in range(pairs):
            slot = model.tree[cursor + its.PASS_HEADER + 2 * p]
            i = model.tree[cursor + its.PASS_HEADER + 2 * p + 1]
            value = load(work, loop_lane(model, earlier + its.PART_LANE) + i)
            for row in range(rows):
                x = fma(load(work, whole + row * touched + slot), value, load(work, side + row))
                store(work, side + row, x)
        cursor += its.PASS_HEADER + 2 * pairs
    shape = shape_of(model, stage)
    _reflect_side(work, shape, side)
    for i in range(shape.pivots):
        store(work, part + i, -load(work, side + i) if i < shape.rank else splat(work, 0.0))
    solve_triangle(work, shape, part, 1)
    change_back(work, shape, part, 1)


@routine
def reflect_side(work, model, stage):
    """Q*·SIDE in place."""
    _reflect_side(work, shape_of(model, stage), loop_lane(model, stage + its.SIDE_LANE))


@helper
def _reflect_side(work, shape, side):
    rows, touched, at = shape.rows, shape.touched, shape.at
    for j in range(shape.rank):
        total = load(work, side + j)
        for row in range(j + 1, rows):
            total = fma(load(work, at + row * touched + j), load(work, side + row), total)
        total = total * load(work, shape.tau + j)
        store(work, side + j, load(work, side + j) - total)
        for row in range(j + 1, rows):
            v = load(work, at + row * touched + j)
            store(work, side + row, fma(-v, total, load(work, side + row)))
