"""From packed tables to what the loop takes: memory laid out, parts found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skodyn.jit import JIT_DISABLED
from skodyn.kernels.flexible.flexible_table import flexible_lanes, is_bent
from skodyn.kernels.mimics import lanes_of_mimics
from skodyn.kernels.workspace import workspace_lanes
from skodyn.lanes import PartAtWidths, Width
from skodyn.lanes.cache_lines import line_zeros
from skodyn.model.layout import FULL, INDEX_COLUMNS, LOOPS, N_BODIES, N_DOF, NQ, NV
from skodyn.model.loops.loop_tables import lanes_of_loops
from skodyn.model.model import Model
from skodyn.model.prescribed_layout import PRESCRIBED
from skodyn.simulation.contact.implicit_tables import (
    implicit_lanes,
    refuse_implicit,
    with_implicit_codes,
)
from skodyn.simulation.control.control_dynamics import numbers_of_every_joint
from skodyn.simulation.control.controllers import ReadyLaw
from skodyn.simulation.force_tables import ForceTables
from skodyn.simulation.methods import method_named
from skodyn.simulation.parts import AtAnyWidth, addresses
from skodyn.simulation.settings import IntegratorSettings
from skodyn.simulation.steppers.implicit_midpoint import SPRUNG_MODEL
from skodyn.simulation.structures import SystemArrays
from skodyn.simulation.systems.sprung_system import with_springs

__all__ = [
    "constants_of_runs",
    "lane_arrays",
    "memory_of",
    "system_arrays",
    "tree_sizes",
]

NOTHING = np.zeros(0)


def tree_sizes(
    tree: Any, n_integrals: int, driven: bool = False, control: int = 0
) -> dict[str, int]:
    """How long the rows of a run's tables are; those for mimic joints and loops are empty without
    any. driven: joints have motions, and room for what a function says of one. control: numbers
    that controllers need."""
    n_bodies, nq, nv = (int(tree[i]) for i in (N_BODIES, NQ, NV))
    y = nv + n_integrals
    sizes = {"one": 1, "q": nq, "v": nv, "y": y, "forces": 6 * n_bodies, "full v": nv}
    sizes |= {"driven q": nq * driven, "driven y": y * driven, "driven v": nv * driven}
    sizes |= {"driven pair": max(2 * nv, 19) * driven, "loop y": y * bool(tree[LOOPS])}
    full = int(tree[FULL])
    sizes |= {"control": control, "more": numbers_of_every_joint(tree) if control else 0}
    if not full:
        return sizes | dict.fromkeys(("mimic q", "mimic v", "mimic y"), 0)
    every_q, every_v = int(tree[full + NQ]), int(tree[full + NV])
    sizes |= {"full v": every_v, "mimic q": every_q, "mimic v": every_v}
    return sizes | {"mimic y": every_v + n_integrals}


def lanes_of(tree: Any) -> int:
    """How many lanes the recursions need for a packed tree."""
    own = workspace_lanes(*(int(tree[i]) for i in (N_BODIES, NQ, NV)))
    if is_bent(tree):
        return own + flexible_lanes(tree) + lanes_of_loops(tree)
    return own + lanes_of_mimics(tree) + lanes_of_loops(tree) + _lanes_of_drives(tree)


def _lanes_of_drives(tree: Any) -> int:
    """What driven joints need beside mimic joints or loops: driven_coupled.py, loop_holding.py."""
    flags, full = int(tree[PRESCRIBED]), int(tree[FULL])
    if not (flags and (full or tree[LOOPS])):
        return 0
    count = int(tree[N_BODIES])
    joints = tree[INDEX_COLUMNS : (count + 1) * INDEX_COLUMNS].reshape(-1, INDEX_COLUMNS)
    driven = int(joints[tree[flags : flags + count] > 0, N_DOF].sum())
    nv = int(tree[full + NV] if full else tree[NV])
    return driven * (nv + driven + 1) + (0 if full else nv)


def system_arrays(
    model: Model,
    tables: ForceTables,
    settings: IntegratorSettings,
    width: Width,
    laws: Sequence[ReadyLaw] = (),
) -> SystemArrays:
    """A system ready for the loops of a width; its parts are compiled if they have not been.

    laws: of its controllers.
    """
    tree, driven = tables.tree_of(model), tables.flags is not None
    codes, more = codes_and_lanes(tree, tables.codes, settings, model.loop_names)
    functions = [AtAnyWidth(function) for function in (*tables.functions, *laws)]
    brought: list[PartAtWidths | AtAnyWidth] = [*tables.parts, *functions]
    return SystemArrays(
        tree,
        constants_of_runs(model.kernel_tree, model.parameters, tables.numbers, settings),
        codes,
        tables.numbers,
        method_numbers(settings, model.parameters.size, width),
        addresses(tree, codes, brought, width, settings),
        *memory_of(
            settings, tree_sizes(tree, tables.n_integrals, driven, tables.control.size), width
        ),
        line_zeros(_states(width) * (lanes_of(tree) + more), poison=True),
        model.parameters,
        tables.numbers,
    )


def lane_arrays(
    tree: Any,
    parameters: Any,
    tables: ForceTables,
    settings: IntegratorSettings,
    sizes: dict[str, int],
    width: Width,
    laws: Sequence[ReadyLaw] = (),
) -> SystemArrays:
    """The same for runs that share a tree, with constants of their own; those that controllers
    read are set by the caller."""
    codes, more = codes_and_lanes(tree, tables.codes, settings)
    return SystemArrays(
        tree,
        parameters,
        codes,
        tables.numbers,
        method_numbers(settings, sizes["parameters"], width),
        addresses(tree, codes, [*tables.parts, *map(AtAnyWidth, laws)], width, settings),
        *memory_of(settings, sizes, width),
        line_zeros(_states(width) * (lanes_of(tree) + more), poison=True),
        NOTHING,
        NOTHING,
    )


def codes_and_lanes(
    tree: Any, codes: Any, settings: IntegratorSettings, loops: Sequence[str] = ()
) -> tuple[Any, int]:
    """Codes as the steps of a method read them, and lanes that it needs of its own."""
    if not method_named(settings.method).solves_contacts:
        return codes, 0
    refuse_implicit(tree, codes, loops)
    return with_implicit_codes(tree, codes, lanes_of(tree)), implicit_lanes(tree, codes)


def constants_of_runs(
    tree: Any, parameters: Any, numbers: Any, settings: IntegratorSettings
) -> Any:
    """What a run reads of its model: one array, or one row for each of many runs."""
    if settings.implicit_springs:
        return with_springs(tree, parameters, numbers, settings.dt)
    return parameters


def method_numbers(settings: IntegratorSettings, parameters: int, width: Width) -> Any:
    """What the kernels of a method read of its settings; parameters: how many a model has."""
    numbers = method_named(settings.method).numbers(settings)
    if settings.implicit_springs:
        numbers[SPRUNG_MODEL] = parameters * _states(width)
    return numbers


def memory_of(settings: IntegratorSettings, sizes: dict[str, int], width: Width) -> tuple[Any, Any]:
    """The memory of a method, and where its tables lie."""
    places, size = method_named(settings.method).memory.places(sizes, _states(width))
    return line_zeros(size, poison=True), places


def _states(width: Width) -> int:
    return 1 if JIT_DISABLED else width.lanes
