"""Everything that decides a run, its faults, and the hashes by which it is known again."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field, fields
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from skodyn.channels.entries.contacts import CONTACTS, labelled
from skodyn.channels.entries.integrals import INTEGRALS, labelled_integrals
from skodyn.channels.entry import CHANNELS, Channel
from skodyn.channels.own import chosen
from skodyn.errors import ModelError, StateError
from skodyn.faults import Fault, Subject
from skodyn.model.contact.contact_tables import pack_contacts
from skodyn.model.keys import POSITIVE, STEPS, remedy_for
from skodyn.model.model import Model
from skodyn.simulation.control.controllers import law_function
from skodyn.simulation.control.integral_rows import has_integrals, named_integrals
from skodyn.simulation.duration import division_fault, effort_faults, every_fault
from skodyn.simulation.elements import Controller, Forces
from skodyn.simulation.engine import Engine
from skodyn.simulation.fingerprint import fingerprint
from skodyn.simulation.force_tables import pack_forces
from skodyn.simulation.identity import channel_identity, code_identity, own_code, run_code
from skodyn.simulation.loop_start import drive_fault, start_fault
from skodyn.simulation.methods import METHODS
from skodyn.simulation.motion_tables import pack_motions, starts
from skodyn.simulation.settings import IntegratorSettings
from skodyn.simulation.thermostat import AndersenThermostat, thermostat_faults
from skodyn.typing import Floats

__all__ = ["Plan"]


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything that decides a run."""

    model: Model
    q0: Floats
    v0: Floats
    duration: float
    settings: IntegratorSettings
    forces: Forces = field(default_factory=Forces)
    every: int = 1
    channels: tuple[Any, ...] = ()  # names, "file.py:name", functions or sk.channel(…)
    seed: int | None = None
    scenario_text: str = ""
    scenario_folder: str = ""
    thermostat: AndersenThermostat | None = None
    entries: tuple[Channel, ...] = field(init=False, repr=False)  # what `channels` speak of

    def __post_init__(self) -> None:
        faults = self._timing_faults()
        entries, wrong = chosen(self.channels, Path(self.scenario_folder))
        entries = tuple(self._of_this_run(one) for one in entries)
        faults += wrong + [fault for one in entries if (fault := one.fault(self.model))]
        object.__setattr__(self, "entries", entries)
        if self.thermostat is not None:
            faults += thermostat_faults(self.thermostat, self.settings, self.forces.motions)
        if faults:
            raise StateError(faults)

    def _of_this_run(self, entry: Channel) -> Channel:
        """The channels of contacts and of integrals have labels of the run."""
        if entry is CONTACTS and self.forces.contacts:
            return labelled(pack_contacts(self.model, self.forces.contacts).labels)
        if entry is INTEGRALS and has_integrals(self.model, self.forces):
            tables = pack_forces(self.model, self.forces, self.settings)
            return labelled_integrals([*named_integrals(self.model, self.forces, tables)])
        return entry

    def _timing_faults(self) -> list[Fault]:
        seconds = POSITIVE.read(self.duration)
        if seconds is None:
            remedy = remedy_for(POSITIVE, self.duration)
            return [Subject().found("duration", self.duration, remedy)]
        if STEPS.read(self.every) is None:
            return [Subject().found("every", self.every, f"give {STEPS.form}.")]
        found = division_fault(float(seconds), float(self.settings.dt), "dt")
        if found is not None:
            return [found]
        too_rare = every_fault(self.every, round(self.duration / self.settings.dt), "every")
        return [*effort_faults(self.settings, seconds), *([too_rare] if too_rare else [])]

    def engine(self) -> Engine:
        q, v = self._start()
        if v.shape != (self.model.nv,) or not np.isfinite(v).all():
            raise StateError(
                f"v0 is {self.v0!r}", f"this model takes {self.model.nv} finite velocities."
            )
        q = self.model.check_q(q)
        if self.model.has_loops and (fault := self._loop_fault(q, v)):
            raise StateError(Fault("The start cannot be simulated", cause=fault))
        return Engine(
            self.model, q, v, self.duration, self.settings, self.forces, self.every,
            self.thermostat, any(entry.name == CONTACTS.name for entry in self.entries),
        )  # fmt: skip

    def _loop_fault(self, q: Floats, v: Floats) -> Fault | None:
        driven = [motion.joint for motion in self.forces.motions]
        fault = start_fault(self.model, q, v)
        return fault or (drive_fault(self.model, q, driven) if driven else None)

    def _start(self) -> tuple[Any, Floats]:
        """q0 and v0 with NaN of driven joints filled in; what contradicts their motion is told."""
        model, motions = self.model, self.forces.motions
        if not motions:
            return self.q0, np.asarray(self.v0, dtype=np.float64)
        faults = pack_motions(model, motions, 0, 0, prepare=False).faults
        if faults:
            raise ModelError(faults)
        q, v = np.array(self.q0, dtype=np.float64), np.array(self.v0, dtype=np.float64)
        if q.shape != (model.nq,) or v.shape != (model.nv,):
            return q, v
        for joint, values in starts(model, motions).items():
            places = (q, model.q_slice(joint)), (v, model.v_slice(joint))
            for name, (array, at), value in zip(("q0", "v0"), places, values, strict=True):
                given = array[at]
                if (abs(given - value) > 1e-9 * np.maximum(1.0, abs(value))).any():  # not of NaN
                    has, wants = (x.tolist() if x.size > 1 else float(x[0]) for x in (given, value))
                    what = f"{name} of joint {joint!r} is {has!r}, but its motion is prescribed "
                    what += f"and starts with {wants!r}"
                    faults.append(Fault(what, "give that, or NaN.", joint=joint))
                array[at] = value
        if faults:
            raise StateError(faults)
        return q, v

    @property
    def own_entries(self) -> tuple[Channel, ...]:
        """The channels that skodyn does not bring itself."""
        own = CHANNELS.built_in
        return tuple(entry for entry in self.entries if own.get(entry.name) is not entry)

    @property
    def rows(self) -> int:
        """How many rows a complete run logs, the one at the start included."""
        return 1 + round(self.duration / self.settings.dt) // self.every

    def identity(self) -> dict[str, str]:
        """Hashes by which a resumed run is recognised as the same."""
        state = hashlib.sha256(np.concatenate((self.q0, self.v0)).tobytes())
        method = METHODS[self.settings.method]
        used = np.asarray(method.numbers(self.settings)).tolist()
        numbers = repr((self.settings, used, self.duration, self.every))
        others = [e for e in self.forces.elements if not isinstance(e, Controller)]
        acting = repr((
            sorted((name, asdict(given)) for name, given in self.forces.joints.items()),
            [(type(e).__name__, _exact(_given(e))) for e in others],
            [_exact(one.params) for one in self.forces.controllers if len(one.params)],
            own_code(type(element) for element in self.forces.elements),
            *([self.forces.seed] if any(map(_is_noisy, self.forces.elements)) else []),
            *([repr(self.thermostat)] if self.thermostat else []),
            *(contact.text for contact in self.forces.contacts),
            *[(type(m).__name__, _identity_of_motion(m)) for m in self.forces.motions],
        ))  # fmt: skip
        return {
            "model": "-".join((self.model.content_hash, *own_code(map(type, self.model.joints)))),
            "initial state": state.hexdigest(),
            "settings": hashlib.sha256(numbers.encode()).hexdigest(),
            "forces": hashlib.sha256(acting.encode()).hexdigest(),
            **_identity_of_laws(self.forces.controllers),
            "channels": channel_identity(self.entries, self.model),
            "code": run_code(method),
        }

    def provenance(self) -> dict[str, Any]:
        from skodyn.io import provenance

        return provenance.collect(
            self.model, self.scenario_text, seed=self.seed, integrator=self.settings.method,
            integrator_settings=self.settings.plain(), dt=self.settings.dt,
            duration=self.duration, every=self.every, identity=self.identity(),
            scenario_folder=self.scenario_folder,
        )  # fmt: skip


def _identity_of_laws(controllers: tuple[Controller, ...]) -> dict[str, str]:
    """The code of each controller, by its name; "none" stands for no controller."""
    if not controllers:
        return {"controller": fingerprint(None)}
    found: dict[str, str] = {}
    for controller in controllers:
        function = law_function(controller)
        name = f"controller {controller.label!r}"
        given = {f.name: getattr(controller, f.name) for f in fields(controller)}
        for apart in ("function", "params"):
            del given[apart]
        code = code_identity(function, getattr(function, "py_func", function))
        identity = f"{code}-{hashlib.sha256(repr(_exact(given)).encode()).hexdigest()[:16]}"
        found[name] = found[name] + identity if name in found else identity
    return found


def _is_noisy(element: Any) -> bool:
    return bool(getattr(element, "q_noise", 0.0) or getattr(element, "v_noise", 0.0))


def _identity_of_motion(motion: Any) -> Any:
    given = {f.name: getattr(motion, f.name) for f in fields(motion)}
    if "function" in given:
        given["function"] = fingerprint(given["function"])
    return _exact(given)


def _exact(value: Any) -> Any:
    """Plain lists and numbers: the repr of an array leaves out its middle, and digits."""
    if isinstance(value, dict):
        return {key: _exact(entry) for key, entry in value.items()}
    return value if isinstance(value, str) else np.asarray(value).tolist()


def _given(element: Any) -> dict[str, Any]:
    """What was given of an element: what servos have not always had, a clock and a limit of speed,
    only if there is one."""
    none = {"sample_time": 0.0, "delay": 0.0, "q_noise": 0.0, "v_noise": 0.0, "speed_limit": inf}
    return {n: one for n, one in asdict(element).items() if n not in none or one != none[n]}
