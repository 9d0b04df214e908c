"""How to integrate: the method and its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from skodyn.errors import StateError
from skodyn.faults import Fault, Subject
from skodyn.model.keys import BOOLEAN, POSITIVE, POSITIVE_LIMIT, Kind
from skodyn.simulation.steppers.method import METHODS, Setting
from skodyn.wording import Spelling

__all__ = ["IntegratorSettings", "setting_names"]


class IntegratorSettings:
    """The method, and its numbers, each by its name: `settings.rtol`.

    dt is the step of fixed-step methods, and the interval between rows of those that choose their
    steps. A velocity beyond max_speed stops a run. The others are those of the methods, which say
    what they take: tolerance, rtol, atol, first_step, max_step, …
    """

    def __init__(
        self,
        method: str = "rk4",
        dt: float = 1e-3,
        *,
        max_speed: float = math.inf,
        **own: float,
    ) -> None:
        known = _known_settings(method)
        numbers = {name: own.get(name, setting.default) for name, setting in known.items()}
        vars(self).update(method=method, dt=dt, max_speed=max_speed, own=numbers)
        faults = []
        if method not in METHODS:
            problem = f"The integrator {method!r} is unknown"
            faults.append(Fault(problem, f"give {METHODS.listed()}.", ("method",), method))
        spelling = Spelling((*known, "dt", "max_speed"))
        for name in sorted(own.keys() - known.keys()):
            remedy = spelling.remedy(name, f"give {', '.join(known)}")
            faults.append(Fault(f"{name} is not a setting of an integrator", remedy, (name,)))
        kinds = {name: setting.kind for name, setting in known.items()}
        for name, kind in {"dt": POSITIVE, "max_speed": POSITIVE_LIMIT, **kinds}.items():
            if not _fits(kind, value := getattr(self, name)):
                faults.append(Subject().found(name, value, f"give {kind.form}."))
        for name, owner in _switches(method):
            if numbers[name] is True:
                problem = f"{name} is True, but {method} has no such setting"
                faults.append(Fault(problem, f"leave it out, or choose {owner}.", (name,), True))
        if faults:
            raise StateError(faults)

    method: str
    dt: float
    max_speed: float
    own: dict[str, float]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} cannot be set; settings.changed({name}=…) makes others.")

    def __getattr__(self, name: str) -> float:
        try:
            found: float = self.__dict__["own"][name]
        except KeyError:
            raise AttributeError(f"IntegratorSettings has no {name!r}.") from None
        return found

    @property
    def adaptive(self) -> bool:
        return METHODS[self.method].adaptive

    def plain(self) -> dict[str, Any]:
        """Every number by its name."""
        return {"method": self.method, "dt": self.dt, **self.own, "max_speed": self.max_speed}

    def changed(self, **settings: Any) -> IntegratorSettings:
        """The same with other numbers."""
        return IntegratorSettings(**{**self.plain(), **settings})

    def suited(self, model: Any, given: Iterable[str]) -> IntegratorSettings:
        """The same, with what models with flexible bodies take unless it was given."""
        key = "implicit_springs"
        if model.flexible and key in METHODS[self.method].keys and key not in given:
            return self.changed(implicit_springs=True)
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IntegratorSettings) and self.plain() == other.plain()

    def __hash__(self) -> int:
        return hash(tuple(self.plain().items()))

    def __repr__(self) -> str:
        words = ", ".join(f"{name}={value!r}" for name, value in self.plain().items())
        return f"IntegratorSettings({words})"


def _known_settings(method: str) -> dict[str, Setting]:
    """The settings of the package's methods and of this one: whoever tries several methods gives
    them all."""
    chosen = METHODS.get(method)
    methods = [*METHODS.built_in.values(), *([chosen] if chosen else [])]
    return {setting.name: setting for one in methods for setting in one.settings}


def _switches(method: str) -> list[tuple[str, str]]:
    """What other methods can be switched to and this one cannot, with the name of one that can.

    A number that a method does not read is no harm; a switch that does nothing is.
    """
    own = METHODS[method].keys if method in METHODS else ()
    return [
        (setting.name, name)
        for name, one in METHODS.built_in.items()
        for setting in one.settings
        if setting.kind is BOOLEAN and setting.name not in own
    ]


def setting_names() -> tuple[str, ...]:
    """The settings of all methods."""
    own = (setting.name for method in METHODS.values() for setting in method.settings)
    return (*dict.fromkeys(own), "max_speed")


def _fits(kind: Kind, value: Any) -> bool:
    """Whether a kind takes a value; what limits something may be infinite in Python."""
    unlimited = kind is POSITIVE_LIMIT and isinstance(value, float) and value == math.inf
    return unlimited or kind.read(value) is not None
