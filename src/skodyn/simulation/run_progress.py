"""How far a run has come, in the words of the command line and of Python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from skodyn.progress import shown
from skodyn.simulation.loop import Progress

__all__ = ["shown_run"]


@contextmanager
def shown_run(title: str, wanted: Progress | bool | None) -> Iterator[Progress]:
    """What `drive` calls between two chunks: a display, or a function of the caller's own."""
    if callable(wanted):
        yield wanted
        return
    with shown(title, wanted) as show:
        first: list[Any] = []

        def tell(engine: Any, wall: float) -> None:
            first[:] = first or [engine.step, engine.t]
            if engine.step > first[0]:  # the first chunk may have waited for the compiler
                words = _speed(engine, max(wall, 1e-9), *first)
                show(engine.t, engine.duration, words)

        yield tell


def _speed(engine: Any, wall: float, first_step: int, first_t: float) -> str:
    steps = (engine.step - first_step) / wall
    pace = (engine.t - first_t) / wall
    left = (engine.duration - engine.t) / max(pace, 1e-12)
    where = f"t = {engine.t:.6g} of {engine.duration:g} s"
    return f"{where}, {steps:,.0f} steps/s, {pace:.3g} s/s, {left:.0f} s left"
