"""Operators of a user's own: blocks for each node, or weights for each edge, read and checked."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from skodyn.algebra.expression import Operator
from skodyn.algebra.leaves import Diagonal, Edges, Propagator
from skodyn.algebra.spaces import Space
from skodyn.algebra.structure import edge_blocks, is_on_edges
from skodyn.algebra.workbench import Workbench
from skodyn.errors import StateError
from skodyn.faults import Fault
from skodyn.sko.blocks import Blocks, Floats
from skodyn.wording import listed

__all__ = ["OwnDiagonal", "OwnEdges", "block_diagonal", "kernel", "propagator", "read_blocks"]


class OwnDiagonal(Diagonal):
    """Block-diagonal, as a user gave it; `changes` says how it does along a direction."""

    changes: Any = None


class OwnEdges(Edges):
    """An SKO operator with a user's weights."""

    changes: Any = None


def block_diagonal(
    bench: Workbench,
    name: str,
    blocks: Any,
    kinds: tuple[str, str],
    symbol: str | None,
    derivative: Any,
) -> OwnDiagonal:
    """A block for every node, or for its joint."""
    _check_name(bench, name)
    rows, cols = (
        _space(bench, kind, word) for kind, word in zip(kinds, ("rows", "cols"), strict=True)
    )
    read = read_blocks(bench, name, blocks, rows, cols)
    leaf = OwnDiagonal(bench, name, symbol or _printed(name), rows, cols, lambda b: b.given(read))
    leaf.symmetric = rows.same(cols) and all(np.array_equal(block, block.T) for block in read)
    leaf.changes = derivative
    return leaf


def kernel(
    bench: Workbench, name: str, weights: Any, symbol: str | None, derivative: Any
) -> OwnEdges:
    """A weight for every edge, from a node to its parent."""
    _check_name(bench, name)
    space = bench.node_space
    read = read_blocks(bench, name, weights, space, space, on_edges=True)
    words = symbol or rf"\mathcal{{E}}_{{{_printed(name)}}}"
    leaf = OwnEdges(bench, name, words, space, space, lambda b: b.given(read))
    leaf.changes = derivative
    return leaf


def propagator(bench: Workbench, name: str, edges: Operator, symbol: str | None) -> Propagator:
    """(I − ℰ)⁻¹ under a name of its own."""
    _check_name(bench, name)
    if not isinstance(edges, Operator) or not is_on_edges(edges) or edges.rows is not edges.cols:
        what = edges.text() if isinstance(edges, Operator) else type(edges).__name__
        raise StateError(
            f"The kernel of {name!r} is {what}",
            "give an operator with a block from each node to its parent, such as E_phi, E_phi @ "
            "tau_bar or one that ops.kernel made.",
        )
    bench.check_compatible(edges.bench, name, edges)
    space = edges.spaces[0]
    if isinstance(edges, Edges):
        leaf = edges
    else:
        make = lambda b: edge_blocks(edges.on(b))  # noqa: E731
        leaf = Edges(bench, edges.text(), edges.latex(), space, space, make)
        leaf.made_from = (edges,)
    found = Propagator(name, symbol or _printed(name), leaf)
    found.made_from = (leaf,)
    return found


def read_blocks(
    bench: Workbench, name: str, given: Any, rows: Space, cols: Space, on_edges: bool = False
) -> Blocks:
    """Blocks in packed order, or a StateError with every fault."""
    faults: list[Fault] = []
    matrices = []
    above = bench.tree.parent.tolist()
    for k, block in enumerate(_each(bench, name, given)):
        size = int(rows.sizes[k]), int(cols.sizes[k])
        if on_edges:
            size = (0 if above[k] < 0 else int(rows.sizes[above[k]])), size[1]
        if on_edges and above[k] < 0:
            matrices.append(np.zeros(size))
            continue
        matrices.append(_matrix(block, size, f"{name} at {bench.bodies[k]!r}", faults))
    if faults:
        raise StateError(faults)
    return Blocks.of(matrices)


def _each(bench: Workbench, name: str, given: Any) -> Iterator[Any]:
    """What was given for each node in turn; None for nothing, which is zero."""
    if callable(given):
        return (given(body) for body in bench.bodies)
    if isinstance(given, Mapping):
        places = {bench.tree.resolve(body): block for body, block in given.items()}
        return (places.get(k) for k in range(bench.tree.n))
    matrix = not isinstance(given, Sequence) or isinstance(given, str)
    if matrix or _is_matrix(given):
        return (given for _ in range(bench.tree.n))
    if len(given) != bench.tree.n:
        raise StateError(
            f"{name} has {len(given)} blocks",
            f"give {bench.tree.n}, one for each of ops.bodies, a dict by name, a function of the "
            "name, one matrix, or a number.",
        )
    return iter(given)


def _is_matrix(given: Sequence[Any]) -> bool:
    """[[1, 0], [0, 1]] rather than a list of blocks."""
    return all(np.ndim(row) == 1 and not isinstance(row, str) for row in given) and bool(len(given))


def _matrix(block: Any, size: tuple[int, int], what: str, faults: list[Fault]) -> Floats:
    zero = np.zeros(size)
    if block is None:
        return zero
    try:
        matrix = np.asarray(block, dtype=np.float64)
    except (TypeError, ValueError):
        faults.append(
            Fault(f"{what} is {block!r}, no matrix of real numbers", f"give {size[0]} × {size[1]}.")
        )
        return zero
    if matrix.ndim == 0 and size[0] == size[1]:
        matrix = matrix * np.eye(size[0])
    if matrix.shape != size and matrix.size == size[0] * size[1] and 1 in size:
        matrix = matrix.reshape(size)
    if matrix.shape != size:
        faults.append(Fault(f"{what} has shape {matrix.shape}", f"give {size[0]} × {size[1]}."))
        return zero
    if not np.isfinite(matrix).all():
        faults.append(Fault(f"{what} has an entry that is not finite", "give finite numbers."))
        return zero
    return np.array(matrix)


def _space(bench: Workbench, kind: str, what: str) -> Space:
    spaces = {"node": bench.node_space, "joint": bench.joint_space}
    if kind not in spaces:
        raise StateError(f"{what} is {kind!r}", f"give {listed([*spaces])}.")
    return spaces[kind]


def _check_name(bench: Workbench, name: Any) -> None:
    if not isinstance(name, str) or not name.isidentifier():
        raise StateError(f"The name is {name!r}", "give one word, as it will be printed.")
    if hasattr(type(bench), name) or name in vars(bench):
        raise StateError(f"The workbench has a {name!r} of its own", "give another name.")


def _printed(name: Hashable) -> str:
    words = str(name).replace("_", r"\_")
    return words if len(words) == 1 else rf"\mathrm{{{words}}}"
