"""The methods of `dynamics`, which a controller calls: written once, for numba and for Python.

`self` has the members of control_records.Dynamics. Arrays are looked at, and no more: what does not
fit writes nothing, and is told when the chunk of steps is over (`explain_trouble`).
"""

from __future__ import annotations

from typing import Any

from skodyn.jit import call_part
from skodyn.kernels.entries import Given
from skodyn.kernels.packed_model import PackedModel
from skodyn.lanes import WIDTH_1, Rows, Work, pointer, shift_pointer
from skodyn.model.layout import NQ, NV
from skodyn.simulation.control.control_dynamics import (
    ENERGY,
    INVERSE,
    JACOBIAN,
    JACOBIAN_DOT_V,
    MASS,
    POSE,
    VELOCITY,
)
from skodyn.simulation.control.control_records import (
    ENERGIES,
    FRAME_POINT,
    FRAME_POSE,
    FRAME_RECORD,
    TROUBLE,
)

__all__ = ["METHODS", "explain_trouble"]


def inverse_dynamics(self, q, v, vdot, out):
    """The torques that give accelerations vdot; vdot and out may be one array."""
    nq, nv = self.tree[NQ], self.tree[NV]
    if q.size != nq or v.size != nv or vdot.size != nv or out.size != nv:
        self.trouble[TROUBLE] = 1.0
        return
    given = Given(
        Rows(pointer(q), 0, nq),
        Rows(pointer(v), 0, nv),
        Rows(pointer(vdot), 0, nv),
        Rows(pointer(q), 0, 0),
    )
    work, model = Work(WIDTH_1, self.lanes), PackedModel(self.tree, self.parameters)
    call_part(self.parts[INVERSE], work, model, self.more, given, Rows(pointer(out), 0, nv))


def bias_force(self, q, v, out):
    """The torques of gravity and of velocities: inverse dynamics without accelerations."""
    nq, nv = self.tree[NQ], self.tree[NV]
    if q.size != nq or v.size != nv or out.size != nv:
        self.trouble[TROUBLE] = 2.0
        return
    none = Rows(pointer(q), 0, 0)
    given = Given(Rows(pointer(q), 0, nq), Rows(pointer(v), 0, nv), none, none)
    work, model = Work(WIDTH_1, self.lanes), PackedModel(self.tree, self.parameters)
    call_part(self.parts[INVERSE], work, model, self.more, given, Rows(pointer(out), 0, nv))


def gravity_force(self, q, out):
    """The torques that hold the system against gravity."""
    nq, nv = self.tree[NQ], self.tree[NV]
    if q.size != nq or out.size != nv:
        self.trouble[TROUBLE] = 3.0
        return
    none = Rows(pointer(q), 0, 0)
    given = Given(Rows(pointer(q), 0, nq), none, none, none)
    work, model = Work(WIDTH_1, self.lanes), PackedModel(self.tree, self.parameters)
    call_part(self.parts[INVERSE], work, model, self.more, given, Rows(pointer(out), 0, nv))


def mass_matrix(self, q, out):
    """The mass matrix, nv × nv."""
    nq, nv = self.tree[NQ], self.tree[NV]
    if q.size != nq or out.size != nv * nv:
        self.trouble[TROUBLE] = 4.0
        return
    none = Rows(pointer(q), 0, 0)
    given = Given(Rows(pointer(q), 0, nq), none, none, none)
    work, model = Work(WIDTH_1, self.lanes), PackedModel(self.tree, self.parameters)
    call_part(self.parts[MASS], work, model, self.more, given, Rows(pointer(out), 0, nv * nv))


def jacobian(self, frame, q, out):
    """6 × nv: [angular; linear] velocity of a frame's origin, world axes, for each of v."""
    nq, nv = self.tree[NQ], self.tree[NV]
    if q.size != nq or out.size != 6 * nv or not 0 <= frame < self.frames[0]:
        self.trouble[TROUBLE] = 5.0
        return
    none = Rows(pointer(q), 0, 0)
    point = Rows(shift_pointer(self.frames, 1 + FRAME_RECORD * frame + FRAME_POINT), 0, 4)
    given = Given(Rows(pointer(q), 0, nq), none, point, none)
    work, model = Work(WIDTH_1, self.lanes), PackedModel(self.tree, self.parameters)
    call_part(self.parts[JACOBIAN], work, model, self.more, given, Rows(pointer(out), 0, 6 * nv))


def jacobian_dot_v(self, frame, q, v, out):
    """The six numbers J̇·v of a frame."""
    nq, nv = self.tree[NQ], self.tree[NV]
    fits = q.size == nq and v.size == nv and out.size == 6
    if not fits or not 0 <= frame < self.frames[0]:
        self.trouble[TROUBLE] = 6.0
        return
    point = Rows(shift_pointer(self.frames, 1 + FRAME_RECORD * frame + FRAME_POINT), 0, 4)
    given = Given(Rows(pointer(q), 0, nq), Rows(pointer(v), 0, nv), point, Rows(pointer(q), 0, 0))
    work, model = Work(WIDTH_1, self.lanes), PackedModel(self.tree, self.parameters)
    call_part(self.parts[JACOBIAN_DOT_V], work, model, self.more, given, Rows(pointer(out), 0, 6))


def frame_pose(self, frame, q, out):
    """The homogeneous matrix of a frame, 4 × 4: axes in [:3, :3], origin in [:3, 3]."""
    nq = self.tree[NQ]
    if q.size != nq or out.size != 16 or not 0 <= frame < self.frames[0]:
        self.trouble[TROUBLE] = 7.0
        return
    none = Rows(pointer(q), 0, 0)
    place = Rows(shift_pointer(self.frames, 1 + FRAME_RECORD * frame + FRAME_POSE), 0, 14)
    given = Given(Rows(pointer(q), 0, nq), none, place, none)
    work, model = Work(WIDTH_1, self.lanes), PackedModel(self.tree, self.parameters)
    call_part(self.parts[POSE], work, model, self.more, given, Rows(pointer(out), 0, 16))


def frame_velocity(self, frame, q, v, out):
    """[ω; velocity of the origin] of a frame, world axes: J·v."""
    nq, nv = self.tree[NQ], self.tree[NV]
    fits = q.size == nq and v.size == nv and out.size == 6
    if not fits or not 0 <= frame < self.frames[0]:
        self.trouble[TROUBLE] = 8.0
        return
    place = Rows(shift_pointer(self.frames, 1 + FRAME_RECORD * frame + FRAME_POSE), 0, 14)
    given = Given(Rows(pointer(q), 0, nq), Rows(pointer(v), 0, nv), place, Rows(pointer(q), 0, 0))
    work, model = Work(WIDTH_1, self.lanes), PackedModel(self.tree, self.parameters)
    call_part(self.parts[VELOCITY], work, model, self.more, given, Rows(pointer(out), 0, 6))


def energy(self, q, v):
    """(kinetic, potential)."""
    nq, nv = self.tree[NQ], self.tree[NV]
    if q.size != nq or v.size != nv:
        self.trouble[TROUBLE] = 9.0
        return 0.0, 0.0
    none = Rows(pointer(q), 0, 0)
    given = Given(Rows(pointer(q), 0, nq), Rows(pointer(v), 0, nv), none, none)
    work, model = Work(WIDTH_1, self.lanes), PackedModel(self.tree, self.parameters)
    found = shift_pointer(self.trouble, ENERGIES)
    call_part(self.parts[ENERGY], work, model, self.more, given, Rows(found, 0, 12))
    return found[0], found[1]


def solve(self, matrix, rhs):
    """matrix⁻¹·rhs in place of rhs, by Cholesky in place of matrix: symmetric, positive."""
    n = matrix.shape[0]
    if matrix.size != n * n or rhs.size != n:
        self.trouble[TROUBLE] = 10.0
        return
    for j in range(n):
        for i in range(j, n):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = total**0.5 if i == j else total / matrix[j, j]
        total = rhs[j]
        for k in range(j):
            total -= matrix[j, k] * rhs[k]
        rhs[j] = total / matrix[j, j]
    for back in range(n):
        j = n - 1 - back
        total = rhs[j]
        for k in range(j + 1, n):
            total -= matrix[k, j] * rhs[k]
        rhs[j] = total / matrix[j, j]


METHODS = {
    method.__name__: method
    for method in (
        inverse_dynamics, bias_force, gravity_force, mass_matrix, jacobian, jacobian_dot_v,
        frame_pose, frame_velocity, energy, solve,
    )
}  # fmt: skip

_FORMS = (
    "inverse_dynamics(q, v, vdot, out) with arrays of nq, nv, nv and nv numbers",
    "bias_force(q, v, out) with arrays of nq, nv and nv numbers",
    "gravity_force(q, out) with arrays of nq and nv numbers",
    "mass_matrix(q, out) with arrays of nq and nv × nv numbers",
    "jacobian(frame, q, out) with a number of its `frames` and arrays of nq and 6 × nv numbers",
    "jacobian_dot_v(frame, q, v, out) with a number of its `frames` and arrays of nq, nv and 6 "
    "numbers",
    "frame_pose(frame, q, out) with a number of its `frames` and arrays of nq and 4 × 4 numbers",
    "frame_velocity(frame, q, v, out) with a number of its `frames` and arrays of nq, nv and 6 "
    "numbers",
    "energy(q, v) with arrays of nq and nv numbers",
    "solve(matrix, rhs) with an n × n array and one of n numbers",
)


def explain_trouble(number: float, model: Any) -> str:
    """One sentence for what a method was called with; empty if nothing was wrong."""
    if not 1.0 <= number <= len(_FORMS):
        return ""
    form = _FORMS[int(number) - 1]
    name = form.partition("(")[0]
    return (
        f"A controller called dynamics.{name} with something that does not fit; call "
        f"dynamics.{form} (nq = {model.nq}, nv = {model.nv})."
    )
