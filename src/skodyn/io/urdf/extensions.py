"""Tags that are no part of URDF: which of them can be left aside, since they move nothing.

Everything else that is unknown, wherever it could change the motion, is refused by name.
docs/robots.md has the table.
"""

from __future__ import annotations

from collections.abc import Iterator

from skodyn.io.xml_source import Element

__all__ = ["HARMLESS_ATTRIBUTES", "ONLY_SEEN", "is_harmless", "mechanism_inside"]

ONLY_SEEN = frozenset(
    ("visual", "collision", "geometry", "material", "color", "texture", "limit", "mesh")
) | {"box", "cylinder", "sphere", "capsule"}
"""Inside these, what is unknown cannot change the motion: shapes, colours, and limits, which are
kept and do not act."""

HARMLESS_ATTRIBUTES = {
    "link": ("type",),
    "joint": ("dont_collapse",),
    "dynamics": ("D", "K", "mu_coulomb", "mu_viscous"),  # of the Panda; no reader applies them
}

_HARMLESS = {
    "link": ("contact", "collision_checking", "self_filter", "surface", "sensor"),
    "robot": ("self_collision_checking", "disable_collisions", "verbose"),
}
_AS_ANYWAY = {("link", "gravity"): ("1", "true"), ("link", "kinematic"): ("0", "false")}
"""Switches that say what holds without them, with these values."""

_NEUTRAL = ("0", "0.0", "false")
_PARTS = ("joint", "link", "model", "include")
_FORCES = (
    "springStiffness", "spring_stiffness", "dampingFactor", "velocity_decay", "static", "kinematic",
    "rotor_inertia", "drake:rotor_inertia", "motorInertia", "motor_inertia", "enable_wind",
)  # fmt: skip
_PROGRAMS = ("plugin", "sensor", "ros2_control")
"""What these hold is for programs, not for the mechanism."""

_COMPILER = (
    "angle", "assetdir", "autolimits", "balanceinertia", "conflict", "coordinate", "discardvisual",
    "eulerseq", "fusestatic", "meshdir", "strippath", "texturedir", "usethread",
)  # fmt: skip
"""Of MuJoCo's <compiler>: files, notation, and what changes only inertias that are refused."""


def is_harmless(element: Element, where: str) -> bool:
    """Whether an unknown element can be left aside."""
    if element.tag in _HARMLESS.get(where, ()):
        return True
    if (where, element.tag) == ("link", "origin"):
        return all(_is_zero(text) for text in element.attributes.values())
    return _value(element) in _AS_ANYWAY.get((where, element.tag), ())


def mechanism_inside(element: Element) -> Iterator[tuple[Element, str]]:
    """What an element for another program adds to the mechanism, each with its words."""
    if element.tag == "mujoco":
        yield from _of_mujoco(element)
    elif element.tag not in _PROGRAMS:
        names_joints = element.tag == "transmission"
        for child in element.children:
            is_part = child.tag in _PARTS or child.tag.startswith("joint:")
            acts = child.tag in _FORCES and _value(child) not in _NEUTRAL
            if acts or (is_part and not names_joints):
                yield child, f"<{child.tag}>"
            else:
                yield from mechanism_inside(child)


def _of_mujoco(element: Element) -> Iterator[tuple[Element, str]]:
    for child in element.children:
        if child.tag == "compiler":
            yield from ((child, key) for key in child.attributes if key not in _COMPILER)
        elif child.tag not in ("size", "visual", "statistic"):
            yield child, f"<{child.tag}>"


def _is_zero(text: str) -> bool:
    return all(word.strip("+-0.") == "" for word in text.split())


def _value(element: Element) -> str:
    return element.attributes.get("value", element.text).strip().lower()
