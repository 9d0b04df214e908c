"""The right-hand side of the equations of motion: forces, then forward dynamics.

A state is q (nq) and y = [v; z] (ny), where z are integrals: those of PID controllers, and last the
work that all forces but gravity have done, so that energy can be balanced. Tables hold one row per
lane. `memory` is the stepper's own storage; its first part belongs to this file:

    τ (nv) | gravity torques (nv) | external forces (6n)      each times the lane width

With mimic joints, the state has none of them, but forces may act on them: everything is evaluated
for the full tree (kernels/mimics.py), and gravity torques have a number for each of its joints.
Behind them then lie  q | y | τ | ẏ  of the full tree.
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels import inverse_dynamics
from skodyn.kernels.coupled_accelerations import couple_accelerations, factor_couplings
from skodyn.kernels.forward_dynamics import gather_residuals, scatter_accelerations
from skodyn.kernels.forward_kinematics import scatter_positions, scatter_velocities
from skodyn.kernels.kinematics import scatter_rates
from skodyn.kernels.mass_matrix_logdet_gradient import add_gradient
from skodyn.kernels.mimics import (
    expand_coordinates,
    expand_rates,
    fold_forces,
    full_tree,
    pick_rates,
    spread_forces,
)
from skodyn.kernels.status import OK
from skodyn.kernels.workspace import MOTION, body_slot, load6, row6
from skodyn.lanes import fma, load_rows, parameter, shift_pointer, splat, store_rows
from skodyn.model.layout import FULL, N_BODIES, NQ, NV
from skodyn.simulate.controller_call import call_controller
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
def system_memory(tree, codes, lanes):
    """Numbers of `memory` that evaluate uses."""
    full = full_tree(tree)
    own = tree[NV] + full[NV] + 6 * tree[N_BODIES]
    if tree[FULL] > 0:
        own += full[NQ] + full[NV] + 2 * extended_size(full, codes)
    return lanes * own


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
    full = full_tree(tree)
    nq, nv, ny = tree[NQ], tree[NV], extended_size(tree, codes)
    nq_full, nv_full, ny_full = full[NQ], full[NV], extended_size(full, codes)
    n = tree[N_BODIES]
    tau = memory
    gravity = shift_pointer(memory, lanes * nv)
    f_ext = shift_pointer(memory, lanes * (nv + nv_full))
    # with mimic joints: the same for every joint of the full tree, in places of their own
    full_q, full_y, full_tau, full_rates = q, y, tau, rates
    if tree[FULL] > 0:
        full_q = shift_pointer(memory, lanes * (nv + nv_full + 6 * n))
        full_y = shift_pointer(full_q, lanes * nq_full)
        full_tau = shift_pointer(full_y, lanes * ny_full)
        full_rates = shift_pointer(full_tau, lanes * nv_full)
        expand_coordinates(w, tree, p, q, 0, nq, full_q, nq_full)
        expand_rates(w, tree, p, y, 0, ny, full_y, ny_full)
        copy_integrals(w, full_y, nv_full, ny_full, y, nv, ny)
    if codes[PASSIVE] > 0:
        passive_torques(w, full, numbers, full_q, nq_full, full_y, ny_full, full_tau, nv_full)
    else:
        clear(full_tau, lanes * nv_full)
    if codes[FIXMAN] > 0:
        factor = -0.5 * parameter(w, numbers, codes[FIXMAN])
        add_gradient(w, tree, p, q, 0, factor, tau, 0, nv, ws)  # forward dynamics sees what fails
    f_stride = 0
    if codes[ELEMENTS] > 0:
        if codes[GRAVITY_COMPENSATED] > 0:
            inverse_dynamics.sweep(
                w, full, p, 0, nq_full, nv_full, full_q, y, False, y, False, f_ext, 0, gravity, ws
            )
            if tree[FULL] > 0:
                fold_forces(w, tree, p, gravity, nv_full)
        if codes[ON_BODIES] > 0:
            f_stride = 6 * n
            clear(f_ext, lanes * f_stride)
            scatter_rates(w, full, p, full_q, 0, nq_full, full_y, 0, ny_full, ws)
            scatter_positions(w, full, ws)
            scatter_velocities(w, full, p, full_y, 0, ny_full, ws)
        element_forces(
            w, full, codes, numbers, t, full_q, nq_full, full_y, ny_full, nv_full, gravity,
            full_tau, full_rates, f_ext, 6 * n, ws,
        )  # fmt: skip
    if tree[FULL] > 0:
        fold_forces(w, tree, p, full_tau, nv_full)
        pick_rates(w, tree, full_tau, nv_full, tau, 0, nv)
        copy_integrals(w, rates, nv, ny, full_rates, nv_full, ny_full)
    if codes[CONTROLLED] > 0:
        for lane in range(lanes):
            call_controller(
                controller, t, shift_pointer(q, lane * nq), shift_pointer(y, lane * ny), settings,
                shift_pointer(tau, lane * nv), nq, nv, n_settings,
            )  # fmt: skip
    store_rows(w, rates, 0, ny, ny - 1, power(w, tree, y, ny, tau, nv, f_ext, f_stride, ws))
    if tree[FULL] > 0:
        spread_forces(w, tree, tau, 0, nv, full_tau, nv_full)
    first = scatter_rates(w, full, p, full_q, 0, nq_full, full_y, 0, ny_full, ws)
    second = gather_residuals(w, full, p, full_tau, 0, nv_full, f_ext, 0, f_stride, False, ws)
    third = scatter_accelerations(w, full, p, full_rates, 0, ny_full, ws)
    if tree[FULL] > 0:
        third = follow(w, lanes, tree, p, full_rates, ny_full, rates, ny, third, ws)
    if first != OK:
        return first
    return second if second != OK else third


@helper
def copy_integrals(w, out, nv_out, ny_out, given, nv_given, ny_given):
    """What a row holds behind its velocities, in rows that differ by those of mimic joints."""
    for i in range(ny_out - nv_out):
        x = load_rows(w, given, 0, ny_given, nv_given + i)
        store_rows(w, out, 0, ny_out, nv_out + i, x)


@helper
def follow(w, lanes, tree, p, full_rates, ny_full, rates, ny, status, ws):
    """v̇ of the state from that of the full tree, in which mimic joints do not follow yet."""
    first = factor_couplings(w, lanes, tree, p, ws)
    second = couple_accelerations(w, lanes, tree, p, full_rates, ny_full, ws)
    pick_rates(w, tree, full_rates, ny_full, rates, 0, ny)
    if status != OK:
        return status
    return first if first != OK else second
