"""The tree of a mechanism: what carries each link, and why a graph may have none."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from skodyn.conventions import GROUND
from skodyn.faults import Fault, shown
from skodyn.model.joint_checks import carries_bodies
from skodyn.model.mechanisms.mechanism_graph import UNSEEN, Edge, Graph, carriers
from skodyn.model.subjects import subject
from skodyn.wording import Spelling, listed

__all__ = ["find_tree"]


def find_tree(graph: Graph, cut: Sequence[Any], faults: list[Fault]) -> list[int]:
    """The edge that carries each node (see `carriers`)."""
    left_out = _cut_numbers(graph, cut, faults)
    through = _unlocked(graph, left_out | graph.closing)
    _refuse_lost(graph, through, left_out, faults)
    _refuse_turned(graph, through, left_out, faults)
    _refuse_closing(graph, through, faults)
    return through


def _unlocked(graph: Graph, left_out: set[int]) -> list[int]:
    """The tree, in which welds do not carry what a joint could carry that welds would lock.

    A joint that closes a loop of welds would be refused; if it carries, one of them closes it.
    """
    edges, n = graph.edges, len(graph.names)
    through = carriers(n, edges, left_out)
    while locked := _locked(graph, edges, through, left_out):
        edges = [e._replace(kept=e.kept or k in locked) for k, e in enumerate(edges)]
        other = carriers(n, edges, left_out)
        if other.count(UNSEEN) > through.count(UNSEEN) or _turned(graph, other):
            break
        through = other
    return through


def _locked(
    graph: Graph, edges: Sequence[Edge], through: list[int], left_out: set[int]
) -> set[int]:
    """Joints that move, are left over and could be kept, but only welds lie between their ends."""
    used = set(through)
    if all(edges[number].weight for number in used if number >= graph.first_joint):
        return set()
    return {
        number
        for number, edge in enumerate(edges)
        if number not in used and number not in left_out and edge.weight and not edge.kept
        if UNSEEN not in (through[edge.a], through[edge.b])
        if not any(graph.freedom[k] for k in _ring(graph, through, edge))
    }


# ---- what is wrong with the graph ---------------------------------------------------------------


def _cut_numbers(graph: Graph, cut: Sequence[Any], faults: list[Fault]) -> set[int]:
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


def _refuse_lost(graph: Graph, through: list[int], left_out: set[int], faults: list[Fault]) -> None:
    """Links that nothing carries: because of the cuts, or in any case."""
    lost = [k for k in range(graph.first_link, len(through)) if through[k] == UNSEEN]
    if not lost:
        return
    uncut = carriers(len(graph.names), graph.edges, graph.closing)
    never = [graph.names[k] for k in lost if uncut[k] == UNSEEN]
    severed = [graph.names[k] for k in lost if uncut[k] != UNSEEN]
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


def _touched_by_rods(graph: Graph, links: Collection[str]) -> bool:
    return any(
        not carries_bodies(x.joint) and (x.body_a in links or x.body_b in links)
        for x in graph.described.joints
    )


def _refuse_turned(
    graph: Graph, through: list[int], left_out: set[int], faults: list[Fault]
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


def _turned(graph: Graph, through: list[int]) -> list[tuple[int, int]]:
    """Edges that carry their a but should not, and a."""
    ways = ((number, k) for k, number in enumerate(through) if number >= 0)
    return [(n, k) for n, k in ways if graph.edges[n].a == k and graph.edges[n].to_a > 0.0]


def _refuse_closing(graph: Graph, through: list[int], faults: list[Fault]) -> None:
    """Joints that are left over although they cannot be cut."""
    used = set(through)
    for number, reason in graph.reasons.items():
        edge = graph.edges[number]
        if number in used or UNSEEN in (through[edge.a], through[edge.b]):
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


def _ring(graph: Graph, through: list[int], edge: Edge) -> set[int]:
    """The edges of the tree between the ends of another edge."""
    paths: list[set[int]] = []
    for node in edge[:2]:
        paths.append(set())
        while node:
            paths[-1].add(through[node])
            node = graph.above(node, through)
    return paths[0] ^ paths[1]
