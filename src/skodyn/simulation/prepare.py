"""From packed tables to what the loop takes: memory laid out, parts found."""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.jit import JIT_DISABLED
from skodyn.kernels.mimics import mimic_lanes
from skodyn.kernels.workspace import workspace_lanes
from skodyn.lanes import PartAtWidths, Width
from skodyn.lanes.cache_lines import line_zeros
from skodyn.model.loop_tables import lanes_of_loops
from skodyn.model.model import Model
from skodyn.simulation.force_tables import ForceTables
from skodyn.simulation.methods import method_named
from skodyn.simulation.parts import AtAnyWidth, addresses
from skodyn.simulation.settings import IntegratorSettings
from skodyn.simulation.sprung_system import with_springs
from skodyn.simulation.steppers.implicit_midpoint import SPRUNG_MODEL
from skodyn.simulation.structures import SystemArrays

__all__ = [
    "constants_of_runs",
    "lane_arrays",
    "memory_of",
    "memory_sizes",
    "system_arrays",
    "tree_sizes",
]

NOTHING = np.zeros(0)


def memory_sizes(model: Model, n_integrals: int, driven: bool = False) -> dict[str, int]:
    """How long the rows of a run's tables are; those for mimic joints are empty without any."""
    full = model.uncoupled
    sizes = tree_sizes(model.n_bodies, model.nq, model.nv, n_integrals, model.has_loops, driven)
    if model.mimics:
        sizes |= {"full v": full.nv, "mimic q": full.nq, "mimic v": full.nv}
        sizes["mimic y"] = full.nv + n_integrals
    return sizes


def tree_sizes(
    n_bodies: int, nq: int, nv: int, n_integrals: int, looped: bool = False, driven: bool = False
) -> dict[str, int]:
    """The same for a tree without mimic joints; looped: it has loops; driven: joints have motions,
    and room for the three numbers that a function says of one."""
    y = nv + n_integrals
    sizes = {"one": 1, "q": nq, "v": nv, "y": y, "forces": 6 * n_bodies, "full v": nv}
    sizes |= {"driven q": nq * driven, "driven y": y * driven, "driven v": nv * driven}
    sizes["driven pair"] = max(2 * nv, 3) * driven
    return sizes | dict.fromkeys(("mimic q", "mimic v", "mimic y"), 0) | {"loop y": y * looped}


def system_arrays(
    model: Model,
    tables: ForceTables,
    settings: IntegratorSettings,
    width: Width,
    controller: Any = 0,
    controller_parameters: Any = NOTHING,
) -> SystemArrays:
    """A system ready for the loops of a width; its parts are compiled if they have not been."""
    lanes = workspace_lanes(model.n_bodies, model.nq, model.nv) + mimic_lanes(model)
    lanes += lanes_of_loops(model.kernel_tree)
    tree, driven = tables.tree_of(model), tables.flags is not None
    functions = [AtAnyWidth(function) for function in tables.functions]
    brought: list[PartAtWidths | AtAnyWidth] = [*tables.parts, *functions]
    return SystemArrays(
        tree,
        constants_of_runs(model.kernel_tree, model.parameters, tables.numbers, settings),
        tables.codes,
        tables.numbers,
        controller,
        controller_parameters,
        method_numbers(settings, model.parameters.size, width),
        addresses(tree, tables.codes, brought, width, settings),
        *memory_of(settings, memory_sizes(model, tables.n_integrals, driven), width),
        line_zeros(_states(width) * lanes, poison=True),
    )


def lane_arrays(
    tree: Any,
    parameters: Any,
    tables: ForceTables,
    settings: IntegratorSettings,
    sizes: dict[str, int],
    width: Width,
) -> SystemArrays:
    """The same for runs without mimic joints that share a tree, with constants of their own."""
    lanes = workspace_lanes(sizes["forces"] // 6, sizes["q"], sizes["v"]) + lanes_of_loops(tree)
    return SystemArrays(
        tree,
        parameters,
        tables.codes,
        tables.numbers,
        0,
        NOTHING,
        method_numbers(settings, sizes["parameters"], width),
        addresses(tree, tables.codes, tables.parts, width, settings),
        *memory_of(settings, sizes, width),
        line_zeros(_states(width) * lanes, poison=True),
    )


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
