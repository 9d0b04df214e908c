"""Joints whose acceleration is given, and not their force: which they are, as kernels see it.

Kernels find a flag for each body behind the rest of `tree`, at the place that its header says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import FaultsError, ModelError
from skodyn.faults import Fault
from skodyn.model.model import Model
from skodyn.model.prescribed_layout import PRESCRIBED
from skodyn.typing import Floats

__all__ = ["Prescription", "find_prescription", "flagged_tree"]


KEPT = 8
"""So many choices of joints are remembered with a model, each with a copy of its tree."""


@dataclass(frozen=True, eq=False)
class Prescription:
    """A choice of joints, and the model whose packed tree knows it.

    known: of each velocity, whether its acceleration is given. dofs, free: their numbers, and those
    of the others. zeros: accelerations of joints that are held. blocks: those of the model.
    """

    joints: tuple[str, ...]
    model: Model
    known: NDArray[np.bool_]
    dofs: NDArray[np.int64]
    free: NDArray[np.int64]
    zeros: Floats
    blocks: list[Floats]


def find_prescription(model: Model, joints: Iterable[str]) -> Prescription:
    """The choice of these joints; a ModelError lists every name that cannot be one."""
    try:
        names: tuple[Any, ...] = (None,) if isinstance(joints, str) else tuple(joints)
        found: Prescription | None = model._prescriptions.get(names)
    except TypeError:  # not iterable, or of things that cannot be names
        names, found = (None,), None
    if found is None:
        if not all(isinstance(name, str) for name in names):
            raise ModelError(f"prescribed is {joints!r}", "give a list of names of joints.")
        _check(model, names)
        found = _prescribe(model, names)
        while len(model._prescriptions) >= KEPT:
            model._prescriptions.pop(next(iter(model._prescriptions)), None)
        model._prescriptions[names] = found
    return found


def _prescribe(model: Model, names: tuple[str, ...]) -> Prescription:
    known = np.zeros(model.nv, dtype=np.bool_)
    flags = np.zeros(model.n_bodies, dtype=np.int64)
    for name in names:
        known[model.v_slice(name)] = True
        flags[model.joint_index(name)] = 1
    flagged = replace(model)
    vars(flagged)["kernel_tree"] = flagged_tree(model.kernel_tree, flags)
    dofs, free, zeros = np.flatnonzero(known), np.flatnonzero(~known), np.zeros(model.nv)
    for array in (known, dofs, free, zeros):
        array.setflags(write=False)
    return Prescription(names, flagged, known, dofs, free, zeros, flagged._kernel_blocks)


def _check(model: Model, names: tuple[str, ...]) -> None:
    faults: list[Fault] = []
    for place, name in enumerate(names):
        try:
            place_in_v = model.v_slice(name)
            if place_in_v.start == place_in_v.stop:
                problem = f"Joint {name!r} is fixed: it has no acceleration to prescribe"
                faults.append(Fault(problem, "leave it out.", joint=name))
            elif name in names[:place]:
                faults.append(Fault(f"Joint {name!r} is prescribed twice", "name it once."))
        except FaultsError as error:
            faults.extend(error.faults)
    if faults:
        raise ModelError(faults)


def flagged_tree(tree: NDArray[np.int64], flags: NDArray[np.int64]) -> NDArray[np.int64]:
    """A packed tree with a flag for each body behind it."""
    flat = np.concatenate((tree, flags))
    flat[PRESCRIBED] = tree.size
    flat.setflags(write=False)
    return flat
