"""`skodyn sweep run | resume | merge | plan | status | failures | show`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from skodyn.cli.runs import EXIT_FAILED, EXIT_OF_SIGNAL
from skodyn.cli.settings import add_set, changed_by, refuse_both
from skodyn.errors import LogError

__all__ = ["add_commands", "check_sweep"]

SHOWN_FAILURES = 20
RUNS = (
    "This runs the Python files that metrics name (of = FILE.py:FUNCTION), wherever they are: use "
    "it on sweeps that you trust."
)
LOOKS = "This runs no code that the file names."


def add_commands(commands: Any) -> None:
    """Declare sweep and its actions."""
    words = "run a scenario for many values of its parameters (docs/sweeps.md)"
    sweep = commands.add_parser("sweep", help=words, description=words, allow_abbrev=False)
    actions = sweep.add_subparsers(title="actions", metavar="ACTION", required=True)

    run = _action(actions, "run", _run, "run all points of a scenario with a [sweep] table", RUNS)
    run.add_argument("scenario", metavar="SCENARIO", help="a scenario file with a table [sweep]")
    run.add_argument("-o", "--output", metavar="OUT.h5", help="default: the scenario's name, here")
    run.add_argument("--overwrite", action="store_true", help="replace an existing index")
    run.add_argument(
        "--resume", action="store_true", help="go on with an index that is there, or say it is done"
    )
    run.add_argument(
        "--part", metavar="I/N", help="one of N parts, for array jobs; writes OUT.I-of-N.h5"
    )
    add_set(run)
    resume = _action(actions, "resume", _resume, "run what is still pending in an index", RUNS)
    resume.add_argument("--force", action="store_true", help="go on although the code has changed")
    for parser in (run, resume):
        parser.add_argument(
            "--engine", metavar="NAME", help="in-process, threads (default), processes or dask",
        )  # fmt: skip
        parser.add_argument("--workers", type=int, metavar="N", help="default: one for each core")
        parser.add_argument(
            "--scheduler", metavar="ADDRESS", help="of a dask cluster, tcp://HOST:PORT"
        )
        parser.add_argument("--quiet", action="store_true", help="no progress on stderr")
    for name, command, help_text in (
        ("status", _status, "how many runs are finished, failed, pending"),
        ("failures", _failures, "the runs that did not finish, and why"),
        ("show", _show, "one run: its parameters, outcome, and scenario"),
    ):
        parser = _action(actions, name, command, help_text)
        if name != "show":
            parser.add_argument("--json", action="store_true", help="print data")
    for name in ("resume", "status", "failures", "show"):
        actions.choices[name].add_argument("index", metavar="OUT.h5", help="the index of a sweep")
    actions.choices["failures"].add_argument(
        "--all", action="store_true", help="not only the first"
    )
    actions.choices["show"].add_argument("number", type=int, metavar="RUN", help="counted from 0")
    actions.choices["show"].add_argument(
        "--scenario", action="store_true", help="print its scenario alone, for `skodyn run`"
    )
    plan = _action(actions, "plan", _plan, "say what would be run, and about how long it takes")
    plan.add_argument("scenario", metavar="SCENARIO", help="a scenario file with a table [sweep]")

    merge = _action(actions, "merge", _merge, "put the indices of all parts together into one")
    merge.add_argument("-o", "--output", metavar="OUT.h5", required=True, help="the whole sweep")
    merge.add_argument("parts", nargs="+", metavar="PART.h5", help="what --part has written")
    merge.add_argument("--overwrite", action="store_true", help="replace an existing index")


def _action(actions: Any, name: str, command: Any, words: str, more: str = LOOKS) -> Any:
    parser = actions.add_parser(
        name, help=words, description=words, epilog=more, allow_abbrev=False
    )
    parser.set_defaults(command=command)
    return parser


# ---- running ------------------------------------------------------------------------------------


def _run(options: argparse.Namespace) -> int:
    from skodyn.sweeps.parts import part_path, read_part
    from skodyn.sweeps.plan import read_plan
    from skodyn.sweeps.running import run_or_resume, run_plan
    from skodyn.sweeps.sweep_progress import shown_sweep

    target = Path(options.output or f"{Path(options.scenario).stem}.h5")
    part = read_part(options.part) if options.part else None
    target = part_path(target, part) if part else target
    refuse_both(options)
    plan = read_plan(options.scenario, changed_by(options))
    with shown_sweep(target.name, not options.quiet) as progress:
        given = {"part": part, "progress": progress, **_engine(options)}
        if options.resume:
            tally = run_or_resume(plan, target, **given)
        else:
            tally = run_plan(plan, target, overwrite=options.overwrite, **given)
    return _report(target, tally)


def _merge(options: argparse.Namespace) -> None:
    from skodyn.sweeps import open_sweep
    from skodyn.sweeps.parts import merge

    merge(Path(options.output), [Path(one) for one in options.parts], overwrite=options.overwrite)
    print(_summary(open_sweep(options.output)))


def _resume(options: argparse.Namespace) -> int:
    from skodyn.sweeps.running import resume_sweep
    from skodyn.sweeps.sweep_progress import shown_sweep

    target = Path(options.index)
    with shown_sweep(target.name, not options.quiet) as progress:
        tally = resume_sweep(target, force=options.force, progress=progress, **_engine(options))
    return _report(target, tally)


def _engine(options: argparse.Namespace) -> dict[str, Any]:
    from skodyn.sweeps.engines import DEFAULT_ENGINE

    return {
        "engine": options.engine or DEFAULT_ENGINE,
        "workers": options.workers,
        "scheduler": options.scheduler,
    }


def _report(path: Path, tally: Any) -> int:
    """The summary; the exit code says whether all runs finished."""
    from skodyn.sweeps import open_sweep

    sweep = open_sweep(path)
    print(_summary(sweep))
    new = tally.done - tally.done_before
    print(f"session  {new} runs in {tally.seconds:.1f} s, {tally.rate:,.0f} runs/s")
    if tally.signal:
        left = tally.total - tally.done
        print(f"interrupted with {left} runs to do; what was done is written", file=sys.stderr)
        print(f"go on with: skodyn sweep resume {path}", file=sys.stderr)
        return int(EXIT_OF_SIGNAL + tally.signal)
    if tally.failed:
        print(f"{tally.failed} runs did not finish: skodyn sweep failures {path}", file=sys.stderr)
        return EXIT_FAILED
    return 0


def _summary(sweep: Any) -> str:
    """Counts, and the spread of each metric over the runs that finished."""
    counts = ", ".join(f"{n} {word}" for word, n in sweep.counts().items() if n)
    lines = [f"{sweep.path}: {len(sweep)} runs, {counts}"]
    metrics, finished = sweep.metrics, sweep.status == 1
    if finished.any() and sweep.metric_names:
        width = max(map(len, ("metric", *sweep.metric_names)))
        lines.append(
            f"{'metric':<{width}} {'lowest':>12} {'median':>12} {'highest':>12} {'NaN':>7}"
        )
        for name, column in zip(sweep.metric_names, metrics[finished].T, strict=True):
            known = column[~np.isnan(column)]
            low, middle, high = np.quantile(known, (0, 0.5, 1)) if len(known) else (np.nan,) * 3
            missing = len(column) - len(known)
            lines.append(f"{name:<{width}} {low:12.5g} {middle:12.5g} {high:12.5g} {missing:7d}")
    return "\n".join(lines)


# ---- looking ------------------------------------------------------------------------------------


def _status(options: argparse.Namespace) -> None:
    from skodyn.sweeps import open_sweep

    sweep = open_sweep(options.index)
    if options.json:
        print(json.dumps({"runs": len(sweep), **sweep.counts()}))
        return
    print(_summary(sweep))


def _failures(options: argparse.Namespace) -> None:
    from skodyn.sweeps import open_sweep

    sweep = open_sweep(options.index)
    found = sweep.failures(None if options.all or options.json else SHOWN_FAILURES)
    if options.json:
        rows = [
            {"run": run, "status": status, "reason": reason, "parameters": sweep.values(run)}
            for run, status, reason in found
        ]
        print(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    for run, status, reason in found:
        values = ", ".join(f"{name} = {value}" for name, value in sweep.values(run).items())
        print(f"run {run} {status}: {reason} ({values})")
    total = len(sweep) - sweep.counts()["finished"] - sweep.counts()["pending"]
    if not total:
        print("no run has failed")
    elif len(found) < total:
        print(f"… {total - len(found)} more: --all")


def _show(options: argparse.Namespace) -> None:
    from skodyn.sweeps import open_sweep
    from skodyn.sweeps.results import STATUS_WORDS

    sweep, run = open_sweep(options.index), options.number
    if not 0 <= run < len(sweep):
        raise LogError(f"{options.index} has runs 0 to {len(sweep) - 1}, there is no run {run}.")
    if options.scenario:
        print(sweep.scenario_text(run), end="")
        return
    print(f"run {run} {STATUS_WORDS[int(sweep.status[run])]} {sweep.reason(run)}".rstrip())
    print(f"id       {sweep.ids[run].decode()}")
    print(f"steps    {sweep.steps[run]}")
    for name, value in sweep.values(run).items():
        print(f"{name} = {value}")
    for name, value in zip(sweep.metric_names, sweep.metrics[run], strict=True):
        print(f"{name}: {value:.9g}")
    if (log := sweep.log(run)) is not None:
        print(f"log      {log}")


def _plan(options: argparse.Namespace) -> None:
    print(plan_text(options.scenario))


def check_sweep(path: str, change: Any = None) -> str:
    """One line on a valid sweep; a faulty one raises."""
    from skodyn.sweeps.plan import read_plan

    return _valid(path, read_plan(path, change))


def _valid(path: str, plan: Any) -> str:
    shape = " × ".join(f"{count} {name}" for name, _, count in plan.dimensions)
    return f"{path}: valid, {plan.count} runs = {shape}"


def plan_text(path: str) -> str:
    """What would be run: points, dimensions, sets that go side by side, time on one core."""
    from skodyn.sweeps.estimate import estimate
    from skodyn.sweeps.plan import read_plan

    began = time.perf_counter()
    plan = read_plan(path)
    planned = time.perf_counter() - began
    found = estimate(plan)
    without = f", without {', '.join(found.left_out)}" if found.left_out else ""
    fast = len(plan.study.ranges)
    together = f"{found.lanes} lanes" if found.lanes > 1 else "one run at a time"
    return "\n".join(
        (
            _valid(path, plan),
            f"planned  in {planned:.2f} s",
            f"side by side  {plan.scan.variants} "
            f"set{'s' * (plan.scan.variants > 1)}, {together}; {fast} of "
            f"{len(plan.study.names)} parameters are set without reading the scenario anew",
            f"metrics  {', '.join(plan.study.metrics) or 'none'}; logs {plan.logs}",
            f"time     about {found.seconds_per_run:.3g} s for a run, "
            f"{found.seconds_per_run * plan.count:.3g} s on one core for all{without}",
            f"index    {found.bytes / 1e6:.3g} MB",
        )
    )
