"""Forces, or impulses, of some joints that give these joints the rates one wants.

With mimic joints or loops, S the inverse of the mass matrix under them and p the joints wanted to
move by given rates, (S)_pp·𝒯 = (rates wanted)_p − (rates)_p: an O(N) solve for each of their
velocities, and a small dense system.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from skodyn.dynamics.mass_matrices import mass_matrix_solve
from skodyn.errors import DynamicsError
from skodyn.model.prescription import Prescription
from skodyn.typing import Floats

__all__ = ["Moved", "moved_to"]

INDEPENDENT = 1e-10
"""Rates whose compliance, scaled to a unit diagonal, is nearer to singular are tied."""


class Moved(NamedTuple):
    """Rates of all joints, and what the chosen ones needed for it."""

    found: Floats
    forces: Floats


def moved_to(
    choice: Prescription, what: str, q: ArrayLike, rates: Floats, wanted: ArrayLike,
    threads: int | None,
) -> Moved:  # fmt: skip
    """The rates that are nearest to `rates` and those wanted at the chosen joints, one row or many.

    what: velocities or accelerations, for the sentence where they cannot be had.
    A DynamicsError if loops hold chosen joints, or tie them to one another.
    """
    p, nv = choice.dofs, rates.shape[-1]
    single = rates.ndim == 1
    rows, targets = np.atleast_2d(rates), np.broadcast_to(np.asarray(wanted), rates.shape)
    q_rows = np.broadcast_to(np.atleast_2d(np.asarray(q)), (len(rows), np.shape(q)[-1]))
    columns = np.empty((len(rows), nv, p.size))
    for j, i in enumerate(p):
        unit = np.zeros((len(rows), nv))
        unit[:, i] = 1.0
        at = np.ascontiguousarray(q_rows)
        columns[..., j] = mass_matrix_solve(choice.model, at, unit, threads=threads)
    _check_independent(choice, what, columns[:, p])
    missing = (targets.reshape(rows.shape) - rows)[:, p, None]
    forces = np.asarray(np.linalg.solve(columns[:, p], missing), dtype=np.float64)
    found = rows + (columns @ forces)[..., 0]
    found[:, p] = targets.reshape(rows.shape)[:, p]
    return Moved(found[0], forces[0, :, 0]) if single else Moved(found, forces[..., 0])


def _check_independent(choice: Prescription, what: str, compliance: Floats) -> None:
    """Can every rate be chosen by itself? Loops may tie them to one another."""
    size = np.sqrt(np.maximum(np.diagonal(compliance, axis1=-2, axis2=-1), 0.0))
    held = size == 0.0
    scale = np.where(held, 1.0, size)
    scaled = compliance / scale[:, :, None] / scale[:, None, :]
    least = np.linalg.eigvalsh(scaled)[:, 0]
    if held.any() or (least < INDEPENDENT).any():
        names = ", ".join(map(repr, choice.joints))
        raise DynamicsError(
            f"The {what} of {names} cannot be given independently: loops hold them or tie "
            "them to one another; prescribe fewer joints."
        )
