"""Simulation of a function that gives an SKO model for a state, by explicit fixed steps.

The coordinates of such a system are those whose rates are its velocities, q̇ = v; v̇ is that of
Algorithm 6.1 for the model at (q, v). Every evaluation builds a model, so this is for systems that
no joint describes, not for speed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skodyn.errors import SkodynError, StateError
from skodyn.model.columns import Floats, as_floats, shown
from skodyn.simulation.duration import division_fault, every_fault
from skodyn.simulation.settings import IntegratorSettings
from skodyn.simulation.steppers.explicit import explicit_run
from skodyn.simulation.steppers.method import METHODS
from skodyn.sko import SKOModel
from skodyn.sko.articulated_body import forward_dynamics

__all__ = ["SKORun", "simulate_sko"]

Rates = Callable[[float, Floats], Floats]


@dataclass(frozen=True, eq=False)
class SKORun:
    """Rows of a run of `simulate_sko`.

    Examples
    --------
    >>> def spring(q, v):
    ...     return sk.SKOModel([-1], A={}, H={0: 1.0}, M={0: 2.0}, a={0: 0.0}, b={0: 8.0 * q})
    >>> sk.simulate_sko(spring, [1.0], [0.0], duration=1.0, dt=0.01)
    <SKORun finished: 101 rows>
    """

    t: Floats
    q: Floats
    v: Floats
    status: str = "finished"
    message: str = ""

    def __repr__(self) -> str:
        return f"<SKORun {self.status}: {len(self.t)} rows>"


def simulate_sko(
    model_at: Callable[[Floats, Floats], SKOModel],
    q0: ArrayLike,
    v0: ArrayLike,
    *,
    duration: float,
    dt: float = 1e-3,
    integrator: str = "rk4",
    tau: Callable[[float, Floats, Floats], ArrayLike] | None = None,
    every: int = 1,
) -> SKORun:
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
        Step, s.
    integrator : str
        "rk4", "semi_implicit_euler", or an explicit method of your own that is registered.
    tau : callable, optional
        ``tau(t, q, v)`` gives the generalized forces; none by default.
    every : int
        A row after this many steps.

    Returns
    -------
    run : SKORun
        `t`, `q`, `v` by rows, `status` "finished" or "failed", and the `message` of a failure.

    Raises
    ------
    StateError
        Arguments do not fit, or the method needs more than accelerations.

    See Also
    --------
    simulate : models of rigid and flexible bodies, at compiled speed, with logs.

    Examples
    --------
    >>> def spring(q, v):
    ...     return sk.SKOModel([-1], A={}, H={0: 1.0}, M={0: 2.0}, a={0: 0.0}, b={0: 8.0 * q})
    >>> run = sk.simulate_sko(spring, [1.0], [0.0], duration=1.0, dt=0.01)
    >>> bool(abs(run.q[-1, 0] - np.cos(2.0)) < 1e-8)
    True
    """
    q, v = _start(model_at, q0, v0)
    steps = _steps(duration, dt, every)
    step = _step(integrator, dt)
    nv = len(v)

    def rates(t: float, y: Floats) -> Floats:
        at, speed = y[:nv], y[nv:]
        force = np.zeros(nv) if tau is None else np.asarray(tau(t, at, speed), dtype=np.float64)
        return np.concatenate((speed, forward_dynamics(model_at(at, speed), force)))

    y, rows, status, message = np.concatenate((q, v)), [], "finished", ""
    rows.append((0.0, y))
    for k in range(steps):
        try:
            y = step(rates, k * dt, y)
        except SkodynError as error:
            status, message = "failed", f"t = {k * dt:.9g} s: {error}"
            break
        if not np.isfinite(y).all():
            status, message = "failed", f"t = {(k + 1) * dt:.9g} s: the state is not finite."
            break
        if (k + 1) % every == 0:
            rows.append(((k + 1) * dt, y))
    states = np.array([state for _, state in rows])
    times = np.array([t for t, _ in rows])
    return SKORun(times, states[:, :nv], states[:, nv:], status, message)


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
    model = model_at(*found)
    if not isinstance(model, SKOModel):
        raise StateError(f"model_at gave {shown(model)}", "let it return an sk.SKOModel.")
    for name, value in zip(("q0", "v0"), found, strict=True):
        if len(value) != model.nv:
            problem = f"{name} has {len(value)} numbers, the SKO model {model.nv} velocities"
            raise StateError(problem, "give coordinates whose rates are the velocities.")
    return found[0], found[1]


def _steps(duration: float, dt: float, every: int) -> int:
    for name, value in (("duration", duration), ("dt", dt), ("every", every)):
        number = as_floats(value)
        if number is None or number.ndim or not 0.0 < number < np.inf:
            raise StateError(f"{name} is {shown(value)}", "give a positive number.")
    fault = division_fault(duration, dt, "dt")
    steps = round(duration / dt)
    fault = fault or every_fault(every, steps, "every")
    if fault is not None:
        raise StateError([fault])
    return steps


def _step(integrator: str, dt: float) -> Callable[[Rates, float, Floats], Floats]:
    """One step of a method that needs nothing but rates."""
    method = METHODS.get(integrator)
    if integrator == "semi_implicit_euler":
        return lambda rates, t, y: _euler(rates, t, dt, y)
    if method is None or method.loop is not explicit_run:
        fit = [name for name, one in METHODS.items() if one.loop is explicit_run]
        remedy = f"use one of {', '.join([*fit, 'semi_implicit_euler'])}."
        raise StateError(f"integrator {integrator!r} does not take functions of SKO models", remedy)
    numbers = np.asarray(method.numbers(IntegratorSettings(method=integrator, dt=dt)))
    s = int(numbers[0])
    a, b, c = np.split(numbers[1:], (s * s, s * s + s))
    a = a.reshape(s, s)

    def explicit(rates: Rates, t: float, y: Floats) -> Floats:
        k = np.zeros((s, len(y)))
        for i in range(s):
            k[i] = rates(t + c[i] * dt, y + dt * (a[i, :i] @ k[:i]))
        return y + dt * (b @ k)

    return explicit


def _euler(rates: Rates, t: float, dt: float, y: Floats) -> Floats:
    """Velocities first, then positions with the new velocities."""
    nv = len(y) // 2
    v = y[nv:] + dt * rates(t, y)[nv:]
    return np.concatenate((y[:nv] + dt * v, v))
