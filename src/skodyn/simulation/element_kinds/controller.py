"""A person's own control law: a function that is compiled and called inside of the loop."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from skodyn.channels.files import names_function
from skodyn.model.columns import LARGEST, as_floats
from skodyn.model.keys import Kind, key
from skodyn.model.keywords import fields_checked
from skodyn.registry import register
from skodyn.simulation.control.clock import DELAY, Q_NOISE, SAMPLE_TIME, V_NOISE, sampling_faults
from skodyn.simulation.element import Element
from skodyn.simulation.forces import LAW

__all__ = ["FRAMES", "FUNCTION", "PARAMS", "Controller", "flat_params"]

MOST = 10_000
"""Integrals, or numbers of scratch, of one controller."""


def _plain_numbers(value: Any) -> Any:
    """A number, or a tuple of them; None for everything else."""
    found = None if isinstance(value, bool) else as_floats(value)
    if found is None or found.ndim > 1 or not (abs(found) <= LARGEST).all():
        return None
    return tuple(found.tolist()) if found.ndim else float(found)


def _params(value: Any) -> Any:
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) and name.isidentifier() for name in value):
            return None
        found = {name: _plain_numbers(one) for name, one in value.items()}
        words = any(name.startswith("_") for name in found)
        return None if words or any(one is None for one in found.values()) else found
    if isinstance(value, list | tuple) and not len(value):
        return ()
    found = _plain_numbers(value)
    return found if isinstance(found, tuple) else None


def _names(value: Any) -> tuple[str, ...] | None:
    fine = isinstance(value, list | tuple) and all(isinstance(x, str) and x for x in value)
    return tuple(value) if fine else None


def _size(value: Any) -> int | None:
    return int(value) if type(value) is int and 0 <= value <= MOST else None


FUNCTION = Kind(
    "FILE.py:FUNCTION",
    lambda value: value if names_function(value) or callable(value) else None,
)
PARAMS = Kind("a table of numbers and lists of numbers by name, or a list of numbers", _params)
FRAMES = Kind("a list of names of bodies or frames", _names)
SIZE = Kind(f"a whole number from 0 to {MOST}", _size)


@register
@fields_checked
@dataclass(frozen=True)
class Controller(Element):
    """A control law of one's own: a function that numba compiles into the loop.

    ``law(t, q, v, params, tau)`` writes its torques, one for each degree of freedom, into tau,
    which holds zeros, and returns nothing. Further parameters are found by their names:
    ``dynamics`` has the dynamics of the model that is simulated, ``integrals`` and ``rates`` are
    its own state and where it writes its derivatives, ``scratch`` is room for numbers.

    Parameters
    ----------
    function : callable or str
        The law, or "FILE.py:FUNCTION".
    params : mapping or sequence of float
        What it gets as params: by name (``params.kp``, numbers or arrays), or an array.
    integrals : int
        How many quantities it integrates along with the state; they begin at zero.
    frames : sequence of str
        Bodies or frames that ``dynamics`` speaks of by their number in this list.
    scratch : int
        How many numbers of scratch it needs.
    sample_time : float
        Seconds from one call to the next; torques are held in between. 0: at every evaluation.
    delay : float
        Seconds from a sample to the torques that follow from it.
    q_noise, v_noise : float
        Standard deviation of what is added to the coordinates and velocities of each sample.

    Examples
    --------
    >>> def damp(t, q, v, params, tau):
    ...     for i in range(v.size):
    ...         tau[i] = -params.gain * v[i]
    >>> model = sk.examples.pendulum(2)
    >>> law = sk.Controller(damp, params={"gain": 0.5})
    >>> sk.simulate(model, [1.0, 0.0], [0.0, 0.0], duration=1.0, elements=[law]).status
    'finished'
    """

    function: Callable[..., Any] | str = field(metadata=key(FUNCTION, "the law; docs/safety.md"))
    params: Mapping[str, Any] | Sequence[float] = field(
        default=(), metadata=key(PARAMS, "what the law gets as `params`")
    )
    integrals: int = field(
        default=0, metadata=key(SIZE, "quantities that it integrates along with the state")
    )
    frames: Sequence[str] = field(
        default=(), metadata=key(FRAMES, "bodies or frames that `dynamics` knows by number")
    )
    scratch: int = field(default=0, metadata=key(SIZE, "numbers of scratch that it needs"))
    sample_time: float = field(default=0.0, metadata=SAMPLE_TIME)
    delay: float = field(default=0.0, metadata=DELAY)
    q_noise: float = field(default=0.0, metadata=Q_NOISE)
    v_noise: float = field(default=0.0, metadata=V_NOISE)
    type_name = "python"
    table = "controllers"
    code = LAW

    @classmethod
    def check(cls, given: Mapping[str, Any]) -> list[tuple[str, str, str]]:
        return sampling_faults(given)

    @property
    def label(self) -> str:
        """What it is called in sentences."""
        if isinstance(self.function, str):
            return self.function.replace("\\", "/").rpartition("/")[2]
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    @property
    def shared(self) -> bool:
        """Is its function compiled once for all runs: that of a file, or of a servo?"""
        return isinstance(self.function, str)

    @property
    def digest(self) -> str:
        """Of the text of its file, which is not run for it."""
        if not isinstance(self.function, str):
            return ""
        file = Path(self.function.rpartition(":")[0])
        return hashlib.sha256(file.read_bytes() + self.label.encode()).hexdigest()

    def pack(self, model: Any) -> tuple[int, Sequence[float]]:
        """Its numbers; the rest of it is packed by control_tables.py."""
        return 0, flat_params(self.params)

    def control_law(self, model: Any) -> Controller:
        return self

    def momentum_obstacle(self) -> str:
        return "a controller may apply an external force"


def flat_params(params: Any) -> list[float]:
    """All numbers of params in their order."""
    given = params.values() if isinstance(params, Mapping) else params
    return [float(x) for one in given for x in np.atleast_1d(np.asarray(one, float))]
