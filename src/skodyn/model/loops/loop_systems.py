"""The rows of groups of loops as systems of equations without units, each in its own joints.

Metres and radians are made comparable by one length per group: rows in metres are divided by it,
and joints that slide count their way in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skodyn.faults import Fault
from skodyn.model import layout, manifold
from skodyn.model.loops.loop_description import JointCoupling, Loop
from skodyn.model.loops.loop_geometry import (
    ConstraintRows,
    Geometry,
    constraint_cycle,
    constraints,
    end_bodies,
)
from skodyn.model.products import norm, total
from skodyn.topology.loops import Group, groups
from skodyn.typing import Floats

if TYPE_CHECKING:
    from skodyn.model.model import Model

__all__ = ["LoopSystem", "find_systems", "group_length", "loop_systems"]


STIFF = 0.02
"""How far modes go where joints go a whole length, when a configuration is looked for."""


def group_length(model: Model, members: Sequence[int], numbers: Iterable[int]) -> float:
    """What a radian counts as in a group: the power of two next to its largest placement.

    numbers: which constraints the group has.
    """
    if model.flexible:
        return float(model.parameters[-1])
    every = list(constraints(model).values())
    lengths = [norm(model.translation[k]) for k in members]
    for constraint in (every[number] for number in numbers):
        if isinstance(constraint, Loop):
            lengths += [norm(constraint.translation_a), norm(constraint.translation_b)]
            lengths.append(constraint.joint.own_length)
    largest = max(lengths, default=0.0)
    return float(2.0 ** round(math.log2(max(largest, 1e-3)))) if largest > 0.0 else 1.0


def loop_systems(model: Model) -> tuple[LoopSystem, ...]:
    """The systems of all groups; made once for a model."""
    return model._loop_systems


def find_systems(model: Model) -> Iterator[LoopSystem]:
    named = constraints(model)
    names, every = list(named), list(named.values())
    if model.flexible and every:  # bent_loops.py
        yield LoopSystem(model, _everything(model, range(len(every))), named)
        return
    cycles = [constraint_cycle(model, constraint) for constraint in every]
    for group in groups(model.tree.parent, cycles):
        own = {names[number]: every[number] for number in group.cycles}
        yield LoopSystem(model, group, own)


def _everything(model: Model, numbers: Iterable[int]) -> Group:
    """All bodies as one group that is bound by some constraints."""
    return Group(tuple(range(model.n_bodies)), -1, tuple(numbers))


class LoopSystem:
    """The rows of a group without units, in the group's own degrees of freedom."""

    def __init__(self, model: Model, group: Group, own: dict[str, Loop | JointCoupling]) -> None:
        self.model, self.members, self.names = model, group.members, tuple(own)
        self.constraints, self.numbers = list(own.values()), group.cycles
        self.geometry = Geometry(model, self.constraints, group.members)
        self.length = group_length(model, group.members, group.cycles)
        if model.flexible:
            self.q, self.dofs = np.arange(model.nq), np.arange(model.nv)
            self.indices = model._manifold_indices
        else:
            self.q, self.dofs = _places(model, group.members)
            self.indices = _numbered_alone(model, group.members)
        self.modes = _modes(model)[self.dofs]
        self.unit = np.where(model._linear_dofs[self.dofs], self.length, 1.0)
        self.unit[self.modes] *= STIFF
        self.reach = 1.0 + total(norm(model.translation[k]) for k in group.members) / self.length
        first = self.geometry.rows(model.neutral())
        self.places = [np.searchsorted(self.dofs, rows.dofs) for rows in first]
        self.scales = [np.where(rows.angular, 1.0, 1.0 / self.length) for rows in first]
        self.count = sum(len(rows.g) for rows in first)

    @cached_property
    def shape(self) -> bytes:
        """Equal for groups that are built alike, so that equal coordinates close both."""
        model, own = self.model, list(self.members)
        number = {k: i for i, k in enumerate(own)}
        above = [number.get(int(k), -1) for k in model.tree.parent[own]]
        kinds = [(model.joints[k].type_name, model.joints[k].twists()) for k in own]
        said = [_said(model, constraint, number) for constraint in self.constraints]
        placed = model.rotation[own].tobytes() + model.translation[own].tobytes()
        return repr((above, kinds, said)).encode() + placed

    def part(self, which: Sequence[int]) -> LoopSystem:
        """The system of some of the constraints, by their places among those of this one."""
        own = {self.names[i]: self.constraints[i] for i in which}
        numbers = tuple(self.numbers[i] for i in which)
        if self.model.flexible:
            return LoopSystem(self.model, _everything(self.model, numbers), own)
        cycles = [constraint_cycle(self.model, constraint) for constraint in own.values()]
        members = tuple(sorted({k for bodies in cycles for k in bodies}))
        parent = int(self.model.tree.parent[members[0]])
        return LoopSystem(self.model, Group(members, parent, numbers), own)

    def rows(self, q: Floats) -> tuple[Floats, Floats]:
        """g and G, dense."""
        return self._stacked(self.geometry.rows(q))

    def guides(self, q: Floats) -> tuple[Floats, Floats]:
        """The same of rows that lead to a closed configuration from farther away."""
        return self._stacked(self.geometry.guides(q))

    def _stacked(self, found: list[ConstraintRows]) -> tuple[Floats, Floats]:
        scales = [np.where(rows.angular, 1.0, 1.0 / self.length) for rows in found]
        g = np.concatenate([s * rows.g for rows, s in zip(found, scales, strict=True)])
        slopes = np.zeros((len(g), len(self.dofs)))
        start = 0
        for rows, s, at in zip(found, scales, self.places, strict=True):
            slopes[start : start + len(s), at] = s[:, None] * rows.G * self.unit[at]
            start += len(s)
        return g, slopes

    def moved(self, q: Floats, step: Floats) -> Floats:
        """q with the group's joints moved along a velocity without units."""
        result, out = q.copy(), np.empty(len(self.q))
        manifold.integrate(self.indices, q[self.q], step * self.unit, out, len(step))
        result[self.q] = out
        return result

    def way(self, q0: Floats, q1: Floats) -> Floats:
        """The step from q0 to q1."""
        way = np.empty(len(self.dofs))
        manifold.difference(self.indices, q0[self.q], q1[self.q], way, len(way))
        return way / self.unit

    def free(self, held: Sequence[str]) -> NDArray[np.bool_]:
        """The degrees of freedom that may move: those of joints that are not held."""
        free = ~self.modes
        for name in held:
            k = self.model.joint_index(name)
            first = int(self.model.indices[k, layout.V_START])
            free &= (self.dofs < first) | (self.dofs >= first + self.model.joints[k].nv)
        return free

    def wrong_ways(self, q: Floats) -> list[Fault]:
        """Faults of loops whose rows vanish, and which are closed the wrong way round."""
        turned = self.geometry.turned(q)
        return [
            Fault(
                f"Loop {name!r}: {what}",
                "turn rotation_b by half a turn, or start nearer to the position that is meant.",
            )
            for name, what in zip(self.names, turned, strict=True)
            if what
        ]

    def open_loops(self, q: Floats, tried: str) -> list[Fault]:
        """Sentences on what is farthest from being closed at q, the best that was found."""
        found = self.geometry.rows(q)
        sizes = [
            np.abs(s * rows.g).max(initial=0.0) for rows, s in zip(found, self.scales, strict=True)
        ]
        return [
            Fault(
                f"{'Loop' if isinstance(c, Loop) else 'Coupling'} {name!r}: {_gap(c, rows)} "
                f"at best, tried from {tried}",
                "change its frames or lengths, or start from another configuration.",
            )
            for name, c, rows, size in zip(self.names, self.constraints, found, sizes, strict=True)
            if size > 0.5 * max(sizes)
        ]


def _modes(model: Model) -> NDArray[np.bool_]:
    """Of each velocity, whether it is that of a mode."""
    found = np.zeros(model.nv, dtype=np.bool_)
    for name in model.flexible:
        found[model.mode_slice(name, "v")] = True
    return found


def _places(model: Model, members: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the coordinates and the velocities of the members' joints lie."""
    places: tuple[list[int], list[int]] = ([], [])
    for k in members:
        joint, row = model.joints[k], model.indices[k]
        places[0].extend(range(row[layout.Q_START], row[layout.Q_START] + joint.nq))
        places[1].extend(range(row[layout.V_START], row[layout.V_START] + joint.nv))
    return np.array(places[0], dtype=np.int64), np.array(places[1], dtype=np.int64)


def _said(model: Model, constraint: Loop | JointCoupling, number: dict[int, int]) -> object:
    """A constraint with bodies numbered as in its group."""
    if isinstance(constraint, JointCoupling):
        joints = [number[model.joint_index(name)] for name in constraint.joints]
        return joints, replace(constraint, joints=())
    ends = [number.get(k, -1) for k in end_bodies(model, constraint)]
    joint = constraint.joint
    frames = (
        constraint.rotation_a, constraint.translation_a,
        constraint.rotation_b, constraint.translation_b,
    )  # fmt: skip
    return (
        ends,
        joint.type_name,
        joint.twists(),
        joint.own_length,
        [array.tobytes() for array in frames],
    )


def _numbered_alone(model: Model, members: Sequence[int]) -> NDArray[np.int64]:
    """`model.indices` of the members as if they were all bodies."""
    alone = model.indices[list(members)]
    for column, sizes in (
        (layout.Q_START, [model.joints[k].nq for k in members]),
        (layout.V_START, [model.joints[k].nv for k in members]),
    ):
        alone[:, column] = np.cumsum(sizes) - sizes
    return alone


def _gap(constraint: Loop | JointCoupling, rows: ConstraintRows) -> str:
    """How far a constraint is from being met, in words."""
    linear = norm(rows.g[~rows.angular]) if not rows.angular.all() else 0.0
    angular = norm(rows.g[rows.angular]) if rows.angular.any() else 0.0
    if isinstance(constraint, JointCoupling):
        return f"its joints miss by {linear + angular:.3g} {'m' if linear else 'rad'}"
    apart = [f"{linear:.3g} m"] if linear else []
    apart += [f"{math.asin(min(angular, 1.0)):.3g} rad"] if angular else []
    return f"its ends are {' and '.join(apart)} apart"
