"""What can be logged besides t, step, q and v: computed from finished rows, between chunks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skodyn import dynamics
from skodyn.dynamics.driver import FEW
from skodyn.dynamics.functions import ENERGY, KINEMATICS
from skodyn.errors import DynamicsError
from skodyn.model.columns import Floats
from skodyn.model.model import Model
from skodyn.simulation.engine import Block, Engine
from skodyn.simulation.loop_channels import Rates, loop_error_rows, loop_force_rows

__all__ = ["CHANNELS", "OF_LOOPS", "channel_rows", "data_sets", "prepare_channels"]

CHANNELS = ("energy", "momentum", "poses", "vdot", "tau", "loop_error", "loop_forces")
"""poses gives two data sets, positions and rotations; the last two are for models with loops."""
OF_LOOPS = ("loop_error", "loop_forces")


_IN_BATCHES = {"energy": ENERGY, "momentum": ENERGY, "poses": KINEMATICS}


def prepare_channels(channels: tuple[str, ...], rows: int) -> None:
    """Have kernels of batches ready before anybody times a step, if so many rows are worth it.

    Shipped code is ready as it is; without it this is where numba compiles.
    """
    for channel in channels:
        if channel in _IN_BATCHES and (rows >= FEW or _IN_BATCHES[channel].batch.is_at_hand):
            _ = _IN_BATCHES[channel].ready_batch


def channel_rows(engine: Engine, block: Block, channels: tuple[str, ...]) -> dict[str, Any]:
    """The rows of a block as the log takes them."""
    model, v = engine.model, np.ascontiguousarray(block.y[:, : engine.model.nv])
    rows: dict[str, Any] = {"t": block.t, "step": block.step, "q": block.q, "v": v}
    if "energy" in channels:
        rows["energy"] = np.stack(_each_row(dynamics.energy, model, block.q, v), axis=-1)
    if "momentum" in channels:
        (rows["momentum"],) = _each_row(dynamics.momentum, model, block.q, v)
    if "poses" in channels:
        poses = _each_row(dynamics.forward_kinematics, model, block.q)
        rows["rotations"], rows["positions"] = poses
    if {"vdot", "tau", "loop_forces"}.intersection(channels):
        vdot, tau, f_ext = engine.rates_and_forces(block)
        rows.update({n: r for n, r in (("vdot", vdot), ("tau", tau)) if n in channels})
        if "loop_forces" in channels:
            rows["loop_forces"] = loop_force_rows(model, block.q, v, Rates(vdot, tau, f_ext))
    if engine.watch is not None:
        errors = loop_error_rows(model, block.q)
        engine.watch.look(block.t, block.q, errors)
        if "loop_error" in channels:
            rows["loop_error"] = errors
    return rows


def _each_row(function: Callable[..., Any], model: Model, *states: Floats) -> tuple[Any, ...]:
    """The results of all rows; NaN where they overflow, as on the way to a blow-up."""
    try:
        results = function(model, *states, threads=1)
        return results if isinstance(results, tuple) else (results,)
    except DynamicsError:
        if len(states[0]) > 1:
            single = [
                _each_row(function, model, *(s[i : i + 1] for s in states))
                for i in range(len(states[0]))
            ]
            return tuple(np.concatenate(rows) for rows in zip(*single, strict=True))
        neutral = (model.neutral()[None], np.zeros((1, model.nv)))[: len(states)]
        known = _each_row(function, model, *neutral)
        return tuple(np.full_like(result, np.nan) for result in known)


def data_sets(channels: tuple[str, ...]) -> tuple[str, ...]:
    """The data sets of a log that these channels fill."""
    poses = ("positions", "rotations") if "poses" in channels else ()
    return tuple(name for name in channels if name != "poses") + poses
