"""SKO models (Jain 2011-II): any tree, any block sizes, and the recursions that hold for all."""

from skodyn.sko.blocks import Blocks
from skodyn.sko.model import SKOModel
from skodyn.sko.riccati import Riccati, riccati
from skodyn.sko.sweeps import gather, pass_inward, pass_outward, scatter

__all__ = [
    "Blocks",
    "Riccati",
    "SKOModel",
    "gather",
    "pass_inward",
    "pass_outward",
    "riccati",
    "scatter",
]
