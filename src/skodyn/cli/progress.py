"""Progress of a run: a live bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TextIO

__all__ = ["Silent", "shown_on"]

LINE_SECONDS = 5.0


class Silent:
    """No progress at all."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_error: object) -> None:
        pass


def shown_on(stream: TextIO, title: str) -> Any:
    """Progress for this stream: a bar if a person is looking at it."""
    return _Bar(title) if stream.isatty() else _Lines(stream, title)


def _speed(engine: Any, wall: float, first: tuple[int, float]) -> str:
    steps = (engine.step - first[0]) / max(wall, 1e-9)
    pace = (engine.t - first[1]) / max(wall, 1e-9)
    left = (engine.duration - engine.t) / max(pace, 1e-12)
    return f"{steps:,.0f} steps/s, {pace:.3g} s/s, {left:.0f} s left"


class _Lines:
    def __init__(self, stream: TextIO, title: str) -> None:
        self.stream, self.title = stream, title
        self.last = time.perf_counter()
        self.first: tuple[int, float] | None = None

    def __enter__(self) -> Callable[[Any, float], None]:
        return self.show

    def __exit__(self, *_error: object) -> None:
        pass

    def show(self, engine: Any, wall: float) -> None:
        self.first = self.first or (engine.step, engine.t - 1e-300)
        if time.perf_counter() - self.last < LINE_SECONDS or engine.step == self.first[0]:
            return
        self.last = time.perf_counter()
        words = _speed(engine, wall, self.first)
        print(f"{self.title}: t = {engine.t:.6g} of {engine.duration:g} s, {words}",
              file=self.stream, flush=True)  # fmt: skip


class _Bar:
    def __init__(self, title: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self.title = title
        self.first: tuple[int, float] | None = None
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:3.0f} %  {task.fields[speed]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self.task: Any = None

    def __enter__(self) -> Callable[[Any, float], None]:
        self.progress.start()
        self.task = self.progress.add_task(self.title, total=None, speed="")
        return self.show

    def __exit__(self, *_error: object) -> None:
        self.progress.stop()

    def show(self, engine: Any, wall: float) -> None:
        self.first = self.first or (engine.step, engine.t)
        self.progress.update(
            self.task, total=engine.duration, completed=engine.t,
            speed=_speed(engine, wall, self.first),
        )  # fmt: skip
