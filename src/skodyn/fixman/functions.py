"""The functions of Fixman's method: a model and one configuration in, numbers out."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skodyn.errors import DynamicsError, ModelError, StateError
from skodyn.fixman import banded
from skodyn.fixman.chain import Chain, read_chain
from skodyn.fixman.point_masses import PointChain
from skodyn.fixman.rigid_bodies import RigidChain, slender
from skodyn.model.columns import Floats
from skodyn.model.coordinates import vector
from skodyn.model.model import Model

__all__ = ["hard_matrix", "mass_matrix_logdet", "mass_matrix_solve"]


def mass_matrix_logdet(model: Model, q: ArrayLike) -> float:
    """log det 𝓜 = log det G + log det H₂₂, O(n); serial chains only."""
    pieces = _take_apart(model, q)
    factor = _factor(model, pieces)
    return pieces.logdet_free + 2.0 * float(np.log(factor[:, 0]).sum())


def mass_matrix_solve(model: Model, q: ArrayLike, rhs: ArrayLike) -> Floats:
    """𝓜⁻¹·rhs by eq. 9, O(n); serial chains only."""
    b = _single(vector(rhs, model.nv, "rhs"), "rhs")
    pieces = _take_apart(model, q)
    factor = _factor(model, pieces)
    none = np.zeros(len(factor))
    c, d = pieces.apply(b, none)  # H₁₁ b and H₁₂* b
    banded.solve(factor, d)
    f, _ = pieces.apply(np.zeros(model.nv), d)  # H₁₂ H₂₂⁻¹ H₁₂* b
    return c - f


def hard_matrix(model: Model, q: ArrayLike) -> Floats:
    """H₂₂ of the hard variables in bands: row i holds H₂₂[i, i], H₂₂[i, i − 1], …"""
    return _take_apart(model, q).hard_bands()


def _take_apart(model: Model, q: ArrayLike) -> RigidChain | PointChain:
    """As rigid bodies if all have inertia, as point masses if none has."""
    model.refuse_mimics("the fixman package")
    model.refuse_loops("the fixman package")
    chain = read_chain(model, _single(model.check_q(q), "q"))
    thin = slender(chain)
    if not thin.size:
        return RigidChain.of(chain)
    if not model.inertia.any() and (model.mass > 0.0).all():
        return PointChain.of(chain)
    raise ModelError(_neither(chain, int(thin[0])))


def _single(values: Floats, name: str) -> Floats:
    if values.ndim != 1:
        raise StateError(
            f"{name} has shape {values.shape}, but Fixman's method takes one configuration at a "
            "time",
            "skodyn.mass_matrix_logdet and skodyn.mass_matrix_solve take batches.",
        )
    return values


def _neither(chain: Chain, k: int) -> str:
    name = chain.model.body_names[k]
    return (
        f"Body {name!r} has no mass, or no inertia about some axis: Fixman's method takes chains "
        "whose bodies all have mass and inertia, or all are point masses (no inertia at all)."
    )


def _factor(model: Model, pieces: RigidChain | PointChain) -> Floats:
    bands = pieces.hard_bands()
    if banded.factorize(bands) >= 0:
        raise DynamicsError(
            f"H₂₂ of model {model.name!r} is not positive definite to rounding; the masses differ "
            "too much in size, or an axis of a joint lies along its bond."
        )
    return bands
