"""One evaluation of a system of parts: each by itself, then all put together at the cuts.

What passes between parts are poses and velocities of the bodies that carry them, then six by six
matrices at their ends (kernels/part_dynamics.py), then accelerations. Parts are independent of one
another in between, and run on threads; a part that has not changed is not computed again.

At an end c with acceleration α and the assembled P, z of the part that hangs there, F = −(P·α + z),
so that all ends of a part obey (I + Ω·P)·α = Ψ*·α_base + β − Ω·z, and the part passes inward

    P + Ψ·P·(I + Ω·P)⁻¹·Ψ*      and      z + Ψ·(P·(I + Ω·P)⁻¹·(β − Ω·z) + z).
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.dynamics.algorithms import FORWARD_WITH_F_EXT
from skodyn.dynamics.arguments import read_arguments
from skodyn.dynamics.driver import executor
from skodyn.dynamics.status_messages import raise_failure
from skodyn.kernels import part_dynamics as _kernels
from skodyn.kernels.packed_model import PackedModel
from skodyn.kernels.workspace import workspace_lanes
from skodyn.lanes.cache_lines import line_zeros
from skodyn.model.parting import Part
from skodyn.typing import Floats

__all__ = ["Evaluation", "Piece", "Places"]

STANDING: Floats = np.concatenate([np.eye(3).reshape(-1), np.zeros(3)])

Places = slice | NDArray[np.int64]


@dataclass
class Memory:
    """What a part knows from the last state it was in."""

    lanes: Floats
    matrices: Floats
    vdot: Floats
    poses: Floats  # of its ends
    placed: tuple[Floats, ...] = ()  # what it was placed with
    found: tuple[Floats, ...] = ()  # what its matrices were found with


@dataclass(frozen=True, eq=False)
class Piece:
    """A part, and where its numbers lie in the whole."""

    part: Part
    ends: tuple[str, ...]  # names of the parts that hang from it
    nodes: Floats  # the bodies they hang from, as kernels read them
    alignments: tuple[Floats, ...]  # of these bodies
    arrays: PackedModel
    coordinates: Places
    velocities: Places
    bodies: Places
    memories: list[Memory] = field(default_factory=list)

    def memory(self) -> Memory:
        """One that is free at the moment, or another one."""
        try:
            return self.memories.pop()
        except IndexError:
            model, m = self.part.model, len(self.ends)
            count = workspace_lanes(model.n_bodies, model.nq, model.nv)
            count += _kernels.part_lanes(model.n_bodies, model.nv)
            matrices = np.zeros(42 + 36 * m * m + 42 * m)
            return Memory(line_zeros(count), matrices, np.zeros(model.nv), np.zeros(12 * m))


class Evaluation:
    """One evaluation: the memories it has taken, and what it has found."""

    def __init__(
        self, pieces: Mapping[str, Piece], gravity: Floats, inputs: Any, workers: int
    ) -> None:
        self.pieces, self.gravity, self.inputs = pieces, gravity, inputs
        self.workers = min(workers, len(self.pieces))
        self.taken = {name: piece.memory() for name, piece in self.pieces.items()}
        self.fresh: list[str] = []

    def run(self) -> Floats:
        """Kinematics outward with the matrices of each part behind, assembly, motion."""
        try:
            self._find_all()
            inward = self._assemble()
            accelerations, pushes = self._spread(inward)
            vdot = self._move_all(accelerations, pushes)
        except BaseException:
            for memory in self.taken.values():
                memory.placed = memory.found = ()
            raise
        finally:
            for name, memory in self.taken.items():
                self.pieces[name].memories.append(memory)
        return vdot

    @property
    def recomputed(self) -> tuple[str, ...]:
        """The parts whose matrices had to be found anew."""
        return tuple(name for name in self.pieces if name in self.fresh)

    # ---- every part by itself ----------------------------------------------------------------

    def _state(self, piece: Piece) -> _kernels.PartState:
        given = self.inputs
        pushed = given.f_ext.reshape(-1, 6)[piece.bodies] if given.f_ext.size else given.f_ext
        return _kernels.PartState(
            np.array(given.q[piece.coordinates]),  # copies: they are compared with the next ones
            np.array(given.v[piece.velocities]),
            np.array(given.x[piece.velocities]),
            np.array(pushed).reshape(-1),
        )

    def _find_all(self) -> None:
        """Base to tips: each part is placed, and handed to a thread that finds its matrices.

        A part that carries others is placed at once, for they wait for it.
        """
        bases: dict[str, Floats] = {}
        jobs: list[tuple[Piece, Floats, _kernels.PartState]] = []
        waiting = []
        for name, piece in self.pieces.items():
            state, base = self._state(piece), bases.get(name, STANDING)
            if piece.ends:
                self._place(piece, base, state)
            for i, end in enumerate(piece.ends):
                pose = self.taken[name].poses[12 * i : 12 * i + 12].copy()
                pose[:9] = (pose[:9].reshape(3, 3) @ piece.alignments[i].T).reshape(-1)
                bases[end] = pose
            if self.workers > 1:
                waiting.append(executor(self.workers).submit(self._do, piece, base, state))
            else:
                jobs.append((piece, base, state))
        _finish(waiting)
        for job in jobs:
            self._do(*job)

    def _do(self, piece: Piece, base: Floats, state: _kernels.PartState) -> None:
        self._place(piece, base, state)
        self._find(piece, state)

    def _place(self, piece: Piece, base: Floats, state: _kernels.PartState) -> None:
        memory = self.taken[piece.part.name]
        given = (base, state.q, state.v)
        if _same(memory.placed, given):
            return
        memory.placed = memory.found = ()
        status = _kernels.place.ready(
            piece.arrays, base, state, piece.nodes, memory.poses, memory.lanes
        )
        self._check(piece, status, state)
        memory.placed = given

    def _find(self, piece: Piece, state: _kernels.PartState) -> None:
        memory = self.taken[piece.part.name]
        given = (state.tau, state.f_ext)
        if _same(memory.found, given):
            return
        self.fresh.append(piece.part.name)
        status = _kernels.find_ends.ready(
            piece.arrays, state, piece.nodes, memory.matrices, memory.vdot, memory.lanes
        )
        self._check(piece, status, state)
        memory.found = given

    def _check(self, piece: Piece, status: int, state: _kernels.PartState) -> None:
        if status != 0:
            model = piece.part.model
            inputs = read_arguments(FORWARD_WITH_F_EXT, model, state.q, state.v, state.tau, None)
            raise_failure(FORWARD_WITH_F_EXT, model, inputs, int(status), 0)

    # ---- all parts together --------------------------------------------------------------------

    def _assemble(self) -> dict[str, Any]:
        """Tips to base: (P, z) of every part with all that hangs from it."""
        inward: dict[str, Any] = {}
        for name in reversed(list(self.pieces)):
            piece, memory = self.pieces[name], self.taken[name]
            big_p, z = memory.matrices[:36].reshape(6, 6), memory.matrices[36:42]
            inward[name] = big_p, z, None
            if piece.ends:
                omega, beta, psi = self._matrices(piece, memory)
                outer_p, outer_z = self._outer(piece, inward)
                answer = np.linalg.inv(np.eye(len(beta)) + omega @ outer_p)
                rest = answer @ (beta - omega @ outer_z)
                big_p = big_p + psi @ outer_p @ answer @ psi.T
                z = z + psi @ (outer_p @ rest + outer_z)
                inward[name] = 0.5 * (big_p + big_p.T), z, (answer @ psi.T, rest)
        return inward

    def _matrices(self, piece: Piece, memory: Memory) -> tuple[Floats, Floats, Floats]:
        m = len(piece.ends)
        data, square = memory.matrices, 42 + 36 * m * m
        omega = data[42:square].reshape(6 * m, 6 * m)
        beta = data[square : square + 6 * m]
        psi = data[square + 6 * m :].reshape(6 * m, 6).T
        return omega, beta, psi

    def _outer(self, piece: Piece, inward: dict[str, Any]) -> tuple[Floats, Floats]:
        """P of all ends as blocks of a diagonal, and z."""
        m = len(piece.ends)
        outer_p, outer_z = np.zeros((6 * m, 6 * m)), np.zeros(6 * m)
        for i, end in enumerate(piece.ends):
            at = slice(6 * i, 6 * i + 6)
            outer_p[at, at], outer_z[at] = inward[end][0], inward[end][1]
        return outer_p, outer_z

    def _spread(self, inward: dict[str, Any]) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Base to tips: the acceleration of every base, and what pushes every end."""
        ground = np.concatenate([np.zeros(3), -self.gravity])
        accelerations: dict[str, Floats] = {}
        pushes: dict[str, Floats] = {}
        for name, piece in self.pieces.items():
            base = accelerations.setdefault(name, ground)
            if not piece.ends:
                pushes[name] = np.zeros(0)
                continue
            turned, rest = inward[name][2]
            alpha = turned @ base + rest
            outer_p, outer_z = self._outer(piece, inward)
            pushes[name] = -(outer_p @ alpha + outer_z)
            for i, end in enumerate(piece.ends):
                accelerations[end] = alpha[6 * i : 6 * i + 6].copy()
        return accelerations, pushes

    def _move_all(self, accelerations: dict[str, Floats], pushes: dict[str, Floats]) -> Floats:
        vdot = np.empty(len(self.inputs.v))

        def job(name: str, piece: Piece) -> None:
            memory, given = self.taken[name], (accelerations[name], pushes[name], piece.nodes)
            status = _kernels.move.ready(piece.arrays, *given, memory.vdot, memory.lanes)
            if status != 0:
                self._check(piece, status, self._state(piece))
            vdot[piece.velocities] = memory.vdot

        if self.workers > 1:
            waiting = [executor(self.workers).submit(job, *item) for item in self.pieces.items()]
            _finish(waiting)
        else:
            for item in self.pieces.items():
                job(*item)
        return vdot


def _same(before: tuple[Floats, ...], now: tuple[Floats, ...]) -> bool:
    pairs = zip(before, now, strict=True) if before else ()
    return bool(before) and all(np.array_equal(a, b) for a, b in pairs)


def _finish(jobs: list[Future[None]]) -> None:
    """Wait for all, also if one of them fails: they work in memory that others take next."""
    wait(jobs)
    for job in jobs:
        job.result()
