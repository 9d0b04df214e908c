"""A channel: how far the last body is from the world's origin, and how fast all joints are."""

import numpy as np

import skodyn as sk


@sk.channel(name="tip", unit="m", labels=("distance", "height"))
def tip_speed(t, q, v, positions, rotations):
    """Where the last body is"""
    last = positions[-1]
    return np.sqrt((last * last).sum()), last[2]
