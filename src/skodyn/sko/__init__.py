"""SKO models (Jain 2011-II): any tree, any block sizes, and the recursions that hold for all."""

from skodyn.sko.aggregation import AggregatedModel
from skodyn.sko.articulated_body import forward_dynamics
from skodyn.sko.blocks import Blocks
from skodyn.sko.compliances import compliance, joint_compliances, node_compliances
from skodyn.sko.composite_body import mass_matrix
from skodyn.sko.embedding import EmbeddedModel, embed
from skodyn.sko.force_models import (
    ForceModel,
    articulated_model,
    composite_model,
    inboard_model,
    terminal_model,
)
from skodyn.sko.hybrid import hybrid_dynamics
from skodyn.sko.innovations_factors import (
    innovations,
    innovations_inverse,
    log_determinant,
    mass_matrix_solve,
)
from skodyn.sko.lyapunov_backward import backward_element, backward_lyapunov
from skodyn.sko.lyapunov_forward import composite_inertias, forward_element, forward_lyapunov
from skodyn.sko.model import SKOModel
from skodyn.sko.newton_euler import inverse_dynamics, velocities
from skodyn.sko.partition import PartitionedModel
from skodyn.sko.riccati_equation import Riccati, riccati
from skodyn.sko.sparsity_patterns import Sparsity, sparsity
from skodyn.sko.sweeps import gather, pass_inward, pass_outward, scatter
from skodyn.sko.way_back import Restored

__all__ = [
    "AggregatedModel",
    "Blocks",
    "EmbeddedModel",
    "ForceModel",
    "PartitionedModel",
    "Restored",
    "Riccati",
    "SKOModel",
    "Sparsity",
    "articulated_model",
    "backward_element",
    "backward_lyapunov",
    "compliance",
    "composite_inertias",
    "composite_model",
    "embed",
    "forward_dynamics",
    "forward_element",
    "forward_lyapunov",
    "gather",
    "hybrid_dynamics",
    "inboard_model",
    "innovations",
    "innovations_inverse",
    "inverse_dynamics",
    "joint_compliances",
    "log_determinant",
    "mass_matrix",
    "mass_matrix_solve",
    "node_compliances",
    "pass_inward",
    "pass_outward",
    "riccati",
    "scatter",
    "sparsity",
    "terminal_model",
    "velocities",
]
