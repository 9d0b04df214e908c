"""Where batches run: in this process, on threads, on processes, or on a dask cluster.

Each engine is a `concurrent.futures.Executor` and what must be known to use it well. The work is
the same function everywhere, so results are the same bits.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from contextlib import contextmanager
from multiprocessing.connection import wait
from typing import Any

from skodyn.cores import core_count
from skodyn.errors import SkodynError
from skodyn.jit import cache_folder
from skodyn.simulation.methods import method_named
from skodyn.sweeps.row_metrics import reduce_rows
from skodyn.typing import EngineName
from skodyn.wording import argument

__all__ = ["DEFAULT_ENGINE", "ENGINES", "SweepEngine", "check_engine", "open_engine", "warm"]

ENGINES: tuple[EngineName, ...] = ("in-process", "threads", "processes", "dask")
DEFAULT_ENGINE: EngineName = "threads"  # the least overhead, and scripts need no guard
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class SweepEngine:
    """Runs tasks in this process, one after the other."""

    name = "in-process"
    shares_process = True  # tasks can be told to stop, and a crash would take the driver along

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers
        self.executor: Executor = _Serial()

    def died(self, error: BaseException) -> bool:
        """Whether this error says that a worker died, not that a task raised."""
        return isinstance(error, BrokenExecutor)

    all_break = True  # one dead worker breaks every task that was given

    def restart(self) -> None:
        """New workers after some have died."""

    def close(self, *, at_once: bool = False) -> None:
        self.executor.shutdown(wait=not at_once, cancel_futures=True)


class _Serial(Executor):
    """An executor that works while it is being asked."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class _Threads(SweepEngine):
    name = "threads"

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.executor = ThreadPoolExecutor(workers, thread_name_prefix="skodyn-sweep")


class _Processes(SweepEngine):
    """Processes started anew, not forked: threads and HDF5 handles do not survive a fork."""

    name = "processes"
    shares_process = False

    def __init__(self, workers: int, start: str = "spawn") -> None:
        self.workers, self.start = workers, start
        self.executor = self._pool()

    def _pool(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context(self.start)
        return ProcessPoolExecutor(self.workers, context, initializer=_begin_process)

    def restart(self) -> None:
        self.executor.shutdown(wait=False, cancel_futures=True)
        self.executor = self._pool()

    def close(self, *, at_once: bool = False) -> None:
        if at_once:
            processes = getattr(self.executor, "_processes", None) or {}
            for process in list(processes.values()):
                process.terminate()
        super().close(at_once=at_once)


def _begin_process() -> None:
    """Ctrl-C is the driver's business; without a driver there is nothing to do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:

        def watch() -> None:
            wait([parent.sentinel])
            os._exit(1)

        threading.Thread(target=watch, daemon=True, name="skodyn-watch").start()


class _Dask(SweepEngine):
    """A dask cluster: one that is started here, or one that exists."""

    name = "dask"
    shares_process = False
    all_break = False  # dask gives a lost task to another worker by itself

    def __init__(self, workers: int, scheduler: Any, warm_up: Callable[[], None]) -> None:
        distributed = _import_distributed()
        self.cluster = None
        self.is_theirs = isinstance(scheduler, distributed.Client)
        with _one_thread_each(), _with_little_upkeep():
            if scheduler is None:
                self.cluster = distributed.LocalCluster(
                    n_workers=workers, threads_per_worker=1, processes=True, host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",
                )  # fmt: skip
            self.client = scheduler if self.is_theirs else _client(self.cluster or scheduler)
        threads = self.client.nthreads()
        if not threads:
            self.client.wait_for_workers(1, timeout=60)
            threads = self.client.nthreads()
        self.workers = max(1, sum(threads.values()))
        self.client.run(warm_up)
        self.executor = self.client.get_executor()

    def died(self, error: BaseException) -> bool:
        killed = _import_distributed().scheduler.KilledWorker
        return isinstance(error, killed | BrokenExecutor)

    def close(self, *, at_once: bool = False) -> None:
        self.executor.shutdown(wait=False)
        if not self.is_theirs:
            self.client.close()
        if self.cluster is not None:
            self.cluster.close()


_LITTLE_UPKEEP = {
    "distributed.worker.profile.enabled": False,  # a look at the stack each 10 ms
    "distributed.admin.tick.interval": "1s",  # 20 ms
    "distributed.admin.system-monitor.interval": "5s",  # 0.5 s
    "distributed.worker.memory.monitor-interval": "500ms",  # 0.1 s
}
"""How often dask looks after a cluster that is started here.

By its defaults (behind the values) two workers and their scheduler take an eighth of a core for
that, which the runs then miss; so they take a fortieth.
"""


@contextmanager
def _with_little_upkeep() -> Iterator[None]:
    """Clusters that are started inside look after themselves less often."""
    import dask.config

    with dask.config.set(_LITTLE_UPKEEP):
        yield


def _client(where: Any) -> Any:
    distributed = _import_distributed()
    if not isinstance(where, str | distributed.deploy.Cluster):
        raise SkodynError(
            f"scheduler is {where!r}; give the address of a dask scheduler, a Client or a Cluster."
        )
    try:
        return distributed.Client(where, timeout="20s")
    except (OSError, TimeoutError, ValueError) as error:
        raise SkodynError(
            f"There is no dask scheduler at {where} ({error}); start one with `dask scheduler`, "
            "or name none and one is started here."
        ) from None


def _import_distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise SkodynError(
            "The dask engine needs dask.distributed; install it with pip install 'skodyn[sweep]'."
        ) from None
    return distributed


def check_engine(name: str, workers: int | None, scheduler: Any) -> None:
    """Before anything is written: is there such an engine?"""
    if name not in ENGINES:
        what = f"{argument('engine')} is {name!r}, which is unknown"
        raise SkodynError(f"{what}; give one of {', '.join(ENGINES)}.")
    if workers is not None and workers < 1:
        raise SkodynError(f"{argument('workers')} is {workers}; give a whole number from 1.")
    if scheduler is not None and name != "dask":
        what = f"{argument('scheduler')} is for the dask engine, not for {name}"
        raise SkodynError(f"{what}; choose the engine dask.")
    if name == "dask":
        _import_distributed()


def open_engine(
    name: str, workers: int | None, scheduler: Any, warm_up: Callable[[], None]
) -> SweepEngine:
    """The engine of this name; kernels are compiled once, here, before others look for them."""
    check_engine(name, workers, scheduler)
    count = workers or core_count()
    warm_up()
    if name == "in-process":
        return SweepEngine()
    if name == "threads":
        return _Threads(count)
    if name == "processes":
        with _one_thread_each():
            return _Processes(count)
    return _Dask(count, scheduler, warm_up)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """What is started inside uses one thread for linear algebra; the environment is inherited."""
    before = {key: os.environ.get(key) for key in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value


def warm(methods: tuple[str, ...], alone: bool = False) -> None:
    """Compile the kernels of these methods, or load them; one process at a time on a machine.

    alone: fixed steps too are taken by one run at a time, as a thermostat has it.
    """
    with _locked():
        for method in methods:
            known = method_named(method)
            in_lanes = known.lane_loop is not None and not alone
            _ = known.lane_loop.ready if in_lanes else reduce_rows.ready
            _ = known.loop.ready


@contextmanager
def _locked() -> Iterator[None]:
    """numba's cache has no lock of its own: two that compile at once may cross their files."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with open(cache_folder() / "warm.lock", "w") as file:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            # closing is not enough: a child that was forked meanwhile has the file open, too
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_UN)
