"""The rows of a run as the log takes them, computed between chunks from finished rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from skodyn.channels.entries.integrals import INTEGRALS
from skodyn.channels.entry import CHANNELS, Channel
from skodyn.channels.rows import Rows
from skodyn.dynamics import algorithms
from skodyn.dynamics.algorithm import FEW
from skodyn.simulation.control.integral_rows import named_integrals
from skodyn.simulation.engine import Block, Engine
from skodyn.simulation.force_energy import force_energy

__all__ = ["channel_rows", "prepare_channels"]


def prepare_channels(channels: Sequence[Channel], rows: int) -> None:
    """Have kernels of batches ready before anybody times a step, if so many rows are worth it.

    Shipped code is ready as it is; without it this is where numba compiles.
    """
    for channel in channels:
        algorithm = getattr(algorithms, channel.algorithm, None)
        if algorithm is not None and (rows >= FEW or algorithm.batch.is_at_hand):
            _ = algorithm.ready_batch


def channel_rows(engine: Engine, block: Block, channels: Sequence[Channel]) -> dict[str, Any]:
    """The rows of a block: what every log has, and what these channels add."""
    model, v = engine.model, np.ascontiguousarray(block.y[:, : engine.model.nv])
    watch = engine.contacts
    found: Any = watch.evaluate(block.q, block.y) if watch is not None else None
    rows = Rows(
        model, block.t, block.step, block.q, v, lambda: engine.rates_and_forces(block),
        None if watch is None else lambda: watch.forces(found),
        partial(force_energy, model, engine.forces),
    )  # fmt: skip
    if any(channel.name == INTEGRALS.name for channel in channels):
        rows.integrals = block.y[
            :, [*named_integrals(model, engine.forces, engine.tables).values()]
        ]
    always = [channel for channel in CHANNELS.built_in.values() if channel.always]
    data: dict[str, Any] = {}
    for channel in (*always, *channels):
        data.update(channel.compute(rows))
    if engine.watch is not None:
        engine.watch.look(block.t, block.q, rows.loop_errors)
    if watch is not None:
        watch.look(block.t, block.q, found, engine.settings.dt * engine.every)
    return data
