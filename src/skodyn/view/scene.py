"""What is drawn of a model: unit shapes, stretched and placed in bodies, sorted into layers.

Bodies with visual shapes (`model.visuals`) show them. The others show an ellipsoid for their
inertia, links to the joints they carry and the axes of their joints. Closing joints of loops are
drawn as those of the tree; lines and arrows of loops come with each frame (closures.py).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skodyn.conventions import GROUND
from skodyn.errors import ModelError
from skodyn.model.joints import Joint
from skodyn.model.loops.loop_description import Loop
from skodyn.model.model import Model
from skodyn.model.shapes import HalfSpace
from skodyn.topology.segments import serial_segments
from skodyn.view.arrows import ARROW_LAYERS
from skodyn.view.bent_shapes import LAYER, BentShape, bent_shapes, piece_mesh
from skodyn.view.closures import CLOSING
from skodyn.view.mesh_files import read_mesh
from skodyn.view.outline import extent_of, level, lost_meshes, reaches
from skodyn.view.rotations import product, quaternions, rotation_from_z
from skodyn.view.shape_parts import height_mesh, shape_parts
from skodyn.view.shapes import Mesh, unit_mesh

__all__ = [
    "INSTANCE",
    "LAYERS",
    "PALETTE",
    "Batch",
    "Scene",
    "body_colours",
    "scene_of",
]

LAYERS = (
    "shapes", "inertia", "links", "joints", LAYER, "loops", "collisions", "ground", "frames",
    *ARROW_LAYERS,
)  # fmt: skip
INSTANCE = ("body", "px", "py", "pz", "qw", "qx", "qy", "qz", "sx", "sy", "sz", "r", "g", "b")
"""One row for each shape: its body (−1: ground), place and stretch in the body frame, colour."""

# Okabe and Ito's colours, told apart by all common kinds of sight
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442")
_DARK = "#3A4048"
_EARTH = "#9A9284"
_AXES = ("#D04A35", "#3F9E4D", "#2F6FD0")
_LARGE = 250  # bodies; from here on shapes have fewer corners
_FEW = 20  # bodies; up to here round shapes are rounder
_BODY_COLOURS = 7  # up to so many bodies each has its own colour, else each branch

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Batch:
    """Shapes of one mesh in one layer."""

    mesh: str
    layer: str
    instances: NDArray[np.float32]  # (n, len(INSTANCE))

    def upright(self, turn: Floats) -> NDArray[np.float32]:
        """Instances for a picture with other axes than the world's: shapes on the ground turn."""
        if np.array_equal(turn, np.eye(3)):
            return self.instances
        turned = self.instances.copy()
        fixed = turned[:, 0] < 0
        turned[fixed, 1:4] = turned[fixed, 1:4] @ turn.T
        rotated = [product(quaternions(turn), q) for q in turned[fixed, 4:8]]
        turned[fixed, 4:8] = np.reshape(rotated, (-1, 4))  # there may be none
        return turned


@dataclass(frozen=True)
class Scene:
    """Meshes by name, and where they are drawn."""

    meshes: dict[str, Mesh]
    batches: list[Batch]
    shown: tuple[str, ...]  # layers that are on at first
    extent: float  # size of the model, m
    radius: float  # of its links
    notes: tuple[str, ...] = ()  # what could not be drawn
    swatches: tuple[str, ...] = ()  # the colour in which each body is drawn
    reaches: Floats = field(default_factory=lambda: np.zeros(0))  # from its centre of mass, m
    bent: tuple[BentShape, ...] = ()  # surfaces of flexible bodies


def scene_of(model: Model) -> Scene:
    """The scene of a model; mesh files of its visual shapes are read here."""
    return _Builder(model).build()


class _Place(NamedTuple):
    """Where a joint is drawn: layer, body, frame in the body, colour."""

    layer: str
    body: int
    rotation: Floats
    translation: Floats
    colour: str


@dataclass
class _Builder:
    model: Model
    rows: dict[tuple[str, str], list[Floats]] = field(default_factory=lambda: defaultdict(list))
    files: dict[str, Mesh] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    lost: dict[str, None] = field(default_factory=dict)  # meshes that are in no search path

    def build(self) -> Scene:
        model = self.model
        self.extent = extent_of(model)
        self.radius = self._link_radius()
        self.large = model.n_bodies >= _LARGE
        self.colours = body_colours(model)
        self.closures = _closure_points(model)
        self.shades = [0.55 * _rgb(colour) + 0.25 for colour in self.colours]
        self.bent = bent_shapes(model, self.colours, self.extent)
        bending = {model.body_names[one.body] for one in self.bent} | self._pieces()
        visuals = model.visuals
        dressed = set(bending)
        for name, shapes in visuals.items():
            drawn = [self._visual(self._number(name), shape) for shape in shapes]
            dressed |= {name} if all(drawn) else set()
        for k, name in enumerate(model.body_names):
            bare = name not in dressed
            if name not in bending:
                self._inertia(k, "shapes" if bare and visuals else "inertia")
            if bare:
                self._links(k)
            elif name in bending:
                self._hold(k)
            self._joint(k)
            self._triad(k, np.eye(3), np.zeros(3))
        for frame in model.frames.values():
            self._triad(self._number(frame.body), frame.rotation, frame.translation)
        for loop in model.loops.values():
            self._closing_joint(loop, dressed)
        for name, collisions in model.collisions.items():
            for one in collisions:
                self._collision(self._number(name), one)
        self._triad(-1, np.eye(3), np.zeros(3), 1.5)
        return self._packed(bool(visuals))

    def _packed(self, dressed: bool) -> Scene:
        fineness = 5 if self.large else 24 if self.model.n_bodies > _FEW else 36
        looped = bool(self.model.loops)
        names = ("sphere", "cylinder", "box", *["cone"] * looped)
        meshes = {name: unit_mesh(name, fineness) for name in names}
        batches = [
            Batch(mesh, layer, np.array(rows, dtype=np.float32))
            for (mesh, layer), rows in self.rows.items()
        ]
        touching = any(layer == "collisions" for _, layer in self.rows)
        bare = ("collisions", "links", "joints") if touching else ("inertia", "links", "joints")
        shown: tuple[str, ...] = ("shapes", "links") if dressed else bare
        shown = ("links",) if self.large and not dressed else shown
        shown += (LAYER,) * bool(self.model.bent) + ("deflection",) * bool(self.bent)
        shown += ("loops",) * looped + ("ground",)
        scene = Scene(meshes | self.files, batches, shown, self.extent, self.radius, bent=self.bent)
        return replace(
            scene,
            notes=(*lost_meshes(tuple(self.lost)), *self.notes),
            swatches=self._swatches(scene),
            reaches=reaches(self.model, scene),
        )

    def _swatches(self, scene: Scene) -> tuple[str, ...]:
        """Of what is shown of each body, the colour of what was put first."""
        found: dict[int, str] = {}
        for layer in ("shapes", LAYER, "collisions", "inertia", "links"):
            for batch in scene.batches:
                if batch.layer != layer or layer not in scene.shown:
                    continue
                paint = scene.meshes[batch.mesh].colours
                own = 1.0 if paint is None else paint.mean(axis=0)
                for row in batch.instances:
                    k = int(row[0])
                    plain = layer == "links"
                    found.setdefault(k, self.colours[k] if plain else _hex(row[11:14] * own))
        return tuple(found.get(k, c) for k, c in enumerate(self.colours))

    def _number(self, body: str) -> int:
        return -1 if body == GROUND else self.model.body_index(body)

    def _put(
        self,
        mesh: str,
        layer: str,
        body: int,
        scale: ArrayLike,
        colour: str | ArrayLike,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: Floats | None = None,
    ) -> None:
        turn = (1.0, 0.0, 0.0, 0.0) if rotation is None else quaternions(rotation)
        rgb = _rgb(colour) if isinstance(colour, str) else np.asarray(colour, dtype=np.float64)[:3]
        parts = ([body], position, turn, scale, rgb)
        row = np.concatenate([np.asarray(part, dtype=np.float64) for part in parts])
        self.rows[mesh, layer].append(row)

    # ---- parts of a body --------------------------------------------------------------------

    def _link_radius(self) -> float:
        """Thin beside the links, yet visible when the whole model is in view."""
        lengths = np.linalg.norm(np.concatenate((self.model.translation, self.model.com)), axis=1)
        typical = float(np.median(lengths[lengths > 0])) if (lengths > 0).any() else 0.0
        return float(np.clip(0.08 * typical, 0.005 * self.extent, 0.018 * self.extent))

    def _inertia(self, k: int, layer: str) -> None:
        model, thin = self.model, 1.25 * self.radius
        if model.mass[k] <= 0.0:
            return
        halves, axes = half_axes(float(model.mass[k]), model.inertia[k])
        scale = np.maximum(halves, thin)
        self._put("sphere", layer, k, scale, self.colours[k], model.com[k], axes)

    def _links(self, k: int) -> None:
        model, tree = self.model, self.model.tree
        children = tree.child_index[tree.child_start[k] : tree.child_start[k + 1]]
        ends = [model.translation[c] for c in children.tolist()]
        ends += self.closures[model.body_names[k]]
        ends += [model.com[k]] if not ends else []
        colour = self.shades[k]
        if not self.large:  # in a long chain these would be hidden, and cost as much as the rest
            self._put("sphere", "links", k, [self.radius] * 3, colour)
        for end in ends:
            self._rod("links", k, np.zeros(3), end, self.radius, colour)
        self._hold(k)

    def _hold(self, k: int) -> None:
        if self.model.parent[k] < 0 and not self.model.joints[k].is_floating:
            self._block(self.model.translation[k])

    def _pieces(self) -> set[str]:
        """Segments of beams, each a stretch of the same section."""
        pieces: set[str] = set()
        for name, given in self.model.bent.items():
            for piece in given.pieces:
                k, mesh = self._number(piece), f"section of {name}"
                self.files.setdefault(mesh, piece_mesh(given.described, self.extent))
                size = 2.0 * self.model.com[k, 0]
                self._put(mesh, LAYER, k, (size, 1.0, 1.0), self.colours[k])
                pieces.add(piece)
        return pieces

    def _block(self, place: Floats) -> None:
        """What a mechanism is fixed to."""
        size = 5 * self.radius
        self._put("box", "links", -1, (size, size, size / 2), _DARK, place)

    def _rod(
        self, layer: str, k: int, start: Floats, end: Floats, radius: float, colour: Any
    ) -> None:
        along = np.asarray(end) - start
        length = float(np.linalg.norm(along))
        if length > 1e-9 * self.extent:
            place = start + along / 2
            turn = rotation_from_z(along)
            self._put("cylinder", layer, k, (radius, radius, length), colour, place, turn)

    def _joint(self, k: int) -> None:
        self._drawn_joint(self.model.joints[k], _Place("joints", k, np.eye(3), np.zeros(3), _DARK))

    def _drawn_joint(self, joint: Joint, place: _Place) -> None:
        layer, body, axes, origin, colour = place
        r = self.radius
        if joint.is_ball:
            self._put("sphere", layer, body, [1.6 * r] * 3, colour, origin)
        for turn, slide in joint.twists():
            shape, size = ("cylinder", (1.35 * r, 1.35 * r, 6 * r))
            if not any(turn):
                shape, size = ("box", (2.2 * r, 2.2 * r, 8 * r))
            axis = rotation_from_z(axes @ np.array(turn if any(turn) else slide, dtype=np.float64))
            self._put(shape, layer, body, size, colour, origin, axis)

    def _closing_joint(self, loop: Loop, dressed: set[str]) -> None:
        """At frame B, which is where a joint of the tree is drawn; a rod has a ball at each end."""
        a, b = (self._number(name) for name in (loop.body_a, loop.body_b))
        frames = (
            (a, loop.rotation_a, loop.translation_a),
            (b, loop.rotation_b, loop.translation_b),
        )
        for k, _, origin in frames:
            if k < 0 and not dressed:
                self._block(origin)
        place = _Place("loops", *frames[1], CLOSING)
        self._drawn_joint(loop.joint, place)
        if loop.joint.has_ball_ends:
            for k, _, origin in frames:
                self._put("sphere", "loops", k, [1.3 * self.radius] * 3, CLOSING, origin)
        elif loop.joint.is_block:
            _, axes, origin = frames[1]
            self._put("box", "loops", b, [2.8 * self.radius] * 3, CLOSING, origin, axes)

    def _triad(self, k: int, rotation: Floats, origin: Floats, size: float = 1.0) -> None:
        length = size * min(8 * self.radius, 0.12 * self.extent)
        for axis, colour in zip(rotation.T, _AXES, strict=True):
            self._rod("frames", k, origin, origin + length * axis, 0.06 * length, colour)

    # ---- visual shapes ----------------------------------------------------------------------

    def _visual(self, k: int, visual: Any) -> bool:
        """Put one shape of `model.visuals`; False if it is a mesh that cannot be read."""
        colour = visual.color if visual.color is not None else self.colours[k] if k >= 0 else _DARK
        if visual.color is not None and len(visual.color) > 3 and visual.color[3] == 0.0:
            return True  # made invisible
        return self._shape(k, visual, "shapes", colour, " Its body is drawn by its inertia.")

    def _collision(self, k: int, one: Any) -> None:
        """A shape that touches; a level half space of the ground is where the floor is."""
        if k < 0 and isinstance(one.shape, HalfSpace) and level(one, self.model.gravity):
            return
        colour = _EARTH if k < 0 else self.colours[k]
        self._shape(k, one, "ground" if k < 0 else "collisions", colour, "")

    def _shape(self, k: int, placed: Any, layer: str, colour: Any, instead: str) -> bool:
        shape, kind = placed.shape, type(placed.shape).__name__
        place = (placed.translation, np.asarray(placed.rotation))
        if kind == "Mesh":
            return self._mesh(k, shape, layer, (colour, *place), instead)
        if kind == "HeightField":
            name = f"heights of {self._name(k)}/{placed.name}"
            self.files[name] = height_mesh(shape)
            self._put(name, layer, k, (1.0, 1.0, 1.0), colour, *place)
            return True
        parts = shape_parts(shape, self.extent)
        if parts is None:
            raise ModelError(f"Body {self._name(k)!r}: shapes of type {kind} cannot be drawn.")
        for mesh, scale, offset, turn in parts:
            self._put(mesh, layer, k, scale, colour, place[0] + place[1] @ offset, place[1] @ turn)
        return True

    def _mesh(self, k: int, shape: Any, layer: str, place: Any, instead: str) -> bool:
        if shape.path is None:  # in no search path: never opened by the name in the file
            self.lost.setdefault(shape.filename)
            return False
        name = str(shape.path)
        try:
            if name not in self.files:
                self.files[name] = read_mesh(name)
        except ModelError as error:
            self.notes.setdefault(f"{error}{instead}")
            return False
        painted = self.files[name].colours is not None
        self._put(name, layer, k, shape.scale, *(("#FFFFFF", *place[1:]) if painted else place))
        return True

    def _name(self, k: int) -> str:
        return self.model.body_names[k] if k >= 0 else GROUND


def _closure_points(model: Model) -> dict[str, list[Floats]]:
    """For each body, the points of it that loops are closed at."""
    found: dict[str, list[Floats]] = defaultdict(list)
    for loop in model.loops.values():
        found[loop.body_a].append(loop.translation_a)
        found[loop.body_b].append(loop.translation_b)
    return found


def half_axes(mass: float, inertia: Floats) -> tuple[Floats, Floats]:
    """Half axes and directions of the ellipsoid that touches the faces of the uniform box with
    this mass and inertia. A rod's is as long as the rod."""
    moments, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0:
        axes = axes * (1.0, 1.0, -1.0)
    squares = 1.5 * (moments.sum() - 2 * moments) / mass
    return np.sqrt(np.maximum(squares, 0.0)), axes


def body_colours(model: Model) -> list[str]:
    """A colour for each body of a small model, for each unbranched stretch of a large one."""
    few = model.n_bodies <= _BODY_COLOURS
    numbers = range(model.n_bodies) if few else serial_segments(model.tree).segment_of.tolist()
    return [PALETTE[i % len(PALETTE)] for i in numbers]


def _hex(colour: NDArray[Any]) -> str:
    return "#" + "".join(f"{round(255 * float(np.clip(c, 0, 1))):02X}" for c in colour)


def _rgb(colour: str) -> Floats:
    return np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
