"""Serial chains with masses lumped at joints: hinges in any direction, prismatic joints, rods.

The text after eq. 5 of Wang & Chirikjian has in mind an arm whose masses sit at its joints. Of a
body that is a point, or a rod, H = (∂c/∂ξ) M⁻¹ (∂c/∂ξ)* does not exist: nothing resists a turn
about the point. As a function of the masses' places alone the direction of a hinge depends on all
masses before it, so that H₂₂ of free points would be full. But H₂₂ = C M⁻¹ C*, with C the rows of
∂c/∂ξ that are hard, is what elimination of the twists leaves of

    K = [[M, C*], [C, 0]],

which exists, is banded as well, and regular wherever the mass matrix G₁₁ is: with J = ∂ξ/∂c and r
hard variables, J*MJ = G and CJ = [0, I], so that

    det G₁₁ = (−1)^r (det J)² det K,      K [V; λ] = [C₁*b; 0],   x = C₁V   solves G₁₁x = b,

where C₁ are the soft rows. det J is a product over the joints, Π det [H*, N](k). A rotor adds its
inertia a to M as aC₁*C₁, which joins two bodies. O(n), by an LU factorisation of K in bands.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import DynamicsError
from skodyn.fixman import banded_pencil
from skodyn.fixman.chain import Chain
from skodyn.fixman.pencil_blocks import PencilBlocks
from skodyn.fixman.rigid_bodies import _coordinates, _rotors, _shift
from skodyn.typing import Floats

__all__ = ["LumpedChain"]

SMALL = 1e3 * float(np.finfo(np.float64).eps)
"""A pivot below this fraction of the largest beside it is rounding."""


@dataclass
class LumpedChain:
    """K in bands, factorised."""

    blocks: PencilBlocks
    soft: NDArray[np.bool_]  # (n, 6)
    below: int  # how many bands there are below the diagonal, and above
    bands: Floats
    exchanged: NDArray[np.int64]
    scale: float  # by which M was divided
    logdet: float  # of G₁₁

    @classmethod
    def of(cls, chain: Chain, soft: NDArray[np.bool_]) -> LumpedChain:
        whole = slice(0, len(chain.n_dof))
        own, logdet_joints = _coordinates(chain, whole)  # Σ 2 log |det [H*, N]|
        carried = own @ _shift(chain.arm)
        inertia, rotors = _with_rotors(chain, _inertias(chain), own, carried, soft)
        scale = float(np.abs(inertia).max(initial=0.0)) or 1.0
        hard = ~soft
        start = np.concatenate(([0], np.cumsum(6 + hard.sum(axis=1)))).astype(np.int64)
        blocks = PencilBlocks(inertia / scale, rotors / scale, own, carried, hard, start)
        below = 17 if rotors.any() else 11
        bands = np.zeros((int(start[-1]), 3 * below + 1))
        banded_pencil.fill(blocks, below, bands)
        exchanged = np.zeros(len(bands), dtype=np.int64)
        bad = banded_pencil.factorize(below, below, bands, exchanged)
        _refuse(chain, start, bands[:, below], bad)
        twists, hards = 6 * len(hard), int(hard.sum())
        pivots = np.log(np.abs(bands[:, below])).sum()
        logdet = float(pivots + (twists - hards) * np.log(scale) + logdet_joints)
        return cls(blocks, soft, below, bands, exchanged, scale, logdet)

    @property
    def size(self) -> int:
        """How many soft variables there are."""
        return int(self.soft.sum())

    def solve(self, b: Floats) -> Floats:
        """G₁₁⁻¹b."""
        own, carried, start = self.blocks.own, self.blocks.carried, self.blocks.start
        load = np.zeros(self.soft.shape)
        load[self.soft] = b
        force = np.einsum("kij,ki->kj", own, load)
        force[:-1] -= np.einsum("kij,ki->kj", carried[1:], load[1:])
        at = start[1:, None] - 6 + np.arange(6)
        x = np.zeros(len(self.bands))
        x[at] = force / self.scale
        banded_pencil.solve(self.below, self.below, self.bands, self.exchanged, x)
        V = x[at]
        rates = np.einsum("kij,kj->ki", own, V)
        rates[1:] -= np.einsum("kij,kj->ki", carried[1:], V[:-1])
        x_soft: Floats = rates[self.soft]
        return x_soft


def _inertias(chain: Chain) -> Floats:
    """M(k) about the bodies' origins, in world axes."""
    model, r = chain.model, chain.rotation
    about_com = np.zeros((len(r), 6, 6))
    about_com[:, :3, :3] = r @ model.inertia @ r.transpose(0, 2, 1)
    about_com[:, [3, 4, 5], [3, 4, 5]] = model.mass[:, None]
    to_com = _shift(np.einsum("kij,kj->ki", r, model.com))
    return to_com.transpose(0, 2, 1) @ about_com @ to_com


def _with_rotors(
    chain: Chain, inertia: Floats, own: Floats, carried: Floats, soft: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """M with aC₁*C₁ of every rotor, and what that puts between neighbours."""
    between = np.zeros_like(inertia)
    inverse, _ = _rotors(chain, soft)
    if not inverse.any():
        return inertia, between
    a = np.divide(1.0, inverse, out=np.zeros_like(inverse), where=inverse > 0.0)
    inertia = inertia + np.einsum("kai,ka,kaj->kij", own, a, own)
    inertia[:-1] += np.einsum("kai,ka,kaj->kij", carried[1:], a[1:], carried[1:])
    between[1:] = -np.einsum("kai,ka,kaj->kij", own[1:], a[1:], carried[1:])
    return inertia, between


def _refuse(chain: Chain, start: NDArray[np.int64], pivots: Floats, bad: int) -> None:
    """A DynamicsError names the body at which nothing resists a joint."""
    if bad < 0:
        small = np.flatnonzero(np.abs(pivots) < SMALL * np.abs(pivots).max(initial=0.0))
        bad = int(small[0]) if small.size else -1
    if bad >= 0:
        k = int(np.searchsorted(start, bad, side="right")) - 1
        raise DynamicsError(
            f"The mass matrix of model {chain.model.name!r} is singular to rounding, near body "
            f"{chain.model.body_names[k]!r}: nothing resists its joint, or one before it."
        )
