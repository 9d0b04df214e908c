"""`skodyn view`."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Any

from skodyn.cli import robots
from skodyn.cli.kinds import file_kind
from skodyn.cli.settings import add_overwrite, listed
from skodyn.errors import LogError, SkodynError
from skodyn.io import load
from skodyn.progress import shown

__all__ = ["add_commands"]

_LOG_SUFFIXES = (".h5", ".hdf5")
_FILMS = ("gif", "mp4", "webm")


def add_commands(commands: Any) -> None:
    """Declare view."""
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
    view.add_argument("--no-browser", action="store_true", help="print the address only")
    _add_film_options(view.add_argument_group("films, drawn without a display"))
    robots.add_options(view)
    view.set_defaults(command=_view)
    add_overwrite(view)


def _add_film_options(group: Any) -> None:
    for kind, needs in (("gif", ""), ("mp4", "; needs ffmpeg"), ("webm", "; needs ffmpeg")):
        group.add_argument(f"--{kind}", metavar=f"RUN.{kind}", help=f"write a film{needs}")
    group.add_argument("--size", metavar="WxH", type=_size, default=(640, 480), help="in pixels")
    group.add_argument("--fps", metavar="N", type=_positive, default=25, help="frames per second")
    group.add_argument("--speed", metavar="X", type=_pace, help="1 is real time")
    group.add_argument("--time", metavar="A:B", type=_span, help="from A to B in s; also 2: or :5")
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
        words = f"{text} is not a time span; write for example 1.5:4"
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


def _view(options: argparse.Namespace) -> None:
    if options.html or any(getattr(options, kind) for kind in _FILMS):
        _write(options)
    else:
        _serve(options)


def _recording(options: argparse.Namespace) -> Any:
    from skodyn.view.recording import show_layers, show_wrenches

    recording = _plain_recording(options)
    recording = show_wrenches(recording) if options.loop_forces else recording
    return show_layers(recording, listed(options.show) or ())


def _plain_recording(options: argparse.Namespace) -> Any:
    from skodyn.io.trajectory import open as open_trajectory
    from skodyn.view.recording import record, still

    if Path(options.file).suffix.lower() in _LOG_SUFFIXES:
        model = load(options.model, **robots.chosen(options)) if options.model else None
        trajectory = open_trajectory(options.file)
        return record(trajectory, model, options.frames, exaggerate=options.exaggerate)

    if options.model:
        raise LogError("--model is for logs; a model file or scenario needs no other model.")
    if file_kind(options.file) != "model":
        from skodyn.scenario import read_scenario

        scenario = read_scenario(options.file, of_sweep=True)
        return still(scenario.model, scenario.q0, exaggerate=options.exaggerate)
    model = load(options.file, **robots.chosen(options))
    return still(model, exaggerate=options.exaggerate)


def _write(options: argparse.Namespace) -> None:
    from skodyn.view.films import film_program

    _check_target(options.html, (".html", ".htm"), options.overwrite)
    for kind in _FILMS:
        _check_target(getattr(options, kind), (f".{kind}",), options.overwrite)
        if getattr(options, kind):
            film_program(kind)
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
