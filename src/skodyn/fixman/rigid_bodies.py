"""Serial chains of rigid bodies: eq. 19 of Wang & Chirikjian, at the level of velocities.

Free bodies move with twists V(k). The coordinates of joint k have the rates

    c(k) = Y(k)·(V(k) − φ* V(k − 1)),   Y = [H⁺; N*],

H⁺ the pseudoinverse of the columns of H*, N an orthonormal basis of what they leave out: soft
coordinates are the joint's own velocities, hard ones those that it forbids. The matrix of this map
has two blocks in each row, so H = (∂c/∂ξ) diag(M⁻¹) (∂c/∂ξ)* is block tridiagonal, and

    log det G = Σ log det M(k) + log det (H H*)(k).

A rotor is one more free piece: a speed w of inertia a (the joint's armature), and one more hard
variable c − w for each velocity of its joint, by which H₁₂ and H₂₂ gain copies of the soft rows and
1/a on the diagonal, and log det G gains log a. H₂₂ stays as narrow: six rows for a body at most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skodyn.fixman.banded import pick_bands
from skodyn.fixman.chain import Chain
from skodyn.typing import Floats

__all__ = ["RigidChain"]

PIECE = 2048
"""Bodies that are worked on together: so many that their matrices stay in a cache."""

NARROW = 1e-12
"""A body whose inertia about an axis is below this fraction of the largest has none there."""


def _shift(x: Floats) -> Floats:
    """φ* for arms x (n, 3): the twist of a point that lies at x from where it is known."""
    out = np.zeros((len(x), 6, 6))
    out[:] = np.eye(6)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[:, 3 + k, j], out[:, 3 + j, k] = -x[:, i], x[:, i]
    return out


def slender(chain: Chain) -> NDArray[np.intp]:
    """Bodies without inertia about some axis, or without mass."""
    model = chain.model
    moments = np.linalg.eigvalsh(model.inertia)
    size = np.maximum(moments[:, 2], np.finfo(float).tiny)
    return np.flatnonzero((moments[:, 0] <= NARROW * size) | (model.mass <= 0.0))


@dataclass
class RigidChain:
    """H in blocks: diagonal (n, 6, 6), and the block of joint k with joint k − 1."""

    diagonal: Floats
    below: Floats
    soft: NDArray[np.bool_]  # (n, 6)
    rotor: Floats  # (n, 6): 1/a in soft places whose joint has a rotor, zero elsewhere
    logdet_free: float

    @classmethod
    def of(cls, chain: Chain, soft: NDArray[np.bool_]) -> RigidChain:
        n, logdet = len(chain.n_dof), 0.0
        diagonal, below = np.empty((2, n, 6, 6))
        # M⁻¹ and Y* of the body before the piece: the ground does not move
        last_inverse, last_turned = np.zeros((2, 1, 6, 6))
        for first in range(0, n, PIECE):
            at = slice(first, min(first + PIECE, n))
            inverse, logdet_mass = _inverse_inertias(chain, at)
            y, logdet_columns = _coordinates(chain, at)
            turned, carry = y.transpose(0, 2, 1), _shift(chain.arm[at])
            inner = carry @ np.concatenate((last_inverse, inverse[:-1]))
            diagonal[at] = y @ (inverse + inner @ carry.transpose(0, 2, 1)) @ turned
            below[at] = -y @ inner @ np.concatenate((last_turned, turned[:-1]))
            last_inverse, last_turned = inverse[-1:], turned[-1:]
            logdet += logdet_mass + logdet_columns
        rotor, logdet_rotors = _rotors(chain, soft)
        return cls(diagonal, below, soft, rotor, logdet + logdet_rotors)

    @property
    def size(self) -> int:
        """How many soft variables there are: nv."""
        return int(self.soft.sum())

    @property
    def hard(self) -> NDArray[np.bool_]:
        """Rows with a hard variable: motions that joints forbid, and soft ones against rotors."""
        return ~self.soft | (self.rotor > 0.0)

    def hard_bands(self) -> Floats:
        """H₂₂ as banded.py takes it."""
        hard = self.hard
        counts = np.sum(hard, axis=1)
        width = int((counts + np.append(0, counts[:-1])).max(initial=1))
        bands = np.zeros((int(counts.sum()), width))
        pick_bands(self.diagonal, self.below, ~hard, bands)
        bands[:, 0] += self.rotor[hard]
        return bands

    def apply(self, soft: Floats, hard: Floats) -> tuple[Floats, Floats]:
        """H·[soft; hard], in two parts again."""
        x = np.zeros(self.soft.shape)
        x[self.hard] = hard
        from_rotors = self.rotor * x
        x[self.soft] += soft
        y = np.einsum("kij,kj->ki", self.diagonal, x)
        y[1:] += np.einsum("kij,kj->ki", self.below[1:], x[:-1])
        y[:-1] += np.einsum("kij,ki->kj", self.below[1:], x[1:])
        return y[self.soft], (y + from_rotors)[self.hard]


def _rotors(chain: Chain, soft: NDArray[np.bool_]) -> tuple[Floats, float]:
    """1/a in the places of the velocities that turn a rotor, and the sum of log a over these."""
    armature = np.array([joint.armature for joint in chain.model.joints])
    turned = soft & (armature > 0.0)[:, None]
    inertia = np.broadcast_to(armature[:, None], soft.shape)[turned]
    inverse = np.zeros(soft.shape)
    inverse[turned] = 1.0 / inertia
    return inverse, float(np.log(inertia).sum())


def _inverse_inertias(chain: Chain, at: slice) -> tuple[Floats, float]:
    """M(k)⁻¹ about the bodies' origins, and the sum of log det M(k)."""
    model, r = chain.model, chain.rotation[at]
    mass, inertia = model.mass[at], model.inertia[at]
    about_com = np.zeros((len(r), 6, 6))
    about_com[:, :3, :3] = r @ np.linalg.inv(inertia) @ r.transpose(0, 2, 1)
    about_com[:, [3, 4, 5], [3, 4, 5]] = 1.0 / mass[:, None]
    back = _shift(-np.einsum("kij,kj->ki", r, model.com[at]))
    logdet = np.linalg.slogdet(inertia)[1].sum() + 3.0 * np.log(mass).sum()
    return back @ about_com @ back.transpose(0, 2, 1), float(logdet)


def _coordinates(chain: Chain, at: slice) -> tuple[Floats, float]:
    """Y(k), its soft rows first, and the sum of log det (H H*)(k)."""
    n_dof, start = chain.n_dof[at], chain.start[at]
    y = np.empty((len(n_dof), 6, 6))
    logdet = 0.0
    for count in np.unique(n_dof).tolist():
        which = np.flatnonzero(n_dof == count)
        rows = start[which][:, None] + np.arange(count)
        columns = chain.column[rows].transpose(0, 2, 1)  # 6 × count each
        q, r = np.linalg.qr(columns, mode="complete")
        y[which, count:] = q[:, :, count:].transpose(0, 2, 1)
        if count:
            upper = r[:, :count]
            y[which, :count] = np.linalg.solve(upper, q[:, :, :count].transpose(0, 2, 1))
            diagonal = np.diagonal(upper, axis1=1, axis2=2)
            logdet += 2.0 * float(np.log(np.abs(diagonal)).sum())
    return y, logdet
