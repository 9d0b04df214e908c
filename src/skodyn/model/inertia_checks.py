"""Which inertias a rigid body can have, why another one cannot, and the nearest valid one.

A 3×3 inertia I about the centre of mass belongs to a body of non-negative density exactly if the
second-moment matrix Σ = ½ tr(I)·1 − I is positive semidefinite. In eigenvalues of I: none is
negative, and the two smaller ones add up to at least the largest (the triangle inequality).
"""

from __future__ import annotations

import numpy as np

from skodyn.faults import Fault
from skodyn.model.columns import Owner
from skodyn.typing import Floats

RELATIVE_TOLERANCE = 1e-6
"""Inertias printed with six digits pass; physical nonsense does not."""

NOISE = 1e-16
"""Square of a radius of gyration, m²: what rounding leaves of a point mass may be anything."""


def check_inertias(inertias: Floats, owner: Owner, mass: Floats | float = 0.0) -> dict[int, Fault]:
    """Row number -> what is wrong with that inertia, for those that no body can have."""
    largest = np.abs(inertias).max(axis=(1, 2), initial=0.0)
    asymmetry = np.abs(inertias - inertias.transpose(0, 2, 1)).max(axis=(1, 2), initial=0.0)
    eigenvalues = np.linalg.eigvalsh(_symmetric(inertias))
    low, middle, high = eigenvalues.T
    slack = RELATIVE_TOLERANCE * largest + NOISE * np.nan_to_num(np.abs(mass))
    not_symmetric = asymmetry > slack
    negative = low < -slack
    triangle = low + middle < high - slack
    faults = {}
    for k in np.flatnonzero(not_symmetric | negative | triangle).tolist():
        moments = f"principal moments {_digits(eigenvalues[k])}"
        if not_symmetric[k]:
            problem = f"is not symmetric (entries differ by {asymmetry[k]:.3g})"
            remedy = "make it equal to its transpose."
        elif negative[k]:
            problem = f"is not positive semidefinite: {moments} include a negative one"
            remedy = "check signs and the point it is taken about (the centre of mass)."
        else:
            problem = (
                f"violates the triangle inequality: {moments}, but "
                f"{low[k]:.6g} + {middle[k]:.6g} < {high[k]:.6g}"
            )
            remedy = "correct it, or give repair_inertia=True to take the nearest valid one."
        subject = owner(k)
        problem = f"{subject.named('inertia')} {problem}"
        faults[k] = subject.fault(problem, remedy, "inertia", inertias[k])
    return faults


def nearest_valid(inertia: Floats) -> Floats:
    """The valid inertia whose second-moment matrix Σ is nearest in the Frobenius norm."""
    given = _symmetric(inertia[None])[0]
    sigma = 0.5 * np.trace(given) * np.eye(3) - given
    values, vectors = np.linalg.eigh(sigma)
    sigma = (vectors * np.maximum(values, 0.0)) @ vectors.T
    repaired: Floats = np.trace(sigma) * np.eye(3) - sigma
    return 0.5 * (repaired + repaired.T)


def _symmetric(inertias: Floats) -> Floats:
    return 0.5 * (inertias + inertias.transpose(0, 2, 1))


def _digits(values: Floats) -> str:
    return "(" + ", ".join(f"{v:.6g}" for v in values) + ")"
