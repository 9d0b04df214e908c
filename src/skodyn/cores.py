"""How many cores this process may keep busy: the one answer that threads and workers go by."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

from skodyn.errors import SkodynError

__all__ = ["core_count"]

SLURM = "SLURM_CPUS_PER_TASK"
"""What a task of a Slurm job has been given."""
_CGROUPS = Path("/proc/self/cgroup")
_MOUNTED = Path("/sys/fs/cgroup")


def core_count() -> int:
    """The cores the process may run on, or fewer where a container or Slurm grants fewer."""
    return int(min(_allowed(), _granted()))


def _allowed() -> int:
    """Cores that the scheduler puts this process on: `taskset`, cpusets; else all there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # macOS, Windows


@cache
def _granted() -> float:
    """The least of what cgroups and Slurm grant: looked up once in a process."""
    return min(_slurm_share(), *_quotas(), math.inf)


def _slurm_share() -> float:
    said = os.environ.get(SLURM, "")
    if not said:
        return math.inf
    if not said.isdecimal() or int(said) < 1:
        raise SkodynError(f"{SLURM} is {said!r}; give a whole number from 1, or unset it.")
    return int(said)


def _quotas() -> Iterator[float]:
    """Processor time over wall time that each cgroup around this process grants, rounded up."""
    for folder in _groups():
        both = _words(folder / "cpu.max")  # cgroups v2: "150000 100000", or "max 100000"
        if not both:
            both = [*_words(folder / "cpu.cfs_quota_us"), *_words(folder / "cpu.cfs_period_us")]
        if len(both) == 2 and all(word.isdecimal() for word in both) and int(both[1]):
            yield max(1, math.ceil(int(both[0]) / int(both[1])))  # v1 says -1 for no quota


def _groups() -> Iterator[Path]:
    """The folder of every cgroup that limits this process: its own and those above it.

    Inside a container the path may be the host's, and the container's own group the root.
    """
    for line in _lines(_CGROUPS):
        number, controllers, path = line.split(":", 2)
        if number == "0":  # v2
            roots = [_MOUNTED, _MOUNTED / "unified"]
        elif "cpu" in controllers.split(","):
            roots = [_MOUNTED / controllers, _MOUNTED / "cpu"]
        else:
            continue
        for root in roots:
            group = PurePosixPath(path)
            yield from (root / above.relative_to("/") for above in (group, *group.parents))


def _words(path: Path) -> list[str]:
    return " ".join(_lines(path)).split()


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
