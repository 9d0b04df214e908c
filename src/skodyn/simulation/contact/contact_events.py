"""When contacts are made and broken: where gaps change their sign between two rows.

Between rows a gap is taken as the cubic that has its values and rates (Hermite), which is what a
step of fourth order leaves of it; its root is found by bisection. A touch that begins and ends
between two rows is not seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skodyn.kernels.contact import contact_states as rows
from skodyn.typing import Floats

if TYPE_CHECKING:
    from skodyn.simulation.contact.contact_watch import ContactWatch

__all__ = ["ContactEvents", "Events"]

HALVINGS = 54


class Events(NamedTuple):
    """Times, and for each the number of its contact, whether it was made, and the gap's rate."""

    t: Floats
    table: Floats


class ContactEvents:
    """Finds events between rows, whatever the chunks they come in."""

    def __init__(self, watch: ContactWatch, q: Floats, y: Floats) -> None:
        self._watch, self._nq = watch, len(q)
        self.last = np.concatenate(([0.0], q, y))  # the row before the next ones: t, q, y

    def between(self, t: Floats, q: Floats, y: Floats) -> Events:
        """Events from the last row of before to the last of these, in the order of time."""
        rows_now = np.vstack((self.last, np.hstack((t[:, None], q, y))))
        self.last = rows_now[-1].copy()
        t, q, y = np.split(rows_now, [1, 1 + self._nq], axis=1)
        t = t[:, 0]
        found = self._watch.evaluate(np.ascontiguousarray(q), np.ascontiguousarray(y))
        gap, rate = found[:, :, rows.POINT.GAP], found[:, :, rows.POINT.SPEED]
        closed = gap < 0.0
        known = np.isfinite(gap)  # not where a run has failed
        row, point = np.nonzero((closed[1:] != closed[:-1]) & known[1:] & known[:-1])
        step = t[row + 1] - t[row]
        ends = gap[row, point], gap[row + 1, point]
        slopes = step * rate[row, point], step * rate[row + 1, point]
        part, slope = _roots(ends, slopes)
        when = t[row] + part * step
        order = np.lexsort((point, when))
        table = np.stack((point, closed[row + 1, point], slope / step), axis=1)
        return Events(when[order], table[order].astype(np.float64))


def _roots(ends: tuple[Floats, Floats], slopes: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """(where in 0 … 1 a cubic with these values and slopes at both ends is zero, its slope)."""
    a, b = ends
    one, two = slopes
    third, second = 2.0 * a - 2.0 * b + one + two, -3.0 * a + 3.0 * b - 2.0 * one - two

    def cubic(x: Floats) -> Floats:
        value: Floats = ((third * x + second) * x + one) * x + a
        return value

    low, high = np.zeros_like(a), np.ones_like(a)
    inside = a < 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        same = (cubic(middle) < 0.0) == inside
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    x = 0.5 * (low + high)
    return x, (3.0 * third * x + 2.0 * second) * x + one
