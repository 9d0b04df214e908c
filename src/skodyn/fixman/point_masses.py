"""Serial chains of point masses: eqs. 1–9 of Wang & Chirikjian, bonds and bond angles hard.

Mass k sits at the end of bond b(k), which begins at mass k − 1. A joint with two axes there leaves
the length of the bond as hard variable; a joint with one axis along the bond before leaves length
and bond angle; a joint with all three translations leaves nothing. The rates of all coordinates c
of the free masses follow from

    ẋ(k) − ẋ(k − 1) = ω(k − 1) × b(k) + D(k) ċ(k),   ω(k) = ω(k − 1) + A(k) ċ(k),

which is block triangular: log det G = Σ 3 log m(k) + 2 log |det D(k)|, and ∂c/∂x and its transpose
are applied by one recursion each, O(n), without ever being formed. The gradients of lengths and
angles reach two masses back at most, so H₂₂ is banded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skodyn.fixman.chain import Chain
from skodyn.fixman.point_recursions import gather_forces, scatter_rates
from skodyn.typing import Floats

__all__ = ["PointChain", "takes"]

TOUCHING = 1e-9
"""Relative to the bond: how well a joint must sit on a mass, or an axis lie along a bond."""
_KINDS = {"translation": 3, "universal": 2, "revolute": 1}


@dataclass
class PointChain:
    """Blocks of three coordinates for each mass, soft ones first."""

    bond: Floats  # (n, 3)
    to_bond: Floats  # D(k)⁻¹
    turn: Floats  # A(k)
    inverse_mass: Floats
    gradient: Floats  # (hard, 3, 3): of each hard variable by x(k), x(k − 1), x(k − 2)
    owner: NDArray[np.intp]  # the mass k of each hard variable
    soft: NDArray[np.bool_]
    logdet_free: float

    @classmethod
    def of(cls, chain: Chain) -> PointChain:
        model = chain.model
        bond = np.einsum("kij,kj->ki", chain.rotation, model.com)
        d, turn = _soft_directions(chain, bond)
        gradient, owner = _add_hard_directions(chain, bond, d, turn)
        logdet = 3.0 * np.log(model.mass).sum() + 2.0 * np.linalg.slogdet(d)[1].sum()
        soft = np.arange(3) < chain.n_dof[:, None]
        return cls(
            bond,
            np.asarray(np.linalg.inv(d), np.float64),
            turn,
            1.0 / model.mass,
            gradient,
            owner,
            soft,
            float(logdet),
        )

    @property
    def size(self) -> int:
        return int(self.soft.sum())

    def hard_bands(self) -> Floats:
        """H₂₂ as banded.py takes it: eq. 4 for pairs that share a mass."""
        count = len(self.owner)
        bands = np.zeros((count, 6))
        for offset in range(min(6, count)):
            late, early = slice(offset, count), slice(0, count - offset)
            gap = self.owner[late] - self.owner[early]
            for back in range(3):  # mass owner − back, which is `ahead` from the earlier owner
                ahead = back - gap
                fits = (ahead >= 0) & (self.owner[late] - back >= 0)
                rows = np.flatnonzero(fits)
                shared = self.owner[late][rows] - back
                g, h = self.gradient[late][rows, back], self.gradient[early][rows, ahead[rows]]
                bands[rows + offset, offset] += (
                    np.einsum("ij,ij->i", g, h) * (self.inverse_mass[shared])
                )
        return bands

    def apply(self, soft: Floats, hard: Floats) -> tuple[Floats, Floats]:
        """H·[soft; hard], in two parts again."""
        c = np.empty(self.soft.shape)
        c[self.soft], c[~self.soft] = soft, hard
        x = np.zeros_like(c)
        gather_forces(self.bond, self.to_bond, self.turn, c, x)
        x *= self.inverse_mass[:, None]
        scatter_rates(self.bond, self.to_bond, self.turn, x, c)
        return c[self.soft], c[~self.soft]


def _soft_directions(chain: Chain, bond: Floats) -> tuple[Floats, Floats]:
    """The columns of D and A that belong to the joints' own velocities; the others are zero."""
    d, turn = np.zeros((2, len(bond), 3, 3))
    for i in range(3):
        k = np.flatnonzero(chain.n_dof > i)
        axis = chain.column[chain.start[k] + i]
        d[k, :, i] = np.cross(axis[:, :3], bond[k]) + axis[:, 3:]
        turn[k, :, i] = axis[:, :3]
    return d, turn


def _add_hard_directions(
    chain: Chain, bond: Floats, d: Floats, turn: Floats
) -> tuple[Floats, NDArray[np.intp]]:
    """The gradients of lengths and bond angles, mass by mass; completes D and A."""
    length = np.linalg.norm(bond, axis=1, keepdims=True)
    k = np.flatnonzero(chain.n_dof < 3)
    along = bond[k] / length[k]
    d[k, :, chain.n_dof[k]] = along
    lengths = np.stack((along, -along, np.zeros_like(along)), axis=1)
    j = np.flatnonzero(chain.n_dof == 1)
    unit, axis = bond[j] / length[j], chain.column[chain.start[j], :3]
    normal = np.cross(axis, unit)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    d[j, :, 2], turn[j, :, 2] = np.cross(normal, bond[j]), normal
    outer = np.cross(normal, unit) / length[j]
    # the axis is a bond, or its opposite, and turns when that bond does, unless the ground holds it
    c = np.flatnonzero(j > _first_bond(chain))
    before = bond[j[c] - 1]
    ahead = np.sign(np.sum(axis[c] * before, axis=1, keepdims=True))
    inner = np.zeros_like(outer)
    inner[c] = -np.cross(normal[c], axis[c]) * ahead / length[j[c] - 1]
    angles = np.stack((outer, inner - outer, -inner), axis=1)
    owner = np.concatenate((k, j))
    order = np.argsort(owner, kind="stable")
    return np.concatenate((lengths, angles))[order], owner[order]


def _first_bond(chain: Chain) -> int:
    """The first mass that is not free: what hangs from it has an axis that moves."""
    bonded = np.flatnonzero(chain.n_dof < 3)
    return int(bonded[0]) if bonded.size else len(chain.n_dof)


def takes(chain: Chain) -> bool:
    """Is it a chain of point masses on bonds, whose hard variables are local?

    Joints with two axes, or one along the bond before, each on the mass before it and without a
    rotor; only the first mass may be free. Any other chain is one of lumped masses.
    """
    model, first = chain.model, _first_bond(chain)
    if model.inertia.any() or not (model.mass > 0.0).all():
        return False
    bond = np.einsum("kij,kj->ki", chain.rotation, model.com)
    return all(_fits(chain, bond, k, first) for k in range(model.n_bodies))


def _fits(chain: Chain, bond: Floats, k: int, first: int) -> bool:
    joint = chain.model.joints[k]
    if joint.type_name not in _KINDS or joint.armature > 0.0:
        return False
    if joint.type_name == "translation":
        return k == 0
    length = float(np.linalg.norm(bond[k - 1]))
    if k and float(np.linalg.norm(chain.arm[k] - bond[k - 1])) > TOUCHING * (1.0 + length):
        return False
    if joint.type_name == "revolute" and k > first:
        across = float(np.linalg.norm(np.cross(chain.column[chain.start[k], :3], bond[k - 1])))
        return across <= TOUCHING * length
    return True
