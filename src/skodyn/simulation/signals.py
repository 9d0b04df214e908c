"""SIGINT and SIGTERM during a run: finish the chunk, then stop in good order."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, ClassVar

__all__ = ["StopRequest"]


class StopRequest:
    """While active, signals only leave a note in `received`; a second one acts as usual."""

    _active: ClassVar[list[StopRequest]] = []

    @classmethod
    def pending(cls) -> bool:
        """Has any that is active received a signal? For who waits inside of a run."""
        return any(one.received for one in cls._active)

    @classmethod
    def ask(cls) -> None:
        """What a signal would do, from inside of a run: it stops in good order."""
        for one in tuple(cls._active):
            one._note(signal.SIGINT, None)

    def __init__(self) -> None:
        self.received = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> StopRequest:
        self._active.append(self)
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._active.remove(self)
        self._restore()

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.received = number
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}
