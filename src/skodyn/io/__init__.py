"""Files in and out: `load` reads a model, whatever its format."""

from __future__ import annotations

import os
from collections.abc import Sequence

from skodyn.io.importer import read_file
from skodyn.io.robots.options import LoadOptions
from skodyn.model.keywords import keywords_checked
from skodyn.model.model import Model
from skodyn.typing import MimicRule, Root

__all__ = ["load"]


@keywords_checked()
def load(
    path: str | os.PathLike[str],
    *,
    root: Root = "fixed",
    merge_fixed: bool = True,
    search_paths: Sequence[str | os.PathLike[str]] = (),
    stops: bool = False,
    mimic: MimicRule = "exact",
    ignore: Sequence[str] = (),
    repair_inertia: bool = False,
    hulls: bool = False,
) -> Model:
    """A model from a file: TOML, URDF or MJCF.

    Parameters
    ----------
    path : path
        A file with the suffix .toml, .urdf or .xml (MJCF; URDF if it holds a ``<robot>``).
    root : {"fixed", "free"}
        URDF only: whether the root link is the world, or floats on a free joint.
    merge_fixed : bool
        Links on fixed joints become frames of the body that carries them; False keeps them bodies.
    search_paths : sequence of path
        Folders in which meshes may lie; nothing outside of them is opened.
    stops : bool
        Make position limits compliant stops.
    mimic : {"exact", "independent"}
        Couple mimic joints, or let them move by themselves.
    ignore : sequence of str
        What to leave out although it changes the motion, such as ``"tendon"`` of MJCF, or
        ``"extension"``, tags beyond the format of URDF.
    repair_inertia : bool
        Replace an invalid inertia by the nearest valid one instead of refusing it, and list it in
        `model.repairs`.
    hulls : bool
        Collision meshes touch by the corners of their convex hulls, at most 32 of each, which
        `model.notes` counts. Otherwise they are kept by name and touch nothing.

    Returns
    -------
    model : Model
        With `model.notes` on what the file states and skodyn does not use.

    Raises
    ------
    ModelError
        Every fault of the file at once, each with its line.

    See Also
    --------
    ModelBuilder : build one in Python.

    Examples
    --------
    >>> model = sk.load("scenarios/models/double_pendulum.toml")
    >>> model.body_names
    ('upper', 'lower')
    """
    options = LoadOptions(
        root, merge_fixed, search_paths, stops, mimic, ignore, repair_inertia, hulls
    )
    return read_file(path, options)
