"""A mechanism given as links and joints in any order: which joints carry them, which close loops.

The graph of links and joints becomes a tree of bodies and loops. A link is carried by one of its
joints; its body frame is then that joint's frame in it, and all that was placed in the link is
expressed anew in that frame. A joint that carries its body_a is turned: frames swapped and the axis
reversed, which leaves q as it was.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skodyn.conventions import GROUND
from skodyn.faults import Fault, Subject
from skodyn.model.columns import (
    Floats,
    as_floats,
    read_column,
    read_inertias,
    read_rotations,
    shown,
)
from skodyn.model.description import BodyDescription, LoopDescription
from skodyn.model.joint_checks import carries_bodies, is_joint, parameter_faults
from skodyn.model.joints import (
    CLOSING,
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Joint,
    Prismatic,
    Revolute,
)
from skodyn.model.name_checks import check_names, check_tree, name_problem
from skodyn.model.products import applied, product
from skodyn.model.subjects import MODEL, subject
from skodyn.topology.wording import Spelling, listed

if TYPE_CHECKING:
    from skodyn.model.description import ModelBuilder

__all__ = ["Edge", "carriers", "resolved"]

_START, _UNSEEN = -1, -2
_TURNED = (Fixed, Revolute, Prismatic, Helical, Cylindrical)  # with the same q


def resolved(described: ModelBuilder, cut: Any) -> tuple[ModelBuilder, list[Fault]]:
    """The mechanism as bodies and loops, and what is wrong with its links, joints and cuts.

    If anything is, the first is a stand-in in which every link floats: it serves to find the faults
    of all else.
    """
    chosen, faults = _names_to_cut(cut)
    if not (described.links or described.joints or chosen or faults):
        return described, []
    stand_in = _floating(described)
    valid = _check_names(described, faults)
    valid &= check_tree(stand_in.bodies, valid, faults) is not None
    valid &= _check_ends(described, faults)
    valid &= _check_joints(described.joints, faults)
    frames = _read_frames(described.joints, faults)
    columns = _read_links(described, faults)
    if valid:
        graph = _Graph(described)
        through = _tree(graph, chosen, faults)
        if not faults:
            return _as_bodies(graph, through, frames, columns), []
    return stand_in, faults


def _names_to_cut(cut: Any) -> tuple[list[Any], list[Fault]]:
    try:
        if not isinstance(cut, (str, bytes)):
            return list(cut), []
    except Exception:  # no list, or an object that fails in its own way
        pass
    return [], [
        Fault(f"cut is {shown(cut)}", "give a list of joints' names, for example cut=['pin'].")
    ]


# ---- what is wrong with each of them ------------------------------------------------------------


def _floating(described: ModelBuilder) -> ModelBuilder:
    """A model with the same bodies, frames and loops, in which no link hangs on another.

    What has no mass gets one: it may be carried along by what is not there.
    """
    bodies = [replace(b, mass=1.0) if _is_zero(b.mass) else b for b in described.bodies]
    taken = {GROUND, *(b.name for b in bodies if isinstance(b.name, str))}
    for k, link in enumerate(described.links):
        unfit = name_problem(link.name) is not None or link.name in taken
        name = f"link number {k + 1}" if unfit else link.name
        taken.add(name)
        mass = 1.0 if _is_zero(link.mass) else link.mass
        joint = Free(name=f"link {name}")
        bodies.append(
            BodyDescription(name, GROUND, joint, (0, 0, 0), None, mass, link.com, link.inertia)
        )
    return _with(described, bodies=bodies, links=[], joints=[], mimics=[], couplings=[])


def _is_zero(given: Any) -> bool:
    number = as_floats(given)
    return number is not None and number.shape == () and number == 0.0


def _with(described: ModelBuilder, **lists: list[Any]) -> ModelBuilder:
    other = copy(described)
    for name, given in lists.items():
        setattr(other, name, given)
    return other


def _check_names(described: ModelBuilder, faults: list[Fault]) -> bool:
    """Joints may be cut or not, so their names must differ from those of loops, too."""
    before = len(faults)
    bodies = [b.name for b in described.bodies]
    links = [link.name for link in described.links]
    joints = [joint.name for joint in described.joints]
    for what, names in (("Body", bodies), ("Link", links), ("Joint", joints)):
        check_names(what, names, faults)
    carried = {_joint_name(b): b.name for b in described.bodies}
    for what, names, taken, owner in (
        ("Link", links, dict.fromkeys(map(_text, bodies)), "a body"),
        ("Joint", joints, dict.fromkeys(_text(loop.name) for loop in described.loops), "a loop"),
        ("Joint", joints, carried, "the joint of body {!r}"),
    ):
        for name in dict.fromkeys(x for x in map(_text, names) if x is not None and x in taken):
            problem = f"{what} {name!r} has the name of {owner.format(taken[name])}"
            faults.append(subject(what, name).fault(problem, "rename one of them."))
    return len(faults) == before


def _joint_name(body: BodyDescription) -> str | None:
    return _text((body.joint.joint_name if is_joint(body.joint) else None) or body.name)


def _text(given: Any) -> str | None:
    return given if isinstance(given, str) else None


def _check_ends(described: ModelBuilder, faults: list[Fault]) -> bool:
    before = len(faults)
    names = [*(b.name for b in described.bodies), *(link.name for link in described.links)]
    known = {GROUND, *(name for name in names if isinstance(name, str))}
    spelling = Spelling(known)
    for joint in described.joints:
        whose, unknown = subject("Joint", joint.name), False
        for key, body in (("body_a", joint.body_a), ("body_b", joint.body_b)):
            if not isinstance(body, str) or body not in known:
                guess = body if isinstance(body, str) else None
                remedy = spelling.remedy(guess, f"name a link or a body, or {GROUND!r}")
                faults.append(whose.found(key, body, remedy, ", which is no body"))
                unknown = True
        if not unknown and joint.body_a == joint.body_b:
            problem = f"{whose.words}: body_a and body_b are both {joint.body_a!r}"
            faults.append(
                whose.fault(problem, "join two different bodies.", "body_b", joint.body_b)
            )
    return len(faults) == before


def _check_joints(given: Sequence[LoopDescription], faults: list[Fault]) -> bool:
    """Are all of them joints? Their parameters are judged, but do not matter to the graph."""
    rows: dict[type[Joint], list[LoopDescription]] = {}
    valid = True
    for described in given:
        joint = described.joint
        if not is_joint(joint):
            valid = False
            remedy = "give a joint such as Revolute(axis=(0, 0, 1))."
            faults.append(subject("Joint", described.name).found("joint", joint, remedy))
            continue
        rows.setdefault(type(joint), []).append(described)
        name = joint.joint_name
        if name is not None and not (isinstance(name, str) and name == described.name):
            whose = subject("Joint", described.name, f", {joint.type_name} joint", "joint")
            why = ", but a joint between links goes by the name that add_joint was given"
            faults.append(whose.found("name", name, "take it away.", why))
    for kind, some in rows.items():
        more = f", {kind.type_name} joint"
        owners = [subject("Joint", described.name, more, "joint") for described in some]
        faults.extend(parameter_faults(kind, [described.joint for described in some], owners))
    return valid


def _read_frames(given: Sequence[LoopDescription], faults: list[Fault]) -> dict[str, Floats]:
    """rotation_a, translation_a, rotation_b, translation_b of all joints."""

    def owner(k: int) -> Subject:
        return subject("Joint", given[k].name)

    columns = {}
    for end in ("a", "b"):
        turn, shift = f"rotation_{end}", f"translation_{end}"
        columns[turn], found = read_rotations([getattr(x, turn) for x in given], owner, turn)
        faults.extend(found)
        columns[shift], found = read_column([getattr(x, shift) for x in given], (3,), shift, owner)
        faults.extend(found)
    return columns


def _read_links(described: ModelBuilder, faults: list[Fault]) -> tuple[Floats, Floats]:
    """com and inertia of all links, in their own axes."""
    links = described.links

    def owner(k: int) -> Subject:
        return replace(subject("Link", links[k].name), words=f"Body {shown(links[k].name)}")

    com, found = read_column([link.com for link in links], (3,), "com", owner)
    inertia, more = read_inertias([link.inertia for link in links], owner)
    faults.extend(found + more)
    return com, inertia


# ---- the graph ----------------------------------------------------------------------------------


class Edge(NamedTuple):
    """A joint between two nodes, and what it costs to be carried by it: nothing, 1 or never."""

    a: int
    b: int
    kept: bool  # it cannot be cut
    to_a: float  # the cost of walking it to a: 1 turns what should not be turned, inf cannot be
    to_b: float
    weight: int  # among equally deep ways the one with the lightest joint is taken


class _Graph:
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
        turns = 0.0 if type(described.joint) in _TURNED else 1.0
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
    if isinstance(joint, Free):
        return "it is free and closes nothing"
    if CLOSING.get(joint.type_name) is not type(joint):
        return f"it is {shown(joint)}, of which no rows are known" * carries_bodies(joint)
    if carries_bodies(joint) and not _is_zero(joint.armature):
        return f"it has armature {shown(joint.armature)}"
    return needed


def _tree(graph: _Graph, cut: Sequence[Any], faults: list[Fault]) -> list[int]:
    """The edge that carries each node (see `carriers`)."""
    left_out = _cut_numbers(graph, cut, faults)
    through = _unlocked(graph, left_out | graph.closing)
    _refuse_lost(graph, through, left_out, faults)
    _refuse_turned(graph, through, left_out, faults)
    _refuse_closing(graph, through, faults)
    return through


def _unlocked(graph: _Graph, left_out: set[int]) -> list[int]:
    """The tree, in which welds do not carry what a joint could carry that welds would lock.

    A joint that closes a loop of welds would be refused; if it carries, one of them closes it.
    """
    edges, n = graph.edges, len(graph.names)
    through = carriers(n, edges, left_out)
    while locked := _locked(graph, edges, through, left_out):
        edges = [e._replace(kept=e.kept or k in locked) for k, e in enumerate(edges)]
        other = carriers(n, edges, left_out)
        if other.count(_UNSEEN) > through.count(_UNSEEN) or _turned(graph, other):
            break
        through = other
    return through


def _locked(
    graph: _Graph, edges: Sequence[Edge], through: list[int], left_out: set[int]
) -> set[int]:
    """Joints that move, are left over and could be kept, but only welds lie between their ends."""
    used = set(through)
    if all(edges[number].weight for number in used if number >= graph.first_joint):
        return set()
    return {
        number
        for number, edge in enumerate(edges)
        if number not in used and number not in left_out and edge.weight and not edge.kept
        if _UNSEEN not in (through[edge.a], through[edge.b])
        if not any(graph.freedom[k] for k in _ring(graph, through, edge))
    }


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
    through = [_UNSEEN] * n
    waiting: list[tuple[float, int, int, int, int, int]] = [(0.0, 0, 0, 0, 0, _START)]
    met = 0
    while waiting:
        cost, depth, _, _, start, way = heappop(waiting)
        if through[start] != _UNSEEN:
            continue
        block = _block(start, way, edges, kept, through)
        for here, by, _ in block:
            through[here] = by
        for here, _, further in block:
            for number in loose[here]:
                k, step = _step(edges[number], here)
                if through[k] == _UNSEEN:
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
            if k not in seen and through[k] == _UNSEEN and not barred:
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


# ---- what is wrong with the graph ---------------------------------------------------------------


def _cut_numbers(graph: _Graph, cut: Sequence[Any], faults: list[Fault]) -> set[int]:
    found: set[int] = set()
    spelling = Spelling(graph.joint)
    for name in cut:
        number = graph.joint.get(name) if isinstance(name, str) else None
        if number is None:
            guess = name if isinstance(name, str) else None
            remedy = spelling.remedy(guess, "name one that add_joint was given")
            faults.append(Fault(f"There is no joint {shown(name)} to cut", remedy, ("cut",), name))
        elif number in graph.reasons:
            why = graph.reasons[number]
            problem = f"Joint {name!r} cannot be cut, because {why}"
            faults.append(Fault(problem, "cut another one.", ("cut",), name, joint=name))
        else:
            found.add(number)
    return found


def _refuse_lost(
    graph: _Graph, through: list[int], left_out: set[int], faults: list[Fault]
) -> None:
    """Links that nothing carries: because of the cuts, or in any case."""
    lost = [k for k in range(graph.first_link, len(through)) if through[k] == _UNSEEN]
    if not lost:
        return
    uncut = carriers(len(graph.names), graph.edges, graph.closing)
    never = [graph.names[k] for k in lost if uncut[k] == _UNSEEN]
    severed = [graph.names[k] for k in lost if uncut[k] != _UNSEEN]
    if never:
        it, links = ("it", "link") if len(never) == 1 else ("them", "links")
        rods = " (a rod carries nothing)" if _touched_by_rods(graph, never) else ""
        faults.append(
            Fault(
                f"Nothing carries {links} {listed(never)}: no joint leads to {it} from "
                f"{GROUND!r}{rods}",
                f"join {it} to {GROUND!r} or to a body that is, by Free() if nothing holds {it}.",
            )
        )
    if severed:
        links = "link" if len(severed) == 1 else "links"
        cuts = [graph.name_of(number) for number in sorted(left_out)]
        joints = "joint" if len(cuts) == 1 else "joints"
        faults.append(
            Fault(
                f"Nothing carries {links} {listed(severed)} without {joints} {listed(cuts)}",
                "cut fewer joints.",
            )
        )


def _touched_by_rods(graph: _Graph, links: Collection[str]) -> bool:
    return any(
        not carries_bodies(x.joint) and (x.body_a in links or x.body_b in links)
        for x in graph.described.joints
    )


def _refuse_turned(
    graph: _Graph, through: list[int], left_out: set[int], faults: list[Fault]
) -> None:
    for number, k in _turned(graph, through):
        kind = graph.described.joints[number - graph.first_joint].joint.type_name
        otherwise = ", or cut another joint" if left_out else ""
        whose = subject("Joint", graph.name_of(number))
        problem = (
            f"{whose.words}: it carries its body_a {graph.names[k]!r}, but the coordinates of a "
            f"{kind} joint are those of body_b"
        )
        remedy = f"give body_a and body_b the other way round{otherwise}."
        faults.append(whose.fault(problem, remedy, "body_a"))


def _turned(graph: _Graph, through: list[int]) -> list[tuple[int, int]]:
    """Edges that carry their a but should not, and a."""
    ways = ((number, k) for k, number in enumerate(through) if number >= 0)
    return [(n, k) for n, k in ways if graph.edges[n].a == k and graph.edges[n].to_a > 0.0]


def _refuse_closing(graph: _Graph, through: list[int], faults: list[Fault]) -> None:
    """Joints that are left over although they cannot be cut."""
    used = set(through)
    for number, reason in graph.reasons.items():
        edge = graph.edges[number]
        if number in used or _UNSEEN in (through[edge.a], through[edge.b]):
            continue
        ring = sorted(_ring(graph, through, edge))
        others = [graph.name_of(n) for n in ring if n >= graph.first_joint]
        loop = f"the loop that it makes with {listed(others)}" if others else "a loop"
        why = f"{reason}, and none of those can be cut instead" if others else reason
        remedy = "change one of them" if others else "take another joint"
        whose = subject("Joint", graph.name_of(number))
        faults.append(
            whose.fault(f"{whose.words} cannot close {loop}, because {why}", f"{remedy}.")
        )


def _ring(graph: _Graph, through: list[int], edge: Edge) -> set[int]:
    """The edges of the tree between the ends of another edge."""
    paths: list[set[int]] = []
    for node in edge[:2]:
        paths.append(set())
        while node:
            paths[-1].add(through[node])
            node = graph.above(node, through)
    return paths[0] ^ paths[1]


# ---- bodies and loops ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _Places:
    """The body frames of links, in the axes that the links were described in."""

    number: dict[str, int]  # of each link
    rotation: Floats
    translation: Floats

    def moved(self, given: list[Any], body: str, translation: str, rotation: str) -> list[Any]:
        """The same things, placed in the body frames of the links they are fixed in.

        The last three are the names of their fields. What is no number is left as it was: the
        checks of the model will say so.
        """
        rows = [k for k, x in enumerate(given) if _text(getattr(x, body)) in self.number]
        links = [self.number[getattr(given[k], body)] for k in rows]
        shifts, turns = ([getattr(given[k], key) for k in rows] for key in (translation, rotation))
        origin, faults = read_column(shifts, (3,), translation, lambda k: MODEL)
        axes, more = read_rotations(turns, lambda k: MODEL)
        if faults or more or not rows:
            return [*given]
        back = self.rotation[links].transpose(0, 2, 1)
        origin = applied(back, origin - self.translation[links])
        axes = product(back, axes)
        found = list(given)
        for k, x, r in zip(rows, origin, axes, strict=True):
            found[k] = replace(given[k], **{translation: x, rotation: r})
        return found


def _as_bodies(
    graph: _Graph, through: list[int], frames: dict[str, Floats], columns: tuple[Floats, Floats]
) -> ModelBuilder:
    described = graph.described
    places = _places(graph, through, frames)
    joints = places.moved(described.joints, "body_a", "translation_a", "rotation_a")
    joints = places.moved(joints, "body_b", "translation_b", "rotation_b")
    loops = places.moved(described.loops, "body_a", "translation_a", "rotation_a")
    loops = places.moved(loops, "body_b", "translation_b", "rotation_b")
    back = places.rotation.transpose(0, 2, 1)
    com = applied(back, columns[0] - places.translation)
    inertia = product(product(back, columns[1]), places.rotation)
    bodies = places.moved(described.bodies, "parent", "translation", "rotation")
    for i, link in enumerate(described.links):
        number = through[graph.first_link + i]
        joint = joints[number - graph.first_joint]
        carried_by, turned = joint.joint, graph.edges[number].a == graph.first_link + i
        parent, at, axes = (
            (joint.body_b, joint.translation_b, joint.rotation_b)
            if turned
            else (joint.body_a, joint.translation_a, joint.rotation_a)
        )
        carried_by = replace(_reversed(carried_by) if turned else carried_by, name=joint.name)
        bodies.append(
            BodyDescription(link.name, parent, carried_by, at, axes, link.mass, com[i], inertia[i])
        )
    used = set(through)
    loops = loops + [x for x in joints if graph.joint[x.name] not in used]
    lists = {
        name: places.moved(getattr(described, name), "body", "translation", "rotation")
        for name in ("frames", "collisions")
    }
    return _with(described, bodies=bodies, loops=loops, links=[], joints=[], **lists)


def _places(graph: _Graph, through: list[int], frames: dict[str, Floats]) -> _Places:
    links = range(graph.first_link, len(through))
    numbers = [through[k] for k in links]
    ends = ["a" if graph.edges[n].a == k else "b" for k, n in zip(links, numbers, strict=True)]

    def column(label: str, shape: tuple[int, ...]) -> Floats:
        rows = [
            frames[f"{label}_{end}"][n - graph.first_joint]
            for end, n in zip(ends, numbers, strict=True)
        ]
        return np.array(rows, dtype=np.float64).reshape(-1, *shape)

    number = {link.name: i for i, link in enumerate(graph.described.links)}
    return _Places(number, _sharpened(column("rotation", (3, 3))), column("translation", (3,)))


def _sharpened(rotations: Floats) -> Floats:
    """The nearest rotations, by one step of Newton's; exact ones keep their bits.

    Otherwise what was rounded to 1e-9 in two places would be off by more in their product.
    """
    gram = product(rotations.transpose(0, 2, 1), rotations)
    return product(rotations, 1.5 * np.eye(3) - 0.5 * gram)


def _reversed(joint: Joint) -> Joint:
    """The joint seen from its other side, with the same q."""
    if isinstance(joint, Fixed):
        return joint
    axis = tuple(0.0 - float(x) for x in joint.axis)  # type: ignore[attr-defined]
    return replace(joint, axis=axis)  # type: ignore[call-arg]
