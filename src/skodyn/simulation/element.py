"""What the package must know of a force element, and all kinds of them by name.

A kind is one class in one file: a frozen dataclass whose fields are its numbers and, with `key`,
its keys in scenario files; how it is packed; the helper that evaluates it; what it means for the
momentum and the energy of a system, and how it is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from skodyn.conventions import GROUND
from skodyn.errors import ModelError
from skodyn.lanes import PartAtWidths
from skodyn.model import layout
from skodyn.model.products import applied
from skodyn.registry import Registry
from skodyn.simulation.arrow import Arrow
from skodyn.simulation.forces import OWN_PART
from skodyn.typing import Floats

__all__ = ["ELEMENTS", "Element", "Packed", "dof_of", "place_of", "point_of"]

ORIGIN = (0.0, 0.0, 0.0)
TABLES = ("controllers", "forces")


class Packed(NamedTuple):
    """An element as kernels read it: `system.codes[at + FIRST]` and so on (forces.py).

    first: a body or a degree of freedom; second: another, for kinds inside of the common part.
    numbers: from `system.codes[at + OFFSET]` on, in `system.numbers`; a sweep can vary each that
    stands there as it was given. length: COUNT, whatever the helper needs it for. integrals: how
    many quantities it integrates; INTEGRAL says where the first lies behind the velocities.
    holds_weight: it needs the torques that hold the system against gravity.
    code: if it is not that of its class.
    """

    first: int
    numbers: Sequence[float] = ()
    second: int = 0
    length: int = 0
    integrals: int = 0
    holds_weight: bool = False
    code: int | None = None


@dataclass(frozen=True)
class Element:
    """A kind of force: a frozen dataclass with these members.

    type_name: what it is called in scenario files; without it, it is for Python alone. table: of
    which table there, controllers or forces.
    part: `element_part(f)` of a helper f(work, system, at, t, state, effects) (parts.py). It is
    compiled when a model first has such an element, and nobody else pays for it.
    on_bodies: does it add to the external forces on bodies, and so need their poses and velocities?
    """

    type_name: ClassVar[str] = ""
    table: ClassVar[str] = "forces"
    part: ClassVar[PartAtWidths]
    on_bodies: ClassVar[bool] = False
    code: ClassVar[int] = OWN_PART  # those that most models need are inside of one part

    def pack(self, model: Any) -> Packed | tuple[int, Sequence[float]]:
        """What kernels read of it, model being the tree in which no joint mimics another; raise
        ModelError for what is wrong."""
        name = type(self).__name__
        raise NotImplementedError(
            f"{name} has no pack; write {name}.pack(self, model) that returns (the number of the "
            "body or degree of freedom it acts on, a list of its numbers for its part)."
        )

    @classmethod
    def check(cls, given: Mapping[str, Any]) -> list[tuple[str, str, str]]:
        """What is wrong with values that fit by themselves: (key, what is wrong, what to do); key
        "" for the whole. Files give some of the values, () for each that does not fit."""
        return []

    def control_law(self, model: Any) -> Element | None:
        """The Controller that it is in a run, if it is one; None for everything else.

        model: that of the run.
        """
        return None

    def momentum_obstacle(self) -> str:
        """Why the linear momentum cannot be accounted for with it; empty if it can."""
        return f"{type(self).__name__} may apply an external force" if self.on_bodies else ""

    def turning_obstacle(self) -> str:
        """The same for the angular momentum."""
        return self.momentum_obstacle()

    def energy(self, model: Any, rotations: Floats, positions: Floats) -> Floats | None:
        """Its potential energy, J, one number for each row; None if it has none, or no part of it.

        rotations, positions: of all bodies in the world, (rows, bodies, 3, 3) and (rows, bodies,
        3). What it takes out of the energy of a system for good (dampers) is not in it.
        """
        return None

    def stored(self, rows: Any) -> Floats | None:
        """The same for finished rows (channels/rows.py); only for a force that needs more than
        poses of bodies, as one at a node of a flexible body, to say otherwise."""
        return self.energy(rows.model, *rows.poses)

    def drawn(self, rows: Any) -> Sequence[Arrow]:
        """Its arrows in replays and films; none unless it says so.

        rows: those that are drawn, with t, q, v, `model`, and where things are in them:
        `place(body, point)`, `speed(body, point)`, `turned(body, vector)` in world axes, (rows, 3),
        of a node of a flexible body with its name behind;
        `joint(name)`, (q, v) of a joint with one degree of freedom, and `at_joint(name, torque)`,
        the arrow of a torque or force on it (view/drawn_rows.py).
        """
        return ()

    def outer_force(self) -> Sequence[float]:
        """What it pushes the whole system with, constant in world axes."""
        return ORIGIN


def _misfits(kind: type[Element]) -> list[str]:
    """Why a class of others can be no element, as ends of sentences."""
    if not is_dataclass(kind):
        return ["is not a dataclass; write @dataclass above it, frozen"]
    found = []
    if kind.type_name and not kind.type_name.isidentifier():
        found.append(f"has the type_name {kind.type_name!r}; give a word for scenario files")
    if kind.table not in TABLES:
        found.append(f"has the table {kind.table!r}; give one of {', '.join(TABLES)}")
    if kind.code == OWN_PART and not hasattr(kind, "part"):
        found.append("has no part; write part: ClassVar = element_part(f) with a helper f")
    if kind.pack is Element.pack:
        found.append("has no pack; write pack(self, model)")
    without = [f.name for f in fields(kind) if "key" not in f.metadata]
    if kind.type_name and without:
        found.append(f"has fields without a key for files ({', '.join(without)}); give key(…)")
    return found


ELEMENTS: Registry[type[Element]] = Registry(
    "an element",
    lambda thing: isinstance(thing, type) and issubclass(thing, Element),
    lambda kind: kind.type_name or kind.__name__,
    "skodyn.simulation.element_kinds",
    check=_misfits,
)
"""Every kind by the name that scenario files use."""


# ---- for `pack` ---------------------------------------------------------------------------------


def dof_of(model: Any, joint: str) -> tuple[int, int]:
    """(degree of freedom, coordinate) of a joint that has one of each."""
    k = model.joint_index(joint)
    described = model.joints[k]
    if described.nv != 1:
        raise ModelError(
            f"joint {joint!r} is {described.type_name} with {described.nv} degrees of freedom",
            "this element takes joints with one.",
        )
    row = model.indices[k]
    return int(row[layout.V_START]), int(row[layout.Q_START])


def point_of(model: Any, name: str, point: Sequence[float]) -> tuple[int, list[float]]:
    """(number of a body, −1 for the world; a point as kernels see it).

    name: of a body, or of a frame that is fixed in one; the point is given in its axes.
    """
    given, body = [float(x) for x in point], model.frame(name).body
    if body != name:
        frame = model.frames[name]
        given = (frame.translation + applied(frame.rotation, given)).tolist()
    if body == GROUND:
        return -1, given
    k = model.body_index(body)
    return k, applied(model.alignment[k].T, given).tolist()


def place_of(
    model: Any, name: str, point: Sequence[float], rotations: Floats, positions: Floats
) -> Floats:
    """Where a point of a body or frame is in the world, (rows, 3)."""
    frame, given = model.frame(name), np.asarray(point, dtype=np.float64)
    if frame.body != name:
        given = frame.translation + applied(frame.rotation, given)
    if frame.body == GROUND:
        fixed: Floats = np.broadcast_to(given, (len(positions), 3))
        return fixed
    k = model.body_index(frame.body)
    there: Floats = positions[:, k] + (rotations[:, k] * given).sum(axis=-1)
    return there


def turned(model: Any, name: str, vector: Sequence[float]) -> Any:
    """A vector in the axes of a body or frame, in the kernel axes of its body."""
    frame = model.frame(name)
    given = vector if frame.body == name else applied(frame.rotation, vector)
    return applied(model.alignment[model.body_index(frame.body)].T, given)
