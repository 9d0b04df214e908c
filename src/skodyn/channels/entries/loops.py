"""How far loops and couplings are open, and what they carry; of models with loops alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.channels.entry import Channel, DataSet, Labels
from skodyn.channels.loop_curves import error_families, force_families
from skodyn.channels.rows import Rows
from skodyn.errors import SkodynError
from skodyn.faults import Fault
from skodyn.model.model import Model
from skodyn.registry import register
from skodyn.typing import Floats

WRENCH_PARTS = tuple(f"{part}.{c}" for part in ("moment", "force") for c in "xyz")


def _labels(model: Model) -> Labels:
    return {"loop": model.loop_names, "wrench_part": WRENCH_PARTS} if model.has_loops else {}


def _fault_of(channel: str) -> Any:
    def fault(model: Model) -> Fault | None:
        if model.has_loops:
            return None
        problem = f"Channel {channel!r} needs loops, and model {model.name!r} has none"
        return Fault(problem, "leave it out.", ("channels",), channel)

    return fault


def force_rows(rows: Rows) -> Floats:
    """Wrenches (rows, loops, 6), NaN where they are undetermined; of a coupling, its torque comes
    first and nothing else."""
    from skodyn import dynamics
    from skodyn.dynamics.loop_reactions import forces_of

    model, q, rates = rows.model, rows.q, rows.rates
    result = np.full((len(q), len(model.loop_names), 6), np.nan)
    try:
        needed = dynamics.inverse_dynamics(
            model.opened, q, rows.v, rates.vdot, rates.f_ext, threads=1
        )
        found = forces_of(model, q, needed - rates.tau)
    except (SkodynError, np.linalg.LinAlgError):  # numbers too large, on the way to a blow-up
        return result
    count = len(model.loops)
    result[:, :count] = np.where(found.unique, found.wrench, np.nan)
    result[:, count:, 0] = np.where(found.unique_torque, found.torque, np.nan)
    return result


LOOP_ERROR = register(
    Channel(
        "loop_error",
        {"loop_error": DataSet(("t", "loop"), "how far loops and couplings are open [m, rad]")},
        lambda rows: {"loop_error": rows.loop_errors},
        _labels,
        _fault_of("loop_error"),
        error_families,
        usual=True,
        order=10,
    )
)
LOOP_FORCES = register(
    Channel(
        "loop_forces",
        {
            "loop_forces": DataSet(
                ("t", "loop", "wrench_part"),
                "wrench of each loop on its body_b at the closure, world axes [N m, N]; NaN: "
                "undetermined",
            )
        },
        lambda rows: {"loop_forces": force_rows(rows)},
        _labels,
        _fault_of("loop_forces"),
        force_families,
        usual=True,
        order=9,
    )
)
