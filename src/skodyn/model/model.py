"""The frozen, packed model: read-only contiguous arrays, and the names that map into them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skodyn.conventions import GROUND
from skodyn.errors import ModelError
from skodyn.faults import Fault
from skodyn.forks import cached_property
from skodyn.looks import look
from skodyn.model import coordinates, layout
from skodyn.model.columns import Floats
from skodyn.model.flexible import FlexibleBody
from skodyn.model.joints import Joint
from skodyn.model.loops import JointCoupling, Loop
from skodyn.model.mimics import Coupling, Mimic, state_indices
from skodyn.model.properties import JointLimits, JointProperties
from skodyn.model.shapes import Collision, Visual, shape_text
from skodyn.topology import Tree
from skodyn.topology.wording import Spelling, listed

if TYPE_CHECKING:
    from skodyn.model.bent import BentBody
    from skodyn.model.loop_geometry import Geometry
    from skodyn.model.loop_plan import GroupStructure
    from skodyn.model.loop_systems import LoopSystem
    from skodyn.model.loop_tables import DescribedGroup
    from skodyn.model.planar_loops import Essential

__all__ = ["Frame", "Model"]

PACKED = (
    "tree", "joints", "joint_names", "gravity", "rotation", "translation", "mass", "com", "inertia",
    "alignment", "indices", "parameters", "mimics", "loops", "couplings", "flexible", "attached",
)  # fmt: skip
"""What belongs together: what was described, and what kernels read instead."""

_UNTURNED, _UNMOVED = np.eye(3), np.zeros(3)
for _own in (_UNTURNED, _UNMOVED):
    _own.flags.writeable = False


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame fixed in a body: its axes and origin in the body frame."""

    body: str
    rotation: Floats
    translation: Floats


@dataclass(frozen=True, eq=False)
class Model:
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

    name: str
    tree: Tree
    joints: tuple[Joint, ...]
    joint_names: tuple[str, ...]
    gravity: Floats
    rotation: Floats
    translation: Floats
    mass: Floats
    com: Floats
    inertia: Floats
    alignment: Floats
    indices: NDArray[np.int64]
    parameters: Floats
    frames: Mapping[str, Frame] = field(default_factory=dict)
    repairs: tuple[str, ...] = ()
    joint_properties: Mapping[str, JointProperties] = field(default_factory=dict)
    limits: Mapping[str, JointLimits] = field(default_factory=dict)
    visuals: Mapping[str, tuple[Visual, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    mimics: Mapping[str, Mimic] = field(default_factory=dict)
    loops: Mapping[str, Loop] = field(default_factory=dict)
    couplings: Mapping[str, JointCoupling] = field(default_factory=dict)
    collisions: Mapping[str, tuple[Collision, ...]] = field(default_factory=dict)
    starts: Mapping[str, tuple[Floats, Floats]] = field(default_factory=dict)
    flexible: Mapping[str, FlexibleBody] = field(default_factory=dict)
    attached: Mapping[str, str] = field(default_factory=dict)
    bent: Mapping[str, BentBody] = field(default_factory=dict)
    packed_with: tuple[Any, ...] = field(default=(), repr=False)  # the values of PACKED; leave out

    def __post_init__(self) -> None:
        self._seal()
        self._freeze()

    def _seal(self) -> None:
        """Refuse `dataclasses.replace` of a column without the arrays that were packed from it."""
        own = tuple(getattr(self, name) for name in PACKED)
        pairs = zip(PACKED, own, self.packed_with or own, strict=True)
        changed = [name for name, value, packed in pairs if value is not packed]
        if changed:
            raise ModelError(
                f"Model {self.name!r}: {' and '.join(changed)} cannot be replaced in a model that "
                "is packed, because results come from its packed arrays",
                "call model.with_changes, which packs them anew.",
            )
        object.__setattr__(self, "packed_with", own)

    def _freeze(self) -> None:
        arrays = [getattr(self, f.name) for f in fields(self)]
        shapes: list[Visual | Collision] = [s for one in self.visuals.values() for s in one]
        shapes += [s for one in self.collisions.values() for s in one]
        arrays += [a for frame in self.frames.values() for a in (frame.rotation, frame.translation)]
        arrays += [a for loop in self.loops.values() for a in _frame_arrays(loop)]
        arrays += [a for shape in shapes for a in (shape.rotation, shape.translation)]
        arrays += [a for start in self.starts.values() for a in start]
        for array in arrays:
            if isinstance(array, np.ndarray):
                array.setflags(write=False)

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: self.__dict__[f.name] for f in fields(self)}  # caches stay behind

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._freeze()  # pickling forgets read-only flags

    # ---- sizes and names ----------------------------------------------------------------------

    @property
    def n_bodies(self) -> int:
        """How many bodies."""
        return len(self.indices)

    @cached_property
    def nq(self) -> int:
        """How many numbers q has."""
        return sum(joint.nq for joint in self.joints) - len(self.mimics) + self.n_modes

    @cached_property
    def nv(self) -> int:
        """How many degrees of freedom: numbers of v."""
        return int(self.indices[:, layout.N_DOF].sum()) - len(self.mimics) + self.n_modes

    @cached_property
    def n_modes(self) -> int:
        """How many of them are modes of flexible bodies."""
        return sum(body.modes for body in self.flexible.values())

    @cached_property
    def kernel_tree(self) -> NDArray[np.int64]:
        """`indices` as kernels take them: flat, behind a row of sizes (layout.py)."""
        if self.flexible:
            from skodyn.model.flexible_packing import flexible_trees  # it reads models

            return _read_only(flexible_trees(self))
        sizes = np.zeros((1, layout.INDEX_COLUMNS), dtype=np.int64)
        sizes[0, [layout.N_BODIES, layout.NQ, layout.NV]] = self.n_bodies, self.nq, self.nv
        flat = np.concatenate((sizes, self.state_indices)).reshape(-1)
        if self.mimics:
            flat[layout.FULL] = flat.size
            flat = np.concatenate((flat, self.uncoupled.kernel_tree, self.coupling.kernel_table()))
        if self.has_loops:
            from skodyn.model.loop_tables import loop_table  # it reads models

            flat[layout.LOOPS] = flat.size
            flat = np.concatenate((flat, loop_table(self, flat.size)))
        flat.setflags(write=False)
        return flat

    @cached_property
    def body_tree(self) -> NDArray[np.int64]:
        """The tree of bodies in `kernel_tree`: behind the layout of the state, if bodies bend."""
        return self.kernel_tree[int(self.kernel_tree[layout.FULL]) :]

    @cached_property
    def kernel_blocks(self) -> list[Floats]:
        """Holds the block that calls for one state share (kernels/workspace.py)."""
        return []

    @cached_property
    def forward_call(self) -> list[Any]:
        """The kernel of forward dynamics and its block, once a state has been evaluated."""
        return []

    @cached_property
    def lane_workspaces(self) -> list[Floats]:
        """A pool of workspaces for batches, filled as they return."""
        return []

    @cached_property
    def roomy_workspaces(self) -> dict[tuple[int, Any], list[Floats]]:
        """Blocks and workspaces with more room, by lane width and by the algorithm they are for."""
        return {}

    @cached_property
    def prescriptions(self) -> dict[Any, Any]:
        """Choices of joints whose acceleration is given, by their names (prescription.py)."""
        return {}

    @cached_property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies, base first."""
        return tuple(str(name) for name in self.tree.names)

    @property
    def parent(self) -> NDArray[np.int64]:
        """The parent of each body, by number; −1 is the world."""
        return self.tree.parent

    def body_index(self, name: str) -> int:
        """Number of the body with this name."""
        return self._find(name, self._body_numbers, "body")

    def frame(self, name: str) -> Frame:
        """The frame with this name; that of a body, or of the world, if it is one of theirs.

        A body and a frame in it may share a name (in MJCF, where a body's frame need not be at its
        joint); the body's own frame is meant then, and `model.frames[name]` has the other.
        """
        if name in self._body_numbers or name == GROUND:
            return Frame(name, _UNTURNED, _UNMOVED)
        if name in self.frames:
            return self.frames[name]
        known = dict.fromkeys((*self.body_names, *self.frames), 0)
        self._find(name, known, "body or frame")
        raise AssertionError  # it was found above

    @cached_property
    def frame_tables(self) -> dict[Any, Floats]:
        """Frames as kernels take them, by the names that were asked for."""
        return {}

    def joint_index(self, name: str) -> int:
        """Number of the body that the joint with this name carries."""
        return self._find(name, self._joint_numbers, "joint")

    def q_slice(self, joint: str) -> slice:
        """Where the coordinates of a joint lie in q; a mimic joint has none, and is refused."""
        k = self._state_joint(joint)
        start = int(self.state_indices[k, layout.Q_START])
        return slice(start, start + self.joints[k].nq)

    def v_slice(self, joint: str) -> slice:
        """Where the velocities of a joint lie in v; a mimic joint has none, and is refused."""
        k = self._state_joint(joint)
        start = int(self.state_indices[k, layout.V_START])
        return slice(start, start + self.joints[k].nv)

    def _state_joint(self, name: str) -> int:
        k = self.joint_index(name)
        if name in self.mimics:
            raise ModelError(
                f"Joint {name!r} mimics {self.mimics[name].source!r} and is no part of the state",
                f"ask for {self.mimics[name].source!r}, or for its place in `model.uncoupled`.",
            )
        return k

    @cached_property
    def _body_numbers(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.body_names)}

    @cached_property
    def _joint_numbers(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.joint_names)}

    def _find(self, name: str, numbers: dict[str, int], what: str) -> int:
        if name in numbers:
            return numbers[name]
        if what == "joint" and name in self.loop_names:
            raise ModelError(
                f"Model {self.name!r}: {name!r} closes a loop and has no coordinate",
                "cut the loop at another joint if this one is to be driven, sprung or read.",
            )
        remedy = Spelling(numbers).remedy(name, f"it has {listed(list(numbers), 5)}")
        raise ModelError(Fault(f"Model {self.name!r} has no {what} {name!r}", remedy, value=name))

    # ---- flexible bodies ------------------------------------------------------------------------

    def mode_slice(self, body: str, of: str = "q") -> slice:
        """Where the modes of a flexible body lie in q, or of="v" in v."""
        k = self.body_index(body)
        if body not in self.flexible:
            raise ModelError(
                f"Body {body!r} is rigid and has no modes",
                f"flexible are {listed(list(self.flexible), 5)}." if self.flexible
                else "give it a table `flexible`.",
            )  # fmt: skip
        column, size = (layout.V_START, "nv") if of == "v" else (layout.Q_START, "nq")
        start = int(self.indices[k, column]) + int(getattr(self.joints[k], size))
        return slice(start, start + self.flexible[body].modes)

    def mode_names(self, joint: str) -> list[str]:
        """Names of the modes of the body that a joint carries, "boom.y1"; none if it is rigid."""
        name = self.body_names[self.joint_index(joint)]
        return [f"{name}.{x}" for x in self.flexible[name].labels] if name in self.flexible else []

    @cached_property
    def node_places(self) -> dict[tuple[str, str], int]:
        """Where kernels find each node of a flexible body, by body and node."""
        from skodyn.model.flexible_packing import node_places  # it reads models

        return node_places(self)

    def refuse_flexible(self, what: str) -> None:
        """A ModelError if bodies are flexible, for what has no code with them."""
        if self.flexible:
            raise ModelError(
                f"Model {self.name!r}: {what} does not take models with flexible bodies, and "
                f"{next(iter(self.flexible))!r} is one",
                "describe it by rigid segments instead.",
            )

    @cached_property
    def manifold_indices(self) -> NDArray[np.int64]:
        """`state_indices` with a row of its own for the modes of each flexible body."""
        if not self.flexible:
            return self.state_indices
        from skodyn.model.flexible_packing import manifold_rows  # it reads models

        return _read_only(manifold_rows(self))

    # ---- mimic joints -------------------------------------------------------------------------

    @cached_property
    def independent_joints(self) -> tuple[str, ...]:
        """The joints that mimic none, in the order of bodies: those that the state speaks of."""
        return tuple(name for name in self.joint_names if name not in self.mimics)

    @cached_property
    def uncoupled(self) -> Model:
        """The same tree with every joint free to move by itself; the model, if none mimics."""
        if not self.mimics:
            return self
        own = self.parameters[: self.parameters.size - layout.MIMIC_RECORD * len(self.mimics)]
        return replace(self, mimics={}, parameters=own, packed_with=())

    def refuse_mimics(self, what: str) -> None:
        """A ModelError if joints mimic others, for what has no meaning or no code with them."""
        if self.mimics:
            name = next(iter(self.mimics))
            raise ModelError(
                f"Model {self.name!r}: {what} does not take models with mimic joints, and "
                f"{name!r} is one",
                "use model.uncoupled, in which every joint moves by itself.",
            )

    @cached_property
    def coupling(self) -> Coupling:
        """How the state's coordinates lie in those of `uncoupled`."""
        return Coupling(self)

    @cached_property
    def state_indices(self) -> NDArray[np.int64]:
        """`indices` with the state's layout: mimic joints look fixed in it."""
        follows = np.array([name in self.mimics for name in self.joint_names], dtype=np.bool_)
        return state_indices(self.indices, follows)

    def expand_q(self, q: ArrayLike) -> Floats:
        """q of `uncoupled`: the coordinates of every joint, mimics included."""
        return self.coupling.expand_q(self.check_q(q))

    def expand_v(self, v: ArrayLike) -> Floats:
        """v of `uncoupled`: the velocities (or accelerations) of every joint, mimics included."""
        return self.coupling.expand_v(coordinates.vector(v, self.nv, "v"))

    # ---- loops and couplings ------------------------------------------------------------------

    @property
    def has_loops(self) -> bool:
        """Are there loops or couplings?"""
        return bool(self.loops or self.couplings)

    @cached_property
    def loop_names(self) -> tuple[str, ...]:
        """Loops, then couplings, in the order given: how they are numbered."""
        return (*self.loops, *self.couplings)

    @cached_property
    def opened(self) -> Model:
        """The same tree without loops and couplings; the model, if it has none."""
        if not self.has_loops:
            return self
        own = self.parameters[: layout.parameter_count(self.n_bodies, self.nv)]
        return replace(self, loops={}, couplings={}, parameters=own, packed_with=())

    def refuse_loops(self, what: str) -> None:
        """A ModelError if there are loops, for what has no meaning or no code with them."""
        if self.has_loops:
            kind = "loop" if self.loops else "coupling"
            raise ModelError(
                f"Model {self.name!r}: {what} does not take models with {kind}s, and "
                f"{self.loop_names[0]!r} is one",
                "use model.opened, the same tree without them.",
            )

    @cached_property
    def loop_structure(self) -> tuple[GroupStructure, ...]:
        """How kernels eliminate the loops of each group."""
        from skodyn.model.loop_structure import find_structure  # it reads models

        return find_structure(self) if self.has_loops else ()

    @cached_property
    def loop_systems(self) -> tuple[LoopSystem, ...]:
        """The rows of each group as equations, for what is not done by kernels."""
        from skodyn.model.loop_systems import find_systems  # it reads models

        return tuple(find_systems(self))

    @cached_property
    def loop_samples(self) -> list[Floats]:
        """Some closed configurations, in general position."""
        from skodyn.model.assembly import closed_samples  # it reads models

        return closed_samples(self)

    @cached_property
    def loop_geometry(self) -> Geometry:
        """All loops and couplings in world axes."""
        from skodyn.model.loop_geometry import whole_geometry  # it reads models

        return whole_geometry(self)

    @cached_property
    def essential_rows(self) -> tuple[tuple[Essential, ...], ...]:
        """Of each loop, the primitives that dynamics keeps."""
        from skodyn.model.planar_loops import find_essential_rows  # it reads models

        return find_essential_rows(self)

    @cached_property
    def linear_dofs(self) -> NDArray[Any]:
        """Of each velocity, whether it is that of a length."""
        from skodyn.model.loop_structure import linear_dofs  # it reads models

        return linear_dofs(self)

    @cached_property
    def groups(self) -> tuple[DescribedGroup, ...]:
        """The joints that loops and couplings make move together, and how freely they do."""
        from skodyn.model.loop_tables import described_groups  # it reads models

        return described_groups(self)

    # ---- changes ------------------------------------------------------------------------------

    def with_changes(
        self,
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
        `JointProperties`. limits: those of `JointLimits`. This model stays as it is.
        """
        from skodyn.model.changes import changed  # it builds models

        given = {
            "bodies": bodies, "joints": joints, "frames": frames, "loops": loops,
            "couplings": couplings, "limits": limits, "gravity": gravity,
        }  # fmt: skip
        changes = {key: value for key, value in given.items() if value is not None}
        return changed(self, changes, repair_inertia=repair_inertia)

    # ---- coordinates --------------------------------------------------------------------------

    def neutral(self) -> Floats:
        """Coordinates with every joint at rest position: zeros, and unit quaternions."""
        return coordinates.neutral(self.manifold_indices, self.nq)

    def random_state(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """(q, v): uniform angles and orientations, lengths within ±1, normal velocities."""
        if self.mimics:
            q, v = self.uncoupled.random_state(rng)
            return q[self.coupling.q_at], v[self.coupling.v_at]
        own = self.parameters
        if self.flexible:
            own = own[: layout.parameter_count(self.n_bodies, self.nv)]
        q, v = coordinates.random_state(self.manifold_indices, own, self.nq, self.nv, rng)
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
        digest = hashlib.sha256()
        texts = (*self.body_names, "", *self.joint_names, "", *(j.type_name for j in self.joints))
        for text in texts:
            digest.update(text.encode() + b"\0")
        for array in (self.indices, self.parameters, self.alignment):
            digest.update(array.tobytes())
        for name, mimic in self.mimics.items():  # its numbers are among the parameters
            digest.update(f"{name}\0{mimic.source}\0".encode())
        for name, loop in self.loops.items():
            said = ("loop", name, loop.body_a, loop.body_b, loop.joint.type_name, "")
            digest.update("\0".join(said).encode())
            digest.update(b"".join(a.tobytes() for a in _frame_arrays(loop)))
        for name, coupling in self.couplings.items():  # its numbers are among the parameters, too
            kind = "polynomial" if coupling.coefficients else "linear"
            digest.update("\0".join((kind, name, *coupling.joints, "")).encode())
        for name, frame in sorted(self.frames.items()):
            digest.update(f"{name}\0{frame.body}\0".encode())
            digest.update(frame.rotation.tobytes() + frame.translation.tobytes())
        for name, given in sorted(self.joint_properties.items()):
            digest.update(f"{name}\0{given!r}\0".encode())
        for name, bent in self.flexible.items():
            digest.update(f"{name}\0{bent.content_hash}\0".encode())
        for name, node in sorted(self.attached.items()):
            digest.update(f"{name}\0{node}\0".encode())
        for body, shapes in sorted(self.collisions.items()):
            for one in shapes:
                digest.update(f"{body}\0{one.name}\0{shape_text(one.shape)}\0".encode())
                digest.update(one.rotation.tobytes() + one.translation.tobytes())
                if one.surface is not None:
                    digest.update(f"{one.surface!r}\0".encode())
        return digest.hexdigest()

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
    ) -> Any:
        """The model with its joints at q, or at rest, and a slider for each: shown in a notebook,
        opened in the browser from a script.

        path: write one HTML file there instead, which needs no network. show: further layers from
        the start, for example "frames", "collisions". open: whether to open the browser.
        """
        return look("view_model")(self, q, path, show=show, open=open)

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


def _frame_arrays(loop: Loop) -> tuple[Floats, ...]:
    return loop.rotation_a, loop.translation_a, loop.rotation_b, loop.translation_b
