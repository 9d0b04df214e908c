"""The algorithms of models with flexible bodies: kernels of their own for each."""

from __future__ import annotations

from typing import Any

from skodyn.dynamics.algorithm import NATIVE, Algorithm
from skodyn.dynamics.looped import as_tree
from skodyn.kernels.flexible import flexible_dynamics as _forward
from skodyn.kernels.flexible import flexible_energy as _energy
from skodyn.kernels.flexible import flexible_inverse as _inverse
from skodyn.kernels.flexible import flexible_jacobian as _jacobian
from skodyn.kernels.flexible import flexible_kinematics as _kinematics
from skodyn.kernels.flexible import flexible_loop_queries as _loop_queries
from skodyn.kernels.flexible import flexible_loops as _loops
from skodyn.kernels.flexible import flexible_mass as _mass
from skodyn.kernels.flexible.flexible_table import flexible_lanes
from skodyn.kernels.matrices import matrix_lanes
from skodyn.model.loops.loop_tables import loop_workspace
from skodyn.model.model import Model

__all__ = [
    "BENT_BIAS",
    "BENT_ENERGY",
    "BENT_FORWARD",
    "BENT_GRAVITY",
    "BENT_INVERSE",
    "BENT_INVERSE_WITH_F_EXT",
    "BENT_JACOBIAN",
    "BENT_KINEMATICS",
    "BENT_LOOPED_FORWARD",
    "BENT_LOOPED_SOLVE",
    "BENT_LOOP_BASIS",
    "BENT_LOOP_GAPS",
    "BENT_LOOP_JACOBIAN",
    "BENT_LOOP_RATES",
    "BENT_MASS",
    "BENT_SOLVE",
    "BENT_VELOCITIES",
    "BENT_WITH_F_EXT",
]


def _lanes(model: Model) -> int:
    """Lanes that flexible bodies need."""
    return flexible_lanes(model.kernel_tree)


def _bent(single: Any, batch: Any, x: str | None = None, **more: Any) -> Algorithm:
    return Algorithm(single, batch, x, **{"scratch": _lanes, **more}, flexible=NATIVE)


BENT_FORWARD = _bent(_forward.flexible_forward, _forward.flexible_forward_batch, x="tau")
BENT_WITH_F_EXT = _bent(
    _forward.flexible_forward_with_f_ext, _forward.flexible_forward_batch, x="tau"
)
BENT_INVERSE = _bent(_inverse.flexible_inverse, _inverse.flexible_inverse_batch, x="vdot")
BENT_INVERSE_WITH_F_EXT = _bent(
    _inverse.flexible_inverse_with_f_ext, _inverse.flexible_inverse_batch, x="vdot"
)
BENT_BIAS = _bent(_inverse.flexible_bias, _inverse.flexible_inverse_batch)
BENT_GRAVITY = _bent(_inverse.flexible_gravity, _inverse.flexible_inverse_batch)
BENT_MASS = _bent(
    _mass.flexible_mass_matrix,
    _mass.flexible_mass_matrix_batch,
    dimensions=2,
    scratch=lambda model: _lanes(model) + matrix_lanes(model.nv),
)
BENT_SOLVE = _bent(_mass.flexible_solve, _mass.flexible_solve_batch, x="rhs")
BENT_KINEMATICS = _bent(
    _kinematics.flexible_kinematics,
    _kinematics.flexible_kinematics_batch,
    dimensions=2,
    looped=as_tree,
)
BENT_VELOCITIES = _bent(
    _kinematics.flexible_velocities, _kinematics.flexible_kinematics_batch, dimensions=2
)
BENT_JACOBIAN = _bent(
    _jacobian.flexible_jacobian, _jacobian.flexible_jacobian_batch, dimensions=2, looped=as_tree
)
BENT_ENERGY = _bent(_energy.flexible_energy, _energy.flexible_energy_batch)


# ---- with loops ----------------------------------------------------------------------------------


def _bent_looped(single: Any, batch: Any, x: str | None = None, **more: Any) -> Algorithm:
    return _bent(single, batch, x, scratch=_lanes_with_loops, looped=NATIVE, **more)


def _lanes_with_loops(model: Model) -> int:
    return _lanes(model) + loop_workspace(model)


BENT_LOOPED_FORWARD = _bent_looped(
    _loops.bent_looped_forward, _loops.bent_looped_forward_batch, x="tau"
)
BENT_LOOPED_SOLVE = _bent_looped(_loops.bent_looped_solve, _loops.bent_looped_solve_batch, x="rhs")
BENT_LOOP_GAPS = _bent_looped(_loop_queries.bent_loop_gaps, _loop_queries.bent_loop_gaps_batch)
BENT_LOOP_RATES = _bent_looped(_loop_queries.bent_loop_rates, _loop_queries.bent_loop_rates_batch)
BENT_LOOP_JACOBIAN = _bent_looped(
    _loop_queries.bent_loop_jacobian, _loop_queries.bent_loop_jacobian_batch, dimensions=2
)
BENT_LOOP_BASIS = _bent_looped(
    _loop_queries.bent_loop_basis, _loop_queries.bent_loop_basis_batch, dimensions=2
)
