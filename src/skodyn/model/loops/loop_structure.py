"""How the loops of a group are eliminated, one after the other: the plan that kernels follow.

θ̇ = X·u with X a basis of null(G). Rows of a loop touch the joints of its cycle only, so X is built
stage by stage: a loop's rows, written in the variables that earlier stages have left, make some of
these depend on the others (`rank` of them), and new variables take the place of all that it
touched. For a row of N loops side by side every stage is as small as the first, and the plan is as
long as the mechanism.

The plan is made of whole numbers, found once for a model: which variables each stage touches, and
its rank. The rank is that of the manifold: the largest at a few closed configurations. Beside the
manifold an overconstrained mechanism seems to have more (studied on Bricard's), near a singular
position less.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import SkodynError
from skodyn.model import layout
from skodyn.model.loops.loop_geometry import constraint_rows
from skodyn.model.loops.loop_layout import RANK_TOLERANCE, SMALL_ROWS
from skodyn.model.loops.loop_numbers import constraint_cycles
from skodyn.model.loops.loop_plan import GroupStructure, Pass, Stage
from skodyn.model.loops.loop_quick import quick_stages
from skodyn.model.loops.loop_samples import closed_near
from skodyn.model.loops.loop_systems import group_length
from skodyn.model.loops.planar_loops import essential_count
from skodyn.topology.loops import groups
from skodyn.typing import Floats

if TYPE_CHECKING:
    from skodyn.model.model import Model

__all__ = ["find_structure", "plans_like", "rank_of", "scaled_rows"]

LONG = 32
"""Degrees of freedom from which on a group with much freedom is solved in the range of its rows."""


_LIKE: ContextVar[Model | None] = ContextVar("skodyn_model_with_a_plan", default=None)


@contextmanager
def plans_like(model: Model) -> Iterator[None]:
    """Within, plans of models that differ from this one in numbers alone are looked for in its own.

    A sweep makes thousands of such models; a look at one configuration tells that a plan fits.
    """
    token = _LIKE.set(model)
    try:
        yield
    finally:
        _LIKE.reset(token)


def find_structure(model: Model) -> tuple[GroupStructure, ...]:
    """The groups of a model in the order of their parents, each with its plan."""
    like = _LIKE.get()
    known = _known_structure(model, like) if like is not None and like is not model else None
    return known or _planned(model, model._loop_samples)


def _known_structure(model: Model, like: Model) -> tuple[GroupStructure, ...] | None:
    """The plan of another model, if it is what one closed configuration says of this one, too."""
    if not np.array_equal(model.indices, like.indices) or model.loop_names != like.loop_names:
        return None
    try:
        near = closed_near(model, like._loop_samples[0])
        made = _planned(model, [near]) if near is not None else None
    except SkodynError:  # the other one cannot be closed
        return None
    return like._loop_structure if made == like._loop_structure else None


def _planned(model: Model, samples: Sequence[Floats]) -> tuple[GroupStructure, ...]:
    if model.flexible:
        from skodyn.model.loops.bent_loops import bent_structure  # it scales rows as plans do

        return (bent_structure(model, samples),)
    found = groups(model.tree.parent, constraint_cycles(model))
    plans = [_Plan(model, group.members, group.cycles, samples) for group in found]
    made = [
        plan.structure(group.members, group.parent)
        for plan, group in zip(plans, found, strict=True)
    ]
    return tuple(sorted(made, key=lambda g: (g.parent, g.members)))


class _Plan:
    """The elimination of one group, while it is made."""

    def __init__(
        self,
        model: Model,
        members: Sequence[int],
        constraints: Iterable[int],
        samples: Sequence[Floats],
    ) -> None:
        self.left = list(constraints)
        starts, counts = (model.indices[:, c].tolist() for c in (layout.V_START, layout.N_DOF))
        self.dofs = tuple(starts[k] + i for k in members for i in range(counts[k]))
        self.places = {dof: i for i, dof in enumerate(self.dofs)}
        self.length = group_length(model, members, self.left)
        self.essential = [essential_count(model, c) for c in range(len(model.loop_names))]
        self.scaled = [scaled_rows(model, q, self.left, members, self.length) for q in samples]
        self.bases: list[list[Floats | None]] = []  # of every stage, one for each sample
        self.generic = [True] * len(samples)
        self.stages: list[Stage] = []
        self.owner: dict[int, int] = {}  # the stage that made a variable depend on others
        self.variables = len(self.dofs)

    def structure(self, members: Sequence[int], parent: int) -> GroupStructure:
        counts = [len(self.scaled[0][c][0]) for c in self.left]
        whole = self._with_rank(self._touched(tuple(self.left)))
        mobility = len(self.dofs) - whole.rank
        every = whole.kept == tuple(range(len(self.dofs)))
        if every and len(self.dofs) > LONG and mobility > sum(counts):
            return GroupStructure(tuple(members), parent, self.dofs, (whole,), True)
        while self.left:
            candidates = [self._touched((c,)) for c in self.left]
            smallest = min(candidates, key=lambda stage: len(stage.kept))
            self._take(self._with_rank(smallest))
        stages = tuple(self.stages)
        quick = quick_stages(stages, self.scaled, self.places, self.length)
        return GroupStructure(tuple(members), parent, self.dofs, stages, False, quick)

    def _touched(self, constraints: tuple[int, ...]) -> Stage:
        """The variables that rows reach, through earlier stages; its rank is not known yet."""
        rows = self.scaled[0]
        touched = {self.places[d] for c in constraints for d in rows[c][1]}
        through: list[int] = []
        while True:
            later = [self.owner[v] for v in touched if self.owner.get(v, -1) not in (-1, *through)]
            if not later:
                break
            j = min(later)
            through.append(j)
            stage = self.stages[j]
            touched |= set(range(stage.first_new, stage.first_new + stage.new))
        gone = sorted(v for v in touched if v in self.owner)
        order = (*gone, *sorted(touched.difference(gone)))
        slots = {v: i for i, v in enumerate(order)}
        passes = tuple(self._pass(j, slots) for j in sorted(through))
        count = sum(len(rows[c][0]) for c in constraints)
        kept = sum(self.essential[c] for c in constraints)
        pivots = len(order) - len(gone)
        return Stage(constraints, count, kept, order, len(gone), passes, 0, self.variables, pivots)

    def _pass(self, j: int, slots: dict[int, int]) -> Pass:
        stage = self.stages[j]
        pairs = tuple((slots[v], i) for i, v in enumerate(stage.kept) if v in slots)
        return Pass(j, pairs, slots[stage.first_new] if stage.new else 0)

    def _with_rank(self, stage: Stage) -> Stage:
        """The same with the largest rank that any sample has."""
        ranks = [
            rank_of(*self._matrix(stage, s)) if self.generic[s] else 0
            for s in range(len(self.scaled))
        ]
        rank = max(ranks)
        self.generic = [g and r == rank for g, r in zip(self.generic, ranks, strict=True)]
        return replace(stage, rank=rank)

    def _matrix(self, stage: Stage, sample: int) -> tuple[Floats, float]:
        """(rows in the variables that a stage keeps, size of the rows as they were)."""
        slots = {v: i for i, v in enumerate(stage.touched)}
        whole = np.zeros((stage.rows, len(slots)))
        at = 0
        for c in stage.constraints:
            rows, dofs = self.scaled[sample][c]
            for d, column in zip(dofs, rows.T, strict=True):
                whole[at : at + len(rows), slots[self.places[d]]] = column
            at += len(rows)
        size = max(float(np.linalg.norm(whole)), SMALL_ROWS * self.length)
        for step in stage.passes:
            basis = self._basis(step.stage, sample)
            new = self.stages[step.stage].new
            for slot, i in step.pairs:
                whole[:, step.first_new : step.first_new + new] += np.outer(
                    whole[:, slot], basis[i]
                )
        return whole[:, stage.consumed :], size

    def _basis(self, j: int, sample: int) -> Floats:
        known = self.bases[j][sample]
        if known is None:
            rows, _ = self._matrix(self.stages[j], sample)
            _, _, right = np.linalg.svd(rows)
            known = self.bases[j][sample] = right[self.stages[j].rank :].T
        return known

    def _take(self, stage: Stage) -> None:
        number = len(self.stages)
        self.owner.update(dict.fromkeys(stage.kept, number))
        self.stages.append(stage)
        self.bases.append([None] * len(self.scaled))
        self.variables += stage.new
        self.left = [c for c in self.left if c not in stage.constraints]


def rank_of(rows: Floats, size: float) -> int:
    if not rows.size:
        return 0
    return int((np.linalg.svd(rows, compute_uv=False) > RANK_TOLERANCE * size).sum())


def scaled_rows(
    model: Model, q: Floats, constraints: Sequence[int], members: Sequence[int], length: float
) -> dict[int, tuple[Floats, list[int]]]:
    """Rows and places in v of each constraint, with metres and radians made comparable."""
    linear = model._linear_dofs
    found = {}
    for c, given in zip(constraints, constraint_rows(model, q, constraints, members), strict=True):
        dofs = [int(d) for d in given.dofs]
        columns = np.where(linear[dofs], length, 1.0) if dofs else np.ones(0)
        rows = given.G * np.where(given.angular, length, 1.0)[:, None] * columns
        found[c] = rows, dofs
    return found


def linear_dofs(model: Model) -> NDArray[np.bool_]:
    """Of each velocity, whether it is that of a length."""
    flags: list[bool] = []
    for name, joint in zip(model.body_names, model.joints, strict=True):
        flags += [not turning for turning in joint.turning]
        if name in model.flexible:
            flags += [unit == "m" for unit in model.flexible[name].units]
    return np.array(flags, dtype=np.bool_)
