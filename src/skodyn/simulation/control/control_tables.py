"""Check controllers against a model, and pack them for the jitted loop."""

from __future__ import annotations

from dataclasses import dataclass, field

from skodyn.dynamics.frames import frame_table
from skodyn.dynamics.nodes import node_table
from skodyn.errors import ModelError
from skodyn.faults import Fault
from skodyn.kernels.mimics import mimic_lanes
from skodyn.kernels.workspace import workspace_lanes
from skodyn.lanes.cache_lines import whole_lines
from skodyn.model.model import Model
from skodyn.simulation.control.control_records import FUNCTION_LAW, TIMING, TORQUES
from skodyn.simulation.control.controllers import ReadyLaw, prepare_law
from skodyn.simulation.element_kinds.controller import Controller, flat_params
from skodyn.simulation.settings import IntegratorSettings

__all__ = ["ControlTables", "pack_controllers", "timing_fault"]

MOST_WAITING = 1000
"""Samples that wait for a delay to be over."""


@dataclass
class ControlTables:
    """Records and numbers that follow those of the elements."""

    records: list[list[int]] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)
    controllers: list[Controller] = field(default_factory=list)
    integrals: int = 0
    seeds: list[int] = field(default_factory=list)  # where numbers have halves of the run's seed
    faults: list[Fault] = field(default_factory=list)
    workspace: int = 0  # where it begins in a row of the table CONTROL
    size: int = 0  # of such a row

    @property
    def sampled(self) -> int:
        return sum(controller.sample_time > 0.0 for controller in self.controllers)

    def laws(self, model: Model | None) -> list[ReadyLaw]:
        """Ready to be called; files are imported and functions compiled now.

        model: for laws that are called through Python, of which sweeps have none.
        """
        return [prepare_law(controller, model) for controller in self.controllers]


class ControlPacker:
    """Puts controllers one behind the other."""

    def __init__(
        self, model: Model, settings: IntegratorSettings | None, seed: int, first: tuple[int, int]
    ) -> None:
        """settings: of the run, if its time is known. first: number and integral."""
        self.model, self.settings, self.seed = model, settings, seed
        self.first_number, self.first_integral = first
        self.made = ControlTables()

    def add(self, controller: Controller, label: str) -> None:
        try:
            frames = self._frames(controller, label)
        except ModelError as error:
            self.made.faults.extend(error.faults)
            return
        steps, delay, unit = self._timing(controller, label)
        made, params = self.made, flat_params(controller.params)
        waiting = delay // steps + 1 if delay else 0
        held = (1 + waiting) * self.model.nv + controller.integrals if steps else 0
        numbers_at = self.first_number + len(made.numbers)
        frames_at = numbers_at + len(params)
        timing_at = frames_at + len(frames)
        made.records.append([
            FUNCTION_LAW, len(made.controllers), numbers_at, len(params),
            self.first_integral + made.integrals, controller.integrals, frames_at,
            controller.scratch, steps, delay, waiting, timing_at,
        ])  # fmt: skip
        made.numbers += [*params, *frames, *self._timing_numbers(controller, unit)]
        made.seeds.append(timing_at + 3)
        made.integrals += controller.integrals + held
        made.controllers.append(controller)

    def _frames(self, controller: Controller, label: str) -> list[float]:
        """How many, and of each what frame_motion.py and what jacobian.py takes."""
        found: list[float] = [float(len(controller.frames))]
        full = self.model.uncoupled
        for name in controller.frames:
            try:
                point = node_table(full, [name])
                found += [*frame_table(full, name).tolist(), *point.reshape(-1)[-4:].tolist()]
            except ModelError as error:
                raise ModelError(
                    [Fault(f"{label}: {f.problem}", f.remedy) for f in error.faults]
                ) from None
        return found

    def _timing(self, controller: Controller, label: str) -> tuple[int, int, float]:
        """(steps from one sample to the next, steps of the delay, the length of a step)."""
        if not controller.sample_time:
            return 0, 0, 1.0
        settings = self.settings
        if settings is None:
            return 1, 0, controller.sample_time
        fault = timing_fault(controller.sample_time, controller.delay, settings)
        if fault is not None:
            self.made.faults.append(Fault(f"{label}: it {fault[1]}", fault[2]))
            return 1, 0, 1.0
        unit = controller.sample_time if settings.adaptive else settings.dt
        steps, delay = round(controller.sample_time / unit), round(controller.delay / unit)
        return steps, delay, unit

    def _timing_numbers(self, controller: Controller, unit: float) -> list[float]:
        high, low = divmod(self.seed, 2**32)
        numbers = [
            unit, controller.q_noise, controller.v_noise, float(high), float(low),
            float(len(self.made.controllers)),
        ]  # fmt: skip
        assert len(numbers) == TIMING
        return numbers

    def finished(self) -> ControlTables:
        """With the sizes of the memory that all of them share."""
        made, model = self.made, self.model
        if made.controllers:
            scratch = max(controller.scratch for controller in made.controllers)
            made.workspace = whole_lines(TORQUES + 2 * model.nv + model.nq + scratch)
            full = model.uncoupled
            lanes = workspace_lanes(full.n_bodies, full.nq, full.nv) + mimic_lanes(model)
            made.size = made.workspace + whole_lines(lanes)
        return made


def timing_fault(
    sample_time: float, delay: float, settings: IntegratorSettings
) -> tuple[str, str, str] | None:
    """(key, what is wrong, what to do) if samples do not go with the steps of a method."""
    whole = sample_time if settings.adaptive else settings.dt
    what = "its sample_time" if settings.adaptive else "dt"
    for key, value in (("sample_time", sample_time), ("delay", delay)):
        parts = value / whole
        if abs(parts - round(parts)) > 1e-6 * max(parts, 1.0) * 1e-3 + 1e-9 or (
            value and round(parts) < 1
        ):
            near = max(round(parts), 1) * whole
            problem = f"has a {key} of {value!r} s, which is {parts:.9g} times {what} = {whole!r} s"
            return key, problem, f"give a whole multiple, such as {near:.9g}."
    if delay / sample_time > MOST_WAITING:
        problem = f"has a delay of {delay / sample_time:.9g} samples"
        return "delay", problem, f"give at most {MOST_WAITING}."
    return None


def pack_controllers(
    model: Model,
    controllers: list[tuple[Controller, str]],
    settings: IntegratorSettings | None,
    seed: int,
    first: tuple[int, int],
) -> ControlTables:
    """first: where their numbers and integrals begin in those of the system."""
    packer = ControlPacker(model, settings, seed, first)
    for controller, label in controllers:
        packer.add(controller, label)
    return packer.finished()
