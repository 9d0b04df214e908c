"""Forests as lists of parents: their depth-first preorder, and the faults that prevent one."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skodyn.faults import Fault
from skodyn.topology.search import Adjacency, disjoint_cycles, reachable
from skodyn.wording import arrows, listed, quote

__all__ = [
    "GROUND",
    "IntArray",
    "child_lists",
    "cycle_faults",
    "empty_name_faults",
    "name_faults",
    "packed_arrays",
    "parent_faults",
    "preorder",
]

GROUND = -1  # the parent of a base; the ground itself is not a node

IntArray = NDArray[np.int64]


def preorder(parents: IntArray) -> IntArray:
    """Depth first from the ground, siblings as given; nodes on or below a cycle are left out."""
    grouped = np.argsort(parents, kind="stable")
    starts = np.searchsorted(parents[grouped], np.arange(-1, len(parents) + 1)).tolist()
    backward = grouped[::-1].tolist()  # siblings last to first, as a stack wants them
    n = len(backward)
    order: list[int] = []
    stack = backward[n - starts[1] :]
    while stack:
        node = stack.pop()
        order.append(node)
        stack += backward[n - starts[node + 2] : n - starts[node + 1]]
    return np.array(order, dtype=np.int64)


def packed_arrays(parents: IntArray, order: IntArray) -> dict[str, IntArray]:
    """The index arrays of a Tree, by field, from parents as given and their preorder."""
    n = len(order)
    place = np.empty(n + 1, dtype=np.int64)
    place[order] = np.arange(n)
    place[GROUND] = GROUND  # the last entry answers for index −1
    parent = place[parents[order]]

    above, level, size = parent.tolist(), [0] * n, [1] * n
    for k in range(n):
        if above[k] != GROUND:
            level[k] = level[above[k]] + 1
    for k in range(n - 1, -1, -1):
        if above[k] != GROUND:
            size[above[k]] += size[k]

    by_parent = np.argsort(parent, kind="stable")  # the children of the ground come first
    start = np.searchsorted(parent[by_parent], np.arange(n + 1))
    return {
        "order": order,
        "parent": parent,
        "bases": by_parent[: start[0]].copy(),
        "child_start": start - start[0],
        "child_index": by_parent[start[0] :].copy(),
        "level": np.array(level, dtype=np.int64),
        "subtree_end": np.arange(n) + np.array(size, dtype=np.int64),
    }


def child_lists(parents: Sequence[int]) -> list[list[int]]:
    """Children of every node; a parent that is the ground or does not exist is passed over."""
    children: list[list[int]] = [[] for _ in parents]
    for child, parent in enumerate(parents):
        if 0 <= parent < len(children):
            children[parent].append(child)
    return children


def empty_name_faults(names: Sequence[Hashable]) -> list[Fault]:
    """Names with nothing in them."""
    return [
        Fault(f"The node at position {position} has an empty name ({name!r})", "give it one.")
        for position, name in enumerate(names)
        if name is None or (isinstance(name, str) and not name.strip())
    ]


def name_faults(names: Sequence[Hashable]) -> list[Fault]:
    """Names that cannot tell nodes apart: empty or given more than once."""
    faults = empty_name_faults(names)
    places: dict[Hashable, list[int]] = {}
    if len(set(names)) < len(names):
        for position, name in enumerate(names):
            places.setdefault(name, []).append(position)
    for name, at in places.items():
        if len(at) > 1:
            faults.append(
                Fault(
                    f"The name {quote(name)} is given to {len(at)} nodes, at positions "
                    f"{listed(at)}",
                    "give each node a name of its own.",
                )
            )
    return faults


def parent_faults(edges: Sequence[tuple[Hashable, Hashable]]) -> list[Fault]:
    """Nodes with more than one parent, which no tree allows."""
    if len({child for _, child in edges}) == len(edges):
        return []
    given: dict[Hashable, list[Hashable]] = {}
    for parent, child in edges:
        given.setdefault(child, []).append(parent)
    return [
        Fault(
            f"Node {quote(child)} has {len(parents)} parents, {listed(parents)}",
            "a tree allows one, so keep one of these edges and treat the others as cut-edges.",
        )
        for child, parents in given.items()
        if len(parents) > 1
    ]


class NodeWords(NamedTuple):
    """What nodes and the ground are called in sentences."""

    node: str = "node"
    nodes: str = "nodes"
    ground: str = "the ground"


NODES = NodeWords()


def cycle_faults(
    names: Sequence[Hashable], children: Adjacency, words: NodeWords = NODES
) -> list[Fault]:
    """The cycles, in full, and the nodes that only a cycle leads to; paths are their positions."""
    has_parent = [False] * len(children)
    for below in children:
        for child in below:
            has_parent[child] = True
    grounded = reachable(children, [k for k, flag in enumerate(has_parent) if not flag])
    cycles = disjoint_cycles(children)

    faults = []
    found = list(grounded)
    hanging: dict[int, int] = {}  # node -> first node of the cycle it hangs from
    for cycle in cycles:
        in_full, first = arrows(names[k] for k in [*cycle, cycle[0]]), cycle[0]
        if len(cycle) > 1:
            problem = f"The {words.nodes} {in_full} form a cycle"
            other = f"to a {words.node} outside the cycle"
            remedy = f"attach one of them to {words.ground} or {other}."
        else:
            problem = (
                f"{words.node.capitalize()} {quote(names[first])} is its own parent, {in_full}"
            )
            remedy = f"attach it to {words.ground} or to another {words.node}."
        faults.append(Fault(problem, remedy, (first,)))
        for k in cycle:
            found[k] = True
    for cycle in cycles:
        stack = list(cycle)
        while stack:
            for child in children[stack.pop()]:
                if not found[child]:
                    found[child] = True
                    hanging[child] = cycle[0]
                    stack.append(child)
    faults += [
        Fault(
            f"{words.node.capitalize()} {quote(names[k])} cannot be reached from the ground, "
            f"because it hangs from the cycle through {quote(names[hanging[k]])}",
            "open that cycle.",
            (k,),
        )
        for k in sorted(hanging)
    ]
    return faults
