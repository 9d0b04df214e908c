"""Energy shaping: a cart pumps energy into its pole until it stands, then catches it.

K. J. Åström, K. Furuta, Swinging up a pendulum by energy control, Automatica 36 (2000).
"""

import math


def law(t, q, v, params, tau, dynamics, scratch):
    """Coordinates are the cart's place and the pole's angle, 0 if it hangs and π if it stands."""
    x, speed, rate = q[0], v[0], v[1]
    angle = q[1] - math.pi - 2.0 * math.pi * math.floor(q[1] / (2.0 * math.pi))  # from upright
    mass, bias = scratch[:4].reshape(2, 2), scratch[4:6]
    dynamics.mass_matrix(q, mass)
    dynamics.bias_force(q, v, bias)
    if abs(angle) < params.near:
        push = params.catch[0] * x + params.catch[1] * angle
        push += params.catch[2] * speed + params.catch[3] * rate
    else:
        # energy of the pole alone, and what it has when it stands
        upright = scratch[6:8]
        upright[0], upright[1] = x, math.pi
        still = scratch[8:10]
        still[0], still[1] = 0.0, 0.0
        _, there = dynamics.energy(upright, still)
        _, potential = dynamics.energy(q, still)
        missing = 0.5 * mass[1, 1] * rate * rate + potential - there
        push = (
            params.pump * missing * rate * math.cos(angle) - params.hold * x - params.brake * speed
        )
        push = min(max(push, -params.most), params.most)
    # the force that gives the cart this acceleration, whatever the pole does
    pole = -(bias[1] + mass[1, 0] * push) / mass[1, 1]
    tau[0] = mass[0, 0] * push + mass[0, 1] * pole + bias[0]
