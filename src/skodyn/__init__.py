"""skodyn: multibody dynamics at compiled speed, with the operator algebra typed literally."""

from skodyn.errors import FaultsError, ModelError, SkodynError, StateError, TopologyError
from skodyn.jit import package_version as _package_version
from skodyn.model.description import ModelBuilder
from skodyn.model.joints import (
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Translation,
    Universal,
)
from skodyn.model.model import Model

__version__ = _package_version()

__all__ = [
    "Cylindrical",
    "FaultsError",
    "Fixed",
    "Free",
    "Helical",
    "Model",
    "ModelBuilder",
    "ModelError",
    "Planar",
    "Prismatic",
    "Revolute",
    "SkodynError",
    "Spherical",
    "StateError",
    "TopologyError",
    "Translation",
    "Universal",
    "__version__",
]
