"""A hub comes up to its speed without a jerk."""

import math


def law(t, q, v, params, tau):
    """The rate params.speed·(s − sin 2πs/2π), s = t/params.time, and from there on steady."""
    if t < params.time:
        turn = 1.0 - math.cos(2.0 * math.pi * t / params.time)
        tau[0] = params.rotor * params.speed / params.time * turn
