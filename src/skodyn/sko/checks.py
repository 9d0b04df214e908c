"""From one array per node to packed blocks, or every way in which they are not an SKO model."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import ModelError
from skodyn.faults import Fault
from skodyn.sko.blocks import Blocks, Floats, Ints
from skodyn.topology import Tree
from skodyn.wording import Spelling, quote

__all__ = ["read_model"]

ROUNDINGS = 16
"""So many roundings, times its size, decide whether a block counts as singular or symmetric."""

EPS = float(np.finfo(np.float64).eps)

Found = list[Floats | None]

_REFUSED = object()
"""Stands for a value of which everything has been said."""


def read_model(
    tree: Tree | Iterable[int],
    A: Any,
    H: Any,
    M: Any,
    a: Any,
    b: Any,
    names: Iterable[Hashable] | None,
    semidefinite: bool,
) -> tuple[Tree, Blocks, Blocks, Blocks, Floats | None, Floats | None]:
    """The arguments of `SKOModel.from_packed`, or a ModelError with all faults."""
    faults: list[Fault] = []
    if isinstance(tree, Tree):
        order = np.arange(tree.n)
        if names is not None:
            faults.append(Fault("names come with the Tree", "give them to one of the two only."))
    else:
        tree = Tree(tree, names)
        order = tree.order
    reader = _Reader(tree, order, faults)
    everywhere, nowhere = np.full(tree.n, True), np.full(tree.n, False)
    inertias = reader.read(M, "M", (0, 2), everywhere)
    maps = reader.read(H, "H", (0, 1, 2), nowhere)
    weights = reader.read(A, "A", (0, 2), tree.parent >= 0)
    sizes = _inertia_sizes(tree, inertias, faults)
    _check_weights(tree, weights, sizes, faults)
    _check_maps(tree, maps, sizes, faults)
    _check_inertias(tree, inertias, sizes, semidefinite, faults)
    vectors = [
        None if x is None else _stack(tree, reader.read(x, n, (0, 1), everywhere), sizes, n, faults)
        for n, x in (("a", a), ("b", b))
    ]
    if faults:
        raise ModelError(faults)
    return (
        tree,
        Blocks.of(np.zeros((0, sizes[k])) if w is None else w for k, w in enumerate(weights)),
        Blocks.of(np.zeros((0, sizes[k])) if h is None else h for k, h in enumerate(maps)),
        Blocks.of((m + m.T) / 2 for m in inertias if m is not None),
        vectors[0],
        vectors[1],
    )


class _Reader:
    """Takes values per node out of dicts and lists, and notes what is wrong with them."""

    def __init__(self, tree: Tree, order: Ints, faults: list[Fault]) -> None:
        self.tree, self.order, self.faults = tree, order, faults

    def read(
        self, given: Any, what: str, axes: tuple[int, ...], needed: NDArray[np.bool_]
    ) -> Found:
        """One finite array per node in packed order; None where there is none, or a bad one."""
        found: Found = []
        for k, value in enumerate(self._values(given, what)):
            name = self.tree.names[k]
            if value is None and needed[k]:
                self.faults.append(Fault(f"Node {quote(name)} has no {what}", "give it one."))
            there = value is not None and value is not _REFUSED
            found.append(self._array(value, what, name, axes) if there else None)
        return found

    def _values(self, given: Any, what: str) -> list[Any]:
        if isinstance(given, Mapping):
            spelling = Spelling(self.tree.names)
            known = set(self.tree.names)
            for name in given:
                if name not in known:
                    remedy = spelling.remedy(name, "give names of nodes")
                    self.faults.append(
                        Fault(f"{what} has an entry for {quote(name)}, no node", remedy)
                    )
            return [given.get(name) for name in self.tree.names]
        if not isinstance(given, (Sequence, np.ndarray)) or isinstance(given, str):
            self.faults.append(
                Fault(
                    f"{what} is {type(given).__name__}",
                    "give a dict by node or a list with one entry for each.",
                )
            )
            return [_REFUSED] * self.tree.n
        if len(given) != self.tree.n:
            self.faults.append(
                Fault(
                    f"{what} has {len(given)} entries for {self.tree.n} nodes", "give one for each."
                )
            )
            return [_REFUSED] * self.tree.n
        return [given[i] for i in self.order.tolist()]

    def _array(self, value: Any, what: str, name: Hashable, axes: tuple[int, ...]) -> Floats | None:
        try:
            array = np.asarray(value)
            if array.size and array.dtype.kind not in "fiu":
                raise TypeError
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            problem = f"Node {quote(name)}: {what} is not an array of real numbers"
            self.faults.append(Fault(problem, "give one."))
            return None
        if array.ndim not in axes:
            self.faults.append(
                Fault(
                    f"Node {quote(name)}: {what} has shape {array.shape}", f"give {axes[-1]} axes."
                )
            )
            return None
        if not np.isfinite(array).all():
            where = np.argwhere(~np.isfinite(array))[0].tolist()
            self.faults.append(
                Fault(
                    f"Node {quote(name)}: {what}{where} is {array[tuple(where)]}",
                    "give finite numbers.",
                )
            )
            return None
        return array.reshape((1,) * (axes[-1] - array.ndim) + array.shape)


def _inertia_sizes(tree: Tree, inertias: Found, faults: list[Fault]) -> list[int]:
    """m_k, from M(k); −1 where that does not say."""
    sizes = []
    for name, m in zip(tree.names, inertias, strict=True):
        square = m is not None and m.shape[0] == m.shape[1]
        if m is not None and not square:
            faults.append(
                Fault(
                    f"Node {quote(name)}: M is {_shape(m)}",
                    "give a square matrix, one row for each velocity of the node.",
                )
            )
        sizes.append(len(m) if m is not None and square else -1)
    return sizes


def _check_weights(tree: Tree, weights: Found, sizes: list[int], faults: list[Fault]) -> None:
    for k, (name, w) in enumerate(zip(tree.names, weights, strict=True)):
        p = int(tree.parent[k])
        if p < 0:
            if w is not None and w.shape[0]:
                faults.append(
                    Fault(
                        f"Node {quote(name)} is a base and has a weight A",
                        "leave it out, or give the node a parent.",
                    )
                )
            weights[k] = None  # without rows it says the same as none
            continue
        wanted = (sizes[p], sizes[k])
        if w is not None and min(wanted) >= 0 and w.shape != wanted:
            faults.append(
                Fault(
                    f"Node {quote(name)}: A is {_shape(w)}",
                    f"give {wanted[0]}×{wanted[1]}, the sizes of its parent "
                    f"{quote(tree.names[p])} and its own.",
                )
            )


def _check_maps(tree: Tree, maps: Found, sizes: list[int], faults: list[Fault]) -> None:
    """Shapes, and full row rank: of rows scaled to unit length, so that units do not matter."""
    for k, (name, h) in enumerate(zip(tree.names, maps, strict=True)):
        if h is not None and sizes[k] >= 0 and h.shape[1] != sizes[k]:
            faults.append(
                Fault(
                    f"Node {quote(name)}: H is {_shape(h)}",
                    f"give rows of {sizes[k]} numbers, one row for each degree of freedom.",
                )
            )
            maps[k] = None
    for members, stack in _by_shape(maps):
        rows, cols = stack.shape[1:]
        if rows == 0:
            continue
        length = np.linalg.norm(stack, axis=2, keepdims=True)
        unit = stack / np.where(length > 0, length, 1.0)
        least = np.linalg.svd(unit, compute_uv=False)[:, -1] if rows <= cols else [0] * len(stack)
        for k, value in zip(members, least, strict=True):
            if not value > ROUNDINGS * EPS * max(rows, cols):
                faults.append(
                    Fault(
                        f"Node {quote(tree.names[k])}: the rows of H ({rows}×{cols}) are "
                        "linearly dependent",
                        "drop the degrees of freedom that repeat others or do nothing.",
                    )
                )


def _check_inertias(
    tree: Tree, inertias: Found, sizes: list[int], semidefinite: bool, faults: list[Fault]
) -> None:
    """Symmetry, and definiteness of the matrix scaled to unit diagonal."""
    square = [m if sizes[k] >= 0 else None for k, m in enumerate(inertias)]
    for members, stack in _by_shape(square):
        m = stack.shape[1]
        if m == 0:
            continue
        tolerance = ROUNDINGS * EPS * m
        diagonal = np.abs(np.diagonal(stack, axis1=1, axis2=2))
        scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        scaled = stack * scale[:, :, None] * scale[:, None, :]
        skew = np.abs(scaled - scaled.transpose(0, 2, 1)).max(axis=(1, 2))
        least = np.linalg.eigvalsh(scaled)[:, 0]
        for k, uneven, value in zip(members, skew, least, strict=True):
            name = quote(tree.names[k])
            if uneven > tolerance:
                faults.append(
                    Fault(f"Node {name}: M is not symmetric", "give (M + M*)/2 if that is meant.")
                )
            elif semidefinite and value < -tolerance:
                faults.append(
                    Fault(f"Node {name}: M is not positive semidefinite", "check its signs.")
                )
            elif not semidefinite and not value > tolerance:
                faults.append(
                    Fault(
                        f"Node {name}: M is not positive definite",
                        "give the node inertia in every direction, or pass semidefinite=True if "
                        "it is meant to have none.",
                    )
                )


def _stack(tree: Tree, vectors: Found, sizes: list[int], what: str, faults: list[Fault]) -> Floats:
    for name, x, size in zip(tree.names, vectors, sizes, strict=True):
        if x is not None and size >= 0 and len(x) != size:
            faults.append(
                Fault(f"Node {quote(name)}: {what} has {len(x)} numbers", f"give {size}.")
            )
    return np.concatenate([np.zeros(0), *(x for x in vectors if x is not None)])


def _by_shape(matrices: Found) -> list[tuple[list[int], Floats]]:
    """(nodes, their matrices as one array) for every shape there is."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for k, matrix in enumerate(matrices):
        if matrix is not None:
            groups.setdefault(matrix.shape, []).append(k)
    return [(ks, np.array([matrices[k] for k in ks])) for ks in groups.values()]


def _shape(matrix: Floats) -> str:
    return f"{matrix.shape[0]}×{matrix.shape[1]}"
