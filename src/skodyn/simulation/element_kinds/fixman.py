"""The force of the Fixman potential: one number for all of them, since potentials add up."""

from __future__ import annotations

from dataclasses import dataclass, field

from skodyn.jit import helper
from skodyn.kernels.mass_matrix_logdet_gradient import add_gradient
from skodyn.lanes import parameter
from skodyn.model.keys import NOT_NEGATIVE, key
from skodyn.model.keywords import fields_checked
from skodyn.registry import register
from skodyn.simulation.element import Element
from skodyn.simulation.forces import FIXMAN


@helper
def apply_fixman(work, system, q, tau):
    """The force of the Fixman potential on every degree of freedom."""
    factor = -0.5 * parameter(work, system.numbers, system.codes[FIXMAN])
    return add_gradient(work, system.model, q, factor, tau)


@register
@fields_checked
@dataclass(frozen=True)
class FixmanForce(Element):
    """The force of the Fixman potential (kT/2)·log det 𝓜 on every degree of freedom.

    Parameters
    ----------
    kT : float
        Temperature times Boltzmann's constant, J.

    Examples
    --------
    >>> sk.FixmanForce(kT=1.0).kT
    1.0
    """

    kT: float = field(  # noqa: N815
        metadata=key(NOT_NEGATIVE, "temperature times Boltzmann's constant, J")
    )
    type_name = "fixman"
