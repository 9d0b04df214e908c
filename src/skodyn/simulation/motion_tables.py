"""Check prescribed motions against a model, and pack them for the jitted loop."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import ModelError
from skodyn.faults import Fault, Subject
from skodyn.model.keys import key_faults
from skodyn.model.model import Model
from skodyn.simulation.control.controllers import ReadyLaw, prepare_motion
from skodyn.simulation.element import Packed
from skodyn.simulation.element_kinds.motions import Motion, MotionFunction
from skodyn.typing import Floats

__all__ = ["MotionTables", "pack_motions", "starts"]


@dataclass
class MotionTables:
    """Records and numbers that follow those of the elements; which joints they drive."""

    records: list[list[int]] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)
    functions: list[ReadyLaw] = field(default_factory=list)
    flags: NDArray[np.int64] | None = None  # of every body; None if nothing is driven
    faults: list[Fault] = field(default_factory=list)


def pack_motions(
    model: Model,
    motions: tuple[Motion, ...],
    first_number: int,
    first_part: int,
    prepare: bool = True,
) -> MotionTables:
    """first_number, first_part: where their numbers and functions begin in those of the system.

    prepare: make functions ready to be called; without it, motions are only looked at.
    """
    made = MotionTables()
    if not motions:
        return made
    try:
        model._refuse_flexible("prescribed motion")
    except ModelError as error:
        made.faults.extend(error.faults)
        return made
    made.flags = np.zeros(model.n_bodies, dtype=np.int64)
    for number, motion in enumerate(motions, start=1):
        label = f"{type(motion).__name__} number {number}"
        try:
            packed = _packed(model, motion, label, made.flags)
        except ModelError as error:
            made.faults.extend(error.faults)
            continue
        part = 0
        if isinstance(motion, MotionFunction) and prepare:
            part = first_part + len(made.functions)
            made.functions.append(prepare_motion(motion.function))
        for one in packed:
            at = first_number + len(made.numbers)
            code = motion.code if one.code is None else one.code
            made.records.append([code, one.first, one.second, at, one.length, part])
            made.numbers += [float(number) for number in one.numbers]
    return made


def _packed(model: Model, motion: Motion, label: str, flags: NDArray[np.int64]) -> list[Packed]:
    """What kernels read of it; its joint is flagged. A ModelError has all its faults."""
    if not isinstance(motion, Motion):
        known = ", ".join(sorted(kind.__name__ for kind in Motion.__subclasses__()))
        raise ModelError(f"{label}: {motion!r} is not a motion", f"give {known}.")
    whose = Subject(words=label)
    faults = key_faults(motion, whose) or [
        whose.fault(f"{label}: it {what}", remedy, key)
        for key, what, remedy in motion.check(vars(motion))
    ]
    if faults:
        raise ModelError(faults)
    try:
        packed: list[Packed] = motion.pack(model)
    except ModelError as error:
        named = [replace(fault, problem=f"{label}: {fault.problem}") for fault in error.faults]
        raise ModelError(named) from None
    k = model.joint_index(motion.joint)
    if flags[k]:
        what = f"{label}: joint {motion.joint!r} has a motion already"
        raise ModelError(what, "give it one.")
    flags[k] = 1
    return packed


def starts(model: Model, motions: tuple[Motion, ...]) -> dict[str, tuple[Floats, Floats]]:
    """(coordinates, velocities) at time zero of all joints with a motion; motions must be sound."""
    return {motion.joint: motion.begins(model) for motion in motions}
