"""A replay as a film, drawn without a display: GIF (extra `view`), MP4 and WebM where ffmpeg is."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import LogError, SkodynError
from skodyn.view.camera import Camera
from skodyn.view.drawing import Painter
from skodyn.view.recording import Recording

__all__ = ["FORMATS", "LONGEST", "chosen_speed", "ffmpeg_program", "film", "film_program"]

LONGEST = 8.0
"""Seconds of film; a longer run is shown faster unless a speed is asked for."""

FORMATS: dict[str, tuple[str, ...]] = {
    "gif": (),
    "mp4": ("-c:v", "libx264", "-preset", "medium", "-crf", "20", "-movflags", "+faststart"),
    "webm": ("-c:v", "libvpx-vp9", "-b:v", "0", "-crf", "32", "-row-mt", "1"),
}
"""What ffmpeg is told for each kind of film; it does not make GIFs."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class _Reel:
    """The frames of a film, drawn one after the other."""

    recording: Recording
    painter: Painter
    times: NDArray[np.float64]
    pace: float

    def pictures(self, progress: Progress | None) -> Iterator[Any]:
        pillow = _pillow()
        for i, t in enumerate(self.times):
            picture = pillow["Image"].fromarray(self.painter.frame(t))
            _write_words(pillow, picture, self.recording.title, f"t = {t:.2f} s", self.pace)
            yield picture
            if progress is not None:
                progress(i + 1, len(self.times))


def chosen_speed(duration: float) -> float:
    """Real time, or what makes the film fit."""
    return max(1.0, duration / LONGEST)


def film(
    recording: Recording,
    *,
    size: tuple[int, int] = (640, 480),
    fps: int = 25,
    speed: float | None = None,
    progress: Progress | None = None,
    camera: Camera | None = None,
    span: tuple[float | None, float | None] = (None, None),
    kind: str = "gif",
) -> bytes:
    """The bytes of a film.

    progress is told of frames done, and of all. camera: what to follow, from where. span: the
    stretch of time that is shown. kind: gif, mp4 or webm; the last two need ffmpeg.
    """
    program = film_program(kind)
    start, end = _stretch(recording, span)
    pace = speed or chosen_speed(end - start)
    count = max(1, round((end - start) / pace * fps))
    times = start + np.arange(count) * pace / fps
    reel = _Reel(recording, Painter(recording, size, camera), times, pace)
    if kind == "gif":
        return _gif(reel, fps, progress)
    return _encoded(reel, fps, progress, (program, kind))


def film_program(kind: str) -> str:
    """ffmpeg, for films that need it; a SkodynError if anything that such a film needs is missing,
    before there is work to be lost."""
    if kind not in FORMATS:
        raise SkodynError(f"Films of kind {kind!r} are not made; choose gif, mp4 or webm.")
    _pillow()
    return ffmpeg_program() if kind != "gif" else ""


def _stretch(recording: Recording, span: tuple[float | None, float | None]) -> tuple[float, float]:
    first, last = float(recording.times[0]), float(recording.times[-1])
    start = first if span[0] is None else span[0]
    end = last if span[1] is None else span[1]
    if not (first <= start <= end <= last):
        raise LogError(
            f"From {start:g} to {end:g} s there is nothing to film; this run goes from {first:g} "
            f"to {last:g} s."
        )
    return start, end


# ---- GIF --------------------------------------------------------------------------------------


def _gif(reel: _Reel, fps: int, progress: Progress | None) -> bytes:
    pillow = _pillow()
    frames: list[Any] = []
    palette = None
    for picture in reel.pictures(progress):
        if palette is None:
            palette = _palette(pillow, reel.painter, reel.times, picture)
        frames.append(picture.quantize(palette=palette, dither=pillow["Image"].Dither.NONE))
    rest = {"append_images": frames[1:], "loop": 0, "duration": round(1000 / fps), "disposal": 1}
    data = BytesIO()
    frames[0].save(data, format="GIF", save_all=True, optimize=True, **rest)
    return data.getvalue()


def _palette(pillow: dict[str, Any], painter: Painter, times: Any, first: Any) -> Any:
    """256 colours that serve all frames, from some of them."""
    some = [painter.frame(t) for t in times[:: max(1, len(times) // 4)]]
    together = np.concatenate([np.asarray(first), *some])
    return pillow["Image"].fromarray(together).quantize(256)


# ---- MP4 and WebM -----------------------------------------------------------------------------


def ffmpeg_program() -> str:
    """Where ffmpeg is: in the path, or in the package imageio-ffmpeg."""
    found = shutil.which("ffmpeg")
    if found:
        return found
    try:
        from imageio_ffmpeg import get_ffmpeg_exe
    except ImportError:
        raise SkodynError(
            "MP4 and WebM films need the program ffmpeg, which is not in the path; install it "
            "(Debian: apt-get install ffmpeg) or run: pip install imageio-ffmpeg. --gif needs none."
        ) from None
    return str(get_ffmpeg_exe())


def _encoded(reel: _Reel, fps: int, progress: Progress | None, how: tuple[str, str]) -> bytes:
    program, kind = how
    width, height = reel.painter.size
    raw = ("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(fps))
    even = ("-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p")  # as players want it
    with tempfile.TemporaryDirectory(prefix="skodyn-film-") as folder:
        target = Path(folder) / f"film.{kind}"
        command = [program, "-v", "error", "-y", *raw, "-i", "-", *even, *FORMATS[kind], target]
        with subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.PIPE, stderr=subprocess.PIPE
        ) as encoder:
            assert encoder.stdin is not None
            assert encoder.stderr is not None
            try:
                for picture in reel.pictures(progress):
                    encoder.stdin.write(picture.tobytes())
                encoder.stdin.close()
            except BrokenPipeError:
                pass  # it says below why it stopped
            words = encoder.stderr.read().decode(errors="replace").strip()
        if encoder.returncode or not target.exists():
            raise SkodynError(f"ffmpeg ({program}) made no {kind}: {words or 'no message'}.")
        return target.read_bytes()


# ---- words ------------------------------------------------------------------------------------


def _pillow() -> dict[str, Any]:
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise SkodynError(
            "A film needs the package pillow; install it with: pip install 'skodyn[view]'"
        ) from None
    return {"Image": Image, "ImageDraw": ImageDraw, "ImageFont": ImageFont}


def _write_words(pillow: dict[str, Any], picture: Any, title: str, clock: str, pace: float) -> None:
    pen = pillow["ImageDraw"].Draw(picture)
    height = picture.height
    size = max(10, height // 28)
    font = pillow["ImageFont"].load_default(size)
    words = clock if pace == 1.0 else f"{clock}   shown at {pace:.3g} x speed"
    pen.text((size, 0.7 * size), title, fill="#1d2430", font=font)
    pen.text((size, height - 1.9 * size), words, fill="#4a5361", font=font)
