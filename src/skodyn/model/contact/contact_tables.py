"""Contacts packed for kernels: points of every pair of shapes, and the numbers they need.

The table of shapes in docs/contact.md: which point of the one, the *feeler*, is held against which
surface of the other. What is not in it is refused by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product as combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.conventions import GROUND
from skodyn.errors import ModelError
from skodyn.faults import Fault
from skodyn.model.contact import contact_layout as c
from skodyn.model.contact.contact_pairs import Pair, Placed, find_pairs
from skodyn.model.contact.contacts import Contact, Law
from skodyn.model.model import Model
from skodyn.model.packing import rotations_from_z_to
from skodyn.model.products import applied, norm, product
from skodyn.model.shapes import (
    Box,
    Capsule,
    Cylinder,
    Disk,
    Ellipsoid,
    HalfSpace,
    HeightField,
    Mesh,
    Points,
    Sphere,
    shape_word,
)
from skodyn.typing import Floats

__all__ = ["ContactTables", "pack_contacts"]

FLAT_POINTS = 0.8
"""Where a disk that lies flat rests besides its rim: three points at this part of its radius."""


@dataclass(frozen=True)
class ContactTables:
    """What contact_layout.py lays out, and what points are called."""

    codes: NDArray[np.int64]
    numbers: Floats
    n_bristles: int
    labels: tuple[str, ...]  # of points
    pairs: tuple[Pair, ...]
    pair_of: tuple[int, ...]  # each point's
    sizes: tuple[float, ...]  # of each point's feeler or surface, by which depths are judged

    @property
    def n_points(self) -> int:
        return len(self.labels)

    @property
    def bristles_of_points(self) -> tuple[tuple[int, int], ...]:
        """(first, count) of the numbers of each point's bristles; count 0 without friction."""
        records = self.codes[c.CONTACT_HEADER :].reshape(-1, c.CONTACT_RECORD)
        first, turns = records[:, c.BRISTLE], records[:, c.TURNS]
        counts = np.where(first >= 0, 3 + 3 * turns, 0)
        return tuple((int(a), int(b)) for a, b in zip(first, counts, strict=True))


@dataclass(frozen=True)
class _Feeler:
    kind: int
    numbers: tuple[float, ...]
    size: float


def pack_contacts(model: Model, contacts: Sequence[Contact], base: int = 0) -> ContactTables:
    """The tables of all contacts of a model; numbers lie from `base` on where they will be."""
    return _Packer(model.uncoupled, base).pack(find_pairs(model, contacts))


def _meshes(pair: Pair) -> list[Mesh]:
    shapes = (pair.a.collision.shape, pair.b.collision.shape)
    return [shape for shape in shapes if isinstance(shape, Mesh)]


def _mesh_words(pair: Pair) -> str:
    """Which files of meshes are not there."""
    lost = [repr(mesh.filename) for mesh in _meshes(pair) if mesh.path is None]
    return f", and the mesh {' and '.join(lost)} is not found" if lost else ""


def _remedy(pair: Pair) -> str:
    """What to do about two shapes that cannot meet."""
    meshes = _meshes(pair)
    if any(mesh.path is None for mesh in meshes):
        return "load with its folder in search_paths and hulls=True, or cover it with spheres."
    if meshes:
        return "load with hulls=True, for the corners of its hull, or cover it with spheres."
    return "cover one of them with spheres."


class _Packer:
    def __init__(self, model: Model, base: int) -> None:
        self.model, self.base = model, base
        self.numbers: list[float] = []
        self.kept: dict[Any, int] = {}
        self.records: list[list[int]] = []
        self.bristles = 0
        self.sizes: list[float] = []

    def pack(self, pairs: tuple[Pair, ...]) -> ContactTables:
        faults: list[Fault] = []
        pair_of: list[int] = []
        for number, pair in enumerate(pairs):
            before = len(self.records)
            if problem := self._add(pair):
                at = ("contacts", pair.name) if pair.name else ()
                faults.append(Fault(problem + _mesh_words(pair), _remedy(pair), at))
            pair_of += [number] * (len(self.records) - before)
        if faults:
            raise ModelError(list(dict.fromkeys(faults)))
        header = [len(self.records), self.bristles]
        codes = np.array(header + [x for record in self.records for x in record], dtype=np.int64)
        numbers = np.array(self.numbers, dtype=np.float64)
        labels = _labels(pairs, pair_of)
        return ContactTables(
            codes, numbers, self.bristles, labels, pairs, tuple(pair_of), tuple(self.sizes)
        )

    # ---- pairs --------------------------------------------------------------------------------

    def _add(self, pair: Pair) -> str:
        """Add the points of a pair; the problem if its shapes cannot meet."""
        a, b = pair.a.collision.shape, pair.b.collision.shape
        ways = [(pair.a, pair.b, 1), (pair.b, pair.a, -1)]
        done = False
        for feeler, surface, sign in ways:
            shape, on = feeler.collision.shape, surface.collision.shape
            if isinstance(on, HalfSpace | HeightField) and not isinstance(
                shape, HalfSpace | HeightField
            ):
                found = _feelers(self._placed(feeler), shape)
                if found is None:
                    continue
                if isinstance(on, HeightField):
                    found = [f for f in found if not (f.kind == c.BALL and _has_rim(shape))]
                self._points(pair, feeler, surface, sign, found)
                return ""
        if _is_straight(a) and _is_straight(b):
            self._straight(pair)
            return ""
        for feeler, surface, sign in ways:
            shape, on = feeler.collision.shape, surface.collision.shape
            fine = isinstance(shape, Points) and isinstance(on, Box | Sphere | Capsule)
            fine |= isinstance(shape, Sphere | Capsule | Box) and isinstance(on, Box)
            fine |= isinstance(shape, Box) and isinstance(on, Capsule)
            if fine:
                found = _feelers(self._placed(feeler), shape)
                self._points(pair, feeler, surface, sign, found or [])
                done = True
        if done:
            return ""
        words = [shape_word(x).replace("_", " ") for x in (a, b)]
        return f"{pair.a.words} with {pair.b.words}: {words[0]} on {words[1]} cannot be done"

    def _straight(self, pair: Pair) -> None:
        """Sphere or capsule on sphere or capsule: the nearest points of their axes."""
        balls = all(isinstance(x.collision.shape, Sphere) for x in (pair.a, pair.b))
        size = min(x.collision.shape.radius for x in (pair.a, pair.b))  # type: ignore[union-attr]
        feeler, on = (
            self._keep((x.words, balls), self._straight_numbers(x, balls)) for x in (pair.a, pair.b)
        )
        kinds = (c.BALL, c.BALL_SURFACE) if balls else (c.STRAIGHT, c.STRAIGHT_SURFACE)
        self._record(pair, (pair.a, pair.b), 1, kinds, (feeler, on), size)

    def _straight_numbers(self, placed: Placed, balls: bool) -> tuple[float, ...]:
        centre, axes = self._placed(placed)
        shape: Any = placed.collision.shape
        if balls:
            return (*centre, shape.radius)
        half = getattr(shape, "length", 0.0) / 2.0
        return (*centre, *axes[:, 2], half, shape.radius)

    def _points(
        self, pair: Pair, feeler: Placed, surface: Placed, sign: int, found: Sequence[_Feeler]
    ) -> None:
        kind, numbers, grid, size = self._surface(surface)
        on = self._keep((surface.words, "surface"), numbers)
        for i, one in enumerate(found):
            mine = one.kind, one.numbers
            if kind == c.STRAIGHT_SURFACE:  # a ball is a capsule of no length
                mine = c.STRAIGHT, (*one.numbers[:3], 0.0, 0.0, 1.0, 0.0, one.numbers[3])
            at = (self._keep((feeler.words, mine[0], i), mine[1]), on)
            scale = min(one.size, size) if one.size > 0.0 else size
            self._record(pair, (feeler, surface), sign, (mine[0], kind), at, scale, grid)

    def _record(
        self,
        pair: Pair,
        sides: tuple[Placed, Placed],
        sign: int,
        kinds: tuple[int, int],
        at: tuple[int, int],
        size: float,
        grid: tuple[int, int] = (0, 0),
    ) -> None:
        law = pair.law
        turns = int(law.torsional_friction > 0.0 or law.rolling_friction > 0.0)
        bristle = self.bristles if law.friction > 0.0 else -1
        self.bristles += (3 + 3 * turns) * (bristle >= 0)
        bodies = [self._number(side.body) for side in sides]
        key = (pair.contact, pair.a.words, pair.b.words) if pair.from_file else pair.contact
        record = [*kinds, *bodies, *at, self._keep(key, _law_numbers(law))]
        self.records.append([*record, int(law.hertz), bristle, sign, *grid, turns])
        self.sizes.append(size)

    # ---- numbers ------------------------------------------------------------------------------

    def _keep(self, key: Any, numbers: Sequence[float]) -> int:
        """Where these numbers lie; those of one shape or law lie there once, whatever they are."""
        if key not in self.kept:
            self.kept[key] = self.base + len(self.numbers)
            self.numbers += [float(x) for x in numbers]
        return self.kept[key]

    def _number(self, body: str) -> int:
        return -1 if body == GROUND else self.model.body_index(body)

    def _placed(self, placed: Placed) -> tuple[Floats, Floats]:
        """(centre, axes) of a shape in the kernel frame of its body."""
        collision = placed.collision
        if placed.body == GROUND:
            return collision.translation, collision.rotation
        back = self.model.alignment[self.model.body_index(placed.body)].T
        return applied(back, collision.translation), product(back, collision.rotation)

    def _surface(self, placed: Placed) -> tuple[int, tuple[float, ...], tuple[int, int], float]:
        """(kind, numbers, grid, size) of what is touched."""
        shape: Any = placed.collision.shape
        centre, axes = self._placed(placed)
        flat = axes.reshape(-1)
        if isinstance(shape, HalfSpace):
            normal = np.asarray(shape.normal) / norm(np.asarray(shape.normal))
            n = applied(axes, normal)
            point = centre + applied(axes, np.asarray(shape.point))
            if placed.body == GROUND:
                return c.FLOOR, (*n, float(applied(n[None], point)[0])), (0, 0), np.inf
            return c.PLANE, (*point, *n), (0, 0), np.inf
        if isinstance(shape, Box):
            half = np.asarray(shape.size) / 2.0
            return c.BOX, (*centre, *flat, *half), (0, 0), min(shape.size)
        if isinstance(shape, HeightField):
            heights = np.asarray(shape.heights)
            size = np.asarray(shape.size)
            dense = (np.array(heights.shape) - 1) / size
            numbers = (*centre, *flat, *(-size / 2.0), *dense, *heights.reshape(-1))
            return c.FIELD, numbers, heights.shape, np.inf
        if isinstance(shape, Sphere):
            return c.BALL_SURFACE, (*centre, shape.radius), (0, 0), shape.radius
        numbers = (*centre, *axes[:, 2], shape.length / 2.0, shape.radius)
        return c.STRAIGHT_SURFACE, numbers, (0, 0), shape.radius


def _is_straight(shape: Any) -> bool:
    return isinstance(shape, Sphere | Capsule)


def _has_rim(shape: Any) -> bool:
    return isinstance(shape, Disk | Cylinder)


def _law_numbers(law: Law) -> tuple[float, ...]:
    return (
        law.stiffness,
        law.dissipation,
        law.friction,
        law.static_friction,
        law.slip_speed,
        law.tangential_stiffness,
        law.tangential_damping,
        law.damping_time,
        law.torsional_friction,
        law.rolling_friction,
    )


# ---- feelers ------------------------------------------------------------------------------------


def _feelers(place: tuple[Floats, Floats], shape: Any) -> list[_Feeler] | None:
    """The points of a shape that are held against a surface; None if it has no such points."""
    centre, axes = place
    if isinstance(shape, Ellipsoid):
        numbers = (*centre, *axes.reshape(-1), *shape.radii)
        return [_Feeler(c.ELLIPSOID, numbers, min(shape.radii))]
    if isinstance(shape, Disk):
        return _rim(centre, axes, shape.radius, shape.edge)
    if isinstance(shape, Cylinder):
        ends = [centre + s * shape.length / 2.0 * axes[:, 2] for s in (-1.0, 1.0)]
        return [f for end in ends for f in _rim(end, axes, shape.radius, 0.0)]
    cloud = _cloud(shape)
    if cloud is None:
        return None
    points, radius, size = cloud
    return [
        _Feeler(c.BALL, (*(centre + applied(axes, np.asarray(x, float))), radius), size)
        for x in points
    ]


def _cloud(shape: Any) -> tuple[Sequence[Any], float, float] | None:
    """(points, radius, size) of a shape that touches by balls."""
    if isinstance(shape, Sphere):
        return [(0.0, 0.0, 0.0)], shape.radius, shape.radius
    if isinstance(shape, Capsule):
        half = shape.length / 2.0
        return [(0.0, 0.0, -half), (0.0, 0.0, half)], shape.radius, shape.radius
    if isinstance(shape, Box):
        corners = combinations(*((-x / 2.0, x / 2.0) for x in shape.size))
        return list(corners), 0.0, min(shape.size)
    if isinstance(shape, Points):
        return shape.points, shape.radius, shape.radius
    return None


def _rim(centre: Floats, axes: Floats, radius: float, edge: float) -> list[_Feeler]:
    """The lowest point of the rim, and three inside of it that matter when it lies flat."""
    across = rotations_from_z_to(axes[:, 2][None])[0]
    numbers = (*centre, *axes[:, 2], radius, edge, *across[:, 0])
    found = [_Feeler(c.RIM, numbers, radius)]
    for i in range(3):
        angle = 2.0 * np.pi * i / 3.0
        around = np.cos(angle) * across[:, 0] + np.sin(angle) * across[:, 1]
        found.append(_Feeler(c.BALL, (*(centre + FLAT_POINTS * radius * around), edge), radius))
    return found


def _labels(pairs: tuple[Pair, ...], pair_of: Sequence[int]) -> tuple[str, ...]:
    """a/b by bodies, by shapes where bodies have several pairs; a/b.2 for further points."""
    short = [f"{p.a.label}/{p.b.label}" for p in pairs]
    often = Counter(short)
    names = [
        s if often[s] == 1 else f"{p.a.words}/{p.b.words}"
        for s, p in zip(short, pairs, strict=True)
    ]
    seen: Counter[int] = Counter()
    labels = []
    for k in pair_of:
        seen[k] += 1
        labels.append(names[k] if seen[k] == 1 else f"{names[k]}.{seen[k]}")
    return tuple(labels)
