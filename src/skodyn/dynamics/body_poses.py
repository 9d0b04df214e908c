"""Poses of all bodies: one state or a batch."""

from __future__ import annotations

import numpy as np

from skodyn.dynamics import flexible_algorithms as _flexible
from skodyn.dynamics.algorithms import KINEMATICS
from skodyn.dynamics.driver import COMPILED, NOTHING, first_block, run
from skodyn.kernels import body_poses as _body_poses
from skodyn.kernels.forward_kinematics import ROW
from skodyn.model.columns import Floats
from skodyn.model.model import Model
from skodyn.typing import Coordinates, Positions, Rotations

__all__ = ["forward_kinematics"]

_ROWS = _body_poses.POSE
_AXES = object()  # by it a model keeps what kernels need of the axes of its bodies


def forward_kinematics(
    model: Model, q: Coordinates, *, threads: int | None = None
) -> tuple[Rotations, Positions]:
    """Poses of all bodies in the world, O(n).

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    rotations : ndarray, shape (n, 3, 3) or (B, n, 3, 3)
        The columns of each are the body's axes in world axes: x_world = R·x_body + p. Bodies are in
        the order of `model.body_names`; `model.body_index` finds one.
    positions : ndarray, shape (n, 3) or (B, n, 3)
        The bodies' origins, where their joints sit, in world axes, m.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.

    See Also
    --------
    velocities : how bodies move.
    jacobian : of any point of a body.
    frame_poses : of frames that are fixed in bodies.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> rotations, positions = sk.forward_kinematics(model, [np.pi / 2, 0.0])
    >>> positions[model.body_index("link2")].round(3)    # the first rod points along −x
    array([-1.,  0., -0.])
    """
    n = model.n_bodies
    tables = model.frame_tables
    axes = tables[_AXES] if _AXES in tables else _axes(model)
    if type(q) is COMPILED and q.ndim == 1 and threads is None:  # type: ignore[union-attr]
        result = np.empty((_ROWS * n, 3))
        blocks = model.kernel_blocks
        try:
            if KINEMATICS.ready(blocks[0] if blocks else first_block(model), q, axes, result) == 0:
                return result[: 3 * n].reshape(n, 3, 3), result[3 * n :]
        except TypeError:  # not a contiguous float64 array
            pass
    if model.flexible:
        return _bent_poses(model, q, threads)
    result = run(KINEMATICS, model, (_ROWS * n, 3), q, NOTHING, axes, threads=threads)
    return result[..., : 3 * n, :].reshape(*result.shape[:-2], n, 3, 3), result[..., 3 * n :, :]


def _axes(model: Model) -> Floats:
    """Those of the bodies in their kernel frames, nine numbers each; kept for the next call."""
    found = np.ascontiguousarray(model.alignment.transpose(0, 2, 1)).reshape(-1)
    return model.frame_tables.setdefault(_AXES, found)


def _bent_poses(model: Model, q: Coordinates, threads: int | None) -> tuple[Rotations, Positions]:
    """Of a model with modes, whose kernels write in the axes of kernel frames."""
    table = run(_flexible.BENT_KINEMATICS, model, (model.n_bodies, ROW), q, threads=threads)
    turned = table[..., :9].reshape(*table.shape[:-1], 3, 3)
    rotations: Rotations = turned @ model.alignment.transpose(0, 2, 1)
    return rotations, np.ascontiguousarray(table[..., 9:12])
