"""A limit for what might never end, used by the fuzzers."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class TooLongError(BaseException):
    """Not an Exception, so that nobody catches it on the way."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Of the processor, since others may be at work; ten times as long for one who only waits."""

    def stop(_signal: int, _frame: Any) -> None:
        raise TooLongError(f"more than {seconds:g} s")

    clocks = {signal.SIGPROF: signal.ITIMER_PROF, signal.SIGALRM: signal.ITIMER_REAL}
    before = {number: signal.signal(number, stop) for number in clocks}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 10 * seconds)
    try:
        yield
    finally:
        for number, clock in clocks.items():
            signal.setitimer(clock, 0)
            signal.signal(number, before[number])
