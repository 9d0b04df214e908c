"""Kinetic and potential energy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.channels.curves import Curves, Family
from skodyn.channels.entry import Channel, DataSet
from skodyn.channels.rows import Rows
from skodyn.registry import register

__all__ = ["ENERGY", "FORCE_ENERGY", "relative_change"]


def _compute(rows: Rows) -> dict[str, Any]:
    from skodyn import dynamics

    return {"energy": np.stack(rows.each(dynamics.energy, rows.q, rows.v), axis=-1)}


def _draw(name: str, curves: Curves) -> list[Family]:
    values = curves.values
    total = values.sum(axis=1, keepdims=True)
    parts = np.concatenate((values, total), axis=1)
    change = relative_change(values)[:, None]
    return [
        Family(name, "energy", "J", ("kinetic", "potential", "total"), parts),
        Family(name, "change of total energy, relative", "", ("total",), change),
    ]


def relative_change(energy: NDArray[np.float64]) -> NDArray[np.float64]:
    """(E − E₀)/s with s the largest of |E| and of the kinetic energy: 0 if nothing ever moves."""
    total = energy.sum(axis=1)
    sizes = np.abs(np.concatenate((total, energy[:, 0])))
    scale = np.max(sizes, initial=0.0, where=np.isfinite(sizes))
    return np.asarray((total - total[:1]) / (scale or 1.0))


ENERGY = register(
    Channel(
        "energy",
        {"energy": DataSet(("t", "energy_part"), "energy [J]", "J")},
        _compute,
        lambda model: {"energy_part": ("kinetic", "potential")},
        draw=_draw,
        on_its_own=True,
        usual=True,
        algorithm="ENERGY",
        order=7,
    )
)

FORCE_ENERGY = register(
    Channel(
        "force_energy",
        {"force_energy": DataSet(("t",), "potential energy of springs, constant forces [J]", "J")},
        lambda rows: {"force_energy": rows.force_energy},
        draw=lambda name, curves: [
            Family(name, "potential energy of forces", "J", ("",), curves.values.reshape(-1, 1))
        ],
        on_its_own=True,
        order=7,
    )
)
