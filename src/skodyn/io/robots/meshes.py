"""Where a mesh file is: inside a search path, or nowhere. No path leads out of them.

The folder of the robot file counts as a search path. `package://name/rest` is looked for as
name/rest in each search path, and as rest in one that is itself called name. What a link of the
file system points to decides, so neither `..` nor a symbolic link escapes.
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
        for candidate in self._candidates(name):
            if os.path.isfile(candidate):
                real = inside(candidate, (self.folder, *self.searched))
                if real:
                    return Path(real)
                escaped = True
        if escaped:
            what = "Meshes outside the search paths are not opened; add their folder"
        elif name.startswith(_PACKAGE) and not self.searched:
            what = "Meshes in packages need search_paths, the folders that hold the packages"
        else:
            what = "Meshes that are in no search path are kept by name only"
        self.findings.unused(what, filename)
        return None

    def _candidates(self, name: str) -> list[str]:
        if not name.startswith(_PACKAGE):
            return [os.path.join(folder, name) for folder in (self.folder, *self.searched)]
        inner = name.removeprefix(_PACKAGE)
        package, _, rest = inner.partition("/")
        found = [os.path.join(folder, inner) for folder in self.searched]
        found += [os.path.join(f, rest) for f in self.searched if os.path.basename(f) == package]
        return found


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
