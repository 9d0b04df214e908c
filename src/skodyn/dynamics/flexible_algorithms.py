"""The algorithms of models with flexible bodies: kernels of their own for each."""

from __future__ import annotations

from skodyn.dynamics.driver import NATIVE, Algorithm
from skodyn.kernels import flexible_dynamics as _forward
from skodyn.kernels.compliance import SCRATCH_LANES
from skodyn.kernels.flexible_table import flexible_lanes
from skodyn.model.model import Model

__all__ = ["FLEXIBLE_FORWARD", "FLEXIBLE_PUSHED", "bent_lanes"]


def bent_lanes(model: Model) -> int:
    """Lanes that flexible bodies need."""
    return SCRATCH_LANES + flexible_lanes(model.body_tree)


FLEXIBLE_FORWARD = Algorithm(
    _forward.flexible_forward,
    _forward.flexible_forward_batch,
    "vx",
    "tau",
    scratch=bent_lanes,
    flexible=NATIVE,
)
FLEXIBLE_PUSHED = Algorithm(
    _forward.flexible_forward_pushed,
    _forward.flexible_forward_batch,
    "vxf",
    "tau",
    scratch=bent_lanes,
    flexible=NATIVE,
)
