"""How many numbers a register holds, and so how many states a batch takes at once.

Eight with AVX-512, else four. It is numba's idea of the processor that counts: kernels are compiled
for it, and NUMBA_CPU_FEATURES may take features away. Both widths give the same bits.
"""

from __future__ import annotations

from numba.core import config
from numba.core.codegen import get_host_cpu_features

from skodyn.jit import JIT_DISABLED
from skodyn.lanes.plain import Width


def _numbers_in_register() -> int:
    features = config.CPU_FEATURES
    if features is None:
        features = get_host_cpu_features()
    return 8 if "+avx512f" in features.split(",") else 4


LANES = 1 if JIT_DISABLED else _numbers_in_register()
"""States in a register."""

WIDTH_N = Width(LANES)
WIDTH_N_OWN_PARAMETERS = Width(LANES, own_parameters=not JIT_DISABLED)
