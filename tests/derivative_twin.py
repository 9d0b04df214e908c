"""Derivatives of the dynamics by complex steps through dense algebra; nothing from skodyn.

tests/naive.py gets velocity products by a complex step along the motion, and a second step cannot
be taken inside the first. Here they are written out, so that inverse and forward dynamics are
analytic functions of q, v, v̇ and τ, and one complex step along q ⊞ i·h·e_k differentiates them to
the last digits. Systems, states and order of coordinates are those of tests/naive.py.
"""

import numpy as np

import naive

TIMES = 0.01 * np.arange(1, 5)
WEIGHTS = np.array((4 / 5, -1 / 5, 4 / 105, -1 / 280)) / 0.01  # central difference, eighth order


def along(function, bodies, q):
    """∂f/∂q along every velocity direction, in the last axis."""
    _, _, _, nv = naive.offsets(bodies)
    return np.stack([naive.derivative(function, bodies, q, e) for e in np.eye(nv)], axis=-1)


def by_entry(function, x):
    """∂f/∂x for every entry of a plain vector x, in the last axis."""
    steps = 1j * naive.STEP * np.eye(len(x))
    return np.stack([np.imag(function(x + step)) / naive.STEP for step in steps], axis=-1)


# ---- dynamics ----


def own_accelerations(bodies, q, v):
    """The rate of each joint's own columns, times v, in joint-frame axes, (n, 6).

    Few joints have any: each axis of a universal joint or gimbal turns about those before, and the
    velocity of a free joint is given in axes that turn with the child.
    """
    q_slices, v_slices, _, _ = naive.offsets(bodies)
    rates = np.zeros((len(bodies), 6), dtype=np.result_type(q, v))
    for k, body in enumerate(bodies):
        joint, x, speed = body["joint"], q[q_slices[k]], v[v_slices[k]]
        if joint["kind"] == "universal":
            first, second = naive.joint_kinematics(joint, x)[2][:3].T
            rates[k, :3] = speed[0] * speed[1] * np.cross(first, second)
        elif joint["kind"] == "gimbal":
            a, b, c = naive.joint_kinematics(joint, x)[2][:3].T
            rates[k, :3] = speed[0] * speed[1] * np.cross(a, b)
            rates[k, :3] += speed[2] * np.cross(speed[0] * a + speed[1] * b, c)
        elif joint["kind"] == "free":
            rates[k, 3:] = naive.quaternion_matrix(x[:4]) @ np.cross(speed[:3], speed[3:])
    return rates


def motion(bodies, q, v):
    """(V, dV/dt for v̇ = 0) of every body, (n, 6) each, from the base outward."""
    R, p = naive.forward_kinematics(bodies, q)
    maps, own = naive.hinge_maps(bodies, q), own_accelerations(bodies, q, v)
    _, v_slices, _, _ = naive.offsets(bodies)
    V = np.zeros((len(bodies), 6), dtype=np.result_type(q, v))
    rate = np.zeros_like(V)
    for k in naive.base_to_tips(bodies):
        i, relative = bodies[k]["parent"], maps[k] @ v[v_slices[k]]
        frame = bodies[k]["rotation"] if i == -1 else R[i] @ bodies[k]["rotation"]
        V[k], rate[k] = relative, np.kron(np.eye(2), frame) @ own[k]
        if i != -1:
            outward = naive.shift(p[k] - p[i]).T
            V[k] += outward @ V[i]
            turn = naive.tilde(V[i, :3])  # of the parent, and with it of arm and joint
            rate[k] += outward @ rate[i] + np.kron(np.eye(2), turn) @ relative
            rate[k, 3:] += turn @ (V[k, 3:] - V[i, 3:])
    return V, rate


def inverse_dynamics(bodies, q, v, vdot, gravity, f_ext):
    """τ = Σ J*(M α + b − applied) over the bodies, and what rotors take."""
    V, bias = motion(bodies, q, v)
    applied = naive.weights(bodies, q, gravity) + f_ext
    R, _ = naive.forward_kinematics(bodies, q)
    inertias, total = naive.body_inertias(bodies, q), naive.armatures(bodies) * vdot
    for k, J in enumerate(naive.body_jacobians(bodies, q)):
        omega, arm = V[k, :3], R[k] @ bodies[k]["com"]
        moment = np.cross(omega, inertias[k, :3, :3] @ omega)
        pull = bodies[k]["mass"] * np.cross(omega, np.cross(omega, arm))
        force = inertias[k] @ (J @ vdot + bias[k]) + np.concatenate((moment, pull)) - applied[k]
        total = total + J.T @ force
    return total


def forward_dynamics(bodies, q, v, tau, gravity, f_ext):
    """v̇ by a dense solve."""
    bias = inverse_dynamics(bodies, q, v, np.zeros(len(v)), gravity, f_ext)
    return np.linalg.solve(naive.mass_matrix(bodies, q), tau - bias)


def inverse_dynamics_derivatives(bodies, q, v, vdot, gravity, f_ext):
    """(∂τ/∂q, ∂τ/∂v, ∂τ/∂v̇)."""
    return (
        along(lambda x: inverse_dynamics(bodies, x, v, vdot, gravity, f_ext), bodies, q),
        by_entry(lambda x: inverse_dynamics(bodies, q, x, vdot, gravity, f_ext), v),
        by_entry(lambda x: inverse_dynamics(bodies, q, v, x, gravity, f_ext), vdot),
    )


def forward_dynamics_derivatives(bodies, q, v, tau, gravity, f_ext):
    """(∂v̇/∂q, ∂v̇/∂v, ∂v̇/∂τ)."""
    return (
        along(lambda x: forward_dynamics(bodies, x, v, tau, gravity, f_ext), bodies, q),
        by_entry(lambda x: forward_dynamics(bodies, q, x, tau, gravity, f_ext), v),
        by_entry(lambda x: forward_dynamics(bodies, q, v, x, gravity, f_ext), tau),
    )


# ---- linear systems ----


def parting(bodies, q, v, dq, dv):
    """d/dt of the distance to a neighbour (q ⊞ ε dq, v + ε dv), per ε, as `difference` measures it.

    A complex step in ε; a central difference in time of two configurations that move on. That v
    changes meanwhile does not matter: only the rate at the start is asked for.
    """
    near = naive.integrate(bodies, q, 1j * naive.STEP * dq)
    speed = v + 1j * naive.STEP * dv

    def distance(t):
        here, there = naive.integrate(bodies, q, t * v), naive.integrate(bodies, near, t * speed)
        return np.imag(naive.difference(bodies, here, there)) / naive.STEP

    return sum(
        weight * (distance(t) - distance(-t)) for t, weight in zip(TIMES, WEIGHTS, strict=True)
    )


def linear_system(bodies, q, v, forward):
    """(A, B) of d/dt (δq, δv) = A·(δq, δv) + B·δτ, from the derivatives of forward dynamics."""
    unit, zero = np.eye(len(v)), np.zeros(len(v))
    upper = [
        np.stack([parting(bodies, q, v, e, zero) for e in unit], axis=-1),
        np.stack([parting(bodies, q, v, zero, e) for e in unit], axis=-1),
    ]
    by_q, by_v, by_tau = forward
    return np.block([upper, [by_q, by_v]]), np.concatenate((np.zeros_like(by_tau), by_tau))


# ---- the metric of kinetic energy ----


def pseudo_inertias(bodies):
    """S = ∫ [r; 1][r; 1]* dm of every body, body axes, (n, 4, 4)."""
    found = np.zeros((len(bodies), 4, 4))
    for S, body in zip(found, bodies, strict=True):
        com = np.append(body["com"], 1.0)
        S[:3, :3] = np.trace(body["inertia"]) / 2 * np.eye(3) - body["inertia"]
        S += body["mass"] * np.outer(com, com)
    return found


def pose_tangents(bodies, q):
    """∂_i of the pose [R p] of every body along every velocity direction, (n, nv, 3, 4)."""
    R, _ = naive.forward_kinematics(bodies, q)
    return np.array(
        [
            [np.column_stack((naive.tilde(c[:3]) @ R[k], c[3:])) for c in J.T]
            for k, J in enumerate(naive.body_jacobians(bodies, q))
        ]
    )


def mass_matrix_of_bodies(bodies, q):
    """𝓜 without rotors: particles have 𝓜_ij = Σ m ∂_i x·∂_j x, bodies tr(∂_i X S ∂_j X*)."""
    tangents = pose_tangents(bodies, q)
    return np.einsum(
        "kixa,kab,kjxb->ij", tangents, pseudo_inertias(bodies), tangents, optimize=True
    )


def christoffel_symbols(bodies, q):
    """Γ_ijk = Σ tr(∂_i X S (∂_k ∂_j X)*).

    Poses lie in a flat space, where the derivative of a velocity is its acceleration; projected on
    the directions of the system that is the connection of its metric. No derivative of 𝓜 and no
    bracket enters. Rotors have none: their force is armature·v̇, whatever the joint.
    """
    rates = along(lambda x: pose_tangents(bodies, x), bodies, q)
    tangents, S = pose_tangents(bodies, q), pseudo_inertias(bodies)
    return np.einsum("bixa,bac,bjxck->ijk", tangents, S, rates, optimize=True)


def logdet_gradient(bodies, q):
    """∂ log det 𝓜: the phase that a complex step gives to the determinant."""

    def logdet(x):
        sign, size = np.linalg.slogdet(naive.mass_matrix(bodies, x))
        return size + np.log(sign)

    return along(logdet, bodies, q)
