"""What is watched of loops while a run goes on."""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.dynamics.loop_functions import loop_error
from skodyn.kernels.flexible.flexible_loop_queries import bent_loop_conditions
from skodyn.kernels.flexible.flexible_table import flexible_lanes
from skodyn.kernels.loops.loop_conditions import loop_conditions
from skodyn.kernels.packed_model import PackedModel
from skodyn.kernels.workspace import workspace_lanes
from skodyn.lanes.cache_lines import line_zeros
from skodyn.model.loops.loop_layout import RANK_TOLERANCE
from skodyn.model.loops.loop_tables import loop_workspace
from skodyn.model.model import Model
from skodyn.typing import Floats

__all__ = ["LoopWatch"]

_BLOCK = 4096


class LoopWatch:
    """The largest gap and the worst conditioning of all rows so far."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.error = 0.0
        self.condition, self.condition_time = np.inf, 0.0
        self.rank_changes = 0
        self._full: bool | None = None
        lanes = workspace_lanes(model.n_bodies, model.nq, model.nv) + loop_workspace(model)
        lanes += flexible_lanes(model.kernel_tree) if model.flexible else 0
        self._workspace = line_zeros(lanes, poison=True)
        self._packed = PackedModel(
            model.body_tree if model.flexible else model.kernel_tree, model.parameters
        )
        self._conditions = bent_loop_conditions if model.flexible else loop_conditions

    def look(self, t: Floats, q: Floats, errors: Floats) -> None:
        """Take rows in."""
        self.error = max(self.error, float(errors.max(initial=0.0)))
        found = np.empty(len(t))
        flat = np.ascontiguousarray(q).reshape(-1)
        self._conditions.ready(self._packed, flat, found, self._workspace)
        worst = int(np.argmin(found)) if len(found) else 0
        if len(found) and found[worst] < self.condition:
            self.condition, self.condition_time = float(found[worst]), float(t[worst])
        for full in (found > RANK_TOLERANCE).tolist():
            self.rank_changes += self._full is not None and full != self._full
            self._full = full

    def catch_up(self, t: Floats, q: Floats) -> None:
        """Take in the rows that a log has already."""
        for first in range(0, len(t), _BLOCK):
            rows = np.ascontiguousarray(q[first : first + _BLOCK])
            gaps = np.abs(loop_error(self.model, rows, threads=1))
            self.look(t[first : first + _BLOCK], rows, gaps)

    def summary(self) -> dict[str, Any]:
        return {
            "loop_error_max": self.error,
            "loop_condition_min": float(self.condition),
            "loop_condition_time": self.condition_time,
            "loop_rank_changes": self.rank_changes,
        }
