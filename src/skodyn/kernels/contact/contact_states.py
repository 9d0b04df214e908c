"""Contacts of given states: gaps, points, forces, energies. Rows of states, one or a register full.

Written per contact point as ROW numbers, on what the person called a.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import COUNT, FLOATS, INTS, RESULT, Group, Record, helper, kernel
from skodyn.kernels.contact.contact_law import across
from skodyn.kernels.contact.contact_points import meet, stored_at
from skodyn.kernels.entries import named_like
from skodyn.kernels.forward_kinematics import scatter_positions, scatter_velocities
from skodyn.kernels.kinematics import scatter_rates
from skodyn.kernels.packed_model import PackedModel
from skodyn.kernels.rows import store_row3
from skodyn.kernels.status import OK
from skodyn.lanes import LANES, WIDTH_1, WIDTH_N, Rows, Work, pointer, sqrt, store_rows
from skodyn.model.contact import contact_layout as its
from skodyn.model.contact.contact_layout import PackedContacts
from skodyn.model.layout import NQ, NV
from skodyn.spatial.linear3 import dot, scale

__all__ = ["POINT", "contact_states", "contact_states_batch"]

POINT = Record(
    "contact point",
    GAP=(1, "negative inside"),
    SPEED=(1, "at which the gap opens"),
    NORMAL=(3, "from b to a"),
    PLACE=(3, "the middle of the overlap, world axes"),
    FORCE=(3, "on a"),
    MOMENT=(3, "on a, about the point"),
    SLIP=(1, "speed of a against b across the normal"),
    SHARE=(1, "of the friction that would hold: 1 sticks"),
    STORED=(1, "energy"),
    LOSS=(1, "power that is lost"),
    RATES=(6, "of the bristles, of shift and of turning"),
)


class States(NamedTuple):
    """Flat tables of states; bristles are empty where no contact has any."""

    q: Any
    v: Any
    bristles: Any


@helper
def write_point(work, contacts, at, met, stored, out, i):
    """The row of one point."""
    sign = float(contacts.codes[at + its.SIGN])
    store_rows(work, out, i + POINT.GAP, met.touched.gap)
    store_rows(work, out, i + POINT.SPEED, met.speed)
    store_row3(work, out, i + POINT.NORMAL, scale(sign, met.touched.normal))
    store_row3(work, out, i + POINT.PLACE, met.touched.point)
    store_row3(work, out, i + POINT.FORCE, scale(sign, met.force))
    store_row3(work, out, i + POINT.MOMENT, scale(sign, met.moment))
    slip = across(met.touched.normal, met.velocity)
    store_rows(work, out, i + POINT.SLIP, sqrt(dot(slip, slip)))
    store_rows(work, out, i + POINT.SHARE, met.share)
    store_rows(work, out, i + POINT.STORED, stored)
    store_rows(work, out, i + POINT.LOSS, met.loss)
    store_row3(work, out, i + POINT.RATES, met.rate)
    store_row3(work, out, i + POINT.RATES + 3, met.turn_rate)


@helper
def sweep(work, model, contacts, given, out):
    """A row for each point."""
    q, v, bristles = given
    status = scatter_rates(work, model, q, v)
    scatter_positions(work, model)
    scatter_velocities(work, model, v)
    for p in range(contacts.codes[its.POINTS]):
        at = its.CONTACT_HEADER + its.CONTACT_RECORD * p
        met = meet(work, model, contacts, at, bristles)
        stored = stored_at(work, contacts, at, met, bristles)
        write_point(work, contacts, at, met, stored, out, p * POINT.size)
    return status


SIGNATURE = (
    Group(PackedModel, (INTS, FLOATS)),
    Group(PackedContacts, (INTS, FLOATS)),
    COUNT,  # first row
    COUNT,  # behind the last
    Group(States, (FLOATS, FLOATS, FLOATS)),
    RESULT,
    RESULT,  # workspace
)


def _entry(name: str, width: Any, at_once: int) -> Any:
    def entry(arrays, tables, start, stop, given, out, lanes):
        model = PackedModel(pointer(arrays.tree), pointer(arrays.parameters))
        contacts = PackedContacts(pointer(tables.codes), pointer(tables.numbers))
        work = Work(width, pointer(lanes))
        nq, nv, ns = model.tree[NQ], model.tree[NV], contacts.codes[its.BRISTLES]
        size = POINT.size * contacts.codes[its.POINTS]
        for row in range(start, stop, at_once):
            first = min(row, stop - at_once)
            states = (
                Rows(pointer(given.q), first * nq, nq),
                Rows(pointer(given.v), first * nv, nv),
                Rows(pointer(given.bristles), first * ns, ns),
            )
            result = Rows(pointer(out), first * size, size)
            status = sweep(work, model, contacts, states, result)
            if status != OK:
                return status, first
        return OK, 0

    return kernel(*SIGNATURE)(named_like(entry, name, sweep))


contact_states = _entry("contact_states", WIDTH_1, 1)
contact_states_batch = _entry("contact_states_batch", WIDTH_N, LANES)
