"""Aggregation of nodes of a tree into one (Jain 2012-I sections 5.2 and 5.3).

The ground may be the common parent but is never aggregated. The paper's Assumption 1 needs
exactly that reading: with the root itself in 𝔖, ℘(𝔖) may be empty (all of a tree) or hold one
node that is no ancestor of the root (root and grandchild), and then "necessarily" fails. Here
each node of 𝔖 has a parent, and on the way to the ground 𝔖 is left through ℘(𝔖), so a single
parent is an ancestor of all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from skodyn.errors import TopologyError
from skodyn.faults import Fault
from skodyn.topology.contraction import name_taken
from skodyn.topology.forest import GROUND, IntArray
from skodyn.topology.kinds import check_tree
from skodyn.topology.subgraph import (
    Flags,
    Subgraph,
    members,
    outboard,
    toward_ground,
    tree_subgraph,
)
from skodyn.topology.tree import Tree
from skodyn.wording import listed, quote

__all__ = [
    "Aggregation",
    "AggregationCondition",
    "aggregate_groups",
    "aggregate_tree",
    "aggregation_condition",
    "aggregation_subgraph",
]


@dataclass(frozen=True)
class AggregationCondition:
    """Whether nodes can be aggregated so that the tree stays a tree; true when they can."""

    parents: tuple[int, ...]  # ℘(𝔖), packed and ascending; −1 is the ground
    reason: str

    @property
    def parent(self) -> int | None:
        """The single parent (−1 for the ground), or None when the condition fails."""
        return self.parents[0] if self else None

    def __bool__(self) -> bool:
        return len(self.parents) == 1


def aggregation_condition(tree: Tree, nodes: Iterable[Hashable]) -> AggregationCondition:
    """Do the nodes have exactly one parent outside themselves? (Jain 2012-I Assumption 1)

    Being induced is understood: a set of nodes stands for its induced subgraph (Lemma 3).
    """
    check_tree(tree)
    return _condition(tree, members(tree, nodes))


def _condition(tree: Tree, own: Flags) -> AggregationCondition:
    if not own.any():
        return AggregationCondition((), "No nodes were given to aggregate; name at least one.")
    above = np.unique(tree.parent[own])
    parents = tuple(above[(above == GROUND) | ~own[above]].tolist())
    named = ["the ground" if p == GROUND else quote(tree.names[p]) for p in parents]
    missing = np.flatnonzero(outboard(tree, own) & toward_ground(tree, own) & ~own)
    if len(parents) == 1:
        reason = f"The nodes have the single parent {named[0]}."
    elif len(missing):
        reason = (
            "Paths between the nodes pass through "
            f"{listed([tree.names[k] for k in missing])}; aggregate those too."
        )
    else:
        reason = (
            f"The nodes have {len(parents)} parents, {', '.join(named[:-1])} and {named[-1]}; "
            "aggregate the nodes of aggregation_subgraph instead."
        )
    return AggregationCondition(parents, reason)


def aggregation_subgraph(tree: Tree, nodes: Iterable[Hashable]) -> Subgraph[int]:
    """𝔖_A: the least subgraph that holds the nodes and can be aggregated (Jain 2012-I Lemma 6).

    Lemma 6.3 takes the smallest subtree that holds 𝔖 and drops its root c, the closest common
    ancestor. That is incomplete: if c is itself in 𝔖 (a single node, a connected piece), it must
    stay, and the dropped root is the parent of c.

    Proof. A set that holds 𝔖 and has the single parent p holds all nodes strictly below p on
    the paths to 𝔖. It is least when p is deepest; p is a common ancestor outside the set, so
    that is c if c ∉ 𝔖, and the parent of c if c ∈ 𝔖.
    """
    check_tree(tree)
    own = members(tree, nodes)
    given = np.flatnonzero(own)
    if not len(given):
        return tree_subgraph(tree, own)
    # in preorder, what is common to the first and the last node is common to all between them
    c = tree.meeting(int(given[0]), int(given[-1]))
    top = c if c != GROUND and own[c] else c + 1
    return tree_subgraph(tree, toward_ground(tree, own) & (np.arange(tree.n) >= top))


@dataclass(frozen=True, eq=False)
class Aggregation:
    """A coarser tree, the packed index of its aggregated node, and where each old node went."""

    tree: Tree
    node: int
    node_of: IntArray  # (n of the old tree,): packed index in `tree`


def aggregate_tree(tree: Tree, nodes: Iterable[Hashable], name: Hashable) -> Aggregation:
    """Aggregate nodes that satisfy the condition into one; a tree results (Jain 2012-I Lemma 5).

    The new node stands where the first of its members stood and may take a member's name.
    """
    return aggregate_groups(tree, [(name, nodes)])


def aggregate_groups(
    tree: Tree, groups: Iterable[tuple[Hashable, Iterable[Hashable]]]
) -> Aggregation:
    """Aggregate several sets of nodes that share none, each into one node, all at once.

    Each must satisfy the condition. Aggregating one of them changes nothing for another: its single
    parent is still one, be it inside the new node. `node` is that of the last group.
    """
    check_tree(tree)
    kept, first = np.ones(tree.n, dtype=np.bool_), np.arange(tree.n)
    taken: Flags = np.zeros(tree.n, dtype=np.bool_)
    names, last, faults = list(tree.names), -1, []
    for name, nodes in groups:
        own = members(tree, nodes)
        condition = _condition(tree, own)
        if not condition:
            faults.append(Fault(condition.reason))
            continue
        if (taken & own).any():
            twice = [tree.names[k] for k in np.flatnonzero(taken & own)]
            faults.append(
                Fault(f"{listed(twice)} cannot be in two groups", "leave it in one of them.")
            )
        last = int(np.argmax(own))  # in preorder the topmost, so its parent is the single one
        taken |= own
        kept[own], kept[last] = False, True
        first[own], names[last] = last, name
    if faults:
        raise TopologyError(faults)
    place = (np.cumsum(kept) - 1)[first]
    above = tree.parent[kept]
    parents = np.where(above == GROUND, GROUND, place[above])
    left = [names[k] for k in np.flatnonzero(kept).tolist()]
    counts = Counter(left)
    if len(counts) < len(left):
        raise TopologyError([name_taken(name) for name, count in counts.items() if count > 1])
    coarse = tree.derived(parents.tolist(), left)
    node_of = np.argsort(coarse.order)[place]
    node_of.setflags(write=False)
    return Aggregation(coarse, int(node_of[last]), node_of)
