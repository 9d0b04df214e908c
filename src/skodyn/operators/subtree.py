"""A connected subtree of an SKO model as an SKO model of its own."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from skodyn.errors import StateError
from skodyn.operators.block_algebra import select
from skodyn.sko import Blocks, SKOModel
from skodyn.sko.blocks import Floats, Ints
from skodyn.topology import Tree
from skodyn.topology.subgraph import members
from skodyn.topology.wording import listed

__all__ = ["connected", "restricted"]


def connected(tree: Tree, nodes: Iterable[Hashable]) -> Ints:
    """The packed indices of a set of nodes with one root; any other set is refused."""
    if isinstance(nodes, str):
        raise StateError(f"bodies is {nodes!r}; give a list of names.")
    own = members(tree, nodes)
    chosen = np.flatnonzero(own)
    if not len(chosen):
        raise StateError("bodies is empty; give the names of a connected subtree.")
    above = tree.parent[chosen]
    roots = chosen[(above < 0) | ~own[above]]
    if len(roots) > 1:
        names = listed([tree.names[k] for k in roots.tolist()])
        raise StateError(
            f"These bodies are not connected: {names} have their parents outside; add the bodies "
            "between them, or make operators for each part."
        )
    return chosen


def restricted(model: SKOModel, chosen: Ints) -> SKOModel:
    """The model of some nodes, given in packed order; weights out of the set are dropped."""
    place = np.full(model.n_nodes, -1)
    place[chosen] = np.arange(len(chosen))
    above = model.tree.parent[chosen]
    parents = np.where(above < 0, -1, place[above])
    tree = Tree(parents.tolist(), [model.names[k] for k in chosen.tolist()])
    assert (tree.order == np.arange(len(chosen))).all()  # a part of a preorder is in preorder
    weights = select(model.weights, chosen)
    inner = parents >= 0
    kept = Blocks(
        weights.data[np.repeat(inner, weights.rows * weights.cols)],
        np.where(inner, weights.rows, 0),
        weights.cols,
    )
    a, b = (_part(model, x, chosen) for x in (model.a, model.b))
    return SKOModel.from_packed(tree, kept, select(model.H, chosen), select(model.M, chosen), a, b)


def _part(model: SKOModel, x: Floats, chosen: Ints) -> Floats:
    return np.concatenate([x[model.node_slice(k)] for k in chosen.tolist()])
