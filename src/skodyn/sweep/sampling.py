"""Metrics inside the jitted loop: what is looked at after a step, and what is kept of it.

A metric is a record of integers (what kind, of which quantity), a number (the level of a crossing)
and a few accumulators for each run. Every lane is reduced by itself with scalar arithmetic, so a
metric does not depend on who sits in the neighbouring lanes.
"""

from __future__ import annotations

from skodyn.jit import ForeignFunction, helper
from skodyn.kernels import energy
from skodyn.kernels.forward_kinematics import POSITION, scatter_positions
from skodyn.kernels.kinematics import scatter_poses
from skodyn.kernels.workspace import load3, sum_slot
from skodyn.lanes import shift_pointer, store_rows
from skodyn.model.layout import N_BODIES, NQ, NV

# header of `codes`: how many metrics, and which sweeps over the bodies they need
COUNT, NEEDS_ENERGY, NEEDS_POSITIONS = range(3)
HEADER = 4

# a record of `codes`
KIND, SOURCE, INDEX = range(3)
RECORD = 3

MINIMUM, MAXIMUM, MEAN, RMS, FINAL, CROSSING_UP, CROSSING_DOWN, CROSSING, DRIFT = range(9)
COORDINATE, VELOCITY, STATE_SUM, TOTAL_ENERGY, WORK, PLACE, FUNCTION = range(7)

ACCUMULATORS = 3
"""Numbers kept for each metric of each run."""

NAN = float("nan")

call_quantity = ForeignFunction("number", "count", "number", "pointer", "pointer", "count", "count")
"""A person's own quantities: f(which, t, q, v, nq, nv)."""


@helper
def place_bodies(w, lanes, tree, p, q, places, ready, ws):
    """Origins of all bodies, a row of 3n numbers for each lane."""
    if not ready:
        scatter_poses(w, tree, p, q, 0, tree[NQ], ws)
        scatter_positions(w, tree, ws)
    stride = 3 * tree[N_BODIES]
    for k in range(tree[N_BODIES]):
        place = load3(w, ws, sum_slot(tree, k) + POSITION)
        for axis in range(3):
            store_rows(w, places, 0, stride, 3 * k + axis, place[axis])


@helper
def quantity(codes, at, lane, tree, t, q, y, ny, sums, places, function):
    """The quantity that the record at `at` speaks of, in one lane."""
    source, i = codes[at + SOURCE], codes[at + INDEX]
    nq, nv = tree[NQ], tree[NV]
    if source == COORDINATE:
        return q[lane * nq + i]
    if source == VELOCITY:
        return y[lane * ny + i]
    if source == STATE_SUM:
        return sums[lane * energy.ROW + i]
    if source == TOTAL_ENERGY:
        return sums[lane * energy.ROW] + sums[lane * energy.ROW + 1]
    if source == WORK:
        return y[lane * ny + ny - 1]
    if source == PLACE:
        return places[lane * 3 * tree[N_BODIES] + i]
    return call_quantity(
        function, i, t, shift_pointer(q, lane * nq), shift_pointer(y, lane * ny), nq, nv
    )


@helper
def cross_level(kind, dt, t, x, kept):
    """The time at which x, less its level, first went through zero; linear between samples."""
    before = kept[1]
    kept[1] = x
    up, down = before < 0.0 and x >= 0.0, before > 0.0 and x <= 0.0
    seen = up if kind == CROSSING_UP else down if kind == CROSSING_DOWN else up or down
    if seen and kept[0] != kept[0]:
        kept[0] = t - dt * (x / (x - before))


@helper
def take_imbalance(total, work, kept):
    """How far energy is from what it was and what forces did; the largest of all of them."""
    start = kept[1]
    kept[0] = max(kept[0], abs(total - start - work))
    kept[2] = max(kept[2], max(abs(total), max(abs(start), abs(work))))


@helper
def begin(kind, x, level, kept):
    """The accumulators after the sample at the start."""
    kept[0], kept[1], kept[2] = x, 1.0, 0.0
    if kind == RMS:
        kept[0] = x * x
    elif kind in (CROSSING_UP, CROSSING_DOWN, CROSSING):
        kept[0], kept[1] = NAN, x - level
    elif kind == DRIFT:
        kept[0], kept[1] = 0.0, x


@helper
def reduce(kind, dt, t, x, level, work, kept):
    """The accumulators after one more sample x; `dt` is the time since the one before."""
    if kind == MINIMUM:
        kept[0] = min(kept[0], x)
    elif kind == MAXIMUM:
        kept[0] = max(kept[0], x)
    elif kind == MEAN:
        kept[0] += x
        kept[1] += 1.0
    elif kind == RMS:
        kept[0] += x * x
        kept[1] += 1.0
    elif kind == FINAL:
        kept[0] = x
    elif kind == DRIFT:
        take_imbalance(x, work, kept)
    else:
        cross_level(kind, dt, t, x - level, kept)


@helper
def sample(w, lanes, first, dt, t, tree, p, codes, levels, function, q, y, ny, values, kept, ws):
    """Look at the state of every lane; `values` is storage, `kept` the accumulators."""
    sums, places = values, shift_pointer(values, lanes * energy.ROW)
    if codes[NEEDS_ENERGY] > 0:
        energy.sweep(w, tree, p, 0, tree[NQ], ny, q, y, sums, ws)
    if codes[NEEDS_POSITIONS] > 0:
        place_bodies(w, lanes, tree, p, q, places, codes[NEEDS_ENERGY] > 0, ws)
    count = codes[COUNT]
    for lane in range(lanes):
        work = y[lane * ny + ny - 1]
        for m in range(count):
            at = HEADER + RECORD * m
            mine = shift_pointer(kept, (lane * count + m) * ACCUMULATORS)
            x = quantity(codes, at, lane, tree, t, q, y, ny, sums, places, function)
            if first:
                begin(codes[at + KIND], x, levels[m], mine)
            else:
                reduce(codes[at + KIND], dt, t, x, levels[m], work, mine)
