"""Which integration methods there are, by name."""

from __future__ import annotations

from skodyn.errors import StateError
from skodyn.registry import register
from skodyn.simulation.steppers.method import METHODS, Method

__all__ = ["METHODS", "fixed_step_methods", "method_named", "register"]


def method_named(name: str) -> Method:
    found = METHODS.get(name)
    if found is None:
        raise StateError(f"The integrator {name!r} is unknown", f"give {METHODS.listed()}.")
    return found


def fixed_step_methods() -> str:
    """Those whose steps are all of the same length, for a sentence."""
    return ", ".join(name for name, method in METHODS.items() if not method.adaptive)
