"""Mimic joints: one coordinate that follows another, q = multiplier·q_source + offset, exactly.

A mimic joint has no coordinate of its own in the state. The tree behind the state still has one for
every joint (`Model.uncoupled`); this file knows how the two belong together. With G the matrix of
v_full = G·v, forces are carried back by Gᵀ and the mass matrix is Gᵀ𝓜G.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skodyn.conventions import JointKind
from skodyn.model import layout
from skodyn.model.mimic_tables import expand_rows, fold_matrices, fold_rows
from skodyn.typing import Floats

if TYPE_CHECKING:
    from skodyn.model.model import Model

__all__ = ["Coupling", "Mimic", "state_indices"]

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Mimic:
    """What a joint follows. The source moves by itself: chains were followed to their end."""

    source: str
    multiplier: float
    offset: float


def state_indices(indices: Whole, follows: NDArray[np.bool_]) -> Whole:
    """The layout of the state: joints that follow have no coordinate in it, as if fixed."""
    if not follows.any():
        return indices
    before: Whole = np.cumsum(follows) - follows
    state = indices.copy()
    state[:, layout.Q_START] -= before
    state[:, layout.V_START] -= before
    state[follows, layout.KIND] = JointKind.FIXED
    state[follows, layout.N_DOF] = 0
    state.setflags(write=False)
    return state


class Coupling:
    """The coordinates of the state inside those of the uncoupled tree.

    q_at, v_at: where each coordinate and velocity of the state lies in the tree. Rows of the
    others are one per mimic joint, in the order of bodies.
    """

    def __init__(self, model: Model) -> None:
        numbers = {name: k for k, name in enumerate(model.joint_names)}
        bodies = np.array([numbers[name] for name in model.mimics], dtype=np.int64)
        sources = np.array([numbers[m.source] for m in model.mimics.values()], dtype=np.int64)
        self.bodies, self.source_bodies = bodies, sources
        self.coordinates = model.indices[bodies, layout.Q_START]
        self.source_coordinates = model.indices[sources, layout.Q_START]
        self.dofs = model.indices[bodies, layout.V_START]
        self.source_dofs = model.indices[sources, layout.V_START]
        self.multiplier = np.array([m.multiplier for m in model.mimics.values()])
        self.offset = np.array([m.offset for m in model.mimics.values()])
        self._nothing = np.zeros(len(self.offset))
        self.nq = sum(joint.nq for joint in model.joints)
        self.nv = int(model.indices[:, layout.N_DOF].sum())
        self.q_at = np.delete(np.arange(self.nq), self.coordinates)
        self.v_at = np.delete(np.arange(self.nv), self.dofs)

    def expand_q(self, q: Floats) -> Floats:
        """Coordinates of every joint, from those of the state; without mimic joints q itself."""
        if not self.bodies.size:
            return q
        full = np.empty((*q.shape[:-1], self.nq))
        expand_rows(
            q.reshape(-1), self.q_at, self.coordinates, self.source_coordinates, self.multiplier,
            self.offset, full.reshape(-1),
        )  # fmt: skip
        return full

    def expand_v(self, v: Floats) -> Floats:
        """G·v: velocities, or accelerations, of every joint; without mimic joints v itself."""
        if not self.bodies.size:
            return v
        full = np.empty((*v.shape[:-1], self.nv))
        expand_rows(
            v.reshape(-1), self.v_at, self.dofs, self.source_dofs, self.multiplier, self._nothing,
            full.reshape(-1),
        )  # fmt: skip
        return full

    def expand_y(self, y: Floats) -> Floats:
        """The same for rows of velocities with integrals behind them, which stay as they are."""
        n = self.v_at.size
        return np.hstack((self.expand_v(y[:, :n]), y[:, n:]))

    def spread(self, tau: Floats) -> Floats:
        """Forces on every joint of which Gᵀ makes tau again: none on those that follow."""
        full = np.zeros((*tau.shape[:-1], self.nv))
        full[..., self.v_at] = tau
        return full

    def project(self, tau: Floats) -> Floats:
        """Gᵀ·tau along the last axis: what forces on every joint are to the state."""
        out = np.empty((*tau.shape[:-1], self.v_at.size))
        full = np.array(tau).reshape(-1)  # a copy, to be folded
        fold_rows(full, self.v_at, self.dofs, self.source_dofs, self.multiplier, out.reshape(-1))
        return out

    def project_matrix(self, matrix: Floats) -> Floats:
        """Gᵀ·matrix·G of a symmetric matrix, symmetric to the last bit."""
        n = self.v_at.size
        out = np.empty((*matrix.shape[:-2], n, n))
        full = np.array(matrix).reshape(-1)
        fold_matrices(
            full, self.v_at, self.dofs, self.source_dofs, self.multiplier, out.reshape(-1)
        )
        return out

    def kernel_table(self) -> Whole:
        """What kernels read of it: sizes, q_at, v_at, and a row for each coupled joint.

        Sources come first, each once, then mimics. A row: body, degree of freedom, coordinate, and
        the number of the source that it follows (itself, for a source).
        """
        sources, first, follows = np.unique(
            self.source_bodies, return_index=True, return_inverse=True
        )
        leading = np.stack(
            (
                sources,
                self.source_dofs[first],
                self.source_coordinates[first],
                np.arange(len(sources)),
            ),
            axis=1,
        )
        following = np.stack((self.bodies, self.dofs, self.coordinates, follows), axis=1)
        sizes = (len(self.bodies), len(sources))
        parts = (sizes, self.q_at, self.v_at, leading.reshape(-1), following.reshape(-1))
        return np.concatenate(parts).astype(np.int64)


def in_body_order(mimics: Mapping[str, Mimic], joint_names: Sequence[str]) -> dict[str, Mimic]:
    """The same, sorted as the model numbers its joints."""
    return {name: mimics[name] for name in joint_names if name in mimics}
