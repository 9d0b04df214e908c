"""A method: A. Ralston's third-order Runge-Kutta method (1962), by its tableau."""

import skodyn as sk

RALSTON = sk.explicit_method(
    "ralston3",
    rows=[[], [1 / 2], [0, 3 / 4]],
    weights=[2 / 9, 1 / 3, 4 / 9],
    nodes=[0, 1 / 2, 3 / 4],
)
