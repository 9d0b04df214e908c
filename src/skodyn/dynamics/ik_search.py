"""Inverse kinematics: coordinates that bring frames to where they are wanted.

Levenberg and Marquardt's method on the joints' manifolds. With residuals e(q) of the targets, rows
of weight w, and their Jacobian J, a step solves

    (J*WJ + λ1)·δ = J*We,      λ = μ·½e*We

for the joints that are free: those at a limit that the gradient pushes beyond it stay there, and
what would leave a limit is cut off at it. A step that does not lower ½e*We is not taken and raises
μ. As λ falls with the square of e, the steps become those of Gauss and Newton at a solution,
however redundant the joints are (T. Sugihara, IEEE Trans. Robotics 27 (2011) 984, has this λ).
All states of a batch advance together, a register full at a time in kernels; who is done leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skodyn.dynamics.algorithms import JACOBIAN
from skodyn.dynamics.arguments import read_arguments
from skodyn.dynamics.driver import NOTHING, run
from skodyn.dynamics.frames import POSES
from skodyn.dynamics.ik_targets import Bounds, Problem, Target, read_bounds, read_targets
from skodyn.dynamics.nodes import node_table
from skodyn.errors import StateError
from skodyn.faults import Fault
from skodyn.model.model import Model
from skodyn.typing import Floats
from skodyn.wording import listed

__all__ = ["InverseKinematics", "Target", "inverse_kinematics"]

SLOW = 1e-3
"""A step that lowers the sum of squares by less, relative to it, makes no progress …"""
PATIENCE = 12
"""… and after so many of them in a row the search is stuck."""
FIRST_DAMPING = 1e-2
LEAST_DAMPING = 1e-8
MOST_DAMPING = 1e10


class InverseKinematics(NamedTuple):
    """Coordinates that were found, and how well they do; with a leading axis for a batch.

    status: "solved"; or the reason why not: "at limits" (joints at their limits hold the frames
    away), "out of reach" (no joint can bring them nearer), "iterations" (there were too few).
    message: the same as a sentence, empty if solved.
    error: the largest distance of a frame from its target, in m or rad, as far as it was asked for.
    """

    q: Floats
    solved: bool | NDArray[np.bool_]
    status: str | tuple[str, ...]
    message: str | tuple[str, ...]
    error: float | Floats
    iterations: int | NDArray[np.int64]


def inverse_kinematics(
    model: Model,
    targets: Mapping[str, ArrayLike | Target],
    q0: ArrayLike | None = None,
    *,
    limits: bool | Mapping[str, tuple[float, float]] = True,
    tolerance: float = 1e-10,
    max_iterations: int = 100,
    restarts: int = 300,
    seed: int = 0,
    threads: int | None = None,
) -> InverseKinematics:
    """Coordinates that bring named frames or bodies to targets.

    Parameters
    ----------
    model : Model
        The system; joints may mimic others, loops are refused.
    targets : mapping of str to array_like or Target
        Where each frame or body shall be: a pose, shape (4, 4) or (B, 4, 4) as `frame_poses` gives
        it, or a `Target`, which may leave out some of its six directions and weigh the others.
    q0 : array_like, shape (nq,) or (B, nq), optional
        Where the search starts: the neutral position by default.
    limits : bool or mapping, optional
        True keeps the joints within `model.limits`; False lets them go; a mapping of joint names to
        (lower, upper) gives others.
    tolerance : float, optional
        The largest error of a solution, in m and rad.
    max_iterations : int, optional
        Steps in one search.
    restarts : int, optional
        Further searches, each from a random position within the limits, if one is stuck.
    seed : int, optional
        Of these positions.
    threads : int, optional
        At most this many threads for a batch; all cores by default.

    Returns
    -------
    found : InverseKinematics
        q, and whether it solves the problem, with the reason if it does not; then q is the best
        position that was found.

    Raises
    ------
    StateError
        A target or an argument cannot be used.
    ModelError
        There is no such frame, or the model has loops.

    See Also
    --------
    frame_poses : the inverse question.

    Examples
    --------
    >>> arm = sk.load("scenarios/models/seven_joint_arm.toml")
    >>> wanted = sk.frame_poses(arm, [0.1, 0.5, -0.3, 1.0, 0.2, 0.4, 0.0], "tool")
    >>> found = sk.inverse_kinematics(arm, {"tool": wanted})
    >>> found.solved, bool(np.abs(sk.frame_poses(arm, found.q, "tool") - wanted).max() < 1e-9)
    (True, True)
    """
    model._refuse_loops("inverse kinematics")
    model._refuse_flexible("inverse kinematics")
    _check_settings(tolerance, max_iterations, restarts)
    problem = read_targets(model, targets)
    start = model.neutral() if q0 is None else q0
    inputs = read_arguments(POSES, model, start, NOTHING, problem.table, None)
    first = np.array(inputs.q, dtype=np.float64).reshape(-1, model.nq)
    count = max(len(first), problem.states)
    if len({len(first), problem.states} - {1, count}):
        raise StateError(
            f"q0 has {len(first)} states and targets have {problem.states}",
            "give as many, or one that serves all.",
        )
    is_batch = inputs.q.ndim > 1 or problem.is_batch
    bounds, settings = read_bounds(model, limits), (float(tolerance), int(max_iterations), threads)
    search = _Search(model, problem.repeated(count), bounds, settings)
    search.begin(np.repeat(first, count // len(first), axis=0))
    for attempt in range(int(restarts) + 1):
        search.advance()
        if attempt < restarts:
            search.restart(int(seed), attempt)
    return _answer(search, is_batch)


def _check_settings(tolerance: Any, max_iterations: Any, restarts: Any) -> None:
    faults = []
    if not isinstance(tolerance, int | float) or not 0.0 < tolerance < np.inf:
        faults.append(Fault(f"tolerance is {tolerance!r}", "give a number above 0."))
    for name, value, least in (("max_iterations", max_iterations, 1), ("restarts", restarts, 0)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            faults.append(Fault(f"{name} is {value!r}", f"give a whole number from {least}."))
    if faults:
        raise StateError(faults)


@dataclass
class _Lanes:
    """States on their way: where they are, and what they have tried."""

    number: NDArray[np.int64]  # of the problem
    q: Floats
    error: Floats  # residuals, rows of each
    cost: Floats
    damping: Floats
    idle: NDArray[np.int64]  # steps without progress
    steps: NDArray[np.int64]

    def chosen(self, rows: NDArray[Any]) -> _Lanes:
        return _Lanes(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


class _Search:
    """All problems of a batch; `best_*` have what was found so far."""

    def __init__(
        self,
        model: Model,
        problem: Problem,
        bounds: Bounds,
        settings: tuple[float, int, int | None],
    ) -> None:
        self.model, self.problem, self.bounds = model, problem, bounds
        self.tolerance, self.max_iterations, self.threads = settings
        self.nodes = node_table(model, list(problem.names)).reshape(-1, 4)

    def begin(self, q: Floats) -> None:
        count = len(q)
        self.best_q = self.bounds.inside(q)
        self.best_cost = np.full(count, np.inf)
        self.best_error = np.full(count, np.inf)
        self.held = np.zeros((count, self.model.nv), dtype=np.bool_)
        self.stuck = np.zeros(count, dtype=np.bool_)
        self.iterations = np.zeros(count, dtype=np.int64)
        self.lanes = self._lanes(np.arange(count), self.best_q)

    def _lanes(self, number: NDArray[np.int64], q: Floats) -> _Lanes:
        error, cost = self._errors(number, q)
        none = np.zeros(len(number), dtype=np.int64)
        damping = np.full(len(number), FIRST_DAMPING)
        lanes = _Lanes(number, q, error, cost, damping, none, none.copy())
        self._keep(lanes, np.zeros((len(number), self.model.nv), dtype=np.bool_))
        return lanes

    # ---- one search ---------------------------------------------------------------------------

    def advance(self) -> None:
        """Steps until every state is solved, stuck or out of steps."""
        lanes = self._unfinished(self.lanes)
        while len(lanes.number):
            lanes = self._unfinished(self._step(lanes))

    def _unfinished(self, lanes: _Lanes) -> _Lanes:
        done = self.best_error[lanes.number] <= self.tolerance
        self.stuck[lanes.number] = lanes.idle >= PATIENCE
        over = done | (lanes.idle >= PATIENCE) | (lanes.steps >= self.max_iterations)
        return lanes.chosen(np.flatnonzero(~over))

    def _step(self, lanes: _Lanes) -> _Lanes:
        J, w = self._jacobian(lanes.q), self.problem.weights
        weighted = J * w[:, None]
        gradient = np.einsum("bij,bi->bj", weighted, lanes.error)
        normal = np.matmul(weighted.transpose(0, 2, 1), J)
        held = self.bounds.held(lanes.q, gradient)
        gradient[held] = 0.0
        normal[held] = 0.0
        normal.transpose(0, 2, 1)[held] = 0.0
        diagonal = np.einsum("bii->bi", normal)
        least = np.finfo(float).eps * (1.0 + diagonal.max(axis=1, keepdims=True))
        diagonal += lanes.damping[:, None] * lanes.cost[:, None] + least
        way = np.linalg.solve(normal, gradient[..., None])[..., 0]
        q = self.bounds.inside(self.model.integrate(lanes.q, way))
        error, cost = self._errors(lanes.number, q)
        better = cost < lanes.cost
        slow = ~(lanes.cost - cost > SLOW * lanes.cost)
        self.iterations[lanes.number] += 1
        after = _Lanes(
            lanes.number,
            np.where(better[:, None], q, lanes.q),
            np.where(better[:, None], error, lanes.error),
            np.where(better, cost, lanes.cost),
            np.clip(lanes.damping * np.where(better, 0.2, 8.0), LEAST_DAMPING, MOST_DAMPING),
            np.where(slow, lanes.idle + 1, 0),
            lanes.steps + 1,
        )
        self._keep(after, held)
        return after

    def _keep(self, lanes: _Lanes, held: NDArray[np.bool_]) -> None:
        """Remember the best of each problem."""
        better = lanes.cost <= self.best_cost[lanes.number]
        at = lanes.number[better]
        self.best_q[at], self.best_cost[at] = lanes.q[better], lanes.cost[better]
        self.best_error[at] = np.abs(lanes.error[better]).max(axis=1, initial=0.0)
        self.held[at] = held[better]

    def _errors(self, number: NDArray[np.int64], q: Floats) -> tuple[Floats, Floats]:
        k = len(self.problem.names)
        shape = (4 * k, 4)
        poses = run(
            POSES, self.model, shape, q, NOTHING, self.problem.table, None, None, self.threads
        )
        error = self.problem.residuals(number, poses.reshape(-1, k, 4, 4))
        return error, 0.5 * np.einsum("bi,i,bi->b", error, self.problem.weights, error)

    def _jacobian(self, q: Floats) -> Floats:
        shape = (6, self.model.nv)
        parts = [
            run(JACOBIAN, self.model, shape, q, NOTHING, node, None, None, self.threads)
            for node in self.nodes
        ]
        return np.concatenate(parts, axis=1)[:, self.problem.rows]

    # ---- further searches ---------------------------------------------------------------------

    def restart(self, seed: int, attempt: int) -> None:
        """What is not solved begins anew, each at a position that depends on its number alone."""
        todo = np.flatnonzero(self.best_error > self.tolerance)
        if not len(todo):
            self.lanes = self.lanes.chosen(todo[:0])
            return
        drawn = [
            self.bounds.random(self.best_q[k], np.random.default_rng([seed, attempt, k]))
            for k in todo.tolist()
        ]
        self.lanes = self._lanes(todo, np.stack(drawn))


def _answer(search: _Search, is_batch: bool) -> InverseKinematics:
    solved = search.best_error <= search.tolerance
    status, message = [], []
    for k, ok in enumerate(solved.tolist()):
        held = search.bounds.names(search.held[k])
        word = "solved" if ok else "at limits" if held else "out of reach"
        word = word if ok or search.stuck[k] else "iterations"
        status.append(word)
        message.append("" if ok else _sentence(search, k, word, held))
    if is_batch:
        return InverseKinematics(
            search.best_q, solved, tuple(status), tuple(message), search.best_error,
            search.iterations,
        )  # fmt: skip
    error, steps = float(search.best_error[0]), int(search.iterations[0])
    return InverseKinematics(search.best_q[0], bool(solved[0]), status[0], message[0], error, steps)


def _sentence(search: _Search, k: int, word: str, held: list[str]) -> str:
    what = f"The nearest position that was found is {search.best_error[k]:.3g} (m or rad) away"
    if word == "at limits":
        return f"{what}, with {listed(held)} at their limits; widen them, or ask for less."
    if word == "out of reach":
        return f"{what}, and no joint brings it nearer; move the target, or ask for less of it."
    return f"{what} after {search.iterations[k]} steps; raise max_iterations, or start nearer."
