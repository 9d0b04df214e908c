"""What a person may write down as a forest, read into parent positions.

Each reader raises one TopologyError that lists every fault it can find.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from skodyn.errors import TopologyError
from skodyn.faults import Fault
from skodyn.topology.digraph import Digraph, Edge, sound_edges
from skodyn.topology.forest import (
    GROUND,
    IntArray,
    child_lists,
    cycle_faults,
    empty_name_faults,
    name_faults,
    parent_faults,
    preorder,
)
from skodyn.wording import Spelling, hashable_names, listed_items, listed_nodes, quote

__all__ = ["read_digraph", "read_edges", "read_names", "read_positions"]


def read_positions(
    parents: Iterable[int], names: Iterable[Hashable] | None
) -> tuple[IntArray, list[Hashable], IntArray]:
    """Parent positions, names and the preorder of the nodes."""
    above = listed_items(parents, "parents", "a list of positions, −1 for the ground")
    labels: list[Hashable] = list(range(len(above)))
    if names is not None:
        labels = hashable_names(listed_items(names, "names", "a list of names"))
    faults = name_faults(labels)
    if len(labels) != len(above):
        raise TopologyError([*faults, _uneven(len(labels), len(above))])
    for position, given in enumerate(above):
        try:
            above[position] = operator.index(given)
        except TypeError:
            above[position] = len(above)  # no position, hence a fault below
        if not GROUND <= above[position] < len(above):
            above[position] = GROUND  # provisional, so that the other faults are found too
            faults.append(
                Fault(
                    f"Node {quote(labels[position])} has the parent {given!r}",
                    f"give a position from 0 to {len(above) - 1}, or −1 for the ground.",
                )
            )
    array = np.array(above, dtype=np.int64)
    order = preorder(array)
    if len(order) < len(above):
        faults += cycle_faults(labels, child_lists(above))
    if faults:
        raise TopologyError(faults)
    return array, labels, order


def read_names(
    names: Iterable[Hashable], parent_names: Iterable[Hashable], ground: Hashable
) -> tuple[list[int], list[Hashable]]:
    """Parent positions and names, from the name of each node's parent."""
    labels = hashable_names(listed_items(names, "names", "a list of names"))
    above = hashable_names(listed_items(parent_names, "parent_names", "a list of names"))
    faults = name_faults(labels)
    if ground in labels:
        faults.append(
            Fault(f"A node is named {quote(ground)} like the ground", "rename one of the two.")
        )
    if len(labels) != len(above):
        raise TopologyError([*faults, _uneven(len(labels), len(above))])
    position: dict[Hashable, int] = {}
    for k, name in enumerate(labels):
        position.setdefault(name, k)
    position[ground] = GROUND
    spelling = Spelling(position)
    for name, parent in zip(labels, above, strict=True):
        if parent not in position:
            remedy = spelling.remedy(parent, f"add that node or attach to {quote(ground)}")
            faults.append(
                Fault(f"Node {quote(name)} has an unknown parent {quote(parent)}", remedy)
            )
    parents = [position.get(parent, GROUND) for parent in above]
    if faults:
        raise TopologyError(faults + cycle_faults(labels, child_lists(parents)))
    return parents, labels


def read_edges(
    nodes: Iterable[Hashable], edges: Iterable[Iterable[Hashable]]
) -> tuple[list[int], list[Hashable]]:
    """Parent positions and names, from (parent, child) pairs."""
    given = hashable_names(listed_nodes(nodes))
    pairs, faults = sound_edges(given, listed_items(edges, "edges", "(parent, child) pairs"))
    return _single_parents(given, pairs, faults)


def read_digraph(digraph: Digraph) -> tuple[list[int], list[Hashable]]:
    """Parent positions and names, from a digraph, whose edges are known to be sound."""
    if not isinstance(digraph, Digraph):
        raise TopologyError(f"digraph is {type(digraph).__name__}", "give a Digraph.")
    return _single_parents(digraph.nodes, digraph.edges, [])


def _single_parents(
    nodes: Sequence[Hashable], edges: Sequence[Edge], faults: list[Fault]
) -> tuple[list[int], list[Hashable]]:
    labels = list(dict.fromkeys(nodes))
    position = {name: k for k, name in enumerate(labels)}
    parents = [GROUND] * len(labels)
    for parent, child in edges:
        parents[position[child]] = position[parent]
    faults = empty_name_faults(nodes) + faults + parent_faults(edges)
    if faults:
        children: list[list[int]] = [[] for _ in labels]
        for parent, child in edges:
            children[position[parent]].append(position[child])
        raise TopologyError(faults + cycle_faults(labels, children))
    return parents, labels


def _uneven(n_names: int, n_parents: int) -> Fault:
    problem = f"There are {n_names} names but {n_parents} parents"
    return Fault(problem, "give one parent for each name.")
