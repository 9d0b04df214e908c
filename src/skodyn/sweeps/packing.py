"""From rows of parameter values to packed runs, many at once.

A parameter is one of three:

- *direct*: its value stands as it is in the packed arrays. Where, is found by reading the scenario
  with two values and looking what became of them, so nothing here knows how forces are packed.
- *of a body*: mass, com, inertia, translation. The model's own packing is called with one body in
  as many versions as there are runs.
- anything else (dt, a method, a quaternion, an axis): the scenario is set and read anew, once for
  each combination of such values; runs that share it go side by side.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import SkodynError
from skodyn.forks import cached_property
from skodyn.model import layout
from skodyn.model.keys import TIMES, keys_of
from skodyn.model.loops.loop_structure import plans_like
from skodyn.model.model import Model
from skodyn.model.packing import place_bodies, weigh_bodies
from skodyn.scenario import Scenario
from skodyn.simulation.elements import MotionFunction
from skodyn.simulation.force_tables import ForceTables, pack_forces
from skodyn.simulation.frame_looks import FrameOrigins, origins_of
from skodyn.sweeps.lane_batch import PackedRuns
from skodyn.sweeps.metrics import frames_of
from skodyn.sweeps.paths import places, set_values
from skodyn.sweeps.scenario_data import Data, read_data
from skodyn.sweeps.study import Study
from skodyn.typing import Floats

__all__ = [
    "START",
    "Packer",
    "Refused",
    "Variant",
    "body_parameter",
    "direct_columns",
    "goes_alone",
]

START = ("seed", "initial.q_noise", "initial.v_noise")
_ARRAYS = ("parameters", "numbers", "q", "v", "origins")
_BODY_KEYS = ("mass", "com", "inertia", "translation")


def goes_alone(scenario: Scenario) -> bool:
    """Must even runs with fixed steps go one at a time? A thermostat comes between steps, and
    functions of motions are called for one state.
    """
    said = any(isinstance(motion, MotionFunction) for motion in scenario.forces.motions)
    return scenario.thermostat is not None or said


class Variant:
    """The scenario with all values set that cannot be written into packed arrays, and packed."""

    def __init__(self, data: Data, noisy: bool = False, frames: tuple[str, ...] = ()) -> None:
        """noisy: with the random parts of the start, which are added later otherwise. frames:
        those whose places are metrics."""
        initial = data["initial"]
        self.noise = [float(initial.get(key, 0.0)) for key in ("q_noise", "v_noise")]
        self.seed = int(data.get("seed", 0))
        quiet = {key: initial[key] for key in ("q", "v", "assemble", "project") if key in initial}
        self.data = data
        whole = data if noisy else {**data, "initial": quiet}
        self.scenario: Scenario = read_data(whole)
        self.tables: ForceTables = pack_forces(
            self.scenario.model, self.scenario.forces, self.scenario.integrator
        )
        self.frames = origins_of(self.scenario.model, frames)

    @property
    def parameters(self) -> Floats:
        return self.scenario.model.parameters

    @property
    def numbers(self) -> Floats:
        return self.tables.numbers

    @property
    def origins(self) -> Floats:
        return self.frames.numbers

    @property
    def q(self) -> Floats:
        model = self.scenario.model
        return self._undriven(self.scenario.q0, model.q_slice, model.neutral())

    @property
    def v(self) -> Floats:
        model = self.scenario.model
        return self._undriven(self.scenario.v0, model.v_slice, np.zeros(model.nv))

    def _undriven(self, start: Floats, place: Callable[[str], slice], none: Floats) -> Floats:
        """The start without that of driven joints, which their motion says when a run begins."""
        if not self.scenario.forces.motions:
            return start
        start = start.copy()
        for motion in self.scenario.forces.motions:
            at = place(motion.joint)
            start[at] = none[at]
        return start

    @property
    def steps(self) -> int:
        return round(self.scenario.duration / self.scenario.integrator.dt)

    @property
    def in_lanes(self) -> bool:
        """Whether runs can go side by side: their steps are the same, with nothing in between."""
        return not self.scenario.integrator.adaptive and not goes_alone(self.scenario)

    @cached_property
    def structure(self) -> bytes:
        """Equal for scenarios whose packed arrays have the same layout and take the same time."""
        s = self.scenario
        sizes = (self.numbers.size, self.parameters.size)
        given = (s.integrator, s.duration, s.thermostat, *sizes)
        parts = (
            self.tables.tree_of(s.model).tobytes(),
            self.tables.codes.tobytes(),
            repr(given).encode(),
            *(c.digest.encode() for c in self.scenario.forces.controllers),
            *_times_of(s),
            *([self.frames.bodies.tobytes()] if len(self.frames.bodies) else ()),
        )
        return hashlib.sha256(b"\0".join(parts)).digest()


def _times_of(scenario: Scenario) -> Iterator[bytes]:
    """Times of all tables: lanes look them up together, so runs side by side share them."""
    for one in (*scenario.forces.elements, *scenario.forces.motions):
        for name, entry in keys_of(type(one)).items():
            if entry.kind is TIMES:
                yield np.array(getattr(one, name), dtype=np.float64).tobytes()


@dataclass(frozen=True)
class Refused:
    """Runs whose values make no scenario, and why."""

    reason: str


def body_parameter(path: str, known: Any) -> tuple[str, str, tuple[tuple[int, ...], ...]] | None:
    """(body, key, entries) of a number of a body that the model's packing takes in."""
    at = known[path]
    if at[0][:2] != ("model", "bodies") or at[0][3] not in _BODY_KEYS:
        return None
    entries = tuple(place[4:] for place in at)
    complete = {"mass": 0, "com": 1, "translation": 1, "inertia": 2}[at[0][3]]
    return (at[0][2], at[0][3], entries) if len(entries[0]) == complete else None


def direct_columns(a: Variant, b: Variant, x: float, y: float) -> dict[str, Any] | None:
    """Where the value stands in the packed arrays, given two variants that differ in it alone.

    None if it cannot be said: it changes the layout, or what is packed is not the value itself.
    """
    if a.structure != b.structure:
        return None
    found = {}
    for name in _ARRAYS:
        one, other = getattr(a, name), getattr(b, name)
        changed = np.flatnonzero(one != other)
        if not ((one[changed] == x).all() and (other[changed] == y).all()):
            return None
        if len(changed):
            found[name] = changed
    return found or None


class Packer:
    """Makes packed runs of a study."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.base = read_data(study.data)
        self.frames = frames_of(study.metrics, self.base.model)
        self.known = places(self.base, study.data)
        self.bodies = {p: found for p in study.ranges if (found := body_parameter(p, self.known))}
        self.start = [p for p in study.names if p in START and p in study.ranges]
        self.direct = [p for p in study.ranges if p not in self.bodies and p not in START]
        self.anew = [i for i, name in enumerate(study.names) if name not in study.ranges]
        self.columns = {name: i for i, name in enumerate(study.names)}
        self._layouts: dict[bytes, dict[str, Any] | None] = {}
        self._variant = lru_cache(maxsize=32)(self._read_variant)

    def scenario(self, row: Any) -> Scenario:
        """The scenario of one run, read in full: what every faster way has to agree with."""
        return read_data(self.scenario_data(row))

    def scenario_data(self, row: Any) -> Data:
        return set_values(self.study.data, self.known, self.study.values(row))

    def pack(self, rows: Floats) -> Iterator[tuple[NDArray[np.int64], Variant | Refused, Any]]:
        """(which rows, their variant, their packed runs), for each set that can go side by side."""
        if self.in_full:
            yield from self._each_in_full(rows)
            return
        keys = rows[:, self.anew]
        _, first, group = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        for number, example in enumerate(first.tolist()):
            chosen = np.flatnonzero(group.reshape(-1) == number)
            try:
                variant = self._variant(keys[example].tobytes(), rows[example].tobytes())
                packed = self._packed(variant, rows[chosen])
            except SkodynError:
                for row in chosen.tolist():
                    yield np.array([row]), *self._alone(rows[row])
            else:
                yield chosen, variant, packed

    @cached_property
    def in_full(self) -> bool:
        """Whether every run is read in full: what moves a model's loops changes its start, too;
        what changes a flexible body changes its shapes, and with them all of its numbers."""
        roots = {name.split(".")[0] for name in self.study.names}
        if self.base.model.flexible and "bodies" in roots:
            return True
        moving = {"bodies", "loops", "couplings", "initial", "seed", "motions"}
        return self.base.model.has_loops and not roots.isdisjoint(moving)

    def _each_in_full(
        self, rows: Floats
    ) -> Iterator[tuple[NDArray[np.int64], Variant | Refused, Any]]:
        """Runs of one structure together, each with the start that a run by itself would have."""
        alike: dict[bytes, list[tuple[int, Variant]]] = {}
        for number, row in enumerate(rows):
            try:
                with plans_like(self.base.model):
                    variant = Variant(self.scenario_data(row), True, self.frames)
                    structure = variant.structure
            except SkodynError as error:
                yield np.array([number]), Refused(str(error)), None
            else:
                alike.setdefault(structure, []).append((number, variant))
        for members in alike.values():
            first = members[0][1]
            tables = {
                name: np.stack([getattr(variant, name) for _, variant in members])
                for name in _ARRAYS
            }
            yield np.array([n for n, _ in members]), first, self._stacked(first, tables)

    def _alone(self, row: Floats) -> tuple[Variant | Refused, Any]:
        """One run, read in full: not every combination of values is a scenario."""
        try:
            variant = Variant(self.scenario_data(row), frames=self.frames)
        except SkodynError as error:
            return Refused(str(error)), None
        return variant, self._runs(variant, row[None], self._tables(variant, 1))

    def _read_variant(self, _key: bytes, row: bytes) -> Variant:
        return Variant(self.scenario_data(np.frombuffer(row)), frames=self.frames)

    def _layout(self, variant: Variant) -> dict[str, Any]:
        """Where each direct parameter stands, for all variants of this structure."""
        found = self._layouts.get(variant.structure)
        if found is None:
            found = {}
            for path in self.direct:
                x, y = self.study.ranges[path]
                pair = [
                    Variant(set_values(variant.data, self.known, {path: z}), frames=self.frames)
                    for z in (x, y)
                ]
                where = direct_columns(pair[0], pair[1], x, y)
                if where is None:
                    raise SkodynError(f"{path} cannot be set in this combination of parameters.")
                found[path] = where
            self._layouts[variant.structure] = found
        return found

    def _tables(self, variant: Variant, count: int) -> dict[str, Floats]:
        return {name: np.tile(getattr(variant, name), (count, 1)) for name in _ARRAYS}

    def _packed(self, variant: Variant, rows: Floats) -> PackedRuns:
        tables = self._tables(variant, len(rows))
        for path, where in self._layout(variant).items():
            for name, columns in where.items():
                tables[name][:, columns] = rows[:, self.columns[path], None]
        for body in dict.fromkeys(found[0] for found in self.bodies.values()):
            self._pack_body(variant, body, rows, tables["parameters"])
        return self._runs(variant, rows, tables)

    def _runs(self, variant: Variant, rows: Floats, tables: dict[str, Floats]) -> PackedRuns:
        self._add_noise(variant, rows, tables)
        return self._stacked(variant, tables)

    def _stacked(self, variant: Variant, tables: dict[str, Floats]) -> PackedRuns:
        s, tree = variant.scenario, variant.tables.tree_of(variant.scenario.model)
        return PackedRuns(
            tree, variant.tables.codes, tables["parameters"], tables["numbers"],
            tables["q"], tables["v"], variant.tables.n_integrals, s.model.n_bodies, s.integrator,
            variant.steps, self.study.sample_every, variant.tables.parts, variant.tables.control,
            FrameOrigins(variant.frames.bodies, tables["origins"]),
        )  # fmt: skip

    def body_column(self, model: Model, body: str, key: str, rows: Floats) -> Floats:
        """A quantity of a body, one version for each row."""
        k = model.body_index(body)
        column: Floats = np.repeat(getattr(model, key)[k : k + 1], len(rows), axis=0)
        for path, (owner, which, entries) in self.bodies.items():
            if (owner, which) == (body, key):
                for entry in entries:
                    at: Any = (slice(None), *entry)
                    column[at] = rows[:, self.columns[path]]
        return column

    def _pack_body(self, variant: Variant, body: str, rows: Floats, parameters: Floats) -> None:
        """One body in as many versions as there are rows."""
        model, count = variant.scenario.model, len(rows)
        k = model.body_index(body)
        columns = {
            key: self.body_column(model, body, key, rows) for key in ("rotation", *_BODY_KEYS)
        }
        alignment = np.repeat(model.alignment[k : k + 1], count, axis=0)
        parent = int(model.parent[k])
        of_parent = model.alignment[parent] if parent >= 0 else np.eye(3)
        start = layout.HEADER + k * layout.BODY_RECORD
        records = parameters[:, start : start + layout.BODY_RECORD]
        place_bodies(records, np.repeat(of_parent[None], count, axis=0), columns, alignment)
        weigh_bodies(records, columns, alignment)

    def _add_noise(self, variant: Variant, rows: Floats, tables: dict[str, Floats]) -> None:
        """The random parts of the start, as scenario/start.py adds them."""
        seeds = self._column("seed", variant.seed, rows).astype(np.int64)
        for at in variant.tables.control.seeds:  # of the noise of sensors
            tables["numbers"][:, at], tables["numbers"][:, at + 1] = np.divmod(seeds, 2**32)
        q_noise = self._column("initial.q_noise", variant.noise[0], rows)
        v_noise = self._column("initial.v_noise", variant.noise[1], rows)
        if not (q_noise.any() or v_noise.any()):
            return
        model = variant.scenario.model
        drawn = [np.random.default_rng(s).normal(size=(2, model.nv)) for s in seeds.tolist()]
        shift, kick = np.stack(drawn, axis=1)
        moved = np.flatnonzero(q_noise)
        if len(moved):
            way = q_noise[moved, None] * shift[moved]
            tables["q"][moved] = model.integrate(tables["q"][moved], way)
        tables["v"] += v_noise[:, None] * kick

    def _column(self, path: str, otherwise: float, rows: Floats) -> Floats:
        if path in self.columns:
            return rows[:, self.columns[path]]
        return np.full(len(rows), float(otherwise))


def run_ids(variant: Variant, runs: PackedRuns) -> NDArray[np.bytes_]:
    """The hash of each run's packed scenario: 16 hexadecimal digits."""
    common = hashlib.sha256(variant.structure)
    names = (*variant.scenario.model.body_names, "", *variant.scenario.model.joint_names)
    common.update("\0".join(names).encode())
    ids = np.empty(len(runs), dtype="S16")
    tables = (runs.parameters, runs.numbers, runs.q, runs.v, runs.frames.numbers)
    whole = np.concatenate(tables, axis=1)
    for i, row in enumerate(whole):
        digest = common.copy()
        digest.update(row.tobytes())
        ids[i] = digest.hexdigest()[:16].encode()
    return ids
