"""What is watched of loops while a run goes on."""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.model.columns import Floats
from skodyn.model.loop_layout import RANK_TOLERANCE
from skodyn.model.loop_systems import loop_systems
from skodyn.model.model import Model

__all__ = ["LoopWatch"]

LOOKS = 16
"""Rows of a block times groups of a model whose conditioning is looked at, a row at least."""


class LoopWatch:
    """The largest gap of all rows so far, and the worst conditioning of those looked at."""

    def __init__(self, model: Model) -> None:
        ranks = {frozenset(g.constraints): g.rank for g in model.loop_structure}
        self.groups = [(s, ranks[frozenset(s.numbers)]) for s in loop_systems(model)]
        self.error = 0.0
        self.condition, self.condition_time = np.inf, 0.0
        self.rank_changes = 0
        self._full: bool | None = None

    def look(self, t: Floats, q: Floats, errors: Floats) -> None:
        """Take rows in."""
        self.error = max(self.error, float(errors.max(initial=0.0)))
        looks = max(1, LOOKS // len(self.groups))
        for row in range(0, len(t), max(1, len(t) // looks)):
            found = self._conditioning(q[row])
            if found < self.condition:
                self.condition, self.condition_time = found, float(t[row])
            full = found > RANK_TOLERANCE
            self.rank_changes += self._full is not None and full != self._full
            self._full = full

    def _conditioning(self, q: Floats) -> float:
        """The smallest singular value of any group that should not be zero, over its largest."""
        worst = np.inf
        for system, rank in self.groups:
            sizes = np.linalg.svd(system.rows(q)[1], compute_uv=False)
            if rank and sizes.max(initial=0.0) > 0.0:
                worst = min(worst, float(sizes[rank - 1] / sizes[0]))
        return worst

    def summary(self) -> dict[str, Any]:
        return {
            "loop_error_max": self.error,
            "loop_condition_min": float(self.condition),
            "loop_condition_time": self.condition_time,
            "loop_rank_changes": self.rank_changes,
        }
