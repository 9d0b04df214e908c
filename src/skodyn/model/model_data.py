"""What a model holds: its columns, sealed and read-only, and how its things are found by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skodyn.conventions import GROUND
from skodyn.errors import ModelError
from skodyn.faults import Fault
from skodyn.forks import cached_property
from skodyn.model import layout
from skodyn.model.flexible.modal_body import FlexibleBody
from skodyn.model.joint_entry import Joint
from skodyn.model.loops.loop_description import JointCoupling, Loop, frame_arrays
from skodyn.model.mimics import Mimic, state_indices
from skodyn.model.properties import JointLimits, JointProperties
from skodyn.model.shapes import Collision, Visual
from skodyn.topology import Tree
from skodyn.typing import Floats
from skodyn.wording import Spelling, listed

if TYPE_CHECKING:
    from skodyn.model.flexible.bent import BentBody

__all__ = ["PACKED", "Frame", "ModelData"]

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
class ModelData:
    """The columns of a model and the names in it; `Model` adds what follows from them."""

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
        arrays += [a for loop in self.loops.values() for a in frame_arrays(loop)]
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
                f"Joint {name!r} mimics {self.mimics[name].source!r} and is not part of the state",
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

    # ---- the state: mimic joints, modes, loops --------------------------------------------------

    @cached_property
    def state_indices(self) -> NDArray[np.int64]:
        """`indices` with the state's layout: mimic joints look fixed in it."""
        follows = np.array([name in self.mimics for name in self.joint_names], dtype=np.bool_)
        return state_indices(self.indices, follows)

    @cached_property
    def independent_joints(self) -> tuple[str, ...]:
        """The joints that mimic none, in the order of bodies: those that the state speaks of."""
        return tuple(name for name in self.joint_names if name not in self.mimics)

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

    @property
    def has_loops(self) -> bool:
        """Are there loops or couplings?"""
        return bool(self.loops or self.couplings)

    @cached_property
    def loop_names(self) -> tuple[str, ...]:
        """Loops, then couplings, in the order given: how they are numbered."""
        return (*self.loops, *self.couplings)

    # ---- what a function does not take ----------------------------------------------------------

    def _refuse_mimics(self, what: str) -> None:
        """A ModelError if joints mimic others, for what has no meaning or no code with them."""
        if self.mimics:
            name = next(iter(self.mimics))
            raise ModelError(
                f"Model {self.name!r}: {what} does not take models with mimic joints, and "
                f"{name!r} is one",
                "use model.uncoupled, in which every joint moves by itself.",
            )

    def _refuse_flexible(self, what: str) -> None:
        """A ModelError if bodies are flexible, for what has no code with them."""
        if self.flexible:
            raise ModelError(
                f"Model {self.name!r}: {what} does not take models with flexible bodies, and "
                f"{next(iter(self.flexible))!r} is one",
                "describe it by rigid segments instead.",
            )

    def _refuse_loops(self, what: str) -> None:
        """A ModelError if there are loops, for what has no meaning or no code with them."""
        if self.has_loops:
            kind = "loop" if self.loops else "coupling"
            raise ModelError(
                f"Model {self.name!r}: {what} does not take models with {kind}s, and "
                f"{self.loop_names[0]!r} is one",
                "use model.opened, the same tree without them.",
            )
