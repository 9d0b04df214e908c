"""Parts of a sweep for the jobs of an array: each in an index of its own, put together in the end.

Part i of n has the runs from ⌊(i−1)·count/n⌋ on, as the whole sweep would make them: the plan is
that of the whole, so that its runs have the same bits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from skodyn.errors import LogError, ScenarioError
from skodyn.sweeps.batch import PENDING
from skodyn.sweeps.designs import Design, Indices, Labels
from skodyn.sweeps.index import COLUMNS, Index, IndexWriter, create_index, open_index
from skodyn.sweeps.plan import SweepPlan
from skodyn.sweeps.stored_study import record_of, stored_model, stored_study
from skodyn.typing import Floats

__all__ = ["Part", "merge", "part_of", "part_path", "part_record", "read_part"]

_CHUNK = 65536
_SAME = ("normal_form", "labels", "ranges", "metrics", "settings", "code")


class Part(NamedTuple):
    """As in 3/100."""

    number: int
    of: int

    def rows(self, total: int) -> tuple[int, int]:
        return (self.number - 1) * total // self.of, self.number * total // self.of


def read_part(text: str) -> Part:
    """The part that the command line names."""
    found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
    if found and 1 <= int(found[1]) <= int(found[2]):
        return Part(int(found[1]), int(found[2]))
    raise ScenarioError(f"--part is {text!r}", "write for example 3/100, counted from 1.")


def part_path(path: Path, part: Part) -> Path:
    """NAME.3-of-100.h5."""
    return path.with_name(f"{path.stem}.{part.number}-of-{part.of}{path.suffix}")


@dataclass(frozen=True, eq=False)
class _Stretch:
    """Some points of a design, one after the other."""

    whole: Design
    start: int
    stop: int

    @property
    def names(self) -> tuple[str, ...]:
        return self.whole.names

    @property
    def labels(self) -> Labels:
        return self.whole.labels

    @property
    def count(self) -> int:
        return self.stop - self.start

    def points(self, indices: Indices) -> Floats:
        return self.whole.points(np.asarray(indices) + self.start)


def part_of(plan: SweepPlan, part: Part) -> SweepPlan:
    """The plan of a part."""
    if plan.logs != "none":
        raise ScenarioError(
            f"sweep.logs is {plan.logs!r}, and parts keep no logs of single runs",
            "take it away, and run what is of interest by `skodyn sweep show RUN --scenario`.",
        )
    start, stop = part.rows(plan.count)
    if start == stop:
        raise ScenarioError(
            f"Part {part.number} of {part.of} has no run, as the sweep has {plan.count}",
            "make fewer parts.",
        )
    return replace(plan, design=_Stretch(plan.design, start, stop))


def part_record(plan: SweepPlan, part: Part) -> dict[str, Any]:
    """What the index of a part keeps of the whole sweep, so that parts can be put together."""
    inside = part_of(plan, part)
    return {
        **record_of(plan),
        "dimensions": [("point", plan.study.names, inside.count)],
        "part": {"part": part, "runs": plan.count, "dimensions": plan.dimensions},
    }


# ---- putting together ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Merged:
    """As much of a plan as an index is made of."""

    study: Any
    design: Any
    model: Any
    count: int


def merge(target: Path, parts: Sequence[Path], *, overwrite: bool = False) -> int:
    """One index from those of all parts, the same as that of the whole sweep; how many runs."""
    files = [open_index(path) for path in parts]
    try:
        found = _sorted(parts, [Index(file) for file in files])
        first = found[0][1]
        about = json.loads(first.text("part"))
        texts = {name: first.text(name) for name in first.file["study"] if name != "part"}
        record = {**texts, "dimensions": json.dumps(about["dimensions"])}
        points = [index.file["points"] for _, index in found]
        plan: Any = _Merged(
            stored_study(first), _Points(points), stored_model(first), int(about["runs"])
        )
        create_index(target, plan, record, overwrite=overwrite)
        with IndexWriter(target) as writer:
            for part, index in found:
                _copy(writer, index, part.rows(plan.count)[0])
        return int(plan.count)
    finally:
        for file in files:
            file.close()


class _Points:
    def __init__(self, tables: list[Any]) -> None:
        self.rows = np.concatenate([table[:] for table in tables])

    def points(self, indices: Indices) -> Floats:
        return np.asarray(self.rows[indices])


def _sorted(paths: Sequence[Path], indices: list[Index]) -> list[tuple[Part, Index]]:
    """The parts in their order; a LogError unless they are all of one sweep, done, each once."""
    faults, found = [], {}
    for path, index in zip(paths, indices, strict=True):
        if "part" not in index.file["study"]:
            raise LogError(f"{path} is not part of a sweep; give what `sweep run --part` wrote.")
        part = Part(*json.loads(index.text("part"))["part"])
        other = [name for name in _SAME if index.text(name) != indices[0].text(name)]
        if other:
            faults.append(f"{path} is of another sweep than {paths[0]} (its {other[0]} differ)")
        pending = int(np.count_nonzero(index.status() == PENDING))
        if pending:
            faults.append(f"{path} has {pending} runs to do: skodyn sweep resume {path}")
        if part.number in found:
            faults.append(f"part {part.number} is there twice")
        found[part.number] = (part, index)
    count = max(part.of for part, _ in found.values())
    missing = [k for k in range(1, count + 1) if k not in found]
    if missing:
        listed = ", ".join(map(str, missing[:12])) + (" …" if len(missing) > 12 else "")
        faults.append(f"part{'s' * (len(missing) > 1)} {listed} of {count} missing")
    if faults:
        raise LogError("Parts cannot be put together: " + "; ".join(faults) + ".")
    return [found[k] for k in sorted(found)]


def _copy(writer: IndexWriter, index: Index, start: int) -> None:
    """The rows of a part, and the texts they speak of; what vouches for them comes last."""
    file, total = writer.file, index.count
    for low in range(0, total, _CHUNK):
        high = min(low + _CHUNK, total)
        for name in (name for name in COLUMNS if name not in ("status", "reason")):
            if file[name].size:
                file[name][start + low : start + high] = index.file[name][low:high]
        reasons = [writer.text_number(index.reason(k)) for k in index.file["reason"][low:high]]
        file["reason"][start + low : start + high] = np.array(reasons, dtype="<i4")
    file.flush()
    file["status"][start : start + total] = index.status()
    file.flush()
