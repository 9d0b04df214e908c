"""The front door to the dynamics: functions of a model and a state."""

from skodyn.dynamics.body_poses import forward_kinematics
from skodyn.dynamics.contact_functions import (
    ContactForces,
    ContactGaps,
    contact_forces,
    contact_gaps,
)
from skodyn.dynamics.coriolis import christoffel_symbols, coriolis_matrix
from skodyn.dynamics.derivatives import forward_dynamics_derivatives, inverse_dynamics_derivatives
from skodyn.dynamics.diagonal import (
    diagonal_bias,
    diagonal_dynamics,
    diagonal_force,
    diagonal_velocity,
    force_from_diagonal,
    velocity_from_diagonal,
)
from skodyn.dynamics.energy_and_momentum import center_of_mass, energy, momentum
from skodyn.dynamics.flexible_nodes import deflections, node_poses
from skodyn.dynamics.frames import frame_poses, frame_velocities
from skodyn.dynamics.functions import bias_force, forward_dynamics, gravity_force, inverse_dynamics
from skodyn.dynamics.hybrid import HybridDynamics, hybrid_dynamics
from skodyn.dynamics.hybrid_derivatives import HybridDerivatives, hybrid_dynamics_derivatives
from skodyn.dynamics.ik_search import InverseKinematics, Target, inverse_kinematics
from skodyn.dynamics.inertias import BodyInertias, body_inertias, joint_columns
from skodyn.dynamics.joint_reactions import joint_forces
from skodyn.dynamics.kinematics import jacobian, jacobian_dot_v, velocities
from skodyn.dynamics.linearization import linearize
from skodyn.dynamics.loop_functions import (
    loop_basis,
    loop_error,
    loop_jacobian,
    loop_rate,
    loop_rows,
    project_velocity,
)
from skodyn.dynamics.loop_reactions import LoopForces, loop_forces
from skodyn.dynamics.mass_matrices import (
    mass_matrix,
    mass_matrix_inverse,
    mass_matrix_logdet,
    mass_matrix_solve,
    operational_space_compliance,
)
from skodyn.dynamics.parts import Parts, cut
from skodyn.dynamics.rigid_sko_model import sko_model
from skodyn.dynamics.statistical import (
    fixman_potential,
    mass_matrix_logdet_gradient,
    sample_velocity,
)
from skodyn.dynamics.task_space import (
    OperationalSpace,
    operational_space,
    operational_space_inertia,
)
from skodyn.model.loops.assembly import Assembly, assemble

__all__ = [
    "Assembly",
    "BodyInertias",
    "ContactForces",
    "ContactGaps",
    "HybridDerivatives",
    "HybridDynamics",
    "InverseKinematics",
    "LoopForces",
    "OperationalSpace",
    "Parts",
    "Target",
    "assemble",
    "bias_force",
    "body_inertias",
    "center_of_mass",
    "christoffel_symbols",
    "contact_forces",
    "contact_gaps",
    "coriolis_matrix",
    "cut",
    "deflections",
    "diagonal_bias",
    "diagonal_dynamics",
    "diagonal_force",
    "diagonal_velocity",
    "energy",
    "fixman_potential",
    "force_from_diagonal",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_kinematics",
    "frame_poses",
    "frame_velocities",
    "gravity_force",
    "hybrid_dynamics",
    "hybrid_dynamics_derivatives",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "inverse_kinematics",
    "jacobian",
    "jacobian_dot_v",
    "joint_columns",
    "joint_forces",
    "linearize",
    "loop_basis",
    "loop_error",
    "loop_forces",
    "loop_jacobian",
    "loop_rate",
    "loop_rows",
    "mass_matrix",
    "mass_matrix_inverse",
    "mass_matrix_logdet",
    "mass_matrix_logdet_gradient",
    "mass_matrix_solve",
    "momentum",
    "node_poses",
    "operational_space",
    "operational_space_compliance",
    "operational_space_inertia",
    "project_velocity",
    "sample_velocity",
    "sko_model",
    "velocities",
    "velocity_from_diagonal",
]
