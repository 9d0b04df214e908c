"""`--set KEY=VALUE`, for commands that take a scenario."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from skodyn.errors import ScenarioError

__all__ = ["add_set", "changed_by", "refuse_both"]


def add_set(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", dest="settings",
        help="another value in the scenario, by the paths of sweeps; repeatable",
    )  # fmt: skip


def changed_by(options: argparse.Namespace) -> Callable[[Any], Any] | None:
    """What the options do to a scenario; None without any."""
    if not options.settings:
        return None
    from skodyn.sweeps.set_values import parse_settings, with_values

    values = parse_settings(options.settings)
    return lambda scenario: with_values(scenario, values)


def refuse_both(options: argparse.Namespace) -> None:
    if options.resume and options.overwrite:
        problem = "--resume goes on with what is there, and --overwrite replaces it"
        raise ScenarioError(problem, "give the one or the other.")
