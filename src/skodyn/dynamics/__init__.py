"""The front door to the dynamics: functions of a model and a state."""

from skodyn.dynamics.derivatives import (
    christoffel_symbols,
    coriolis_matrix,
    forward_dynamics_derivatives,
    inverse_dynamics_derivatives,
    linearize,
)
from skodyn.dynamics.functions import (
    bias_force,
    center_of_mass,
    energy,
    forward_dynamics,
    forward_kinematics,
    gravity_force,
    inverse_dynamics,
    jacobian,
    jacobian_dot_v,
    joint_forces,
    mass_matrix,
    mass_matrix_inverse,
    mass_matrix_logdet,
    mass_matrix_solve,
    momentum,
    operational_space_compliance,
    velocities,
)
from skodyn.dynamics.inertias import BodyInertias, body_inertias, joint_columns
from skodyn.dynamics.sko_model import sko_model
from skodyn.dynamics.statistical import (
    fixman_potential,
    mass_matrix_logdet_gradient,
    sample_velocity,
)

__all__ = [
    "BodyInertias",
    "bias_force",
    "body_inertias",
    "center_of_mass",
    "christoffel_symbols",
    "coriolis_matrix",
    "energy",
    "fixman_potential",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "forward_kinematics",
    "gravity_force",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "jacobian",
    "jacobian_dot_v",
    "joint_columns",
    "joint_forces",
    "linearize",
    "mass_matrix",
    "mass_matrix_inverse",
    "mass_matrix_logdet",
    "mass_matrix_logdet_gradient",
    "mass_matrix_solve",
    "momentum",
    "operational_space_compliance",
    "sample_velocity",
    "sko_model",
    "velocities",
]
