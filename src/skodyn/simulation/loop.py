"""The run loop: jitted chunks, and between them logging, checkpoints, progress and signals."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from skodyn.channels.entry import Channel
from skodyn.kernels.status import (
    LOOP_OPEN,
    LOOP_SINGULAR,
    NOT_CONVERGED,
    NOT_FINITE,
    OUT_OF_BOUNDS,
    SINGULAR,
    STEP_TOO_SMALL,
    decode,
)
from skodyn.simulation.adaptive_step import REJECTED
from skodyn.simulation.channels import channel_rows
from skodyn.simulation.control.controllers import ControllerError
from skodyn.simulation.engine import Engine
from skodyn.simulation.monitors import Snapshot, balance
from skodyn.simulation.signals import StopRequest

__all__ = ["Outcome", "Sink", "drive"]

CHUNK_SECONDS = 0.1
FLUSH_SECONDS = 1.0
MOST_STEPS = 1_000_000

Progress = Callable[[Engine, float], None]


class Sink(Protocol):
    """Where rows go."""

    def append(self, rows: dict[str, Any]) -> None: ...
    def append_events(self, t: Any, events: Any) -> None: ...
    def flush(self) -> None: ...


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    status: str  # finished, failed, interrupted
    message: str
    signal: int
    summary: dict[str, Any] = field(default_factory=dict)


def drive(
    engine: Engine,
    sink: Sink,
    channels: Sequence[Channel],
    *,
    start: Snapshot,
    checkpoint: Callable[[], None] = lambda: None,
    progress: Progress | None = None,
    chunk: int | None = None,
) -> Outcome:
    """Run to the end, to a failure or to a signal. `chunk` fixes the steps per chunk, for tests."""
    began, flushed = time.perf_counter(), time.perf_counter()
    first_step = engine.step
    budget, status, message = chunk or 1, "finished", ""
    with StopRequest() as stop:
        while not engine.finished:
            before = time.perf_counter()
            block = engine.advance(budget)
            now = time.perf_counter()
            raised = engine.take_controller_error()
            if len(block.t):
                sink.append(channel_rows(engine, block, channels))
            if engine.bending is not None:
                engine.bending.look(block.t, block.q)
            if block.events is not None:
                sink.append_events(*block.events)
            _raise_controller_error(engine, raised or engine.take_controller_error())
            if block.status != 0:
                status, message = "failed", _said(engine) or explain(engine, block.status)
                break
            budget = chunk or _next_budget(budget, now - before)
            if now - flushed > FLUSH_SECONDS:
                sink.flush()
                checkpoint()
                flushed = now
            if progress is not None:
                progress(engine, now - began)
            if stop.received:
                status = "interrupted"
                message = f"interrupted at t = {engine.t:.9g} s, step {engine.step}"
                break
    sink.flush()
    checkpoint()
    summary = summarise(engine, first_step, time.perf_counter() - began, start)
    return Outcome(status, message, stop.received, summary)


def _raise_controller_error(engine: Engine, raised: BaseException | None) -> None:
    if raised is None:
        return
    if not isinstance(raised, Exception) or isinstance(raised, ControllerError):
        raise raised  # Ctrl-C, sys.exit; or a sentence already
    raise ControllerError(
        f"the controller raised {type(raised).__name__} after t = {engine.t:.9g} s, "
        f"step {engine.step}: {raised}"
    ) from raised


def _next_budget(budget: int, seconds: float) -> int:
    """So many steps that a chunk takes about CHUNK_SECONDS; it grows tenfold at most."""
    ideal = budget * CHUNK_SECONDS / max(seconds, 1e-6)
    return int(min(max(ideal, 1), 10 * budget, MOST_STEPS))


def summarise(engine: Engine, first_step: int, wall: float, start: Snapshot) -> dict[str, Any]:
    """What a person wants to know at the end."""
    steps = engine.step - first_step
    summary = {
        "t": engine.t,
        "steps": engine.step,
        "steps_this_run": steps,
        "wall_seconds": wall,
        "steps_per_second": steps / max(wall, 1e-9),
        **(balance(engine, start) if engine.keeps_accounts else {}),
        **(engine.watch.summary() if engine.watch is not None else {}),
        **(engine.bending.summary() if engine.bending is not None else {}),
    }
    if engine.settings.adaptive:
        summary["steps_rejected"] = int(engine.clock[REJECTED])
    return summary


def _said(engine: Engine) -> str:
    """What a law in Python says of why it gave no torques."""
    said = next((law.said for law in engine.laws if law.said), "")
    return said and f"there are no accelerations after t = {engine.t:.9g} s: {said}"


def explain(engine: Engine, status: int) -> str:
    """One sentence for a step that failed: what, which joint, when, and what to try."""
    code, which = decode(status)
    when = f"at t = {engine.t:.9g} s, step {engine.step + 1}"
    if code == OUT_OF_BOUNDS:
        limit = engine.settings.max_speed
        what = f"joint {_joint_of_dof(engine, which)!r} is faster than {limit:g}"
        return f"{what} {when}; raise max_speed if it may be"
    if code == NOT_CONVERGED:
        return f"the implicit step did not converge {when}; use a smaller dt{_if_driven(engine)}"
    if code == STEP_TOO_SMALL:
        remedy = "loosen rtol and atol, or make forces that jump smooth"
        return f"no step meets the tolerance {when}; {remedy}"
    if code == LOOP_OPEN:
        return _opened(engine, which, when)
    if code == LOOP_SINGULAR:
        name = engine.model.loop_names[which]
        what = f"the joints of loop {name!r} have no inertia in a motion that it allows"
        return f"{what}, so that the mass matrix is singular {when}; give their bodies mass"
    name = engine.model.joint_names[min(which, engine.model.n_bodies - 1)]
    if code == SINGULAR:
        what = f"joint {name!r} has no inertia, so that the mass matrix is singular"
        return f"{what} {when}; give it mass or inertia"
    if code == NOT_FINITE:
        name = _fastest_joint(engine)
        return f"joint {name!r} became NaN or infinite {when}; use a smaller dt or more damping"
    return f"joint {name!r} has a quaternion that is not of unit length {when}"


def _if_driven(engine: Engine) -> str:
    """What else may be the cause, where motions move loops."""
    driven = ", ".join(repr(motion.joint) for motion in engine.forces.motions)
    if not (driven and engine.model.has_loops):
        return ""
    return f", or look whether loops can follow the motion of {driven} any further"


def _opened(engine: Engine, number: int, when: str) -> str:
    """The loop whose ends cannot meet any more, and the joint that moves most in it."""
    model = engine.model
    name = model.loop_names[number]
    group = next(group for group in model.groups if name in group.constraints)
    moving = [j for j in group.joints if model.joints[model.joint_index(j)].nv == 1]
    driven = [motion.joint for motion in engine.forces.motions if motion.joint in group.joints]
    beyond, prescribed = "", ""
    if driven:
        moving = [joint for joint in moving if joint in driven]
        prescribed = f" with the motion of {', '.join(map(repr, driven))}"
    if moving:
        fastest = max(moving, key=lambda j: abs(float(engine.v[model.v_slice(j)][0])))
        beyond = f" beyond {fastest!r} = {float(engine.q[model.q_slice(fastest)][0]):.3g}"
    return (
        f"loop {name!r} opened {when}: its ends cannot meet{beyond}{prescribed}; use a smaller "
        "dt or another length"
    )


def _joint_of_dof(engine: Engine, dof: int) -> str:
    names = engine.model.independent_joints
    for body in engine.model.flexible:
        modes = engine.model.mode_slice(body, "v")
        if modes.start <= dof < modes.stop:
            return f"{body}.{engine.model.flexible[body].labels[dof - modes.start]}"
    return next(n for n in names if dof in range(*engine.model.v_slice(n).indices(engine.model.nv)))


def _fastest_joint(engine: Engine) -> str:
    """The joint that was moving fastest in the last good state: where a blow-up begins."""
    moving = [k for k, joint in enumerate(engine.model.joints) if joint.nv]
    if not moving:
        return engine.model.joint_names[0]
    return _joint_of_dof(engine, int(np.argmax(np.abs(engine.v))))
