"""What both kinds of chain have in common: a serial tree, its poses, and its columns of H*."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skodyn.dynamics import forward_kinematics, joint_columns
from skodyn.errors import ModelError
from skodyn.model.model import Model
from skodyn.typing import Floats

__all__ = ["Chain", "read_chain"]


@dataclass(frozen=True)
class Chain:
    """World axes. arm[k] leads from the origin of body k − 1, or the world, to that of body k."""

    model: Model
    rotation: Floats  # (n, 3, 3)
    position: Floats  # (n, 3)
    arm: Floats  # (n, 3)
    column: Floats  # (nv, 6), about the body's origin
    n_dof: NDArray[np.int64]
    start: NDArray[np.int64]


def read_chain(model: Model, q: Floats) -> Chain:
    """The chain in configuration q; a ModelError names the body at which a tree branches."""
    parent = model.tree.parent
    odd = np.flatnonzero(parent != np.arange(-1, model.n_bodies - 1))
    if odd.size:
        k = int(odd[0])
        inner = "the ground" if parent[k] < 0 else f"body {model.body_names[int(parent[k])]!r}"
        raise ModelError(
            f"Fixman's method is for serial chains, but {inner} carries body "
            f"{model.body_names[k]!r} besides another",
            "use skodyn.mass_matrix_logdet and skodyn.mass_matrix_solve, which take any tree.",
        )
    rotation, position = forward_kinematics(model, q)
    arm = np.diff(position, axis=0, prepend=np.zeros((1, 3)))
    n_dof = np.array([joint.nv for joint in model.joints], dtype=np.int64)
    column = joint_columns(model, q)
    return Chain(model, rotation, position, arm, column, n_dof, np.cumsum(n_dof) - n_dof)
