"""What long work shows while it goes on: a bar for people, a plain line now and then elsewhere.

The command line and Python show the same. Nothing appears for work of less than `AFTER` seconds;
``progress=False`` of a call, `--quiet` of a command, or SKODYN_PROGRESS=0 silence it.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TextIO

from skodyn import jit

__all__ = ["COMPILING", "Show", "in_time", "shown", "tell_of_compiling"]

AFTER = 2.0
"""Seconds before anything is shown."""
LINE_SECONDS = 5.0
"""Between two lines where nobody watches a bar."""
SWITCH = "SKODYN_PROGRESS"
COMPILING = (
    "compiling kernels, once for this version: some seconds ('skodyn cache warm' compiles all)"
)

MORE = "compiling more kernels: what is used for the first time"
AGAIN = 20.0
"""Seconds before compiling is told of again."""

Show = Callable[[float, float, str], None]
"""Called with (done, in all, words on speed and what is left)."""


class _Display(Protocol):
    def show(self, done: float, total: float, words: str) -> None: ...
    def close(self) -> None: ...


@contextmanager
def shown(title: str, wanted: bool | None = None) -> Iterator[Show]:
    """A function that shows how far some work has come.

    wanted: True shows it at once, False never, None if the work takes long.
    """
    if wanted is False or (wanted is None and not _is_switched_on()):
        yield _nothing
        return
    late = _Late(title, 0.0 if wanted else AFTER)
    try:
        yield late.show
    finally:
        late.close()


def in_time(seconds: float) -> str:
    """Hours, minutes and seconds; … where it is not known."""
    if not 0.0 <= seconds < 1e9:
        return "…"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


def _is_switched_on() -> bool:
    worker = multiprocessing.parent_process() is not None  # its parent shows what is done
    return os.environ.get(SWITCH, "1") != "0" and not worker


def _nothing(_done: float, _total: float, _words: str) -> None:
    pass


class _Late:
    """Opens a display when the work has lasted some time."""

    def __init__(self, title: str, after: float) -> None:
        self.title, self.after = title, after
        self.began = time.perf_counter()
        self.display: _Display | None = None

    def show(self, done: float, total: float, words: str) -> None:
        if self.display is None:
            if time.perf_counter() - self.began < self.after:
                return
            self.display = _display(sys.stderr, self.title)
        self.display.show(done, total, words)

    def close(self) -> None:
        if self.display is not None:
            self.display.close()


def _display(stream: TextIO, title: str) -> _Display:
    if _in_notebook():
        return _Notebook(title)
    return _Bar(title) if stream.isatty() else _Lines(stream, title)


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


class _Lines:
    """A line every few seconds, for files and queues."""

    def __init__(self, stream: TextIO, title: str) -> None:
        self.stream, self.title = stream, title
        self.last = time.perf_counter()

    def show(self, done: float, total: float, words: str) -> None:
        if time.perf_counter() - self.last < LINE_SECONDS:
            return
        self.last = time.perf_counter()
        line = f"{self.title}: {100 * done / max(total, 1e-300):.0f} %, {words}"
        print(line, file=self.stream, flush=True)

    def close(self) -> None:
        pass


class _Bar:
    """A bar that goes when the work is done, in a terminal."""

    def __init__(self, title: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:3.0f} %  {task.fields[words]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self.progress.start()
        self.task = self.progress.add_task(title, total=None, words="")

    def show(self, done: float, total: float, words: str) -> None:
        self.progress.update(self.task, completed=done, total=total, words=words)

    def close(self) -> None:
        self.progress.stop()


class _Notebook:
    """The browser's own bar below a cell."""

    def __init__(self, title: str) -> None:
        from html import escape

        from IPython.display import HTML, display

        self.title, self.html = escape(title), HTML
        self.handle: Any = display(HTML(""), display_id=True)
        self.last = 0.0

    def show(self, done: float, total: float, words: str) -> None:
        if time.perf_counter() - self.last < 0.2:
            return
        self.last = time.perf_counter()
        bar = f'<progress value="{done:.9g}" max="{total:.9g}"></progress>'
        self.handle.update(self.html(f"<div>{self.title} {bar} {words}</div>"))

    def close(self) -> None:
        self.handle.update(self.html(""))


# ---- compiling ----------------------------------------------------------------------------------


def tell_of_compiling() -> None:
    """From now on, say when kernels have been compiling for more than a second; not again soon."""
    if _begin_to_wait not in jit.BEFORE_COMPILING:
        jit.BEFORE_COMPILING.append(_begin_to_wait)


_said: list[float] = []
"""When it was said, by time.monotonic()."""


def _begin_to_wait(_name: str) -> None:
    if not _is_switched_on() or _was_said_just_now():
        return
    timer = threading.Timer(1.0, _say_if_still_compiling)
    timer.daemon = True
    timer.start()


def _was_said_just_now() -> bool:
    return bool(_said) and time.monotonic() - _said[-1] < AGAIN


def _say_if_still_compiling() -> None:
    if _is_compiling() and _begin_to_wait in jit.BEFORE_COMPILING and not _was_said_just_now():
        print(MORE if _said else COMPILING, file=sys.stderr, flush=True)
        _said.append(time.monotonic())


def _is_compiling() -> bool:
    """Does another thread hold numba's lock? Its `is_locked` speaks of the calling thread alone."""
    from numba.core.compiler_lock import global_compiler_lock

    lock = global_compiler_lock._lock
    if lock.acquire(blocking=False):
        lock.release()
        return False
    return True
