"""How a duration divides into steps and rows: one rule for Python and for scenario files."""

from __future__ import annotations

import math

from skodyn.faults import Fault

__all__ = ["division_fault", "every_fault"]

MOST_STEPS = 1e12


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
