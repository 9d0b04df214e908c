"""How far a sweep has come, in the words of the command line and of Python."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from skodyn.progress import in_time, shown
from skodyn.sweeps.driver import Progress, SweepProgress

__all__ = ["shown_sweep"]


@contextmanager
def shown_sweep(title: str, wanted: Progress | bool | None) -> Iterator[Progress]:
    """What the driver calls after each batch: a display, or a function of the caller's own."""
    if callable(wanted):
        yield wanted
        return
    with shown(title, wanted) as show:

        def tell(tally: SweepProgress) -> None:
            words = f"{tally.done} of {tally.total} done, {tally.failed} failed, "
            words += f"{tally.rate:,.0f} runs/s, {in_time(tally.seconds_left)} left"
            show(tally.done, tally.total, words)

        yield tell
