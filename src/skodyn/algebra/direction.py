"""A velocity direction as operators: what moves when one degree of freedom does.

PyCraft eqs. 39 and 40, for every joint. Operators are in world axes at the bodies' origins. Column
d of H*(i), the twist [u; t], moves all bodies outboard of joint i as one: their axes turn by ũ, the
origin of body i moves by t, and every arm between them turns. The direction is given by four
block-diagonal operators, zero but for

    outboard  H̃_≤   diag(ũ, ũ) at body i and all its descendants,
    hinge     H̃_=   S = [[ũ, t̃], [0, ũ]] at body i,
    beyond    H̃_<   diag(ũ, ũ) at the descendants and −[[0, t̃], [0, 0]] at body i, so that
                    H̃_≤ = H̃_= + H̃_<,
    bracket   N     at joint i the row (S_d × S_e)* for each column e that d moves: the later ones
                    of a series joint, all of a spherical or free one; zero for one degree of
                    freedom.

A rotor's rate has no direction in space: its rows and columns in these are zero.

Two misprints. Eq. 40 defines H̃_≤i, all else calls it H̃_≥i: bodies are numbered tips first there, so
that k ≤ i stands for the bodies outboard of hinge i; on a tree, for its descendants and itself. And
eq. 40 has H̃*(k), the axis of each body's own hinge, in place k; it must be that of hinge i.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Self

import numpy as np

from skodyn.algebra.leaves import Diagonal
from skodyn.dynamics.inertias import cross_matrices
from skodyn.errors import StateError
from skodyn.forks import cached_property
from skodyn.model.coordinates import QUATERNION_KINDS
from skodyn.sko.blocks import Blocks, Floats, Ints

if TYPE_CHECKING:
    from skodyn.algebra.workbench import Workbench

__all__ = ["Direction", "locate"]


class Direction:
    """Degree of freedom `dof` of the joint of a node."""

    def __init__(self, bench: Workbench, node: int, dof: int) -> None:
        self.bench, self.node, self.dof = bench, node, dof
        self.several = int(bench.joint_space.sizes[node]) > 1
        body = bench.bodies[node]
        self.name = f"derivative({body!r}, {dof})" if self.several else f"derivative({body!r})"
        printed = str(body).replace("_", r"\_")
        self.place = rf"\mathrm{{{printed}}}" + (f",{dof}" if self.several else "")

    def __repr__(self) -> str:
        return f"<{self.name} in {self.bench.origin.title}>"

    @cached_property
    def outboard(self) -> Diagonal:
        """H̃_≤ (eq. 40)."""
        return self._square("outboard", r"\leq", lambda b: self._in(b)._turned(self.node))

    @cached_property
    def beyond(self) -> Diagonal:
        """H̃_< (eq. 40)."""
        return self._square("beyond", "<", lambda b: self._in(b)._beyond_blocks())

    @cached_property
    def hinge(self) -> Diagonal:
        """H̃_= (eqs. 39 and 40)."""
        return self._square("hinge", "=", lambda b: self._in(b)._hinge_blocks())

    @cached_property
    def bracket(self) -> Diagonal:
        """N, with the rows of H: what the direction does to the columns of its own joint."""
        name, symbol = f"{self.name}.bracket", rf"\mathcal{{N}}_{{{self.place}}}"
        rows, cols = self.bench.joint_space, self.bench.node_space
        make = lambda b: self._in(b)._bracket_blocks()  # noqa: E731
        return Diagonal(self.bench, name, symbol, rows, cols, make)

    @cached_property
    def _twist(self) -> tuple[Floats, Floats]:
        """(u, t): the column of H*(i) along which to go."""
        row = self.bench.H.blocks[self.node][self.dof]
        return row[:3], row[3:6]

    def _in(self, bench: Workbench) -> Self:
        """The same direction of another workbench."""
        return self if bench is self.bench else type(self)(bench, self.node, self.dof)

    def _hinge_blocks(self) -> Blocks:
        return self._placed(np.array([self.node]), force_cross(*self._twist))

    def _bracket_blocks(self) -> Blocks:
        bench, i = self.bench, self.node
        with_child = bench.origin.joint_kinds[i] in QUATERNION_KINDS
        moved = slice(0 if with_child else self.dof + 1, None)
        blocks = Blocks.zeros(bench.joint_space.sizes, bench.node_space.sizes)
        columns = bench.H.blocks[i][moved, :6]
        blocks[i][moved, :6] = -columns @ force_cross(*self._twist)  # S_e*·S_d = −(S_d × S_e)*
        return blocks

    def _beyond_blocks(self) -> Blocks:
        blocks = self._turned(self.node + 1)
        blocks[self.node][:6, :6] = -force_cross(np.zeros(3), self._twist[1])
        return blocks

    def _turned(self, first: int) -> Blocks:
        """diag(ũ, ũ) from this node to the end of the subtree."""
        nodes = np.arange(first, int(self.bench.tree.subtree_end[self.node]))
        return self._placed(nodes, force_cross(self._twist[0], np.zeros(3)))

    def _placed(self, nodes: Ints, matrix: Floats) -> Blocks:
        """A 6 × 6 matrix in the upper left corner of these nodes' blocks."""
        sizes, steps = self.bench.node_space.sizes, np.arange(6)
        blocks = Blocks.zeros(sizes, sizes)
        rows = blocks.starts[nodes][:, None] + steps * sizes[nodes][:, None]
        blocks.data[rows[:, :, None] + steps] = matrix
        return blocks

    def _square(self, name: str, sign: str, make: Callable[[Workbench], Blocks]) -> Diagonal:
        symbol = rf"\tilde{{\mathcal{{H}}}}_{{{sign}{self.place}}}"
        space = self.bench.node_space
        return Diagonal(self.bench, f"{self.name}.{name}", symbol, space, space, make)


def force_cross(u: Floats, t: Floats) -> Floats:
    """[[ũ, t̃], [0, ũ]]: how a force at a point changes when a twist moves what it acts on."""
    matrix = np.zeros((6, 6))
    matrix[:3, :3] = matrix[3:, 3:] = cross_matrices(u[None])[0]
    matrix[:3, 3:] = cross_matrices(t[None])[0]
    return matrix


def locate(bench: Workbench, joint: Hashable, dof: int | None) -> tuple[int, int]:
    """(node, degree of freedom in its joint), or a StateError that says why there is none."""
    if not bench.origin.joint_kinds:
        raise StateError(
            f"There are no derivatives of {bench.origin.title}: such a model does not say how it "
            "changes with its state",
            "give sk.operators a Model and q.",
        )
    node = _node_of(bench, joint)
    count = int(bench.joint_space.sizes[node])
    if not count:
        raise StateError(f"The joint of {joint!r} has no degree of freedom to differentiate along.")
    if dof is None and count > 1:
        raise StateError(
            f"The joint of {joint!r} has {count} degrees of freedom",
            f"say which, as in derivative({joint!r}, 0).",
        )
    number = 0 if dof is None else dof
    whole = isinstance(number, (int, np.integer)) and not isinstance(number, bool)
    if not whole or not 0 <= number < count:
        raise StateError(
            f"The joint of {joint!r} has no degree of freedom {number!r}",
            f"give a number from 0 to {count - 1}.",
        )
    return node, int(number)


def _node_of(bench: Workbench, joint: Hashable) -> int:
    """The body of a joint, given by the name of either."""
    names = bench.origin.joint_names
    if joint not in names:
        return bench.tree.resolve(joint)
    node = names.index(joint)
    if joint in bench.bodies and bench.bodies[node] != joint:
        raise StateError(
            f"{joint!r} is the joint of body {bench.bodies[node]!r} and also another body",
            f"give the body's number in ops.bodies, {node} or {bench.tree.resolve(joint)}.",
        )
    return node
