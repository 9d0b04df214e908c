"""A torque from a table over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skodyn.jit import helper
from skodyn.lanes import lane_at, parameter
from skodyn.model.keys import JOINT, NUMBERS, TIMES, key
from skodyn.model.keywords import fields_checked
from skodyn.registry import register
from skodyn.simulation.arrow import Arrow
from skodyn.simulation.element import Element, Packed, dof_of
from skodyn.simulation.element_tools import add_torque
from skodyn.simulation.forces import COUNT, FIRST, OFFSET, TORQUE_TABLE


@helper
def table_time(work, numbers, i):
    """A time of a torque table; lanes with parameters of their own share the times."""
    return lane_at(parameter(work, numbers, i), 0)


@helper
def table_interval(work, numbers, first, count, t):
    """(low, high): the times of a table between which t lies, or those nearest to it."""
    low, high = 0, count - 1
    while high - low > 1:
        middle = (low + high) // 2
        if table_time(work, numbers, first + middle) <= t:
            low = middle
        else:
            high = middle
    return low, high


@helper
def torque_table(work, system, at, t, tau):
    """Linear between the times, constant outside; `numbers` holds all times, then all torques."""
    codes, numbers = system.codes, system.numbers
    first, count = codes[at + OFFSET], codes[at + COUNT]
    low, high = table_interval(work, numbers, first, count, t)
    start, end = table_time(work, numbers, first + low), table_time(work, numbers, first + high)
    part = (t - start) / (end - start) if end - start > 0.0 else 0.0
    part = min(max(part, 0.0), 1.0)
    left = parameter(work, numbers, first + count + low)
    right = parameter(work, numbers, first + count + high)
    add_torque(work, tau, codes[at + FIRST], left + part * (right - left))


@register
@fields_checked
@dataclass(frozen=True)
class TorqueTable(Element):
    """A torque or force by a table, linear between times, constant outside.

    Parameters
    ----------
    joint : str
        Name of a joint with one degree of freedom.
    times : sequence of float
        Ascending, s.
    torques : sequence of float
        One for each time, N m or N.

    Examples
    --------
    >>> ramp = sk.TorqueTable("link1", times=[0.0, 1.0], torques=[0.0, 5.0])
    >>> sk.simulate(sk.examples.pendulum(1), [0.0], [0.0], duration=1.0, elements=[ramp]).status
    'finished'
    """

    joint: str = field(metadata=key(JOINT, "which joint it drives"))
    times: Sequence[float] = field(metadata=key(TIMES, "s; linear in between, constant outside"))
    torques: Sequence[float] = field(metadata=key(NUMBERS, "one for each time, N·m or N"))
    type_name = "torque_table"
    table = "controllers"
    code = TORQUE_TABLE

    @classmethod
    def check(cls, given: Mapping[str, Any]) -> list[tuple[str, str, str]]:
        times, torques = (len(given.get(name, ())) for name in ("times", "torques"))
        if times == torques or not (times and torques):
            return []
        what = f"has {times} times and {torques} torques"
        return [("torques", what, "give one torque for each time.")]

    def pack(self, model: Any) -> Packed:
        dof, _ = dof_of(model, self.joint)
        return Packed(dof, [*self.times, *self.torques], length=len(self.times))

    def drawn(self, rows: Any) -> Sequence[Arrow]:
        return (rows.at_joint(self.joint, np.interp(rows.t, self.times, self.torques)),)
