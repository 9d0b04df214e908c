"""The joint catalogue: every kind of joint under one roof, and those that can close a loop.

Each has a file of its own in joint_kinds; joint_entry.py says of what it consists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from skodyn.model.joint_entry import CATALOGUE, Joint
from skodyn.model.joint_kinds.cylindrical import Cylindrical
from skodyn.model.joint_kinds.fixed import Fixed
from skodyn.model.joint_kinds.free import Free
from skodyn.model.joint_kinds.gimbal import Gimbal
from skodyn.model.joint_kinds.helical import Helical
from skodyn.model.joint_kinds.planar import Planar
from skodyn.model.joint_kinds.prismatic import Prismatic
from skodyn.model.joint_kinds.revolute import Revolute
from skodyn.model.joint_kinds.rod import Rod
from skodyn.model.joint_kinds.spherical import Spherical
from skodyn.model.joint_kinds.translation import Translation
from skodyn.model.joint_kinds.universal import Universal

__all__ = [
    "CATALOGUE",
    "CLOSING",
    "Cylindrical",
    "Fixed",
    "Free",
    "Gimbal",
    "Helical",
    "Joint",
    "Planar",
    "Prismatic",
    "Revolute",
    "Rod",
    "Spherical",
    "Translation",
    "Universal",
]


class _Closing(Mapping[str, type[Joint]]):
    """Every joint type that can close a loop: those that say their rows, and the rod."""

    def __getitem__(self, name: str) -> type[Joint]:
        kind = Rod if name == Rod.type_name else CATALOGUE[name]
        if not kind.closes_loops():
            raise KeyError(name)
        return kind

    def __iter__(self) -> Iterator[str]:
        closing = (name for name, kind in CATALOGUE.items() if kind.closes_loops())
        return iter([*closing, Rod.type_name])

    def __len__(self) -> int:
        return sum(1 for _ in self)


CLOSING = _Closing()
