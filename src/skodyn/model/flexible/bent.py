"""Which bodies of a model bend, and how they were described."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from skodyn.model.flexible.beams import Beam, beam_of
from skodyn.model.flexible.modal_body import FlexibleBody
from skodyn.model.properties import JointProperties

if TYPE_CHECKING:
    from skodyn.model.description import ModelBuilder
    from skodyn.model.model import Model

__all__ = ["UNREAD", "Bent", "BentBody", "Hanging", "bending_of"]


UNREAD: Any = object()
"""Stands for a flexible body of a file that could not be read, and of which faults are known."""


class Hanging(NamedTuple):
    """A body or frame at a node, as it was placed there."""

    node: str
    translation: Any


@dataclass(frozen=True)
class BentBody:
    """How a flexible body of a model was described.

    pieces: the bodies that it became, if it has segments. carried, frames: what is placed at its
    nodes, by name.
    """

    described: Beam | FlexibleBody
    pieces: tuple[str, ...] = ()
    carried: Mapping[str, Hanging] = field(default_factory=dict)
    frames: Mapping[str, Hanging] = field(default_factory=dict)

    def table(self) -> dict[str, Any]:
        """The table `flexible` of a model file that says the same."""
        if isinstance(self.described, Beam):
            return self.described.table()
        return {"body": self.described}


def bending_of(table: Mapping[str, Any]) -> Beam | FlexibleBody:
    """The opposite."""
    body = table.get("body")
    return body if isinstance(body, FlexibleBody) else beam_of(table)


@dataclass
class Bent:
    """A description without flexible bodies, and what is to be made of it."""

    builder: ModelBuilder
    bodies: dict[str, BentBody] = field(default_factory=dict)
    modal: dict[str, FlexibleBody] = field(default_factory=dict)
    attached: dict[str, str] = field(default_factory=dict)
    properties: dict[str, JointProperties] = field(default_factory=dict)

    def finished(self, model: Model) -> Model:
        """The packed model with what bends in it."""
        if not self.bodies:
            return model
        if self.modal:
            from skodyn.model.flexible.flexible_packing import with_flexible  # it packs models

            model = with_flexible(model, self.modal, self.attached)
        return replace(model, joint_properties=self.properties, bent=self.bodies)
