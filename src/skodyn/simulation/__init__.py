"""Time-domain simulation: steppers, forces, the run loop. `simulate` is the front door."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skodyn.errors import StateError
from skodyn.model.columns import shown
from skodyn.model.model import Model
from skodyn.simulation.elements import (
    FixmanForce,
    Forces,
    JointProperties,
    PointSpring,
    Servo,
    Sinusoid,
    TorqueTable,
    Wrench,
)
from skodyn.simulation.session import Plan, Run
from skodyn.simulation.session import resume as _resume
from skodyn.simulation.session import run as _run
from skodyn.simulation.settings import IntegratorSettings
from skodyn.simulation.thermostat import AndersenThermostat

__all__ = [
    "AndersenThermostat",
    "FixmanForce",
    "Forces",
    "JointProperties",
    "PointSpring",
    "Run",
    "Servo",
    "Sinusoid",
    "TorqueTable",
    "Wrench",
    "simulate",
]


def simulate(
    model: Model,
    q0: ArrayLike,
    v0: ArrayLike,
    *,
    duration: float,
    dt: float = 1e-3,
    integrator: str = "rk4",
    log: str | Path | None = None,
    joints: dict[str, JointProperties] | None = None,
    elements: Iterable[Any] = (),
    controller: Callable[..., None] | None = None,
    controller_parameters: Iterable[float] = (),
    thermostat: AndersenThermostat | None = None,
    every: int = 1,
    channels: Iterable[Any] = (),
    overwrite: bool = False,
    resume: bool = False,
    **settings: float,
) -> Run:
    """Simulate from (q0, v0) for `duration` seconds; rows go to an HDF5 log, or stay in memory.

    duration: a whole number of steps dt, as in scenario files.
    integrator: semi_implicit_euler, rk4, implicit_midpoint with step dt, or dormand_prince, which
    chooses its steps and writes rows at multiples of dt. every: a row after so many steps.
    joints: passive forces by joint name; those that the model's file gives act on the other joints.
    elements: servos, sinusoids, wrenches, springs, …
    channels: what is logged besides t, q and v: names, functions f(t, q, v), `sk.channel(…)`, or
    "file.py:name".
    controller: f(t, q, v, params, tau), compiled if numba can; it adds its torques to tau
    and returns nothing.
    thermostat: draws all velocities anew from time to time, between two steps.
    resume: go on with `log` from its last checkpoint, to the same bits, if the file exists.
    settings: rtol, atol, tolerance, max_step, max_speed, … of IntegratorSettings.
    """
    if not isinstance(model, Model):
        raise StateError(
            f"simulate was given {shown(model)}, which is no sk.Model; give a rigid model "
            "(sk.load, sk.ModelBuilder), since SKO models have no joints that time could move."
        )
    passive = {**model.joint_properties, **(joints or {})}
    forces = Forces(passive, tuple(elements), controller, tuple(controller_parameters))
    plan = Plan(
        model, np.asarray(q0, dtype=np.float64), np.asarray(v0, dtype=np.float64), duration,
        IntegratorSettings(method=integrator, dt=dt, **settings), forces, every, tuple(channels),
        thermostat=thermostat,
    )  # fmt: skip
    if resume and log is not None and Path(log).exists():
        return _resume(plan, log)
    return _run(plan, log, overwrite=overwrite)
