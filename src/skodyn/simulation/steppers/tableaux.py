"""Methods that are given by their tableaux alone; nothing is compiled for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skodyn.errors import StateError
from skodyn.simulation.steppers.explicit import explicit_run, explicit_sweep, stage_memory, tableau
from skodyn.simulation.steppers.method import Method

__all__ = ["explicit_method"]


def explicit_method(
    name: str,
    rows: Sequence[Sequence[float]],
    weights: Sequence[float],
    nodes: Sequence[float],
) -> Method:
    """An explicit Runge–Kutta method by its tableau, for `register`.

    Nothing is compiled for it: the tableau is data of one loop. Its order is limited to five if
    the model has spherical or free joints, by the series of the inverse of dexp.

    Parameters
    ----------
    name : str
        What it is called in ``integrator=`` and in scenario files.
    rows : sequence of sequences of float
        The rows of A below its diagonal: the first is empty.
    weights : sequence of float
        b; their sum is 1.
    nodes : sequence of float
        c, the times of the stages as parts of a step.

    Returns
    -------
    method : Method
        For `register`, or a list of things that a package offers.

    Raises
    ------
    StateError
        Lengths that do not fit, or numbers that are no tableau.

    See Also
    --------
    register : makes it known by its name.

    Examples
    --------
    >>> heun = sk.explicit_method("heun", rows=[[], [1.0]], weights=[0.5, 0.5], nodes=[0.0, 1.0])
    >>> heun.name, heun.adaptive
    ('heun', False)
    """
    _check_tableau(name, rows, weights, nodes)
    numbers = tableau(rows, weights, nodes)
    memory = stage_memory(len(weights))
    return Method(name, memory, explicit_run, explicit_sweep, lambda settings: numbers)


def _check_tableau(
    name: str,
    rows: Sequence[Sequence[float]],
    weights: Sequence[float],
    nodes: Sequence[float],
) -> None:
    """Kernels take its lengths on trust."""
    stages = len(weights)
    for what, count in (("rows", len(rows)), ("nodes", len(nodes))):
        if count != stages or not stages:
            raise StateError(
                f"The tableau of {name!r} has {count} {what} and {stages} weights",
                "give one of each for every stage, at least one.",
            )
    for i, row in enumerate(rows):
        if len(row) > i:
            raise StateError(
                f"The tableau of {name!r} has {len(row)} numbers in row {i + 1}",
                f"an explicit method has at most {i} there.",
            )
    numbers = [*weights, *nodes, *(a for row in rows for a in row)]
    if not np.isfinite(np.asarray(numbers, dtype=np.float64)).all():
        what = f"The tableau of {name!r} has a number that is not finite"
        raise StateError(what, "give finite ones.")
    total = float(sum(weights))
    if abs(total - 1.0) > 1e-9:
        raise StateError(f"The weights of {name!r} add up to {total!r}", "their sum must be 1.")
