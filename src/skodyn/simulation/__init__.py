"""Time-domain simulation: steppers, forces, the run loop. `simulate` is the front door."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skodyn.dynamics.contact_functions import Ground, with_ground
from skodyn.errors import StateError
from skodyn.faults import shown
from skodyn.model.keywords import keywords_checked
from skodyn.model.model import Model
from skodyn.simulation.elements import (
    Contact,
    Controller,
    FixmanForce,
    Forces,
    JointProperties,
    MotionFunction,
    MotionTable,
    PointSpring,
    Servo,
    SineMotion,
    Sinusoid,
    SteadyMotion,
    TorqueTable,
    TrackingServo,
    Wrench,
)
from skodyn.simulation.loop import Progress
from skodyn.simulation.run_progress import shown_run
from skodyn.simulation.session import Plan, Run, run_or_resume
from skodyn.simulation.settings import IntegratorSettings, setting_names
from skodyn.simulation.thermostat import AndersenThermostat
from skodyn.typing import IntegratorName

__all__ = [
    "AndersenThermostat",
    "Contact",
    "Controller",
    "FixmanForce",
    "Forces",
    "JointProperties",
    "MotionFunction",
    "MotionTable",
    "PointSpring",
    "Run",
    "Servo",
    "SineMotion",
    "Sinusoid",
    "SteadyMotion",
    "TorqueTable",
    "TrackingServo",
    "Wrench",
    "simulate",
]


@keywords_checked(setting_names)
def simulate(
    model: Model,
    q0: ArrayLike,
    v0: ArrayLike,
    *,
    duration: float,
    dt: float = 1e-3,
    integrator: IntegratorName | str = "rk4",
    log: str | Path | None = None,
    joints: dict[str, JointProperties] | None = None,
    elements: Iterable[Any] = (),
    ground: Ground = (),
    contacts: Iterable[Contact] = (),
    controller: Callable[..., None] | None = None,
    controller_parameters: Iterable[float] = (),
    thermostat: AndersenThermostat | None = None,
    motions: Iterable[Any] = (),
    seed: int = 0,
    every: int = 1,
    channels: Iterable[Any] = (),
    overwrite: bool = False,
    resume: bool = False,
    progress: Progress | bool | None = None,
    **settings: float,
) -> Run:
    """Simulate from a state; rows go to an HDF5 log, or stay in memory.

    Parameters
    ----------
    model : Model
        The system.
    q0 : array_like, shape (nq,)
        Coordinates at the start.
    v0 : array_like, shape (nv,)
        Velocities at the start.
    duration : float
        Seconds, a whole number of steps dt.
    dt : float
        Step of fixed-step methods, s; of adaptive ones the interval between rows.
    integrator : {"rk4", "semi_implicit_euler", "implicit_midpoint", "implicit_contact", \
"dormand_prince"} or str
        dormand_prince chooses its steps; implicit_midpoint suits long conservative runs,
        implicit_contact long steps with contacts. All move on the joints' manifolds. A method of
        your own goes by the name it was registered under.
    log : path, optional
        The HDF5 log to write; without it, rows stay in memory.
    joints : dict of str to JointProperties, optional
        Springs, damping, friction and stops by joint name; those that the model's file gives act on
        the other joints.
    elements : iterable
        Servo, TrackingServo, Controller, Sinusoid, TorqueTable, Wrench, PointSpring, FixmanForce,
        or elements of your own.
    ground : list of shapes, or dict of str to shape
        Shapes of the world that others can touch; the first half space of a list is "floor".
    contacts : iterable of Contact
        Which shapes touch, and by what law.
    controller : callable, optional
        ``f(t, q, v, params, tau)``, compiled if numba can; it writes its torques to tau and returns
        nothing. Short for the element ``Controller(f, controller_parameters)``, which can more.
    controller_parameters : iterable of float
        What the controller gets as params.
    thermostat : AndersenThermostat, optional
        Draws all velocities anew from time to time, between two steps.
    motions : iterable
        SteadyMotion, SineMotion, MotionTable or MotionFunction: joints that follow them whatever
        force it takes. Their q0 and v0 are those of the motion, or NaN. The channel "drive" has the
        forces.
    seed : int
        Of the noise of sensors (`Controller`); that of a thermostat is its own.
    every : int
        A row after this many steps.
    channels : iterable
        What to log beside t, q and v: names such as "energy", "tau", "poses", "momentum"; functions
        f(t, q, v) of your own; what `channel` made of one; or "file.py:name".
    overwrite : bool
        Replace a log of that name.
    resume : bool
        Go on with `log` from its last checkpoint, to the same bits, if the file exists.
    progress : bool or callable, optional
        True shows how far it has come, False does not; by default it is shown if it takes long. A
        function is called as ``progress(engine, seconds)`` between two steps instead.
    **settings
        rtol, atol, tolerance, iterations, first_step, max_step, max_speed of the integrator.

    Returns
    -------
    run : Run
        `status`, `message`, `summary` with the energy error, and the `trajectory`.

    Raises
    ------
    StateError
        Every fault of the arguments at once.
    LogError
        The log exists, or cannot be written.

    See Also
    --------
    run : the same from a scenario file.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> start = {"q0": [1.5, 0.0], "v0": [0.0, 0.0]}
    >>> run = sk.simulate(model, **start, duration=2.0, every=10, channels=["energy"])
    >>> run.status, run.trajectory["energy"].shape
    ('finished', (201, 2))
    >>> bool(abs(run.summary["energy_imbalance"]) < 1e-7)
    True
    """
    if not isinstance(model, Model):
        raise StateError(
            f"simulate was given {shown(model)}, which is not an sk.Model",
            "give a rigid model (sk.load, sk.ModelBuilder), since SKO models have no joints "
            "that time could move; a function that gives one for a state goes to sk.simulate_sko.",
        )
    passive = {**model.joint_properties, **(joints or {})}
    model = with_ground(model, ground)
    acting = tuple(elements)
    if controller is not None:
        acting += (Controller(controller, tuple(controller_parameters)),)
    forces = Forces(passive, acting, tuple(contacts), tuple(motions), seed)
    chosen = IntegratorSettings(method=integrator, dt=dt, **settings).suited(model, settings)
    plan = Plan(
        model, np.asarray(q0, dtype=np.float64), np.asarray(v0, dtype=np.float64), duration,
        chosen, forces, every, tuple(channels),
        seed=seed, thermostat=thermostat,
    )  # fmt: skip
    with shown_run(model.name if log is None else Path(log).name, progress) as show:
        return run_or_resume(plan, log, resuming=resume, overwrite=overwrite, progress=show)
