"""The dynamics that a controller can ask for, as parts for one state.

A part is `f(work, model, more, given, out)`. `more` is memory for rows of every joint, used where
some are mimics: the state has none of them, its forces are Gᵀ𝒯 and its matrices Gᵀ𝓜G, J·G.
Loops are not seen: this is the dynamics of the tree without them, that of `model.opened`.
"""

from __future__ import annotations

from typing import Any

from skodyn.jit import FLOAT_POINTER, INT_POINTER, Group, helper
from skodyn.kernels import energy, frame_motion, inverse_dynamics, jacobian, mass_matrix
from skodyn.kernels.entries import Given, is_given
from skodyn.kernels.mimics import (
    expand_coordinates,
    expand_rates,
    fold_forces,
    full_dof,
    full_model,
    has_mimics,
    pick_rates,
)
from skodyn.kernels.packed_model import PackedModel, velocity_count
from skodyn.lanes import Rows, load_rows, parts_of, store_rows
from skodyn.model.layout import FULL, NQ, NV
from skodyn.simulation.structures import ROWS

__all__ = ["DYNAMICS_PARTS", "PARTS_OF_METHODS", "numbers_of_every_joint"]


@helper
def more_rows(model, more, after, count):
    """A row behind the coordinates and `after` rows of velocities of every joint."""
    full = full_model(model)
    return Rows(more, full.tree[NQ] + after * velocity_count(full), count)


@helper
def of_every_joint(work, model, more, given):
    """What is given, for the tree in which every joint has its own coordinates."""
    if not has_mimics(model):
        return given
    full = full_model(model)
    q, nv = Rows(more, 0, full.tree[NQ]), velocity_count(full)
    v = more_rows(model, more, 0, nv if is_given(given.v) else 0)
    expand_coordinates(work, model, given.q, q)
    if is_given(given.v):
        expand_rates(work, model, given.v, v)
    return Given(q, v, given.x, given.f_ext)


@helper
def find_torques(work, model, more, given, out):
    """𝒯; of x = v̇, or the bias force without."""
    full, every = full_model(model), of_every_joint(work, model, more, given)
    nv, vdot, found = velocity_count(full), given.x, out
    if has_mimics(model):
        vdot = more_rows(model, more, 1, nv if is_given(given.x) else 0)
        found = more_rows(model, more, 2, nv)
        if is_given(given.x):
            expand_rates(work, model, given.x, vdot)
    status = inverse_dynamics.sweep(work, full, Given(every.q, every.v, vdot, given.f_ext), found)
    if has_mimics(model):
        fold_forces(work, model, found)
        pick_rates(work, model, found, out)
    return status


@helper
def fold_rows(work, model, more, count, out):
    """out = A·G of a matrix A in `more` with a row for each of `count`."""
    nv, nv_full = velocity_count(model), velocity_count(full_model(model))
    for i in range(count):
        row = more_rows(model, more, 3 + i, nv_full)
        fold_forces(work, model, row)
        pick_rates(work, model, row, Rows(out.data, out.first + i * nv, nv))


@helper
def find_mass_matrix(work, model, more, given, out):
    """𝓜, nv × nv."""
    full, every = full_model(model), of_every_joint(work, model, more, given)
    nv, nv_full = velocity_count(model), velocity_count(full)
    whole, column = more_rows(model, more, 3, nv_full * nv_full), more_rows(model, more, 2, nv_full)
    status = mass_matrix.sweep(work, full, every, whole if has_mimics(model) else out)
    if not has_mimics(model):
        return status
    for i in range(nv_full):
        fold_forces(work, model, Rows(whole.data, whole.first + i * nv_full, nv_full))
    for j in range(nv):
        for i in range(nv_full):
            x = load_rows(work, whole, i * nv_full + full_dof(model, j))
            store_rows(work, column, i, x)
        fold_forces(work, model, column)
        for i in range(nv):
            store_rows(work, out, i * nv + j, load_rows(work, column, full_dof(model, i)))
    return status


@helper
def find_jacobian(work, model, more, given, out):
    """J of the point in x, 6 × nv."""
    full, every = full_model(model), of_every_joint(work, model, more, given)
    whole = more_rows(model, more, 3, 6 * velocity_count(full))
    status = jacobian.sweep(work, full, every, whole if has_mimics(model) else out)
    if has_mimics(model):
        fold_rows(work, model, more, 6, out)
    return status


@helper
def find_jacobian_dot_v(work, model, more, given, out):
    """J̇·v of the point in x."""
    every = of_every_joint(work, model, more, given)
    return jacobian.sweep_bias(work, full_model(model), every, out)


@helper
def find_frame_pose(work, model, more, given, out):
    """The homogeneous matrix of the frame in x."""
    every = of_every_joint(work, model, more, given)
    return frame_motion.sweep_poses(work, full_model(model), every, out)


@helper
def find_frame_velocity(work, model, more, given, out):
    """[ω; v] of the frame in x."""
    every = of_every_joint(work, model, more, given)
    return frame_motion.sweep_velocities(work, full_model(model), every, out)


@helper
def find_energy(work, model, more, given, out):
    """Twelve numbers of energy.py, the first of which are kinetic and potential energy."""
    every = of_every_joint(work, model, more, given)
    return energy.sweep(work, full_model(model), every, out)


_MODEL = Group(PackedModel, (INT_POINTER, FLOAT_POINTER))
_GIVEN = Group(Given, (ROWS, ROWS, ROWS, ROWS))


def _part(function: Any) -> Any:
    return parts_of(function, _MODEL, FLOAT_POINTER, _GIVEN, ROWS, in_lanes=False)


DYNAMICS_PARTS = (
    _part(find_torques),
    _part(find_mass_matrix),
    _part(find_jacobian),
    _part(find_jacobian_dot_v),
    _part(find_frame_pose),
    _part(find_frame_velocity),
    _part(find_energy),
)
INVERSE, MASS, JACOBIAN, JACOBIAN_DOT_V, POSE, VELOCITY, ENERGY = range(7)

PARTS_OF_METHODS = {
    "inverse_dynamics": INVERSE,
    "bias_force": INVERSE,
    "gravity_force": INVERSE,
    "mass_matrix": MASS,
    "jacobian": JACOBIAN,
    "jacobian_dot_v": JACOBIAN_DOT_V,
    "frame_pose": POSE,
    "frame_velocity": VELOCITY,
    "energy": ENERGY,
}
"""Which part a method of `dynamics` calls."""


def numbers_of_every_joint(tree: Any) -> int:
    """How long `more` is for a packed tree: rows of every joint, and a matrix."""
    full = int(tree[FULL])
    nq, nv = int(tree[full + NQ]), int(tree[full + NV])
    return nq + 3 * nv + nv * max(nv, 6) if full else 0
