"""The front door to the dynamics: functions of a model and a state."""

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
from skodyn.dynamics.inertias import BodyInertias, body_inertias
from skodyn.dynamics.sko_model import sko_model

__all__ = [
    "BodyInertias",
    "bias_force",
    "body_inertias",
    "center_of_mass",
    "energy",
    "forward_dynamics",
    "forward_kinematics",
    "gravity_force",
    "inverse_dynamics",
    "jacobian",
    "jacobian_dot_v",
    "joint_forces",
    "mass_matrix",
    "mass_matrix_inverse",
    "mass_matrix_logdet",
    "mass_matrix_solve",
    "momentum",
    "operational_space_compliance",
    "sko_model",
    "velocities",
]
