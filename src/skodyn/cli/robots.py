"""Options of `info`, `check`, `view` and `identities` that say how a robot file is read."""

from __future__ import annotations

import argparse
from typing import Any

__all__ = ["add_options", "chosen"]


REPAIR = "take the nearest valid inertia instead of one that no body can have"


def add_options(parser: argparse.ArgumentParser, repair: str = REPAIR) -> None:
    """The arguments of `load`, as options."""
    parser.add_argument("--repair", action="store_true", help=repair)
    robot = parser.add_argument_group("robot files (.urdf, .xml)")
    robot.add_argument("--root", choices=("fixed", "free"), help="URDF: how the root link is held")
    robot.add_argument("--keep-fixed", action="store_true", help="keep links on fixed joints apart")
    robot.add_argument("--stops", action="store_true", help="make position limits stops")
    robot.add_argument(
        "--mimic", choices=("exact", "independent"), help="couple mimic joints, or let them go"
    )
    robot.add_argument(
        "--search-path", action="append", metavar="FOLDER", help="where meshes may be; repeatable"
    )
    robot.add_argument(
        "--ignore", action="append", metavar="KIND", help="leave out tendon, extension, …"
    )


def chosen(options: argparse.Namespace) -> dict[str, Any]:
    """What was given, as keyword arguments of `load`."""
    given = {
        "root": options.root,
        "merge_fixed": False if options.keep_fixed else None,
        "stops": options.stops or None,
        "mimic": options.mimic,
        "search_paths": options.search_path,
        "ignore": options.ignore,
        "repair_inertia": options.repair or None,
    }
    return {key: value for key, value in given.items() if value is not None}
