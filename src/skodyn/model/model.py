"""The frozen, packed model: read-only contiguous arrays, and the names that map into them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skodyn.forks import cached_property
from skodyn.looks import Page, look
from skodyn.model import coordinates, layout
from skodyn.model.content import content_hash
from skodyn.model.mimics import Coupling
from skodyn.model.model_data import Frame, ModelData
from skodyn.typing import Floats

if TYPE_CHECKING:
    from skodyn.model.loops.loop_geometry import Geometry
    from skodyn.model.loops.loop_groups import DescribedGroup
    from skodyn.model.loops.loop_plan import GroupStructure
    from skodyn.model.loops.loop_systems import LoopSystem
    from skodyn.model.loops.planar_loops import Essential

__all__ = ["Frame", "Model"]


@dataclass(frozen=True, eq=False)
class Model(ModelData):
    """A tree of rigid bodies, checked and packed; build it with `ModelBuilder` or `load`.

    Bodies are numbered base first and depth first (`tree`). The columns `rotation` … `inertia` hold
    what was described, in that order; `indices` and `parameters` hold the same for kernels (see
    layout.py). All arrays are read-only. Two models are equal if their contents are.

    A robot file says more of a robot than its tree. By joint name, `joint_properties` are passive
    forces that `simulate` and scenarios apply unless told otherwise, and `limits` are kept for
    whoever wants them; by body name ("world" too), `visuals` are shapes to look at. `notes` are
    sentences on what the file says and skodyn does not use.

    `starts` are states (q, v) by name: the keyframes of an MJCF file.

    `mimics` says of each joint that follows another which one, and how. Such joints are no part of
    the state: nq, nv, q and v count the others only, while `joints` and `indices` have them all.

    `loops` and `couplings` join what the tree leaves apart. Every joint of the tree keeps its
    coordinates; those of a state must satisfy them.

    `collisions` are shapes that can touch others, by body name ("world" too).

    `flexible` are the bodies that bend, by name; their modes follow the coordinates of their joints
    (`mode_slice`). `attached` says of a body which node of its flexible parent it hangs on.

    `bent` says how bodies that bend were described, by name; one in segments has become its pieces.
    """

    @cached_property
    def kernel_tree(self) -> NDArray[np.int64]:
        """`indices` as kernels take them: flat, behind a row of sizes (layout.py)."""
        if self.flexible:
            from skodyn.model.flexible.flexible_packing import flexible_trees  # it reads models

            return _read_only(flexible_trees(self))
        sizes = np.zeros((1, layout.INDEX_COLUMNS), dtype=np.int64)
        sizes[0, [layout.N_BODIES, layout.NQ, layout.NV]] = self.n_bodies, self.nq, self.nv
        flat = np.concatenate((sizes, self.state_indices)).reshape(-1)
        if self.mimics:
            flat[layout.FULL] = flat.size
            flat = np.concatenate((flat, self.uncoupled.kernel_tree, self.coupling.kernel_table()))
        if self.has_loops:
            from skodyn.model.loops.loop_tables import loop_table  # it reads models

            flat[layout.LOOPS] = flat.size
            flat = np.concatenate((flat, loop_table(self, flat.size)))
        flat.setflags(write=False)
        return flat

    @cached_property
    def body_tree(self) -> NDArray[np.int64]:
        """The tree of bodies in `kernel_tree`: behind the layout of the state, if bodies bend."""
        return self.kernel_tree[int(self.kernel_tree[layout.FULL]) :]

    @cached_property
    def _kernel_blocks(self) -> list[Floats]:
        """Holds the block that calls for one state share (kernels/workspace.py)."""
        return []

    @cached_property
    def _forward_call(self) -> list[Any]:
        """The kernel of forward dynamics and its block, once a state has been evaluated."""
        return []

    @cached_property
    def _lane_workspaces(self) -> list[Floats]:
        """A pool of workspaces for batches, filled as they return."""
        return []

    @cached_property
    def _roomy_workspaces(self) -> dict[tuple[int, Any], list[Floats]]:
        """Blocks and workspaces with more room, by lane width and by the algorithm they are for."""
        return {}

    @cached_property
    def _prescriptions(self) -> dict[Any, Any]:
        """Choices of joints whose acceleration is given, by their names (prescription.py)."""
        return {}

    @cached_property
    def _frame_tables(self) -> dict[Any, Floats]:
        """Frames as kernels take them, by the names that were asked for."""
        return {}

    # ---- flexible bodies ------------------------------------------------------------------------

    @cached_property
    def _node_places(self) -> dict[tuple[str, str], int]:
        """Where kernels find each node of a flexible body, by body and node."""
        from skodyn.model.flexible.flexible_packing import node_places  # it reads models

        return node_places(self)

    @cached_property
    def _manifold_indices(self) -> NDArray[np.int64]:
        """`state_indices` with a row of its own for the modes of each flexible body."""
        if not self.flexible:
            return self.state_indices
        from skodyn.model.flexible.flexible_packing import manifold_rows  # it reads models

        return _read_only(manifold_rows(self))

    # ---- mimic joints -------------------------------------------------------------------------

    @cached_property
    def uncoupled(self) -> Model:
        """The same tree with every joint free to move by itself; the model, if none mimics."""
        if not self.mimics:
            return self
        own = self.parameters[: self.parameters.size - layout.MIMIC_RECORD * len(self.mimics)]
        return replace(self, mimics={}, parameters=own, packed_with=())

    @cached_property
    def coupling(self) -> Coupling:
        """How the state's coordinates lie in those of `uncoupled`."""
        return Coupling(self)

    def expand_q(self, q: ArrayLike) -> Floats:
        """q of `uncoupled`: the coordinates of every joint, mimics included."""
        return np.array(self.coupling.expand_q(self.check_q(q)))

    def expand_v(self, v: ArrayLike) -> Floats:
        """v of `uncoupled`: the velocities (or accelerations) of every joint, mimics included."""
        return np.array(self.coupling.expand_v(coordinates.vector(v, self.nv, "v")))

    # ---- loops and couplings ------------------------------------------------------------------

    @cached_property
    def opened(self) -> Model:
        """The same tree without loops and couplings; the model, if it has none."""
        if not self.has_loops:
            return self
        own = self.parameters[: self.parameters.size - self._loop_numbers]
        return replace(self, loops={}, couplings={}, parameters=own, packed_with=())

    @cached_property
    def _loop_numbers(self) -> int:
        """How many parameters loops and couplings have; they lie behind all others."""
        from skodyn.model.loops.loop_numbers import number_count  # few models need it

        return number_count(self) if self.has_loops else 0

    @cached_property
    def _loop_structure(self) -> tuple[GroupStructure, ...]:
        """How kernels eliminate the loops of each group."""
        from skodyn.model.loops.loop_structure import find_structure  # it reads models

        return find_structure(self) if self.has_loops else ()

    @cached_property
    def _loop_systems(self) -> tuple[LoopSystem, ...]:
        """The rows of each group as equations, for what is not done by kernels."""
        from skodyn.model.loops.loop_systems import find_systems  # it reads models

        return tuple(find_systems(self))

    @cached_property
    def _loop_samples(self) -> list[Floats]:
        """Some closed configurations, in general position."""
        from skodyn.model.loops.loop_samples import closed_samples  # it reads models

        return closed_samples(self)

    @cached_property
    def _loop_geometry(self) -> Geometry:
        """All loops and couplings in world axes."""
        from skodyn.model.loops.loop_geometry import whole_geometry  # it reads models

        return whole_geometry(self)

    @cached_property
    def _essential_rows(self) -> tuple[tuple[Essential, ...], ...]:
        """Of each loop, the primitives that dynamics keeps."""
        from skodyn.model.loops.planar_loops import find_essential_rows  # it reads models

        return find_essential_rows(self)

    @cached_property
    def _linear_dofs(self) -> NDArray[np.bool_]:
        """Of each velocity, whether it is that of a length."""
        from skodyn.model.loops.loop_structure import linear_dofs  # it reads models

        return linear_dofs(self)

    @cached_property
    def groups(self) -> tuple[DescribedGroup, ...]:
        """The joints that loops and couplings make move together, and how freely they do."""
        from skodyn.model.loops.loop_groups import described_groups  # it reads models

        return described_groups(self)

    # ---- changes ------------------------------------------------------------------------------

    def with_changes(
        self,
        paths: Mapping[str, Any] | None = None,
        /,
        *,
        bodies: Mapping[str, Any] | None = None,
        joints: Mapping[str, Any] | None = None,
        frames: Mapping[str, Any] | None = None,
        loops: Mapping[str, Any] | None = None,
        couplings: Mapping[str, Any] | None = None,
        limits: Mapping[str, Any] | None = None,
        gravity: Any = None,
        repair_inertia: bool = False,
    ) -> Model:
        """A new model with other numbers, checked like every model, with every fault at once.

        bodies={"arm": {"mass": 5.0, "com": {"z": 0.1}, "joint": {"armature": 0.2}}} and so on: a
        table for each name, its keys those of model files and of the paths of sweeps, which may
        also be written in one: {"com.z": 0.1}. joints: passive forces, the keys of
        `JointProperties`. limits: those of `JointLimits`. paths: whole paths, as a sweep has them:
        {"bodies.arm.com.z": 0.1, "gravity.z": -1.62}. This model stays as it is.
        """
        from skodyn.model.changes import changed  # it builds models

        given = {
            "bodies": bodies, "joints": joints, "frames": frames, "loops": loops,
            "couplings": couplings, "limits": limits, "gravity": gravity,
        }  # fmt: skip
        changes = {key: value for key, value in given.items() if value is not None}
        return changed(self, changes, paths or {}, repair_inertia=repair_inertia)

    # ---- coordinates --------------------------------------------------------------------------

    def neutral(self) -> Floats:
        """Coordinates with every joint at rest position: zeros, and unit quaternions."""
        return coordinates.neutral(self._manifold_indices, self.nq)

    def random_state(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """(q, v): uniform angles and orientations, lengths within ±1, normal velocities."""
        if self.mimics:
            q, v = self.uncoupled.random_state(rng)
            return q[self.coupling.q_at], v[self.coupling.v_at]
        own = self.parameters
        if self.flexible:
            own = own[: layout.parameter_count(self.n_bodies, self.nv)]
        q, v = coordinates.random_state(self._manifold_indices, own, self.nq, self.nv, rng)
        for name, body in self.flexible.items():  # a hundredth of its length
            q[self.mode_slice(name)] *= 0.01 * body.length
            v[self.mode_slice(name, "v")] *= 0.1 * body.length
        return q, v

    def integrate(self, q: ArrayLike, dv: ArrayLike) -> Floats:
        """q moved along the velocity dv for unit time, on the joints' manifolds."""
        return coordinates.integrate(self, q, dv)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Floats:
        """The shortest dv with integrate(q0, dv) = q1."""
        return coordinates.difference(self, q0, q1)

    def check_q(self, q: ArrayLike) -> Floats:
        """q as an array, or a StateError that names every joint whose coordinates are not valid."""
        return coordinates.check_q(self, q)

    # ---- content ------------------------------------------------------------------------------

    @cached_property
    def content_hash(self) -> str:
        """Stable hash of everything that decides a result, names included."""
        return content_hash(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.content_hash == other.content_hash

    def __hash__(self) -> int:
        return hash(self.content_hash)

    def view(
        self,
        q: ArrayLike | None = None,
        path: str | os.PathLike[str] | None = None,
        *,
        show: Sequence[str] = (),
        open: bool | None = None,
    ) -> Page:
        """The model with its joints at q, or at rest, and a slider for each: shown in a notebook,
        opened in the browser from a script.

        path: write one HTML file there instead, which needs no network. show: further layers from
        the start, for example "frames", "collisions". open: whether to open the browser.
        """
        made: Page = look("view_model")(self, q, path, show=show, open=open)
        return made

    def _repr_html_(self) -> str:
        return str(look("model_html")(self))

    def __str__(self) -> str:
        from skodyn.model.drawing import draw  # it draws models

        return draw(self)

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: {self.n_bodies} bodies, nq={self.nq}, nv={self.nv}>"


def _read_only(array: NDArray[np.int64]) -> NDArray[np.int64]:
    array.setflags(write=False)
    return array
