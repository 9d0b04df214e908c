"""Joints and bodies that a scenario speaks of, looked up in its model."""

from __future__ import annotations

from typing import Any

from skodyn.conventions import GROUND
from skodyn.faults import dotted
from skodyn.forks import cached_property
from skodyn.model.joints import Joint
from skodyn.model.model import Model
from skodyn.scenario.tables import At, Tables
from skodyn.wording import Spelling, listed

__all__ = ["ModelNames"]


class ModelNames:
    """Looks names up and reports the unknown ones."""

    def __init__(self, model: Model, tables: Tables) -> None:
        self.model = model
        self.tables = tables

    @cached_property
    def joints(self) -> dict[str, Joint]:
        return dict(zip(self.model.joint_names, self.model.joints, strict=True))

    @cached_property
    def _bodies(self) -> dict[str, int]:
        return {name: k for k, name in enumerate((*self.model.body_names, GROUND))}

    @cached_property
    def _joint_spelling(self) -> Spelling:
        return Spelling(self.joints)

    @cached_property
    def _body_spelling(self) -> Spelling:
        return Spelling((*self._bodies, *self.model.frames))

    def one_dof(self, at: At, name: str) -> None:
        """A fault unless this is a joint with one degree of freedom."""
        joint = self.joints.get(name)
        if joint is None:
            self.tables.fault(at, f"{dotted(*at)} is {name!r}", f"{self._joint_remedy(name)}")
        elif joint.nv != 1:
            self.tables.fault(
                at,
                f"{dotted(*at)} is {name!r}, a {joint.type_name} joint with {joint.nv} degrees "
                "of freedom",
                "name a joint that has one.",
            )

    def moving(self, at: At, name: str) -> None:
        """A fault unless this is a joint that moves."""
        joint = self.joints.get(name)
        if joint is None:
            self.tables.fault(at, f"{dotted(*at)} is {name!r}", f"{self._joint_remedy(name)}")
        elif joint.nv == 0:
            what = f"{dotted(*at)} is {name!r}, a fixed joint"
            self.tables.fault(at, what, "name a joint that moves.")

    def body(self, at: At, name: str, *, ground: bool) -> None:
        """A fault unless this is a body or a frame, or the ground where that is allowed."""
        frame = None if name in self._bodies else self.model.frames.get(name)
        if frame is None and name not in self._bodies:
            otherwise = f"the bodies are {listed(self.model.body_names)}"
            remedy = self._body_spelling.remedy(name, otherwise)
            self.tables.fault(at, f"{dotted(*at)} is {name!r}", remedy)
        elif frame is not None and frame.body == GROUND and not ground:
            what = f"{dotted(*at)} is {name!r}, which is fixed in the world"
            self.tables.fault(at, what, "name a body that can move, or a frame in one.")
        elif name == GROUND and not ground:
            self.tables.fault(at, f"{dotted(*at)} is the ground", "name a body that can move.")

    def state_of(self, table: dict[str, Any], at: At) -> dict[str, list[str]]:
        """As `spoken_for`, for coordinates: patterns pass over mimic joints, which have none."""
        mimics = self.model.mimics
        found = {}
        for key, joints in self.spoken_for(table, at).items():
            if key in mimics:
                source = mimics[key].source
                what = f"{dotted(*at, key)}: joint {key!r} mimics {source!r}"
                self.tables.fault((*at, key), what, f"give that of {source!r} instead.")
            found[key] = [name for name in joints if name not in mimics]
        return found

    def spoken_for(self, table: dict[str, Any], at: At) -> dict[str, list[str]]:
        """The joints that each key of a table speaks for.

        A key is the name of a joint, or a pattern in which one * stands for any characters. A
        pattern passes over fixed joints and over those that are named themselves.
        """
        found: dict[str, list[str]] = {}
        taken: dict[str, str] = {}
        for key in table:
            if key in self.joints:
                found[key] = self._if_it_moves((*at, key))
            elif fitting := self._fitting(key):
                found[key] = [name for name in fitting if name not in table]
                for name in found[key]:
                    other = taken.setdefault(name, key)
                    if other != key:
                        self.tables.fault(
                            (*at, key),
                            f"{dotted(*at, key)} and {dotted(*at, other)} both fit joint {name!r}",
                            "give that joint a table or key of its own, or narrow one.",
                        )
                        break
            else:
                sentence = f"{dotted(*at, key)}: the model has no joint {key!r}"
                self.tables.fault((*at, key), sentence, f"{self._joint_remedy(key)}")
        return found

    def _fitting(self, pattern: str) -> list[str]:
        head, star, tail = pattern.partition("*")
        least = len(head) + len(tail)
        return [
            name
            for name, joint in self.joints.items()
            if star and joint.nv and len(name) >= least
            if name.startswith(head) and name.endswith(tail)
        ]

    def _if_it_moves(self, at: At) -> list[str]:
        if self.joints[at[-1]].nv:
            return [at[-1]]
        self.tables.fault(at, f"{dotted(*at)}: joint {at[-1]!r} is fixed", "leave it out.")
        return []

    def _joint_remedy(self, name: str) -> str:
        if name in self.model.loop_names:
            return "it closes a loop and has no coordinate, so cut the loop at another joint."
        otherwise = f"the joints are {listed(self.model.joint_names)}"
        return self._joint_spelling.remedy(name, otherwise)
