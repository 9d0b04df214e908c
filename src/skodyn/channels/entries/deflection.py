"""How far the nodes of flexible bodies moved in their bodies; of models with modes alone."""

from __future__ import annotations

import numpy as np

from skodyn.channels.curves import Curves, Family
from skodyn.channels.entries.poses import AXES
from skodyn.channels.entry import Channel, DataSet, Labels
from skodyn.channels.rows import Rows
from skodyn.faults import Fault
from skodyn.model.model import Model
from skodyn.registry import register
from skodyn.typing import Floats


def _labels(model: Model) -> Labels:
    nodes = [f"{name}/{node}" for name, body in model.flexible.items() for node in body.nodes]
    return {"node": tuple(nodes), "axis": AXES} if nodes else {}


def _fault(model: Model) -> Fault | None:
    if model.flexible:
        return None
    problem = f"Channel 'deflection' needs bodies with modes, and model {model.name!r} has none"
    return Fault(problem, "leave it out.", ("channels",), "deflection")


def _compute(rows: Rows) -> dict[str, Floats]:
    from skodyn.dynamics.flexible_nodes import deflections

    moved = [deflections(rows.model, rows.q, body) for body in rows.model.flexible]
    return {"deflection": np.concatenate(moved, axis=1)}


def _draw(name: str, curves: Curves) -> list[Family]:
    """Sizes, of the nodes that ever move: a root that is held does not."""
    sizes = np.sqrt(np.sum(curves.values**2, axis=2))
    moves = np.any(sizes != 0.0, axis=0)
    some = tuple(label for label, used in zip(curves.labels["node"], moves, strict=True) if used)
    return [Family(name, "deflection of nodes, its size", "m", some, sizes[:, moves])]


DEFLECTION = register(
    Channel(
        "deflection",
        {
            "deflection": DataSet(
                ("t", "node", "axis"),
                "displacements of the nodes of flexible bodies, axes of their body [m]",
                "m",
            )
        },
        _compute,
        _labels,
        _fault,
        _draw,
        order=12,
    )
)
