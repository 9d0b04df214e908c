"""`skodyn plot`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skodyn.cli.settings import add_overwrite, listed
from skodyn.errors import LogError
from skodyn.io import load

__all__ = ["PLOTS", "add_commands"]


def add_commands(commands: Any) -> None:
    """Declare plot."""
    words = "plot the curves of runs into a PNG, SVG or PDF file"
    also = (
        "Given a sweep, it draws its metrics over the parameters; --channels names metrics. "
        "Also: `skodyn plot sparsity MODEL` draws which entries of a model's operators are zero, "
        "`skodyn plot forces OUT.h5` what explains the forces in its joints."
    )
    plot = commands.add_parser(
        "plot", help=words, description=words, epilog=also, allow_abbrev=False
    )
    plot.__class__ = _PlotParser
    plot.add_argument("what", metavar="OUT.h5", nargs="+", help="logs, drawn over one another")
    plot.add_argument("-o", "--output", metavar="FILE", help="default: the log's name, .png, here")
    plot.add_argument("--channels", metavar="A,B", help="those of the log, see skodyn info")
    plot.add_argument("--joints", metavar="A,B", help="names or patterns, for example 'left_*'")
    plot.add_argument("--loops", metavar="A,B", help="loops and couplings, likewise")
    plot.add_argument("--places", metavar="A,B", help="positions of these bodies and frames, too")
    plot.add_argument(
        "--world-axes", action="store_true", help="velocities of free joints in world axes"
    )
    plot.add_argument("--title", metavar="WORDS", default="", help="title of the picture")
    plot.add_argument("--over", metavar="A,B", help="of a sweep: one or two parameters")
    plot.add_argument(
        "--at", metavar="C=X", action="append", default=[], help="of a sweep: runs with this value"
    )
    plot.add_argument("--from", dest="start", metavar="T", type=float, help="from this time, s")
    plot.add_argument("--to", dest="end", metavar="T", type=float, help="to this time, s")
    plot.set_defaults(command=_plot)
    add_overwrite(plot)


def _plot(options: argparse.Namespace) -> None:
    PLOTS.get(options.what[0], _plot_logs)(options)


def _plot_logs(options: argparse.Namespace) -> None:
    from skodyn.io.trajectory import open as open_trajectory
    from skodyn.view.plots import save, sheet
    from skodyn.view.plots.style import check_target

    target = Path(options.output or f"{Path(options.what[0]).stem}.png")
    check_target(target, options.overwrite)
    if _is_sweep(options.what[0]):
        _plot_sweep(options, target)
        return
    figure = sheet(
        [open_trajectory(path) for path in options.what],
        channels=_channels(options),
        joints=listed(options.joints) or (),
        loops=listed(options.loops) or (),
        places=listed(options.places) or (),
        title=options.title,
        start=options.start,
        end=options.end,
    )
    print(save(figure, target, overwrite=options.overwrite))


def _is_sweep(path: str) -> bool:
    import h5py

    if not h5py.is_hdf5(path):
        return False
    with h5py.File(path, "r", locking=False) as file:
        return bool(file.attrs.get("schema") == "skodyn-sweep")


def _plot_sweep(options: argparse.Namespace, target: Path) -> None:
    from skodyn.sweeps.results import open_sweep
    from skodyn.view.plots import save, study_picture

    if len(options.what) > 1:
        raise LogError(f"{options.what[0]} is a sweep; sweeps are drawn one at a time.")
    study = open_sweep(options.what[0])
    picture = study_picture(
        study,
        listed(options.channels),
        over=listed(options.over) or (),
        at=dict(_setting(text) for text in options.at),
        title=options.title,
    )
    print(save(picture, target, overwrite=options.overwrite))


def _setting(text: str) -> tuple[str, float]:
    """C=X, as --at takes it."""
    name, equals, value = text.partition("=")
    try:
        return name.strip(), float(value)
    except ValueError:
        what = "has no number" if equals else "has no ="
        raise LogError(f"--at {text} {what}; write for example --at bodies.arm.mass=2.") from None


def _channels(options: argparse.Namespace) -> list[str] | None:
    """Those that were named; with --world-axes velocities of free joints are turned."""
    named = listed(options.channels)
    if not options.world_axes:
        return named
    from skodyn.io.trajectory import open as open_trajectory
    from skodyn.view.signals import WORLD_VELOCITY, is_curve

    log = open_trajectory(options.what[0])
    named = named or [name for name in log.channels if is_curve(name)]
    return [WORLD_VELOCITY if name == "v" else name for name in named]


def _plot_sparsity(options: argparse.Namespace) -> None:
    from skodyn.view.plots import save, sparsity_picture
    from skodyn.view.plots.style import check_target

    path = _one_file(options, "skodyn plot sparsity MODEL")
    target = check_target(options.output or f"{Path(path).stem}_sparsity.png", options.overwrite)
    print(save(sparsity_picture(load(path)), target, overwrite=options.overwrite))


def _plot_forces(options: argparse.Namespace) -> None:
    from skodyn.io.trajectory import open as open_trajectory
    from skodyn.view.plots import force_picture, save
    from skodyn.view.plots.style import check_target

    path = _one_file(options, "skodyn plot forces OUT.h5")
    target = check_target(options.output or f"{Path(path).stem}_forces.png", options.overwrite)
    figure = force_picture(open_trajectory(path), listed(options.joints) or ())
    print(save(figure, target, overwrite=options.overwrite))


def _one_file(options: argparse.Namespace, usage: str) -> str:
    if len(options.what) != 2:
        raise LogError(f"Give one file: {usage}")
    return str(options.what[1])


PLOTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "sparsity": _plot_sparsity,
    "forces": _plot_forces,
}
"""Other kinds of plot, by the word that comes first: `skodyn plot WORD …`."""


class _PlotParser(argparse.ArgumentParser):
    """`skodyn plot`; a word for another kind of plot has options and help of its own."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if args and args[0] in _OWN_HELP:
            options, rest = _own_parser(args[0]).parse_known_args(args[1:], namespace)
            options.what = [args[0]] + [options.file] * (options.file is not None)
            options.command = _plot
            return options, rest
        return super().parse_known_args(args, namespace)


_OWN_HELP = {
    "sparsity": ("MODEL", "draw which entries of a model's operators are zero, tips first"),
    "forces": (
        "OUT.h5",
        "draw how much of the force in each joint the terminal, composite and articulated force "
        "models explain; the log needs the channel vdot",
    ),
}


def _own_parser(word: str) -> argparse.ArgumentParser:
    file, words = _OWN_HELP[word]
    parser = argparse.ArgumentParser(
        prog=f"skodyn plot {word}", description=words, allow_abbrev=False
    )
    parser.add_argument("file", metavar=file, nargs="?")
    parser.add_argument("-o", "--output", metavar="FILE", help=f"default: NAME_{word}.png, here")
    if word == "forces":
        which = "names or patterns of joints; the first eight bodies unless given"
        parser.add_argument("--joints", metavar="A,B", help=which)
    add_overwrite(parser)
    return parser
