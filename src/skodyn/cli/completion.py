"""`skodyn completion SHELL`: a script that completes commands, options and files."""

from __future__ import annotations

import argparse
from typing import Any

from skodyn.errors import SkodynError

__all__ = ["add_command"]

SHELLS = ("bash", "zsh", "tcsh")
HOW = """\
put it where your shell looks, once:
  skodyn completion bash > ~/.local/share/bash-completion/completions/skodyn
  skodyn completion zsh > ~/.zfunc/_skodyn      (a folder in $fpath, before compinit)
"""


def add_command(commands: Any, parser: argparse.ArgumentParser) -> None:
    """Declare completion; it describes the whole parser, so it comes last."""
    words = "print a script for your shell that completes what you type"
    command = commands.add_parser(
        "completion", help=words, description=words, epilog=HOW, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    command.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or tcsh")
    command.set_defaults(command=lambda options: print(_script(parser, options.shell)))


def _script(parser: argparse.ArgumentParser, shell: str) -> str:
    try:
        import shtab
    except ImportError:
        raise SkodynError(
            "Completion needs the package shtab; install it with: pip install 'skodyn[completion]'"
        ) from None
    for action in _positionals(parser):
        if action.metavar in ("FILE", "SCENARIO", "MODEL", "LOG", "OUT.h5", "PART.h5"):
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    return str(shtab.complete(parser, shell))


def _positionals(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Of a parser and of all its commands; what takes a file is completed by files."""
    found = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found += [one for sub in action.choices.values() for one in _positionals(sub)]
        else:
            found.append(action)
    return found
