"""A run that is watched as it goes: paused, slowed down, taken hold of.

The run itself is the ordinary one: watching, pausing and slowing down change no bit of it. Taking
hold of a body makes another run of it. So the log ends there, with its checkpoint, as if it had
been interrupted: `skodyn resume` goes on with it untouched. What follows is shown, not logged.
"""

from __future__ import annotations

import json
import math
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from skodyn.dynamics import forward_kinematics
from skodyn.errors import SkodynError
from skodyn.simulation import session
from skodyn.simulation.engine import Engine
from skodyn.simulation.loop import explain
from skodyn.simulation.plan import Plan
from skodyn.simulation.pulling import move_end, pulled, spring_at
from skodyn.simulation.signals import StopRequest
from skodyn.typing import Floats
from skodyn.view.document import replay_page
from skodyn.view.recording import Recording, still
from skodyn.view.rotations import quaternions
from skodyn.view.server import LOOPBACK, page_server

__all__ = ["LiveView", "Watched", "run_watched"]

SPEEDS = (0.001, 1000.0)
_CHUNK = 0.002  # s of simulated time between two looks at what pages say
_FRAME = 0.025  # s between two pictures
_ATTEMPTS = 4  # steps of an adaptive method in a chunk
_BEAT = 1.0  # s without news before a page is told so
_GOODBYE = 2.0  # s for pages to hear how it ended


class Grab(NamedTuple):
    """A body, a point of it in its axes, and where the point is pulled to, in the world."""

    body: str
    point: Floats
    end: Floats


@dataclass
class Wishes:
    """What pages asked for."""

    paused: bool = False
    speed: float = 1.0
    grab: Grab | None = None


class LiveView:
    """What pages are told, what they ask for, and the pace that follows from it."""

    def __init__(self, plan: Plan, title: str) -> None:
        self.model, self.title = plan.model, title
        self.duration = plan.duration
        self.recording = _recording(plan, title)
        self.wishes = Wishes()
        self.news = threading.Condition()
        self.text, self.number, self.pages, self.over = "", 0, 0, False
        self.touched: float | None = None
        self._shown, self._start = 0.0, (0.0, 0.0, 0.0)  # of the pace: wall time, t, speed

    # ---- for the server -------------------------------------------------------------------------

    def page(self) -> str:
        return replay_page(self.recording, live=True)

    def events(self) -> Iterator[str]:
        """Every picture that there is time for."""
        with self.news:
            self.pages += 1
            self.news.notify_all()
        last = -1
        try:
            while True:
                text, last, over = self._news_since(last)
                if text:
                    yield text
                if over:
                    return
        finally:
            with self.news:
                self.pages -= 1
                self.news.notify_all()

    def _news_since(self, last: int) -> tuple[str, int, bool]:
        with self.news:
            self.news.wait_for(lambda: self.over or self.number != last, _BEAT)
            return self.text, self.number, self.over

    def take(self, message: Any) -> str:
        """What a page says; what is wrong with it, or nothing."""
        try:
            changes = _wishes(message, self.model, self.recording.upright)
        except (KeyError, TypeError, ValueError, SkodynError) as error:
            return f"This was not understood: {error}"
        with self.news:
            for name, value in changes.items():
                setattr(self.wishes, name, value)
            self.news.notify_all()
        return ""

    # ---- for the run ----------------------------------------------------------------------------

    def wait_for_page(self) -> None:
        """Until a page is open, or whoever drives the run has received a signal."""
        with self.news:
            while not self.pages and not StopRequest.pending():
                self.news.wait(0.05)

    def follow(self, engine: Engine, _wall: float = 0.0) -> None:
        """Between two chunks: show the state, and keep the pace that was asked for."""
        now = time.monotonic()
        if now - self._shown >= _FRAME or engine.finished:
            self.show(engine, "running")
        with self.news:
            while not StopRequest.pending():
                left = self._ahead(engine.t)
                if left <= 0.0:
                    break
                if self.wishes.paused:
                    self._tell(engine, "paused")
                self.news.wait(min(left, 0.05))

    def _ahead(self, t: float) -> float:
        """How many seconds too early it is; one that is late does not hurry afterwards."""
        wall, first, speed = self._start
        now = time.monotonic()
        if self.wishes.paused:
            self._start = (now, t, 0.0)
            return math.inf
        due = wall + (t - first) / speed if speed else now
        if speed != self.wishes.speed or due < now - 2 * _FRAME:
            self._start = (now, t, self.wishes.speed)
            return 0.0
        return due - now

    def show(self, engine: Engine, state: str, words: str = "") -> None:
        """A picture for all pages."""
        with self.news:
            self._tell(engine, state, words)

    def _tell(self, engine: Engine, state: str, words: str = "") -> None:
        positions, turns, modes = self._poses(engine.q)
        told = {
            "t": engine.t, "state": state, "words": words, "touched": self.touched,
            "speed": self.wishes.speed, "duration": self.duration,
            "positions": positions, "turns": turns, "modes": modes,
        }  # fmt: skip
        text = json.dumps(told, separators=(",", ":"))
        if text != self.text:
            self.text, self.number, self._shown = text, self.number + 1, time.monotonic()
            self.news.notify_all()

    def _poses(self, q: Floats) -> tuple[list[float], list[float], list[list[float]]]:
        """As a replay has them, in the picture's axes."""
        upright, finite = self.recording.upright, np.nan_to_num(q)
        rotations, places = forward_kinematics(self.model.opened, finite)
        names = [self.model.body_names[one.body] for one in self.recording.scene.bent]
        modes = [np.round(finite[self.model.mode_slice(name)], 7).tolist() for name in names]
        turns = np.round(quaternions(upright @ rotations), 6)
        return (
            np.round(places @ upright.T, 6).reshape(-1).tolist(),
            turns.reshape(-1).tolist(),
            modes,
        )

    def end(self, engine: Engine, state: str, words: str) -> None:
        """The last picture; waits a moment until pages have it."""
        self.show(engine, state, words)
        with self.news:
            self.over = True
            self.news.notify_all()
            self.news.wait_for(lambda: not self.pages, _GOODBYE)


def _wishes(message: Any, model: Any, upright: Floats) -> dict[str, Any]:
    """A message of a page, checked."""
    found: dict[str, Any] = {}
    for name, value in dict(message).items():
        if name == "paused":
            found[name] = bool(value)
        elif name == "speed":
            found[name] = float(value)
            if not SPEEDS[0] <= found[name] <= SPEEDS[1]:
                raise ValueError(f"a speed of {value}")
        elif name == "grab":
            found[name] = None if value is None else _grab(value, model, upright)
        else:
            raise KeyError(name)
    return found


def _grab(value: dict[str, Any], model: Any, upright: Floats) -> Grab:
    point, end = (np.asarray(value[key], dtype=np.float64) for key in ("point", "end"))
    if point.shape != (3,) or end.shape != (3,) or not np.isfinite([point, end]).all():
        raise ValueError("points have three numbers")
    k = int(value["body"])
    if not 0 <= k < model.n_bodies:
        raise ValueError(f"there is no body {k}")
    return Grab(model.body_names[k], point, upright.T @ end)


def _recording(plan: Plan, title: str) -> Recording:
    made = still(plan.model, np.nan_to_num(np.asarray(plan.q0, dtype=np.float64)))
    return replace(made, title=title or made.title, q=None)


# ---- the run ------------------------------------------------------------------------------------


class Watched(NamedTuple):
    """How a watched run ended. touched: the time at which a body was taken hold of, or None."""

    run: session.Run
    touched: float | None
    message: str = ""


def run_watched(
    plan: Plan,
    log: Path,
    *,
    title: str = "",
    overwrite: bool = False,
    port: int = 0,
    browser: bool = True,
    say: Callable[[str], None] = print,
) -> Watched:
    """Run a plan into a log while pages watch it; it goes on when the first page is open."""
    live = LiveView(plan, title)
    with page_server(live.page, port, live) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def opened() -> None:
            address = f"http://{LOOPBACK}:{server.server_address[1]}/"
            say(f"{address}  (this machine only; the run goes on when the page is open)")
            if browser:
                with suppress(webbrowser.Error):
                    webbrowser.open(address)
            live.wait_for_page()

        try:
            return _watched(live, plan, log, overwrite, opened)
        finally:
            server.shutdown()


def _watched(
    live: LiveView, plan: Plan, log: Path, overwrite: bool, opened: Callable[[], None]
) -> Watched:
    last: list[Engine] = []

    def between(engine: Engine, wall: float) -> None:
        if not last:  # the log could be written, and a first step be made: faults come before
            opened()
        last[:] = [engine]
        live.follow(engine, wall)
        if live.wishes.grab is not None and not engine.finished:
            live.touched = engine.t
            StopRequest.ask()  # the log ends here

    run = session.run(plan, log, overwrite=overwrite, progress=between, chunk=_chunk(plan))
    if not last:
        return Watched(run, None)
    if live.touched is None or run.status != "interrupted":
        live.end(last[0], run.status, run.message)
        return Watched(run, None)
    state, words, engine = _touched(live, plan, last[0])
    live.end(engine, state, words)
    return Watched(run, live.touched, words)


def _chunk(plan: Plan) -> int:
    if plan.settings.adaptive:
        return _ATTEMPTS
    return max(1, round(_CHUNK / plan.settings.dt))


def _touched(live: LiveView, plan: Plan, engine: Engine) -> tuple[str, str, Engine]:
    """Go on with bodies pulled: (how it ended, why, the last engine)."""
    held: Grab | None = None
    with StopRequest() as stop:
        while not engine.finished and not stop.received:
            grab = live.wishes.grab
            if not _same_place(grab, held):
                engine = _taken(plan, engine, grab)
            elif grab is not None:
                move_end(engine, grab.end)
            held = grab
            block = engine.advance(_chunk(plan))
            raised = engine.take_controller_error()
            if raised is not None or block.status != 0:
                return "failed", str(raised or explain(engine, block.status)), engine
            live.follow(engine)
    return ("interrupted", "", engine) if stop.received else ("finished", "", engine)


def _same_place(a: Grab | None, b: Grab | None) -> bool:
    """Do both hold the same point of the same body, or nothing?"""
    if a is None or b is None:
        return a is b
    return a.body == b.body and np.array_equal(a.point, b.point)


def _taken(plan: Plan, engine: Engine, grab: Grab | None) -> Engine:
    spring = None
    if grab is not None:
        spring = spring_at(plan, engine.q.copy(), grab.body, grab.point, grab.end)
    return pulled(plan, engine.memory_of_run(), spring)
