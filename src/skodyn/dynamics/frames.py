"""Poses and velocities of named frames and bodies: one or several, one state or a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skodyn.conventions import GROUND
from skodyn.dynamics import coupled as _coupled
from skodyn.dynamics import looped as _looped
from skodyn.dynamics.algorithm import Algorithm
from skodyn.dynamics.driver import COMPILED, NOTHING, first_block, run
from skodyn.errors import Fault, ModelError, StateError
from skodyn.kernels import frame_motion as _frame_motion
from skodyn.model.model import Model
from skodyn.model.products import applied, product
from skodyn.typing import Floats

__all__ = ["frame_poses", "frame_velocities"]

POSES = Algorithm(
    _frame_motion.frame_poses,
    _frame_motion.frame_poses_batch,
    dimensions=2,
    coupled=_coupled.expanded,
    looped=_looped.as_tree,
)
VELOCITIES = Algorithm(
    _frame_motion.frame_velocities,
    _frame_motion.frame_velocities_batch,
    dimensions=2,
    coupled=_coupled.expanded,
    looped=_looped.as_tree,
)


def frame_poses(
    model: Model,
    q: ArrayLike,
    frames: str | Sequence[str],
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> Floats:
    """Poses of named frames or bodies in the world.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    frames : str or sequence of str
        The name of a frame or body, or k of them.
    out : ndarray of float64, optional
        Array of the result's shape to write into; it is also returned.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    poses : ndarray, shape (4, 4) or (B, 4, 4); (k, 4, 4) or (B, k, 4, 4) for k names
        Homogeneous matrices: the axes in [:3, :3], the origin in [:3, 3], m.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    ModelError
        There is no such frame.

    See Also
    --------
    frame_velocities : how they move.
    forward_kinematics : all bodies at once.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> sk.frame_poses(model, [0.0, 0.0], "link2")[:3, 3]
    array([ 0.,  0., -1.])
    """
    table = frame_table(model, frames)
    if type(frames) is str and type(q) is COMPILED and q.ndim == 1 and threads is None:  # type: ignore[union-attr]
        result = np.empty((4, 4)) if out is None else out
        blocks = model._kernel_blocks
        try:
            if POSES.ready(blocks[0] if blocks else first_block(model), q, table, result) == 0:
                return result
        except TypeError:  # not contiguous float64 arrays of the right number of axes
            pass
    return _of_frames(POSES, model, (4, 4), frames, q, NOTHING, table, out, threads)


def frame_velocities(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frames: str | Sequence[str],
    *,
    out: Floats | None = None,
    threads: int | None = None,
) -> Floats:
    """Spatial velocities of named frames or bodies.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,) or (B, nq)
        Coordinates of one state or of B states: angles in rad, lengths in m, quaternions
        (w, x, y, z) of unit length.
    v : array_like, shape (nv,) or (B, nv)
        Velocities, rad/s and m/s.
    frames : str or sequence of str
        The name of a frame or body, or k of them.
    out : ndarray of float64, optional
        Array of the result's shape to write into; it is also returned.
    threads : int, optional
        At most this many threads for a batch; all cores by default. It changes no bit.

    Returns
    -------
    velocities : ndarray, shape (6,) or (B, 6); (k, 6) or (B, k, 6) for k names
        [ω; velocity of the origin] in world axes, rad/s and m/s: J·v of `jacobian`.

    Raises
    ------
    StateError
        An argument has the wrong shape or is not finite, or a quaternion is not of unit length.
    ModelError
        There is no such frame.

    See Also
    --------
    frame_poses : where they are.
    jacobian : J by itself.

    Examples
    --------
    >>> model = sk.examples.pendulum(2)
    >>> sk.frame_velocities(model, [0.0, 0.0], [1.0, 0.0], "link2")[3:]
    array([-1.,  0.,  0.])
    """
    table = frame_table(model, frames)
    return _of_frames(VELOCITIES, model, (6,), frames, q, v, table, out, threads)


def _of_frames(
    algorithm: Algorithm,
    model: Model,
    each: tuple[int, ...],
    frames: Any,
    q: Any,
    v: Any,
    table: Floats,
    out: Floats | None,
    threads: int | None,
) -> Floats:
    """The kernel's result has the frames one below the other."""
    count = len(table) // _frame_motion.FRAME
    flat = (4 * count, 4) if len(each) == 2 else (count, 6)
    result = run(algorithm, model, flat, q, v, table, None, None, threads)
    states = result.shape[:-2]
    result = result.reshape(*states, *(() if isinstance(frames, str) else (count,)), *each)
    return _coupled.deliver(result, out)


def frame_table(model: Model, frames: Any) -> Floats:
    """How many, and of each (body, axes and origin in the kernel frame); kept for the next call."""
    try:
        return model._frame_tables[frames]
    except (KeyError, TypeError):
        pass
    names = [frames] if isinstance(frames, str) else frames
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise StateError(f"frames is {frames!r}", "give a name of a frame or body, or a list.")
    found = _packed(model, names)
    if isinstance(frames, str | tuple):
        model._frame_tables[frames] = found
    return found


def _packed(model: Model, names: Sequence[str]) -> Floats:
    faults: list[Fault] = []
    table = np.empty((len(names), _frame_motion.FRAME))
    for row, name in zip(table, names, strict=True):
        try:
            frame = model.frame(name)
        except ModelError as error:
            faults.extend(error.faults)
            continue
        k = -1 if frame.body == GROUND else model.body_index(frame.body)
        back = np.eye(3) if k < 0 else model.alignment[k].T
        row[0] = k
        row[1:10] = product(back, frame.rotation).reshape(-1)
        row[10:] = applied(back, frame.translation)
    if faults:
        raise ModelError(faults)
    return np.concatenate(([float(len(names))], table.reshape(-1)))
