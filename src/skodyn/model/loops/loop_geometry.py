"""The rows of loops and couplings at one configuration: g, and its derivative along velocities.

Small and clear, for assembly and for checks; kernels have their own. A loop's rows depend on the
joints of its cycle only, so poses may be taken relative to whatever carries the cycle.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skodyn.model import layout
from skodyn.model.loops.closing import ALONG, DOT, HELIX, LENGTH, POINT, Row, row_count
from skodyn.model.loops.loop_description import JointCoupling, Loop, closing_rows
from skodyn.model.loops.loop_poses import STANDING, Link, Posed, link_dofs
from skodyn.model.products import dot
from skodyn.topology.loops import cycle, span
from skodyn.typing import Floats

if TYPE_CHECKING:
    from skodyn.model.model import Model

__all__ = [
    "ConstraintRows",
    "Geometry",
    "constraint_cycle",
    "constraint_rows",
    "constraints",
    "end_bodies",
]

_EYE = np.eye(3)


class ConstraintRows(NamedTuple):
    """What one loop or coupling says at a configuration."""

    g: Floats  # (r,), zero where it is closed
    G: Floats  # (r, len(dofs))
    dofs: NDArray[np.int64]  # the velocities of the joints on its cycle
    angular: NDArray[np.bool_]  # (r,), rows in radians


def constraints(model: Model) -> dict[str, Loop | JointCoupling]:
    """Loops, then couplings, in the order in which they are numbered."""
    return {**model.loops, **model.couplings}


def constraint_cycle(model: Model, constraint: Loop | JointCoupling) -> tuple[int, ...]:
    """The bodies whose joints a loop or a coupling ties together."""
    parent = model.tree.parent
    if isinstance(constraint, Loop):
        return cycle(parent, *end_bodies(model, constraint))
    return span(parent, [model.joint_index(name) for name in constraint.joints])


def constraint_rows(
    model: Model,
    q: ArrayLike,
    numbers: Iterable[int] | None = None,
    members: Sequence[int] | None = None,
) -> list[ConstraintRows]:
    """Rows of all constraints, or of those numbered, in world axes.

    With the members of their group, they come in the axes of its parent, and nothing is computed
    of what lies between there and the ground.
    """
    if numbers is None and members is None:
        return model._loop_geometry.rows(model.check_q(q))
    every = list(constraints(model).values())
    chosen = every if numbers is None else [every[number] for number in numbers]
    return _geometry(model, chosen, members).rows(model.check_q(q))


def whole_geometry(model: Model) -> Geometry:
    """All constraints in world axes."""
    return _geometry(model, list(constraints(model).values()), None)


def _geometry(
    model: Model, chosen: Sequence[Loop | JointCoupling], members: Sequence[int] | None
) -> Geometry:
    if members is None:
        cycles = [constraint_cycle(model, constraint) for constraint in chosen]
        members = _with_ancestors(model.tree.parent, cycles)
    return Geometry(model, chosen, members)


def _with_ancestors(parent: NDArray[np.int64], cycles: list[tuple[int, ...]]) -> list[int]:
    found: set[int] = set()
    for own in cycles:
        for k in own:
            while k >= 0 and k not in found:
                found.add(k)
                k = int(parent[k])
    return sorted(found)


class Geometry:
    """Rows of some constraints, looked up once for many configurations.

    `bodies` are those whose joints move, ascending: at least the constraints' cycles. What carries
    them stands still, so of a group's members alone rows come in the axes of their parent.
    """

    def __init__(
        self, model: Model, chosen: Sequence[Loop | JointCoupling], bodies: Sequence[int]
    ) -> None:
        slots = {k: slot for slot, k in enumerate(bodies)}
        self._links = [Link(model, k, slots) for k in bodies]
        self._constraints = [
            _Closure(model, c, slots) if isinstance(c, Loop) else _Relation(model, c)
            for c in chosen
        ]

    def rows(self, q: Floats) -> list[ConstraintRows]:
        """Of each constraint at q."""
        poses = self._poses(q)
        return [constraint.rows(q, poses) for constraint in self._constraints]

    def guides(self, q: Floats) -> list[ConstraintRows]:
        """Other rows for the same, whose squares have no minimum where axes meet antiparallel."""
        poses = self._poses(q)
        return [constraint.guides(q, poses) for constraint in self._constraints]

    def turned(self, q: Floats) -> list[str]:
        """Of each constraint that is closed at q: in which wrong way round, or nothing.

        Rows of products vanish for axes that point in opposite directions, too.
        """
        poses = self._poses(q)
        return [constraint.turned(poses) for constraint in self._constraints]

    def _poses(self, q: Floats) -> list[Posed]:
        poses: list[Posed] = []
        for link in self._links:
            poses.append(link.posed(q, poses))
        return poses


def end_bodies(model: Model, loop: Loop) -> tuple[int, int]:
    """The numbers of the bodies that a loop joins; −1 is the ground."""
    return _body(model, loop.body_a), _body(model, loop.body_b)


def _body(model: Model, name: str) -> int:
    return -1 if name == "world" else model.body_index(name)


# ---- rows ------------------------------------------------------------------------------------


class _Closure:
    """A loop: its primitives, its ends, and which of its cycle's joints lead to which end."""

    def __init__(self, model: Model, loop: Loop, slots: dict[int, int]) -> None:
        own = constraint_cycle(model, loop)
        a, b = end_bodies(model, loop)
        toward_b = _path_within(model, own, b)
        self.loop, self.a, self.b = loop, slots.get(a), slots.get(b)
        self.slots = [slots[k] for k in own]
        self.dofs, self.folded = _folded([dof for k in own for dof in link_dofs(model, k)])
        sides = [1.0 if k in toward_b else -1.0 for k in own for _ in link_dofs(model, k)]
        self.sign = np.array(sides)[:, None]
        self.primitives = closing_rows(loop.joint, loop.rotation_a, loop.rotation_b)
        angular = [[row.kind == DOT] * row_count(row.kind) for row in self.primitives]
        self.angular = np.array([flag for flags in angular for flag in flags], dtype=np.bool_)

    def rows(self, q: Floats, poses: list[Posed]) -> ConstraintRows:
        ends, motion = self._placed(poses)
        return self._joined([_primitive(row, ends, motion) for row in self.primitives])

    def guides(self, q: Floats, poses: list[Posed]) -> ConstraintRows:
        """Directions that shall be the same, subtracted, in place of products."""
        same = self.alike()
        ends, motion = self._placed(poses)
        kept = [row for row in self.primitives if row.kind != DOT or not len(same)]
        parts = [_primitive(row, ends, motion) for row in kept]
        angular = [row.kind == DOT for row in kept for _ in range(row_count(row.kind))]
        for direction in same:
            u = ends.rotation_a @ (self.loop.rotation_a @ direction)
            w = ends.rotation_b @ (self.loop.rotation_b @ direction)
            parts.append((w - u, motion.apart(u, w)))
            angular += [True] * 3
        return self._joined(parts)._replace(angular=np.array(angular, dtype=np.bool_))

    def alike(self) -> Floats:
        """Directions in the frames that are the same where the loop is closed."""
        return self.loop.joint.kept_directions()

    def _placed(self, poses: list[Posed]) -> tuple[_Ends, _Motion]:
        ends = _Ends(self.loop, _pose(poses, self.a), _pose(poses, self.b))
        screws = np.concatenate([poses[slot].screws for slot in self.slots])
        return ends, _Motion(screws, self.sign, ends)

    def _joined(self, parts: list[tuple[Floats | float, Floats]]) -> ConstraintRows:
        g = np.concatenate([np.atleast_1d(value) for value, _ in parts])
        slopes = np.concatenate([np.atleast_2d(slope) for _, slope in parts])
        if self.folded is not None:
            every, slopes = slopes, np.zeros((len(g), len(self.dofs)))
            np.add.at(slopes.T, self.folded, every.T)
        return ConstraintRows(g, slopes, self.dofs, self.angular)

    def turned(self, poses: list[Posed]) -> str:
        same = self.alike()
        turn_a = _pose(poses, self.a).rotation @ self.loop.rotation_a
        turn_b = _pose(poses, self.b).rotation @ self.loop.rotation_b
        cosines = [float((turn_a @ u) @ (turn_b @ u)) for u in same]
        if len(same) == 3:
            return "its frames meet turned against each other" if sum(cosines) < 1.0 else ""
        return "its axes meet antiparallel" if sum(cosines) < 0.0 else ""


def _pose(poses: list[Posed], slot: int | None) -> Posed:
    return STANDING if slot is None else poses[slot]


def _path_within(model: Model, own: tuple[int, ...], b: int) -> set[int]:
    """Body b and its ancestors, as far as they lie on the cycle."""
    inside, path = set(own), set()
    while b in inside:
        path.add(b)
        b = int(model.tree.parent[b])
    return path


def _folded(given: list[int]) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """Degrees of freedom in ascending order, each once; and the place of each that was given, if
    they were not so before: modes move both ends of a loop that hangs on two nodes of a body."""
    dofs, places = np.unique(np.array(given, dtype=np.int64), return_inverse=True)
    in_order = np.array_equal(places, np.arange(len(given)))
    return dofs, None if in_order else places


def _dofs(model: Model, bodies: Sequence[int]) -> NDArray[np.int64]:
    starts = model.indices[:, layout.V_START]
    return np.array(
        [int(starts[k]) + i for k in bodies for i in range(model.joints[k].nv)], dtype=np.int64
    )


class _Ends:
    """The frames A and B of a loop, placed."""

    def __init__(self, loop: Loop, a: Posed, b: Posed) -> None:
        self.rotation_a, self.rotation_b = a.rotation, b.rotation
        self.x_a = a.origin + a.rotation @ loop.translation_a
        self.x_b = b.origin + b.rotation @ loop.translation_b
        self.d = self.x_b - self.x_a


class _Motion:
    """Velocities of B less those of A, by degree of freedom; no joint of a cycle moves both."""

    def __init__(self, screws: Floats, sign: Floats, ends: _Ends) -> None:
        self.turning = screws[:, :3] * sign  # ω_B − ω_A
        at = np.where(sign > 0.0, ends.x_b, ends.x_a)
        arm = at - screws[:, 6:]
        self.point = screws[:, 3:6] * sign + _crosses(self.turning, arm)  # ḋ
        self.turning_a = np.where(sign < 0.0, screws[:, :3], 0.0)  # ω_A
        self.turning_b = np.where(sign > 0.0, screws[:, :3], 0.0)

    def apart(self, u: Floats, w: Floats) -> Floats:
        """The derivative of w − u, three rows, with u fixed in A and w in B."""
        size = self.turning_a.shape
        one = _crosses(self.turning_b, np.broadcast_to(w, size))
        return (one - _crosses(self.turning_a, np.broadcast_to(u, size))).T


def _primitive(row: Row, ends: _Ends, motion: _Motion) -> tuple[Floats | float, Floats]:
    """(g, G) of one primitive: one row, or three for a point."""
    d = ends.d
    if row.kind == POINT:
        return d, motion.point.T
    if row.kind == LENGTH:
        length = math.hypot(*d.tolist())
        return length - row.c, motion.point @ (d / length if length > 0.0 else _EYE[0])
    u = ends.rotation_a @ row.u
    if row.kind == ALONG:
        return float(u @ d), _along(u, ends, motion)
    w = ends.rotation_b @ row.w
    if row.kind == DOT:
        return float(u @ w) - row.c, motion.turning @ _cross(w, u)
    assert row.kind == HELIX
    e = ends.rotation_a @ row.e
    turned = float(u @ d) / row.c
    sine, cosine = float(_cross(u, e) @ w), float(e @ w)
    g = row.c * (sine * math.cos(turned) - cosine * math.sin(turned))
    return g, row.c * (motion.turning @ u) - _along(u, ends, motion)


def _along(u: Floats, ends: _Ends, motion: _Motion) -> Floats:
    """The derivative of u·d, with u fixed in A."""
    slope: Floats = motion.turning_a @ _cross(u, ends.d) + motion.point @ u
    return slope


def _cross(a: Floats, b: Floats) -> Floats:
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def _crosses(a: Floats, b: Floats) -> Floats:
    """Row by row."""
    result = np.empty_like(a)
    result[:, 0] = a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1]
    result[:, 1] = a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2]
    result[:, 2] = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return result


class _Relation:
    """A coupling: where its joints' coordinates lie."""

    def __init__(self, model: Model, coupling: JointCoupling) -> None:
        joints = [model.joint_index(name) for name in coupling.joints]
        self.coupling = coupling
        self.dofs = _dofs(model, constraint_cycle(model, coupling))
        self.q = model.indices[joints, layout.Q_START]
        self.at = np.searchsorted(self.dofs, model.indices[joints, layout.V_START])
        self.angular = np.array([model.joints[joints[0]].turning[0]])

    def turned(self, poses: list[Posed]) -> str:
        return ""

    def guides(self, q: Floats, poses: list[Posed]) -> ConstraintRows:
        return self.rows(q, poses)

    def rows(self, q: Floats, poses: list[Posed]) -> ConstraintRows:
        values = q[self.q].tolist()
        if self.coupling.coefficients:
            value, slope = _polynomial(self.coupling.coefficients, values[1])
            g, factors = values[0] - value, [1.0, -slope]
        else:
            factors = list(self.coupling.factors)
            g = dot(factors, values) - self.coupling.offset
        slopes = np.zeros((1, len(self.dofs)))
        slopes[0, self.at] = factors
        return ConstraintRows(np.array([g]), slopes, self.dofs, self.angular)


def _polynomial(coefficients: Sequence[float], s: float) -> tuple[float, float]:
    """A polynomial and its derivative, by Horner."""
    value = slope = 0.0
    for c in reversed(coefficients):
        value, slope = value * s + c, slope * s + value
    return value, slope
