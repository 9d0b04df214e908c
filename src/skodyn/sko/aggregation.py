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

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skodyn.errors import StateError
from skodyn.sko.blocks import Blocks, Floats, Ints, stacked_columns
from skodyn.sko.model import SKOModel
from skodyn.sko.partition import dense_propagation, positions, submodel
from skodyn.sko.way_back import Coarser
from skodyn.topology import Subgraph, aggregate_groups, aggregation_subgraph, serial_segments
from skodyn.wording import listed

__all__ = ["AggregatedModel", "aggregate", "aggregate_segments", "aggregate_several"]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class AggregatedModel(Coarser):
    """The SKO model of a coarser tree, and the way back to the finer one.

    node_order and dof_order: where each entry of a stacked vector, or of a vector of degrees of
    freedom, lies in the original's: x_here = x_there[order].
    """

    original: SKOModel
    insides: Mapping[Hashable, SKOModel]  # by name: the members, as a model of their own
    node_order: Ints
    dof_order: Ints

    @property
    def name(self) -> Hashable:
        """Of the aggregated node, if there is one."""
        return self._only[0]

    @property
    def inside(self) -> SKOModel:
        """The members of the aggregated node, if there is one, as a model of their own."""
        return self._only[1]

    @property
    def _only(self) -> tuple[Hashable, SKOModel]:
        if len(self.insides) != 1:
            raise StateError(
                f"This model has {len(self.insides)} aggregated nodes, {listed([*self.insides])}",
                "ask for one of `insides`.",
            )
        return next(iter(self.insides.items()))

    def to_original(self, x: ArrayLike) -> Floats:
        """Velocities or accelerations in the original's order: aggregation does not change them."""
        return _put_back(x, self.node_order, "x")

    def forces_to_original(self, f: ArrayLike) -> Floats:
        """Interbody forces in the original's order: f_𝔖 = 𝔸_𝔖·f(𝔖) inside an aggregated node."""
        columns, shape = stacked_columns(f, self.size, "f")
        whole = columns.copy()
        for name, inside in self.insides.items():
            own = self.slice_at(self.tree.index_of(name))
            whole[own] = dense_propagation(inside) @ columns[own]
        return self.to_original(whole).reshape(shape)

    def velocities_to_original(self, v: ArrayLike) -> Floats:
        """θ̇ in the original's order; it is the same numbers."""
        return _put_back(v, self.dof_order, "v")

    def accelerations_to_original(self, vdot: ArrayLike) -> Floats:
        """θ̈ in the original's order."""
        return _put_back(vdot, self.dof_order, "vdot")

    def torques_to_original(self, tau: ArrayLike) -> Floats:
        """𝒯 in the original's order."""
        return _put_back(tau, self.dof_order, "tau")

    def torques_from_original(self, tau: ArrayLike) -> Floats:
        """𝒯 of the original in this model's order."""
        columns, shape = stacked_columns(tau, self.nv, "tau")
        return columns[self.dof_order].reshape(shape)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        tree = self.original.tree
        groups = {
            name: [tree.handle(tree.index_of(member)) for member in inside.names]
            for name, inside in self.insides.items()
        }
        return aggregate_several, (self.original, groups)


def _put_back(x: ArrayLike, order: Ints, name: str) -> Floats:
    columns, shape = stacked_columns(x, len(order), name)
    back = np.empty_like(columns)
    back[order] = columns
    return back.reshape(shape)


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
    return aggregate_several(model, {name: [model.tree.handle(k) for k in own.tolist()]})


def aggregate_several(
    model: SKOModel, groups: Mapping[Hashable, Iterable[Hashable]]
) -> AggregatedModel:
    """The model with each of these groups of nodes as one node, by name; they share no node."""
    if not isinstance(groups, Mapping) or not groups:
        raise StateError(f"groups is {groups!r}", "give a dict with a list of nodes for each name.")
    listed_groups = {name: list(nodes) for name, nodes in groups.items()}
    coarse = aggregate_groups(model.tree, listed_groups.items())
    insides = {
        name: submodel(model, np.unique(model.tree.indices(nodes)))
        for name, nodes in listed_groups.items()
    }
    of_node: list[Ints] = [np.array([k]) for k in range(coarse.tree.n)]
    for k, new in enumerate(coarse.node_of.tolist()):
        of_node[new] = np.array([k])
    for name, inside in insides.items():
        members = [model.tree.index_of(n) for n in inside.names]
        of_node[coarse.tree.index_of(name)] = np.array(members, dtype=np.int64)
    order = np.concatenate([*of_node, np.zeros(0, dtype=np.int64)])
    result = object.__new__(AggregatedModel)
    result._fill(coarse.tree, *_assemble(model, coarse.tree, of_node, insides))
    extra = {
        "original": model,
        "insides": insides,
        "node_order": positions(model.node_starts, order),
        "dof_order": positions(model.dof_starts, order),
    }
    for key, value in extra.items():
        object.__setattr__(result, key, value)
    return result


def _assemble(
    model: SKOModel, tree: Any, of_node: list[Ints], insides: Mapping[Hashable, SKOModel]
) -> tuple[Blocks, Blocks, Blocks, Floats, Floats]:
    """Weights, H, M, a and b of the coarser model (eqs. 31, 37, 38)."""
    weights, H, M, a, b = [], [], [], [], []
    for k, own in enumerate(of_node):
        where = positions(model.node_starts, own)
        b.append(model.b[where])
        inside, parent = insides.get(tree.names[k]), int(tree.parent[k])
        above = insides.get(tree.names[parent]) if parent >= 0 else None
        if inside is not None:
            A = dense_propagation(inside)
            weights.append(_seen_from(model, own, above, _outer_row(model, inside) @ A))
            H.append(inside.H.dense() @ A)
            M.append(inside.M.dense())
            a.append(A.T @ model.a[where])
        else:
            weights.append(_seen_from(model, own, above, model.weights[int(own[0])]))
            H.append(model.H[int(own[0])])
            M.append(model.M[int(own[0])])
            a.append(model.a[where])
    join, none = np.concatenate, [np.zeros(0)]
    return Blocks.of(weights), Blocks.of(H), Blocks.of(M), join(a + none), join(b + none)


def _outer_row(model: SKOModel, inside: SKOModel) -> Floats:
    """E_𝔖: the members' weights towards the single parent; no rows if that is the ground."""
    tops = [model.tree.index_of(inside.names[k]) for k in inside.tree.bases]
    row = np.zeros((int(model.weights.rows[tops[0]]), inside.size))
    for k, top in zip(inside.tree.bases.tolist(), tops, strict=True):
        row[:, inside.slice_at(k)] = model.weights[top]
    return row


def _seen_from(model: SKOModel, own: Ints, above: SKOModel | None, weight: Floats) -> Floats:
    """ℬ_𝔖: a weight in the rows of the member of an aggregated node that was the parent."""
    if above is None:
        return weight
    column = np.zeros((above.size, weight.shape[1]))
    parent = ({int(model.tree.parent[k]) for k in own} - set(own.tolist())).pop()
    member = above.tree.index_of(model.names[parent])
    column[above.slice_at(member)] = weight
    return column


def aggregate_segments(model: SKOModel) -> AggregatedModel:
    """Every serial segment as one node (Jain 2012-I Fig. 6): the tree of segments, in one step."""
    segments = serial_segments(model.tree)
    groups = {}
    for s in range(len(segments)):
        own = segments.nodes(s)
        names = [model.names[k] for k in own]
        name = aggregated_names(names) if len(names) > 1 else names[0]
        groups[name] = [model.tree.handle(k) for k in own]
    if len(groups) < len(segments):  # two long ones that end alike
        groups = {
            model.names[segments.nodes(s)[0]]: [model.tree.handle(k) for k in segments.nodes(s)]
            for s in range(len(segments))
        }
    return aggregate_several(model, groups)


def least_aggregable(model: SKOModel, nodes: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Names of the least set that holds the nodes and can be aggregated (Lemma 6)."""
    found: Subgraph[int] = aggregation_subgraph(model.tree, nodes)
    return tuple(model.names[k] for k in found.nodes)
