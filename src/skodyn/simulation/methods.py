"""Which integration methods there are, by name."""

from __future__ import annotations

from skodyn.errors import StateError
from skodyn.simulation import adaptive_step
from skodyn.simulation.steppers import implicit_midpoint, rk4, semi_implicit_euler
from skodyn.simulation.steppers.method import Method

__all__ = ["METHODS", "method_named", "register"]

METHODS: dict[str, Method] = {
    stepper.METHOD.name: stepper.METHOD
    for stepper in (semi_implicit_euler, rk4, implicit_midpoint, adaptive_step)
}


def register(method: Method) -> None:
    """Make a method known: one file, inside the package or outside, is all that it takes."""
    if METHODS.get(method.name, method) is not method:
        raise StateError(f"There is an integrator {method.name!r} already; give another name.")
    METHODS[method.name] = method


def method_named(name: str) -> Method:
    if name not in METHODS:
        raise StateError(f"The integrator {name!r} is unknown; give {', '.join(METHODS)}.")
    return METHODS[name]
