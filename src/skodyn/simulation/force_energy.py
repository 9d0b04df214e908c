"""The potential energy of the forces of a run, where they have one.

Springs and stops of joints, and what every element says of itself (`Element.stored`): added to
kinetic energy and that of weight, it is constant while nothing else acts.
"""

from __future__ import annotations

import numpy as np

from skodyn.channels.rows import Rows
from skodyn.model.model import Model
from skodyn.model.properties import JointProperties
from skodyn.simulation.elements import Forces
from skodyn.typing import Floats

__all__ = ["force_energy"]


def force_energy(model: Model, forces: Forces, rows: Rows) -> Floats:
    """J, one number for each row."""
    total = np.zeros(len(rows))
    every = model.coupling.expand_q(rows.q)
    for name, given in forces.joints.items():
        joint = model.joints[model.joint_index(name)]
        if not joint.has_quaternion:
            total += _of_joint(given, every[:, model.uncoupled.q_slice(name)])
    for element in forces.elements:
        stored = element.stored(rows)
        if stored is not None:
            total += stored
    return total


def _of_joint(given: JointProperties, q: Floats) -> Floats:
    """Of its spring and of what its stops are pressed in by; all degrees of freedom together."""
    stretch = 0.5 * np.asarray(given.stiffness) * (q - given.rest) ** 2
    below, above = np.maximum(given.lower - q, 0.0), np.maximum(q - given.upper, 0.0)
    stored: Floats = (stretch + 0.5 * given.stop_stiffness * (below**2 + above**2)).sum(axis=1)
    return stored
