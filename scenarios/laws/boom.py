"""What is left of a boom's swing when the turn is over."""


def left_over(t, q, v):
    """Size of the first mode after 5 s; q is the hub's angle, then the modes of the boom."""
    return abs(q[1]) if t > 5.0 else 0.0
