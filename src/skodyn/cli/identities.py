"""`skodyn identities`: the papers' equations, checked on a model."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

from skodyn.cli import robots
from skodyn.io import load

__all__ = ["add_command"]

EXIT_FAILED = 1


def add_command(commands: Any) -> None:
    """Declare identities."""
    words = "check every equation of the papers on a model, in a random state"
    parser = commands.add_parser("identities", help=words, description=words, allow_abbrev=False)
    parser.add_argument("model", metavar="MODEL", help="a model file")
    parser.add_argument(
        "--seed", type=_seed, default=0, metavar="N", help="of the state; default 0"
    )
    parser.add_argument("--json", action="store_true", help="print data instead of a table")
    robots.add_options(parser)
    parser.set_defaults(command=_identities)


def _identities(options: argparse.Namespace) -> int:
    import numpy as np

    from skodyn.algebra import operators
    from skodyn.algebra.comparison import condition_number
    from skodyn.algebra.identities import check_identities

    model = load(options.model, **robots.chosen(options))
    q, v = model.random_state(np.random.default_rng(options.seed))
    ops = operators(model, q, v)
    results = check_identities(ops, options.seed)
    failed = sum(result.failed for result in results)
    kappa = condition_number(ops)
    if options.json:
        head = {"model": model.name, "seed": options.seed, "condition_number": kappa}
        rows = [asdict(result) for result in results]
        data = {**head, "failed": failed, "identities": rows}
        print(json.dumps(data, indent=2, ensure_ascii=False))
    else:
        print(_table(results))
        checked = sum(result.residual is not None for result in results)
        print(
            f"{checked - failed} of {checked} equations hold on {model.name!r} with seed "
            f"{options.seed} (κ of the mass matrix about {kappa:.1e})"
        )
    return EXIT_FAILED if failed else 0


def _table(results: list[Any]) -> str:
    """Name, residual, verdict, and last the equation, which may be long."""
    rows = [("name", "residual", "verdict", "equation")]
    for result in results:
        residual = "" if result.residual is None else f"{result.residual:.1e}"
        rows.append((result.name, residual, result.verdict, result.equation))
    wide = [max(len(row[k]) for row in rows) for k in range(3)]
    return "\n".join(
        f"{name:<{wide[0]}}  {residual:>{wide[1]}}  {verdict:<{wide[2]}}  {equation}"
        for name, residual, verdict, equation in rows
    )


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a seed; give a whole number from 0")
    return int(text)
