"""Starts that a run with contacts refuses: found among packed runs before they go side by side.

Gaps of all starts are computed from the packed numbers, which takes microseconds a run. Only where
one looks too deep is the scenario of that run read in full, and its own check has the word.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import StateError
from skodyn.kernels.contact import contact_states as rows
from skodyn.kernels.packed_model import PackedModel
from skodyn.kernels.status import OK
from skodyn.kernels.workspace import workspace_lanes
from skodyn.lanes.cache_lines import line_zeros
from skodyn.model.contact.contact_layout import PackedContacts
from skodyn.model.contact.contact_tables import ContactTables
from skodyn.model.model import Model
from skodyn.scenario import Scenario
from skodyn.simulation.engine import Engine
from skodyn.sweeps.lane_batch import PackedRuns
from skodyn.sweeps.packing import Variant
from skodyn.typing import Floats

__all__ = ["refused_starts"]

_SIZES = {"radius", "radii", "length", "size", "edge"}  # swept, they move the limits of depth


def refused_starts(
    variant: Variant, runs: PackedRuns, names: Sequence[str], scenario: Callable[[int], Scenario]
) -> dict[int, str]:
    """The runs that would be refused by themselves, and why; scenario: that of a run, in full."""
    tables = variant.tables.contacts
    if tables is None:
        return {}
    found = {}
    for i in _suspects(variant, tables, runs, names):
        s = scenario(i)
        try:
            Engine(s.model, s.q0, s.v0, s.duration, s.integrator, s.forces)
        except StateError as error:
            found[i] = str(error)
    return found


def _suspects(
    variant: Variant, tables: ContactTables, runs: PackedRuns, names: Sequence[str]
) -> list[int]:
    """Runs whose start has to be looked at in full."""
    s = variant.scenario
    tree = s.model.uncoupled.opened
    behind = runs.parameters[:, tree.parameters.size :]  # of mimic joints and loops
    if s.forces.motions or (behind != behind[:1]).any():
        return list(range(len(runs)))
    limits = 0.5 * np.array(tables.sizes)
    if any(_SIZES & set(name.split(".")) for name in names):
        limits = np.zeros(len(limits))
    deep: NDArray[np.bool_] = np.any(-_gaps(s.model, tables, runs) > limits, axis=1)
    if runs.settings.method == "semi_implicit_euler":  # whose steps friction limits
        deep[0] = True
        deep |= any(name.startswith("contacts.") for name in names)
    return [int(i) for i in np.flatnonzero(deep)]


def _gaps(model: Model, tables: ContactTables, runs: PackedRuns) -> Floats:
    """(runs, points); infinite where a start is beyond all numbers, which is said elsewhere."""
    tree = model.uncoupled.opened
    q = model.coupling.expand_q(runs.q)
    work = line_zeros(workspace_lanes(tree.n_bodies, tree.nq, tree.nv), poison=True)
    out = np.empty((len(runs), tables.n_points, rows.POINT.size))
    rest = rows.States(np.zeros(0), np.zeros(tree.nv), np.zeros(tables.n_bristles))
    packed = tree.kernel_tree
    for i in range(len(runs)):
        status, _ = rows.contact_states.ready(
            PackedModel(packed, np.ascontiguousarray(runs.parameters[i, : tree.parameters.size])),
            PackedContacts(tables.codes, np.ascontiguousarray(runs.numbers[i])),
            0,
            1,
            rest._replace(q=np.ascontiguousarray(q[i])),
            out[i].reshape(-1),
            work,
        )
        if status != OK:
            out[i] = np.inf
    return out[:, :, rows.POINT.GAP]
