"""Damped Newton steps that close a group of loops from wherever it is.

Groups are closed one by one, because rows of a group depend on its own joints only.

Newton's step is damped as Levenberg and Marquardt do, with a damping that falls as |g|². It
converges quadratically to a set of solutions, too, and where rows are redundant (N. Yamashita,
M. Fukushima, Computing Suppl. 15, 2001): beside the manifold redundant rows contradict each other,
and the plain pseudo-inverse would take that seriously.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skodyn.faults import Fault
from skodyn.model.loops.loop_layout import RANK_TOLERANCE
from skodyn.model.loops.loop_systems import LoopSystem
from skodyn.model.products import norm
from skodyn.typing import Floats

__all__ = [
    "Closing",
    "closed_from",
    "damped_step",
    "guided_from",
    "merit",
    "rank_at",
    "tangent",
    "why_open",
]

_CLOSED = 1e-12  # relative to a group's reach
_SETTLED = 2e-15  # likewise
_LEAST = 0.01  # singular values below it are not what others are compared with
_FLOOR = 1e-20  # damping at least, relative to the square of the largest singular value
_LARGE = 40_000  # numbers in G from which on normal equations are solved


class Closing(NamedTuple):
    """Where an attempt ended; the error is the largest row without units."""

    q: Floats
    error: float
    is_closed: bool


def closed_from(group: LoopSystem, q: Floats, free: NDArray[np.bool_]) -> Closing:
    """Damped Newton from q, as far down as roundings allow."""
    q, g = _descended(group.rows, group, q, free, _SETTLED * group.reach)
    error = float(np.abs(g).max(initial=0.0))
    closed = error <= _CLOSED * group.reach and not group.wrong_ways(q)
    return Closing(q, error, closed)


def guided_from(group: LoopSystem, q: Floats, free: NDArray[np.bool_]) -> Closing:
    """The same from far away: rows that tell a direction from its opposite lead most of the way."""
    return closed_from(group, _descended(group.guides, group, q, free, 1e-3)[0], free)


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
        step[free] = damped_step(g, slopes[:, free], damping * min(size * size, 1.0))
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


def damped_step(g: Floats, slopes: Floats, damping: float) -> Floats:
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


def tangent(
    group: LoopSystem, q: Floats, direction: Floats, free: NDArray[np.bool_] | None = None
) -> Floats:
    """What is left of a direction along the null space of G."""
    slopes = group.rows(q)[1]
    if free is not None:
        slopes = slopes * free
    return direction + damped_step(slopes @ direction, slopes, 1e-16)


def rank_at(group: LoopSystem, q: Floats) -> int:
    values = np.linalg.svd(group.rows(q)[1], compute_uv=False)
    return int((values > RANK_TOLERANCE * values.max(initial=_LEAST)).sum())


def merit(closing: Closing) -> tuple[bool, float]:
    """Less is better."""
    return not closing.is_closed, closing.error


def why_open(group: LoopSystem, closing: Closing, tried: str) -> list[Fault]:
    """Why a group was not closed: its ends do not meet, or only the wrong way round."""
    meets = closing.error <= _CLOSED * group.reach
    return group.wrong_ways(closing.q) if meets else group.open_loops(closing.q, tried)
