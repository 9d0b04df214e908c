"""Groups of joints that loops make move together, for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skodyn.model.model import Model

__all__ = ["DescribedGroup", "described_groups"]


@dataclass(frozen=True)
class DescribedGroup:
    """Joints that move together because of loops."""

    joints: tuple[str, ...]
    constraints: tuple[str, ...]
    parent: str
    dofs: int
    rows: int
    rank: int
    redundant: int
    mobility: int


def described_groups(model: Model) -> tuple[DescribedGroup, ...]:
    """The groups by name."""
    if not model.has_loops:
        return ()
    names = model.loop_names
    return tuple(
        DescribedGroup(
            joints=tuple(model.joint_names[k] for k in group.members),
            constraints=tuple(names[c] for c in sorted(group.constraints)),
            parent=model.body_names[group.parent] if group.parent >= 0 else "world",
            dofs=len(group.dofs),
            rows=group.rows,
            rank=group.rank,
            redundant=group.rows - group.rank,
            mobility=group.mobility,
        )
        for group in model._loop_structure
    )
