"""Model files in TOML: read strictly, every fault at once with file and line.

    name = "double pendulum"
    gravity = [0, 0, -9.81]

    [bodies.upper]
    parent = "world"
    joint = { type = "revolute", axis = [0, 1, 0], name = "shoulder" }
    translation = [0, 0, 1]
    mass = 1.0
    com = [0, 0, -0.5]
    inertia = [0.08, 0.08, 0.01]

    [frames.tip]
    body = "upper"
    translation = [0, 0, -1]

A joint that follows another one names it, with a multiplier of 1 and an offset of 0 if left out:

    joint = { type = "prismatic", axis = [0, 1, 0], mimic = { joint = "finger1", multiplier = -1 } }

Loops are closed by a joint without a coordinate, any but a free one, or by { type = "rod", length
= 0.5 }; couplings relate joint coordinates, by a polynomial or by terms:

    [loops.pin]
    joint = { type = "revolute", axis = [0, 0, 1] }
    body_a = "coupler"
    translation_a = [0.9, 0, 0]
    body_b = "rocker"
    translation_b = [0.7, 0, 0]

    [couplings.wrist]
    joint = "q2"
    source = "q1"
    coefficients = [0.1, -0.5, 0.3]

    [couplings.differential]
    terms = { left = 1, right = 1, cage = -2 }
    offset = 0

Shapes that can touch others belong to a body, or to the ground:

    [bodies.upper.collisions.tip]
    type = "sphere"
    radius = 0.05
    translation = [0, 0, -1]

    [ground.floor]
    type = "half_space"
    normal = [0, 0, 1]

Shapes to look at belong to a body, or to the scenery; they touch nothing and weigh nothing:

    [bodies.upper.visuals.rod]
    type = "capsule"
    radius = 0.03
    length = 0.9
    translation = [0, 0, -0.5]
    color = "#3366AA"

    [scenery.table]
    type = "box"
    size = [1, 1, 0.02]

A body that bends has a table of its own; others hang at its nodes:

    [bodies.boom.flexible]
    beam = { length = 5.0, mass_per_length = 2.0, bending_stiffness = [1500.0, 1500.0] }
    segments = 10
    damping = 0.005

    [bodies.camera]
    parent = "boom"
    at = "tip"

or [bodies.boom.flexible] file = "boom.h5", which `FlexibleBody.save` wrote, seen from this file.

The keys of a body, frame, loop or coupling are the arguments of `ModelBuilder.add_body` and so on;
the parameters of a joint are those of its class. `parent` of a body, `body` of a frame, and bodies
and joint of a loop must be given; whatever else is left out has the builder's default. This file
judges keys only; values are judged where every model is, in `ModelBuilder.build`.
"""

from __future__ import annotations

import os
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from skodyn.conventions import DEFAULT_GRAVITY, GROUND
from skodyn.errors import ModelError
from skodyn.faults import Fault, in_file, shown
from skodyn.io.flexible_tables import Context, read_flexible
from skodyn.io.robots.findings import Findings
from skodyn.io.robots.meshes import MeshFinder
from skodyn.io.shape_tables import ReadShape, read_shape, surface_of
from skodyn.io.toml_source import TomlSource
from skodyn.model.builder_entries import (
    BodyDescription,
    CollisionDescription,
    CouplingDescription,
    FrameDescription,
    LoopDescription,
    VisualDescription,
)
from skodyn.model.description import ModelBuilder
from skodyn.model.joints import CATALOGUE, CLOSING, Fixed, Joint
from skodyn.model.model import Model
from skodyn.model.shapes import SHAPES, Mesh
from skodyn.wording import Spelling, did_you_mean

__all__ = ["KEYS", "MIMIC_KEYS", "MODEL_KEYS", "load_model"]

_DESCRIBED: dict[str, type[Any]] = {
    "bodies": BodyDescription,
    "frames": FrameDescription,
    "loops": LoopDescription,
    "couplings": CouplingDescription,
    "ground": CollisionDescription,
    "scenery": VisualDescription,
}
KEYS = {
    group: tuple(f.name for f in fields(described) if f.name != "name")
    for group, described in _DESCRIBED.items()
}
MODEL_KEYS = ("name", "gravity", *_DESCRIBED)
MIMIC_KEYS = ("joint", "multiplier", "offset")


def load_model(
    path: str | os.PathLike[str],
    *,
    repair_inertia: bool = False,
    search_paths: Sequence[str | os.PathLike[str]] = (),
) -> Model:
    """The model described in a TOML file; raises ModelError with every fault at once."""
    source = TomlSource(path, ModelError)
    return ModelFile(source, search_paths=search_paths).build(repair_inertia)


class ModelFile:
    """One file on its way to a model: fills a builder and collects what is wrong.

    folder: from where files that it names are seen; that of the file, if left out.
    search_paths: further folders with meshes.
    """

    def __init__(
        self,
        source: TomlSource,
        folder: Path | None = None,
        search_paths: Sequence[str | os.PathLike[str]] = (),
    ) -> None:
        self.source = source
        self.folder = source.path.parent if folder is None else folder
        self.findings = Findings()
        self.meshes = MeshFinder(self.folder, search_paths, self.findings)
        self.faults: list[Fault] = []
        top = self._known(source.data, MODEL_KEYS, (), "the file")
        name, gravity = top.get("name", source.path.stem), top.get("gravity", DEFAULT_GRAVITY)
        self.builder = ModelBuilder(gravity, name)
        for body, table in self._tables(top, "bodies"):
            self._add_body(body, table)
        for frame, table in self._tables(top, "frames"):
            self._add_frame(frame, table)
        for loop, table in self._tables(top, "loops"):
            self._add_loop(loop, table)
        for coupling, table in self._tables(top, "couplings"):
            given = self._known(
                table, KEYS["couplings"], ("couplings", coupling), f"coupling {coupling!r}"
            )
            self.builder.add_coupling(coupling, **given)
        for shape, table in self._tables(top, "ground"):
            self._add_collision(GROUND, shape, table, ("ground", shape))
        for shape, table in self._tables(top, "scenery"):
            self._add_visual(GROUND, shape, table, ("scenery", shape))

    def build(self, repair_inertia: bool) -> Model:
        try:
            model = self.builder.build(repair_inertia=repair_inertia)
        except ModelError as error:
            lines = [self.source.line(*fault.path) for fault in error.faults]
            both = zip(error.faults, lines, strict=True)
            self.faults += [replace(fault, line=line) for fault, line in both]
        if self.faults:
            raise ModelError(in_file(self.source.path, self.faults))
        return replace(model, notes=self.findings.notes) if self.findings.notes else model

    # ---- tables -------------------------------------------------------------------------------

    def _add_body(self, name: str, table: dict[str, Any]) -> None:
        at = ("bodies", name)
        groups = {"collisions": self._add_collision, "visuals": self._add_visual}
        given = self._known(table, (*KEYS["bodies"], *groups), at, f"body {name!r}")
        for group, add in groups.items():
            for shape, shape_table in self._shapes(name, group, given.pop(group, {})):
                add(name, shape, shape_table, (*at, group, shape))
        if "parent" not in given:
            self._fault(at, f"Body {name!r} has no parent", f"name a body, or {GROUND!r}.")
        joint = self._body_joint(name, given.pop("joint")) if "joint" in given else None
        if "flexible" in given:
            reading = Context(self._known, self._fault, self.folder)
            given["flexible"] = read_flexible(given["flexible"], name, reading)
        self.builder.add_body(name, given.pop("parent", GROUND), joint, **given)

    def _shapes(self, body: str, key: str, group: Any) -> Iterable[tuple[str, dict[str, Any]]]:
        at = ("bodies", body, key)
        example = f"write one table [bodies.{body}.{key}.NAME] each"
        if not isinstance(group, dict):
            self._fault(at, f"Body {body!r}: {key} is {shown(group)}", f"{example}.")
            return
        for name, table in group.items():
            if isinstance(table, dict):
                yield name, table
            else:
                what = f"{key.removesuffix('s')} shape {name!r} is {shown(table)}"
                self._fault((*at, name), f"Body {body!r}: {what}", f"{example}.")

    def _add_collision(
        self, body: str, name: str, table: dict[str, Any], at: tuple[str, ...]
    ) -> None:
        given = dict(table)
        surface = surface_of(given.pop("surface", None))
        read = read_shape(given, SHAPES)  # meshes, too: sweeps write out those of robot files
        self._shape_faults(read, f"Collision shape {body}/{name}", at)
        if read.shape is not None:
            self.builder.add_collision(body, read.shape, name=name, surface=surface, **read.place)

    def _add_visual(self, body: str, name: str, table: dict[str, Any], at: tuple[str, ...]) -> None:
        read = read_shape(table, SHAPES, ("color",))
        self._shape_faults(read, f"Visual shape {body}/{name}", at)
        shape = read.shape
        if isinstance(shape, Mesh) and isinstance(shape.filename, str):
            shape = replace(shape, path=self.meshes.find(shape.filename))
        if shape is not None:
            self.builder.add_visual(body, shape, name=name, **read.place, **read.more)

    def _shape_faults(self, read: ReadShape, whose: str, at: tuple[str, ...]) -> None:
        for key, problem, remedy in read.faults:
            self._fault((*at, key) if key else at, f"{whose}: {problem}", remedy)

    def _add_frame(self, name: str, table: dict[str, Any]) -> None:
        at = ("frames", name)
        given = self._known(table, KEYS["frames"], at, f"frame {name!r}")
        if "body" not in given:
            self._fault(
                at, f"Frame {name!r} has no body to be fixed in", f"name one, or {GROUND!r}."
            )
        self.builder.add_frame(name, given.pop("body", GROUND), **given)

    def _add_loop(self, name: str, table: dict[str, Any]) -> None:
        at = ("loops", name)
        given = self._known(table, KEYS["loops"], at, f"loop {name!r}")
        joint, _ = self._joint((*at, "joint"), f"joint of loop {name!r}", given, _CLOSING)
        body_a, body_b = (given.pop(key, None) for key in ("body_a", "body_b"))
        self.builder.add_loop(name, body_a, body_b, joint, **given)

    def _body_joint(self, body: str, table: Any) -> Joint:
        at, whose = ("bodies", body, "joint"), f"joint of body {body!r}"
        joint, mimic = self._joint(at, whose, {"joint": table}, CATALOGUE, ("mimic",))
        if "mimic" in mimic:
            self._add_mimic(joint.joint_name or body, mimic["mimic"], (*at, "mimic"), whose)
        return joint

    def _joint(
        self,
        at: tuple[str, ...],
        whose: str,
        owner: dict[str, Any],
        catalogue: Mapping[str, type[Joint]],
        more: tuple[str, ...] = (),
    ) -> tuple[Joint, dict[str, Any]]:
        """The joint, taken out of its owner's table, and what it has of `more`.

        A fixed one stands in place of what cannot be read, so that checking goes on.
        """
        table = owner.pop("joint", _MISSING)
        example = 'write for example joint = { type = "revolute", axis = [0, 0, 1] }'
        if not isinstance(table, dict):
            what = "is missing" if table is _MISSING else f"is {shown(table)}"
            self._fault(at, f"The {whose} {what}", f"{example}.")
            return Fixed(), {}
        given = dict(table)
        type_name = given.pop("type", None)
        if type_name is None:
            self._fault(at, f"The {whose} has no type", f"{example}.")
            return Fixed(), {}
        joint_type = catalogue.get(type_name) if isinstance(type_name, str) else None
        if joint_type is None:
            remedy = Spelling(catalogue).remedy(type_name, _one_of(catalogue))
            problem = f"The {whose} has type {shown(type_name)}"
            self._fault((*at, "type"), problem, remedy, type_name)
            return Fixed(), {}
        parameters = (*(f.name for f in fields(joint_type)), *more)
        known = self._known(given, parameters, at, f"{type_name} {whose}", ("type",))
        extra = {key: known.pop(key) for key in more if key in known}
        return joint_type(**known), extra

    def _add_mimic(self, joint: str, table: Any, at: tuple[str, ...], whose: str) -> None:
        if not isinstance(table, dict) or "joint" not in table:
            example = 'write for example mimic = { joint = "finger1", multiplier = -1 }'
            problem = "names no joint" if isinstance(table, dict) else f"is {shown(table)}"
            self._fault(at, f"The mimic of the {whose} {problem}", f"{example}.")
            return
        given = self._known(table, MIMIC_KEYS, at, f"mimic of the {whose}")
        self.builder.add_mimic(joint, given.pop("joint"), **given)

    # ---- keys ---------------------------------------------------------------------------------

    def _tables(self, top: dict[str, Any], key: str) -> Iterable[tuple[str, dict[str, Any]]]:
        """The named tables under a key; an empty body or frame stands for what is not a table."""
        group = top.get(key, {})
        one = "body" if key == "bodies" else key.removesuffix("s")
        if not isinstance(group, dict):
            self._fault((key,), f"{key} is {shown(group)}", f"write one table [{key}.NAME] each.")
            group = {}
        for name, table in group.items():
            if not isinstance(table, dict):
                what = f"{one.capitalize()} {name!r} is {shown(table)}"
                self._fault((key, name), what, f"write a table [{key}.{name}].")
                if key not in _EMPTY:
                    continue
                table = _EMPTY[key]
            yield name, table

    def _known(
        self,
        table: dict[str, Any],
        keys: tuple[str, ...],
        at: tuple[str, ...],
        owner: str,
        also: tuple[str, ...] = (),
    ) -> dict[str, Any]:
        """The entries with known keys; an unknown one is a fault, and read as what was meant.

        `also`: keys that are known but were taken out before.
        """
        spelling = Spelling(keys + also)
        known = {key: value for key, value in table.items() if key in keys}
        for key in (key for key in table if key not in known):
            meant = spelling.meant(key)
            remedy = did_you_mean(meant) if meant else f"{_one_of(keys + also)}."
            self._fault((*at, key), f"Unknown key {key!r} in {owner}", remedy)
            if meant in keys:
                known.setdefault(meant, table[key])
        return known

    # ---- places -------------------------------------------------------------------------------

    def _fault(
        self,
        at: tuple[str, ...],
        problem: str,
        remedy: str,
        value: Any = None,
        cause: Fault | None = None,
    ) -> None:
        body = at[1] if len(at) > 1 and at[0] == "bodies" else ""
        line = self.source.line(*at)
        self.faults.append(Fault(problem, remedy, at, value, body, line=line, cause=cause))


_EMPTY = {"bodies": {"parent": GROUND}, "frames": {"body": GROUND}}
_CLOSING: ChainMap[str, type[Joint]] = ChainMap(CLOSING, CATALOGUE)  # type: ignore[arg-type]  # a free one is refused where every model is judged
_MISSING = object()


def _one_of(keys: Iterable[str]) -> str:
    return f"use one of {', '.join(keys)}"
