"""The right-hand side of the equations of motion: forces, then forward dynamics.

A state is q (nq) and y = [v; z] (ny), where z are integrals: those of PID controllers, and last the
work that all forces but gravity have done, so that energy can be balanced. Tables hold one row per
lane. `memory` is the stepper's own storage; its first part belongs to this file:

    τ (nv) | gravity torques (nv) | external forces (6n)      each times the lane width
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels import inverse_dynamics
from skodyn.kernels.forward_dynamics import gather_residuals, scatter_accelerations
from skodyn.kernels.forward_kinematics import scatter_positions, scatter_velocities
from skodyn.kernels.kinematics import scatter_rates
from skodyn.kernels.mass_matrix_logdet_gradient import add_gradient
from skodyn.kernels.status import OK
from skodyn.kernels.workspace import MOTION, body_slot, load6, row6
from skodyn.lanes import fma, load_rows, parameter, shift_pointer, splat, store_rows
from skodyn.model.layout import N_BODIES, NQ, NV
from skodyn.simulate.forces import (
    CONTROLLED,
    ELEMENTS,
    FIXMAN,
    GRAVITY_COMPENSATED,
    INTEGRALS,
    ON_BODIES,
    PASSIVE,
    clear,
    element_forces,
    passive_torques,
)
from skodyn.spatial.motion import dot_spatial


@helper
def system_memory(tree, lanes):
    """Numbers of `memory` that evaluate uses."""
    return lanes * (2 * tree[NV] + 6 * tree[N_BODIES])


@helper
def extended_size(tree, codes):
    """ny: velocities and integrals."""
    return tree[NV] + codes[INTEGRALS]


@helper
def power(w, tree, y, ny, tau, nv, f_ext, f_stride, ws):
    """Power of the generalised forces and of the forces on bodies (their V is in MOTION)."""
    total = splat(w, 0.0)
    for i in range(nv):
        total = fma(load_rows(w, y, 0, ny, i), load_rows(w, tau, 0, nv, i), total)
    if f_stride > 0:
        for k in range(tree[N_BODIES]):
            force = row6(w, f_ext, 0, f_stride, 6 * k)
            total = total + dot_spatial(force, load6(w, ws, body_slot(k) + MOTION))
    return total


@helper
def evaluate(w, lanes, tree, p, codes, numbers, controller, settings, n_settings, t, q, y, rates,
             memory, ws):  # fmt: skip
    """rates = ẏ at time t; q and y are tables of `lanes` rows."""
    nq, nv, n = tree[NQ], tree[NV], tree[N_BODIES]
    ny = extended_size(tree, codes)
    tau = memory
    gravity = shift_pointer(memory, lanes * nv)
    f_ext = shift_pointer(memory, lanes * 2 * nv)
    if codes[PASSIVE] > 0:
        passive_torques(w, tree, numbers, q, nq, y, ny, tau, nv)
    else:
        clear(tau, lanes * nv)
    if codes[FIXMAN] > 0:
        factor = -0.5 * parameter(w, numbers, codes[FIXMAN])
        add_gradient(w, tree, p, q, 0, factor, tau, 0, nv, ws)  # forward dynamics sees what fails
    f_stride = 0
    if codes[ELEMENTS] > 0:
        if codes[GRAVITY_COMPENSATED] > 0:
            inverse_dynamics.sweep(
                w, tree, p, 0, nq, nv, q, y, False, y, False, f_ext, 0, gravity, ws
            )
        if codes[ON_BODIES] > 0:
            f_stride = 6 * n
            clear(f_ext, lanes * f_stride)
            scatter_rates(w, tree, p, q, 0, nq, y, 0, ny, ws)
            scatter_positions(w, tree, ws)
            scatter_velocities(w, tree, p, y, 0, ny, ws)
        element_forces(
            w, tree, codes, numbers, t, q, nq, y, ny, nv, gravity, tau, rates, f_ext, 6 * n, ws
        )
    if codes[CONTROLLED] > 0:
        for lane in range(lanes):
            controller(
                t, shift_pointer(q, lane * nq), shift_pointer(y, lane * ny), settings,
                shift_pointer(tau, lane * nv), nq, nv, n_settings,
            )  # fmt: skip
    store_rows(w, rates, 0, ny, ny - 1, power(w, tree, y, ny, tau, nv, f_ext, f_stride, ws))
    first = scatter_rates(w, tree, p, q, 0, nq, y, 0, ny, ws)
    second = gather_residuals(w, tree, p, tau, 0, nv, f_ext, 0, f_stride, False, ws)
    third = scatter_accelerations(w, tree, p, rates, 0, ny, ws)
    if first != OK:
        return first
    return second if second != OK else third
