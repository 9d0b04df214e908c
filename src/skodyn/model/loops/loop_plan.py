"""What a plan is: how the loops of a group are eliminated, in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GroupStructure", "Pass", "Stage"]


@dataclass(frozen=True)
class Pass:
    """A stage that rows go through: its kept variables give way to its new ones.

    pairs: place among those touched, and place among those that stage kept.
    """

    stage: int
    pairs: tuple[tuple[int, int], ...]
    first_new: int


@dataclass(frozen=True)
class Stage:
    """The elimination of some constraints' rows."""

    constraints: tuple[int, ...]
    rows: int
    essential: int  # rows that kernels take
    touched: tuple[int, ...]  # variables: those that its passes consume, then those it keeps
    consumed: int
    passes: tuple[Pass, ...]
    rank: int
    first_new: int
    pivots: int  # how many of the first kept variables may come to depend on others

    @property
    def kept(self) -> tuple[int, ...]:
        return self.touched[self.consumed :]

    @property
    def new(self) -> int:
        """How many variables it makes."""
        return self.pivots - self.rank

    @property
    def written_in(self) -> tuple[int, ...]:
        """The variables that those it may make depend on others are written in."""
        return (*range(self.first_new, self.first_new + self.new), *self.kept[self.pivots :])


@dataclass(frozen=True)
class GroupStructure:
    """Bodies that move together, and how their freedom is found."""

    members: tuple[int, ...]
    parent: int
    dofs: tuple[int, ...]  # places in v
    stages: tuple[Stage, ...]
    range_space: bool
    quick: tuple[Stage, ...] = ()  # another plan, good where its pivots are large (loop_quick.py)

    @property
    def constraints(self) -> tuple[int, ...]:
        return tuple(c for stage in self.stages for c in stage.constraints)

    @property
    def rank(self) -> int:
        return sum(stage.rank for stage in self.stages)

    @property
    def rows(self) -> int:
        return sum(stage.rows for stage in self.stages)

    @property
    def mobility(self) -> int:
        return len(self.dofs) - self.rank

    @property
    def variables(self) -> int:
        return len(self.dofs) + sum(stage.new for stage in self.stages)

    @property
    def finals(self) -> tuple[int, ...]:
        """The variables that depend on no others."""
        gone = {v for stage in self.stages for v in stage.kept[: stage.pivots]}
        return tuple(v for v in range(self.variables) if v not in gone)

    def is_direct(self, stage: Stage) -> bool:
        """Is the basis of a stage a block of rows of X as it stands?"""
        own = stage.kept[: stage.pivots]
        in_order = own == tuple(range(own[0], own[0] + len(own))) if own else False
        return in_order and stage.written_in == self.finals
