"""Digraphs, trees and their subgraphs: how bodies hang together, without any physics.

`Tree` is what the rest of the package runs on; `Digraph` is where a general graph starts.
"""

from skodyn.topology.aggregation import (
    Aggregation,
    AggregationCondition,
    aggregate_groups,
    aggregate_tree,
    aggregation_condition,
    aggregation_subgraph,
)
from skodyn.topology.contraction import aggregate_digraph, contract_edge, contract_nodes
from skodyn.topology.digraph import Digraph
from skodyn.topology.loops import Group, cycle, groups, span
from skodyn.topology.parts import Partition, partition
from skodyn.topology.segments import Segments, serial_segments
from skodyn.topology.spanning import SpanningTree, spanning_tree
from skodyn.topology.subgraph import (
    Subgraph,
    induced_subgraph,
    is_induced,
    is_path_induced,
    path_induced_subgraph,
)
from skodyn.topology.tree import Tree

__all__ = [
    "Aggregation",
    "AggregationCondition",
    "Digraph",
    "Group",
    "Partition",
    "Segments",
    "SpanningTree",
    "Subgraph",
    "Tree",
    "aggregate_digraph",
    "aggregate_groups",
    "aggregate_tree",
    "aggregation_condition",
    "aggregation_subgraph",
    "contract_edge",
    "contract_nodes",
    "cycle",
    "groups",
    "induced_subgraph",
    "is_induced",
    "is_path_induced",
    "partition",
    "path_induced_subgraph",
    "serial_segments",
    "span",
    "spanning_tree",
]
