"""A model with flexible bodies in a state as a general SKO model: blocks of 6 + m.

M(k) and b(k) are made here from the integrals of the body as they are defined, without the short
cuts of kernels: an independent check of these.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skodyn.dynamics.body_poses import forward_kinematics
from skodyn.dynamics.driver import run
from skodyn.dynamics.flexible_algorithms import BENT_JACOBIAN
from skodyn.dynamics.kinematics import velocities
from skodyn.model.flexible.modal_body import FlexibleBody
from skodyn.model.model import Model
from skodyn.sko import SKOModel
from skodyn.typing import Floats

__all__ = ["flexible_sko_model"]


def flexible_sko_model(model: Model, q: Floats, v: Floats) -> SKOModel:
    """Velocities of a node are [ω; v; η̇], and behind them those of rotors."""
    rotations, places = forward_kinematics(model, q)
    motion, a, _ = velocities(model, q, v)
    nodes = [_Node(model, k, q, v, rotations[k], motion[k]) for k in range(model.n_bodies)]
    weights, maps, inertias, accelerations, biases = {}, {}, {}, [], []
    for k, name in enumerate(model.body_names):
        own, parent = nodes[k], int(model.parent[k])
        x = np.array([float(k), 0.0, 0.0, 0.0])
        jacobian = run(BENT_JACOBIAN, model, (6, model.nv), q, x=x)
        if parent >= 0:
            above = nodes[parent]
            weight = np.zeros((above.size, own.size))
            weight[:6, :6] = _shift(places[k] - places[parent])
            modes = above.modes
            if modes is not None:
                weight[6 : 6 + modes.stop - modes.start, :6] = jacobian[:, modes].T
            weights[name] = weight
        maps[name] = own.joint_map(jacobian)
        inertias[name] = own.inertia
        accelerations.append(np.concatenate((a[k], np.zeros(own.size - 6))))
        gravity = np.concatenate((np.zeros(3), model.gravity, np.zeros(own.size - 6)))
        biases.append(own.bias - own.inertia @ gravity)
    # frames at nodes are bodies without mass
    return SKOModel(model.tree, weights, maps, inertias, accelerations, biases, semidefinite=True)


def _shift(l: Floats) -> Floats:
    shift = np.eye(6)
    shift[:3, 3:] = _tilde(l)
    return shift


def _tilde(a: Any) -> Floats:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def _axial(matrix: Floats) -> Floats:
    m = matrix
    return np.array([m[1, 2] - m[2, 1], m[2, 0] - m[0, 2], m[0, 1] - m[1, 0]])


class _Node:
    """M, b and H of one body."""

    def __init__(
        self, model: Model, k: int, q: Floats, v: Floats, rotation: Floats, motion: Floats
    ) -> None:
        name, joint = model.body_names[k], model.joints[k]
        body = model.flexible.get(name)
        self.modes = model.mode_slice(name, "v") if body else None
        self.dofs = model.v_slice(model.joint_names[k])
        self.rotors = joint.nv if joint.armature > 0.0 else 0
        m = body.modes if body else 0
        self.size = 6 + m + self.rotors
        if body is None:
            inertia, bias = _rigid(model, k, rotation, motion[:3])
        else:
            eta, rate = q[model.mode_slice(name)], v[self.modes]
            inertia, bias = _deformed(body, eta, rate, rotation, motion[:3])
        self.inertia = np.zeros((self.size, self.size))
        self.inertia[: 6 + m, : 6 + m] = inertia
        for i in range(6 + m, self.size):
            self.inertia[i, i] = joint.armature
        self.bias = np.concatenate((bias, np.zeros(self.rotors)))

    def joint_map(self, jacobian: Floats) -> Floats:
        """H(k), a row for each degree of freedom; modes move by themselves."""
        nv, m = self.dofs.stop - self.dofs.start, self.size - 6 - self.rotors
        rows = np.zeros((nv + m, self.size))
        rows[:nv, :6] = jacobian[:, self.dofs].T
        rows[nv:, 6 : 6 + m] = np.eye(m)
        for i in range(self.rotors):
            rows[i, 6 + m + i] = 1.0
        return rows


def _rigid(model: Model, k: int, r: Floats, w: Floats) -> tuple[Floats, Floats]:
    mass, c = model.mass[k], r @ model.com[k]
    second = r @ model.inertia[k] @ r.T - mass * _tilde(c) @ _tilde(c)
    inertia = np.block([[second, mass * _tilde(c)], [-mass * _tilde(c), mass * np.eye(3)]])
    turning = np.cross(w, second @ w)
    return inertia, np.concatenate((turning, mass * np.cross(w, np.cross(w, c))))


def _deformed(
    body: FlexibleBody, eta: Floats, rate: Floats, r: Floats, omega: Floats
) -> tuple[Floats, Floats]:
    """M and b by the definition: Qᵢ = Nᵢ + Σ ηⱼ S_ji, and W = [I; A_bη] for slaves."""
    m, n = body.modes, body.shapes
    slope = body.slaves @ eta
    amounts = np.concatenate((eta, 0.5 * slope @ eta))
    w_matrix = np.concatenate((np.eye(m), slope))
    rates = w_matrix @ rate
    own = np.concatenate((np.zeros(m), [rate @ a @ rate for a in body.slaves]))
    s, q0 = body.shape_products, body.position_shapes
    q = q0 + np.einsum("j,jixy->ixy", amounts, s)
    d = [2 * np.trace(x) * np.eye(3) - x - x.T for x in q]
    d0 = [2 * np.trace(x) * np.eye(3) - x - x.T for x in q0]
    second = body.inertia + sum(amounts[i] * 0.5 * (d0[i] + d[i]) for i in range(n))
    first = body.first_moment + amounts @ body.shape_integrals
    arms = np.array([_axial(x) for x in q])
    arm_rates = np.einsum("jixy,j->ixy", s, rates)
    w = r.T @ omega
    mass = np.zeros((6 + n, 6 + n))
    mass[:3, :3], mass[:3, 3:6], mass[3:6, :3] = second, _tilde(first), -_tilde(first)
    mass[3:6, 3:6] = body.mass * np.eye(3)
    mass[:3, 6:], mass[6:, :3] = arms.T, arms
    mass[3:6, 6:], mass[6:, 3:6] = body.shape_integrals.T, body.shape_integrals
    mass[6:, 6:] = body.modal_mass
    bias = np.zeros(6 + n)
    bias[:3] = np.cross(w, second @ w)
    bias[:3] += 2 * sum(rates[i] * (np.trace(q[i]) * w - q[i].T @ w) for i in range(n))
    moving = 2 * np.cross(w, rates @ body.shape_integrals)
    bias[3:6] = np.cross(w, np.cross(w, first)) + moving
    bias[6:] = [-0.5 * w @ d[i] @ w + 2 * w @ _axial(arm_rates[i]) for i in range(n)]
    bias += mass[:, 6:] @ own
    whole = np.zeros((6 + n, 6 + m))
    whole[:6, :6], whole[6:, 6:] = np.eye(6), w_matrix
    turned = np.eye(6 + m)
    turned[:3, :3] = turned[3:6, 3:6] = r.T
    whole = whole @ turned
    bias = whole.T @ bias
    bias[6:] += body.stiffness * eta + body.damping * rate + _curvature(body, eta)
    return whole.T @ mass @ whole, bias


def _curvature(body: FlexibleBody, eta: Floats) -> Floats:
    """The force of a beam's strain energy of fourth order."""
    c = body.curvature
    if c is None:
        return np.zeros(body.modes)
    v, vv, w, ww = (x @ eta for x in (c.slope_y, c.curvature_y, c.slope_z, c.curvature_z))
    slope = c.slope_y * vv[:, None] + c.curvature_y * v[:, None]
    slope = slope + c.slope_z * ww[:, None] + c.curvature_z * w[:, None]
    found: Floats = (c.weights * (v * vv + w * ww)) @ slope
    return found
