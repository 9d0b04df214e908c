"""Is a set of bodies a connected subtree?"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from skodyn.errors import StateError
from skodyn.sko.blocks import Ints
from skodyn.topology import Tree
from skodyn.topology.subgraph import members
from skodyn.wording import listed

__all__ = ["connected"]


def connected(tree: Tree, nodes: Iterable[Hashable]) -> Ints:
    """The packed indices of a set of nodes with one root; any other set is refused."""
    if isinstance(nodes, str):
        raise StateError(f"bodies is {nodes!r}", "give a list of names.")
    own = members(tree, nodes)
    chosen = np.flatnonzero(own)
    if not len(chosen):
        raise StateError("bodies is empty", "give the names of a connected subtree.")
    above = tree.parent[chosen]
    roots = chosen[(above < 0) | ~own[above]]
    if len(roots) > 1:
        names = listed([tree.names[k] for k in roots.tolist()])
        raise StateError(
            f"These bodies are not connected: {names} have their parents outside",
            "add the bodies between them, or make operators for each part.",
        )
    return chosen
