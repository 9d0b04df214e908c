"""`skodyn run`, `resume`, and what `info` and `check` say of logs and scenarios."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skodyn import jit
from skodyn.cli.settings import add_set, changed_by, refuse_both
from skodyn.errors import SkodynError
from skodyn.model.contact.contact_pairs import find_pairs
from skodyn.simulation.run_progress import shown_run

__all__ = ["add_commands", "check_scenario", "log_info"]

EXIT_FAILED = 1
EXIT_OF_SIGNAL = 128


def add_commands(commands: Any) -> None:
    """Declare run and resume."""
    words = "simulate a scenario and write an HDF5 log"
    run = commands.add_parser("run", help=words, description=words, allow_abbrev=False)
    run.add_argument("scenario", metavar="SCENARIO", help="a scenario file, see docs/scenarios.md")
    run.add_argument("-o", "--output", metavar="OUT.h5", help="default: the scenario's name, here")
    run.add_argument("--overwrite", action="store_true", help="replace an existing log")
    run.add_argument(
        "--resume", action="store_true", help="start, go on with a log that is there, or say done"
    )
    run.add_argument("--view", action="store_true", help="watch it in the browser as it goes")
    run.add_argument("--port", metavar="N", type=int, default=0, help="of --view: any free one")
    run.add_argument("--no-browser", action="store_true", help="--view opens no browser")
    add_set(run)
    run.set_defaults(command=_run)

    words = "continue an interrupted run from its last checkpoint, to the same bits"
    resume = commands.add_parser("resume", help=words, description=words, allow_abbrev=False)
    resume.add_argument("log", metavar="OUT.h5", help="the log of the run")
    resume.add_argument(
        "--force", action="store_true", help="go on although model, scenario or code have changed"
    )
    resume.add_argument(
        "--until", metavar="T", type=float, help="extend it, even if finished, to this time in s"
    )
    resume.set_defaults(command=_resume)
    for parser in (run, resume):
        parser.add_argument("--json", action="store_true", help="print the summary as data")
        parser.add_argument("--quiet", action="store_true", help="no progress on stderr")


def _run(options: argparse.Namespace) -> int:
    from skodyn.scenario import read_scenario
    from skodyn.scenario.running import begun, run_scenario

    refuse_both(options)
    if options.view and options.resume:
        raise SkodynError("--view shows a run from its start, and --resume goes on with one; give "
                          "the one or the other.")  # fmt: skip
    change, scenario = changed_by(options), read_scenario(options.scenario)
    scenario = change(scenario) if change else scenario
    target = Path(options.output or f"{Path(options.scenario).stem}.h5")
    if options.resume and begun(scenario, target):
        return _go_on(target, options)
    if not options.quiet and scenario.model.flexible:
        from skodyn.simulation.bend_watch import notes_before  # few models have flexible bodies

        given = (scenario.model, scenario.integrator, scenario.q0, scenario.forces)
        for note in notes_before(*given):
            print(f"note: {note}", file=sys.stderr)
    if options.view:
        return _watch(scenario, target, options)
    overwrite = options.overwrite or options.resume  # what is there has nothing to go on from
    with shown_run(scenario.title, _wanted(options)) as progress:
        run = run_scenario(scenario, target, overwrite=overwrite, progress=progress)
    return _report(run, options)


def _watch(scenario: Any, target: Path, options: argparse.Namespace) -> int:
    """Run while pages watch; a run that was touched is logged up to there only."""
    from skodyn.scenario.running import plan_of
    from skodyn.view.live import run_watched

    watched = run_watched(
        plan_of(scenario), target, title=scenario.title, overwrite=options.overwrite,
        port=options.port, browser=not options.no_browser, say=_say,
    )  # fmt: skip
    if watched.touched is None:
        return _report(watched.run, options)
    data: dict[str, Any] = {"status": "touched", "message": watched.message, "log": str(target)}
    data |= {"touched": watched.touched, **watched.run.summary}
    print(_as_json(data) if options.json else _in_words(data))
    print(
        f"touched at t = {watched.touched:.9g} s: the log ends there, what followed was not "
        f"logged; skodyn resume {target} goes on as if it had not been touched",
        file=sys.stderr,
    )
    return 0


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _go_on(target: Path, options: argparse.Namespace) -> int:
    """Go on with a log, or say that it is done."""
    from skodyn.io.trajectory import open as open_trajectory
    from skodyn.scenario.running import resume_log

    log = open_trajectory(target)
    until = getattr(options, "until", None)
    if log.status == "finished" and until is None:
        data: dict[str, Any] = {"status": log.status, "message": "there is nothing to resume"}
        data |= {"log": str(target), "rows": len(log), **log.summary}
        words = f"{target}: finished, {len(log)} rows; there is nothing to resume"
        print(_as_json(data) if options.json else words)
        return 0
    force = getattr(options, "force", False)
    with shown_run(target.name, _wanted(options)) as progress:
        run = resume_log(target, force=force, until=until, progress=progress)
    return _report(run, options)


def _resume(options: argparse.Namespace) -> int:
    return _go_on(Path(options.log), options)


def _wanted(options: argparse.Namespace) -> bool:
    if options.quiet:
        jit.BEFORE_COMPILING.clear()
    return not options.quiet


def _report(run: Any, options: argparse.Namespace) -> int:
    """Print how it ended; the exit code says it too."""
    data = {"status": run.status, "message": run.message, "log": str(run.log), **run.summary}
    print(_as_json(data) if options.json else _in_words(data))
    if run.status == "finished":
        return 0
    print(f"{run.status}: {run.message}", file=sys.stderr)
    if run.status == "interrupted":
        print(f"go on with: skodyn resume {run.log}", file=sys.stderr)
        return int(EXIT_OF_SIGNAL + run.outcome.signal)
    return EXIT_FAILED


def _as_json(data: dict[str, Any]) -> str:
    return json.dumps(_finite(data), indent=2, default=str, ensure_ascii=False)


def _finite(value: Any) -> Any:
    """JSON has no infinity and no NaN: null stands for them."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _in_words(data: dict[str, Any]) -> str:
    lines = [
        f"{data['status']}: t = {data['t']:.6g} s after {data['steps']} steps",
        f"speed:    {data['steps_per_second']:,.0f} steps/s, {data['wall_seconds']:.2f} s",
        f"energy:   {data['energy_start']:.9g} J -> {data['energy_end']:.9g} J, "
        f"work of forces {data['work_of_forces']:.6g} J, "
        f"error {data['energy_imbalance']:.2e} (relative to max|E|)",
        f"momentum: {_momentum_in_words(data)}",
        f"log:      {data['log']}",
    ]
    if "steps_rejected" in data:
        lines.insert(1, f"rejected: {data['steps_rejected']} attempts")
    if "contact_loss" in data:
        words = f"loss {data['contact_loss']:.6g} J, stored {data['contact_stored']:.6g} J"
        lines.insert(-1, f"contacts: {words}, error {data['contact_imbalance']:.2e} (relative)")
    lines += [f"warning:  {sentence}" for sentence in data.get("warnings", ())]
    return "\n".join(lines)


def _momentum_in_words(summary: Mapping[str, Any]) -> str:
    linear, angular = (summary[f"{kind}_momentum_imbalance"] for kind in ("linear", "angular"))
    reason = f"not checked ({summary['momentum_note']})"
    if linear is None:
        return reason
    scale = "(relative to the largest possible)"
    turning = reason if angular is None else f"error {angular:.2e} {scale}"
    return f"linear: error {linear:.2e} {scale}, angular: {turning}"


# ---- info and check ---------------------------------------------------------------------------


def log_info(path: str, as_json: bool) -> str:
    """What a log holds."""
    from skodyn.io.disk import is_written
    from skodyn.io.trajectory import open as open_trajectory

    log = open_trajectory(path)
    times = log.t
    span = [float(times[0]), float(times[-1])] if len(times) else []
    source = log.provenance
    abandoned = log.status == "running" and not is_written(path)
    data = {
        "status": log.status,
        "written_by_nobody": abandoned,
        "message": log.message,
        "rows": len(log),
        "t": span,
        "channels": list(log.channels),
        "summary": log.summary,
        "provenance": {k: v for k, v in source.items() if k != "scenario"},
    }
    if as_json:
        return _as_json(data)
    drift = log.summary.get("energy_imbalance")
    status = f"{log.status}{', ' + log.message if log.message else ''}"
    if abandoned:
        status = f"interrupted: its process has ended; go on with: skodyn resume {path}"
    lines = [
        f"{path}: {status}",
        f"rows:     {len(log)}" + (f", t = {span[0]:g} … {span[1]:g} s" if span else ""),
        f"channels: {', '.join(log.channels)}",
        f"model:    {source['model']['name']} {source['model']['hash'][:12]}",
        f"method:   {source['integrator']}, dt = {source['dt']}",
        f"energy:   error {drift:.2e} (relative to max|E|)"
        if drift is not None
        else "energy:   not checked yet",
        *(
            [f"momentum: {_momentum_in_words(log.summary)}"]
            if "momentum_note" in log.summary
            else []
        ),
        f"written:  {source['started']} by skodyn {source['versions']['skodyn']}",
    ]
    return "\n".join(lines)


def check_scenario(path: str, change: Any = None) -> str:
    """One line on a valid scenario; a faulty one raises."""
    from skodyn.scenario import read_scenario
    from skodyn.scenario.runnable import refuse_unrunnable

    scenario = read_scenario(path)
    scenario = change(scenario) if change else scenario
    refuse_unrunnable(scenario)
    method = scenario.integrator.method
    laws = [x.from_file for x in find_pairs(scenario.model, scenario.forces.contacts)]
    notes = [*scenario.model.notes, *(f"contact {words}." for words in laws if words)]
    return "".join(f"note: {note}\n" for note in notes) + (
        f"{path}: valid ({scenario.model.n_bodies} bodies, {scenario.duration:g} s by {method}, "
        f"{scenario.rows + 1} rows)"
    )
