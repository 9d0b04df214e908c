"""The table of all algorithms that functions of a state run: which kernels, and what they take.

`driver.run` serves them all; what it does for models with mimic joints, loops or flexible bodies
stands beside each.
"""

from __future__ import annotations

from collections.abc import Callable

from skodyn.dynamics import coupled as _coupled
from skodyn.dynamics import flexible_algorithms as _flexible
from skodyn.dynamics import looped as _looped
from skodyn.dynamics.algorithm import NATIVE, Algorithm
from skodyn.kernels import body_poses as _body_poses
from skodyn.kernels import compliance as _compliance
from skodyn.kernels import coupled_dynamics as _coupled_kernels
from skodyn.kernels import energy as _energy
from skodyn.kernels import forward_dynamics as _forward_dynamics
from skodyn.kernels import forward_kinematics as _kinematics
from skodyn.kernels import inverse_dynamics as _inverse_dynamics
from skodyn.kernels import jacobian as _jacobian
from skodyn.kernels import joint_forces as _joint_forces
from skodyn.kernels import mass_matrix as _mass_matrix
from skodyn.kernels import mass_matrix_inverse as _mass_inverse
from skodyn.kernels import mass_matrix_logdet as _logdet
from skodyn.kernels import mass_matrix_solve as _solve
from skodyn.kernels.loops import embedded_dynamics as _embedded
from skodyn.kernels.loops import embedded_solve as _embedded_solve
from skodyn.kernels.matrices import matrix_lanes
from skodyn.kernels.mimics import mimic_lanes
from skodyn.model.loops.loop_tables import loop_workspace
from skodyn.typing import Floats

__all__ = [
    "BIAS",
    "COMPLIANCE",
    "COUPLED_FORWARD",
    "COUPLED_INVERSE",
    "COUPLED_LOGDET",
    "COUPLED_SOLVE",
    "ENERGY",
    "FORWARD",
    "FORWARD_WITH_F_EXT",
    "GRAVITY",
    "INVERSE",
    "INVERSE_WITH_F_EXT",
    "JACOBIAN",
    "JACOBIAN_DOT_V",
    "JOINT_FORCES",
    "KINEMATICS",
    "LOGDET",
    "LOOPED_FORWARD",
    "LOOPED_SOLVE",
    "MASS_INVERSE",
    "MASS_MATRIX",
    "SOLVE",
    "VELOCITIES",
    "looped_forward",
]

COUPLED_FORWARD = Algorithm(
    _coupled_kernels.forward_dynamics,
    _coupled_kernels.forward_dynamics_batch,
    x="tau",
    scratch=mimic_lanes,
    coupled=NATIVE,
)
COUPLED_SOLVE = Algorithm(
    _coupled_kernels.mass_matrix_solve,
    _coupled_kernels.mass_matrix_solve_batch,
    x="rhs",
    scratch=mimic_lanes,
    coupled=NATIVE,
)
COUPLED_INVERSE = Algorithm(
    _coupled_kernels.mass_matrix_inverse,
    _coupled_kernels.mass_matrix_inverse_batch,
    dimensions=2,
    scratch=mimic_lanes,
    coupled=NATIVE,
)
COUPLED_LOGDET = Algorithm(
    _coupled_kernels.mass_matrix_logdet,
    _coupled_kernels.mass_matrix_logdet_batch,
    scratch=mimic_lanes,
    coupled=NATIVE,
)
LOOPED_FORWARD = Algorithm(
    _embedded.forward_dynamics,
    _embedded.forward_dynamics_batch,
    x="tau",
    forces_behind=True,
    scratch=loop_workspace,
    looped=NATIVE,
    flexible=_flexible.BENT_LOOPED_FORWARD,
)
LOOPED_SOLVE = Algorithm(
    _embedded_solve.mass_matrix_solve,
    _embedded_solve.mass_matrix_solve_batch,
    x="rhs",
    scratch=loop_workspace,
    looped=NATIVE,
    flexible=_flexible.BENT_LOOPED_SOLVE,
)
looped_forward = _coupled.by_kernel(LOOPED_FORWARD)
FORWARD = Algorithm(
    _forward_dynamics.forward_dynamics,
    _forward_dynamics.forward_dynamics_batch,
    x="tau",
    coupled=_coupled.by_kernel(COUPLED_FORWARD),
    looped=looped_forward,
    flexible=_flexible.BENT_FORWARD,
)
FORWARD_WITH_F_EXT = Algorithm(
    _forward_dynamics.forward_dynamics_with_f_ext,
    _forward_dynamics.forward_dynamics_batch,
    x="tau",
    coupled=_coupled.by_kernel(COUPLED_FORWARD),
    looped=looped_forward,
    flexible=_flexible.BENT_WITH_F_EXT,
)
INVERSE = Algorithm(
    _inverse_dynamics.inverse_dynamics,
    _inverse_dynamics.inverse_dynamics_batch,
    x="vdot",
    coupled=_coupled.projected,
    flexible=_flexible.BENT_INVERSE,
)
INVERSE_WITH_F_EXT = Algorithm(
    _inverse_dynamics.inverse_dynamics_with_f_ext,
    _inverse_dynamics.inverse_dynamics_batch,
    x="vdot",
    coupled=_coupled.projected,
    flexible=_flexible.BENT_INVERSE_WITH_F_EXT,
)
MASS_MATRIX = Algorithm(
    _mass_matrix.mass_matrix,
    _mass_matrix.mass_matrix_batch,
    dimensions=2,
    scratch=lambda model: matrix_lanes(model.nv),
    coupled=_coupled.projected_matrix,
    flexible=_flexible.BENT_MASS,
)
SOLVE = Algorithm(
    _solve.mass_matrix_solve,
    _solve.mass_matrix_solve_batch,
    x="rhs",
    coupled=_coupled.by_kernel(COUPLED_SOLVE),
    looped=_coupled.by_kernel(LOOPED_SOLVE),
    flexible=_flexible.BENT_SOLVE,
)
MASS_INVERSE = Algorithm(
    _mass_inverse.mass_matrix_inverse,
    _mass_inverse.mass_matrix_inverse_batch,
    dimensions=2,
    scratch=lambda model: int(_mass_inverse.inverse_lanes(model.indices, model.nv)),
    coupled=_coupled.by_kernel(COUPLED_INVERSE),
)
LOGDET = Algorithm(
    _logdet.mass_matrix_logdet,
    _logdet.mass_matrix_logdet_batch,
    coupled=_coupled.by_kernel(COUPLED_LOGDET),
)
BIAS = Algorithm(
    _inverse_dynamics.bias_force,
    _inverse_dynamics.inverse_dynamics_batch,
    coupled=_coupled.projected,
    looped=_looped.as_tree,
    flexible=_flexible.BENT_BIAS,
)
GRAVITY = Algorithm(
    _inverse_dynamics.gravity_force,
    _inverse_dynamics.inverse_dynamics_batch,
    coupled=_coupled.projected,
    looped=_looped.as_tree,
    flexible=_flexible.BENT_GRAVITY,
)


class _PosesInOneTable:
    """The kernel of poses, which has two results, as one that writes the one below the other."""

    __name__ = "body_poses"

    @staticmethod
    def __wrapped__(block: Floats, q: Floats, axes: Floats, table: Floats) -> int:
        n, kernel = len(table) // _body_poses.POSE, _body_poses.body_poses.ready
        return int(kernel(block, q, axes, table[: 3 * n].reshape(n, 3, 3), table[3 * n :]))

    @property
    def ready(self) -> Callable[..., int]:
        return self.__wrapped__


KINEMATICS = Algorithm(
    _PosesInOneTable(),
    _body_poses.body_poses_batch,
    dimensions=2,
    coupled=_coupled.expanded,
    looped=_looped.as_tree,
)
VELOCITIES = Algorithm(
    _kinematics.velocities,
    _kinematics.forward_kinematics_batch,
    dimensions=2,
    coupled=_coupled.expanded,
    looped=_looped.as_tree,
    flexible=_flexible.BENT_VELOCITIES,
)
JACOBIAN = Algorithm(
    _jacobian.jacobian,
    _jacobian.jacobian_batch,
    dimensions=2,
    coupled=_coupled.projected,
    looped=_looped.as_tree,
    flexible=_flexible.BENT_JACOBIAN,
)
JACOBIAN_DOT_V = Algorithm(
    _jacobian.jacobian_dot_v,
    _jacobian.jacobian_dot_v_batch,
    coupled=_coupled.expanded,
    looped=_looped.as_tree,
)
ENERGY = Algorithm(
    _energy.energy,
    _energy.energy_batch,
    coupled=_coupled.expanded,
    looped=_looped.as_tree,
    flexible=_flexible.BENT_ENERGY,
)
COMPLIANCE = Algorithm(_compliance.compliance, _compliance.compliance_batch, dimensions=2)
JOINT_FORCES = Algorithm(_joint_forces.joint_forces, _joint_forces.joint_forces_batch, x="tau")
