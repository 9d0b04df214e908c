"""A replay as a GIF, drawn without a display (extra `view`)."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np

from skodyn.errors import SkodynError
from skodyn.view.drawing import Painter
from skodyn.view.recording import Recording

__all__ = ["LONGEST", "chosen_speed", "film"]

LONGEST = 8.0
"""Seconds of film; a longer run is shown faster unless a speed is asked for."""


def chosen_speed(duration: float) -> float:
    """Real time, or what makes the film fit."""
    return max(1.0, duration / LONGEST)


def film(
    recording: Recording,
    *,
    size: tuple[int, int] = (640, 480),
    fps: int = 25,
    speed: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> bytes:
    """The bytes of a GIF. progress is told of frames done, and of all."""
    pillow = _pillow()
    duration = float(recording.times[-1] - recording.times[0])
    pace = speed or chosen_speed(duration)
    count = max(1, round(duration / pace * fps))
    times = recording.times[0] + np.arange(count) * pace / fps
    painter = Painter(recording, size)
    frames: list[Any] = []
    palette = None
    for i, t in enumerate(times):
        picture = pillow["Image"].fromarray(painter.frame(t))
        _write_words(pillow, picture, recording.title, f"t = {t:.2f} s", pace)
        if palette is None:
            palette = _palette(pillow, painter, times, picture)
        frames.append(picture.quantize(palette=palette, dither=pillow["Image"].Dither.NONE))
        if progress is not None:
            progress(i + 1, count)
    rest = {"append_images": frames[1:], "loop": 0, "duration": round(1000 / fps), "disposal": 1}
    data = BytesIO()
    frames[0].save(data, format="GIF", save_all=True, optimize=True, **rest)
    return data.getvalue()


def _pillow() -> dict[str, Any]:
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise SkodynError(
            "A GIF needs the package pillow; install it with: pip install 'skodyn[view]'"
        ) from None
    return {"Image": Image, "ImageDraw": ImageDraw, "ImageFont": ImageFont}


def _palette(pillow: dict[str, Any], painter: Painter, times: Any, first: Any) -> Any:
    """256 colours that serve all frames, from some of them."""
    some = [painter.frame(t) for t in times[:: max(1, len(times) // 4)]]
    together = np.concatenate([np.asarray(first), *some])
    return pillow["Image"].fromarray(together).quantize(256)


def _write_words(pillow: dict[str, Any], picture: Any, title: str, clock: str, pace: float) -> None:
    pen = pillow["ImageDraw"].Draw(picture)
    height = picture.height
    size = max(10, height // 28)
    font = pillow["ImageFont"].load_default(size)
    words = clock if pace == 1.0 else f"{clock}   shown at {pace:.3g} x speed"
    pen.text((size, 0.7 * size), title, fill="#1d2430", font=font)
    pen.text((size, height - 1.9 * size), words, fill="#4a5361", font=font)
