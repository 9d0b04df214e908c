"""Judge shapes to look at: like those that touch, and their colours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from skodyn.faults import Fault
from skodyn.model.builder_entries import VisualDescription
from skodyn.model.columns import as_floats
from skodyn.model.contact.collision_checks import Role, check_placed, owner
from skodyn.model.shapes import Visual

__all__ = ["LOOKED_AT", "check_visuals"]

LOOKED_AT = Role("Visual shape", "visuals", "scenery")
_HEX = re.compile(r"#(?:[0-9a-fA-F]{2}){3,4}")


def check_visuals(
    given: Sequence[VisualDescription], bodies: Sequence[str], faults: list[Fault]
) -> dict[str, tuple[Visual, ...]]:
    """The shapes of each body that has any; faults are added, one sentence each."""
    colours = [_colour(one, faults) for one in given]
    found: dict[str, list[Visual]] = {}
    placed = check_placed(given, bodies, LOOKED_AT, faults)
    for one, place, colour in zip(given, placed, colours, strict=False):
        shape, rotation, translation, name = place
        found.setdefault(one.body, []).append(Visual(shape, rotation, translation, colour, name))
    return {body: tuple(shapes) for body, shapes in found.items()}


def _colour(given: VisualDescription, faults: list[Fault]) -> Any:
    """Red, green, blue and alpha from 0 to 1, or None if none was given."""
    if given.color is None:
        return None
    if isinstance(given.color, str) and _HEX.fullmatch(given.color):
        parts = [int(given.color[i : i + 2], 16) / 255 for i in range(1, len(given.color), 2)]
        return (*parts, 1.0)[:4]
    numbers = None if isinstance(given.color, str) else as_floats(given.color)
    fits = numbers is not None and numbers.shape in ((3,), (4,))
    if numbers is not None and fits and np.all((numbers >= 0.0) & (numbers <= 1.0)):
        return (*numbers.tolist(), 1.0)[:4]
    remedy = 'write "#RRGGBB", or red, green, blue and perhaps alpha from 0 to 1.'
    faults.append(owner(given, LOOKED_AT).found("color", given.color, remedy))
    return None
