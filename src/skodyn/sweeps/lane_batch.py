"""Runs side by side: from packed rows to final states and metrics, each as if it ran alone.

Runs are taken a register full at a time; the last group is filled up with copies of its first run,
which are thrown away. When a step fails, each lane takes it by itself at width 1, where it has the
same bits: those that fail there are recorded and their lane goes on as a copy of a living
neighbour.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.kernels.energy import ROW as STATE_SUMS
from skodyn.kernels.flexible.flexible_table import is_bent
from skodyn.kernels.status import OK
from skodyn.lanes import LANES, WIDTH_1, WIDTH_N_OWN_PARAMETERS, PartAtWidths, Width
from skodyn.lanes.cache_lines import line_zeros
from skodyn.model.layout import LOOPS
from skodyn.simulation import sampling
from skodyn.simulation.bent_looks import LOOK_AT_BENT
from skodyn.simulation.contact.contact_looks import LOOK_AT_CONTACTS
from skodyn.simulation.contact.implicit_tables import contacts_at
from skodyn.simulation.control.control_calls import sample_start
from skodyn.simulation.control.control_tables import ControlTables
from skodyn.simulation.fixed_step import LogRows, Schedule, StateArrays
from skodyn.simulation.force_tables import ForceTables
from skodyn.simulation.forces import MOTIONS
from skodyn.simulation.frame_looks import LOOK_AT_FRAMES, NO_FRAMES, FrameOrigins, codes_of
from skodyn.simulation.lane_loop import GROUP, STEP, Sweep
from skodyn.simulation.methods import method_named
from skodyn.simulation.prepare import constants_of_runs, lane_arrays, tree_sizes
from skodyn.simulation.sampling import MetricArrays
from skodyn.simulation.settings import IntegratorSettings
from skodyn.simulation.structures import SystemArrays
from skodyn.simulation.systems.driven_system import follow_start
from skodyn.simulation.systems.looped_system import OneState, close_start
from skodyn.sweeps.metrics import PackedMetrics
from skodyn.typing import Floats

__all__ = ["LaneBatch", "Outcomes", "PackedRuns"]

CHUNK_SECONDS = 0.2


@dataclass(frozen=True, eq=False)
class PackedRuns:
    """Runs that share a tree, the structure of their forces, the method, dt and duration."""

    tree: NDArray[np.int64]
    codes: NDArray[np.int64]
    parameters: Floats  # (runs, …)
    numbers: Floats  # (runs, …)
    q: Floats  # (runs, nq)
    v: Floats  # (runs, nv)
    n_integrals: int
    n_bodies: int
    settings: IntegratorSettings
    steps: int
    sample_every: int
    parts: tuple[PartAtWidths, ...] = ()  # that elements bring along
    control: ControlTables = field(default_factory=ControlTables)
    frames: FrameOrigins = NO_FRAMES

    def __len__(self) -> int:
        return len(self.q)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """How runs ended, one row each. `complete`: those that were taken to their end or failure."""

    complete: NDArray[np.bool_]
    status: NDArray[np.int64]  # of the kernels: 0, or what went wrong where
    steps: NDArray[np.int64]
    q: Floats
    v: Floats
    metrics: Floats


class LaneBatch:
    """Runs in lanes; `run` takes them to their end."""

    def __init__(self, runs: PackedRuns, metrics: PackedMetrics) -> None:
        self.runs, self.metrics = runs, metrics
        count = len(runs)
        self.groups = -(-count // LANES)
        self.nq, self.nv = runs.q.shape[1], runs.v.shape[1]
        self.ny = self.nv + runs.n_integrals
        # the last group is filled up with copies of its first run
        self.rows = np.arange(self.groups * LANES)
        self.rows[count:] = count - 1 - (count - 1) % LANES
        constants = constants_of_runs(runs.tree, runs.parameters, runs.numbers, runs.settings)
        self.p = self._interleaved(constants)
        self.numbers = self._interleaved(self._all_numbers())
        self.q = line_zeros(len(self.rows) * self.nq)
        self.q[:] = runs.q[self.rows].reshape(-1)
        self.y = line_zeros(len(self.rows) * self.ny)
        self.y.reshape(-1, self.ny)[:, : self.nv] = runs.v[self.rows]
        self.kept = line_zeros(len(self.rows) * metrics.count * sampling.ACCUMULATORS)
        self.place = np.zeros(3, dtype=np.int64)
        self.status = np.zeros(count, dtype=np.int64)
        self.steps = np.zeros(count, dtype=np.int64)
        self.out_q, self.out_v = np.zeros((count, self.nq)), np.zeros((count, self.nv))
        self.out_kept = np.zeros((count, metrics.count * sampling.ACCUMULATORS))
        self.alive = np.arange(len(self.rows)) < count
        self._allocate()
        if runs.tree[LOOPS]:
            self._prepare_starts(close_start)
        if runs.codes[MOTIONS]:
            self._prepare_starts(follow_start)
        if runs.control.sampled:
            self._prepare_starts(sample_start)
        self.kernel = method_named(runs.settings.method).lane_loop.ready

    def _all_numbers(self) -> Floats:
        """Those of forces, and behind them the origins of frames that metrics look at."""
        if not self.metrics.frames:
            return self.runs.numbers
        return np.hstack((self.runs.numbers, self.runs.frames.numbers))

    def _interleaved(self, table: Floats) -> Floats:
        """(groups, constants, lanes), flat: the values of the lanes lie next to each other."""
        grouped = table[self.rows].reshape(self.groups, LANES, table.shape[1])
        flat = line_zeros(grouped.size)
        flat.reshape(self.groups, table.shape[1], LANES)[:] = grouped.transpose(0, 2, 1)
        return flat

    def _allocate(self) -> None:
        runs, m = self.runs, self.metrics
        control = runs.control
        sizes = tree_sizes(runs.tree, runs.n_integrals, bool(runs.codes[MOTIONS]), control.size)
        sizes["parameters"] = runs.parameters.shape[1]
        laws = control.laws(None)
        rows = self.rows if laws else self.rows[:0]  # nobody else reads them
        self.plain_p, self.plain_numbers = runs.parameters[rows], runs.numbers[rows]

        def arrays(parameters: Floats, numbers: Floats, width: Width) -> SystemArrays:
            tables = ForceTables(runs.codes, numbers, runs.n_integrals, runs.parts)
            return lane_arrays(runs.tree, parameters, tables, runs.settings, sizes, width, laws)

        self._laws = laws  # live as long as their addresses are used
        self.system = arrays(self.p, self.numbers, WIDTH_N_OWN_PARAMETERS)._replace(
            plain_parameters=self.plain_p.reshape(-1),
            plain_numbers=self.plain_numbers.reshape(-1),
        )
        self.alone = arrays(np.zeros(0), np.zeros(0), WIDTH_1)
        new_q, new_y = line_zeros(LANES * self.nq), line_zeros(LANES * self.ny)
        self.states = StateArrays(self.q, self.y, new_q, new_y)
        touched = int(m.codes[sampling.TOUCH_NUMBERS])
        codes = self._with_looks(m.codes) if touched else m.codes
        values = line_zeros(LANES * (STATE_SUMS + 3 * runs.n_bodies + touched))
        self.looks = MetricArrays(codes, m.levels, m.function.address, values, self.kept)

    def _with_looks(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Codes of metrics that say which part looks at contacts, frames, or flexible bodies: one
        behind all others."""
        parts = self.system.parts
        look, at = self._look()
        found = [*parts, look.address(WIDTH_N_OWN_PARAMETERS)]
        self.system = self.system._replace(parts=np.array(found, dtype=parts.dtype))
        codes = codes.copy()
        codes[sampling.TOUCH_PART], codes[sampling.TOUCH_AT] = len(parts), at
        return codes

    def _look(self) -> tuple[PartAtWidths, int]:
        """The part that looks, and where its codes begin."""
        if is_bent(self.runs.tree):
            return LOOK_AT_BENT, 0
        contacts = contacts_at(self.runs.codes) if self.metrics.contacts else 0
        if not self.metrics.frames:
            return LOOK_AT_CONTACTS, contacts
        bodies, codes = self.runs.frames.bodies, self.system.codes
        more = codes_of(contacts, bodies, self.runs.numbers.shape[1])
        self.system = self.system._replace(codes=np.array([*codes, *more], dtype=codes.dtype))
        return LOOK_AT_FRAMES, len(codes)

    def _prepare_starts(self, kernel: Any) -> None:
        """Close the loops of every start to the last digits, or put driven joints where they begin,
        as a run by itself does."""
        for row in range(len(self.rows)):
            q, y = self.q.reshape(-1, self.nq)[row], self.y.reshape(-1, self.ny)[row]
            kernel.ready(self._system_alone(row), OneState(q, y))

    # ---- running ------------------------------------------------------------------------------

    def run(self, stop: Callable[[], bool] = lambda: False) -> Outcomes:
        """Take every run to its end, or as many as there is time for until `stop` says so."""
        budget = 64
        while self.place[GROUP] < self.groups:
            began = time.perf_counter()
            status = self._advance(budget)
            if status != OK:
                self._take_out_failed()
                continue
            if stop():
                break
            seconds = max(time.perf_counter() - began, 1e-6)
            budget = int(min(max(budget * CHUNK_SECONDS / seconds, 16), 8 * budget, 2**40))
        self._collect()
        complete = np.arange(len(self.runs)) < int(self.place[GROUP]) * LANES
        complete |= self.status != OK
        return Outcomes(
            complete, self.status, self.steps, self.out_q, self.out_v,
            self.metrics.finished(self.out_kept),
        )  # fmt: skip

    def _advance(self, budget: int) -> int:
        runs, s = self.runs, self.runs.settings
        sweep = Sweep(runs.steps, s.dt, s.max_speed, runs.sample_every, self.groups, budget)
        _, status = self.kernel(self.system, self.states, sweep, self.place, self.looks)
        return int(status)

    def _collect(self) -> None:
        """Copy what living lanes hold to the results."""
        rows = np.flatnonzero(self.alive[: len(self.runs)])
        self.steps[rows] = self.runs.steps
        self._write(rows)

    def _write(self, rows: Any) -> None:
        self.out_q[rows] = self.q.reshape(-1, self.nq)[rows]
        self.out_v[rows] = self.y.reshape(-1, self.ny)[rows, : self.nv]
        self.out_kept[rows] = self.kept.reshape(len(self.rows), -1)[rows]

    # ---- a lane that fails --------------------------------------------------------------------

    def _take_out_failed(self) -> None:
        """Find the lanes that cannot take the next step, record them, and fill their places."""
        first = int(self.place[GROUP]) * LANES
        lanes = [row for row in range(first, first + LANES) if self.alive[row]]
        failed = {row: status for row in lanes if (status := self._alone(row)) != OK}
        if not failed:  # only a lane that was filled up can have failed: a copy of a living one
            raise AssertionError("a group of lanes failed whose runs pass one by one")
        for row, status in failed.items():
            self.status[row], self.steps[row] = status, self.place[STEP]
            self._write(row)
            self.alive[row] = False
        living = [row for row in lanes if self.alive[row]]
        if not living:
            self.place[:] = self.place[GROUP] + 1, 0, 0
            return
        for row in range(first, first + LANES):
            if not self.alive[row]:
                self._become(row, living[0])

    def _system_alone(self, row: int) -> SystemArrays:
        """The system of one run, at width 1."""
        group, lane = divmod(row, LANES)
        p = np.ascontiguousarray(self.p.reshape(self.groups, -1, LANES)[group, :, lane])
        numbers = np.ascontiguousarray(self.numbers.reshape(self.groups, -1, LANES)[group, :, lane])
        own = {}
        if len(self.plain_p):
            own = {"plain_parameters": self.plain_p[row], "plain_numbers": numbers}
        return self.alone._replace(parameters=p, numbers=numbers, **own)

    def _alone(self, row: int) -> int:
        """The status of the next step of one run at width 1."""
        s = self.runs.settings
        system = self._system_alone(row)
        q, y = self.q.reshape(-1, self.nq)[row].copy(), self.y.reshape(-1, self.ny)[row].copy()
        states = StateArrays(q, y, self.states.new_q, self.states.new_y)
        schedule = Schedule(int(self.place[STEP]), 1, s.dt, s.max_speed, 2**62)
        none = np.zeros(0)
        single = method_named(s.method).loop.ready
        _, _, status = single(system, states, schedule, LogRows(none, none))
        return int(status)

    def _become(self, row: int, other: int) -> None:
        """Make the lane of one run a copy of another in the same group."""
        group, lane = divmod(row, LANES)
        for table in (self.p, self.numbers):
            values = table.reshape(self.groups, -1, LANES)[group]
            values[:, lane] = values[:, other % LANES]
        for plain in (self.plain_p, self.plain_numbers):
            if len(plain):
                plain[row] = plain[other]
        for flat, width in ((self.q, self.nq), (self.y, self.ny)):
            states = flat.reshape(-1, width)
            states[row] = states[other]
