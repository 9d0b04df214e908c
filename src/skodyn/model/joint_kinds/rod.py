"""The rod joint: a rod without mass, which closes loops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skodyn.faults import Fault
from skodyn.model.joint_entry import Joint, number_faults, of_parameter
from skodyn.model.keywords import fields_checked
from skodyn.model.loops.closing import LENGTH, ClosingFrames, Row
from skodyn.typing import Floats

__all__ = ["Rod"]


@fields_checked
@dataclass(frozen=True)
class Rod(Joint):
    """A massless rod from one frame's origin to the other's. It closes loops and carries no body:
    it has no kind.
    """

    length: float = 0.0
    type_name = "rod"
    nq = nv = 0
    has_ball_ends = True

    def faults(self) -> list[Fault]:
        found = super().faults() + number_faults("length", self.length)
        if not found and not self.length > 0.0:
            remedy = "give a length greater than zero, in metres."
            found = [of_parameter("length", f" is {self.length:g}", remedy, self.length)]
        return found

    def closing(self, frames: ClosingFrames) -> tuple[Row, ...]:
        return (Row(LENGTH, c=float(self.length)),)

    def kept_directions(self) -> Floats:
        return np.zeros((0, 3))

    @property
    def own_length(self) -> float:
        return self.length
