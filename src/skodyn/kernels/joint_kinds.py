"""What kernels ask of a joint besides its motion: the one table of kinds beside joint_motion.py."""

from skodyn.jit import helper
from skodyn.kernels.joint_motion import FREE, SERIES, SPHERICAL
from skodyn.kernels.packed_model import entry
from skodyn.model.layout import KIND

__all__ = ["has_quaternion", "is_free", "is_series"]


@helper
def has_quaternion(model, k):
    """Has joint k a quaternion: one coordinate more than velocities, which are in child axes?"""
    return entry(model, k, KIND) == SPHERICAL or entry(model, k, KIND) == FREE


@helper
def is_free(model, k):
    """Has it a position behind its quaternion?"""
    return entry(model, k, KIND) == FREE


@helper
def is_series(model, k):
    """Is it a product of several screws, the later ones moved by the earlier?"""
    return entry(model, k, KIND) == SERIES
