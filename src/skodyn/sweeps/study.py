"""A study: everything that decides the runs of a sweep but the values of its parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skodyn.sweeps.metrics import Metric
from skodyn.sweeps.scenario_data import Data
from skodyn.typing import TableValue

__all__ = ["Study"]


@dataclass(frozen=True, eq=False)
class Study:
    """What a worker needs to make runs of rows of values; plain data, so that it travels.

    `ranges` gives, for each parameter that is written straight into packed arrays, two different
    values of it; the others (not in `ranges`) are set in the scenario, which is then read anew.
    """

    data: Data  # the scenario in its normal form
    names: tuple[str, ...]
    labels: dict[str, tuple[Any, ...]]
    ranges: dict[str, tuple[float, float]]
    metrics: dict[str, Metric] = field(default_factory=dict)
    sample_every: int = 1
    folder: Path = Path()  # where files of metrics are looked for
    visuals: str = "{}"  # shapes to look at, for full logs; no run depends on them

    def values(self, row: Any) -> dict[str, TableValue]:
        """The values of one point by path, labels in place of their numbers."""
        return {
            name: self.labels[name][int(x)] if name in self.labels else float(x)
            for name, x in zip(self.names, row, strict=True)
        }
