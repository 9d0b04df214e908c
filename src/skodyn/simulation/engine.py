"""A simulation in progress: state, buffers, and `advance`, which runs one jitted chunk.

An engine knows no files and no clocks. `memory_of_run` is all that must be kept to go on later,
bit for bit; `restore` takes it back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import StateError
from skodyn.lanes import WIDTH_1
from skodyn.lanes.cache_lines import line_zeros
from skodyn.model.layout import N_BODIES
from skodyn.model.model import Model
from skodyn.simulation import adaptive_step
from skodyn.simulation.adaptive_step import AdaptiveSchedule
from skodyn.simulation.contact.contact_events import ContactEvents, Events
from skodyn.simulation.control.control_calls import sample_start
from skodyn.simulation.control.control_methods import explain_trouble
from skodyn.simulation.control.controllers import ControllerError
from skodyn.simulation.elements import Forces
from skodyn.simulation.evaluate_rows import RateRows, StateRows, evaluate_rows
from skodyn.simulation.fixed_step import LogRows, Schedule, StateArrays
from skodyn.simulation.force_tables import ForceTables, pack_forces
from skodyn.simulation.forces import ON_BODIES
from skodyn.simulation.loop_watch import LoopWatch
from skodyn.simulation.methods import method_named
from skodyn.simulation.prepare import system_arrays
from skodyn.simulation.settings import IntegratorSettings
from skodyn.simulation.systems.driven_system import follow_start
from skodyn.simulation.systems.looped_system import OneState, close_start
from skodyn.simulation.systems.system import CONTROL
from skodyn.simulation.thermostat import AndersenThermostat, Collisions
from skodyn.typing import Floats

if TYPE_CHECKING:
    from skodyn.simulation.bend_watch import BendWatch
    from skodyn.simulation.contact.contact_watch import ContactWatch

__all__ = ["Block", "Engine"]

FEWEST_ROWS, MOST_ROWS, ROW_NUMBERS = 512, 4096, 2**17
"""How many rows one chunk can collect: about a megabyte of them. With 512 rows of ten bodies, what
Python does between chunks took 6 % of a run. Adaptive methods cut a step that fills a whole chunk,
so theirs have the fewest."""


@dataclass(frozen=True)
class Block:
    """Rows that a chunk produced, and what became of it."""

    step: NDArray[np.int64]
    t: Floats
    q: Floats
    y: Floats  # velocities, integrals of controllers, work done
    status: int
    events: Events | None = None  # of contacts, where they are looked for


def _joined(blocks: list[Block]) -> Block:
    """The rows of several blocks in one."""
    step, t, q, y = (
        np.concatenate([getattr(block, name) for block in blocks])
        for name in ("step", "t", "q", "y")
    )
    events = [block.events for block in blocks if block.events is not None]
    found = Events(*map(np.concatenate, zip(*events, strict=True))) if events else None
    return Block(step, t, q, y, blocks[-1].status, found)


def _contact_watch(
    model: Model, tables: ForceTables, settings: IntegratorSettings
) -> ContactWatch | None:
    if tables.contacts is None:
        return None
    from skodyn.simulation.contact.contact_watch import ContactWatch  # few runs have contacts

    return ContactWatch(model, tables.contacts, tables.contact_integral, settings)


def _bend_watch(
    model: Model, settings: IntegratorSettings, q: Floats, forces: Forces
) -> BendWatch | None:
    if not model.flexible:
        return None
    from skodyn.simulation.bend_watch import BendWatch  # few models have flexible bodies

    return BendWatch(model, settings, q, forces)


def _row_count(numbers: int, expected: int) -> int:
    """How many rows of so many numbers a chunk can collect in a run that logs `expected`."""
    most = min(max(ROW_NUMBERS // max(numbers, 1), FEWEST_ROWS), MOST_ROWS)
    return min(most, expected)


class Engine:
    """One run at lane width 1."""

    keeps_accounts = True  # of energy and momentum

    def __init__(
        self,
        model: Model,
        q: Floats,
        v: Floats,
        duration: float,
        settings: IntegratorSettings,
        forces: Forces | None = None,
        every: int = 1,
        thermostat: AndersenThermostat | None = None,
        look_for_events: bool = False,
    ) -> None:
        described = forces or Forces()
        self.model = model
        self.settings = settings
        self.forces = described
        self.tables = pack_forces(model, described, settings)
        self.duration = duration
        self.every = every
        self.laws = self.tables.control.laws(model)
        self.q, self.y = line_zeros(len(q)), line_zeros(len(v) + self.tables.n_integrals)
        self.q[:], self.y[: len(v)] = q, v
        self.step = 0
        self.total_steps = round(duration / settings.dt)
        self.collisions = Collisions(thermostat, model, settings.dt) if thermostat else None
        self.clock = np.zeros(adaptive_step.CLOCK)
        self.clock[adaptive_step.STEP_LENGTH] = settings.first_step
        self.clock[adaptive_step.PREVIOUS_ERROR] = 1e-4
        self.method = method_named(settings.method)
        between = 1 if look_for_events else every
        expected = FEWEST_ROWS if settings.adaptive else 1 + self.total_steps // between
        self._rows = _row_count(self.q.size + self.y.size, expected)
        self._allocate()
        self.kernel = self.method.loop.ready  # before anybody times a step
        self.watch = LoopWatch(model) if model.has_loops else None
        self.contacts = _contact_watch(model, self.tables, settings)
        self.bending = _bend_watch(model, settings, self.q, described)
        if model.has_loops:
            close_start.ready(self._system, OneState(self.q, self.y))
        if self.tables.flags is not None:
            follow_start.ready(self._system, OneState(self.q, self.y))
        if self.tables.control.sampled:
            sample_start.ready(self._system, OneState(self.q, self.y))
        if self.contacts is not None:
            self.contacts.check_start(self.q, self.y)
        self._events: ContactEvents | None = None
        if self.contacts is not None and look_for_events:
            self._events = ContactEvents(self.contacts, self.q, self.y)

    def _allocate(self) -> None:
        nq, ny = self.q.size, self.y.size
        self._state = StateArrays(self.q, self.y, line_zeros(nq), line_zeros(ny))
        self._log = LogRows(line_zeros(self._rows * nq), line_zeros(self._rows * ny))
        self._rates = line_zeros(ny)
        self._system = system_arrays(self.model, self.tables, self.settings, WIDTH_1, self.laws)

    @property
    def t(self) -> float:
        if self.settings.adaptive:
            return float(self.clock[adaptive_step.TIME])
        return self.step * self.settings.dt

    @property
    def v(self) -> Floats:
        return self.y[: self.model.nv]

    @property
    def finished(self) -> bool:
        if self.settings.adaptive:
            return self.t >= self.duration
        return self.step >= self.total_steps

    def advance(self, budget: int) -> Block:
        """At most `budget` steps (or attempts), fewer if the run ends or the rows are full."""
        if self.collisions is not None:
            return self._advance_colliding(budget, self.collisions)
        return self._advance_adaptive(budget) if self.settings.adaptive else self._advance(budget)

    def _advance_colliding(self, budget: int, collisions: Collisions) -> Block:
        """The same, with collisions between steps; a row shows the state just before one, and so
        does the end of a run: what comes after it is for whoever goes on."""
        blocks, last, rows = [], self.step + budget, 0
        while True:
            if self.step == collisions.step:
                collisions.collide(self.step, self.q, self.y)
            block = self._advance(min(last, collisions.step) - self.step)
            blocks.append(block)
            rows += len(block.t)
            done = self.step >= min(last, self.total_steps) or rows >= self._rows
            if block.status != 0 or done:
                break
        return _joined(blocks)

    def _advance(self, budget: int) -> Block:
        s = self.settings
        every = self.every if self._events is None else 1  # events are looked for in every step
        steps = min(budget, self.total_steps - self.step, self._rows * every)
        schedule = Schedule(self.step, steps, s.dt, s.max_speed, every)
        done, rows, status = self.kernel(self._system, self._state, schedule, self._log)
        first = (self.step // every + 1) * every
        step = first + every * np.arange(rows, dtype=np.int64)
        self.step += done
        return self._with_events(self._block(step, step * s.dt, rows, status))

    def _with_events(self, block: Block) -> Block:
        """Events between the rows of a block, and those of its rows that are logged."""
        if self._events is None:
            return block
        events = self._events.between(block.t, block.q, block.y)
        kept = slice(None) if self.settings.adaptive else block.step % self.every == 0
        step, t, q, y = block.step[kept], block.t[kept], block.q[kept], block.y[kept]
        return Block(step, t, q, y, block.status, events)

    def _advance_adaptive(self, budget: int) -> Block:
        s = self.settings
        before = int(self.clock[adaptive_step.ROWS])
        schedule = AdaptiveSchedule(
            budget, self.duration, s.rtol, s.atol, s.max_step, s.max_speed, s.dt * self.every
        )
        _, rows, status = self.kernel(self._system, self._state, self.clock, schedule, self._log)
        self.step = int(self.clock[adaptive_step.STEPS])
        number = before + 1 + np.arange(rows, dtype=np.int64)
        return self._with_events(self._block(number, number * (s.dt * self.every), rows, status))

    def _block(self, step: NDArray[np.int64], t: Floats, rows: int, status: int) -> Block:
        nq, ny = self.q.size, self.y.size
        q = self._log.q[: rows * nq].reshape(rows, nq).copy()
        y = self._log.y[: rows * ny].reshape(rows, ny).copy()
        return Block(step, t, q, y, int(status))

    def present(self) -> Block:
        """The state as it is now, as a block of one row."""
        step = np.array([self.step], dtype=np.int64)
        return Block(step, np.array([self.t]), self.q[None].copy(), self.y[None].copy(), 0)

    def take_controller_error(self) -> BaseException | None:
        """What a controller in Python raised during the last chunk, or what a compiled one has
        called `dynamics` with that does not fit."""
        errors = (one.take_error() for one in (*self.laws, *self.tables.functions))
        raised = next((error for error in errors if error is not None), None)
        if raised is None and self.laws:
            trouble = self._system.memory[self._system.places[2 * CONTROL]]
            said = explain_trouble(float(trouble), self.model)
            return ControllerError(said) if said else None
        return raised

    def rates(self, block: Block) -> tuple[Floats, Floats]:
        """(v̇, applied generalised forces) of every row of a block."""
        return self.rates_and_forces(block)[:2]

    def rates_and_forces(self, block: Block) -> tuple[Floats, Floats, Floats | None, Floats]:
        """The same, forces on bodies if there are any, and what drives of motions add."""
        vdot, tau = np.full((2, len(block.t), self.model.nv), np.nan)
        pushed = self.tables.codes[ON_BODIES] > 0
        packed = int(self._system.tree[N_BODIES])  # more than bodies where these have modes
        f_ext = np.zeros((len(block.t) if pushed else 0, packed, 6))
        drive = np.zeros((len(block.t), self.model.nv))
        kept = drive if self.tables.flags is not None else drive[:0]
        given = StateRows(block.t, block.q.reshape(-1), block.y.reshape(-1))
        flat = (vdot.reshape(-1), tau.reshape(-1), f_ext.reshape(-1), kept.reshape(-1))
        evaluate_rows.ready(self._system, given, RateRows(*flat, self._rates))
        of_bodies = f_ext[:, : self.model.n_bodies]
        return vdot, tau, of_bodies if pushed else None, drive

    # ---- to go on later -----------------------------------------------------------------------

    def memory_of_run(self) -> dict[str, NDArray[Any]]:
        """Everything that decides the rest of the run."""
        kept = {"collisions": self.collisions.memory()} if self.collisions else {}
        if self._events is not None:
            kept["last_row"] = self._events.last
        return kept | {
            "q": self.q.copy(),
            "y": self.y.copy(),
            "step": np.array([self.step], dtype=np.int64),
            "clock": self.clock.copy(),
        }

    def restore(self, memory: dict[str, NDArray[Any]]) -> None:
        """Take back what `memory_of_run` gave."""
        if memory["q"].shape != self.q.shape or memory["y"].shape != self.y.shape:
            raise StateError(
                f"The checkpoint holds {memory['q'].size} coordinates and {memory['y'].size} "
                f"velocities and integrals, this run has {self.q.size} and {self.y.size}",
                "it is of another model or other controllers.",
            )
        self.q[:] = memory["q"]
        self.y[:] = memory["y"]
        self.step = int(memory["step"][0])
        self.clock[:] = memory["clock"]
        if self._events is not None and "last_row" in memory:
            self._events.last = memory["last_row"]
        if self.collisions is not None:
            if "collisions" not in memory:
                raise StateError(
                    "The checkpoint is of a run without a thermostat",
                    "leave the thermostat out, or start a new run.",
                )
            self.collisions.restore(memory["collisions"])
