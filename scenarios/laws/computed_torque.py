"""Computed torque: inverse dynamics makes an arm follow a path as if every joint were alone."""


def law(t, q, v, params, tau, dynamics):
    """A path of minimum jerk from params.start to params.goal, which takes params.time."""
    s = min(t / params.time, 1.0)
    place = s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)
    speed = 30.0 * s * s * (1.0 - s) * (1.0 - s) / params.time
    push = 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / params.time**2
    for i in range(v.size):
        way = params.goal[i] - params.start[i]
        error = params.start[i] + place * way - q[i]
        slip = speed * way - v[i]
        tau[i] = push * way + params.kd * slip + params.kp * error  # accelerations, for now
    dynamics.inverse_dynamics(q, v, tau, tau)
