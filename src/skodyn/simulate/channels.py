"""What can be logged besides t, step, q and v: computed from finished rows, between chunks."""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn import dynamics
from skodyn.simulate.engine import Block, Engine

__all__ = ["CHANNELS", "channel_rows", "data_sets", "total_energy"]

CHANNELS = ("energy", "momentum", "poses", "vdot", "tau")
"""poses gives two data sets, positions and rotations."""


def channel_rows(engine: Engine, block: Block, channels: tuple[str, ...]) -> dict[str, Any]:
    """The rows of a block as the log takes them."""
    model, v = engine.model, np.ascontiguousarray(block.y[:, : engine.model.nv])
    rows: dict[str, Any] = {"t": block.t, "step": block.step, "q": block.q, "v": v}
    if "energy" in channels:
        rows["energy"] = np.stack(dynamics.energy(model, block.q, v, threads=1), axis=-1)
    if "momentum" in channels:
        rows["momentum"] = dynamics.momentum(model, block.q, v, threads=1)
    if "poses" in channels:
        poses = dynamics.forward_kinematics(model, block.q, threads=1)
        rows["rotations"], rows["positions"] = poses
    if "vdot" in channels or "tau" in channels:
        vdot, tau = engine.rates(block)
        rows.update({n: r for n, r in (("vdot", vdot), ("tau", tau)) if n in channels})
    return rows


def data_sets(channels: tuple[str, ...]) -> tuple[str, ...]:
    """The data sets of a log that these channels fill."""
    poses = ("positions", "rotations") if "poses" in channels else ()
    return tuple(name for name in channels if name != "poses") + poses


def total_energy(engine: Engine) -> float:
    """Kinetic and potential energy of the present state."""
    kinetic, potential = dynamics.energy(engine.model, engine.q, np.ascontiguousarray(engine.v))
    return float(kinetic) + float(potential)
