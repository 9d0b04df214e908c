"""Check described forces against a model, and pack them for the jitted loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import ModelError
from skodyn.faults import Fault, Subject
from skodyn.lanes import PartAtWidths
from skodyn.model.contact.contact_tables import ContactTables, pack_contacts
from skodyn.model.contact.contacts import Contact
from skodyn.model.keys import key_faults, keys_of
from skodyn.model.model import Model
from skodyn.model.prescription import flagged_tree
from skodyn.model.property_checks import field_faults, property_faults
from skodyn.simulation import forces as f
from skodyn.simulation.control.control_records import CONTROL_RECORD, LAW_PART
from skodyn.simulation.control.control_tables import ControlTables, pack_controllers
from skodyn.simulation.control.controllers import ReadyLaw
from skodyn.simulation.element import ELEMENTS, Element, Packed
from skodyn.simulation.elements import Controller, FixmanForce, Forces, JointProperties, Motion
from skodyn.simulation.motion_tables import pack_motions
from skodyn.simulation.parts import CONTACTS
from skodyn.simulation.settings import IntegratorSettings
from skodyn.simulation.structures import OWN_PARTS
from skodyn.typing import Floats

__all__ = ["ForceTables", "pack_forces"]


@dataclass(frozen=True)
class ForceTables:
    """What forces.py reads."""

    codes: NDArray[np.int64]
    numbers: Floats
    n_integrals: int
    parts: tuple[PartAtWidths, ...] = ()  # that elements bring along
    contacts: ContactTables | None = None
    contact_integral: int = 0  # behind the velocities: where bristles begin
    functions: tuple[ReadyLaw, ...] = ()  # of prescribed motions
    flags: NDArray[np.int64] | None = None  # of bodies whose joints are driven; None if none are

    control: ControlTables = field(default_factory=ControlTables)

    def tree_of(self, model: Model) -> NDArray[np.int64]:
        """The packed tree, which knows driven joints."""
        tree = model.kernel_tree
        return tree if self.flags is None else flagged_tree(tree, self.flags)


class _Packer:
    """Speaks of the degrees of freedom of the uncoupled tree: mimic joints can be acted upon."""

    def __init__(self, model: Model) -> None:
        self.given, self.model = model, model.uncoupled
        self.mimics = model.mimics
        self.records: list[list[int]] = []
        self.numbers: list[float] = []
        self.faults: list[Fault] = []
        self.integrals = 0
        self.gravity_compensated = False
        self.on_bodies = False
        self.contacts_alone = False
        self.fixman_at = 0
        self.parts: list[PartAtWidths] = []
        self.controllers: list[tuple[Controller, str]] = []

    def add(self, element: Element, label: str) -> None:
        before = len(self.faults)
        self._check(element, label)
        if len(self.faults) > before:
            return
        offset = len(self.numbers) + f.PASSIVE_RECORD * self.model.nv
        if isinstance(element, FixmanForce):
            self._fixman(element, offset)
            return
        try:
            law = element.control_law(self.given)
            if isinstance(law, Controller):
                self.controllers.append((law, label))
                return
            self.records.append(self._record(element, offset))
        except ModelError as error:
            self.faults.extend(
                replace(fault, problem=f"{label}: {fault.problem}") for fault in error.faults
            )

    def _check(self, element: Element, label: str) -> None:
        if not isinstance(element, Element):
            known = ", ".join(kind.__name__ for kind in ELEMENTS.values())
            self.faults.append(Fault(f"{label}: {element!r} is not a force", f"give {known}."))
            return
        if isinstance(element, Motion):
            self.faults.append(Fault(f"{label}: it is a motion, no force", "give it in motions."))
            return
        whose = Subject(words=label)
        known_by_keys = keys_of(type(element))
        found = key_faults(element, whose) if known_by_keys else field_faults(element, whose)
        self.faults += found or [
            whose.fault(f"{label}: it {what}", remedy, key)
            for key, what, remedy in element.check(vars(element))
        ]

    def _record(self, element: Element, offset: int) -> list[int]:
        own_part = self._own_part(element) if element.code == f.OWN_PART else 0
        packed = Packed(*element.pack(self.model))
        self.numbers += [float(number) for number in packed.numbers]
        self.on_bodies |= element.on_bodies
        code, second = element.code if packed.code is None else packed.code, packed.second
        if packed.holds_weight:
            self._refuse_weight_of_mimics(element)
            self.gravity_compensated = True
        if code == f.OWN_PART:
            second = own_part or self._own_part(element)
        integral, self.integrals = self.integrals, self.integrals + packed.integrals
        return [
            code, packed.first, second, offset, packed.length, integral if packed.integrals else -1
        ]  # fmt: skip

    def _own_part(self, element: Element) -> int:
        if not hasattr(element, "part"):
            name = type(element).__name__
            raise NotImplementedError(
                f"{name} has no part; write part: ClassVar[PartAtWidths] = element_part(f) in it, "
                "with a helper f(work, system, at, t, state, effects)."
            )
        if element.part not in self.parts:
            self.parts.append(element.part)
        return OWN_PARTS + self.parts.index(element.part)

    def _refuse_weight_of_mimics(self, element: Any) -> None:
        if element.joint in self.mimics:
            raise ModelError(
                f"joint {element.joint!r} mimics {self.mimics[element.joint].source!r}, which "
                "carries the weight of both",
                "let a servo there compensate gravity.",
            )

    def add_controllers(
        self, model: Model, seed: int, settings: IntegratorSettings | None
    ) -> ControlTables:
        """Control laws, which act upon the joints of the state."""
        first = len(self.numbers) + f.PASSIVE_RECORD * self.model.nv, self.integrals
        made = pack_controllers(model, self.controllers, settings, seed, first)
        self.numbers += made.numbers
        self.integrals += made.integrals
        self.faults += made.faults
        return made

    def add_contacts(self, model: Model, contacts: Sequence[Contact]) -> ContactTables | None:
        """All contacts as one element, whose integers lie behind the records of all elements."""
        offset = len(self.numbers) + f.PASSIVE_RECORD * self.model.nv
        try:
            tables = pack_contacts(model, contacts, offset)
        except ModelError as error:
            self.faults.extend(error.faults)
            return None
        self.numbers += tables.numbers.tolist()
        self.parts.append(CONTACTS)
        self.contacts_alone = not self.on_bodies
        self.on_bodies = True
        first = f.CODES_HEADER + f.CODES_RECORD * (len(self.records) + 1)
        part = OWN_PARTS + self.parts.index(CONTACTS)
        self.records.append([f.OWN_PART, first, part, offset, 0, self.integrals])
        self.integrals += tables.n_bristles
        return tables

    def _fixman(self, element: FixmanForce, offset: int) -> None:
        """One number for all of them: potentials add up."""
        if not self.fixman_at:
            self.fixman_at = offset
            self.numbers.append(0.0)
        self.numbers[self.fixman_at - f.PASSIVE_RECORD * self.model.nv] += element.kT

    def passive(self, joints: dict[str, JointProperties]) -> Floats:
        """One record per degree of freedom; joints without properties have none of these forces."""
        none = JointProperties(stop_stiffness=0.0, stop_damping=0.0)
        rows = np.tile(_passive_rows(none), (self.model.nv, 1))
        for name, properties in joints.items():
            try:
                k = self.model.joint_index(name)
            except ModelError as error:
                self.faults.extend(error.faults)
                continue
            whose = Subject(("joints", name), f"Joint {name!r}", joint=name)
            self.faults.extend(property_faults(properties, self.model.joints[k], whose))
            if not self.faults:
                rows[self.model.v_slice(name)] = _passive_rows(properties)
        return rows


def _passive_rows(given: JointProperties) -> Floats:
    """One row for all degrees of freedom, or one for each where numbers are listed."""
    columns = np.broadcast_arrays(
        given.stiffness,
        given.rest,
        given.damping,
        given.friction,
        given.friction_speed,
        given.lower,
        given.upper,
        given.stop_stiffness,
        given.stop_damping,
    )
    return np.stack(columns, axis=-1).astype(np.float64)


def pack_forces(
    model: Model, forces: Forces, settings: IntegratorSettings | None = None
) -> ForceTables:
    """The tables, or a ModelError that lists every fault.

    settings: those of the run, which decide when controllers take their samples.
    """
    if any(isinstance(element, FixmanForce) for element in forces.elements):
        model._refuse_mimics("the Fixman force")
        model._refuse_loops("the Fixman force")
        model._refuse_flexible("the Fixman force")
    if forces.contacts:
        model._refuse_flexible("contact")
    packer = _Packer(model)
    passive = packer.passive(dict(forces.joints))
    for number, element in enumerate(forces.elements, start=1):
        packer.add(element, f"{type(element).__name__} number {number}")
    control = packer.add_controllers(model, forces.seed, settings)
    tables = packer.add_contacts(model, forces.contacts) if forces.contacts else None
    behind = f.PASSIVE_RECORD * packer.model.nv + len(packer.numbers)
    driven = pack_motions(model, forces.motions, behind, OWN_PARTS + len(packer.parts))
    packer.faults += driven.faults
    if packer.faults:
        raise ModelError(packer.faults)
    header = [0] * f.CODES_HEADER
    header[f.ELEMENTS] = len(packer.records)
    header[f.PASSIVE] = int(bool(forces.joints))
    header[f.ON_BODIES] = int(packer.on_bodies)
    plain = not (driven.records or model.mimics or model.loops)
    header[f.CONTACTS_ALONE] = int(packer.contacts_alone and plain)
    header[f.GRAVITY_COMPENSATED] = int(packer.gravity_compensated)
    accounts = 1 if tables is None else 3  # the work done; that of contacts, and their loss
    header[f.ACCOUNTS] = accounts
    header[f.INTEGRALS] = packer.integrals + accounts
    header[f.FIXMAN] = packer.fixman_at
    header[f.CONTROLLERS], header[f.SAMPLED] = len(control.records), control.sampled
    header[f.N_PARAMETERS], header[f.CONTROL_WORK] = model.parameters.size, control.workspace
    codes = np.array(header + [x for record in packer.records for x in record], dtype=np.int64)
    n_integrals, bristles = packer.integrals + accounts, 0
    listed = [*packer.numbers, *driven.numbers]
    numbers = np.concatenate((passive.reshape(-1), np.array(listed, dtype=np.float64)))
    codes[f.N_NUMBERS] = numbers.size
    if tables is not None:
        codes = np.concatenate((codes, tables.codes))
        bristles = packer.integrals - tables.n_bristles
        tables = replace(tables, numbers=numbers)  # where its offsets point
    codes[f.MOTIONS], codes[f.MOTIONS_AT] = len(driven.records), codes.size
    codes = np.concatenate((codes, np.array(driven.records, dtype=np.int64).reshape(-1)))
    laws = _records_of_laws(control, OWN_PARTS + len(packer.parts) + len(driven.functions))
    codes[f.CONTROLLERS_AT] = codes.size
    return ForceTables(
        np.concatenate((codes, laws)), numbers, n_integrals, tuple(packer.parts), tables, bristles,
        tuple(driven.functions), driven.flags, control,
    )  # fmt: skip


def _records_of_laws(control: ControlTables, first_part: int) -> NDArray[np.int64]:
    """Records of controllers, which say which of the system's parts their law is."""
    records = np.array(control.records, dtype=np.int64).reshape(-1, CONTROL_RECORD)
    records[:, LAW_PART] += first_part
    return records.reshape(-1)
