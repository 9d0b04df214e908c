"""Samples of closed configurations in general position, where the manifold of loops is smooth.

Rank, mobility and plans of elimination are found at them: where branches cross, rows have less.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from skodyn.errors import ModelError
from skodyn.faults import Fault
from skodyn.model.loops.loop_newton import (
    Closing,
    closed_from,
    damped_step,
    guided_from,
    merit,
    rank_at,
    tangent,
    why_open,
)
from skodyn.model.loops.loop_systems import LoopSystem, loop_systems
from skodyn.model.products import norm
from skodyn.typing import Floats

if TYPE_CHECKING:
    from skodyn.model.model import Model

__all__ = ["SEED", "closed_near", "closed_samples", "general_point", "is_smooth", "wandered"]

SEED = 20120
_TRIES = 100


def closed_samples(model: Model, count: int = 4) -> list[Floats]:
    """Closed configurations in general position; always the same ones for a model."""
    samples = [model.neutral() for _ in range(count)]
    known: dict[bytes, list[Floats]] = {}  # of groups that are built alike
    faults: list[Fault] = []
    for group in loop_systems(model):
        if group.shape not in known:
            closing = general_point(group, model.neutral())
            if not closing.is_closed:
                faults += why_open(group, closing, f"{_TRIES} configurations")
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
        closing = closed_from(group, q, np.ones(len(group.dofs), dtype=np.bool_))
        if not closing.is_closed:
            return None
        q = closing.q
    return q


def _spread(group: LoopSystem, q: Floats, count: int) -> list[Floats]:
    """The group's coordinates at q and at points along a walk on its manifold."""
    rng = np.random.default_rng([SEED, 0])
    points = [q[group.q]]
    while len(points) < count:
        q = wandered(group, q, 0.5, rng)
        points.append(q[group.q])
    return points[:count]


def general_point(group: LoopSystem, neutral: Floats) -> Closing:
    """A closed configuration where the manifold is smooth, near neutral.

    Where branches cross, as where a parallelogram lies flat, Newton from nearby leads back to the
    crossing. Then loops are closed one after the other, by their own joints, on one of its sides.
    """
    first = _anywhere(group, neutral)
    if not first.is_closed:
        return first
    rng = np.random.default_rng([SEED, 4])
    if is_smooth(group, first.q):
        return first._replace(q=wandered(group, first.q, 0.5, rng))
    found = [wandered(group, first.q, 0.5, rng)] if len(group.names) == 1 else [first.q]
    most = rank_at(group, group.moved(neutral, rng.normal(size=len(group.dofs))))
    for _ in range(8):
        start = group.moved(neutral, 0.05 * rng.normal(size=len(group.dofs)))
        closing = _closed_in_turn(group, start, rng, range(len(group.names)))
        if closing.is_closed and is_smooth(group, closing.q):
            found.append(closing.q)
            if rank_at(group, closing.q) == most:
                break
    return first._replace(q=max(found, key=lambda q: rank_at(group, q)))


def _anywhere(group: LoopSystem, neutral: Floats) -> Closing:
    """Closed from neutral, or from configurations that are ever less near to it.

    All loops at once, or one after the other: now one, now the other gets past where both stick.
    """
    rng = np.random.default_rng([SEED, 2])
    every = np.ones(len(group.dofs), dtype=np.bool_)
    best = closed_from(group, neutral, every)
    for attempt in range(_TRIES - 1):
        if best.is_closed:
            break
        start = group.moved(neutral, rng.normal(size=len(every)) * (0.05 * attempt))
        if attempt % 2 and len(group.names) > 1:
            order = rng.permutation(len(group.names)).tolist()
            found = _closed_in_turn(group, start, rng, order)
        else:
            found = guided_from(group, start, every)
        best = min(best, found, key=merit)
    return best


def _closed_in_turn(
    group: LoopSystem, q: Floats, rng: np.random.Generator, order: Sequence[int]
) -> Closing:
    """Loop after loop, each by the joints that no loop before it has, or by all if these fail."""
    taken: set[int] = set()
    for place, number in enumerate(order):
        alone = group.part([number])
        free = np.array([dof not in taken for dof in alone.dofs.tolist()], dtype=np.bool_)
        closing = guided_from(alone, q, free)
        if not closing.is_closed:
            whole = group.part(order[: place + 1])
            closing = guided_from(whole, q, np.ones(len(whole.dofs), dtype=np.bool_))
        if not closing.is_closed:
            break
        q = closing.q if taken else wandered(alone, closing.q, 0.3, rng)
        taken.update(alone.dofs.tolist())
    return closed_from(group, q, np.ones(len(group.dofs), dtype=np.bool_))


def wandered(group: LoopSystem, q: Floats, length: float, rng: np.random.Generator) -> Floats:
    """Another closed configuration, a way along the null space away; q itself if there is none."""
    every = np.ones(len(group.dofs), dtype=np.bool_)
    for _ in range(6):
        way = tangent(group, q, rng.normal(size=len(every)))
        largest = float(np.abs(way).max(initial=0.0))
        if largest < 1e-6:
            return q
        closing = closed_from(group, group.moved(q, way * (length / largest)), every)
        if closing.is_closed:
            return closing.q
        length *= 0.5
    return q


def is_smooth(group: LoopSystem, q: Floats) -> bool:
    """Is the null space of G tangent to the manifold, as it is not where branches cross?"""
    rng = np.random.default_rng([SEED, 5])
    way = tangent(group, q, rng.normal(size=len(group.dofs)))
    largest = float(np.abs(way).max(initial=0.0))
    if largest < 1e-6:
        return True
    way *= 1e-3 / largest
    back = damped_step(*group.rows(group.moved(q, way)), 0.0)
    return norm(back) < 0.05 * norm(way)
