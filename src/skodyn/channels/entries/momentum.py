"""Angular and linear momentum of the whole system."""

from __future__ import annotations

from typing import Any

from skodyn.channels.curves import Curves, Family
from skodyn.channels.entry import Channel, DataSet
from skodyn.channels.rows import Rows
from skodyn.registry import register

PARTS = tuple(f"{part}.{c}" for part in ("angular", "linear") for c in "xyz")


def _compute(rows: Rows) -> dict[str, Any]:
    from skodyn import dynamics

    (found,) = rows.each(dynamics.momentum, rows.q, rows.v)
    return {"momentum": found}


def _draw(name: str, curves: Curves) -> list[Family]:
    values = curves.values
    return [
        Family(name, "angular momentum", "N·m·s", ("x", "y", "z"), values[:, :3]),
        Family(name, "linear momentum", "N·s", ("x", "y", "z"), values[:, 3:]),
    ]


MOMENTUM = register(
    Channel(
        "momentum",
        {
            "momentum": DataSet(
                ("t", "momentum_part"), "spatial momentum in world axes [N m s, N s]"
            )
        },
        _compute,
        lambda model: {"momentum_part": PARTS},
        draw=_draw,
        on_its_own=True,
        usual=True,
        algorithm="ENERGY",
        order=8,
    )
)
