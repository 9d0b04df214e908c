"""How a duration divides into steps and rows: one rule for Python and for scenario files."""

from __future__ import annotations

import math

from skodyn.faults import Fault
from skodyn.simulation.settings import IntegratorSettings
from skodyn.simulation.steppers.method import METHODS

__all__ = ["division_fault", "effort_faults", "every_fault"]

MOST_STEPS = 1e12
MOST_ITERATIONS = 10_000
"""Of Newton's method in one step, during which nobody can interrupt a run."""


def division_fault(duration: float, part: float, key: str) -> Fault | None:
    """A fault unless the duration is whole parts, to a millionth of itself and a hundredth of a
    part; `key` is what the part is called. Its path is what to change: the duration, or the key."""
    count = duration / part
    if not 0.5 <= count <= MOST_STEPS:
        problem = f"{key} is {part!r}, which divides {duration!r} s into {count:.3g} parts"
        return Fault(problem, "give a number that fits the duration.", (key,), part)
    if abs(round(count) * part - duration) <= min(1e-6 * duration, 1e-2 * part):
        return None
    near = [n * part for n in (math.floor(count), math.ceil(count)) if n]
    problem = f"duration is {duration!r}, which is {count:.9g} times {key} = {part!r}"
    remedy = f"give {' or '.join(f'{x:.12g}' for x in near)}, or change {key}."
    return Fault(problem, remedy, ("duration",), duration)


def every_fault(every: int, steps: int, key: str) -> Fault | None:
    """A fault if no row but the first would be logged."""
    if every <= steps:
        return None
    problem = f"{key} is {every}, but the run has only {steps} steps"
    return Fault(problem, f"give {steps} or less.", (key,), every)


def effort_faults(settings: IntegratorSettings, duration: float) -> list[Fault]:
    """Settings of the method in use with which a step, or a run, would not end."""
    faults, own = [], METHODS[settings.method].keys
    if "iterations" in own and settings.iterations > MOST_ITERATIONS:
        problem = f"iterations is {settings.iterations}"
        remedy = f"give {MOST_ITERATIONS} or less; a step that needs so many needs a smaller dt."
        faults.append(Fault(problem, remedy, ("iterations",), settings.iterations))
    if "max_step" in own and duration / settings.max_step > MOST_STEPS:
        count = duration / settings.max_step
        problem = f"max_step is {settings.max_step!r}, which divides {duration!r} s into "
        problem += f"{count:.3g} steps"
        remedy = f"give {duration / MOST_STEPS:.3g} s or more."
        faults.append(Fault(problem, remedy, ("max_step",), settings.max_step))
    return faults
