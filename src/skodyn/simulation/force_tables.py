"""Check described forces against a model, and pack them for the jitted loop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from skodyn.conventions import GROUND, JointKind
from skodyn.errors import ModelError
from skodyn.faults import Fault, Subject
from skodyn.lanes import PartAtWidths
from skodyn.model import layout
from skodyn.model.columns import Floats
from skodyn.model.model import Model
from skodyn.model.products import applied
from skodyn.model.property_checks import field_faults, property_faults
from skodyn.simulation import forces as f
from skodyn.simulation.elements import (
    Element,
    FixmanForce,
    Forces,
    JointProperties,
    OwnElement,
    PointSpring,
    Servo,
    Sinusoid,
    TorqueTable,
    Wrench,
)
from skodyn.simulation.structures import OWN_PARTS

__all__ = ["ForceTables", "pack_forces"]

_QUATERNIONS = (JointKind.SPHERICAL, JointKind.FREE)


@dataclass(frozen=True)
class ForceTables:
    """What forces.py reads."""

    codes: NDArray[np.int64]
    numbers: Floats
    n_integrals: int
    parts: tuple[PartAtWidths, ...] = ()  # that elements bring along


class _Packer:
    """Speaks of the degrees of freedom of the uncoupled tree: mimic joints can be acted upon."""

    def __init__(self, model: Model) -> None:
        self.model = model.uncoupled
        self.mimics = model.mimics
        self.records: list[list[int]] = []
        self.numbers: list[float] = []
        self.faults: list[Fault] = []
        self.integrals = 0
        self.gravity_compensated = False
        self.on_bodies = False
        self.fixman_at = 0
        self.parts: list[PartAtWidths] = []

    def add(self, element: Element, label: str) -> None:
        before = len(self.faults)
        self._check_numbers(element, label)
        if len(self.faults) > before:
            return
        offset = len(self.numbers) + f.PASSIVE_RECORD * self.model.nv
        if isinstance(element, FixmanForce):
            self._fixman(element, offset)
            return
        try:
            self.records.append(self._record(element, label, offset))
        except ModelError as error:
            self.faults.extend(
                replace(fault, problem=f"{label}: {fault.problem}") for fault in error.faults
            )

    def _check_numbers(self, element: Element, label: str) -> None:
        if not isinstance(element, Element):
            known = ", ".join(kind.__name__ for kind in get_args(Element))
            self.faults.append(Fault(f"{label}: {element!r} is no force", f"give {known}."))
            return
        self.faults.extend(field_faults(element, Subject(words=label)))
        for key, words in (("stiffness", "from 0"), ("damping", "from 0"), ("length", "from 0"),
                           ("kT", "from 0"), ("limit", "above 0")):  # fmt: skip
            value = getattr(element, key, 1.0)
            too_small = value <= 0.0 if key == "limit" else value < 0.0
            if isinstance(value, int | float) and too_small:
                self.faults.append(Fault(f"{label}: {key} is {value!r}", f"give a number {words}."))

    def _record(self, element: Any, label: str, offset: int) -> list[int]:
        if isinstance(element, Servo):
            return self._servo(element, offset)
        if isinstance(element, Sinusoid):
            dof, _ = self._dof(element.joint)
            self.numbers += [element.amplitude, element.frequency, element.phase, element.offset]
            return [f.SINUSOID, dof, 0, offset, 0, -1]
        if isinstance(element, TorqueTable):
            return self._table(element, label, offset)
        if isinstance(element, OwnElement):
            return self._own(element, offset)
        self.on_bodies = True
        if isinstance(element, Wrench):
            return self._wrench(element, label, offset)
        return self._spring(element, offset)

    def _own(self, element: OwnElement, offset: int) -> list[int]:
        if not hasattr(element, "part"):
            name = type(element).__name__
            raise NotImplementedError(
                f"{name} has no part; write part: ClassVar[PartAtWidths] = element_part(f) in it, "
                "with a helper f(work, system, at, t, state, effects)."
            )
        first, numbers = element.pack(self.model)
        self.numbers += [float(number) for number in numbers]
        if element.part not in self.parts:
            self.parts.append(element.part)
        self.on_bodies |= element.on_bodies
        return [f.OWN_PART, first, OWN_PARTS + self.parts.index(element.part), offset, 0, -1]

    def _fixman(self, element: FixmanForce, offset: int) -> None:
        """One number for all of them: potentials add up."""
        if not self.fixman_at:
            self.fixman_at = offset
            self.numbers.append(0.0)
        self.numbers[self.fixman_at - f.PASSIVE_RECORD * self.model.nv] += element.kT

    def _servo(self, servo: Servo, offset: int) -> list[int]:
        dof, coordinate = self._dof(servo.joint)
        if servo.gravity_compensation and servo.joint in self.mimics:
            raise ModelError(
                f"joint {servo.joint!r} mimics {self.mimics[servo.joint].source!r}, which "
                "carries the weight of both",
                "let a servo there compensate gravity.",
            )
        self.numbers += [servo.kp, servo.kd, servo.ki]
        self.numbers += [servo.target, servo.target_velocity, servo.limit]
        integral = -1
        if servo.ki != 0.0:
            integral, self.integrals = self.integrals, self.integrals + 1
        self.gravity_compensated |= servo.gravity_compensation
        return [f.SERVO, dof, coordinate, offset, int(servo.gravity_compensation), integral]

    def _table(self, table: TorqueTable, label: str, offset: int) -> list[int]:
        dof, _ = self._dof(table.joint)
        times, torques = np.asarray(table.times, float), np.asarray(table.torques, float)
        if times.ndim != 1 or times.shape != torques.shape or len(times) < 2:
            raise ModelError("times and torques must be two lists of the same length, at least 2.")
        if (np.diff(times) <= 0).any():
            raise ModelError("times must increase", "sort them and remove repeats.")
        self.numbers += [*times.tolist(), *torques.tolist()]
        return [f.TORQUE_TABLE, dof, 0, offset, len(times), -1]

    def _wrench(self, wrench: Wrench, label: str, offset: int) -> list[int]:
        if wrench.frame not in ("world", "body"):
            raise ModelError(f"frame is {wrench.frame!r}", "give 'world' or 'body'.")
        k = self.model.body_index(wrench.body)
        turn = self.model.alignment[k].T
        in_body = wrench.frame == "body"
        force, moment = np.asarray(wrench.force, float), np.asarray(wrench.moment, float)
        if in_body:
            force, moment = applied(turn, force), applied(turn, moment)
        self.numbers += [*applied(turn, wrench.point), *force, *moment]
        return [f.WRENCH_BODY if in_body else f.WRENCH_WORLD, k, 0, offset, 0, -1]

    def _spring(self, spring: PointSpring, offset: int) -> list[int]:
        a, point_a = self._point(spring.body_a, spring.point_a)
        b, point_b = self._point(spring.body_b, spring.point_b)
        self.numbers += [*point_a, *point_b, spring.stiffness, spring.damping, spring.length]
        return [f.POINT_SPRING, a, b, offset, 0, -1]

    def _point(self, body: str, point: Any) -> tuple[int, list[float]]:
        given = np.asarray(point, float)
        if body == GROUND:
            return -1, given.tolist()
        k = self.model.body_index(body)
        return k, applied(self.model.alignment[k].T, given).tolist()

    def _dof(self, joint: str) -> tuple[int, int]:
        """(degree of freedom, coordinate) of a joint that has one of each."""
        k = self.model.joint_index(joint)
        described = self.model.joints[k]
        if described.nv != 1:
            raise ModelError(
                f"joint {joint!r} is {described.type_name} with {described.nv} degrees of freedom",
                "this element takes joints with one.",
            )
        row = self.model.indices[k]
        return int(row[layout.V_START]), int(row[layout.Q_START])

    def passive(self, joints: dict[str, JointProperties]) -> Floats:
        """One record per degree of freedom; joints without properties have none of these forces."""
        none = JointProperties(stop_stiffness=0.0, stop_damping=0.0)
        rows = np.tile(_passive_row(none), (self.model.nv, 1))
        for name, properties in joints.items():
            try:
                k = self.model.joint_index(name)
            except ModelError as error:
                self.faults.extend(error.faults)
                continue
            has_quaternion = self.model.joints[k].kind in _QUATERNIONS
            whose = Subject(("joints", name), f"Joint {name!r}", joint=name)
            self.faults.extend(property_faults(properties, has_quaternion, whose))
            if not self.faults:
                rows[self.model.v_slice(name)] = _passive_row(properties)
        return rows


def _passive_row(given: JointProperties) -> list[float]:
    return [
        given.stiffness,
        given.rest,
        given.damping,
        given.friction,
        given.friction_speed,
        given.lower,
        given.upper,
        given.stop_stiffness,
        given.stop_damping,
    ]


def pack_forces(model: Model, forces: Forces) -> ForceTables:
    """The tables, or a ModelError that lists every fault."""
    if any(isinstance(element, FixmanForce) for element in forces.elements):
        model.refuse_mimics("the Fixman force")
        model.refuse_loops("the Fixman force")
    packer = _Packer(model)
    passive = packer.passive(dict(forces.joints))
    for number, element in enumerate(forces.elements, start=1):
        packer.add(element, f"{type(element).__name__} number {number}")
    if packer.faults:
        raise ModelError(packer.faults)
    header = [0] * f.CODES_HEADER
    header[f.ELEMENTS] = len(packer.records)
    header[f.PASSIVE] = int(bool(forces.joints))
    header[f.ON_BODIES] = int(packer.on_bodies)
    header[f.GRAVITY_COMPENSATED] = int(packer.gravity_compensated)
    header[f.INTEGRALS] = packer.integrals + 1  # and the work done
    header[f.FIXMAN] = packer.fixman_at
    header[f.CONTROLLED] = int(forces.controller is not None)
    codes = np.array(header + [x for record in packer.records for x in record], dtype=np.int64)
    numbers = np.concatenate((passive.reshape(-1), np.array(packer.numbers, dtype=np.float64)))
    return ForceTables(codes, numbers, packer.integrals + 1, tuple(packer.parts))
