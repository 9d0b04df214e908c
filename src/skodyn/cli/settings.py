"""Options that several commands have: `--set KEY=VALUE`, `--overwrite`, lists of names."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from skodyn.errors import ScenarioError

__all__ = ["add_overwrite", "add_set", "changed_by", "listed", "refuse_both"]


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


def add_overwrite(parser: Any) -> None:
    parser.add_argument("--overwrite", action="store_true", help="replace an existing file")
    parser.add_argument("--force", action=_OldWord, nargs=0, help=argparse.SUPPRESS)


class _OldWord(argparse.Action):
    """--force, the former word for --overwrite, goes on with a sentence (docs/releasing.md)."""

    def __call__(self, parser: Any, namespace: Any, *_: Any) -> None:
        words = "--force is deprecated and will be removed in version 0.3; use --overwrite."
        print(words, file=sys.stderr)
        namespace.overwrite = True


def listed(text: str | None) -> list[str] | None:
    """The names in "A,B"."""
    if text is None:
        return None
    return [part.strip() for part in text.split(",") if part.strip()]
