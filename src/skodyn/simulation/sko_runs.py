"""Simulation of a function that gives an SKO model for a state, by the loops and logs of all runs.

The coordinates of such a system are those whose rates are its velocities, q̇ = v; v̇ is that of
Algorithm 6.1 for the model at (q, v). A stand-in carries them: unit masses on straight rails, on
which a force is an acceleration, to the bit. What pushes them is a control law in Python that asks
the SKO model for v̇, so every integrator, logs, checkpoints and resuming are those of any run. Every
evaluation builds a model: this is for systems that no joint describes, not for speed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skodyn.channels.batches import parameter_count
from skodyn.channels.entry import CHANNELS
from skodyn.channels.own import FunctionChannel
from skodyn.errors import SkodynError, StateError
from skodyn.faults import Fault, shown
from skodyn.model.columns import as_floats
from skodyn.model.description import ModelBuilder
from skodyn.model.joints import Prismatic
from skodyn.model.keywords import keywords_checked
from skodyn.model.model import Model
from skodyn.simulation.elements import Controller, Forces
from skodyn.simulation.engine import Engine
from skodyn.simulation.loop import Progress
from skodyn.simulation.plan import Plan
from skodyn.simulation.run_progress import shown_run
from skodyn.simulation.session import Run, run_or_resume
from skodyn.simulation.settings import IntegratorSettings, setting_names
from skodyn.sko import SKOModel
from skodyn.sko.articulated_body import forward_dynamics
from skodyn.typing import Floats

__all__ = ["simulate_sko"]

ModelAt = Callable[[Floats, Floats], SKOModel]
Push = Callable[[float, Floats, Floats], ArrayLike]
MEANINGFUL = ("vdot",)
"""Channels that mean the same of a stand-in."""


@keywords_checked(setting_names)
def simulate_sko(
    model_at: ModelAt,
    q0: ArrayLike,
    v0: ArrayLike,
    *,
    duration: float,
    dt: float = 1e-3,
    integrator: str = "rk4",
    tau: Push | None = None,
    names: Sequence[str] = (),
    log: str | Path | None = None,
    every: int = 1,
    channels: Iterable[Any] = (),
    overwrite: bool = False,
    resume: bool = False,
    progress: Progress | bool | None = None,
    **settings: float,
) -> Run:
    """Simulate a system whose SKO model is a function of its state.

    Parameters
    ----------
    model_at : callable
        ``model_at(q, v)`` gives the `SKOModel` there, gravity and velocity terms in its a and b.
    q0 : array_like, shape (nv,)
        Coordinates at the start: their rates are the velocities.
    v0 : array_like, shape (nv,)
        Velocities at the start.
    duration : float
        Seconds, a whole number of steps dt.
    dt : float
        Step of fixed-step methods, s; of adaptive ones the interval between rows.
    integrator : str
        Any that `simulate` takes: "rk4", "dormand_prince", "implicit_midpoint", …
    tau : callable, optional
        ``tau(t, q, v)`` gives the generalized forces; none by default.
    names : sequence of str
        Of the coordinates, in logs and plots; "x1", "x2", … by default.
    log : path, optional
        The HDF5 log to write; without it, rows stay in memory.
    every : int
        A row after this many steps.
    channels : iterable
        What to log beside t, q and v: "vdot", or functions f(t, q, v) of your own. Energies and
        poses are no functions of an SKO model.
    overwrite : bool
        Replace a log of that name.
    resume : bool
        Go on with `log` from its last checkpoint, to the same bits, if the file exists.
    progress : bool or callable, optional
        As in `simulate`.
    **settings
        rtol, atol, tolerance, iterations, first_step, max_step, max_speed of the integrator.

    Returns
    -------
    run : Run
        `t`, `q`, `v` by rows, `status`, `message` and `trajectory`. The model in it, unit masses on
        rails, stands in for what has no bodies.

    Raises
    ------
    StateError
        Every fault of the arguments at once.
    LogError
        The log exists, or cannot be written.

    See Also
    --------
    simulate : models of rigid and flexible bodies, at compiled speed.

    Examples
    --------
    >>> def spring(q, v):
    ...     return sk.SKOModel([-1], A={}, H={0: 1.0}, M={0: 2.0}, a={0: 0.0}, b={0: 8.0 * q})
    >>> run = sk.simulate_sko(spring, [1.0], [0.0], duration=1.0, dt=0.01)
    >>> bool(abs(run.q[-1, 0] - np.cos(2.0)) < 1e-8)
    True
    """
    q, v = _start(model_at, q0, v0)
    law = Law(model_at, tau)
    plan = SKOPlan(
        stand_in(len(q), names), q, v, duration, IntegratorSettings(integrator, dt, **settings),
        Forces(elements=(Controller(law),)), every, tuple(channels),
    )  # fmt: skip
    with shown_run("SKO model" if log is None else Path(log).name, progress) as show:
        return run_or_resume(plan, log, resuming=resume, overwrite=overwrite, progress=show)


class Law:
    """The accelerations of the SKO model as a control law for its stand-in."""

    in_python = True  # nobody need be told that it is not compiled

    def __init__(self, model_at: ModelAt, tau: Push | None) -> None:
        self.model_at, self.tau = model_at, tau
        self.said = ""  # why there are none
        self.__module__ = str(getattr(model_at, "__module__", "__main__"))  # whose code it is

    def __getstate__(self) -> dict[str, Any]:
        """What decides the accelerations, by which a resumed run is known again."""
        return {"model_at": self.model_at, "tau": self.tau}

    def __call__(self, t: float, q: Floats, v: Floats, params: Floats, tau: Floats) -> None:
        tau[:] = np.nan  # which ends the run at this step
        if self.said or not (np.isfinite(q).all() and np.isfinite(v).all()):
            return
        try:
            tau[:] = self._accelerations(t, q.copy(), v.copy())
        except SkodynError as error:
            self.said = str(error)

    def _accelerations(self, t: float, q: Floats, v: Floats) -> Floats:
        model = _checked_model(self.model_at(q, v))
        if model.nv != len(v):
            problem = f"model_at gave a model of {model.nv} velocities, the run has {len(v)}"
            raise StateError(problem, "let it have the same at every state.")
        force = np.zeros(len(v)) if self.tau is None else as_floats(self.tau(t, q, v))
        if force is None or force.shape != v.shape:
            raise StateError(
                "tau did not return one force for each velocity", f"let it return {len(v)} numbers."
            )
        return np.asarray(forward_dynamics(model, force))


@dataclass(frozen=True, eq=False)
class SKOPlan(Plan):
    """A run of a stand-in: it has no energy, and few channels mean anything."""

    def __post_init__(self) -> None:
        own = CHANNELS.built_in
        known = [own[n] for n in self.channels if isinstance(n, str) and n in own]
        faults = [_channel_fault(entry) for entry in known]
        if not any(faults):
            super().__post_init__()
            faults = [_channel_fault(entry) for entry in self.entries]
        if any(faults):
            raise StateError([fault for fault in faults if fault])

    def engine(self) -> Engine:
        engine = super().engine()
        engine.keeps_accounts = False
        return engine


def _channel_fault(entry: Any) -> Fault | None:
    own = CHANNELS.built_in.get(entry.name) is not entry
    of_state = isinstance(entry, FunctionChannel) and parameter_count(entry.function) == 3
    if entry.name in MEANINGFUL or (own and of_state):
        return None
    remedy = "give vdot, or a function f(t, q, v) that finds it."
    return Fault(f"Channel {entry.name!r} needs bodies, and an SKO model has none", remedy)


def stand_in(nv: int, names: Sequence[str] = ()) -> Model:
    """Unit masses on rails without gravity: the acceleration of each is the force on it."""
    called = tuple(names) or tuple(f"x{k + 1}" for k in range(nv))
    if len(called) != nv:
        raise StateError(f"names are {shown(names)}", f"give {nv}, one for each coordinate.")
    builder = ModelBuilder(name=f"SKO model of {nv} coordinates", gravity=(0, 0, 0))
    for k, name in enumerate(called):
        place = (0.0, 0.1 * k, 0.0)
        builder.add_body(name, "world", Prismatic(axis=(1, 0, 0)), translation=place, mass=1.0)
    note = "Unit masses on rails stand in for the coordinates of an SKO model."
    return replace(builder.build(), notes=(note,))


def _start(model_at: Any, q0: Any, v0: Any) -> tuple[Floats, Floats]:
    if not callable(model_at):
        remedy = "give a function of (q, v) that returns an sk.SKOModel."
        raise StateError(f"simulate_sko was given {shown(model_at)}", remedy)
    found = []
    for name, given in (("q0", q0), ("v0", v0)):
        value = as_floats(given)
        if value is None or value.ndim != 1 or not np.isfinite(value).all():
            raise StateError(f"{name} is {shown(given)}", "give a list of finite numbers.")
        found.append(np.array(value, dtype=np.float64))
    model = _checked_model(model_at(*(one.copy() for one in found)))
    for name, value in zip(("q0", "v0"), found, strict=True):
        if len(value) != model.nv:
            problem = f"{name} has {len(value)} numbers, the SKO model {model.nv} velocities"
            raise StateError(problem, "give coordinates whose rates are the velocities.")
    return found[0], found[1]


def _checked_model(model: Any) -> SKOModel:
    if not isinstance(model, SKOModel):
        raise StateError(f"model_at gave {shown(model)}", "let it return an sk.SKOModel.")
    return model
