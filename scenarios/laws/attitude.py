"""PD control of one angle of a satellite, with a reaction wheel."""

import math


def law(t, q, v, params, tau):
    """The bus (a free joint, first in q and v) turns about x by params.angle in params.time along
    a path of minimum jerk; params.wheel is the wheel's place in v. What pushes the wheel pushes
    the bus the other way."""
    s = min(t / params.time, 1.0)
    place = params.angle * s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)
    speed = params.angle * 30.0 * s * s * (1.0 - s) * (1.0 - s) / params.time
    angle = 2.0 * math.atan2(q[1], q[0])
    wanted = params.kp * (place - angle) + params.kd * (speed - v[0])
    wanted = min(max(wanted, -params.limit), params.limit)
    tau[int(params.wheel)] = -wanted
