"""Where a mesh file is: inside a search path, or nowhere. No path leads out of them.

The folder of the robot file counts as a search path, and so does the package that it is in: the
nearest folder above it with a package.xml. `package://name/rest` is looked for as name/rest in each
search path and in each folder of ROS_PACKAGE_PATH, and as rest in one that is itself called name;
walking up from the robot file, in a folder called name, or beside one in a folder called name that
has a package.xml. What a link of the file system points to decides, so neither `..` nor a symbolic
link escapes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skodyn.io.robots.findings import Findings

__all__ = ["MeshFinder", "inside", "mesh_vertices"]

_PACKAGE, _FILE = "package://", "file://"
_LEVELS = 6  # so many folders up a robot file may lie in its package
_REMEDY = "; say by --search-path FOLDER (search_paths in Python) where they or their packages are"


def inside(path: str | os.PathLike[str], folders: Iterable[str]) -> str | None:
    """The real path, if it lies in one of these real folders; None otherwise."""
    real = os.path.realpath(path)
    return real if any(real.startswith(os.path.join(folder, "")) for folder in folders) else None


class MeshFinder:
    """Resolves the mesh names of one file, and notes those it cannot."""

    def __init__(
        self, folder: Path, search_paths: Sequence[str | os.PathLike[str]], findings: Findings
    ) -> None:
        self.folder = os.path.realpath(folder)
        self.searched = [os.path.realpath(path) for path in search_paths]
        self.above = [self.folder, *map(str, Path(self.folder).parents)]
        own = next((f for f in self.above[:_LEVELS] if _is_package(f)), None)
        self.around = [] if own is None else [own]
        ros = os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)
        self.ros = [os.path.realpath(path) for path in ros if path]
        self.findings = findings
        self._known: dict[str, Path | None] = {}

    def find(self, filename: str) -> Path | None:
        """The file that a mesh name means, or None with a note."""
        if filename not in self._known:
            self._known[filename] = self._find(filename)
        return self._known[filename]

    def _find(self, filename: str) -> Path | None:
        name = filename.removeprefix(_FILE)
        scheme, colon, _ = name.partition("://")
        if colon and not name.startswith(_PACKAGE):
            self.findings.unused(f"Mesh names with {scheme}:// are not followed", filename)
            return None
        escaped = False
        for candidate, allowed in self._candidates(name):
            if os.path.isfile(candidate):
                real = inside(candidate, allowed)
                if real:
                    return Path(real)
                escaped = True
        what = "Meshes that were not found are kept by name only" + _REMEDY
        if escaped:
            what = "Meshes outside the search paths are not opened" + _REMEDY
        self.findings.unused(what, filename)
        return None

    def _candidates(self, name: str) -> list[tuple[str, list[str]]]:
        """Paths that may be meant, each with the folders that it may lie in."""
        own = [self.folder, *self.searched, *self.around]
        if not name.startswith(_PACKAGE):
            return [(os.path.join(folder, name), own) for folder in own]
        inner = name.removeprefix(_PACKAGE)
        package, _, rest = inner.partition("/")
        found = []
        for folder in (*self.searched, *self.ros):
            found.append((os.path.join(folder, inner), [folder]))
            if os.path.basename(folder) == package:
                found.append((os.path.join(folder, rest), [folder]))
        for folder in self.above:
            beside = os.path.join(folder, package)
            if os.path.basename(folder) == package:
                found.append((os.path.join(folder, rest), [folder]))
            if package and _is_package(beside):
                found.append((os.path.join(beside, rest), [os.path.realpath(beside)]))
        return found


def _is_package(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "package.xml"))


def mesh_vertices(path: str, findings: Findings) -> Any:
    """The corners of a mesh file; None, and a note, if it cannot be read."""
    try:
        import trimesh
    except ImportError:
        findings.fault(
            0,
            "Hulls of mesh files need the package trimesh",
            "install it with: pip install 'skodyn[view]'",
        )
        return None
    try:
        with np.errstate(all="ignore"):
            vertices = np.asarray(trimesh.load(path, force="mesh", process=True).vertices)
    except Exception as error:  # its readers raise whatever their formats bring up
        findings.unused(f"Mesh files that cannot be read do not touch ({error})", path)
        return None
    return vertices if len(vertices) and np.isfinite(vertices).all() else None
