"""Every exception of the package.

Errors that come from something a person wrote (a model, a scenario, a state) collect *all*
faults before they are raised, so that one look is enough to correct the input. Each is a `Fault`:
where it is, what was found, what is wrong with it and what to do; `str` makes one sentence of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from skodyn.faults import Fault

__all__ = [
    "ArgumentError",
    "DynamicsError",
    "Fault",
    "FaultsError",
    "LogError",
    "ModelError",
    "ScenarioError",
    "SkodynError",
    "StateError",
    "TopologyError",
    "faults_of",
]


class SkodynError(Exception):
    """Above all errors that skodyn raises on purpose."""


class FaultsError(SkodynError):
    """An error that carries every fault found, in `faults`.

    Raised with one problem and its remedy, or with all faults; a sentence is a fault, too.
    """

    what = "input"

    def __init__(self, faults: str | Fault | Iterable[str | Fault], remedy: str = "") -> None:
        if isinstance(faults, str):
            faults = Fault(faults, remedy)
        given = (faults,) if isinstance(faults, Fault) else faults
        self.faults: tuple[Fault, ...] = tuple(
            one if isinstance(one, Fault) else Fault(one) for one in given
        )
        super().__init__(self._message())

    def _message(self) -> str:
        if len(self.faults) == 1:
            return str(self.faults[0])
        listed = "\n".join(f"  - {fault}" for fault in self.faults)
        return f"{len(self.faults)} faults in this {self.what}:\n{listed}"

    def __reduce__(self) -> tuple[type, tuple[tuple[Fault, ...]]]:
        return type(self), (self.faults,)


def faults_of(error: SkodynError) -> tuple[Fault, ...]:
    """What an error carries; its message, if it is one of those that carry no list."""
    return error.faults if isinstance(error, FaultsError) else (Fault(str(error)),)


class TopologyError(FaultsError):
    """A graph that is not what was asked for: a cycle, two parents, an unknown node."""

    what = "graph"


class ModelError(FaultsError):
    """A description of bodies and joints that cannot become a model."""

    what = "model"


class DynamicsError(SkodynError):
    """A state in which the equations of motion have no unique finite answer."""


class LogError(SkodynError):
    """A log, checkpoint or saved body that cannot be read or written."""


class ScenarioError(FaultsError):
    """A scenario file that does not describe a run."""

    what = "scenario"


class StateError(FaultsError):
    """Coordinates, velocities or forces that do not fit the model."""

    what = "state"


class ArgumentError(FaultsError, TypeError):
    """An argument that a function does not have."""

    what = "call"


class KernelMemoryError(SkodynError):
    """A kernel has written where it must not: a fault of skodyn, found by SKODYN_CHECK=1."""
