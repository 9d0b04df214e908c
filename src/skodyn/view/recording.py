"""The poses and signals of a run, thinned to what a replay needs."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skodyn.channels.curves import Family
from skodyn.dynamics import forward_kinematics, loop_error
from skodyn.errors import LogError, SkodynError, faults_of
from skodyn.forks import cached_property
from skodyn.io.trajectory import Trajectory
from skodyn.model.loops.assembly import nearest_closed
from skodyn.model.model import Model
from skodyn.view.acting import arrow_fields
from skodyn.view.arrows import ArrowField, arrow_shapes
from skodyn.view.bent_shapes import LAYER, BentShape
from skodyn.view.closures import ArrowScale, Ends, arrows, lines, loop_ends, places_of
from skodyn.view.joint_table import FAR, OPEN
from skodyn.view.outline import hull, scenery
from skodyn.view.rotations import quaternions, rotated, rotation_from_z
from skodyn.view.scene import Batch, Scene, scene_of
from skodyn.view.shapes import unit_mesh
from skodyn.view.signals import drawable, families

__all__ = ["Recording", "record", "show_layers", "show_wrenches", "still"]

MOST_FRAMES = 4000
MOST_POSES = 600_000
"""Frames times bodies: 600 frames of 1000 bodies, about 15 MB in a page."""

LINE = 0.45
"""Radius of the line from one end of a loop to the other, in that of links."""

_LARGEST = 1e9  # m; what lies beyond is not drawn
_MOST_STATIONS = 200_000  # points times frames in which the largest deflection is looked for

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Recording:
    """Frames of a replay; z is up, whatever the model's gravity says."""

    title: str
    model: Model
    times: Floats  # (F,)
    positions: Floats  # (F, n, 3), of body origins
    turns: Floats  # (F, n, 4), quaternions
    signals: list[Family]
    upright: Floats  # 3×3: from world axes to those of the picture
    scene: Scene
    notes: tuple[str, ...] = ()
    wrenches: Floats | None = None  # (F, loops, 6), in the picture's axes, if they were logged
    arrows: tuple[ArrowField, ...] = ()  # what can be shown on demand
    q: Floats | None = None  # coordinates, if it is a model that is looked at
    modes: tuple[Floats, ...] = ()  # (F, m) of each surface in `scene.bent`, as they are drawn
    exaggerate: float = 1.0  # how many times larger than they are

    def at(self, t: float) -> tuple[Floats, Floats]:
        """(positions, quaternions) of all bodies at a time, between two frames if need be."""
        i, j, s = self._between(t)
        a, b = self.turns[i], self.turns[j]
        same = np.where((a * b).sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
        turns = (1 - s) * a + s * same * b
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
        return (1 - s) * self.positions[i] + s * self.positions[j], turns

    def _between(self, t: float) -> tuple[int, int, float]:
        """The frames before and after a time, and how far it is from one to the other."""
        i = int(np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 1))
        j = min(i + 1, len(self.times) - 1)
        gap = self.times[j] - self.times[i]
        return i, j, float(np.clip((t - self.times[i]) / gap, 0, 1)) if gap > 0 else 0.0

    def moving(self, t: float) -> list[Batch]:
        """Shapes that belong to no body, at a time: lines of loops, and arrows."""
        extent, poses = self.scene.extent, self.at(t)
        found = [
            (mesh, field.layer, rows)
            for field in self.arrows
            if field.layer in self.scene.shown
            for mesh, rows in arrow_shapes(field, poses, self._between(t), self.arrow_size).items()
        ]
        a, b = self.ends.places(*poses)
        if self.model.loops:
            found.append(("cylinder", "loops", lines(a, b, LINE * self.scene.radius, extent)))
        if self.wrenches is not None:
            i, j, s = self._between(t)
            now = (1 - s) * self.wrenches[i] + s * self.wrenches[j]
            found += [(mesh, "wrenches", x) for mesh, x in arrows(b, now, self.arrow_scale).items()]
        return [Batch(mesh, layer, rows.astype(np.float32)) for mesh, layer, rows in found]

    def bending(self, t: float) -> list[tuple[BentShape, Floats]]:
        """Surfaces of flexible bodies, each with its modes at a time."""
        i, j, s = self._between(t)
        pairs = zip(self.scene.bent, self.modes, strict=True)
        return [(shape, (1 - s) * modes[i] + s * modes[j]) for shape, modes in pairs]

    @cached_property
    def largest_deflection(self) -> float:
        """Of all that is drawn of flexible bodies, in some frames; exaggerated, m."""
        largest = 0.0
        for shape, modes in zip(self.scene.bent, self.modes, strict=True):
            step = max(1, len(modes) * len(shape.stations) // _MOST_STATIONS)
            moved = np.linalg.norm(shape.moved(modes[::step]), axis=-1)
            largest = max(largest, float(moved.max(initial=0.0)))
            if self.q is not None:  # it is moved by hand
                largest = max(largest, FAR * shape.flexible.length * self.exaggerate)
        return largest

    @cached_property
    def ends(self) -> Ends:
        """Where loops close."""
        return loop_ends(self.model, self.upright)

    @cached_property
    def arrow_scale(self) -> ArrowScale:
        none = np.zeros((0, 0, 6))
        return ArrowScale.of(none if self.wrenches is None else self.wrenches, self.scene.extent)

    @cached_property
    def arrow_size(self) -> float:
        """What lengths of arrows are measured by, m: the model, or the room that it moves in."""
        points = self.outline().reshape(-1, 3)
        room = 0.5 * float(np.linalg.norm(points.max(axis=0) - points.min(axis=0)))
        return float(np.clip(room, self.scene.extent, 4 * self.scene.extent))

    def centres(self) -> Floats:
        """Centres of mass of the bodies, (F, n, 3)."""
        return self._moved(self.model.com)

    def outline(self, most: int = 100_000) -> Floats:
        """Origins of bodies, points around what is shown of them and the ends of loops, (some
        frames, points, 3)."""
        bodies, points = hull(self.scene)
        step = max(1, len(self.times) * (self.model.n_bodies + len(bodies)) // most)
        positions, turns = self.positions[::step], self.turns[::step]
        around = [places_of(bodies, points, positions, turns)]
        for shape, modes in zip(self.scene.bent, self.modes, strict=True):
            some = slice(None, None, max(1, len(shape.stations) // 16))
            moved = shape.stations[some] + shape.moved(modes[::step])[:, some]
            k = shape.body
            around.append(positions[:, k, None] + rotated(turns[:, k, None], moved))
        return np.concatenate((positions, *around, *self.ends.places(positions, turns)), axis=1)

    def surroundings(self) -> Floats:
        """Points that stand still: around scenery, and where springs hang, (points, 3)."""
        found = [scenery(self.scene, self.upright)]
        found += [field.hung for field in self.arrows]
        return np.concatenate(found)

    def _moved(self, offsets: Floats) -> Floats:
        """Where a point of each body is, (F, n, 3)."""
        return self.positions + rotated(self.turns, np.broadcast_to(offsets, self.positions.shape))


def record(
    trajectory: Trajectory,
    model: Model | None = None,
    frames: int | None = None,
    *,
    exaggerate: float = 1.0,
) -> Recording:
    """The replay of a trajectory. model: instead of the one that the log keeps. exaggerate: what
    modes of flexible bodies are multiplied by before they are drawn."""
    known = model if model is not None else trajectory.model
    if (known.body_names, known.independent_joints) != (
        trajectory.body_names,
        trajectory.joint_names,
    ):
        raise LogError(
            f"{trajectory.label} was not run with model {known.name!r}: names of bodies or joints "
            "differ; give the model that it was run with."
        )
    if not known.n_bodies:
        raise LogError(f"{trajectory.label}: its model has no body, there is nothing to see.")
    limit = frames or max(2, min(MOST_FRAMES, MOST_POSES // known.n_bodies))
    step = max(1, -(-(len(trajectory) - 1) // max(limit - 1, 1)))
    with trajectory:
        chosen = trajectory[::step]
        q = chosen.q
        fine = np.all(np.abs(q) < _LARGEST, axis=1)  # false for NaN
        if not fine.any():
            raise LogError(f"{trajectory.label} has no row that can be drawn.")
        signals = [_rows(family, fine) for family in families(chosen)]
        made = _poses(known, q[fine], chosen.t[fine], exaggerate)
        wrenches = _wrenches(chosen, made, fine)
        fields = arrow_fields(chosen, known, fine, made.upright, exaggerate)
        made = _with_arrows(made, fields)
    notes = [f"every {_ordinal(step)} row of {len(trajectory)}"] * (step > 1)
    notes += made.notes
    notes += [f"{(~fine).sum()} rows without finite coordinates left out"] * (not fine.all())
    if trajectory.status != "finished":
        notes.append(f"run {trajectory.status}")
    title = _title(trajectory) or known.name
    return replace(made, title=title, signals=signals, notes=tuple(notes), wrenches=wrenches)


def _with_arrows(made: Recording, fields: tuple[ArrowField, ...]) -> Recording:
    """A recording with these arrows, and with what their heads are made of."""
    if not fields:
        return made
    meshes = {**made.scene.meshes, "cone": unit_mesh("cone")}
    return replace(made, arrows=fields, scene=replace(made.scene, meshes=meshes))


def _wrenches(trajectory: Trajectory, made: Recording, rows: NDArray[np.bool_]) -> Floats | None:
    """Those of loops, not of couplings, if this model has the loops that were logged; parts along
    world axes that are undetermined are zero."""
    loops = len(made.model.loops)
    if not loops or "loop_forces" not in trajectory.channels:
        return None
    if trajectory.model.loop_names != made.model.loop_names:
        return None
    known = np.nan_to_num(drawable(trajectory["loop_forces"][rows, :loops]))
    return np.reshape(known.reshape(-1, 3) @ made.upright.T, known.shape)


def show_layers(recording: Recording, layers: Iterable[str]) -> Recording:
    """The same with further layers shown from the start; LogError for one that it has not."""
    own = {batch.layer for batch in recording.scene.batches}
    own |= {field.layer for field in recording.arrows}
    own |= {LAYER, "deflection"} if recording.scene.bent else set()
    wanted = list(layers)
    for layer in wanted:
        if layer not in own:
            raise LogError(
                f"{recording.title}: there is nothing to show as {layer!r}; this one has "
                f"{', '.join(sorted(own))}."
            )
    shown = tuple(dict.fromkeys((*recording.scene.shown, *wanted)))
    return replace(recording, scene=replace(recording.scene, shown=shown))


def show_wrenches(recording: Recording) -> Recording:
    """The same with the wrenches of loops drawn from the start; LogError if it has none."""
    if recording.wrenches is None:
        has = "its log lacks them" if recording.model.loops else "its model has no loops"
        raise LogError(
            f"{recording.title}: there are no loop forces to draw, {has}; run a model with loops "
            "with loop_forces among the channels of [output]."
        )
    scene = replace(recording.scene, shown=(*recording.scene.shown, "wrenches"))
    return replace(recording, scene=scene)


def _title(trajectory: Trajectory) -> str:
    """The title of the scenario that was run, if there was one."""
    try:
        return str(tomllib.loads(trajectory.scenario_text).get("title", ""))
    except tomllib.TOMLDecodeError:
        return ""


def still(model: Model, q: Floats | None = None, *, exaggerate: float = 1.0) -> Recording:
    """One frame: a model with its joints at q, or at their neutral positions."""
    if not model.n_bodies:
        raise LogError(f"Model {model.name!r} has no body, there is nothing to see.")
    place, note = _closed(model, model.neutral() if q is None else q)
    made = _poses(model, place[None], np.zeros(1), exaggerate)
    return replace(made, notes=(*made.notes, *note), q=place)


def _closed(model: Model, q: Floats) -> tuple[Floats, list[str]]:
    """The nearest closed configuration; q itself and a note if there is none."""
    if not model.has_loops:
        return q, []
    try:
        closed = np.abs(loop_error(model, q)).max(initial=0.0) <= OPEN
        return q if closed else nearest_closed(model, q), []
    except SkodynError as error:
        return q, [f"drawn with its loops open: {faults_of(error)[0]}"]


def _poses(model: Model, q: Floats, times: Floats, exaggerate: float) -> Recording:
    upright = _upright(model.gravity)
    drawn = exaggerated(model, q, exaggerate)
    rotations, positions = forward_kinematics(model.opened, np.ascontiguousarray(drawn))
    turns = quaternions(upright @ rotations)
    scene = scene_of(model)
    world = positions @ upright.T
    modes = tuple(drawn[:, model.mode_slice(model.body_names[one.body])] for one in scene.bent)
    notes = [f"deflections are drawn {exaggerate:g} times as large"] * (exaggerate != 1.0)
    return Recording(
        model.name, model, times, world, turns, [], upright, scene, (*scene.notes, *notes),
        modes=modes, exaggerate=exaggerate,
    )  # fmt: skip


def exaggerated(model: Model, q: Floats, factor: float) -> Floats:
    """Coordinates (F, nq) with modes so many times larger: what hangs on nodes moves with them."""
    if factor == 1.0:
        return q
    if not model.flexible:
        raise LogError(
            f"Model {model.name!r} has no body with modes, there is nothing to exaggerate."
        )
    larger = q.copy()
    for name in model.flexible:
        larger[:, model.mode_slice(name)] *= factor
    return larger


def _upright(gravity: Floats) -> Floats:
    """The rotation that brings "up" to z; no rotation if it is there, or if there is no up."""
    size = float(np.linalg.norm(gravity))
    if size == 0.0 or gravity[2] <= -0.999 * size:
        return np.eye(3)
    return rotation_from_z(-gravity).T


def _rows(family: Family, rows: NDArray[np.bool_]) -> Family:
    return family._replace(values=family.values[rows])


def _ordinal(number: int) -> str:
    teens = 10 < number % 100 < 20
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
