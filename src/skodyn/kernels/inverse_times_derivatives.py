"""−𝓜⁻¹ ∂τ/∂q and −𝓜⁻¹ ∂τ/∂v as products, for trees that are not deep.

Column c of ∂τ/∂x is zero but for rows that are related to c: its ancestors and its subtree. They
are the same, and listed once, for all columns of a serial segment (topology/segments.py).
The matrices are kept by columns: 𝓜⁻¹ is symmetric, and the columns of the others lie one after
another.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import helper
from skodyn.kernels.many_right_sides import dofs_end
from skodyn.kernels.matrices import columns_of
from skodyn.kernels.packed_model import body_count, entry, velocity_count
from skodyn.lanes import fma, integers, load, shift_pointer, states
from skodyn.lanes.columns import columns_at_once, load_columns, splat_columns, store_columns
from skodyn.model.layout import N_DOF, PARENT, SUBTREE_END, V_START

AT_ONCE = 5
"""Registers of rows that are summed at once; those of the last may lie beyond the matrix."""

RECURSION = 40
"""A gather and a scatter cost about as much per element as so many terms of a sum."""


@helper
def recursion_is_cheaper(model):
    """Cheaper than the sums, that is: the tree is deep."""
    terms = 0
    for k in range(body_count(model)):  # every pair is met once from below, and once from above
        terms += 2 * entry(model, k, N_DOF) * (dofs_end(model, k) - entry(model, k, V_START))
    return terms > RECURSION * velocity_count(model)


class Related(NamedTuple):
    """The rows in which some columns are not zero."""

    dofs: Any  # pointer to the list
    length: int


@helper
def list_related(model, k, dofs):
    """Degrees of freedom of the subtree of body k and of its ancestors."""
    count = 0
    for r in range(entry(model, k, V_START), dofs_end(model, k)):
        dofs[count] = r
        count += 1
    inner = entry(model, k, PARENT)
    while inner >= 0:
        for d in range(entry(model, inner, N_DOF)):
            dofs[count] = entry(model, inner, V_START) + d
            count += 1
        inner = entry(model, inner, PARENT)
    return Related(dofs, count)


@helper
def sums_of_rows(work, related, i, inverse, by_q, by_v, columns):
    """Rows from i on of one column of both products, AT_ONCE registers of each."""
    zero = splat_columns(work, 0.0)
    s0, s1, s2, s3, s4 = zero, zero, zero, zero, zero
    t0, t1, t2, t3, t4 = zero, zero, zero, zero, zero
    step = columns_at_once(work)
    for n in range(related.length):
        r = related.dofs[n]
        x, y = load(work, by_q + r), load(work, by_v + r)
        m = inverse + r * columns + i
        a = load_columns(work, m)
        s0, t0 = fma(a, x, s0), fma(a, y, t0)
        a = load_columns(work, m + step)
        s1, t1 = fma(a, x, s1), fma(a, y, t1)
        a = load_columns(work, m + 2 * step)
        s2, t2 = fma(a, x, s2), fma(a, y, t2)
        a = load_columns(work, m + 3 * step)
        s3, t3 = fma(a, x, s3), fma(a, y, t3)
        a = load_columns(work, m + 4 * step)
        s4, t4 = fma(a, x, s4), fma(a, y, t4)
    return (s0, s1, s2, s3, s4), (t0, t1, t2, t3, t4)


@helper
def continues_segment(model, k):
    """Does body k belong to the serial segment of the body before it?"""
    follows = k > 0 and entry(model, k, PARENT) == k - 1
    return follows and entry(model, k, SUBTREE_END) == entry(model, k - 1, SUBTREE_END)


@helper
def segment_end(model, k):
    """One past the last body of the serial segment that begins with body k."""
    end = k + 1
    while end < body_count(model) and continues_segment(model, end):
        end += 1
    return end


@helper
def multiply_related(work, model, inverse, by_q, by_v, product, scratch):
    """Both products, one behind the other; `scratch` has nv lanes for the list.

    A few rows of 𝓜⁻¹ serve all columns of a segment in turn, while they are in the fastest cache.
    """
    nv, step = velocity_count(model), columns_at_once(work)
    columns = columns_of(nv)
    dofs = integers(shift_pointer(work.lanes, states(work) * scratch))
    k = 0
    while k < body_count(model):
        related = list_related(model, k, dofs)
        last = segment_end(model, k) - 1
        stop = entry(model, last, V_START) + entry(model, last, N_DOF)
        for i in range(0, nv, AT_ONCE * step):
            for c in range(entry(model, k, V_START), stop):
                at = c * columns
                s, t = sums_of_rows(work, related, i, inverse, by_q + at, by_v + at, columns)
                for n in range(AT_ONCE):
                    if i + n * step < columns:
                        to = product + at + i + n * step
                        store_columns(work, to, -s[n])
                        store_columns(work, to + nv * columns, -t[n])
        k = last + 1
