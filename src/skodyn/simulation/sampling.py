"""Metrics inside the jitted loop: what is looked at after a step, and what is kept of it.

A metric is a record of integers (what kind, of which quantity), a number (the level of a crossing)
and a few accumulators for each run. Every lane is reduced by itself with scalar arithmetic, so a
metric does not depend on who sits in the neighbouring lanes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import ForeignFunction, helper, routine
from skodyn.kernels import energy
from skodyn.kernels.entries import Given
from skodyn.kernels.forward_kinematics import POSITION, scatter_positions
from skodyn.kernels.kinematics import scatter_poses
from skodyn.kernels.packed_model import body_count
from skodyn.kernels.tuples import load3
from skodyn.kernels.workspace import sum_slot
from skodyn.lanes import Rows, shift_pointer, states, store_rows
from skodyn.model.layout import NQ, NV
from skodyn.simulation.structures import start_of

# header of `codes`: how many metrics, and which sweeps over the bodies they need
COUNT, NEEDS_ENERGY, NEEDS_POSITIONS, TOUCH_NUMBERS = range(4)
TOUCH_PART, TOUCH_AT = 4, 5  # of runs side by side: which part looks at contacts, and where
HEADER = 6

# a record of `codes`
KIND, SOURCE, INDEX = range(3)
RECORD = 3

MINIMUM, MAXIMUM, MEAN, RMS, FINAL, CROSSING_UP, CROSSING_DOWN, CROSSING, DRIFT = range(9)
COORDINATE, VELOCITY, STATE_SUM, TOTAL_ENERGY, WORK, PLACE, FUNCTION, LOSS, TOUCH = range(9)

ACCUMULATORS = 3
"""Numbers kept for each metric of each run."""

NAN = float("nan")

call_quantity = ForeignFunction("number", "count", "number", "pointer", "pointer", "count", "count")
"""A person's own quantities: f(which, t, q, v, nq, nv)."""


class MetricArrays(NamedTuple):
    """What is looked at, as Python passes it."""

    codes: Any
    levels: Any
    function: Any  # address of a person's own quantities
    values: Any  # storage: sums over bodies, then places of bodies, then what contacts do
    kept: Any  # accumulators


class Metrics(NamedTuple):
    """The same as pointers, and the time between looks."""

    codes: Any
    levels: Any
    function: Any
    values: Any
    kept: Any
    interval: float
    touched: Rows  # what contacts do, a row per lane


@helper
def sums_of(metrics):
    """Energies, momentum and centre of mass, a row per lane."""
    return Rows(metrics.values, 0, energy.ROW)


@helper
def places_of(work, model, metrics):
    """Origins of all bodies, a row of 3n numbers per lane."""
    return Rows(metrics.values, states(work) * energy.ROW, 3 * body_count(model))


@helper
def place_bodies(work, model, q, places, ready):
    """Fill the places; `ready` says that the workspace has them."""
    if not ready:
        scatter_poses(work, model, q)
        scatter_positions(work, model)
    for k in range(body_count(model)):
        place = load3(work, sum_slot(model, k) + POSITION)
        for axis in range(3):
            store_rows(work, places, 3 * k + axis, place[axis])


@helper
def in_lane(rows, lane, i):
    """Number i of the row of a lane."""
    return rows.data[rows.first + lane * rows.stride + i]


@helper
def quantity(work, model, t, state, metrics, at, lane):
    """The quantity that the record at `at` speaks of, in one lane."""
    source, i = metrics.codes[at + SOURCE], metrics.codes[at + INDEX]
    if source == COORDINATE:
        return in_lane(state.q, lane, i)
    if source == VELOCITY:
        return in_lane(state.y, lane, i)
    if source == STATE_SUM:
        return in_lane(sums_of(metrics), lane, i)
    if source == TOTAL_ENERGY:
        sums = sums_of(metrics)
        return in_lane(sums, lane, 0) + in_lane(sums, lane, 1)
    if source == WORK:
        return in_lane(state.y, lane, state.y.stride - 1)
    if source == LOSS:  # of contacts, before the work of all forces
        return in_lane(state.y, lane, state.y.stride - 2)
    if source == TOUCH:
        return in_lane(metrics.touched, lane, i)
    if source == PLACE:
        return in_lane(places_of(work, model, metrics), lane, i)
    nq, nv = model.tree[NQ], model.tree[NV]
    q, y = start_of(state.q), start_of(state.y)
    return call_quantity(
        metrics.function, i, t, shift_pointer(q, lane * nq),
        shift_pointer(y, lane * state.y.stride), nq, nv,
    )  # fmt: skip


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


@routine
def sample(work, model, first, t, state, metrics):
    """Look at the state of every lane. Loops call it in four places: it is compiled once."""
    codes, count = metrics.codes, metrics.codes[COUNT]
    if codes[NEEDS_ENERGY] > 0:
        none = Rows(metrics.values, 0, 0)
        energy.sweep(work, model, Given(state.q, state.y, none, none), sums_of(metrics))
    if codes[NEEDS_POSITIONS] > 0:
        places = places_of(work, model, metrics)
        place_bodies(work, model, state.q, places, codes[NEEDS_ENERGY] > 0)
    for lane in range(states(work)):
        done = in_lane(state.y, lane, state.y.stride - 1)
        for m in range(count):
            at = HEADER + RECORD * m
            mine = shift_pointer(metrics.kept, (lane * count + m) * ACCUMULATORS)
            x = quantity(work, model, t, state, metrics, at, lane)
            if first:
                begin(codes[at + KIND], x, metrics.levels[m], mine)
            else:
                reduce(codes[at + KIND], metrics.interval, t, x, metrics.levels[m], done, mine)
