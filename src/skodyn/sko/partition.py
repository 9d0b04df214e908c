"""Partitioned SKO models (Jain 2012-I section 4): child, own and parent sub-forests.

A path-induced set of nodes 𝔖 splits the tree into three sub-forests (Lemma 1), each with an SKO
model of its own: 𝒞, the further descendants of 𝔖; 𝔖 itself; 𝒫, all the rest. What is left of ℰ
are two connectors: ℬ_𝔖 on the edges from 𝒞 into 𝔖 and E_𝔖 on those from 𝔖 into 𝒫.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from skodyn import topology
from skodyn.errors import StateError
from skodyn.forks import cached_property
from skodyn.sko.blocks import Blocks, Floats, Ints
from skodyn.sko.model import SKOModel
from skodyn.sko.sweeps import gather, pass_inward, scatter
from skodyn.wording import listed

__all__ = ["PartitionedModel", "dense_kernel", "dense_propagation", "partition", "submodel"]


def submodel(model: SKOModel, nodes: Ints) -> SKOModel:
    """The SKO model of some nodes alone, given by ascending packed index; cut edges are dropped."""
    place = np.full(model.n_nodes + 1, -1)  # the last entry answers for the ground
    place[nodes] = np.arange(len(nodes))
    parents = place[model.tree.parent[nodes]]
    tree = model.tree.derived(parents.tolist(), [model.names[k] for k in nodes])
    chosen = nodes[tree.order]
    cut = tree.parent < 0
    weights = [np.zeros((0, model.sizes[k])) if base else model.weights[k]
               for k, base in zip(chosen, cut, strict=True)]  # fmt: skip
    where = positions(model.node_starts, chosen)
    return SKOModel.from_packed(
        tree,
        Blocks.of(weights),
        Blocks.of(model.H[k] for k in chosen),
        Blocks.of(model.M[k] for k in chosen),
        model.a[where],
        model.b[where],
    )


def positions(starts: Ints, nodes: Iterable[int]) -> Ints:
    """Where the parts of these nodes lie in a stacked vector, one after the other."""
    pieces = [np.arange(starts[k], starts[k + 1]) for k in nodes]
    return np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.int64)


def dense_kernel(model: SKOModel) -> Floats:
    """ℰ written out, in packed order."""
    return pass_inward(model.tree, model.weights, np.eye(model.size))


def dense_propagation(model: SKOModel) -> Floats:
    """𝔸 = (I − ℰ)⁻¹ written out, in packed order."""
    return gather(model.tree, model.weights, np.eye(model.size))


@dataclass(frozen=True, eq=False, repr=False)
class PartitionedModel:
    """Three SKO models and what connects them. A part without nodes is an empty model.

    Matrices and vectors of the whole are in the order child, own, parent; `node_order` and
    `dof_order` say where each of their entries lies in the original's packed order.
    """

    model: SKOModel  # the whole
    child: SKOModel  # 𝒞
    own: SKOModel  # 𝔖
    parent: SKOModel  # 𝒫

    @cached_property
    def _nodes(self) -> list[int]:
        parts = (self.child, self.own, self.parent)
        return [self.model.tree.index_of(name) for part in parts for name in part.names]

    @cached_property
    def node_order(self) -> Ints:
        """Positions in the original's stacked vectors."""
        return positions(self.model.node_starts, self._nodes)

    @cached_property
    def dof_order(self) -> Ints:
        """Positions in the original's vectors of degrees of freedom."""
        return positions(self.model.dof_starts, self._nodes)

    @cached_property
    def inner_connector(self) -> Floats:
        """ℬ_𝔖: how nodes of 𝔖 see their children in 𝒞; own.size × child.size."""
        return self._connector(self.own, self.child)

    @cached_property
    def outer_connector(self) -> Floats:
        """E_𝔖: how nodes of 𝒫 see their children in 𝔖; parent.size × own.size."""
        return self._connector(self.parent, self.own)

    def _connector(self, inner: SKOModel, outer: SKOModel) -> Floats:
        whole = self.model
        matrix = np.zeros((inner.size, outer.size))
        above = set(inner.names)
        for name in outer.names:
            k = whole.tree.index_of(name)
            p = whole.tree.parent[k]
            if p >= 0 and whole.names[p] in above:
                rows = inner.slice_at(inner.tree.index_of(whole.names[p]))
                columns = outer.slice_at(outer.tree.index_of(name))
                matrix[rows, columns] = whole.weights[k]
        return matrix

    def kernel_operator(self) -> Floats:
        """ℰ from the parts (eq. 22), dense."""
        c, s, p = self.child.size, self.own.size, self.parent.size
        return np.block(
            [
                [dense_kernel(self.child), np.zeros((c, s)), np.zeros((c, p))],
                [self.inner_connector, dense_kernel(self.own), np.zeros((s, p))],
                [np.zeros((p, c)), self.outer_connector, dense_kernel(self.parent)],
            ]
        )

    def propagation_operator(self) -> Floats:
        """𝔸 from the parts (eq. 24, Lemma 2), dense."""
        A_c, A_s, A_p = (dense_propagation(m) for m in (self.child, self.own, self.parent))
        below = A_s @ self.inner_connector @ A_c
        c, s, p = len(A_c), len(A_s), len(A_p)
        return np.block(
            [
                [A_c, np.zeros((c, s)), np.zeros((c, p))],
                [below, A_s, np.zeros((s, p))],
                [A_p @ self.outer_connector @ below, A_p @ self.outer_connector @ A_s, A_p],
            ]
        )

    @cached_property
    def X(self) -> Floats:
        """What couples the outer part's freedoms with the inner's in 𝓜 (eqs. 26, 27), dense.

        X = H_𝔖𝔸_𝔖M_𝔖𝔸_𝔖*E_𝔖*𝔸_𝒫*H_𝒫*, by sweeps over both parts.
        """
        seen = self._outer_momentum
        return self.own.H.apply(gather(self.own.tree, self.own.weights, seen))

    @cached_property
    def Y(self) -> Floats:
        """What the outer part adds to the mass matrix of the inner (eqs. 26, 27), dense.

        Y = H_𝒫𝔸_𝒫E_𝔖𝔸_𝔖M_𝔖𝔸_𝔖*E_𝔖*𝔸_𝒫*H_𝒫*.
        """
        inward = self.outer_connector @ gather(
            self.own.tree, self.own.weights, self._outer_momentum
        )
        return self.parent.H.apply(gather(self.parent.tree, self.parent.weights, inward))

    @cached_property
    def _outer_momentum(self) -> Floats:
        """M_𝔖𝔸_𝔖*E_𝔖*𝔸_𝒫*H_𝒫*: momenta of the outer part for unit rates of the inner."""
        if self.child.n_nodes:
            raise StateError(
                "Eqs. 26 and 27 are for an outer and an inner part, but nodes lie further out, "
                f"{listed(self.child.names, limit=4)}",
                "add them to the outer part.",
            )
        rates = scatter(self.parent.tree, self.parent.weights, self.parent.H.dense().T)
        moved = scatter(self.own.tree, self.own.weights, self.outer_connector.T @ rates)
        return self.own.M.apply(moved)

    def __repr__(self) -> str:
        counts = [m.n_nodes for m in (self.child, self.own, self.parent)]
        return "<PartitionedModel: {} child, {} own, {} parent nodes>".format(*counts)


def partition(model: SKOModel, nodes: Iterable[Hashable]) -> PartitionedModel:
    """Split a model by a path-induced set of nodes; a TopologyError names what is missing of it."""
    parts = topology.partition(model.tree, nodes)
    pieces = (submodel(model, part) for part in (parts.child, parts.own, parts.parent))
    return PartitionedModel(model, *pieces)
