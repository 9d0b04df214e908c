"""The command line: arguments in, calls to the package, text out.

Results go to stdout, complaints to stderr. Exit codes: 0 well, 2 what the person gave cannot be
used (a fault in a file, an unknown option), 1 a run that failed, 130 and 143 interrupted, 141
nobody reads the output any more.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from skodyn import __version__
from skodyn.cli import cache, completion, identities, plots, robots, runs, sweeps, views
from skodyn.cli.kinds import file_kind
from skodyn.cli.settings import add_set, changed_by
from skodyn.errors import ModelError, SkodynError, faults_of
from skodyn.faults import Fault
from skodyn.io import load
from skodyn.model.drawing import describe, draw, size_words
from skodyn.model.loops.loop_drawing import group_lines
from skodyn.model.model import Model
from skodyn.wording import options_spoken

__all__ = ["main"]

EXAMPLES = """\
examples:
  skodyn run double_pendulum.toml      simulate a scenario, write double_pendulum.h5
  skodyn resume double_pendulum.h5     go on after an interruption, to the same bits
  skodyn info double_pendulum.h5       what a log holds, and how well energy was kept
  skodyn plot double_pendulum.h5       its curves as double_pendulum.png
  skodyn view double_pendulum.h5       replay it in the browser; --html, --gif write files
  skodyn info arm.toml                 draw the tree: bodies, joints, dofs, masses
  skodyn info arm.toml --json          the same as data, for other programs
  skodyn check arm.toml                every fault of a model file, with its line
  skodyn check arm.toml --json         the same as data: path, file, line, value, problem, remedy
  skodyn check arm.toml --repair       what repairing its inertias would change; writes nothing
  skodyn check robot.urdf --root free  a robot in URDF or MJCF (.xml), with notes on it
  skodyn identities arm.toml           check the papers' equations on a model
  skodyn plot sparsity arm.toml        which entries of its operators are zero
  skodyn sweep run study.toml          many runs of one scenario, on all cores
  skodyn cache warm                    compile all kernels now, so that no later run waits

A model file is TOML, URDF or MJCF; scenarios/models/double_pendulum.toml is the one to read first.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code."""
    options = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):  # a replaced stream need not be a file
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        with options_spoken():
            code = options.command(options)
        sys.stdout.flush()
    except SkodynError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # `skodyn info … | head`
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return int(code or 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="skodyn",
        description="Multibody dynamics at compiled speed.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"skodyn {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    runs.add_commands(commands)
    plots.add_commands(commands)
    views.add_commands(commands)
    sweeps.add_commands(commands)
    words = "draw a model, or that of a scenario, as a tree, or describe a log"
    info = commands.add_parser("info", help=words, allow_abbrev=False)
    info.add_argument(
        "model", metavar="FILE", help="a model file, a scenario, or the log of a run (.h5)"
    )
    info.add_argument("--all", action="store_true", help="draw every body of a large model")
    info.add_argument("--json", action="store_true", help="print data instead of a drawing")
    robots.add_options(info)
    info.set_defaults(command=_info)

    words = "say whether a model or scenario is valid, or list all its faults"
    check = commands.add_parser("check", help=words, epilog=sweeps.LOOKS, allow_abbrev=False)
    check.add_argument(
        "model", metavar="FILE", help="a model file, a scenario, or one with a [sweep]"
    )
    robots.add_options(check, "show which inertias would be repaired, and how")
    add_set(check)
    check.add_argument("--json", action="store_true", help="print the list of faults as data")
    check.set_defaults(command=_check)

    words = "time the main algorithms on this machine, no other library needed"
    bench = commands.add_parser("bench", help=words, description=words, allow_abbrev=False)
    bench.add_argument("--quick", action="store_true", help="fewer models and repeats")
    bench.set_defaults(command=_bench)
    identities.add_command(commands)

    cache.add_command(commands)
    completion.add_command(commands, parser)
    parser.set_defaults(command=lambda _options: parser.print_help())
    return parser


def _info(options: argparse.Namespace) -> None:
    if Path(options.model).suffix.lower() in (".h5", ".hdf5"):
        print(runs.log_info(options.model, options.json))
        return
    model = _model_of(options)
    if options.json:
        print(json.dumps(describe(model, groups=True), indent=2, ensure_ascii=False))
        return
    print(draw(model, everything=options.all))


def _model_of(options: argparse.Namespace) -> Model:
    """The model that a file describes, or that its scenario simulates."""
    chosen, kind = robots.chosen(options), file_kind(options.model)
    if kind == "model":
        return load(options.model, **chosen)
    if chosen:
        what = f"{options.model} is a {kind}, and options of robots are for models"
        raise ModelError(what, "leave them out, or give the model file.")
    from skodyn.scenario import read_scenario

    return read_scenario(options.model, of_sweep=True).model


def _check(options: argparse.Namespace) -> int:
    if not options.json:
        print(_checked(options))
        return 0
    faults: tuple[Fault, ...] = ()
    try:
        _checked(options)
    except SkodynError as error:
        faults = faults_of(error)
    listed = [fault.as_data() for fault in faults]
    print(json.dumps(listed, indent=2, ensure_ascii=False, allow_nan=False))
    return 2 if faults else 0


def _checked(options: argparse.Namespace) -> str:
    """What there is to say of a valid file."""
    chosen = robots.chosen(options)
    kind = file_kind(options.model)
    if kind != "model" and chosen:
        what = f"{options.model} is a {kind}, and --repair and options of robots are for models"
        raise ModelError(what, "leave them out, or check the model file.")
    if kind == "sweep":
        return sweeps.check_sweep(options.model, changed_by(options))
    if kind == "scenario":
        return runs.check_scenario(options.model, changed_by(options))
    if options.settings:
        what = f"{options.model} is a model, and --set is for scenarios"
        raise ModelError(what, "leave it out, or check a scenario.")
    model = load(options.model, **chosen)
    lines = [*(f"note: {note}" for note in model.notes), *group_lines(model)]
    lines += [f"would repair: {repair}" for repair in model.repairs]
    if model.repairs:
        count = f"{len(model.repairs)} repair{'s' * (len(model.repairs) > 1)}"
        return "\n".join((*lines, f"{options.model}: valid after {count}; nothing was written"))
    return "\n".join((*lines, f"{options.model}: valid ({size_words(model)})"))


def _bench(options: argparse.Namespace) -> None:
    from skodyn.bench import run_benchmarks

    print(run_benchmarks(options.quick))
