"""The curves of loops and couplings: how far they are open, and what they carry."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from skodyn.channels.curves import Curves, Family
from skodyn.channels.joint_curves import force_unit
from skodyn.errors import LogError
from skodyn.model.loops.closing import ALONG, DOT, HELIX, LENGTH, POINT
from skodyn.model.loops.loop_description import Loop, closing_rows
from skodyn.model.model import Model
from skodyn.wording import Spelling

__all__ = ["error_families", "force_families"]

_ROUNDING = 1e-12  # of the largest entry of all wrenches; what stays below is zero
_MOST_NAMES = 6  # in a note
_PARTS = (  # title, unit, columns of a wrench, rows of a closing joint that make such a part
    ("loop force", "N", slice(3, 6), (POINT, ALONG, LENGTH, HELIX)),
    ("loop moment", "N·m", slice(0, 3), (DOT, HELIX)),
)

Floats = NDArray[np.float64]


def error_families(name: str, curves: Curves) -> list[Family]:
    """How far loops and couplings are open."""
    model, kept = curves.model, _known(curves.model, curves.loops)
    own = [i for i, loop in enumerate(model.loop_names) if loop in kept]
    names, values = tuple(model.loop_names[i] for i in own), curves.values[:, own]
    return [Family(name, "loop error", "m, rad", names, values, logarithmic=True)] if own else []


def force_families(_name: str, curves: Curves) -> list[Family]:
    """Forces and moments of loops, torques of couplings."""
    model, kept = curves.model, _known(curves.model, curves.loops)
    return [*_wrenches(model, curves.values, kept), *_torques(model, curves.values, kept)]


def _known(model: Model, patterns: Iterable[str]) -> set[str]:
    """Loops and couplings that fit one of these patterns; all of them if there is none."""
    wanted = list(patterns)
    found: set[str] = set()
    for pattern in wanted:
        fitting = fnmatch.filter(model.loop_names, pattern)
        if not fitting:
            few = ", ".join(model.loop_names[:5]) or "none"
            hint = Spelling(model.loop_names).remedy(pattern, f"there are: {few}")
            raise LogError(f"Model {model.name!r} has no loop or coupling {pattern!r}; {hint}")
        found.update(fitting)
    return found if wanted else set(model.loop_names)


def _wrenches(model: Model, values: Floats, kept: set[str]) -> list[Family]:
    """Forces and moments by loop and axis, of the loops whose joint can carry any."""
    sizes = np.abs(values)
    largest = float(np.max(sizes, initial=0.0, where=np.isfinite(sizes)))
    found = []
    for title, unit, columns, kinds in _PARTS:
        names: list[str] = []
        curves: list[Floats] = []
        for i, (name, loop) in enumerate(model.loops.items()):
            if name in kept and _has_row(loop, kinds):
                names += [f"{name}.{axis}" for axis in "xyz"]
                curves += list(values[:, i, columns].T)
        if names:
            found.append(_told_apart(title, unit, names, curves, _ROUNDING * largest))
    return found


def _has_row(loop: Loop, kinds: tuple[int, ...]) -> bool:
    rows = closing_rows(loop.joint, loop.rotation_a, loop.rotation_b)
    return any(row.kind in kinds for row in rows)


def _torques(model: Model, values: Floats, kept: set[str]) -> list[Family]:
    """The forces of couplings, by the unit of their first joint's."""
    found: dict[str, tuple[list[str], list[Floats]]] = {}
    for i, (name, coupling) in enumerate(model.couplings.items(), len(model.loops)):
        if name in kept:
            names, curves = found.setdefault(force_unit(model, coupling.joints[0]), ([], []))
            names.append(name)
            curves.append(values[:, i, 0])
    words = {"N·m": "coupling torque", "N": "coupling force"}
    return [
        _told_apart(words[unit], unit, names, curves, -1.0)
        for unit, (names, curves) in sorted(found.items(), reverse=True)
    ]


def _told_apart(
    title: str, unit: str, names: Sequence[str], curves: Sequence[Floats], rounding: float
) -> Family:
    """A family without what is undetermined, or zero to rounding, in every row; it says so."""
    undetermined, zero, rest = [], [], []
    for name, curve in zip(names, curves, strict=True):
        finite = np.abs(curve[np.isfinite(curve)])
        if not len(finite):
            undetermined.append(name)
        elif finite.max() <= rounding and len(finite) == len(curve):
            zero.append(name)
        else:
            rest.append((name, curve))
    said = [
        f"{what}: {_listed(some)}"
        for what, some in (("undetermined (redundant rows)", undetermined), ("zero", zero))
        if some
    ]
    rows = len(curves[0])
    kept = np.stack([curve for _, curve in rest], axis=1) if rest else np.zeros((rows, 0))
    names_kept = tuple(name for name, _ in rest)
    return Family("loop_forces", title, unit, names_kept, kept, "; ".join(said))


def _listed(names: Sequence[str]) -> str:
    """A long list is cut short."""
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
