"""An algorithm: its kernels for one state and for batches, and how their arguments come about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skodyn.forks import cached_property
from skodyn.jit import JIT_DISABLED
from skodyn.lanes import LANES
from skodyn.model.model import Model
from skodyn.typing import Floats

__all__ = ["FEW", "NATIVE", "Algorithm"]

FEW = 20_000
"""States that are done one by one rather than to wait for the compiler."""
MARK = np.full(1, np.nan)
"""Stands behind forces that lie behind x (kernels/loops/embedded_dynamics.py)."""
NATIVE = object()
"""Says of an algorithm that its kernels know mimic joints, or loops."""


class Algorithm:
    """A pair of kernels, and how their arguments come about.

    What the kernel of one state takes is read from its parameters (`takes`). x: the name that
    callers know its x by, of which there is one for each state: tau, vdot, rhs. Without a name x is
    a table that all states share, of points or frames. forces_behind: the kernel of one state takes
    f_ext behind x, in one array. dimensions: of the result for one state. scratch: how many lanes
    the kernels need behind the workspace that all share, for a model. coupled, looped: how to do it
    for models with mimic joints (coupled.py), with loops (looped.py); NATIVE if the kernels know
    them. flexible: the algorithm for models with flexible bodies, NATIVE if it is that.
    """

    def __init__(
        self,
        single: Any,
        batch: Any,
        x: str | None = None,
        dimensions: int = 1,
        forces_behind: bool = False,
        scratch: Callable[[Model], int] | None = None,
        coupled: Callable[..., Floats] | object | None = None,
        looped: Callable[..., Floats] | object | None = None,
        flexible: Algorithm | object | None = None,
    ) -> None:
        self.single, self.batch = single, batch
        self.takes, self.x, self.dimensions = _takes(single, forces_behind), x, dimensions
        self.forces_behind = forces_behind
        self._places = [("v", "x", "f_ext").index(name) for name in self.takes.split()]
        self.scratch, self.coupled, self.looped = scratch, coupled, looped
        self.flexible = flexible
        self.alone = 0  # states that have been done one by one

    @cached_property
    def ready(self) -> Any:
        """The kernel of one state, compiled or loaded from the cache on first use."""
        return self.single.ready

    @cached_property
    def ready_batch(self) -> Any:
        """The kernel of a batch, likewise."""
        return self.batch.ready

    def given(self, v: Any, x: Any, forces: Any) -> list[Any]:
        """What the kernel of one state takes between q and out."""
        if not self.forces_behind:
            given = v, x, forces
            return [given[place] for place in self._places]
        if forces is None:
            raise TypeError("forces of another shape")
        return [v, np.concatenate((x, forces, MARK)) if forces.size and np.ndim(x) == 1 else x]

    def goes_one_by_one(self, rows: int) -> bool:
        """Is a batch of so many rows done sooner one by one?

        It is if it does not fill a register; and if the kernel of batches would have to be compiled
        first, for seconds, until FEW states have been done. Both ways have the same bits.
        """
        if rows < LANES or JIT_DISABLED:
            return True
        if "ready_batch" in self.__dict__ or self.batch.is_at_hand:
            return False
        self.alone += rows
        return self.alone < FEW


def _takes(single: Any, forces_behind: bool) -> str:
    """What a kernel of one state has between q and out: some of "v x f_ext", in this order.

    Parameters that have other names, such as rhs, are x.
    """
    code = single.__wrapped__.__code__
    names = code.co_varnames[2 : code.co_argcount - 1]  # behind the block and q, before out
    words = [name if name in ("v", "f_ext") else "x" for name in names]
    return " ".join([*words, "f_ext"] if forces_behind else words)
