"""The driver: hands out batches in a window, writes what comes back, and survives what does not.

A batch is about a second and a half of work, so that handing it over costs nothing; no more than a
few are out at a time, so that a million runs neither flood a scheduler nor fill memory.

Faults. When a worker dies, its batch is given again. If it dies a second time, the batch is run
with nothing else beside it, and cut in halves until the run that does it is known; that run is
recorded as crashed and the rest goes on.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.lanes import LANES
from skodyn.simulation.signals import StopRequest
from skodyn.sweeps.batch import CRASHED, FINISHED, PENDING, BatchResult, run_batch
from skodyn.sweeps.engines import SweepEngine
from skodyn.sweeps.index import IndexWriter

__all__ = ["Driver", "Progress", "SweepProgress"]

BATCH_SECONDS = 1.5
FIRST_BATCH = 32
GRACE_SECONDS = 3.0


@dataclass
class SweepProgress:
    """How far a sweep is."""

    total: int
    done: int
    failed: int
    done_before: int
    seconds: float = 0.0
    signal: int = 0

    @property
    def rate(self) -> float:
        """Runs per second of this session."""
        return (self.done - self.done_before) / max(self.seconds, 1e-9)

    @property
    def seconds_left(self) -> float:
        return (self.total - self.done) / self.rate if self.done > self.done_before else np.inf


Progress = Callable[[SweepProgress], None]


@dataclass(frozen=True, eq=False)
class Batch:
    runs: NDArray[np.int64]
    deaths: int = 0  # how often a worker died with it


class Driver:
    """One session of a sweep."""

    def __init__(
        self,
        writer: IndexWriter,
        study: bytes,
        engine: SweepEngine,
        logs: dict[str, Any],
        batch_runs: int | None = None,
    ) -> None:
        self.writer, self.study, self.engine, self.logs = writer, study, engine, logs
        self.fixed_size = batch_runs
        self.seconds_per_run = 0.0
        self.cursor = 0
        self.again: deque[Batch] = deque()
        self.out: dict[Future[BatchResult], Batch] = {}
        done = int(np.count_nonzero(writer.state != PENDING))
        failed = done - int(np.count_nonzero(writer.state == FINISHED))
        self.tally = SweepProgress(len(writer.state), done, failed, done)
        self.stop = StopRequest()

    def run(self, progress: Progress | None = None) -> SweepProgress:
        """Run what is pending, to the end or to a signal."""
        began = time.perf_counter()
        with self.stop:
            while not self.stop.received:
                self._hand_out()
                if not self.out:
                    break
                self._take_in(0.5)
                self.tally.seconds = time.perf_counter() - began
                if progress is not None:
                    progress(self.tally)
            if self.stop.received:
                self._wind_up()
        self.tally.seconds = time.perf_counter() - began
        self.tally.signal = self.stop.received
        if progress is not None:
            progress(self.tally)
        return self.tally

    # ---- handing out --------------------------------------------------------------------------

    def _hand_out(self) -> None:
        """Fill the window; a batch under suspicion goes alone."""
        window = 1 if self.engine.name == "in-process" else 2 * self.engine.workers + 1
        while len(self.out) < window and not self.stop.received:
            if self.again:
                if self.again[0].deaths > 1 and self.out:
                    return
                batch = self.again.popleft()
            else:
                batch = self._fresh()
            if not len(batch.runs):
                return
            self._submit(batch)
            if batch.deaths > 1:
                return

    def _fresh(self) -> Batch:
        runs = self.writer.pending(self.cursor, self._size())
        if len(runs):
            self.cursor = int(runs[-1]) + 1
        return Batch(runs)

    def _size(self) -> int:
        """Runs in the next batch: full groups of lanes, fewer towards the end."""
        if self.fixed_size:
            return self.fixed_size
        if not self.seconds_per_run:
            return FIRST_BATCH
        share = (self.tally.total - self.cursor) // (2 * self.engine.workers - 1)
        wanted = min(int(BATCH_SECONDS / self.seconds_per_run), max(share, FIRST_BATCH), 10**6)
        return max(LANES, wanted - wanted % LANES)

    def _submit(self, batch: Batch) -> None:
        points = self.writer.points(batch.runs)
        given = {**self.logs, "stop": self._stopped} if self.engine.shares_process else self.logs
        try:
            future = self.engine.executor.submit(run_batch, self.study, batch.runs, points, **given)
        except Exception as error:
            if not self.engine.died(error):
                raise
            self.out = {**self.out, Future(): batch}
            self._retry_lost(batch)
            return
        self.out[future] = batch

    def _stopped(self) -> bool:
        return bool(self.stop.received)

    # ---- taking in ----------------------------------------------------------------------------

    def _take_in(self, timeout: float) -> None:
        done, _ = wait(self.out, timeout=timeout, return_when=FIRST_COMPLETED)
        for future in done:
            batch = self.out.pop(future, None)
            if batch is None:  # it went down with its neighbours
                continue
            error = future.exception()
            if error is None:
                self._store(future.result(), batch)
            elif self.engine.died(error):
                self.out[future] = batch
                self._retry_lost(batch)
            else:
                self._halve(batch, f"{type(error).__name__}: {error}")

    def _store(self, result: BatchResult, batch: Batch) -> None:
        new = self.writer.commit(result)
        self.tally.done += new
        self.tally.failed += int(np.count_nonzero(result.status != FINISHED))
        if len(result):
            measured = result.seconds / len(result)
            self.seconds_per_run = measured if not self.seconds_per_run else (
                0.5 * (self.seconds_per_run + measured)
            )  # fmt: skip

    # ---- workers that die ---------------------------------------------------------------------

    def _retry_lost(self, batch: Batch) -> None:
        """A worker died: give its batch again, or find the run that kills."""
        if self.engine.all_break:
            lost, self.out = list(self.out.values()), {}
            self.engine.restart()
        else:
            lost = [batch]
            self.out = {f: b for f, b in self.out.items() if b is not batch}
        alone = len(lost) == 1
        for one in reversed(lost):
            if alone and one.deaths > 1:
                self._halve(one, "it ended its worker process")
            else:
                self.again.appendleft(Batch(one.runs, one.deaths + 1))

    def _halve(self, batch: Batch, reason: str) -> None:
        """Halve a batch that fails as a whole; record the run if it is the only one."""
        if len(batch.runs) > 1:
            middle = len(batch.runs) // 2
            for part in (batch.runs[middle:], batch.runs[:middle]):
                self.again.appendleft(Batch(part, 2))
            return
        self.tally.done += self.writer.commit(self._crashed(batch.runs, reason))
        self.tally.failed += 1

    def _crashed(self, runs: NDArray[np.int64], reason: str) -> BatchResult:
        n = len(runs)
        q, v, metrics = (
            np.full((n, self.writer.file[name].shape[1]), np.nan) for name in ("q", "v", "metrics")
        )
        return BatchResult(
            runs, np.full(n, CRASHED, dtype=np.uint8), np.zeros(n, dtype=np.int64),
            np.zeros(n, dtype=np.int64), np.zeros(n, dtype="S16"),
            q, v, metrics, dict.fromkeys(runs.tolist(), reason),
        )  # fmt: skip

    # ---- the end before the end ---------------------------------------------------------------

    def _wind_up(self) -> None:
        """After a signal: write what is done or nearly so, let go of the rest."""
        for future in list(self.out):
            if future.cancel():
                del self.out[future]
        until = time.monotonic() + GRACE_SECONDS
        while self.out and time.monotonic() < until:
            self._take_in(0.2)
            if self.again:
                break
