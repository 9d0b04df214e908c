"""What an implicit step reads besides the codes of all forces, and what it cannot take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import StateError
from skodyn.faults import Fault
from skodyn.kernels.flexible.flexible_table import is_bent
from skodyn.model.contact import contact_layout as c
from skodyn.model.contact.implicit_layout import (
    BRISTLE_INTEGRAL,
    CONTACTS_FROM_CODES,
    EXPLICIT,
    FULL_AT,
    IMPLICIT_HEADER,
    LANES_AT,
    OWN_SWEEP,
    PAIR,
    PAIRS,
    PAIRS_AT,
    PUSHED,
    SECOND_SIDE,
    SERVOS,
    SERVOS_AT,
    SIDE,
    TOUCH_CODES,
    TOUCHED_AT,
)
from skodyn.model.layout import FULL, LOOPS, N_BODIES, NV
from skodyn.simulation import forces as f
from skodyn.simulation.steppers.implicit_contact import lanes_of

__all__ = ["contacts_at", "implicit_lanes", "refuse_implicit", "with_implicit_codes"]


def _records(codes: Any) -> Any:
    """The records of all elements, one row each."""
    end = f.CODES_HEADER + f.CODES_RECORD * int(codes[f.ELEMENTS])
    return codes[f.CODES_HEADER : end].reshape(-1, f.CODES_RECORD)


def contacts_at(codes: Any) -> int:
    """Where contact tables begin: their element is the last one; 0 without contacts."""
    return int(_records(codes)[-1][f.FIRST]) if codes[f.ACCOUNTS] == 3 else 0


def _points(codes: Any) -> Any:
    """The records of all contact points."""
    at = contacts_at(codes)
    count = int(codes[at + c.POINTS]) if at else 0
    first = at + c.CONTACT_HEADER
    return codes[first : first + count * c.CONTACT_RECORD].reshape(-1, c.CONTACT_RECORD)


MOST_PAIRS = 8
"""Points between two bodies: each takes some four sweeps a Newton step (implicit_pairs.py)."""
PUSH_BODIES = (f.WRENCH_WORLD, f.WRENCH_BODY, f.POINT_SPRING, f.OWN_PART)
"""Elements that may push bodies."""


def with_implicit_codes(tree: Any, codes: Any, lanes: int) -> NDArray[np.int64]:
    """The codes of all forces with what an implicit step reads behind them.

    lanes: how many of the workspace others need.
    """
    codes = codes.copy()
    codes[f.CONTACTS_ALONE] = 0  # rows of logs are evaluated with contacts as an element
    records, at = _records(codes), contacts_at(codes)
    others = records[:-1] if at else records
    servos = others[others[:, f.CODE] == f.SERVO]
    explicit = others[others[:, f.CODE] != f.SERVO]
    header = codes[: f.CODES_HEADER].copy()
    header[[f.PASSIVE, f.GRAVITY_COMPENSATED, f.MOTIONS, f.CONTROLLERS, f.SAMPLED]] = 0
    header[f.ELEMENTS], header[f.ON_BODIES] = len(explicit), 1
    touched, pairs = _touched(int(tree[N_BODIES]), _points(codes))
    n_bristles = int(codes[at + c.BRISTLES]) if at else 0
    own = np.zeros(IMPLICIT_HEADER, dtype=np.int64)
    own[SERVOS], own[CONTACTS_FROM_CODES], own[PAIRS] = len(servos), at, len(pairs)
    own[BRISTLE_INTEGRAL] = int(codes[f.INTEGRALS]) - int(codes[f.ACCOUNTS]) - n_bristles
    own[LANES_AT] = lanes
    own[FULL_AT] = tree[FULL]
    own[OWN_SWEEP] = int(tree[LOOPS] > 0 or tree[FULL] > 0 or codes[f.MOTIONS] > 0)
    own[PUSHED] = int(np.isin(explicit[:, f.CODE], PUSH_BODIES).any())
    parts = [header, explicit.reshape(-1), servos.reshape(-1), touched, pairs]
    starts = IMPLICIT_HEADER + np.cumsum([0, *(len(part) for part in parts)])
    own[EXPLICIT], own[SERVOS_AT], own[TOUCHED_AT], own[PAIRS_AT] = starts[[0, 2, 3, 4]]
    return np.concatenate((codes, own, *parts)).astype(np.int64)


def _touched(n_bodies: int, points: Any) -> tuple[Any, Any]:
    """Which points each body has, and the points between two bodies."""
    lists: list[list[int]] = [[] for _ in range(n_bodies)]
    pairs = []
    for number, (a, b) in enumerate(points[:, [c.BODY_A, c.BODY_B]]):
        both = PAIR if a >= 0 and b >= 0 else 0
        pairs += [number] if both else []
        for body, other, side in ((a, b, 0), (b, a, SIDE)):
            if body >= 0:
                second = SECOND_SIDE if both and other < body else 0
                lists[body].append(TOUCH_CODES * number + second + both + side)
    starts = np.cumsum([0, *(len(one) for one in lists)])
    flat = [code for one in lists for code in one]
    return np.array([*starts, *flat], dtype=np.int64), np.array(pairs, dtype=np.int64)


def _pairs(codes: Any) -> Any:
    """The records of points between two bodies."""
    points = _points(codes)
    return points[(points[:, c.BODY_A] >= 0) & (points[:, c.BODY_B] >= 0)]


def implicit_lanes(tree: Any, codes: Any) -> int:
    """Lanes of the workspace that an implicit step needs besides those of the recursions."""
    servos = int((_records(codes)[:, f.CODE] == f.SERVO).sum())
    columns = int((4 + 3 * _pairs(codes)[:, c.TURNS]).sum())
    every = int(tree[int(tree[FULL]) + NV])
    return lanes_of(int(tree[N_BODIES]), every, servos, len(_points(codes)), columns)


def _driven_loops(loops: Sequence[str]) -> str:
    return "prescribed motions beside closed loops" + (f", as {loops[0]!r}" if loops else "")


def refuse_implicit(tree: Any, codes: Any, loops: Sequence[str] = ()) -> None:
    """Say what implicit_contact does not take; loops: names of those that a model has."""
    faults, mimics = [], tree[FULL] > 0 and not is_bent(tree)
    for found, what in (
        (is_bent(tree), "flexible bodies"),
        (mimics and codes[f.MOTIONS] > 0, "prescribed motions beside mimic joints"),
        (tree[LOOPS] > 0 and codes[f.MOTIONS] > 0, _driven_loops(loops)),
    ):
        if found:
            problem = f"implicit_contact does not take models with {what}"
            faults.append(Fault(problem, "choose rk4 or implicit_midpoint, with a smaller dt."))
    pairs = len(_pairs(codes))
    if pairs > MOST_PAIRS:
        problem = f"implicit_contact takes {MOST_PAIRS} points of contact between two bodies, and "
        problem += f"there are {pairs}"
        faults.append(Fault(problem, "let fewer shapes touch, or choose rk4 with a smaller dt."))
    if faults:
        raise StateError(faults)
