"""Files in and out: `load` reads a model, whatever its format."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from skodyn.errors import ModelError
from skodyn.faults import Fault
from skodyn.io.mjcf import load_mjcf
from skodyn.io.model_toml import load_model
from skodyn.io.robots.options import LoadOptions
from skodyn.io.urdf import UrdfFile
from skodyn.io.xml_source import XmlSource
from skodyn.model.keywords import keywords_checked
from skodyn.model.model import Model
from skodyn.typing import MimicRule, Root

__all__ = ["load"]

SUFFIXES = (".toml", ".urdf", ".xml")
_OF_TOML = ("repair_inertia",)
_OF_MJCF = ("merge_fixed", "search_paths", "stops", "mimic", "ignore", "repair_inertia")
_OF_URDF = ("root", *_OF_MJCF)


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
    options = LoadOptions(root, merge_fixed, search_paths, stops, mimic, ignore, repair_inertia)
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix == ".toml":
        _only(path, options, _OF_TOML, "a TOML model")
        return load_model(path, repair_inertia=repair_inertia)
    if suffix == ".urdf":
        _only(path, options, _OF_URDF, "a URDF robot")
        return UrdfFile(XmlSource(path, ModelError), options).model()
    if suffix == ".xml":
        return _load_xml(path, options)
    what = f"{file.suffix} files" if file.suffix else "files without a suffix"
    what = "folders" if file.is_dir() else what
    known = ", ".join(SUFFIXES)
    raise ModelError(f"{path}: skodyn does not read {what}", f"give a model file in {known}.")


def _load_xml(path: str | os.PathLike[str], options: LoadOptions) -> Model:
    """MJCF or URDF, as the outermost element says."""
    source = XmlSource(path, ModelError)
    tag = source.root.tag
    if tag == "robot":
        _only(path, options, _OF_URDF, "a URDF robot")
        return UrdfFile(source, options).model()
    if tag == "mujoco":
        _only(path, options, _OF_MJCF, "an MJCF model")
        return load_mjcf(source, options)
    what = f"{path}:{source.root.line}: the outermost element is <{tag}>"
    raise ModelError(what, "a model has <mujoco> (MJCF) or <robot> (URDF).")


def _only(
    path: str | os.PathLike[str], options: LoadOptions, taken: Sequence[str], what: str
) -> None:
    """Refuse options that mean nothing for this kind of file."""
    faults = [
        Fault(f"{path}: {what} takes no option {key}", "leave it out.")
        for key in options.changed()
        if key not in taken
    ]
    if faults:
        raise ModelError(faults)
