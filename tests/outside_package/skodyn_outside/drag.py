"""A force element: drag that grows with the square of a joint's speed."""

from dataclasses import dataclass, field
from typing import ClassVar

import skodyn as sk
from skodyn.extension import (
    FIRST,
    JOINT,
    NOT_NEGATIVE,
    OFFSET,
    OK,
    Packed,
    absolute,
    add_torque,
    dof_of,
    element_part,
    helper,
    key,
    load_rows,
    parameter,
)


@helper
def drag(work, system, at, t, state, effects):
    """-c |v| v on one degree of freedom."""
    dof = system.codes[at + FIRST]
    v = load_rows(work, state.y, dof)
    c = parameter(work, system.numbers, system.codes[at + OFFSET])
    add_torque(work, effects.tau, dof, -(c * absolute(v) * v))
    return OK


@dataclass(frozen=True)
class QuadraticDrag(sk.Element):
    """Torque or force -coefficient |v| v on a joint with one degree of freedom."""

    joint: str = field(metadata=key(JOINT, "which joint it slows down"))
    coefficient: float = field(metadata=key(NOT_NEGATIVE, "N m s2/rad2 or N s2/m2"))
    type_name = "quadratic_drag"
    part: ClassVar = element_part(drag)

    def pack(self, model):
        dof, _ = dof_of(model, self.joint)
        return Packed(dof, [self.coefficient])

    def drawn(self, rows):
        _, v = rows.joint(self.joint)
        return [rows.at_joint(self.joint, -self.coefficient * abs(v) * v)]
