"""Rows of a loop that say nothing, because its cycle moves in a plane.

Let n be a direction that every joint of a cycle leaves as it is: hinges turn about it, sliders move
across it. Then n is fixed in each body of the cycle, and whatever the joints do,

    n·d,   and u·w with u or w along n,   keep their values.

Rows of these are zero in G and in γ, on the manifold and beside it. A hinge in the plane closes a
loop by five rows of which three are such; where their constant gaps are zero, dynamics and
projections leave them out and write what is left of a point as two rows, across n. Multipliers and
gaps that people ask for still come from all rows (kernels/loops/loop_queries.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skodyn.conventions import JointKind
from skodyn.model.loops.closing import ALONG, DOT, HELIX, IN_PLANE, POINT, Row, row_count
from skodyn.model.loops.loop_description import Loop, closing_rows
from skodyn.model.products import applied, dot, norm
from skodyn.typing import Floats

if TYPE_CHECKING:
    from skodyn.model.model import Model

__all__ = ["Essential", "essential_count", "find_essential_rows"]

EXACT = 1e-12
"""What is parallel, or closed, but for this much is so but for the rounding of its numbers."""


class Essential(NamedTuple):
    """A primitive that dynamics keeps: its kind, its number among all of the loop, or for IN_PLANE
    the body whose kernel frame has n as its third axis."""

    kind: int
    at: int


class _Side(NamedTuple):
    """One end of a loop: n in its body, and how far along n it lies from the ancestor's origin."""

    normal: Floats
    height: float


def find_essential_rows(model: Model) -> tuple[tuple[Essential, ...], ...]:
    """Of each loop, the primitives that can say something."""
    numbers = {name: k for k, name in enumerate(model.body_names)}
    return tuple(
        _of_loop(model, loop, (numbers.get(loop.body_a, -1), numbers.get(loop.body_b, -1)))
        for loop in model.loops.values()
    )


def essential_count(model: Model, c: int) -> int:
    """How many rows a loop or coupling has without those that say nothing."""
    if c >= len(model.loops):
        return 1
    return sum(row_count(essential.kind) for essential in model._essential_rows[c])


def _of_loop(model: Model, loop: Loop, ends: tuple[int, int]) -> tuple[Essential, ...]:
    """All, if its cycle leaves no plane alone."""
    rows = closing_rows(loop.joint, loop.rotation_a, loop.rotation_b)
    every = tuple(Essential(row.kind, i) for i, row in enumerate(rows))
    if model.flexible:  # modes may bend a body out of any plane
        return every
    paths = _paths(model, *ends)
    hinges = [k for path in paths for k in path if model.joints[k].kind == JointKind.REVOLUTE]
    if not hinges or any(row.kind == HELIX for row in rows):
        return every
    above = _normal_above(model, hinges[0], paths)
    sides = [
        _side(model, path, above, where)
        for path, where in zip(paths, (loop.translation_a, loop.translation_b), strict=True)
    ]
    if sides[0] is None or sides[1] is None:
        return every
    kept = [_reduced(row, i, hinges[0], sides[0], sides[1]) for i, row in enumerate(rows)]
    if any(gap > EXACT for _, gap in kept):
        return every
    return tuple(essential for essential, _ in kept if essential is not None)


def _paths(model: Model, a: int, b: int) -> tuple[list[int], list[int]]:
    """Bodies from each end to the closest common ancestor, ends first."""
    path_a: list[int] = []
    path_b: list[int] = []
    while a != b:
        if a > b:
            path_a.append(a)
            a = int(model.tree.parent[a])
        else:
            path_b.append(b)
            b = int(model.tree.parent[b])
    return path_a, path_b


def _normal_above(model: Model, hinge: int, paths: Sequence[list[int]]) -> Floats:
    """The axis of a hinge in the axes of the ancestor, if no joint on the way turns it."""
    path = next(path for path in paths if hinge in path)
    n = np.array(model.joints[hinge].twists()[0][0], dtype=np.float64)
    for k in path[path.index(hinge) :]:
        n = applied(model.rotation[k], n)
    return n


def _side(model: Model, path: Sequence[int], n: Floats, place: Floats) -> _Side | None:
    """An end, walking outward from the ancestor with n in its axes; None if a joint turns n."""
    height = 0.0
    for k in reversed(path):
        height += dot(n, model.translation[k])
        n = applied(model.rotation[k].T, n)
        if not _leaves_alone(model, k, n):
            return None
    return _Side(n, height + dot(n, place))


def _leaves_alone(model: Model, k: int, n: Floats) -> bool:
    """Does joint k turn about n and slide across it only?"""
    twists = model.joints[k].twists()
    if len(twists) != model.joints[k].nv:
        return False
    pairs = [(np.array(u), np.array(t)) for u, t in twists]
    return all(norm(np.cross(n, u)) <= EXACT and abs(dot(n, t)) <= EXACT for u, t in pairs)


def _reduced(row: Row, i: int, hinge: int, a: _Side, b: _Side) -> tuple[Essential | None, float]:
    """(what is kept of a primitive, the gap of what is not)."""
    rise = abs(b.height - a.height)
    if row.kind == POINT:
        return Essential(IN_PLANE, hinge), rise
    if row.kind == ALONG and norm(np.cross(row.u, a.normal)) <= EXACT:
        return None, rise
    if row.kind == DOT:
        if norm(np.cross(row.u, a.normal)) <= EXACT:
            return None, abs(dot(row.u, a.normal) * dot(b.normal, row.w) - row.c)
        if norm(np.cross(row.w, b.normal)) <= EXACT:
            return None, abs(dot(row.w, b.normal) * dot(a.normal, row.u) - row.c)
    return Essential(row.kind, i), 0.0
