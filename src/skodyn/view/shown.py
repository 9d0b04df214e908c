"""What models, runs and sweeps show of themselves: pages, pictures and lines for notebooks."""

from __future__ import annotations

import html
import os
import sys
import tempfile
import webbrowser
from collections.abc import Iterable, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

from skodyn.errors import LogError
from skodyn.io.trajectory import Trajectory
from skodyn.model.model import Model
from skodyn.view.document import replay_page
from skodyn.view.recording import Recording, record, show_layers, still
from skodyn.view.summaries import model_html, sko_html, sweep_html, trajectory_html
from skodyn.wording import argument

__all__ = [
    "Page",
    "Picture",
    "model_html",
    "plot_operator",
    "plot_sweep",
    "plot_trajectory",
    "sko_html",
    "sweep_html",
    "trajectory_html",
    "view_model",
    "view_trajectory",
]


class Page:
    """The viewer's page of a run or a model: a notebook shows it, `save` writes it as one file."""

    def __init__(self, text: str, title: str, height: int = 480) -> None:
        self.html, self.title, self.height = text, title, height

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write one HTML file that needs no network."""
        target = Path(path)
        if target.exists() and not overwrite:
            raise LogError(
                f"{target} exists; choose another name, or replace it with "
                f"{argument('overwrite', yes=True)}."
            )
        try:
            target.write_text(self.html, encoding="utf-8")
        except OSError as error:
            raise LogError(f"{target} cannot be written: {error.strerror or error}.") from error
        return target

    def open(self) -> Path:
        """Show it in the browser, from a file in the folder for temporary files."""
        folder = Path(tempfile.mkdtemp(prefix="skodyn-"))
        path = self.save(folder / "view.html")
        with suppress(webbrowser.Error):
            webbrowser.open(path.as_uri())
        return path

    def _repr_html_(self) -> str:
        text, title = html.escape(self.html, quote=True), html.escape(self.title)
        look = f"width: 100%; height: {self.height}px; border: 0"
        return f'<iframe srcdoc="{text}" title="{title}" style="{look}"></iframe>'

    def __repr__(self) -> str:
        return f"<Page {self.title!r}: {len(self.html) / 1e6:.2f} MB; save(path) writes it>"


class Picture:
    """A plot: a notebook shows it, `save` writes it, `figure` is matplotlib's."""

    def __init__(self, figure: Any, title: str) -> None:
        self.figure, self.title = figure, title

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write a PNG, SVG or PDF file."""
        from skodyn.view.plots import save

        return Path(save(self.figure, path, overwrite=overwrite))

    def _repr_png_(self) -> bytes:
        data = BytesIO()
        self.figure.savefig(data, format="png")
        return data.getvalue()

    def __repr__(self) -> str:
        return f"<Picture of {self.title}; save(path) writes it>"


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def _page(recording: Recording, show: Iterable[str], path: Any, open: bool | None) -> Page:
    page = Page(replay_page(show_layers(recording, show)), recording.title)
    if path is not None:
        page.save(path)
    elif not _in_notebook() if open is None else open:
        page.open()
    return page


def view_trajectory(
    trajectory: Trajectory,
    path: str | os.PathLike[str] | None = None,
    *,
    frames: int | None = None,
    show: Sequence[str] = (),
    open: bool | None = None,
    exaggerate: float = 1.0,
) -> Page:
    """The replay of a run."""
    return _page(record(trajectory, frames=frames, exaggerate=exaggerate), show, path, open)


def view_model(
    model: Model,
    q: Any = None,
    path: str | os.PathLike[str] | None = None,
    *,
    show: Sequence[str] = (),
    open: bool | None = None,
    exaggerate: float = 1.0,
) -> Page:
    """A model at rest or at q, with sliders for its joints."""
    where = None if q is None else model.check_q(q)
    return _page(still(model, where, exaggerate=exaggerate), show, path, open)


def plot_trajectory(
    trajectory: Trajectory, path: str | os.PathLike[str] | None = None, **chosen: Any
) -> Picture:
    """The plot sheet of a run; options are those of `sk.view.sheet`."""
    from skodyn.view.plots import sheet

    picture = Picture(sheet([trajectory], **chosen), trajectory.label)
    if path is not None:
        picture.save(path)
    return picture


def plot_operator(
    operator: Any, path: str | os.PathLike[str] | None = None, **chosen: Any
) -> Picture:
    """The blocks of an operator; options are those of `operator_picture`."""
    from skodyn.view.plots import operator_picture

    picture = Picture(operator_picture(operator, **chosen), operator.text())
    if path is not None:
        picture.save(path)
    return picture


def plot_sweep(sweep: Any, path: str | os.PathLike[str] | None = None, **chosen: Any) -> Picture:
    """The metrics of a sweep; options are those of `sk.view.study_picture`."""
    from skodyn.view.plots import study_picture

    picture = Picture(study_picture(sweep, **chosen), f"{sweep.path.name}")
    if path is not None:
        picture.save(path)
    return picture
