"""MJCF, which MuJoCo's compiler reads."""

from __future__ import annotations

from skodyn.io.importer import Importer
from skodyn.io.mjcf import load_mjcf
from skodyn.registry import register

MJCF = register(
    Importer(
        "MJCF",
        "an MJCF model",
        (".xml",),
        load_mjcf,
        ("merge_fixed", "search_paths", "stops", "mimic", "ignore", "repair_inertia", "hulls"),
        root="mujoco",
    )
)
