"""Assembly: the closed configuration that is nearest to a given one, and its rank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skodyn.errors import ModelError, StateError
from skodyn.faults import Fault
from skodyn.model.loops.loop_newton import (
    Closing,
    closed_from,
    guided_from,
    merit,
    rank_at,
    tangent,
    why_open,
)
from skodyn.model.loops.loop_samples import SEED, general_point, is_smooth, wandered
from skodyn.model.loops.loop_systems import LoopSystem, loop_systems
from skodyn.model.products import norm
from skodyn.typing import Floats

if TYPE_CHECKING:
    from skodyn.model.model import Model

__all__ = ["Assembly", "assemble", "nearest_closed"]


@dataclass(frozen=True, eq=False)
class Assembly:
    """A closed configuration, and what its loops leave free.

    The rank is that of the rows in general: at `q` it is smaller if `singular`. mobility = nv −
    rank, redundant = rows − rank.
    """

    q: Floats
    mobility: int
    rows: int
    rank: int
    redundant: int
    singular: bool


def assemble(model: Model, q: ArrayLike, hold: Iterable[str] = ()) -> Assembly:
    """The closed configuration that is nearest to q.

    Parameters
    ----------
    model : Model
        The system.
    q : array_like, shape (nq,)
        Where to begin: about the shape that is meant.
    hold : iterable of str
        Names of joints that stay where they are.

    Returns
    -------
    assembly : Assembly
        `q`, closed to rounding, and what its loops leave free: mobility, rank, redundant rows.

    Raises
    ------
    StateError
        The loops cannot be closed from here, or q is no state; the message says which.

    See Also
    --------
    project_velocity : the same for velocities.
    loop_error : how far loops are open.

    Examples
    --------
    >>> model = sk.examples.four_bar()
    >>> found = sk.assemble(model, [1.0, 0.0, 1.5], hold=["crank"])
    >>> found.q.round(3), found.mobility
    (array([ 1.   , -0.482,  1.651]), 1)
    """
    found = nearest_closed(model, q, hold)
    known: dict[bytes, int] = {}
    rows = rank = 0
    singular = False
    for group in loop_systems(model):
        here, general = _ranks(group, found, known)
        rows, rank, singular = rows + group.count, rank + general, singular or here < general
    return Assembly(found, model.nv - rank, rows, rank, rows - rank, singular)


def nearest_closed(model: Model, q: ArrayLike, hold: Iterable[str] = ()) -> Floats:
    """The coordinates that `assemble` finds, for whoever does not ask for ranks."""
    held = _held(model, hold)
    found = model.check_q(q)
    if found.ndim != 1:
        raise StateError(f"q has shape {found.shape}", f"give one configuration, ({model.nq},).")
    faults: list[Fault] = []
    for group in loop_systems(model):
        closing = _nearest(group, found, held)
        if closing.is_closed:
            found = closing.q
        else:
            stay = f" with {' and '.join(map(repr, held))} held" if held else ""
            faults += why_open(group, closing, "the given q and others near it" + stay)
    if faults:
        raise StateError(faults)
    return found.copy()


def _held(model: Model, hold: Iterable[str]) -> tuple[str, ...]:
    names = (hold,) if isinstance(hold, str) else tuple(hold)
    faults: list[Fault] = []
    for name in names:
        try:
            model.joint_index(name)
        except ModelError as error:
            faults += error.faults
    if faults:
        raise ModelError(faults)
    return names


def _nearest(group: LoopSystem, q: Floats, held: Sequence[str]) -> Closing:
    """Closed from q, or from others near it; then moved along the manifold to be nearest.

    Modes stay where they are, unless joints alone cannot do it.
    """
    free = group.free(held)
    best = _nearest_by(group, q, free)
    if best.is_closed or not group.modes.any():
        return best
    return _nearest_by(group, q, free | group.modes)


def _nearest_by(group: LoopSystem, q: Floats, free: NDArray[np.bool_]) -> Closing:
    best = closed_from(group, q, free)
    if best.is_closed and best.q is q:
        return best
    rng = np.random.default_rng([SEED, 1])
    for size in (0.0, 0.01, 0.03, 0.1, 0.1, 0.3, 0.3, 0.3, 1.0, 1.0, 1.0):
        if best.is_closed:
            return _approached(group, q, best, free)
        start = group.moved(q, rng.normal(size=len(free)) * size * free)
        best = min(best, guided_from(group, start, free), key=merit)
    return _approached(group, q, best, free) if best.is_closed else best


def _approached(group: LoopSystem, q: Floats, closing: Closing, free: NDArray[np.bool_]) -> Closing:
    """Along the manifold toward the point that is nearest to q, while that leads nearer."""
    distance = norm(group.way(closing.q, q))
    for _ in range(20):
        way = tangent(group, closing.q, group.way(closing.q, q) * free, free)
        if norm(way) <= 1e-3 * distance:
            break
        nearer = closed_from(group, group.moved(closing.q, way), free)
        left = norm(group.way(nearer.q, q))
        if not nearer.is_closed or left >= distance:
            break
        closing, distance = nearer, left
    return closing


def _ranks(group: LoopSystem, q: Floats, known: dict[bytes, int]) -> tuple[int, int]:
    """The rank at q, and that in general: where branches cross, the largest beside it.

    known: the rank in general of groups that are built alike.
    """
    here = rank_at(group, q)
    if here == min(group.count, len(group.dofs)) or here == known.get(group.shape):
        return here, here
    if is_smooth(group, q):
        known.setdefault(group.shape, here)
        return here, here
    rng = np.random.default_rng([SEED, 3])
    beside = [rank_at(group, wandered(group, q, 0.1, rng)) for _ in range(3)]
    beside.append(rank_at(group, general_point(group, group.model.neutral()).q))
    return here, max(here, *beside)
