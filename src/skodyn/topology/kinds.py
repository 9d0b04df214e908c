"""Is an argument the kind of graph that a function takes? If not, what to give instead."""

from __future__ import annotations

from typing import Any

from skodyn.errors import TopologyError
from skodyn.topology.digraph import Digraph
from skodyn.topology.tree import Tree

__all__ = ["check_digraph", "check_graph", "check_tree"]


def check_tree(tree: Any) -> None:
    if isinstance(tree, Digraph):
        raise TopologyError("tree is a Digraph", "give Tree.from_digraph(digraph).")
    if not isinstance(tree, Tree):
        raise TopologyError(f"tree is {type(tree).__name__}", "give a Tree.")


def check_digraph(digraph: Any) -> None:
    if isinstance(digraph, Tree):
        raise TopologyError("digraph is a Tree", "give tree.to_digraph().")
    if not isinstance(digraph, Digraph):
        raise TopologyError(f"digraph is {type(digraph).__name__}", "give a Digraph.")


def check_graph(graph: Any) -> None:
    if not isinstance(graph, (Tree, Digraph)):
        raise TopologyError(f"graph is {type(graph).__name__}", "give a Tree or a Digraph.")
