"""Contraction of nodes of a digraph into one (Jain 2012-I section 5.1)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from skodyn.errors import TopologyError
from skodyn.topology.digraph import Digraph
from skodyn.topology.kinds import check_digraph
from skodyn.wording import listed_nodes, quote

__all__ = ["aggregate_digraph", "contract_edge", "contract_nodes", "name_taken"]


def aggregate_digraph(digraph: Digraph, nodes: Iterable[Hashable], name: Hashable) -> Digraph:
    """𝔗_𝔖: contract all the nodes into one, which inherits their other parents and children.

    Edges between the nodes vanish, so only the set of nodes matters, not which of those edges
    a subgraph holds (Jain 2012-I Lemma 3). The result need not be a tree, nor even acyclic.
    The new node stands where the first of its members stood and may take a member's name.
    """
    check_digraph(digraph)
    own = {digraph.nodes[digraph.index_of(node)] for node in listed_nodes(nodes)}
    if not own:
        raise TopologyError("No nodes were given to aggregate", "name at least one.")
    if name in digraph.nodes and name not in own:
        raise TopologyError(name_taken(name))
    new = {node: name if node in own else node for node in digraph.nodes}
    moved = ((new[parent], new[child]) for parent, child in digraph.edges)
    edges = dict.fromkeys(edge for edge in moved if edge[0] != edge[1])
    return Digraph(dict.fromkeys(new.values()), edges)


def contract_nodes(digraph: Digraph, a: Hashable, b: Hashable, name: Hashable) -> Digraph:
    """Node-contraction: replace two nodes, joined by an edge or not, by one."""
    return aggregate_digraph(digraph, (a, b), name)


def contract_edge(digraph: Digraph, parent: Hashable, child: Hashable, name: Hashable) -> Digraph:
    """Edge-contraction: collapse the two nodes of an edge; a tree stays a tree."""
    check_digraph(digraph)
    if child not in digraph.children(parent):
        raise TopologyError(
            f"There is no edge {quote(parent)} → {quote(child)}",
            "use contract_nodes for nodes that no edge joins.",
        )
    return contract_nodes(digraph, parent, child, name)


def name_taken(name: Hashable) -> str:
    """The sentence for an aggregated node whose name another node already has."""
    return f"The name {quote(name)} belongs to a node that is not aggregated; choose another one."
