"""Aggregated SKO models (Jain 2012-I section 6): a set of nodes 𝔖 becomes one node.

The aggregated node's block is as large as all its members' together (eq. 29), and

    𝔸(℘(𝔖), 𝔖) = E_𝔖·𝔸_𝔖      𝔸(𝔖, j) = ℬ_𝔖(j)      (eq. 31)
    H(𝔖) = H_𝔖·𝔸_𝔖            a(𝔖) = 𝔸_𝔖*·a_𝔖       (eqs. 37, 38)

while M and b stay as they are. Mass matrix, Coriolis vector and accelerations are unchanged
(Corollary 6.1); the interbody force of the new node is 𝔸_𝔖⁻¹·f_𝔖, from which f_𝔖 comes back.
Eqs. 40 and 41 print a where the underlined (transformed) a of eq. 38 is meant; with the plain one
𝒞 comes out wrong, as a test shows.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skodyn.sko.blocks import Blocks, Floats, Ints, stacked_columns
from skodyn.sko.model import SKOModel
from skodyn.sko.partition import dense_propagation, positions, submodel
from skodyn.topology import Subgraph, aggregate_tree, aggregation_subgraph, serial_segments

__all__ = ["AggregatedModel", "aggregate", "aggregate_segments", "aggregated_names"]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class AggregatedModel(SKOModel):
    """The SKO model of a coarser tree, and the way back to the finer one.

    node_order and dof_order: where each entry of a stacked vector, or of a vector of degrees of
    freedom, lies in the original's: x_here = x_there[order].
    """

    original: SKOModel
    name: Hashable  # of the aggregated node
    inside: SKOModel  # the members, as a model of their own
    node_order: Ints
    dof_order: Ints

    def to_original(self, x: ArrayLike) -> Floats:
        """Velocities or accelerations in the original's order: aggregation does not change them."""
        columns, shape = stacked_columns(x, self.size, "x")
        back = np.empty_like(columns)
        back[self.node_order] = columns
        return back.reshape(shape)

    def forces_to_original(self, f: ArrayLike) -> Floats:
        """Interbody forces in the original's order: f_𝔖 = 𝔸_𝔖·f(𝔖) inside the aggregated node."""
        columns, shape = stacked_columns(f, self.size, "f")
        whole = columns.copy()
        own = self.slice_at(self.tree.index_of(self.name))
        whole[own] = dense_propagation(self.inside) @ columns[own]
        return self.to_original(whole).reshape(shape)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        tree = self.original.tree
        members = [tree.handle(tree.index_of(name)) for name in self.inside.names]
        return aggregate, (self.original, members, self.name)


def aggregated_names(names: Iterable[Hashable]) -> str:
    """What the aggregated node is called unless told: its members, joined by +."""
    words = [str(name) for name in names]
    return "+".join(words) if len(words) <= 4 else f"{words[0]}+…+{words[-1]}"


def aggregate(
    model: SKOModel, nodes: Iterable[Hashable], name: Hashable | None = None
) -> AggregatedModel:
    """The model with these nodes as one; a TopologyError says why they cannot be one."""
    own = np.unique(model.tree.indices(nodes))
    name = aggregated_names(model.names[k] for k in own) if name is None else name
    coarse = aggregate_tree(model.tree, [model.tree.handle(k) for k in own.tolist()], name)
    inside = submodel(model, own)
    members = np.array([model.tree.index_of(n) for n in inside.names], dtype=np.int64)
    A = dense_propagation(inside)
    of_node = [np.array([k]) for k in range(coarse.tree.n)]
    for k, new in enumerate(coarse.node_of.tolist()):
        of_node[new] = members if new == coarse.node else np.array([k])
    order = np.concatenate(of_node)
    built = _assemble(model, coarse.tree, coarse.node, of_node, inside, A)
    result = object.__new__(AggregatedModel)
    result._fill(coarse.tree, *built)
    extra = {
        "original": model,
        "name": name,
        "inside": inside,
        "node_order": positions(model.node_starts, order),
        "dof_order": positions(model.dof_starts, order),
    }
    for key, value in extra.items():
        object.__setattr__(result, key, value)
    return result


def _assemble(
    model: SKOModel, tree: Any, new: int, of_node: list[Ints], inside: SKOModel, A: Floats
) -> tuple[Blocks, Blocks, Blocks, Floats, Floats]:
    """Weights, H, M, a and b of the coarser model (eqs. 31, 37, 38)."""
    weights, H, M, a, b = [], [], [], [], []
    for k in range(tree.n):
        own, parent = of_node[k], int(tree.parent[k])
        where = positions(model.node_starts, own)
        b.append(model.b[where])
        if k == new:
            weights.append(_outer_row(model, parent, inside) @ A)
            H.append(inside.H.dense() @ A)
            M.append(inside.M.dense())
            a.append(A.T @ model.a[where])
        else:
            weights.append(_inner_column(model, int(own[0]), parent == new, inside))
            H.append(model.H[int(own[0])])
            M.append(model.M[int(own[0])])
            a.append(model.a[where])
    join = np.concatenate
    none = [np.zeros(0)]
    return Blocks.of(weights), Blocks.of(H), Blocks.of(M), join(a + none), join(b + none)


def _outer_row(model: SKOModel, parent: int, inside: SKOModel) -> Floats:
    """E_𝔖: the members' weights towards the single parent; no rows if that is the ground."""
    tops = [model.tree.index_of(inside.names[k]) for k in inside.tree.bases]
    rows = 0 if parent < 0 else int(model.weights.rows[tops[0]])
    row = np.zeros((rows, inside.size))
    for k, top in zip(inside.tree.bases.tolist(), tops, strict=True):
        row[:, inside.slice_at(k)] = model.weights[top]
    return row


def _inner_column(model: SKOModel, k: int, below: bool, inside: SKOModel) -> Floats:
    """ℬ_𝔖(k): the weight of a child, in the rows of the member that was its parent."""
    if not below:
        return model.weights[k]
    column = np.zeros((inside.size, int(model.sizes[k])))
    member = inside.tree.index_of(model.names[int(model.tree.parent[k])])
    column[inside.slice_at(member)] = model.weights[k]
    return column


def aggregate_segments(model: SKOModel) -> SKOModel:
    """Every serial segment as one node (Jain 2012-I Fig. 6): the tree of segments."""
    segments = serial_segments(model.tree)
    groups = [[model.names[k] for k in segments.nodes(s)] for s in range(len(segments))]
    for names in groups:
        if len(names) > 1:
            tree = model.tree
            model = aggregate(model, [tree.handle(tree.index_of(name)) for name in names])
    return model


def least_aggregable(model: SKOModel, nodes: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Names of the least set that holds the nodes and can be aggregated (Lemma 6)."""
    found: Subgraph[int] = aggregation_subgraph(model.tree, nodes)
    return tuple(model.names[k] for k in found.nodes)
