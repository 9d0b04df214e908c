"""Closing loops: the nearest closed configuration, its rank, and samples of closed ones.

Groups are closed one by one, because rows of a group depend on its own joints only.

Newton's step is damped as Levenberg and Marquardt do, with a damping that falls as |g|². It
converges quadratically to a set of solutions, too, and where rows are redundant (N. Yamashita,
M. Fukushima, Computing Suppl. 15, 2001): beside the manifold redundant rows contradict each other,
and the plain pseudo-inverse would take that seriously.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skodyn.errors import ModelError, StateError
from skodyn.faults import Fault
from skodyn.model.loop_systems import LoopSystem, group_length, loop_systems
from skodyn.model.products import norm
from skodyn.typing import Floats

if TYPE_CHECKING:
    from skodyn.model.model import Model

__all__ = ["Assembly", "assemble", "closed_near", "closed_samples", "group_length"]

RANK_TOLERANCE = 1e-7  # relative to the largest singular value of a group
_CLOSED = 1e-12  # relative to a group's reach
_SETTLED = 2e-15  # likewise
_LEAST = 0.01  # singular values below it are not what others are compared with
_FLOOR = 1e-20  # damping at least, relative to the square of the largest singular value
_LARGE = 40_000  # numbers in G from which on normal equations are solved
_TRIES = 100
_SEED = 20120


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
    held = _held(model, hold)
    found = model.check_q(q)
    if found.ndim != 1:
        raise StateError(f"q has shape {found.shape}", f"give one configuration, ({model.nq},).")
    faults: list[Fault] = []
    known: dict[bytes, int] = {}
    rows = rank = 0
    singular = False
    for group in loop_systems(model):
        closing = _nearest(group, found, held)
        if not closing.is_closed:
            stay = f" with {' and '.join(map(repr, held))} held" if held else ""
            faults += _faults(group, closing, "the given q and others near it" + stay)
            continue
        found = closing.q
        here, general = _ranks(group, found, known)
        rows, rank, singular = rows + group.count, rank + general, singular or here < general
    if faults:
        raise StateError(faults)
    return Assembly(found.copy(), model.nv - rank, rows, rank, rows - rank, singular)


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


def closed_samples(model: Model, count: int = 4) -> list[Floats]:
    """Closed configurations in general position; always the same ones for a model."""
    samples = [model.neutral() for _ in range(count)]
    known: dict[bytes, list[Floats]] = {}  # of groups that are built alike
    faults: list[Fault] = []
    for group in loop_systems(model):
        if group.shape not in known:
            closing = _general_point(group, model.neutral())
            if not closing.is_closed:
                faults += _faults(group, closing, f"{_TRIES} configurations")
                continue
            known[group.shape] = _spread(group, closing.q, count)
        for sample, own in zip(samples, known[group.shape], strict=True):
            sample[group.q] = own
    if faults:
        raise ModelError(faults)
    return samples


def closed_near(model: Model, q: Floats) -> Floats | None:
    """A closed configuration by Newton's method from q alone; None if that leads nowhere."""
    for group in loop_systems(model):
        closing = _closed(group, q, np.ones(len(group.dofs), dtype=np.bool_))
        if not closing.is_closed:
            return None
        q = closing.q
    return q


def _faults(group: LoopSystem, closing: _Closing, tried: str) -> list[Fault]:
    """Why a group was not closed: its ends do not meet, or only the wrong way round."""
    meets = closing.error <= _CLOSED * group.reach
    return group.wrong_ways(closing.q) if meets else group.open_loops(closing.q, tried)


def _spread(group: LoopSystem, q: Floats, count: int) -> list[Floats]:
    """The group's coordinates at q and at points along a walk on its manifold."""
    rng = np.random.default_rng([_SEED, 0])
    points = [q[group.q]]
    while len(points) < count:
        q = _wandered(group, q, 0.5, rng)
        points.append(q[group.q])
    return points[:count]


# ---- Newton ------------------------------------------------------------------------------------


class _Closing(NamedTuple):
    """Where an attempt ended; the error is the largest row without units."""

    q: Floats
    error: float
    is_closed: bool


def _closed(group: LoopSystem, q: Floats, free: NDArray[np.bool_]) -> _Closing:
    """Damped Newton from q, as far down as roundings allow."""
    q, g = _descended(group.rows, group, q, free, _SETTLED * group.reach)
    error = float(np.abs(g).max(initial=0.0))
    closed = error <= _CLOSED * group.reach and not group.wrong_ways(q)
    return _Closing(q, error, closed)


def _guided(group: LoopSystem, q: Floats, free: NDArray[np.bool_]) -> _Closing:
    """The same from far away: rows that tell a direction from its opposite lead most of the way."""
    return _closed(group, _descended(group.guides, group, q, free, 1e-3)[0], free)


def _descended(
    rows: Callable[[Floats], tuple[Floats, Floats]],
    group: LoopSystem,
    q: Floats,
    free: NDArray[np.bool_],
    settled: float,
) -> tuple[Floats, Floats]:
    """q and g where |g| falls no more; what is settled at once keeps its bits."""
    g, slopes = rows(q)
    size, damping, slow = norm(g), 1e-3, 0
    for _ in range(0 if size <= settled else 200):
        if size <= 1e-16 or slow > 8:
            break
        step = np.zeros(len(free))
        step[free] = _step(g, slopes[:, free], damping * min(size * size, 1.0))
        step /= max(1.0, 2.0 * np.abs(step).max(initial=0.0))
        q_next = group.moved(q, step)
        g_next, slopes_next = rows(q_next)
        size_next = norm(g_next)
        if size_next < size:
            slow = slow + 1 if size_next > 0.9 * size else 0
            slow = slow if size > 1e-6 else slow + (size_next > 0.5 * size) * 4
            q, g, slopes, size = q_next, g_next, slopes_next, size_next
            damping = max(0.1 * damping, 1e-6)
        elif size < 1e-9:
            break
        else:
            damping, slow = 8.0 * damping, slow + 1
    return q, g


def _step(g: Floats, slopes: Floats, damping: float) -> Floats:
    """−(G*G + μ)⁻¹G*g; μ relative to the square of the largest singular value."""
    if not slopes.size:
        return np.zeros(slopes.shape[1])
    if slopes.size > _LARGE and min(slopes.shape) > 50:
        return -_through_normal_equations(slopes, g, max(damping, 1e-14))
    u, s, vh = np.linalg.svd(slopes, full_matrices=False)
    mu = max(damping, _FLOOR) * max(s[0], _LEAST) ** 2
    step: Floats = -(vh.T @ (s / (s * s + mu) * (u.T @ g)))
    return step


def _through_normal_equations(slopes: Floats, g: Floats, damping: float) -> Floats:
    """(G*G + μ)⁻¹G*g by the smaller of G*G and GG*."""
    tall = slopes.shape[0] > slopes.shape[1]
    gram = np.asarray(slopes.T @ slopes if tall else slopes @ slopes.T)
    mu = damping * float(np.abs(gram).sum(axis=0).max())
    gram[np.diag_indices(len(gram))] += mu
    if tall:
        return np.asarray(np.linalg.solve(gram, slopes.T @ g))
    return np.asarray(slopes.T @ np.linalg.solve(gram, g))


def _nearest(group: LoopSystem, q: Floats, held: Sequence[str]) -> _Closing:
    """Closed from q, or from others near it; then moved along the manifold to be nearest."""
    free = group.free(held)
    best = _closed(group, q, free)
    if best.is_closed and best.q is q:
        return best
    rng = np.random.default_rng([_SEED, 1])
    for size in (0.0, 0.01, 0.03, 0.1, 0.1, 0.3, 0.3, 0.3, 1.0, 1.0, 1.0):
        if best.is_closed:
            return _approached(group, q, best, free)
        start = group.moved(q, rng.normal(size=len(free)) * size * free)
        best = min(best, _guided(group, start, free), key=_merit)
    return _approached(group, q, best, free) if best.is_closed else best


def _approached(
    group: LoopSystem, q: Floats, closing: _Closing, free: NDArray[np.bool_]
) -> _Closing:
    """Along the manifold toward the point that is nearest to q, while that leads nearer."""
    distance = norm(group.way(closing.q, q))
    for _ in range(20):
        way = _tangent(group, closing.q, group.way(closing.q, q) * free, free)
        if norm(way) <= 1e-3 * distance:
            break
        nearer = _closed(group, group.moved(closing.q, way), free)
        left = norm(group.way(nearer.q, q))
        if not nearer.is_closed or left >= distance:
            break
        closing, distance = nearer, left
    return closing


def _tangent(
    group: LoopSystem, q: Floats, direction: Floats, free: NDArray[np.bool_] | None = None
) -> Floats:
    """What is left of a direction along the null space of G."""
    slopes = group.rows(q)[1]
    if free is not None:
        slopes = slopes * free
    return direction + _step(slopes @ direction, slopes, 1e-16)


def _wandered(group: LoopSystem, q: Floats, length: float, rng: np.random.Generator) -> Floats:
    """Another closed configuration, a way along the null space away; q itself if there is none."""
    every = np.ones(len(group.dofs), dtype=np.bool_)
    for _ in range(6):
        way = _tangent(group, q, rng.normal(size=len(every)))
        largest = float(np.abs(way).max(initial=0.0))
        if largest < 1e-6:
            return q
        closing = _closed(group, group.moved(q, way * (length / largest)), every)
        if closing.is_closed:
            return closing.q
        length *= 0.5
    return q


def _anywhere(group: LoopSystem, neutral: Floats) -> _Closing:
    """Closed from neutral, or from configurations that are ever less near to it.

    All loops at once, or one after the other: now one, now the other gets past where both stick.
    """
    rng = np.random.default_rng([_SEED, 2])
    every = np.ones(len(group.dofs), dtype=np.bool_)
    best = _closed(group, neutral, every)
    for attempt in range(_TRIES - 1):
        if best.is_closed:
            break
        start = group.moved(neutral, rng.normal(size=len(every)) * (0.05 * attempt))
        if attempt % 2 and len(group.names) > 1:
            order = rng.permutation(len(group.names)).tolist()
            found = _closed_in_turn(group, start, rng, order)
        else:
            found = _guided(group, start, every)
        best = min(best, found, key=_merit)
    return best


def _merit(closing: _Closing) -> tuple[bool, float]:
    """Less is better."""
    return not closing.is_closed, closing.error


# ---- general points ------------------------------------------------------------------------------


def _general_point(group: LoopSystem, neutral: Floats) -> _Closing:
    """A closed configuration where the manifold is smooth, near neutral.

    Where branches cross, as where a parallelogram lies flat, Newton from nearby leads back to the
    crossing. Then loops are closed one after the other, by their own joints, on one of its sides.
    """
    first = _anywhere(group, neutral)
    if not first.is_closed:
        return first
    rng = np.random.default_rng([_SEED, 4])
    if _is_smooth(group, first.q):
        return first._replace(q=_wandered(group, first.q, 0.5, rng))
    found = [_wandered(group, first.q, 0.5, rng)] if len(group.names) == 1 else [first.q]
    most = _rank(group, group.moved(neutral, rng.normal(size=len(group.dofs))))
    for _ in range(8):
        start = group.moved(neutral, 0.05 * rng.normal(size=len(group.dofs)))
        closing = _closed_in_turn(group, start, rng, range(len(group.names)))
        if closing.is_closed and _is_smooth(group, closing.q):
            found.append(closing.q)
            if _rank(group, closing.q) == most:
                break
    return first._replace(q=max(found, key=lambda q: _rank(group, q)))


def _closed_in_turn(
    group: LoopSystem, q: Floats, rng: np.random.Generator, order: Sequence[int]
) -> _Closing:
    """Loop after loop, each by the joints that no loop before it has, or by all if these fail."""
    taken: set[int] = set()
    for place, number in enumerate(order):
        alone = group.part([number])
        free = np.array([dof not in taken for dof in alone.dofs.tolist()], dtype=np.bool_)
        closing = _guided(alone, q, free)
        if not closing.is_closed:
            whole = group.part(order[: place + 1])
            closing = _guided(whole, q, np.ones(len(whole.dofs), dtype=np.bool_))
        if not closing.is_closed:
            break
        q = closing.q if taken else _wandered(alone, closing.q, 0.3, rng)
        taken.update(alone.dofs.tolist())
    return _closed(group, q, np.ones(len(group.dofs), dtype=np.bool_))


def _is_smooth(group: LoopSystem, q: Floats) -> bool:
    """Is the null space of G tangent to the manifold, as it is not where branches cross?"""
    rng = np.random.default_rng([_SEED, 5])
    way = _tangent(group, q, rng.normal(size=len(group.dofs)))
    largest = float(np.abs(way).max(initial=0.0))
    if largest < 1e-6:
        return True
    way *= 1e-3 / largest
    back = _step(*group.rows(group.moved(q, way)), 0.0)
    return norm(back) < 0.05 * norm(way)


# ---- rank --------------------------------------------------------------------------------------


def _rank(group: LoopSystem, q: Floats) -> int:
    values = np.linalg.svd(group.rows(q)[1], compute_uv=False)
    return int((values > RANK_TOLERANCE * values.max(initial=_LEAST)).sum())


def _ranks(group: LoopSystem, q: Floats, known: dict[bytes, int]) -> tuple[int, int]:
    """The rank at q, and that in general: where branches cross, the largest beside it.

    known: the rank in general of groups that are built alike.
    """
    here = _rank(group, q)
    if here == min(group.count, len(group.dofs)) or here == known.get(group.shape):
        return here, here
    if _is_smooth(group, q):
        known.setdefault(group.shape, here)
        return here, here
    rng = np.random.default_rng([_SEED, 3])
    beside = [_rank(group, _wandered(group, q, 0.1, rng)) for _ in range(3)]
    beside.append(_rank(group, _general_point(group, group.model.neutral()).q))
    return here, max(here, *beside)
