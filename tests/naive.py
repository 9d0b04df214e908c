"""Multibody dynamics straight from the definitions: dense, slow, NumPy only, nothing from skodyn.

A system is a list of plain dicts in any order (a parent may come later than its child)::

    dict(parent=-1, joint=dict(kind="revolute", axis=...), rotation=..., translation=...,
         mass=..., com=..., inertia=...)

A joint may have `armature`, the inertia of a rotor that only its own coordinates move.
6-vectors are angular first, in world axes, at each body's own origin. Per-body results are (n, 6)
arrays; `.ravel()` stacks them as the papers do. Velocity-product terms are never written out: every
function of q accepts complex arrays, so a complex step along the motion differentiates it exactly.

Equation numbers: Jain 2011-II is seeds/000, Jain 2012-I is seeds/001.
"""

from types import SimpleNamespace

import numpy as np

STEP = 1e-30  # of the complex step: no subtraction takes place, so it may be this small
SIZES = {  # kind: (nq, nv)
    "fixed": (0, 0),
    "revolute": (1, 1),
    "prismatic": (1, 1),
    "helical": (1, 1),
    "cylindrical": (2, 2),
    "universal": (2, 2),
    "gimbal": (3, 3),
    "planar": (3, 3),
    "translation": (3, 3),
    "spherical": (4, 3),
    "free": (7, 6),
}
NOT_DRAWN = ("gimbal",)  # it is a universal joint and one axis more
KINDS = tuple(kind for kind in SIZES if kind not in NOT_DRAWN)
"""What random systems are drawn from: with another kind, every one of them is another system."""


# ---- vectors, rotations, quaternions: all analytic, so they hold for complex arguments too ----


def tilde(x):
    """The matrix of the cross product: tilde(x) @ y = x × y."""
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def shift(l):
    """The rigid transformation φ for the vector l from parent to child (Jain 2012-I eq. 1)."""
    # 2012-I prints this matrix as φ*; eq. 2 there holds only if it is φ, as in the design table.
    return np.block([[np.eye(3), tilde(l)], [np.zeros((3, 3)), np.eye(3)]])


def axis_rotation(axis, angle):
    """Rotation matrix by an angle about a unit axis (Rodrigues)."""
    k = tilde(np.asarray(axis, dtype=float))
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * (k @ k)


def quaternion_product(a, b):
    """Hamilton product of two scalar-first quaternions."""
    scalar = a[0] * b[0] - a[1:] @ b[1:]
    return np.append(scalar, a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))


def quaternion_matrix(q):
    """Rotation matrix of a unit quaternion (w, x, y, z)."""
    k = tilde(q[1:])
    return np.eye(3) + 2 * q[0] * k + 2 * (k @ k)


def quaternion_exp(omega):
    """Unit quaternion of the rotation vector omega."""
    square = omega @ omega
    if abs(square) < 1e-4:  # sin(θ/2)/θ by its series: θ may be zero, or imaginary and tiny
        half_sinc = 0.5 - square / 48 + square**2 / 3840
    else:
        half_sinc = np.sin(np.sqrt(square) / 2) / np.sqrt(square)
    return np.append(np.cos(np.sqrt(square) / 2), half_sinc * omega)


def quaternion_log(q):
    """Shortest rotation vector of a unit quaternion; a complex one must be near the identity."""
    q = -q if q[0].real < 0 else q
    square = q[1:] @ q[1:]
    if abs(square) < 1e-4:  # arcsin(s)/s by its series, as in quaternion_exp
        return 2 * (1 + square / 6 + 3 * square**2 / 40 + 5 * square**3 / 112) * q[1:]
    return 2 * np.arctan2(np.sqrt(square), q[0]) / np.sqrt(square) * q[1:]


def matrix_exp(a):
    """Matrix exponential: Taylor series of a scaled matrix, then repeated squaring."""
    squarings = max(0, int(np.ceil(np.log2(np.abs(a).sum() + 1e-300))) + 2)
    scaled = a / 2.0**squarings
    term = result = np.eye(len(a), dtype=a.dtype)
    for i in range(1, 20):
        term = term @ scaled / i
        result = result + term
    for _ in range(squarings):
        result = result @ result
    return result


def left_jacobian(omega):
    """V(ω) = ∫₀¹ exp(s ω̃) ds, the upper right block of exp [[ω̃, I], [0, 0]]."""
    zero = np.zeros((3, 3))
    return matrix_exp(np.block([[tilde(omega), np.eye(3)], [zero, zero]]))[:3, 3:]


# ---- joints ----


def joint_kinematics(joint, q):
    """Pose (R, p) of the child in the joint frame, and the 6×nv map from rates to [ω; v] there.

    [ω; v] are the relative angular velocity and the relative velocity of the child origin, in
    joint-frame axes.
    """
    kind, R, p, zero = joint["kind"], np.eye(3), np.zeros(3), np.zeros(3)
    axis = np.asarray(joint.get("axis", zero), dtype=float)
    columns = []
    if kind == "revolute":
        R, columns = axis_rotation(axis, q[0]), [(axis, zero)]
    elif kind == "prismatic":
        p, columns = q[0] * axis, [(zero, axis)]
    elif kind == "helical":
        R, p = axis_rotation(axis, q[0]), joint["pitch"] * q[0] * axis
        columns = [(axis, joint["pitch"] * axis)]
    elif kind == "cylindrical":
        R, p = axis_rotation(axis, q[0]), q[1] * axis
        columns = [(axis, zero), (zero, axis)]
    elif kind == "universal":
        first, second = np.asarray(joint["axis1"]), np.asarray(joint["axis2"])
        R = axis_rotation(first, q[0]) @ axis_rotation(second, q[1])
        columns = [(first, zero), (R @ second, zero)]  # the second axis is fixed in the child
    elif kind == "gimbal":
        first, second, third = (np.asarray(joint[f"axis{i}"]) for i in (1, 2, 3))
        outer = axis_rotation(first, q[0])
        inner = outer @ axis_rotation(second, q[1])
        R = inner @ axis_rotation(third, q[2])
        columns = [(first, zero), (outer @ second, zero), (inner @ third, zero)]
    elif kind == "planar":
        x, y = np.asarray(joint["x_axis"]), np.asarray(joint["y_axis"])
        R, p = axis_rotation(np.cross(x, y), q[2]), q[0] * x + q[1] * y
        columns = [(zero, x), (zero, y), (np.cross(x, y), zero)]
    elif kind == "translation":
        p, columns = q, [(zero, e) for e in np.eye(3)]
    elif kind == "spherical":
        R = quaternion_matrix(q)
        columns = [(e, zero) for e in R.T]  # the child axes
    elif kind == "free":
        R, p = quaternion_matrix(q[:4]), q[4:]
        columns = [(e, zero) for e in R.T] + [(zero, e) for e in R.T]
    elif kind != "fixed":
        raise ValueError(f"unknown joint kind {kind!r}")
    H = np.array([np.concatenate(column) for column in columns]).T if columns else np.zeros((6, 0))
    return R, p, H


# ---- state ----


def offsets(bodies):
    """Slices of each body in q and in v, in list order, and nq, nv."""
    q_slices, v_slices, nq, nv = [], [], 0, 0
    for body in bodies:
        size_q, size_v = SIZES[body["joint"]["kind"]]
        q_slices.append(slice(nq, nq + size_q))
        v_slices.append(slice(nv, nv + size_v))
        nq, nv = nq + size_q, nv + size_v
    return q_slices, v_slices, nq, nv


def neutral(bodies):
    """The configuration in which every child frame coincides with its joint frame."""
    q_slices, _, nq, _ = offsets(bodies)
    q = np.zeros(nq)
    for body, s in zip(bodies, q_slices, strict=True):
        if body["joint"]["kind"] in ("spherical", "free"):
            q[s.start] = 1
    return q


def integrate(bodies, q, dv):
    """The configuration reached from q by the constant velocity dv in unit time."""
    q_slices, v_slices, _, _ = offsets(bodies)
    result = np.array(q, dtype=np.result_type(q, dv, float))
    dv = np.asarray(dv, dtype=result.dtype)
    for body, qs, vs in zip(bodies, q_slices, v_slices, strict=True):
        old, step, kind = result[qs].copy(), dv[vs], body["joint"]["kind"]
        if kind in ("spherical", "free"):
            turned = quaternion_product(old[:4], quaternion_exp(step[:3]))
            result[qs][:4] = turned / np.sqrt(turned @ turned)
            if kind == "free":  # the exponential of the body twist, in SE(3)
                moved = left_jacobian(step[:3]) @ step[3:]
                result[qs][4:] = old[4:] + quaternion_matrix(old[:4]) @ moved
        else:
            result[qs] = old + step
    return result


def difference(bodies, q0, q1):
    """The smallest dv with integrate(bodies, q0, dv) = q1."""
    q_slices, v_slices, _, nv = offsets(bodies)
    dv = np.zeros(nv, dtype=np.result_type(q0, q1, float))
    for body, qs, vs in zip(bodies, q_slices, v_slices, strict=True):
        a, b, kind = q0[qs], q1[qs], body["joint"]["kind"]
        if kind in ("spherical", "free"):
            inverse = a[:4] * np.array([1, -1, -1, -1])
            omega = quaternion_log(quaternion_product(inverse, b[:4]))
            dv[vs][:3] = omega
            if kind == "free":
                moved = quaternion_matrix(a[:4]).T @ (b[4:] - a[4:])
                dv[vs][3:] = np.linalg.solve(left_jacobian(omega), moved)
        else:
            dv[vs] = b - a
    return dv


def derivative(function, bodies, q, v):
    """d/dt of an analytic function of q(t) = integrate(q, v t) at t = 0, by a complex step."""
    return np.imag(function(integrate(bodies, q, 1j * STEP * np.asarray(v)))) / STEP


# ---- kinematics ----


def base_to_tips(bodies):
    """Body indices with every parent before its children."""
    order = [-1]
    for k in order:  # the list grows while it is walked
        order.extend(j for j, body in enumerate(bodies) if body["parent"] == k)
    assert len(order) == len(bodies) + 1, "the parents do not form a tree"
    return order[1:]


def path_to_base(bodies, k):
    """Body k, its parent, and so on down to its base body."""
    path = []
    while k != -1:
        path.append(k)
        k = bodies[k]["parent"]
    return path


def forward_kinematics(bodies, q):
    """Rotations (n, 3, 3), body to world axes, and origins (n, 3) of all bodies."""
    q_slices, _, _, _ = offsets(bodies)
    dtype = np.result_type(q, float)
    R, p = np.zeros((len(bodies), 3, 3), dtype), np.zeros((len(bodies), 3), dtype)
    for k in base_to_tips(bodies):
        body, parent = bodies[k], bodies[k]["parent"]
        R_parent, p_parent = (np.eye(3), np.zeros(3)) if parent == -1 else (R[parent], p[parent])
        R_joint, p_joint, _ = joint_kinematics(body["joint"], q[q_slices[k]])
        R[k] = R_parent @ body["rotation"] @ R_joint
        p[k] = p_parent + R_parent @ (body["translation"] + body["rotation"] @ p_joint)
    return R, p


def hinge_maps(bodies, q):
    """H*(k) of every body in world axes, a list of 6×nv(k) matrices."""
    R, _ = forward_kinematics(bodies, q)
    q_slices, _, _, _ = offsets(bodies)
    maps = []
    for k, body in enumerate(bodies):
        R_parent = np.eye(3) if body["parent"] == -1 else R[body["parent"]]
        frame = np.kron(np.eye(2), R_parent @ body["rotation"])
        maps.append(frame @ joint_kinematics(body["joint"], q[q_slices[k]])[2])
    return maps


def body_jacobians(bodies, q):
    """6×nv Jacobian of every body origin: each ancestor's H* carried out to it by φ*."""
    _, p = forward_kinematics(bodies, q)
    maps = hinge_maps(bodies, q)
    _, v_slices, _, nv = offsets(bodies)
    jacobians = []
    for k in range(len(bodies)):
        J = np.zeros((6, nv), dtype=p.dtype)
        for i in path_to_base(bodies, k):
            J[:, v_slices[i]] = shift(p[k] - p[i]).T @ maps[i]
        jacobians.append(J)
    return jacobians


def jacobian(bodies, q, body, point=(0, 0, 0)):
    """6×nv Jacobian, in world axes, at a point fixed in a body (given in body axes)."""
    R, _ = forward_kinematics(bodies, q)
    return shift(R[body] @ np.asarray(point)).T @ body_jacobians(bodies, q)[body]


def jacobian_dot_v(bodies, q, v, body, point=(0, 0, 0)):
    """The part of the point's acceleration that is quadratic in v: J̇ v."""
    return derivative(lambda x: jacobian(bodies, x, body, point) @ v, bodies, q, v)


def velocities(bodies, q, v):
    """V = φ* H* v (Jain 2011-II eq. 1), from the operators, as (n, 6)."""
    ops = operators(bodies, q)
    return (ops.phi.T @ ops.H.T @ v).reshape(-1, 6)


def bias_accelerations(bodies, q, v):
    """dV/dt when vdot = 0, that is J̇ v of every body, as (n, 6)."""
    return derivative(lambda x: np.array([J @ v for J in body_jacobians(bodies, x)]), bodies, q, v)


def accelerations(bodies, q, v, vdot):
    """α = dV/dt: angular acceleration and acceleration of the origin of every body, (n, 6)."""
    linear = np.array([J @ vdot for J in body_jacobians(bodies, q)])
    return linear + bias_accelerations(bodies, q, v)


# ---- spatial operators ----


def body_inertias(bodies, q):
    """M(k) about each body origin in world axes, (n, 6, 6)."""
    R, _ = forward_kinematics(bodies, q)
    inertias = []
    for k, body in enumerate(bodies):
        at_com = np.zeros((6, 6), dtype=R.dtype)
        at_com[:3, :3] = R[k] @ body["inertia"] @ R[k].T
        at_com[3:, 3:] = body["mass"] * np.eye(3)
        to_com = shift(R[k] @ body["com"])
        inertias.append(to_com @ at_com @ to_com.T)
    return np.array(inertias)


def block_diagonal(blocks):
    """One matrix with the given blocks, possibly empty and non-square, on its diagonal."""
    shape = sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks)
    matrix, row, column = np.zeros(shape, dtype=np.result_type(float, *blocks)), 0, 0
    for b in blocks:
        matrix[row : row + b.shape[0], column : column + b.shape[1]] = b
        row, column = row + b.shape[0], column + b.shape[1]
    return matrix


def operators(bodies, q):
    """The dense operators E_phi, phi (6n×6n), H (nv×6n), M (6n×6n)."""
    n = len(bodies)
    _, p = forward_kinematics(bodies, q)
    E_phi = np.zeros((6 * n, 6 * n), dtype=p.dtype)
    for k, body in enumerate(bodies):  # Jain 2012-I eq. 9
        i = body["parent"]
        if i != -1:
            E_phi[6 * i : 6 * i + 6, 6 * k : 6 * k + 6] = shift(p[k] - p[i])
    phi = np.linalg.inv(np.eye(6 * n) - E_phi)  # the 1-resolvent, Jain 2011-II section 2.1
    H = block_diagonal(hinge_maps(bodies, q)).T  # Jain 2012-I eq. 6
    return SimpleNamespace(E_phi=E_phi, phi=phi, H=H, M=block_diagonal(body_inertias(bodies, q)))


def armatures(bodies):
    """The rotor inertia of every degree of freedom."""
    rotors = [body["joint"].get("armature", 0.0) for body in bodies]
    return np.repeat(rotors, [SIZES[body["joint"]["kind"]][1] for body in bodies])


def mass_matrix(bodies, q):
    """H φ M φ* H*, the Newton-Euler factorization (Jain 2011-II eq. 3), and the rotors."""
    o = operators(bodies, q)
    return o.H @ o.phi @ o.M @ o.phi.T @ o.H.T + np.diag(armatures(bodies))


def mass_matrix_inverse(bodies, q):
    """Dense inverse of the mass matrix."""
    return np.linalg.inv(mass_matrix(bodies, q))


def mass_matrix_logdet(bodies, q):
    """log det of the mass matrix."""
    return np.linalg.slogdet(mass_matrix(bodies, q))[1]


def articulated(bodies, q):
    """Solution of the Riccati recursion (Jain 2011-II eq. 33) and the operators it yields.

    Per body: P, tau, tau_bar, P_plus (n, 6, 6), lists D and G, and psi_weight = ψ(℘(k), k), which
    is zero for a base body. Dense: E_psi, psi, K (6n×nv) and the block-diagonal D_operator.
    """
    n, ops, maps = len(bodies), operators(bodies, q), hinge_maps(bodies, q)
    _, p = forward_kinematics(bodies, q)
    P = body_inertias(bodies, q)
    tau, P_plus, psi_weight = np.zeros((n, 6, 6)), np.zeros((n, 6, 6)), np.zeros((n, 6, 6))
    D, G = [np.zeros((0, 0))] * n, [np.zeros((6, 0))] * n
    for k in reversed(base_to_tips(bodies)):  # tips-to-base gather
        i, H = bodies[k]["parent"], maps[k].T
        if len(H):  # a hinge without freedom keeps τ = 0 and so P⁺ = P
            D[k] = H @ P[k] @ H.T + bodies[k]["joint"].get("armature", 0.0) * np.eye(len(H))
            G[k] = P[k] @ H.T @ np.linalg.inv(D[k])
            tau[k] = G[k] @ H
        P_plus[k] = (np.eye(6) - tau[k]) @ P[k]
        if i != -1:
            A = shift(p[k] - p[i])
            P[i] += A @ P_plus[k] @ A.T
            psi_weight[k] = A @ (np.eye(6) - tau[k])  # eq. 35
    tau_bar = np.eye(6) - tau
    E_psi = ops.E_phi @ block_diagonal(tau_bar)  # eq. 34
    # Eq. 37 prints K = E_ψ G, which is zero since τ̄ G = 0; the proof of eq. 43 has E_A G.
    K = ops.E_phi @ block_diagonal(G)
    psi = np.linalg.inv(np.eye(6 * n) - E_psi)
    result = {"P": P, "D": D, "G": G, "tau": tau, "tau_bar": tau_bar, "P_plus": P_plus}
    result |= {"psi_weight": psi_weight, "E_psi": E_psi, "psi": psi, "K": K}
    return SimpleNamespace(**result, D_operator=block_diagonal(D))


def diagonal_factor(bodies, q):
    """m = [I + HφK] D^½ with M = m m* (Jain 2011-II eq. 49).

    D^½ is the upper triangular square root of each block: the outermost freedom comes first.
    """
    o, a = operators(bodies, q), articulated(bodies, q)
    flip = [D[::-1, ::-1] for D in a.D]
    roots = [np.linalg.cholesky(D)[::-1, ::-1] if len(D) else D for D in flip]
    return (np.eye(len(o.H)) + o.H @ o.phi @ a.K) @ block_diagonal(roots)


def operational_space_compliance(bodies, q, nodes):
    """J M⁻¹ J* for nodes [(body, point), ...] (Jain 2011-II section 6.2), (6k, 6k)."""
    J = np.concatenate([jacobian(bodies, q, body, point) for body, point in nodes])
    return J @ mass_matrix_inverse(bodies, q) @ J.T


# ---- dynamics ----


def coriolis_accelerations(bodies, q, v):
    """The stacked a of α = φ*(H* vdot + a) (Jain 2011-II eq. 1), as (n, 6).

    It is (I − E_φ*) J̇ v. Jain 2012-I eq. 11 prints α = φ* H* vdot + a: there a stands for J̇ v.
    """
    bias = bias_accelerations(bodies, q, v).ravel()
    return (bias - operators(bodies, q).E_phi.T @ bias).reshape(-1, 6)


def gyroscopic_forces(bodies, q, v):
    """The stacked b (n, 6): Newton-Euler for one body reads force at its origin = M α + b.

    The force is the rate of the momentum about the point of space the origin passes through, so
    b is the rate of φ(p(t) − p(0)) M(t) times V.
    """
    _, p0 = forward_kinematics(bodies, q)
    V = np.array([J @ v for J in body_jacobians(bodies, q)])

    def momenta(x):
        _, p = forward_kinematics(bodies, x)
        terms = zip(p - p0, body_inertias(bodies, x), V, strict=True)
        return np.array([shift(moved) @ M @ twist for moved, M, twist in terms])

    return derivative(momenta, bodies, q, v)


def weights(bodies, q, gravity):
    """The force of gravity on every body, at the body origin, (n, 6)."""
    R, _ = forward_kinematics(bodies, q)
    forces = []
    for k, body in enumerate(bodies):
        force = body["mass"] * np.asarray(gravity, dtype=float)
        forces.append(np.concatenate([np.cross(R[k] @ body["com"], force), force]))
    return np.array(forces)


def joint_forces(bodies, q, v, vdot, gravity, f_ext=None):
    """The force a parent exerts on its child through the joint, at the child origin, (n, 6).

    f = φ(M α + b − applied) (Jain 2011-II eq. 1); the base pseudo-acceleration −g gives the same f.
    """
    ops = operators(bodies, q)
    alpha = accelerations(bodies, q, v, vdot).ravel()
    applied = weights(bodies, q, gravity) + (0 if f_ext is None else np.asarray(f_ext))
    needed = ops.M @ alpha + (gyroscopic_forces(bodies, q, v) - applied).ravel()
    return (ops.phi @ needed).reshape(-1, 6)


def inverse_dynamics(bodies, q, v, vdot, gravity, f_ext=None):
    """Generalized forces that produce vdot: τ = H f (Jain 2011-II eq. 1), and what rotors take."""
    f = joint_forces(bodies, q, v, vdot, gravity, f_ext).ravel()
    return operators(bodies, q).H @ f + armatures(bodies) * vdot


def bias_force(bodies, q, v, gravity, f_ext=None):
    """Inverse dynamics with vdot = 0: Coriolis, gyroscopic, gravity and external terms."""
    return inverse_dynamics(bodies, q, v, np.zeros(len(v)), gravity, f_ext)


def gravity_force(bodies, q, gravity):
    """Generalized force that holds the system at rest against gravity."""
    jacobians, forces = body_jacobians(bodies, q), weights(bodies, q, gravity)
    return -sum(J.T @ w for J, w in zip(jacobians, forces, strict=True))


def forward_dynamics(bodies, q, v, tau, gravity, f_ext=None):
    """vdot by a dense solve of Jain 2011-II eq. 2."""
    return np.linalg.solve(mass_matrix(bodies, q), tau - bias_force(bodies, q, v, gravity, f_ext))


def hybrid_dynamics(bodies, q, v, tau, vdot, known, gravity, f_ext=None):
    """(vdot, tau) where `known` says of which velocities vdot is given, and not tau.

    The rows of M vdot + bias = tau that speak of the others are solved for their vdot; the rest say
    what tau is.
    """
    p, f = np.flatnonzero(known), np.flatnonzero(~np.asarray(known))
    M, bias = mass_matrix(bodies, q), bias_force(bodies, q, v, gravity, f_ext)
    vdot, tau = np.where(known, vdot, 0.0), np.where(known, 0.0, tau)
    rhs = tau[f] - bias[f] - M[np.ix_(f, p)] @ vdot[p]
    vdot[f] = np.linalg.solve(M[np.ix_(f, f)], rhs)
    tau[p] = M[p] @ vdot + bias[p]
    return vdot, tau


# ---- energy and momentum ----


def kinetic_energy(bodies, q, v):
    """½ Σ V* M V over the bodies, and ½ Σ armature v² over the rotors."""
    twists = [J @ v for J in body_jacobians(bodies, q)]
    of_bodies = sum(V @ M @ V for V, M in zip(twists, body_inertias(bodies, q), strict=True))
    return (of_bodies + armatures(bodies) @ v**2) / 2


def potential_energy(bodies, q, gravity):
    """−Σ m g·c, zero when the centre of mass is at the world origin."""
    total = sum(body["mass"] for body in bodies)
    return -total * (centre_of_mass(bodies, q) @ np.asarray(gravity, dtype=float))


def centre_of_mass(bodies, q):
    """Centre of mass of the whole system, world axes."""
    R, p = forward_kinematics(bodies, q)
    moments = [b["mass"] * (p[k] + R[k] @ b["com"]) for k, b in enumerate(bodies)]
    return sum(moments) / sum(b["mass"] for b in bodies)


def momentum(bodies, q, v):
    """[angular; linear] momentum of the system about the world origin."""
    _, p = forward_kinematics(bodies, q)
    terms = zip(p, body_inertias(bodies, q), body_jacobians(bodies, q), strict=True)
    return sum(shift(origin) @ M @ J @ v for origin, M, J in terms)


def centroidal_momentum(bodies, q, v):
    """[angular; linear] momentum of the system about its centre of mass."""
    return shift(-centre_of_mass(bodies, q)) @ momentum(bodies, q, v)


# ---- random systems ----


def random_unit(rng, size=3):
    """A direction drawn uniformly."""
    x = rng.normal(size=size)
    return x / np.linalg.norm(x)


def random_joint(rng, kind):
    """A joint of the given kind with random axes."""
    joint = {"kind": kind}
    if kind in ("revolute", "prismatic", "helical", "cylindrical"):
        joint["axis"] = random_unit(rng)
    if kind == "helical":
        joint["pitch"] = rng.uniform(-0.5, 0.5)
    if kind == "universal":
        joint["axis1"] = random_unit(rng)
        across = np.cross(joint["axis1"], random_unit(rng))
        slanted = across / np.linalg.norm(across) + rng.uniform(-0.7, 0.7) * joint["axis1"]
        joint["axis2"] = slanted / np.linalg.norm(slanted)  # neither perpendicular nor parallel
    if kind == "gimbal":
        frame = quaternion_matrix(random_unit(rng, 4)) + rng.uniform(-0.2, 0.2, size=(3, 3))
        for i, axis in enumerate(frame.T, start=1):
            joint[f"axis{i}"] = axis / np.linalg.norm(axis)
    if kind == "planar":
        frame = quaternion_matrix(random_unit(rng, 4))
        joint["x_axis"], joint["y_axis"] = frame[:, 0], frame[:, 1]
    return joint


def random_inertia(rng):
    """(mass, com, inertia about the com) of a random cloud of point masses."""
    points, masses = rng.normal(scale=0.3, size=(6, 3)), rng.uniform(0.1, 0.5, size=6)
    points += rng.normal(scale=0.3, size=3)
    com = masses @ points / masses.sum()
    inertia = -sum(m * tilde(r) @ tilde(r) for m, r in zip(masses, points - com, strict=True))
    return masses.sum(), com, (inertia + inertia.T) / 2


def random_bodies(rng, n, kinds=None, branching=0.5, massless=0.0, rotors=0.0):
    """A random system of n bodies listed in random order.

    kinds: joint kinds to draw from (all ten), each used before any is repeated. branching: chance
    that a body hangs from a random body or from ground and not from the previous one; 0 is a serial
    chain, above 0 a system of three or more bodies has at least two bases. massless: chance that a
    non-leaf body has no mass, where a generic mass matrix stays regular. rotors: chance that a
    joint has armature.
    """
    pool = list(KINDS if kinds is None else kinds)
    drawn = []
    while len(drawn) < n:
        drawn.extend(rng.permutation(pool).tolist())
    if kinds is None and set(drawn[:n]) == {"fixed"}:
        drawn[0] = "revolute"  # one body: leave it something to move
    parents = [int(rng.integers(-1, k)) if rng.random() < branching else k - 1 for k in range(n)]
    if branching > 0 and n >= 3:
        parents[int(rng.integers(1, n))] = -1
    place = rng.permutation(n)  # of the k-th body in the list
    bodies = [None] * n
    for k in range(n):
        mass, com, inertia = random_inertia(rng)
        bodies[place[k]] = {
            "parent": -1 if parents[k] == -1 else int(place[parents[k]]),
            "joint": random_joint(rng, drawn[k]),
            "rotation": quaternion_matrix(random_unit(rng, 4)),
            "translation": rng.normal(scale=0.5, size=3),
            "mass": mass,
            "com": com,
            "inertia": inertia,
        }
    simple = ("fixed", "revolute", "prismatic", "helical")
    for k, body in enumerate(bodies):
        children = [b for b in bodies if b["parent"] == k and b["joint"]["kind"] in simple]
        held = body["joint"]["kind"] in simple and any(b["mass"] > 0 for b in children)
        above = body["parent"] == -1 or bodies[body["parent"]]["mass"] > 0
        if held and above and rng.random() < massless:
            body.update(mass=0.0, com=np.zeros(3), inertia=np.zeros((3, 3)))
    for body in bodies if rotors else ():
        if body["joint"]["kind"] != "fixed" and rng.random() < rotors:
            body["joint"]["armature"] = float(rng.uniform(0.01, 2.0))
    return bodies


def random_state(rng, bodies):
    """A random (q, v): angles anywhere, displacements and velocities of order one."""
    q_slices, _, nq, nv = offsets(bodies)
    q = rng.normal(size=nq)
    for body, s in zip(bodies, q_slices, strict=True):
        kind = body["joint"]["kind"]
        if kind in ("revolute", "helical", "cylindrical"):
            q[s.start] = rng.uniform(-np.pi, np.pi)
        elif kind == "universal":
            q[s] = rng.uniform(-np.pi, np.pi, size=2)
        elif kind == "gimbal":
            q[s] = rng.uniform(-np.pi, np.pi, size=3)
        elif kind == "planar":
            q[s.stop - 1] = rng.uniform(-np.pi, np.pi)
        elif kind in ("spherical", "free"):
            q[s.start : s.start + 4] = random_unit(rng, 4)
    return q, rng.normal(size=nv)
