"""The SKO model of Jain 2011-II section 2.1, packed: a tree, weights, joint maps and inertias."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from skodyn.errors import ModelError, StateError
from skodyn.forks import cached_property
from skodyn.jit import FLOATS, INTS, Group, helper
from skodyn.looks import look
from skodyn.model.model import Model
from skodyn.sko.blocks import Blocks, Floats, Ints, offsets
from skodyn.sko.checks import read_model
from skodyn.sko.small import small
from skodyn.topology import Tree

if TYPE_CHECKING:
    from skodyn.sko.aggregation import AggregatedModel
    from skodyn.sko.partition import PartitionedModel

__all__ = ["MODEL", "H_of", "M_of", "ModelArrays", "SKOModel", "check_model", "weight_of"]

PerNode = Mapping[Any, Any] | Sequence[Any]
"""A value for every node: by name, or in the order in which the nodes were given."""


class ModelArrays(NamedTuple):
    """An `SKOModel` as kernels take it."""

    parent: Any
    node_starts: Any  # of stacked vectors
    dof_starts: Any  # of θ̇, θ̈ and 𝒯
    weights: Any
    weight_starts: Any
    H: Any
    H_starts: Any
    M: Any
    M_starts: Any
    a: Any
    b: Any


MODEL = Group(
    ModelArrays, (INTS, INTS, INTS, FLOATS, INTS, FLOATS, INTS, FLOATS, INTS, FLOATS, FLOATS)
)


@helper
def size_of(model, k):
    """m_k."""
    return model.node_starts[k + 1] - model.node_starts[k]


@helper
def dofs_of(model, k):
    """n_k."""
    return model.dof_starts[k + 1] - model.dof_starts[k]


@helper
def weight_of(model, p, k):
    """𝔸(p, k) of a node k and its parent p."""
    return small(model.weights, model.weight_starts[k], size_of(model, p), size_of(model, k))


@helper
def H_of(model, k):
    """H(k), n_k × m_k."""
    return small(model.H, model.H_starts[k], dofs_of(model, k), size_of(model, k))


@helper
def M_of(model, k):
    """M(k), m_k × m_k."""
    return small(model.M, model.M_starts[k], size_of(model, k), size_of(model, k))


class WrongKindError(ModelError, AttributeError):
    """A general SKO model where one of rigid bodies is needed; `hasattr` takes it for a no."""


def check_model(model: Any) -> None:
    """A StateError for what is no SKO model."""
    if not isinstance(model, SKOModel):
        raise StateError(
            f"model is {type(model).__name__}",
            "give an SKOModel, such as sk.sko_model(model, q) makes of a Model.",
        )


@dataclass(frozen=True, init=False, eq=False, repr=False)
class SKOModel:
    """A tree of nodes with any block sizes: node k has m_k velocities and n_k freedoms.

    In the papers' symbols V = 𝔸*H*θ̇, α = 𝔸*(H*θ̈ + a), f = 𝔸(Mα + b), 𝒯 = Hf (eq. 1), where
    𝔸 = (I − ℰ)⁻¹ has the weights 𝔸(℘(k), k), of shape (m_℘(k), m_k). They may be singular or not
    square; H(k) is n_k × m_k with independent rows (n_k = 0 locks the node); M(k) is m_k × m_k,
    symmetric and positive definite; a and b are stacked vectors, zero unless given.

    Nodes are numbered base first and depth first, as in `tree`; blocks and stacked vectors follow
    that order, whatever order they were given in. Where a node is asked for, give its name, or its
    number in that order; if names were given and one is an integer, integers are names and never
    numbers. All arrays are read-only.
    """

    tree: Tree
    weights: Blocks  # 𝔸(℘(k), k); no rows for a base
    H: Blocks
    M: Blocks
    a: Floats  # Coriolis accelerations, stacked
    b: Floats  # gyroscopic and other given forces, stacked
    sizes: Ints  # m_k
    dofs: Ints  # n_k
    node_starts: Ints  # where node k's part of a stacked vector starts; (n + 1,)
    dof_starts: Ints  # where its part of θ̇, θ̈ or 𝒯 starts; (n + 1,)

    def __init__(
        self,
        tree: Tree | Iterable[int],
        A: PerNode,
        H: PerNode,
        M: PerNode,
        a: PerNode | None = None,
        b: PerNode | None = None,
        names: Iterable[Hashable] | None = None,
        *,
        semidefinite: bool = False,
    ) -> None:
        """From one block per node, or a ModelError that names every node at fault.

        tree: a Tree, or parent positions with −1 for bases and, if wanted, names. A, H, M, a, b:
        dicts by name, or lists in the order of the parents (of `tree.names` for a Tree). A has no
        entry, or None, for a base; H none for a locked node. semidefinite: let inertias be
        singular, as those of massless nodes are; Lemma 7 then needs every D(k) to be definite,
        which the Riccati sweep checks.
        """
        self._fill(*read_model(tree, A, H, M, a, b, names, semidefinite))

    @classmethod
    def from_packed(
        cls,
        tree: Tree,
        weights: Blocks,
        H: Blocks,
        M: Blocks,
        a: Floats | None = None,
        b: Floats | None = None,
    ) -> SKOModel:
        """From blocks in packed order that are known to satisfy the definition; not checked.

        The arrays are taken over, and read-only from then on.
        """
        model = object.__new__(cls)
        model._fill(tree, weights, H, M, a, b)
        return model

    def _fill(
        self, tree: Tree, weights: Blocks, H: Blocks, M: Blocks, a: Floats | None, b: Floats | None
    ) -> None:
        total = int(M.rows.sum())
        values: dict[str, Any] = {
            "a": np.zeros(total) if a is None else a,
            "b": np.zeros(total) if b is None else b,
            "sizes": M.rows,
            "dofs": H.rows,
            "node_starts": offsets(M.rows),
            "dof_starts": offsets(H.rows),
        }
        for array in values.values():
            array.setflags(write=False)
        values |= {"tree": tree, "weights": weights.freeze(), "H": H.freeze(), "M": M.freeze()}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> NoReturn:
        """Reached for what is not there: say so in a sentence if a `Model` has it."""
        if hasattr(Model, name) or name in Model.__dataclass_fields__:
            raise WrongKindError(
                f"An SKO model has no {name!r}, which belongs to models of rigid bodies",
                "give a Model, or use the functions of skodyn.sko, which take SKO models.",
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # ---- sizes and names ----------------------------------------------------------------------

    @property
    def names(self) -> tuple[Hashable, ...]:
        """Of the nodes, in packed order."""
        return self.tree.names

    @property
    def n_nodes(self) -> int:
        """How many nodes."""
        return self.tree.n

    @property
    def size(self) -> int:
        """Length of a stacked vector, Σ m_k."""
        return int(self.node_starts[-1])

    @property
    def nv(self) -> int:
        """Number of degrees of freedom, Σ n_k."""
        return int(self.dof_starts[-1])

    @cached_property
    def arrays(self) -> ModelArrays:
        """What kernels take."""
        return ModelArrays(
            self.tree.parent,
            self.node_starts,
            self.dof_starts,
            self.weights.data,
            self.weights.starts,
            self.H.data,
            self.H.starts,
            self.M.data,
            self.M.starts,
            self.a,
            self.b,
        )

    def node_slice(self, node: Hashable) -> slice:
        """Where a node's part lies in a stacked vector."""
        return self.slice_at(self.tree.resolve(node))

    def slice_at(self, k: int) -> slice:
        """Where the part of node number k lies in a stacked vector."""
        return slice(int(self.node_starts[k]), int(self.node_starts[k + 1]))

    def dof_slice(self, node: Hashable) -> slice:
        """Where a node's part lies in θ̇, θ̈ and 𝒯."""
        k = self.tree.resolve(node)
        return slice(int(self.dof_starts[k]), int(self.dof_starts[k + 1]))

    def A_block(self, node: Hashable) -> Floats:
        """𝔸(℘(k), k), without rows for a base; a read-only view."""
        return self.weights[self.tree.resolve(node)]

    def H_block(self, node: Hashable) -> Floats:
        """H(k), n_k × m_k; a read-only view."""
        return self.H[self.tree.resolve(node)]

    def M_block(self, node: Hashable) -> Floats:
        """M(k), m_k × m_k; a read-only view."""
        return self.M[self.tree.resolve(node)]

    # ---- other models of the same system --------------------------------------------------------

    def partition(self, nodes: Iterable[Hashable]) -> PartitionedModel:
        """Child, own and parent models of a path-induced set of nodes, and their connectors."""
        from skodyn.sko.partition import partition  # it builds on this file

        return partition(self, nodes)

    def aggregate(self, nodes: Iterable[Hashable], name: Hashable | None = None) -> AggregatedModel:
        """The same system with these nodes as one; refused if they have several parents."""
        from skodyn.sko.aggregation import aggregate

        return aggregate(self, nodes, name)

    def aggregation_subgraph(self, nodes: Iterable[Hashable]) -> tuple[Hashable, ...]:
        """The fewest nodes that hold the given ones and can be aggregated."""
        from skodyn.sko.aggregation import least_aggregable

        return least_aggregable(self, nodes)

    def aggregate_groups(self, groups: Mapping[Hashable, Iterable[Hashable]]) -> AggregatedModel:
        """The same system with each group of nodes as one, by name; groups share no node."""
        from skodyn.sko.aggregation import aggregate_several

        return aggregate_several(self, groups)

    def aggregate_segments(self) -> AggregatedModel:
        """The same system with each serial segment as one node."""
        from skodyn.sko.aggregation import aggregate_segments

        return aggregate_segments(self)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        parts = (self.tree, self.weights, self.H, self.M, self.a, self.b)
        return SKOModel.from_packed, parts  # which freezes the arrays again

    def _repr_html_(self) -> str:
        return str(look("sko_html")(self))

    def __repr__(self) -> str:
        return f"<SKOModel: {self.n_nodes} nodes, Σm={self.size}, nv={self.nv}>"
