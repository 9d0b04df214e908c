"""Nodes, which are points of bodies and frames, as kernels read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from skodyn.conventions import GROUND
from skodyn.dynamics.arguments import read_point
from skodyn.errors import ModelError, StateError
from skodyn.model.model import Model
from skodyn.model.products import applied
from skodyn.typing import Floats, Vector

__all__ = ["Nodes", "node_pairs", "node_table", "one_node"]

Node: TypeAlias = str | tuple[str | int, Vector]
Nodes: TypeAlias = Node | Sequence[Node]
"""Points: names of bodies or frames, or (body, point) pairs, or one of these alone."""

_ORIGIN = (0.0, 0.0, 0.0)


def node_pairs(nodes: Any) -> list[tuple[str | int, Vector]]:
    """(body or frame, point in its axes) for each node.

    A node is such a pair, or the name of a body or frame for its origin; one node needs no list.
    """
    if isinstance(nodes, str) or _is_pair(nodes):
        nodes = [nodes]
    try:
        pairs = [(one, _ORIGIN) if isinstance(one, str) else tuple(one) for one in nodes]
        return [(body, point) for body, point in pairs]
    except (TypeError, ValueError):
        remedy = "give the name of a frame or body, or a list of names or (body, point) pairs."
        raise StateError(f"nodes is {nodes!r}", remedy) from None


def _is_pair(given: Any) -> bool:
    """A body and three numbers?"""
    pair = isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str | int)
    return pair and len(np.atleast_1d(np.asarray(given[1], dtype=object))) == 3


def node_table(model: Model, nodes: Nodes) -> Floats:
    """(body, point in the kernel frame) for each node, flat."""
    pairs = node_pairs(nodes)
    table = np.empty((len(pairs), 4))
    for row, (body, point) in zip(table, pairs, strict=True):
        row[0], row[1:] = _node(model, body, read_point(point))
    return table.reshape(-1)


def one_node(model: Model, body: Any, point: Any) -> Floats:
    """The same for one of them."""
    k, place = _node(model, body, read_point(point))
    return np.array((k, *place))


def _node(model: Model, name: Any, point: Floats) -> tuple[int, list[float]]:
    """(body, point in its kernel frame), of a point in the axes of a body or frame."""
    k = None if isinstance(name, str) else _body_number(model, name)
    if k is None:
        frame = model.frame(name)
        if frame.body == GROUND:
            raise ModelError(
                f"{name!r} is fixed in the world and does not move",
                "name a frame or body that does.",
            )
        k = model.body_index(frame.body)
        if name != frame.body:
            point = frame.translation + applied(frame.rotation, point)
    return k, _turned_back(model.alignment[k], point)


def _turned_back(rotation: Floats, point: Floats) -> list[float]:
    """rotationᵀ·point, rounded as `applied` does; for one point plain floats are faster."""
    first, second, third = rotation.tolist()
    x, y, z = point.tolist()
    return [a * x + b * y + c * z for a, b, c in zip(first, second, third, strict=True)]


def _body_number(model: Model, body: Any) -> int:
    if not isinstance(body, (int, np.integer)) or not 0 <= body < model.n_bodies:
        raise ModelError(
            f"There is no body {body!r}",
            f"give a name, or a number from 0 to {model.n_bodies - 1}.",
        )
    return int(body)
