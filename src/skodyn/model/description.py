"""What a person describes: bodies, joints, frames. Nothing is judged here; `build` does that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skodyn.conventions import DEFAULT_GRAVITY, GROUND
from skodyn.errors import ModelError
from skodyn.model.joints import Fixed, Joint

if TYPE_CHECKING:
    from skodyn.model.model import Model

__all__ = ["BodyDescription", "FrameDescription", "MimicDescription", "ModelBuilder"]

_ORIGIN = (0.0, 0.0, 0.0)
_NO_INERTIA = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@dataclass(frozen=True, slots=True)
class BodyDescription:
    """One body and the joint that carries it, as given."""

    name: str
    parent: str
    joint: Joint
    translation: Any
    rotation: Any
    mass: Any
    com: Any
    inertia: Any


@dataclass(frozen=True, slots=True)
class FrameDescription:
    """A named frame fixed in a body, as given."""

    name: str
    body: str
    translation: Any
    rotation: Any


@dataclass(frozen=True, slots=True)
class MimicDescription:
    """A joint that follows another, as given."""

    joint: str
    source: str
    multiplier: Any
    offset: Any


class ModelBuilder:
    """Collects bodies in any order; `build` checks them all at once and packs them.

    A child's body frame coincides with its joint frame when the joint is at its neutral position.
    `translation` and `rotation` place the joint frame in the parent's body frame.
    """

    def __init__(self, gravity: Sequence[float] = DEFAULT_GRAVITY, name: str = "model") -> None:
        self.name = name
        self.gravity = gravity
        self.bodies: list[BodyDescription] = []
        self.frames: list[FrameDescription] = []
        self.mimics: list[MimicDescription] = []

    def add_body(
        self,
        name: str,
        parent: str = GROUND,
        joint: Joint | None = None,
        *,
        translation: Sequence[float] = _ORIGIN,
        rotation: Any = None,
        mass: float = 0.0,
        com: Sequence[float] = _ORIGIN,
        inertia: Any = _NO_INERTIA,
    ) -> None:
        """Add a body; it is judged in `build`, together with all others.

        rotation: None, a 3×3 rotation matrix, or a unit quaternion (w, x, y, z).
        inertia: about the centre of mass in body axes, 3×3, or three principal moments.
        """
        carried_by = Fixed() if joint is None else joint
        self.bodies.append(
            BodyDescription(name, parent, carried_by, translation, rotation, mass, com, inertia)
        )

    def add_frame(
        self,
        name: str,
        body: str,
        *,
        translation: Sequence[float] = _ORIGIN,
        rotation: Any = None,
    ) -> None:
        """Add a named frame fixed in a body (or in the ground)."""
        self.frames.append(FrameDescription(name, body, translation, rotation))

    def add_mimic(
        self, joint: str, source: str, multiplier: float = 1.0, offset: float = 0.0
    ) -> None:
        """Let a joint follow another one exactly: q = multiplier·q_source + offset.

        Both have one coordinate (revolute, prismatic or helical), anywhere in the tree. The joint
        is then no part of the state. Its source may itself mimic a third.
        """
        self.mimics.append(MimicDescription(joint, source, multiplier, offset))

    def build(self, *, repair_inertia: bool = False) -> Model:
        """The frozen, packed model; raises ModelError with every fault at once.

        repair_inertia: replace an invalid inertia by the nearest valid one instead of refusing it,
        and list it in `model.repairs`.
        """
        from skodyn.model.name_checks import text_fault  # both build on this file
        from skodyn.model.packing import pack

        fault = text_fault(self.name)
        try:
            model = pack(
                self.name, self.gravity, self.bodies, self.frames, repair_inertia, self.mimics
            )
        except ModelError as error:
            raise ModelError([f"The model {fault}"] * bool(fault) + [*error.faults]) from None
        if fault:
            raise ModelError(f"The model {fault}")
        return model
