"""`dynamics` for a controller that is called through Python: the same methods on a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skodyn import dynamics
from skodyn.model.model import Model
from skodyn.typing import Floats

__all__ = ["ModelDynamics"]


class ModelDynamics:
    """What control_methods.py has, by the public functions."""

    def __init__(self, model: Model, frames: Sequence[str]) -> None:
        # of a model with loops, the dynamics of its tree, as compiled laws have it
        self._model = model.opened if model.has_loops else model
        self._frames = tuple(frames)
        self.nq, self.nv = model.nq, model.nv

    def inverse_dynamics(self, q: Floats, v: Floats, vdot: Floats, out: Floats) -> None:
        out[:] = dynamics.inverse_dynamics(self._model, q, v, vdot)

    def bias_force(self, q: Floats, v: Floats, out: Floats) -> None:
        out[:] = dynamics.bias_force(self._model, q, v)

    def gravity_force(self, q: Floats, out: Floats) -> None:
        out[:] = dynamics.gravity_force(self._model, q)

    def mass_matrix(self, q: Floats, out: Floats) -> None:
        out.reshape(-1)[:] = dynamics.mass_matrix(self._model, q).reshape(-1)

    def jacobian(self, frame: int, q: Floats, out: Floats) -> None:
        found = dynamics.jacobian(self._model, q, self._frames[frame])
        out.reshape(-1)[:] = found.reshape(-1)

    def jacobian_dot_v(self, frame: int, q: Floats, v: Floats, out: Floats) -> None:
        out[:] = dynamics.jacobian_dot_v(self._model, q, v, self._frames[frame])

    def frame_pose(self, frame: int, q: Floats, out: Floats) -> None:
        found = dynamics.frame_poses(self._model, q, self._frames[frame])
        out.reshape(-1)[:] = found.reshape(-1)

    def frame_velocity(self, frame: int, q: Floats, v: Floats, out: Floats) -> None:
        out[:] = dynamics.frame_velocities(self._model, q, v, self._frames[frame])

    def energy(self, q: Floats, v: Floats) -> tuple[Any, Any]:
        return dynamics.energy(self._model, q, v)

    def solve(self, matrix: Floats, rhs: Floats) -> None:
        rhs[:] = np.linalg.solve(matrix, rhs)
