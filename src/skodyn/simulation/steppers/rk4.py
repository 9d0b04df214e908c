"""The classical fourth-order Runge–Kutta method (W. Kutta, 1901) as a Munthe-Kaas method."""

from __future__ import annotations

from skodyn.registry import register
from skodyn.simulation.steppers.tableaux import explicit_method

METHOD = register(
    explicit_method(
        "rk4",
        rows=[[], [1 / 2], [0, 1 / 2], [0, 0, 1]],
        weights=[1 / 6, 1 / 3, 1 / 3, 1 / 6],
        nodes=[0, 1 / 2, 1 / 2, 1],
    )
)
