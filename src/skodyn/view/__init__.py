"""Looking at runs: plots, a replay in the browser, GIFs. Reads trajectories, computes no motion.

| file | holds |
| --- | --- |
| `signals.py` | every column of a log with its name and unit |
| `plots/` | sheets of curves (matplotlib, extra `plot`) |
| `shapes.py`, `mesh_files.py` | triangles of spheres, cylinders, boxes; of mesh files |
| `scene.py` | what is drawn of a model: shapes placed in bodies |
| `recording.py` | the poses and signals of a run, thinned to what a replay needs |
| `document.py`, `page/` | one HTML file with scene, recording and the player |
| `server.py` | the same page on a loopback address |
| `raster.py`, `camera.py`, `films.py` | the same scene without a browser, as a GIF (extra `view`) |
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skodyn.view.camera import Camera
    from skodyn.view.document import replay_page
    from skodyn.view.films import film
    from skodyn.view.plots import force_picture, save, sheet, sparsity_picture, study_picture
    from skodyn.view.recording import Recording, record, still

__all__ = [
    "Camera",
    "Recording",
    "film",
    "force_picture",
    "record",
    "replay_page",
    "save",
    "sheet",
    "sparsity_picture",
    "still",
    "study_picture",
]

_HOME = {
    "Camera": "camera",
    "film": "films",
    "Recording": "recording",
    "record": "recording",
    "replay_page": "document",
    "still": "recording",
}


def __getattr__(name: str) -> Any:
    """matplotlib and Pillow are imported by those who draw."""
    if name not in __all__:
        raise AttributeError(f"module 'skodyn.view' has no attribute {name!r}")
    return getattr(import_module(f"skodyn.view.{_HOME.get(name, 'plots')}"), name)
