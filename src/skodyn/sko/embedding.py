"""Embedded SKO models: nodes whose joints move together become one node with their common freedom.

Constraint embedding (Jain 2011-II section 8.2; 2012-I sections 6 and 8): constraints among the
joints of nodes 𝔖 leave θ̇_𝔖 = X·u and θ̈_𝔖 = X·u̇ + x_p. From the aggregated node,

    H(𝔖) = X*·H_𝔖·𝔸_𝔖      a(𝔖) = 𝔸_𝔖*·(a_𝔖 + H_𝔖*·x_p)

while M, b and all weights are those of the aggregated model. The result is an SKO model like any
other: its mass matrix is X*𝓜X, and no multiplier appears. Any basis X of the admissible rates will
do; x_p is any acceleration that the constraints allow, Ẋu if X is known as a function of time.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from skodyn.errors import ModelError, StateError
from skodyn.faults import Fault
from skodyn.sko.aggregation import AggregatedModel, aggregate
from skodyn.sko.blocks import Blocks, Floats, Ints, stacked_columns
from skodyn.sko.checks import EPS, ROUNDINGS
from skodyn.sko.model import SKOModel, check_model
from skodyn.sko.way_back import Coarser
from skodyn.wording import listed

__all__ = ["EmbeddedModel", "embed"]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class EmbeddedModel(Coarser):
    """The SKO model with constraints embedded, and the way back to the model without them.

    Its degrees of freedom are those of nodes that were left alone, and u of the embedded one. X and
    x_p speak of the members' degrees of freedom in the order that they have in the original.
    """

    original: SKOModel
    aggregated: AggregatedModel  # the same tree, without the constraints
    name: Hashable  # of the embedded node
    X: Floats
    x_p: Floats

    def velocities_to_original(self, u: ArrayLike) -> Floats:
        """θ̇ of the original, from this model's; also for changes of rates, and for many columns."""
        columns, shape = stacked_columns(u, self.nv, "u")
        whole = np.empty((self.original.nv, columns.shape[1]))
        whole[self._free_there] = columns[self._free_here]
        whole[self._own_there] = self.X @ columns[self._own_here]
        return whole.reshape((len(whole), *shape[1:]))

    def accelerations_to_original(self, udot: ArrayLike) -> Floats:
        """θ̈ of the original, from this model's: x_p is added to what moves the members."""
        whole = self.velocities_to_original(udot)
        whole[self._own_there] += self.x_p.reshape((-1, *(1,) * (whole.ndim - 1)))
        return whole

    def torques_from_original(self, tau: ArrayLike) -> Floats:
        """What generalized forces of the original do here: X*𝒯 at the embedded node."""
        columns, shape = stacked_columns(tau, self.original.nv, "tau")
        here = np.empty((self.nv, columns.shape[1]))
        here[self._free_here] = columns[self._free_there]
        here[self._own_here] = self.X.T @ columns[self._own_there]
        return here.reshape((len(here), *shape[1:]))

    def to_original(self, x: ArrayLike) -> Floats:
        """Stacked velocities or accelerations of the nodes, in the original's order."""
        return self.aggregated.to_original(x)

    def torques_to_original(self, tau: ArrayLike) -> Floats:
        """Refused: X*𝒯 does not say what 𝒯 was."""
        self._refuse("Generalised forces")

    def forces_to_original(self, f: ArrayLike) -> Floats:
        """Refused: what the constraints carry between the members is not known here."""
        self._refuse("Interbody forces")

    def _refuse(self, what: str) -> NoReturn:
        raise StateError(
            f"{what} cannot be given back: the constraints embedded at node {self.name!r} carry a "
            "part of them that this model does not know."
        )

    @property
    def _node(self) -> int:
        return self.tree.index_of(self.name)

    @property
    def _own_here(self) -> slice:
        return slice(int(self.dof_starts[self._node]), int(self.dof_starts[self._node + 1]))

    @property
    def _free_here(self) -> Ints:
        return np.delete(np.arange(self.nv), self._own_here)

    @property
    def _own_there(self) -> Ints:
        starts = self.aggregated.dof_starts
        return self.aggregated.dof_order[int(starts[self._node]) : int(starts[self._node + 1])]

    @property
    def _free_there(self) -> Ints:
        starts = self.aggregated.dof_starts
        own = slice(int(starts[self._node]), int(starts[self._node + 1]))
        return np.delete(self.aggregated.dof_order, own)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        tree = self.original.tree
        members = [tree.handle(tree.index_of(name)) for name in self.aggregated.inside.names]
        return embed, (self.original, members, self.X, self.x_p, self.name)


def embed(
    model: SKOModel,
    nodes: Iterable[Hashable],
    X: ArrayLike,
    x_p: ArrayLike | None = None,
    name: Hashable | None = None,
) -> EmbeddedModel:
    """A model in which some nodes become one that moves by θ̇ = X·u, θ̈ = X·u̇ + x_p.

    Parameters
    ----------
    model : SKOModel
        The system in one state.
    nodes : iterable of hashable
        Names or numbers; a TopologyError says why they cannot be one.
    X : array_like, shape (nv of the nodes, mobility)
        A row for each degree of freedom of the nodes, in the order of the model, and independent
        columns; none at all locks them.
    x_p : array_like, optional
        Accelerations for u̇ = 0.
    name : hashable, optional
        Name of the new node.

    Returns
    -------
    embedded : EmbeddedModel
    """
    check_model(model)
    coarse = aggregate(model, nodes, name)
    node = coarse.tree.index_of(coarse.name)
    basis, particular = _read(coarse, X, x_p)
    H = [coarse.H[k] for k in range(coarse.n_nodes)]
    a = coarse.a.copy()
    a[coarse.slice_at(node)] += H[node].T @ particular
    H[node] = basis.T @ H[node]
    result = object.__new__(EmbeddedModel)
    result._fill(coarse.tree, coarse.weights, Blocks.of(H), coarse.M, a, coarse.b.copy())
    for array in (basis, particular):
        array.setflags(write=False)
    extra = {
        "original": model,
        "aggregated": coarse,
        "name": coarse.name,
        "X": basis,
        "x_p": particular,
    }
    for key, value in extra.items():
        object.__setattr__(result, key, value)
    return result


def _read(coarse: AggregatedModel, X: ArrayLike, x_p: ArrayLike | None) -> tuple[Floats, Floats]:
    """X and x_p as arrays, or a ModelError with everything that is wrong with them."""
    n = coarse.inside.nv
    what = f"the {n} degrees of freedom of {listed(coarse.inside.names)}"
    faults: list[Fault] = []
    basis = _array(X, 2, "X", n, what, faults)
    particular = _array(np.zeros(n) if x_p is None else x_p, 1, "x_p", n, what, faults)
    if basis is not None and not _independent(basis):
        faults.append(
            Fault(
                f"X ({basis.shape[0]}×{basis.shape[1]}) has linearly dependent columns",
                "give a basis, one column for each freedom that the constraints leave.",
            )
        )
    if faults or basis is None or particular is None:
        raise ModelError(faults)
    return basis, particular


def _array(
    given: ArrayLike, axes: int, name: str, n: int, what: str, faults: list[Fault]
) -> Floats | None:
    try:
        array = np.asarray(given)
        if array.size and array.dtype.kind not in "fiu":
            raise TypeError
        array = array.astype(np.float64)
    except (TypeError, ValueError):
        faults.append(Fault(f"{name} is not an array of real numbers", "give one."))
        return None
    if array.ndim != axes or array.shape[0] != n:
        wanted = f"{n} rows" if axes == 2 else f"{n} numbers"
        faults.append(
            Fault(f"{name} has shape {array.shape}", f"give {wanted}, one for each of {what}.")
        )
        return None
    if not np.isfinite(array).all():
        where = np.argwhere(~np.isfinite(array))[0].tolist()
        faults.append(Fault(f"{name}{where} is {array[tuple(where)]}", "give finite numbers."))
        return None
    return np.ascontiguousarray(array)


def _independent(basis: Floats) -> bool:
    """Columns scaled to unit length, so that units do not matter."""
    rows, columns = basis.shape
    if columns == 0:
        return True
    length = np.linalg.norm(basis, axis=0)
    if columns > rows or not length.all():
        return False
    least = np.linalg.svd(basis / length, compute_uv=False)[-1]
    return bool(least > ROUNDINGS * EPS * max(rows, columns))
