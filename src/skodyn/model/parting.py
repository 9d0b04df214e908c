"""A model cut at joints into models of their own, and models put together into one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from skodyn.conventions import GROUND
from skodyn.errors import FaultsError, ModelError
from skodyn.faults import Fault
from skodyn.model.description import ModelBuilder
from skodyn.model.model import Model

__all__ = ["Part", "cut_model", "joined"]


@dataclass(frozen=True, eq=False)
class Part:
    """Bodies with a model of their own, whose ground is a body of another part.

    name: of the joint at which it was cut off; "world" are the bodies inboard of all cuts.
    carrier, body: the part that it hangs from, and which body of it; None and "world" for what
    hangs from the ground. Joint and placement of its first body are those of the cut.
    """

    name: str
    model: Model
    carrier: str | None = None
    body: str = GROUND


def cut_model(model: Model, cuts: Iterable[str]) -> dict[str, Part]:
    """The parts, each behind the one that carries it."""
    model._refuse_mimics("cut")
    model._refuse_loops("cut")
    model._refuse_flexible("cut")
    names = _checked(model, cuts)
    first = {model.joint_index(name): name for name in names}
    owner: list[str] = []  # of each body, the name of its part
    for k, parent in enumerate(model.parent.tolist()):
        owner.append(first.get(k, owner[parent] if parent >= 0 else GROUND))
    members: dict[str, list[int]] = {}
    for k, name in enumerate(owner):
        members.setdefault(name, []).append(k)
    parts = {}
    for name, bodies in members.items():
        inner = int(model.parent[bodies[0]])
        hung = (owner[inner], model.body_names[inner]) if inner >= 0 else (None, GROUND)
        parts[name] = Part(name, _submodel(model, name, bodies), *hung)
    return parts


def _checked(model: Model, cuts: Iterable[str]) -> tuple[str, ...]:
    if isinstance(cuts, str) or not isinstance(cuts, Iterable):
        raise ModelError(f"cuts is {cuts!r}", "give a list of names of joints.")
    names = tuple(cuts)
    faults: list[Fault] = []
    for place, name in enumerate(names):
        try:
            model.joint_index(name)
        except FaultsError as error:
            faults.extend(error.faults)
        if name in names[:place]:
            faults.append(Fault(f"Joint {name!r} is cut twice", "name it once."))
        if name == GROUND:
            problem = f"A joint called {GROUND!r} cannot be cut: the first part has that name"
            faults.append(Fault(problem, "rename it."))
    if faults:
        raise ModelError(faults)
    return names


def _submodel(model: Model, name: str, bodies: list[int]) -> Model:
    """Some bodies of a model; those whose parent is not among them stand on the ground."""
    made = ModelBuilder(gravity=(0.0, 0.0, 0.0), name=f"{model.name}: {name}")
    inside = set(bodies)
    for k in bodies:
        parent = int(model.parent[k])
        add_body_of(made, model, k, model.body_names[parent] if parent in inside else GROUND)
    return made.build()


def add_body_of(made: ModelBuilder, model: Model, k: int, parent: str) -> None:
    """The same body as in a model, hung from `parent`."""
    joint: Any = model.joints[k]  # all kinds have a name
    joint = replace(joint, name=model.joint_names[k])
    made.add_body(
        model.body_names[k], parent, joint,
        translation=model.translation[k], rotation=model.rotation[k], mass=float(model.mass[k]),
        com=model.com[k], inertia=model.inertia[k],
    )  # fmt: skip


def joined(parts: Mapping[str, Part], gravity: Iterable[float], name: str) -> Model:
    """One model of all parts; a ModelError if names of their bodies or joints meet."""
    made = ModelBuilder(gravity=tuple(gravity), name=name)
    for part in parts.values():
        for k, parent in enumerate(part.model.parent.tolist()):
            carrier = part.model.body_names[parent] if parent >= 0 else part.body
            add_body_of(made, part.model, k, carrier)
    return made.build()
