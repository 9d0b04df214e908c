"""The start of a run with loops: closed, keeping them closed, and not in a position without a way.

A start that is open is refused here rather than closed in silence: the nearest closed one may not
be what was meant.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skodyn.dynamics.loop_functions import loop_basis, project_velocity
from skodyn.dynamics.looped import widest_gap
from skodyn.errors import StateError
from skodyn.faults import Fault
from skodyn.model.loops.assembly import nearest_closed
from skodyn.model.loops.loop_layout import RANK_TOLERANCE
from skodyn.model.loops.loop_systems import loop_systems
from skodyn.model.model import Model
from skodyn.typing import Floats

__all__ = ["drive_fault", "kept_velocity", "start_fault"]

OPEN = 1e-9
"""Metres or radians (per second) by which a start may be open."""


def start_fault(model: Model, q: Floats, v: Floats) -> Fault | None:
    """Why a run cannot begin here; None if it can."""
    name, gap, unit = widest_gap(model, q)
    if gap > OPEN:
        return Fault(
            f"loop {name!r} is open by {gap:.3g} {unit}",
            f"{_nearest(model, q)}, or let it be found (assemble = true; in Python, sk.assemble).",
        )
    name, rate, unit = widest_gap(model, q, v)
    if rate > OPEN * max(1.0, float(np.abs(v).max(initial=0.0))):
        return Fault(
            f"loop {name!r} opens with {rate:.3g} {unit}/s",
            "give velocities that keep it closed, or let them be found (project = true; in Python, "
            "sk.project_velocity).",
        )
    return _singular_fault(model, q, v)


def _nearest(model: Model, q: Floats) -> str:
    """Where it would be closed."""
    try:
        found = nearest_closed(model, q)
    except StateError as error:
        return f"no closed position was found near it ({error})"
    moved = [
        f"{name} = {_shown(found[model.q_slice(name)])}"
        for name in model.joint_names
        if not np.allclose(found[model.q_slice(name)], q[model.q_slice(name)], atol=OPEN)
    ]
    return f"the nearest closed values are {', '.join(moved[:6])}{' …' if len(moved) > 6 else ''}"


def _shown(values: Floats) -> str:
    numbers = [f"{x:.12g}" for x in values.tolist()]
    return numbers[0] if len(numbers) == 1 else f"[{', '.join(numbers)}]"


def _singular_fault(model: Model, q: Floats, v: Floats) -> Fault | None:
    """At rest where a mechanism can go more than one way, the equations do not say which."""
    ranks = {frozenset(g.constraints): g.rank for g in model._loop_structure}
    for system in loop_systems(model):
        dofs = np.asarray(system.dofs, dtype=np.int64)
        if np.abs(v[dofs]).max(initial=0.0) > 0.0:
            continue
        sizes = np.linalg.svd(system.rows(q)[1], compute_uv=False)
        rank = int((sizes > RANK_TOLERANCE * sizes.max(initial=1e-300)).sum())
        if rank < ranks[frozenset(system.numbers)]:
            name = system.names[0]
            return Fault(
                f"loop {name!r} is at rest in a singular position, from which it can go more than "
                "one way",
                "give its joints a velocity, or another position.",
            )
    return None


TIED = 1e-6
"""What a unit of motion of driven joints leaves to be chosen, below which they are tied or held."""


def drive_fault(model: Model, q: Floats, driven: Sequence[str]) -> Fault | None:
    """Why loops do not let joints be driven as one likes from q on; None if they do."""
    dofs = np.concatenate([np.arange(model.nv)[model.v_slice(name)] for name in driven])
    basis, _ = np.linalg.qr(loop_basis(model, q))
    _, sizes, right = np.linalg.svd(basis[dofs].T)
    if len(sizes) == len(dofs) and sizes.min() > TIED:
        return None
    which = np.abs(right[-1]) > TIED  # a motion of these is no motion of the mechanism
    names = [n for n in driven if which[np.isin(dofs, np.arange(model.nv)[model.v_slice(n)])].any()]
    members = {joint: group.constraints[0] for group in model.groups for joint in group.joints}
    loop = next((members[name] for name in names if name in members), model.loop_names[0])
    if len(names) == 1:
        return Fault(
            f"joint {names[0]!r} cannot be driven: loop {loop!r} holds it in this position",
            "start elsewhere, or drive another joint.",
            joint=names[0],
        )
    listed = ", ".join(map(repr, names))
    return Fault(
        f"joints {listed} cannot all be driven: loop {loop!r} ties them to one another",
        "drive fewer of them.",
        joint=names[0],
    )


def kept_velocity(model: Model, q: Floats, v: Floats, given: Sequence[str]) -> Floats:
    """Velocities that keep loops closed: those of the joints given if they can stay, and the others
    as small as may be; else the nearest in the metric of the mass matrix.
    """
    if given:
        held = np.concatenate([np.arange(model.nv)[model.v_slice(name)] for name in given])
        basis = loop_basis(model, q)
        rates, *_ = np.linalg.lstsq(basis[held], v[held], rcond=1e-9)
        found: Floats = basis @ rates
        if np.abs(found[held] - v[held]).max() <= OPEN * max(1.0, float(np.abs(v).max())):
            return found
    return project_velocity(model, q, v)
