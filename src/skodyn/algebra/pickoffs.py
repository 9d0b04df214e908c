"""The pick-off operator 𝔅 (PyCraft eq. 12): from forces at points to forces on nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from skodyn.algebra.leaves import Pickoff
from skodyn.algebra.spaces import Space
from skodyn.dynamics.arguments import read_point
from skodyn.dynamics.inertias import cross_matrices
from skodyn.errors import StateError
from skodyn.model.products import applied
from skodyn.sko.blocks import Blocks, Floats

if TYPE_CHECKING:
    from skodyn.algebra.workbench import Workbench

__all__ = ["pickoff"]


def pickoff(bench: Workbench, nodes: Any) -> Pickoff:
    """One block of columns per node of the list."""
    rigid = bench.origin.rotation is not None
    remedy = "[(body, point), …]" if rigid else "[node, …] or [(node, matrix), …]"
    if isinstance(nodes, str) or not hasattr(nodes, "__iter__"):
        raise StateError(f"nodes is {nodes!r}", f"give a list {remedy}.")
    places, blocks = [], []
    for entry in nodes:
        pair = entry if isinstance(entry, tuple) and len(entry) == 2 else (entry, None)
        pair = _of_a_frame(bench, *pair)
        k = bench.tree.resolve(pair[0])
        places.append(k)
        size = int(bench.node_space.sizes[k])
        if rigid:
            blocks.append(_rigid(bench, k, (0.0, 0.0, 0.0) if pair[1] is None else pair[1]))
        else:
            blocks.append(np.eye(size) if pair[1] is None else _matrix(pair[0], pair[1], size))
    packed = Blocks.of(blocks)
    contents = (tuple(places), packed.data.tobytes())
    space = Space(
        "pickoff", f"{int(packed.cols.sum())}", packed.cols, _positions(len(places)), contents
    )
    return Pickoff(bench, space, np.array(places, dtype=np.int64), packed)


def _of_a_frame(bench: Workbench, node: Any, point: Any) -> tuple[Any, Any]:
    """The body that carries a frame, and the point in its axes; a node as it is otherwise."""
    frames = bench.origin.frames
    if not isinstance(node, str) or node in bench.bodies or node not in frames:
        return node, point
    frame = frames[node]
    given = read_point((0.0, 0.0, 0.0) if point is None else point)
    return frame.body, frame.translation + applied(frame.rotation, given)


def _rigid(bench: Workbench, k: int, point: Any) -> Floats:
    """φ(k, O) for a point O in body axes; nothing picks off a rotor's own velocity."""
    assert bench.origin.rotation is not None
    block = np.zeros((int(bench.node_space.sizes[k]), 6))
    block[:6] = np.eye(6)
    block[:3, 3:] = cross_matrices((bench.origin.rotation[k] @ read_point(point))[None])[0]
    return block


def _matrix(node: Any, given: Any, size: int) -> Floats:
    try:
        matrix = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise StateError(f"The pick-off at {node!r} is not an array of real numbers.") from None
    if matrix.ndim != 2 or len(matrix) != size or not np.isfinite(matrix).all():
        raise StateError(
            f"The pick-off at {node!r} has shape {matrix.shape}",
            f"give a finite matrix of {size} rows, one for each velocity of the node.",
        )
    return matrix


def _positions(count: int) -> Any:
    def resolve(label: Any) -> int:
        if not isinstance(label, (int, np.integer)) or not 0 <= label < count:
            what = f"{label!r} is not a picked-off point"
            raise StateError(what, f"give a number below {count}.")
        return int(label)

    return resolve
