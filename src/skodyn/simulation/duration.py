"""How a duration divides into steps and rows: one rule for Python and for scenario files."""

from __future__ import annotations

import math

__all__ = ["division_fault", "every_fault"]

MOST_STEPS = 1e12


def division_fault(duration: float, part: float, key: str) -> tuple[str, str] | None:
    """(culprit, sentence) unless the duration is whole parts, to a millionth of itself and a
    hundredth of a part; `key` is what the part is called."""
    count = duration / part
    if not 0.5 <= count <= MOST_STEPS:
        what = f"{key} is {part!r}, which divides {duration!r} s into {count:.3g} parts"
        return key, f"{what}; give a number that fits the duration."
    if abs(round(count) * part - duration) <= min(1e-6 * duration, 1e-2 * part):
        return None
    near = [n * part for n in (math.floor(count), math.ceil(count)) if n]
    what = f"duration is {duration!r}, which is {count:.9g} times {key} = {part!r}"
    return "duration", f"{what}; give {' or '.join(f'{x:.12g}' for x in near)}, or change {key}."


def every_fault(every: int, steps: int, key: str) -> str:
    """A sentence if no row but the first would be logged, or ''."""
    if every <= steps:
        return ""
    return f"{key} is {every}, but the run has only {steps} steps; give {steps} or less."
