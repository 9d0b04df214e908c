"""A run that somebody takes hold of: one more spring, whose far end moves between chunks.

It is an ordinary `PointSpring` to the world, first among the elements, without integrals; so the
memory of a run fits the run with it and the run without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from skodyn.conventions import GROUND
from skodyn.dynamics import jacobian, mass_matrix_solve
from skodyn.model.model import Model
from skodyn.simulation.element_kinds.point_spring import PointSpring
from skodyn.simulation.engine import Engine
from skodyn.simulation.forces import CODES_HEADER
from skodyn.simulation.plan import Plan
from skodyn.typing import Floats

__all__ = ["move_end", "pulled", "spring_at"]

_HERTZ = 1.5  # of the mass that is felt at the point, on the spring alone
_STEP = 0.2  # of 1/ω: no spring is stiffer for a step than this
_DAMPED = 0.5  # part of critical
_OFFSET, _FAR_END = 3, 3  # in the record of an element; in its numbers


def spring_at(plan: Plan, q: Floats, body: str, point: Floats, end: Floats) -> PointSpring:
    """A spring from a point of a body, in its axes, to a place in the world.

    On a flexible body it holds the node that is nearest. It is as stiff as the mass that is felt
    there, and the weight of all, ask for; never stiffer than the step allows.
    """
    model, node = plan.model, ""
    if body in model.flexible:
        nodes = model.flexible[body].nodes
        node = min(nodes, key=lambda name: float(np.linalg.norm(nodes[name].position - point)))
        point = np.zeros(3)
    mass = _felt_mass(model, q, body, point)
    weight = float(model.mass.sum()) * float(np.linalg.norm(model.gravity))
    arm = max(float(np.abs(model.translation).sum(axis=1).max(initial=0.0)), 0.1)
    stiffness = max(mass * (2.0 * np.pi * _HERTZ) ** 2, weight / arm)
    if not plan.settings.adaptive:
        stiffness = min(stiffness, mass * (_STEP / plan.settings.dt) ** 2)
    damping = 2.0 * _DAMPED * float(np.sqrt(stiffness * mass))
    ends = {"point_a": tuple(point.tolist()), "point_b": tuple(end.tolist())}
    return PointSpring(body, GROUND, stiffness, damping, node_a=node, **ends)  # type: ignore[arg-type]


def _felt_mass(model: Model, q: Floats, body: str, point: Floats) -> float:
    """3 / tr(J 𝓜⁻¹ Jᵀ) of a point, loops apart: what a push there has to move."""
    tree = model.opened
    rows = jacobian(tree, q, body, tuple(point.tolist()))[3:]
    columns = np.stack([mass_matrix_solve(tree, q, row) for row in rows], axis=1)
    mobility = float(np.trace(rows @ columns))
    return 3.0 / mobility if mobility > 0.0 else float(model.mass.sum())


def pulled(plan: Plan, memory: Mapping[str, Any], spring: PointSpring | None) -> Engine:
    """The run of a plan from a moment on, with a spring or without."""
    elements = plan.forces.elements
    if spring is not None:
        elements = (spring, *elements)
    engine = replace(plan, forces=replace(plan.forces, elements=elements)).engine()
    engine.restore(dict(memory))
    return engine


def move_end(engine: Engine, end: Floats) -> None:
    """Put the far end of the spring of `pulled` somewhere else; nothing is packed anew."""
    first = int(engine.tables.codes[CODES_HEADER + _OFFSET]) + _FAR_END
    engine.tables.numbers[first : first + 3] = end
