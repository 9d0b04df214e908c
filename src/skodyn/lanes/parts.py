"""Parts of kernels at every width: what few models need, compiled apart and called by address."""

from __future__ import annotations

from typing import Any

from skodyn.jit import FLOAT_POINTER, Group, part
from skodyn.lanes.plain import WIDTH_1, Width, Work
from skodyn.lanes.registers import WIDTH_N_OWN_PARAMETERS

__all__ = ["PartAtWidths", "parts_of"]


class PartAtWidths:
    """One helper `f(work, …)` as a part for one state and for runs side by side.

    Nothing is compiled before an address is asked for.
    """

    def __init__(self, function: Any, *kinds: Any, in_lanes: bool = True) -> None:
        widths = (WIDTH_1, WIDTH_N_OWN_PARAMETERS) if in_lanes else (WIDTH_1,)
        self._at = {
            _key(width): part(function, (Group(Work, (width, FLOAT_POINTER)), *kinds), _key(width))
            for width in widths
        }

    def address(self, width: Width) -> Any:
        """What kernels of this width call; the Python function without the compiler."""
        return self._at[_key(width)].address


def _key(width: Width) -> str:
    """The same for registers of four and of eight, so that objects for both hold the same names."""
    return "lanes" if width.own_parameters else "one"


def parts_of(function: Any, *kinds: Any, in_lanes: bool = True) -> PartAtWidths:
    """The part that a helper makes; `kinds` are those of its arguments behind `work`.

    in_lanes: runs side by side need it too.
    """
    return PartAtWidths(function, *kinds, in_lanes=in_lanes)
