"""Finished rows of a run, and what can be found of them: each thing once, when it is asked for.

Whoever reads a log imports the channels, too, and computes nothing: kernels are imported by those
who do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import DynamicsError, StateError
from skodyn.forks import cached_property
from skodyn.model.model import Model
from skodyn.typing import Floats

if TYPE_CHECKING:
    from skodyn.dynamics.contact_functions import ContactForces

__all__ = ["Rates", "Rows"]


class Rates(NamedTuple):
    """What was found of rows by evaluating the forces that act."""

    vdot: Floats
    tau: Floats
    f_ext: Floats | None  # None if nothing pushes bodies
    drive: Floats  # what drives of prescribed motions add to tau


class Rows:
    """States that have been simulated, one row each. find_rates: v̇, τ and forces on bodies;
    find_contacts: what contacts do, in a run that has some; find_energy: of forces."""

    def __init__(
        self,
        model: Model,
        t: Floats,
        step: NDArray[np.int64],
        q: Floats,
        v: Floats,
        find_rates: Callable[[], tuple[Floats, Floats, Floats | None, Floats]],
        find_contacts: Callable[[], ContactForces] | None = None,
        find_energy: Callable[[Rows], Floats] | None = None,
    ) -> None:
        self.model, self.t, self.step, self.q, self.v = model, t, step, q, v
        self._find_rates, self._find_contacts = find_rates, find_contacts
        self._find_energy = find_energy
        self.integrals = np.zeros((len(t), 0))  # of controllers, where they are logged

    def __len__(self) -> int:
        return len(self.t)

    @cached_property
    def rates(self) -> Rates:
        return Rates(*self._find_rates())

    @cached_property
    def contacts(self) -> ContactForces:
        """What contacts do; of runs that have some."""
        assert self._find_contacts is not None
        return self._find_contacts()

    @cached_property
    def force_energy(self) -> Floats:
        """The potential energy of springs and other forces that have one, (rows,)."""
        return np.zeros(len(self)) if self._find_energy is None else self._find_energy(self)

    @cached_property
    def poses(self) -> tuple[Floats, Floats]:
        """(rotations, positions) of all bodies."""
        from skodyn import dynamics

        rotations, positions = self.each(dynamics.forward_kinematics, self.q)
        return rotations, positions

    def node_poses(self, body: str, node: str) -> Floats:
        """Of a node of a flexible body, (rows, 4, 4)."""
        from skodyn.dynamics.flexible_nodes import poses_of_nodes

        if body not in self._node_poses:
            find = partial(poses_of_nodes, body=body)
            (self._node_poses[body],) = self.each(find, self.q)
        return self._node_poses[body][:, list(self.model.flexible[body].nodes).index(node)]

    @cached_property
    def _node_poses(self) -> dict[str, Floats]:
        return {}

    @cached_property
    def loop_errors(self) -> Floats:
        """The largest abs(row) of each loop and coupling, (rows, loops)."""
        from skodyn.dynamics.loop_functions import loop_error, loop_rows

        gaps = np.abs(loop_error(self.model, self.q, threads=1))
        owned = loop_rows(self.model).values()
        return np.stack([gaps[:, s].max(axis=1) for s in owned], axis=1)

    def each(self, function: Callable[..., Any], *states: Floats) -> tuple[Any, ...]:
        """Results for all rows; NaN where they overflow or are none, as on the way to a blow-up."""
        try:
            results = function(self.model, *states, threads=1)
            return results if isinstance(results, tuple) else (results,)
        except (DynamicsError, StateError):
            if len(states[0]) > 1:
                single = [
                    self.each(function, *(s[i : i + 1] for s in states))
                    for i in range(len(states[0]))
                ]
                return tuple(np.concatenate(rows) for rows in zip(*single, strict=True))
            neutral = (self.model.neutral()[None], np.zeros((1, self.model.nv)))[: len(states)]
            known = self.each(function, *neutral)
            return tuple(np.full_like(result, np.nan) for result in known)
