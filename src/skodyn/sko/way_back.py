"""From a model that was aggregated or embedded, however often, back to the first (section 6).

Each step knows its own way back: eq. 36 for velocities and accelerations, eq. 38 for forces. Here
they are walked in one call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from skodyn.sko.blocks import Floats
from skodyn.sko.model import SKOModel

__all__ = ["Coarser", "Restored"]


class Restored(NamedTuple):
    """What was given of a coarser model, in the finest one; None for what was not."""

    v: Floats | None  # θ̇
    vdot: Floats | None  # θ̈
    tau: Floats | None  # 𝒯
    velocities: Floats | None  # V
    accelerations: Floats | None  # α
    forces: Floats | None  # f


class Coarser(SKOModel):
    """A model made of another one, `original`, which may itself be made of one."""

    original: SKOModel

    # ---- one step; what a kind of step has in particular it says itself -------------------------

    def to_original(self, x: ArrayLike) -> Floats:
        """Stacked velocities or accelerations of the nodes, in the original's order."""
        raise NotImplementedError

    def velocities_to_original(self, v: ArrayLike) -> Floats:
        """θ̇ of the original, from this model's."""
        raise NotImplementedError

    def accelerations_to_original(self, vdot: ArrayLike) -> Floats:
        """θ̈ of the original, from this model's."""
        raise NotImplementedError

    def torques_from_original(self, tau: ArrayLike) -> Floats:
        """What generalised forces of the original are here."""
        raise NotImplementedError

    def torques_to_original(self, tau: ArrayLike) -> Floats:
        """𝒯 of the original, from this model's, where they say it."""
        raise NotImplementedError

    def forces_to_original(self, f: ArrayLike) -> Floats:
        """Interbody forces in the original's order, where they are known."""
        raise NotImplementedError

    # ---- all steps ------------------------------------------------------------------------------

    @property
    def chain(self) -> tuple[SKOModel, ...]:
        """This model, the one it was made of, and so on to the finest."""
        return (*self._steps, self.finest)

    @property
    def finest(self) -> SKOModel:
        """The model with which all began."""
        return self._steps[-1].original

    def to_finest(
        self,
        *,
        v: ArrayLike | None = None,
        vdot: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        velocities: ArrayLike | None = None,
        accelerations: ArrayLike | None = None,
        forces: ArrayLike | None = None,
    ) -> Restored:
        """Whatever is given of this model, as the finest has it: each a vector, or columns.

        v, vdot and tau are θ̇, θ̈ and 𝒯; velocities, accelerations and forces the stacked V, α and f.
        """
        return Restored(
            self._walked(v, lambda step, x: step.velocities_to_original(x)),
            self._walked(vdot, lambda step, x: step.accelerations_to_original(x)),
            self._walked(tau, lambda step, x: step.torques_to_original(x)),
            self._walked(velocities, lambda step, x: step.to_original(x)),
            self._walked(accelerations, lambda step, x: step.to_original(x)),
            self._walked(forces, lambda step, x: step.forces_to_original(x)),
        )

    def torques_from_finest(self, tau: ArrayLike) -> Floats:
        """What generalised forces of the finest model are here."""
        first, *later = reversed(self._steps)
        x = first.torques_from_original(tau)
        for step in later:
            x = step.torques_from_original(x)
        return x

    def _walked(self, x: Any, back: Callable[[Coarser, Any], Floats]) -> Floats | None:
        if x is None:
            return None
        for step in self._steps:
            x = back(step, x)
        return x  # type: ignore[no-any-return]

    @property
    def _steps(self) -> list[Coarser]:
        steps, model = [], self
        while isinstance(model, Coarser):
            steps.append(model)
            model = model.original  # type: ignore[assignment]
        return steps
