"""`skodyn plot` and `skodyn view`."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from skodyn.cli import robots
from skodyn.errors import LogError, SkodynError

__all__ = ["PLOTS", "add_commands"]

_LOG_SUFFIXES = (".h5", ".hdf5")
_FILMS = ("gif", "mp4", "webm")


def add_commands(commands: Any) -> None:
    """Declare plot and view."""
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
    plot.add_argument("--title", metavar="WORDS", default="", help="what stands at the head")
    plot.add_argument("--over", metavar="A,B", help="of a sweep: one or two parameters")
    plot.add_argument(
        "--at", metavar="C=X", action="append", default=[], help="of a sweep: runs with this value"
    )
    plot.add_argument("--from", dest="start", metavar="T", type=float, help="from this time, s")
    plot.add_argument("--to", dest="end", metavar="T", type=float, help="to this time, s")
    plot.set_defaults(command=_plot)

    words = "replay a run in the browser, or look at a model"
    view = commands.add_parser("view", help=words, description=words, allow_abbrev=False)
    view.add_argument("file", metavar="FILE", help="a log, a model file or a scenario")
    view.add_argument("--model", metavar="FILE", help="draw a log with this model, not its own")
    view.add_argument("--html", metavar="RUN.html", help="write one file that needs no network")
    view.add_argument("--frames", metavar="N", type=_positive, help="at most this many frames")
    view.add_argument("--show", metavar="A,B", help="layers to show from the start: contacts, …")
    view.add_argument(
        "--exaggerate", metavar="X", type=_pace, default=1.0, help="deflections X times as large"
    )
    view.add_argument("--loop-forces", action="store_true", help="arrows for what loops carry")
    view.add_argument("--port", metavar="N", type=int, default=0, help="default: any free one")
    view.add_argument("--no-browser", action="store_true", help="say the address, open nothing")
    _add_film_options(view.add_argument_group("films, drawn without a display"))
    robots.add_options(view)
    view.set_defaults(command=_view)
    for parser in (plot, view):
        _add_overwrite(parser)


def _add_overwrite(parser: Any) -> None:
    parser.add_argument("--overwrite", action="store_true", help="replace an existing file")
    parser.add_argument("--force", action=_OldWord, nargs=0, help=argparse.SUPPRESS)


class _OldWord(argparse.Action):
    """--force, the former word for --overwrite, goes on with a sentence (docs/releasing.md)."""

    def __call__(self, parser: Any, namespace: Any, *_: Any) -> None:
        print("--force is called --overwrite now, and goes with version 0.3.", file=sys.stderr)
        namespace.overwrite = True


def _add_film_options(group: Any) -> None:
    for kind, needs in (("gif", ""), ("mp4", "; needs ffmpeg"), ("webm", "; needs ffmpeg")):
        group.add_argument(f"--{kind}", metavar=f"RUN.{kind}", help=f"write a film{needs}")
    group.add_argument("--size", metavar="WxH", type=_size, default=(640, 480), help="in pixels")
    group.add_argument("--fps", metavar="N", type=_positive, default=25, help="pictures a second")
    group.add_argument("--speed", metavar="X", type=_pace, help="1 is real time")
    group.add_argument("--time", metavar="A:B", type=_span, help="from A to B s; 2: and :5 will do")
    group.add_argument("--follow", metavar="BODY", help="keep this body in the middle")
    group.add_argument("--azimuth", metavar="DEG", type=float, help="of the eye, from x to y")
    group.add_argument("--elevation", metavar="DEG", type=float, help="of the eye, from -89 to 89")
    group.add_argument("--zoom", metavar="X", type=_pace, default=1.0, help="2 is twice as near")
    group.add_argument("--quiet", action="store_true", help="no progress on stderr")


def _span(text: str) -> tuple[float | None, float | None]:
    parts = text.split(":")
    try:
        start, end = (float(part) if part.strip() else None for part in parts)
    except ValueError:
        words = f"{text} is no stretch of time; write for example 1.5:4"
        raise argparse.ArgumentTypeError(words) from None
    return start, end


def _positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return number


def _pace(text: str) -> float:
    if not 0 < (number := float(text)) < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return number


def _size(text: str) -> tuple[int, int]:
    try:
        width, height = (int(part) for part in text.lower().split("x"))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text} is not a size; write for example 640x480"
        ) from None
    if not (16 <= width <= 4096 and 16 <= height <= 4096):
        raise argparse.ArgumentTypeError(f"{text}: both must be between 16 and 4096")
    return width, height


# ---- plot -------------------------------------------------------------------------------------


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
        joints=_listed(options.joints) or (),
        loops=_listed(options.loops) or (),
        places=_listed(options.places) or (),
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
        _listed(options.channels),
        over=_listed(options.over) or (),
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
    named = _listed(options.channels)
    if not options.world_axes:
        return named
    from skodyn.io.trajectory import open as open_trajectory
    from skodyn.view.signals import WORLD_VELOCITY, is_curve

    log = open_trajectory(options.what[0])
    named = named or [name for name in log.channels if is_curve(name)]
    return [WORLD_VELOCITY if name == "v" else name for name in named]


def _plot_sparsity(options: argparse.Namespace) -> None:
    from skodyn.io import load
    from skodyn.view.plots import save, sparsity_picture

    path = _one_file(options, "skodyn plot sparsity MODEL")
    target = options.output or f"{Path(path).stem}_sparsity.png"
    print(save(sparsity_picture(load(path)), target, overwrite=options.overwrite))


def _plot_forces(options: argparse.Namespace) -> None:
    from skodyn.io.trajectory import open as open_trajectory
    from skodyn.view.plots import force_picture, save

    path = _one_file(options, "skodyn plot forces OUT.h5")
    target = options.output or f"{Path(path).stem}_forces.png"
    figure = force_picture(open_trajectory(path), _listed(options.joints) or ())
    print(save(figure, target, overwrite=options.overwrite))


def _one_file(options: argparse.Namespace, usage: str) -> str:
    if len(options.what) != 2:
        raise LogError(f"One file goes here: {usage}")
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
    _add_overwrite(parser)
    return parser


def _listed(text: str | None) -> list[str] | None:
    if text is None:
        return None
    return [part.strip() for part in text.split(",") if part.strip()]


# ---- view -------------------------------------------------------------------------------------


def _view(options: argparse.Namespace) -> None:
    if options.html or any(getattr(options, kind) for kind in _FILMS):
        _write(options)
    else:
        _serve(options)


def _recording(options: argparse.Namespace) -> Any:
    from skodyn.view.recording import show_layers, show_wrenches

    recording = _plain_recording(options)
    recording = show_wrenches(recording) if options.loop_forces else recording
    return show_layers(recording, _listed(options.show) or ())


def _plain_recording(options: argparse.Namespace) -> Any:
    from skodyn.io import load
    from skodyn.io.trajectory import open as open_trajectory
    from skodyn.view.recording import record, still

    if Path(options.file).suffix.lower() in _LOG_SUFFIXES:
        model = load(options.model, **robots.chosen(options)) if options.model else None
        trajectory = open_trajectory(options.file)
        return record(trajectory, model, options.frames, exaggerate=options.exaggerate)
    from skodyn.cli.kinds import file_kind

    if options.model:
        raise LogError("--model goes with a log; a model file or scenario says itself what it is.")
    if file_kind(options.file) != "model":
        from skodyn.scenario import read_scenario

        scenario = read_scenario(options.file)
        return still(scenario.model, scenario.q0, exaggerate=options.exaggerate)
    model = load(options.file, **robots.chosen(options))
    return still(model, exaggerate=options.exaggerate)


def _write(options: argparse.Namespace) -> None:
    _check_target(options.html, (".html", ".htm"), options.overwrite)
    for kind in _FILMS:
        _check_target(getattr(options, kind), (f".{kind}",), options.overwrite)
    recording = _recording(options)
    for note in recording.notes:
        print(f"note: {note}", file=sys.stderr)
    if options.html:
        from skodyn.view.document import replay_page

        _put(Path(options.html), replay_page(recording).encode())
    for kind in _FILMS:
        if getattr(options, kind):
            _film(recording, kind, options)


def _film(recording: Any, kind: str, options: argparse.Namespace) -> None:
    from skodyn.progress import shown
    from skodyn.view.camera import Camera
    from skodyn.view.films import film

    if options.elevation is not None and not -89 <= options.elevation <= 89:
        raise SkodynError(f"--elevation {options.elevation:g}: give degrees from -89 to 89.")
    camera = Camera(options.follow, options.azimuth, options.elevation, options.zoom)
    target = Path(getattr(options, kind))
    with shown(target.name, False if options.quiet else None) as show:

        def progress(done: int, count: int) -> None:
            show(done, count, f"frame {done} of {count}")

        data = film(
            recording, size=options.size, fps=options.fps, speed=options.speed, progress=progress,
            camera=camera, span=options.time or (None, None), kind=kind,
        )  # fmt: skip
    _put(target, data)


def _check_target(target: str | None, kinds: tuple[str, ...], force: bool) -> None:
    if target is None:
        return
    if Path(target).suffix.lower() not in kinds:
        raise LogError(f"{target}: give a name that ends in {kinds[0]}.")
    if Path(target).exists() and not force:
        raise LogError(f"{target} exists; choose another name, or replace it with --overwrite.")


def _put(target: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    part = target.with_name(f".{target.name}.part")
    try:
        part.write_bytes(data)
        part.replace(target)
    except OSError as error:
        raise LogError(f"{target} cannot be written: {error.strerror or error}.") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
    print(f"{target}  {len(data) / 1e6:.2f} MB")


def _serve(options: argparse.Namespace) -> None:
    from skodyn.view.document import replay_page
    from skodyn.view.server import LOOPBACK, page_server

    recording = _recording(options)  # faults come before there is an address
    for note in recording.notes:
        print(f"note: {note}", file=sys.stderr)
    if not 0 <= options.port < 65536:
        raise SkodynError(f"--port {options.port}: give a number from 0 to 65535.")
    with page_server(lambda: replay_page(_recording(options)), options.port) as server:
        address = f"http://{LOOPBACK}:{server.server_address[1]}/"
        print(f"{address}  (this machine only; Ctrl-C ends it)", flush=True)
        if not options.no_browser:
            with suppress(webbrowser.Error):
                webbrowser.open(address)
        with suppress(KeyboardInterrupt):
            server.serve_forever()
