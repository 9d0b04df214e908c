"""Quick plans: loops eliminated by variables of their own.

Of the variables that a loop touches, some are touched by no loop that is still to come. If these
alone can satisfy its rows, only they are made to depend on the others:
later loops then see the variables they touch as they are, and no stage has to be written in what
another one has left. The legs of a parallel robot are eliminated so, each by itself.

Whether pivots stay large is looked at in every evaluation; where they do not, the thorough plan of
loop_structure.py, which may choose among all variables, is taken (kernels/loops/loop_groups.py).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from skodyn.model.loops.loop_layout import RANK_TOLERANCE, SMALL_ROWS
from skodyn.model.loops.loop_plan import Stage
from skodyn.typing import Floats

__all__ = ["quick_stages"]

LARGE = 1e-5
"""Singular values of a loop's own variables, beside its rows, at one sample at least. Nothing but
being zero should matter: which plan there is must not change with a length."""

Rows = Mapping[int, tuple[Floats, list[int]]]
"""Of each constraint, scaled rows and the degrees of freedom that their columns are."""


def quick_stages(
    thorough: Sequence[Stage], samples: Sequence[Rows], places: Mapping[int, int], length: float
) -> tuple[Stage, ...]:
    """The stages of a quick plan, or none if there is no such plan, or it would be the same."""
    if len(thorough) < 2:
        return ()
    known = {stage.constraints[0]: stage for stage in thorough}  # a constraint each
    touched = {c: {places[d] for d in samples[0][c][1]} for c in known}
    # those first whose own variables nobody else has, then those whose own no later one has
    left, variables = sorted(touched, key=lambda c: len(touched[c])), len(places)
    shared = Counter(v for own in touched.values() for v in own)
    stages: list[Stage] = []
    for first in (True, False):
        waiting = deque(left)
        while waiting:
            c = waiting.popleft()
            own = {v for v in touched[c] if shared[v] == 1}
            rank = _rank_of_own(samples, c, own, places, length)
            if rank is None:
                continue
            order = (*sorted(own), *sorted(touched[c] - own))
            stages.append(_stage(known[c], order, len(own), rank, variables))
            variables += len(own) - rank
            left.remove(c)
            if not first:
                shared.subtract(touched[c])
                waiting = deque(left)
        for stage in stages if first else ():
            shared.subtract(touched[stage.constraints[0]])
    same = sum(stage.rank for stage in stages) == sum(stage.rank for stage in thorough)
    return tuple(stages) if same and not left else ()


def _stage(known: Stage, touched: tuple[int, ...], own: int, rank: int, first_new: int) -> Stage:
    """The rows of a stage that is known, with only its own variables to depend on others."""
    return replace(
        known, touched=touched, consumed=0, passes=(), rank=rank, first_new=first_new, pivots=own
    )


def _rank_of_own(
    samples: Sequence[Rows], c: int, own: set[int], places: Mapping[int, int], length: float
) -> int | None:
    """The rank of a constraint's rows, if its own variables have it somewhere, and well."""
    ranks, well = set(), 0
    for rows in samples:
        matrix, dofs = rows[c]
        size = max(float(np.linalg.norm(matrix)), SMALL_ROWS * length)
        part = matrix[:, [i for i, d in enumerate(dofs) if places[d] in own]]
        whole, sizes = _singular_values(matrix), _singular_values(part)
        rank = int((whole > RANK_TOLERANCE * size).sum())
        well += int((sizes > LARGE * size).sum()) == rank
        ranks.add(rank)
    return max(ranks) if well else None


def _singular_values(matrix: Floats) -> Floats:
    if not matrix.size:
        return np.zeros(0)
    return np.asarray(np.linalg.svd(matrix, compute_uv=False), dtype=np.float64)
