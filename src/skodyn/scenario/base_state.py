"""[initial] start and from: states that the rest of [initial] adds to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from skodyn.errors import SkodynError
from skodyn.faults import shown
from skodyn.io.trajectory import open as open_trajectory
from skodyn.model.model import Model
from skodyn.scenario.tables import Tables
from skodyn.typing import Floats
from skodyn.wording import Spelling, listed

__all__ = ["read_base"]


def read_base(
    tables: Tables, table: dict[str, Any], model: Model, folder: Path
) -> tuple[Floats, Floats]:
    """(q, v) to start from: a named start of the model, where another run ended, or rest."""
    if "start" in table and "from" in table:
        problem = "initial has both start and from"
        tables.fault(("initial", "from"), problem, "give the one or the other.")
    elif "start" in table:
        return _named(tables, table["start"], model)
    elif "from" in table:
        return _last_row(tables, table["from"], model, folder)
    return model.neutral(), np.zeros(model.nv)


def _named(tables: Tables, name: Any, model: Model) -> tuple[Floats, Floats]:
    if isinstance(name, str) and name in model.starts:
        q, v = model.starts[name]
        return q.copy(), v.copy()
    otherwise = (
        f"the starts are {listed(list(model.starts))}"
        if model.starts
        else "it has none, as only MJCF files do (keyframes), so give q and v"
    )
    remedy = Spelling(model.starts).remedy(name if isinstance(name, str) else None, otherwise)
    problem = f"initial.start is {shown(name)}, no start of model {model.name!r}"
    tables.fault(("initial", "start"), problem, remedy)
    return model.neutral(), np.zeros(model.nv)


def _last_row(tables: Tables, name: Any, model: Model, folder: Path) -> tuple[Floats, Floats]:
    """The last row of another run's log."""
    at, nothing = ("initial", "from"), (model.neutral(), np.zeros(model.nv))
    if not isinstance(name, str) or not os.path.isfile(folder / name):
        tables.fault(at, f"initial.from is {shown(name)}", "give the log of another run (.h5).")
        return nothing
    try:
        log = open_trajectory(folder / name)
        last, joints = log[max(len(log) - 1, 0) :], tuple(log.joint_names)
        q, v = np.array(last.q[0]), np.array(last.v[0])
    except (SkodynError, IndexError) as error:
        problem = f"initial.from is {shown(name)}, which has no state to start from ({error})"
        tables.fault(at, problem, "give another log.")
        return nothing
    if joints != model.joint_names or q.shape != (model.nq,) or v.shape != (model.nv,):
        what = f"initial.from is {shown(name)}, a run of another model: its joints are"
        ours = f"those of {model.name!r} are {listed(model.joint_names)}"
        tables.fault(at, f"{what} {listed(joints)}, and {ours}", "give a run with the same joints.")
        return nothing
    return q, v
