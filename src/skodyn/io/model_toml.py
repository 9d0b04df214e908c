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

The keys of a body and of a frame are the arguments of `ModelBuilder.add_body` and `add_frame`; the
parameters of a joint are those of its class. `parent` of a body and `body` of a frame must be
given; whatever else is left out has the builder's default. This file judges keys only; values are
judged where every model is, in `ModelBuilder.build`.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from skodyn.conventions import DEFAULT_GRAVITY, GROUND
from skodyn.errors import ModelError
from skodyn.io.toml_source import TomlSource
from skodyn.model.columns import shown
from skodyn.model.description import BodyDescription, FrameDescription, ModelBuilder
from skodyn.model.joints import CATALOGUE, Fixed, Joint
from skodyn.model.model import Model
from skodyn.topology.wording import Spelling

__all__ = ["load_model"]

_TOP_KEYS = ("name", "gravity", "bodies", "frames")
_BODY_KEYS = tuple(f.name for f in fields(BodyDescription) if f.name != "name")
_FRAME_KEYS = tuple(f.name for f in fields(FrameDescription) if f.name != "name")

_MIMIC_KEYS = ("joint", "multiplier", "offset")


def load_model(path: str | os.PathLike[str], *, repair_inertia: bool = False) -> Model:
    """The model described in a TOML file; raises ModelError with every fault at once."""
    return ModelFile(TomlSource(path, ModelError)).build(repair_inertia)


class ModelFile:
    """One file on its way to a model: fills a builder and collects what is wrong."""

    def __init__(self, source: TomlSource) -> None:
        self.source = source
        self.faults: list[tuple[int, str]] = []  # with the line
        top = self._known(source.data, _TOP_KEYS, (), "the file")
        name, gravity = top.get("name", source.path.stem), top.get("gravity", DEFAULT_GRAVITY)
        self.builder = ModelBuilder(gravity, name)
        for body, table in self._tables(top, "bodies"):
            self._add_body(body, table)
        for frame, table in self._tables(top, "frames"):
            self._add_frame(frame, table)

    def build(self, repair_inertia: bool) -> Model:
        try:
            model = self.builder.build(repair_inertia=repair_inertia)
        except ModelError as error:
            for fault in error.faults:
                self._fault(self._spoken_of(fault), fault)
        if self.faults:
            raise ModelError(self.source.in_order(self.faults))
        return model

    # ---- tables -------------------------------------------------------------------------------

    def _add_body(self, name: str, table: dict[str, Any]) -> None:
        at = ("bodies", name)
        given = self._known(table, _BODY_KEYS, at, f"body {name!r}")
        if "parent" not in given:
            self._fault(at, f"Body {name!r} has no parent; name a body, or {GROUND!r}.")
        joint = self._joint(name, given.pop("joint")) if "joint" in given else None
        self.builder.add_body(name, given.pop("parent", GROUND), joint, **given)

    def _add_frame(self, name: str, table: dict[str, Any]) -> None:
        at = ("frames", name)
        given = self._known(table, _FRAME_KEYS, at, f"frame {name!r}")
        if "body" not in given:
            self._fault(at, f"Frame {name!r} has no body to be fixed in; name one, or {GROUND!r}.")
        self.builder.add_frame(name, given.pop("body", GROUND), **given)

    def _joint(self, body: str, table: Any) -> Joint:
        """The joint; a fixed one in place of what cannot be read, so that checking goes on."""
        at = ("bodies", body, "joint")
        whose = f"joint of body {body!r}"
        example = 'write for example joint = { type = "revolute", axis = [0, 0, 1] }'
        if not isinstance(table, dict):
            self._fault(at, f"The {whose} is {shown(table)}; {example}.")
            return Fixed()
        given = dict(table)
        type_name = given.pop("type", None)
        if type_name is None:
            self._fault(at, f"The {whose} has no type; {example}.")
            return Fixed()
        joint_type = CATALOGUE.get(type_name) if isinstance(type_name, str) else None
        if joint_type is None:
            remedy = Spelling(CATALOGUE).remedy(type_name, _one_of(CATALOGUE))
            self._fault((*at, "type"), f"The {whose} has type {shown(type_name)}; {remedy}")
            return Fixed()
        parameters = (*(f.name for f in fields(joint_type)), "mimic")
        known = self._known(given, parameters, at, f"{type_name} {whose}", ("type",))
        if "mimic" in known:
            self._add_mimic(known.get("name") or body, known.pop("mimic"), (*at, "mimic"), whose)
        return joint_type(**known)

    def _add_mimic(self, joint: str, table: Any, at: tuple[str, ...], whose: str) -> None:
        if not isinstance(table, dict) or "joint" not in table:
            example = 'write for example mimic = { joint = "finger1", multiplier = -1 }'
            problem = "names no joint" if isinstance(table, dict) else f"is {shown(table)}"
            self._fault(at, f"The mimic of the {whose} {problem}; {example}.")
            return
        given = self._known(table, _MIMIC_KEYS, at, f"mimic of the {whose}")
        self.builder.add_mimic(joint, given.pop("joint"), **given)

    # ---- keys ---------------------------------------------------------------------------------

    def _tables(self, top: dict[str, Any], key: str) -> Iterable[tuple[str, dict[str, Any]]]:
        """The named tables under a key; an empty one stands for what is not a table."""
        group = top.get(key, {})
        one = {"bodies": "body", "frames": "frame"}[key]
        if not isinstance(group, dict):
            self._fault((key,), f"{key} is {shown(group)}; write one table [{key}.NAME] each.")
            group = {}
        for name, table in group.items():
            if not isinstance(table, dict):
                what = f"{one.capitalize()} {name!r} is {shown(table)}"
                self._fault((key, name), f"{what}; write a table [{key}.{name}].")
                table = {"parent": GROUND} if key == "bodies" else {"body": GROUND}
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
            remedy = spelling.remedy(key, _one_of(keys + also))
            self._fault((*at, key), f"Unknown key {key!r} in {owner}; {remedy}")
            meant = re.search(r"did you mean '(\w+)'", remedy)
            if meant and meant[1] in keys:
                known.setdefault(meant[1], table[key])
        return known

    # ---- places -------------------------------------------------------------------------------

    def _fault(self, at: tuple[str, ...], sentence: str) -> None:
        self.faults.append((self.source.line(*at), sentence))

    def _spoken_of(self, fault: str) -> tuple[str, ...]:
        """The key path that a sentence of the builder is about, as far as it can be told."""
        if found := re.match(r"The model(?:: (\w+)| (?:is|has an empty) name)", fault):
            return (found[1] or "name",)
        if found := re.match(r"(Body|Frame) number (\d+)", fault):
            given = self.builder.bodies if found[1] == "Body" else self.builder.frames
            return _GROUPS[found[1]], given[int(found[2]) - 1].name
        if found := _NAMED.match(fault):
            group, name = _GROUPS[found["what"]], ast.literal_eval(found["name"])
            if found["what"] == "Joint":
                return group, self._carried_by(name), "joint"
            return (group, name, "joint" if found["joint"] else found["key"] or "")
        return ()

    def _carried_by(self, joint: str) -> str:
        """The last body whose joint has this name, by its own or by the body's."""
        bodies = self.builder.bodies
        return [b.name for b in bodies if (b.joint.joint_name or b.name) == joint][-1]


_GROUPS = {"Body": "bodies", "Frame": "frames", "Joint": "bodies"}

_NAMED = re.compile(
    r"""(?P<what>Body|Frame|Joint)\ (?P<name>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
        (?P<joint>,\ \w+\ joint|:\ its\ joint)?(?::\ (?:there\ is\ no\ )?(?P<key>\w+))?""",
    re.VERBOSE,
)


def _one_of(keys: Iterable[str]) -> str:
    return f"use one of {', '.join(keys)}"
