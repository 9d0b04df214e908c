"""skodyn's own format: TOML."""

from __future__ import annotations

from skodyn.io.importer import Importer
from skodyn.io.model_toml import load_model
from skodyn.registry import register

TOML = register(
    Importer(
        "TOML",
        "a TOML model",
        (".toml",),
        lambda path, options: load_model(
            path, repair_inertia=options.repair_inertia, search_paths=options.search_paths
        ),
        ("repair_inertia", "search_paths"),
    )
)
