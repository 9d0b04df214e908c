"""URDF, in files of its own and in .xml files whose outermost element is <robot>."""

from __future__ import annotations

from skodyn.io.importer import Importer
from skodyn.io.urdf import UrdfFile
from skodyn.registry import register

URDF = register(
    Importer(
        "URDF",
        "a URDF robot",
        (".urdf", ".xml"),
        lambda source, options: UrdfFile(source, options).model(),
        (
            "root",
            "merge_fixed",
            "search_paths",
            "stops",
            "mimic",
            "ignore",
            "repair_inertia",
            "hulls",
        ),
        root="robot",
    )
)
