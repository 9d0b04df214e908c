"""How many numbers a register holds, and so how many states a batch takes at once.

Eight with AVX-512, else four. Both widths give the same bits.
"""

from __future__ import annotations

from skodyn.jit import JIT_DISABLED
from skodyn.jit.processor import has_wide_registers
from skodyn.lanes.plain import Width

LANES = 1 if JIT_DISABLED else 8 if has_wide_registers() else 4
"""States in a register."""

WIDTH_N = Width(LANES)
WIDTH_N_OWN_PARAMETERS = Width(LANES, own_parameters=True)
