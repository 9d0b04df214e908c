"""What a result came from: enough to run it again, and to explain it when it differs."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from skodyn import jit
from skodyn.jit import processor, shipped
from skodyn.model.model import Model
from skodyn.sources import source_hash

__all__ = ["collect"]

_PACKAGES = ("numpy", "numba", "llvmlite", "h5py")


def collect(
    model: Model,
    scenario_text: str = "",
    *,
    seed: int | None = None,
    integrator: str = "",
    integrator_settings: Mapping[str, Any] | None = None,
    dt: float | None = None,
    **more: Any,
) -> dict[str, Any]:
    """The provenance of a run that starts now, as a dict for `LogWriter.create`.

    more: anything else worth keeping that JSON can hold, for example the point of a sweep.
    """
    return {
        "scenario": scenario_text,
        "model": {"name": model.name, "hash": model.content_hash},
        "code_hash": source_hash(),
        "versions": dict(_versions()),
        "cpu": dict(_cpu()),
        "compile_flags": _compile_flags(),
        "kernels": _kernels(),
        "seed": seed,
        "integrator": integrator,
        "integrator_settings": dict(integrator_settings or {}),
        "dt": dt,
        "started": datetime.now(UTC).isoformat(),
        **more,
    }


@cache
def _versions() -> dict[str, str]:
    found = {name: metadata.version(name) for name in _PACKAGES}
    return {"skodyn": jit.package_version(), "python": platform.python_version(), **found}


@cache
def _cpu() -> dict[str, Any]:
    """The machine, and the CPU that kernels are compiled for: it decides which code runs."""
    return {
        "host": platform.node(),
        "system": platform.platform(),
        "model": _cpu_model(),
        "count": os.cpu_count(),
        "name": processor.name(),
        "features": processor.features(),
    }


def _cpu_model() -> str:
    """The name on the box, where Linux tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.split(":", 1)[1].strip() for x in lines if x.startswith("model name")), "")


def _compile_flags() -> dict[str, Any]:
    return {"jit": not jit.JIT_DISABLED, **jit.COMPILE_FLAGS}


def _kernels() -> dict[str, Any]:
    """Which code runs: that of a shared object, or what numba compiles here."""
    held = None if jit.JIT_DISABLED else shipped.opened()
    if held is None:
        return {"from": "plain Python" if jit.JIT_DISABLED else "numba"}
    return {
        "from": "shared object",
        "object": held.path.name,
        "digest": held.listed["digest"],
        "made_by": held.listed["made_by"],
        "changed_sources": sorted(held.changed),  # kernels that need them are numba's
    }
