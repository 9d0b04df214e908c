"""Poses of all bodies: one state or a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.dynamics import flexible_algorithms as _flexible
from skodyn.dynamics.algorithms import KINEMATICS
from skodyn.dynamics.coupled import deliver
from skodyn.dynamics.driver import COMPILED, NOTHING, first_block, run
from skodyn.errors import StateError
from skodyn.faults import shown
from skodyn.kernels import body_poses as _body_poses
from skodyn.kernels.forward_kinematics import ROW
from skodyn.model.model import Model
from skodyn.typing import Coordinates, Floats, Positions, Rotations

__all__ = ["forward_kinematics"]

_AXES = object()  # by it a model keeps what kernels need of the axes of its bodies


def forward_kinematics(
    model: Model,
    q: Coordinates,
    *,
    out: tuple[Floats, Floats] | None = None,
    threads: int | None = None,
) -> tuple[Rotations, Positions]:
    """Poses of all bodies in the world, O(n).

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    out : pair of ndarrays of float64, optional
        Rotations and positions of the result's shapes to write into; they are also returned. For a
        batch, those that an earlier call returned cost no copy.
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
    tables = model._frame_tables
    axes = tables[_AXES] if _AXES in tables else _axes(model)
    if type(q) is COMPILED and q.ndim == 1 and threads is None:  # type: ignore[union-attr]
        blocks = model._kernel_blocks
        try:
            if out is None:
                n = len(axes) // _body_poses.AXES
                rotations, positions = np.empty((n, 3, 3)), np.empty((n, 3))
            else:
                rotations, positions = out
            block = blocks[0] if blocks else first_block(model)
            if _body_poses.body_poses.ready(block, q, axes, rotations, positions) == 0:
                return rotations, positions
        except (TypeError, ValueError):  # not contiguous float64 arrays, or no pair of them
            pass
    return _slowly(model, q, axes, out, threads)


def _slowly(
    model: Model, q: Coordinates, axes: Floats, out: Any, threads: int | None
) -> tuple[Rotations, Positions]:
    """All that is not one well-formed state of a tree."""
    if out is not None and not (isinstance(out, tuple | list) and len(out) == 2):
        raise StateError(f"out is {shown(out)}", "give a pair of arrays: rotations, positions.")
    into: Any = out or (None, None)
    size = (_body_poses.POSE * model.n_bodies, 3)
    table = _one_table(into, model.n_bodies)
    if model.flexible:
        found = _bent_poses(model, q, threads)
    else:
        found = _parts(run(KINEMATICS, model, size, q, NOTHING, axes, None, table, threads))
        if table is not None:
            return into[0], into[1]
    return deliver(found[0], into[0]), deliver(found[1], into[1])


def _parts(table: Floats) -> tuple[Rotations, Positions]:
    """Rotations and positions of states whose rows have all of the one before all of the other."""
    n = table.shape[-2] // _body_poses.POSE
    turned = table[..., : 3 * n, :].reshape(*table.shape[:-2], n, 3, 3)
    return turned, table[..., 3 * n :, :]


def _one_table(out: Any, n: int) -> Floats | None:
    """The table that both results of an earlier call for a batch lie in, to be written again."""
    if any(type(one) is not np.ndarray for one in out):
        return None
    table = out[0].base
    if type(table) is not np.ndarray or table.shape[1:] != (_body_poses.POSE * n, 3):
        return None
    views = zip(out, _parts(table), strict=True)
    same = all(a.__array_interface__ == b.__array_interface__ for a, b in views)
    return table if same else None


def _axes(model: Model) -> Floats:
    """Those of the bodies in their kernel frames, nine numbers each; kept for the next call."""
    found = np.ascontiguousarray(model.alignment.transpose(0, 2, 1)).reshape(-1)
    return model._frame_tables.setdefault(_AXES, found)


def _bent_poses(model: Model, q: Coordinates, threads: int | None) -> tuple[Rotations, Positions]:
    """Of a model with modes, whose kernels write in the axes of kernel frames."""
    table = run(_flexible.BENT_KINEMATICS, model, (model.n_bodies, ROW), q, threads=threads)
    turned = table[..., :9].reshape(*table.shape[:-1], 3, 3)
    rotations: Rotations = turned @ model.alignment.transpose(0, 2, 1)
    return rotations, np.ascontiguousarray(table[..., 9:12])
