"""A mechanism as a graph: which of its joints carry which links."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple

from skodyn.conventions import GROUND
from skodyn.faults import shown
from skodyn.model.builder_entries import LoopDescription
from skodyn.model.joint_checks import carries_bodies, is_joint
from skodyn.model.joints import CLOSING, Joint
from skodyn.model.mechanisms.mechanism_checks import is_zero

if TYPE_CHECKING:
    from skodyn.model.description import ModelBuilder

__all__ = ["UNSEEN", "Edge", "Graph", "carriers"]


_START, UNSEEN = -1, -2


class Edge(NamedTuple):
    """A joint between two nodes, and what it costs to be carried by it: nothing, 1 or never."""

    a: int
    b: int
    kept: bool  # it cannot be cut
    to_a: float  # the cost of walking it to a: 1 turns what should not be turned, inf cannot be
    to_b: float
    weight: int  # among equally deep ways the one with the lightest joint is taken


class Graph:
    """Nodes: the ground, then bodies, then links. Edges: joints of bodies, then those of links."""

    def __init__(self, described: ModelBuilder) -> None:
        self.described = described
        bodies, links = described.bodies, described.links
        self.names = [GROUND, *(b.name for b in bodies), *(link.name for link in links)]
        self.node = {name: k for k, name in enumerate(self.names)}
        self.first_link = 1 + len(bodies)
        self.first_joint = len(bodies)
        self.joint = {x.name: len(bodies) + j for j, x in enumerate(described.joints)}
        needed = _needed(described)
        reasons = {x.name: _uncuttable(x.joint, needed.get(x.name, "")) for x in described.joints}
        self.reasons = {self.joint[name]: reason for name, reason in reasons.items() if reason}
        self.edges = [
            Edge(self.node[b.parent], 1 + k, True, math.inf, 0.0, 0) for k, b in enumerate(bodies)
        ]
        self.edges += [self._edge(x) for x in described.joints]
        self.freedom = [b.joint.nv if is_joint(b.joint) else 1 for b in bodies]
        self.freedom += [x.joint.nv for x in described.joints]
        self.closing = {  # they carry nothing, whatever is cut
            self.joint[x.name]
            for x in described.joints
            if not carries_bodies(x.joint)
            or max(self.node[x.body_a], self.node[x.body_b]) < self.first_link
        }

    def _edge(self, described: LoopDescription) -> Edge:
        a, b = self.node[described.body_a], self.node[described.body_b]
        turns = 0.0 if described.joint.can_be_reversed() else 1.0
        to_a = turns if a >= self.first_link else math.inf
        to_b = 0.0 if b >= self.first_link else math.inf
        kept = self.joint[described.name] in self.reasons
        return Edge(a, b, kept, to_a, to_b, described.joint.nv)

    def name_of(self, number: int) -> str:
        return str(self.described.joints[number - self.first_joint].name)

    def above(self, node: int, through: Sequence[int]) -> int:
        """The node that carries another."""
        edge = self.edges[through[node]]
        return edge.b if edge.a == node else edge.a


def _needed(described: ModelBuilder) -> dict[Any, str]:
    """Who needs the coordinate of a joint, by its name."""
    found: dict[Any, str] = {}
    for coupling in described.couplings:
        terms = coupling.terms if isinstance(coupling.terms, Mapping) else ()
        for joint in (coupling.joint, coupling.source, *terms):
            if isinstance(joint, str):
                found.setdefault(joint, f"coupling {shown(coupling.name)} needs its coordinate")
    for mimic in described.mimics:
        for joint in (mimic.joint, mimic.source):
            if isinstance(joint, str):
                found.setdefault(joint, "a mimic needs its coordinate")
    return found


def _uncuttable(joint: Joint, needed: str) -> str:
    """Why a joint cannot close a loop; empty if it can."""
    if joint.is_floating:
        return "it is free and closes nothing"
    if CLOSING.get(joint.type_name) is not type(joint):
        return f"it is {shown(joint)}, of which no rows are known" * carries_bodies(joint)
    if carries_bodies(joint) and not is_zero(joint.armature):
        return f"it has armature {shown(joint.armature)}"
    return needed


def carriers(n: int, edges: Sequence[Edge], left_out: Collection[int] = ()) -> list[int]:
    """Of each node the number of the edge that carries it; −1 at node 0, −2 where none leads.

    Breadth first from node 0, lighter edges first, then in their order. Where edges that cannot be
    cut hold nodes together, these are reached as one, from the first of them that is met. An edge
    is walked at a cost only to nodes that are not reached without.
    """
    kept: list[list[int]] = [[] for _ in range(n)]
    loose: list[list[int]] = [[] for _ in range(n)]
    for number, edge in enumerate(edges):
        if number not in left_out:
            for end in edge[:2]:
                (kept if edge.kept else loose)[end].append(number)
    through = [UNSEEN] * n
    waiting: list[tuple[float, int, int, int, int, int]] = [(0.0, 0, 0, 0, 0, _START)]
    met = 0
    while waiting:
        cost, depth, _, _, start, way = heappop(waiting)
        if through[start] != UNSEEN:
            continue
        block = _block(start, way, edges, kept, through)
        for here, by, _ in block:
            through[here] = by
        for here, _, further in block:
            for number in loose[here]:
                k, step = _step(edges[number], here)
                if through[k] == UNSEEN:
                    entered = _block(k, number, edges, kept, through)
                    total = cost + step + _cost(entered[1:], edges)
                    met += 1
                    if total < math.inf:
                        deeper = (total, depth + further + 1, edges[number].weight)
                        heappush(waiting, (*deeper, met, k, number))
    return through


def _block(
    start: int, way: int, edges: Sequence[Edge], kept: list[list[int]], through: list[int]
) -> list[tuple[int, int, int]]:
    """(node, edge to it, depth) of all that hangs on a node by edges that cannot be cut."""
    found, seen = [(start, way, 0)], {start}
    waiting = deque(found)
    while waiting:
        here, _, depth = waiting.popleft()
        for number in kept[here]:
            k, step = _step(edges[number], here)
            barred = way == _START and step == math.inf  # the ground must be entered somehow
            if k not in seen and through[k] == UNSEEN and not barred:
                seen.add(k)
                waiting.append((k, number, depth + 1))
                found.append(waiting[-1])
    return found


def _step(edge: Edge, here: int) -> tuple[int, float]:
    """Where an edge leads from here, and at what cost."""
    return (edge.b, edge.to_b) if edge.a == here else (edge.a, edge.to_a)


def _cost(block: Iterable[tuple[int, int, int]], edges: Sequence[Edge]) -> float:
    return sum(
        edges[way].to_a if edges[way].a == node else edges[way].to_b for node, way, _ in block
    )
