"""Closed loops straight from the definitions: dense NumPy on tests/naive.py, nothing from skodyn.

A mechanism is a tree (a list of naive bodies) with two lists of plain dicts::

    dict(a=3, b=-1, joint=dict(kind="revolute", axis=...), rotation_a=..., translation_a=...,
         rotation_b=..., translation_b=...)                      # -1 is the ground
    dict(joints=[follower, source], coefficients=[c0, c1, ...])  # bodies whose joints are meant
    dict(joints=[...], factors=[...], offset=...)

A closing joint is any naive kind but "free", or dict(kind="rod", length=...). Rows are numbered:
loops in the order given, then couplings. A row of a loop is (g, moment on A, moment on B, force on
B) for a unit multiplier; the force on A is the opposite one. So G and wrenches have one source, and
γ is the complex step of Gv along the motion. Rank decisions: 1e-9 of the largest singular value,
or of a centimetre where that is larger.
"""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np

import naive

RANK = 1e-9
ZERO = np.zeros(3)
ROWS = {
    "fixed": 6, "revolute": 5, "prismatic": 5, "helical": 5, "cylindrical": 4, "universal": 4,
    "planar": 3, "translation": 3, "spherical": 3, "rod": 1,
}  # fmt: skip
CLOSING = tuple(ROWS)


# ---- rows of one loop ----


def across(axis):
    """Two unit vectors that are perpendicular to an axis and to each other."""
    first = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    first = first / np.linalg.norm(first)
    return first, np.cross(axis, first)


def point_rows(d):
    return [(d[i], ZERO, ZERO, np.eye(3)[i]) for i in range(3)]


def dot_row(u, w, c=0.0):
    return u @ w - c, np.cross(u, w), -np.cross(u, w), ZERO


def along_row(u, d):
    return u @ d, np.cross(u, d), ZERO, u


def length_row(d, length):
    distance = np.sqrt(d @ d)
    return distance - length, ZERO, ZERO, d / distance


def helix_row(u, e, w, d, pitch):
    """pitch·sin(turn − u·d/pitch); the turn leads from e (in A) to w (in B) about u."""
    n = np.cross(u, e)
    S, C = w @ n, w @ e
    radius, phase = np.sqrt(S * S + C * C), u @ d / pitch
    sine = (S * np.cos(phase) - C * np.sin(phase)) / radius
    cosine = (C * np.cos(phase) + S * np.sin(phase)) / radius
    turning = (C * np.cross(w, n) - S * np.cross(w, e)) / radius**2  # ∂turn/∂ω_B
    on_a = -pitch * cosine * turning - cosine * np.cross(u, d)
    return pitch * sine, on_a, pitch * cosine * turning, -cosine * u


def closure_rows(joint, RA, RB, d):
    """All rows of a closing joint between frames with axes RA, RB (world) and d = x_B − x_A."""
    kind = joint["kind"]
    if kind == "rod":
        return [length_row(d, joint["length"])]
    if kind == "spherical":
        return point_rows(d)
    x, y, z = np.eye(3)
    alike = [dot_row(RA @ s, RB @ t) for s, t in ((x, y), (y, z), (z, x))]
    if kind == "translation":
        return alike
    if kind == "fixed":
        return point_rows(d) + alike
    if kind == "universal":
        first, second = unit(joint["axis1"]), unit(joint["axis2"])
        return [*point_rows(d), dot_row(RA @ first, RB @ second, first @ second)]
    if kind == "planar":
        axis = unit(np.cross(joint["x_axis"], joint["y_axis"]))
    else:
        axis = unit(joint["axis"])
    e1, e2 = across(axis)
    keeps_axis = [dot_row(RA @ e1, RB @ axis), dot_row(RA @ e2, RB @ axis)]
    if kind == "planar":
        return [along_row(RA @ axis, d), *keeps_axis]
    on_line = [along_row(RA @ e1, d), along_row(RA @ e2, d)]
    if kind == "prismatic":
        return on_line + alike
    if kind == "cylindrical":
        return on_line + keeps_axis
    if kind == "helical" and joint["pitch"]:
        turn = helix_row(RA @ axis, RA @ e1, RB @ e1, d, joint["pitch"])
        return [*on_line, *keeps_axis, turn]
    return point_rows(d) + keeps_axis  # revolute


def unit(axis):
    axis = np.asarray(axis, dtype=float)
    return axis / np.linalg.norm(axis)


def pose(R, p, body, rotation, translation):
    """Axes and origin, in the world, of a frame placed in a body."""
    if body == -1:
        return np.asarray(rotation), np.asarray(translation)
    return R[body] @ rotation, p[body] + R[body] @ translation


def frames(loop, R, p):
    """(RA, x_A, RB, x_B) of a loop in the world."""
    A = pose(R, p, loop["a"], loop["rotation_a"], loop["translation_a"])
    B = pose(R, p, loop["b"], loop["rotation_b"], loop["translation_b"])
    return *A, *B


def loop_rows(loop, R, p):
    """The rows of one loop, as `closure_rows` gives them."""
    RA, xA, RB, xB = frames(loop, R, p)
    return closure_rows(loop["joint"], RA, RB, xB - xA)


# ---- rows of a mechanism ----


def polynomial(coefficients, s):
    return sum(c * s**i for i, c in enumerate(coefficients))


def slope(coefficients, s):
    return sum(i * c * s ** (i - 1) for i, c in enumerate(coefficients) if i)


def coupling_row(bodies, coupling, q):
    """g and the entries of G by body."""
    q_slices = naive.offsets(bodies)[0]
    values = [q[q_slices[k]][0] for k in coupling["joints"]]
    if "coefficients" in coupling:
        c = coupling["coefficients"]
        return values[0] - polynomial(c, values[1]), (1.0, -slope(c, values[1]))
    terms = zip(coupling["factors"], values, strict=True)
    return sum(f * x for f, x in terms) - coupling["offset"], coupling["factors"]


def residual(mechanism, q):
    """g: all rows, which are zero where the mechanism is closed."""
    R, p = naive.forward_kinematics(mechanism.bodies, q)
    g = [row[0] for loop in mechanism.loops for row in loop_rows(loop, R, p)]
    g += [coupling_row(mechanism.bodies, c, q)[0] for c in mechanism.couplings]
    return np.array(g)


def jacobian(mechanism, q):
    """G, the derivative of g along velocities, with the columns of all joints."""
    bodies = mechanism.bodies
    R, p = naive.forward_kinematics(bodies, q)
    of_bodies = naive.body_jacobians(bodies, q)
    v_slices, nv = naive.offsets(bodies)[1:4:2]
    dtype = np.result_type(q, float)

    def at(body, x):
        if body == -1:
            return np.zeros((6, nv))
        return naive.shift(x - p[body]).T @ of_bodies[body]

    rows = []
    for loop in mechanism.loops:
        _, xA, _, xB = frames(loop, R, p)
        JA, JB = at(loop["a"], xA), at(loop["b"], xB)
        for _, on_a, on_b, force in loop_rows(loop, R, p):
            rows.append(on_a @ JA[:3] + on_b @ JB[:3] + force @ (JB[3:] - JA[3:]))
    for coupling in mechanism.couplings:
        row = np.zeros(nv, dtype)
        for k, entry in zip(coupling["joints"], coupling_row(bodies, coupling, q)[1], strict=True):
            row[v_slices[k]] += entry
        rows.append(row)
    return np.array(rows, dtype).reshape(len(rows), nv)


def gamma(mechanism, q, v):
    """γ = Ġv, so that g̈ = Gv̇ + γ."""
    return naive.derivative(lambda x: jacobian(mechanism, x) @ v, mechanism.bodies, q, v)


def row_slices(mechanism):
    """Where each loop and each coupling has its rows."""
    counts = [ROWS[loop["joint"]["kind"]] for loop in mechanism.loops]
    ends = np.cumsum([0, *counts, *[1] * len(mechanism.couplings)])
    return [slice(int(a), int(b)) for a, b in pairwise(ends)]


def cycle(mechanism, number):
    """Bodies whose joints lie on the cycle of a loop, or between the joints of a coupling."""
    bodies = mechanism.bodies
    if number < len(mechanism.loops):
        loop = mechanism.loops[number]
        ends = [set(naive.path_to_base(bodies, loop[end])) for end in "ab"]
        return ends[0] ^ ends[1]
    joints = mechanism.couplings[number - len(mechanism.loops)]["joints"]
    paths = [set(naive.path_to_base(bodies, k)) for k in joints]
    above = [path - {k} for path, k in zip(paths, joints, strict=True)]
    return set.union(*paths) - set.intersection(*above)


# ---- dynamics ----


def weakest(sigma):
    """Below this a singular value is rounding, also where nothing else is left (rank zero)."""
    return RANK * max(0.01, sigma.max(initial=0.0))


def decompose(G):
    """Pseudo-inverse, null basis X (orthonormal), basis of lost rows N, rank, singular values."""
    nv = G.shape[1]
    if not len(G):
        return SimpleNamespace(
            pinv=np.zeros((nv, 0)), X=np.eye(nv), N=np.zeros((0, 0)), rank=0, sigma=np.zeros(0)
        )
    U, sigma, Vt = np.linalg.svd(G)
    rank = int((sigma > weakest(sigma)).sum())
    pinv = (Vt[:rank].T / sigma[:rank]) @ U[:, :rank].T
    return SimpleNamespace(pinv=pinv, X=Vt[rank:].T, N=U[:, rank:], rank=rank, sigma=sigma)


def constrained_inverse(mechanism, q):
    """X(X*𝓜X)⁻¹X*, what 𝓜⁻¹ becomes when the loops hold."""
    X = decompose(jacobian(mechanism, q)).X
    return X @ np.linalg.solve(X.T @ naive.mass_matrix(mechanism.bodies, q) @ X, X.T)


def project_velocity(mechanism, q, v):
    """The consistent velocity that is nearest in the mass metric."""
    return constrained_inverse(mechanism, q) @ naive.mass_matrix(mechanism.bodies, q) @ v


def forward_dynamics(mechanism, q, v, tau, gravity, f_ext=None):
    """v̇ with γ, λ of least norm, the torque Gᵀλ and what decides conditions."""
    bodies, G = mechanism.bodies, jacobian(mechanism, q)
    parts, bent = decompose(G), gamma(mechanism, q, v)
    M = naive.mass_matrix(bodies, q)
    bias = naive.bias_force(bodies, q, v, gravity, f_ext)
    x_p = -parts.pinv @ bent
    D = parts.X.T @ M @ parts.X
    vdot = x_p + parts.X @ np.linalg.solve(D, parts.X.T @ (tau - bias - M @ x_p))
    torque = M @ vdot + bias - tau
    lam = parts.pinv.T @ torque
    return SimpleNamespace(
        vdot=vdot, lam=lam, torque=torque, G=G, gamma=bent, parts=parts, M=M, D=D, x_p=x_p,
        bias=bias,
    )  # fmt: skip


def forward_dynamics_by_multipliers(mechanism, q, v, tau, gravity, f_ext=None):
    """v̇ from [𝓜 G*; G 0] by least squares: a second formulation, for 𝓜 of any condition."""
    bodies, G = mechanism.bodies, jacobian(mechanism, q)
    M = naive.mass_matrix(bodies, q)
    bias = naive.bias_force(bodies, q, v, gravity, f_ext)
    matrix = np.block([[M, G.T], [G, np.zeros((len(G), len(G)))]])
    right = np.concatenate([tau - bias, -gamma(mechanism, q, v)])
    return np.linalg.lstsq(matrix, right, rcond=1e-12)[0][: len(M)]


def wrench_maps(mechanism, q):
    """For each loop the 6×rows map from its multipliers to [moment; force] on body b at x_B."""
    R, p = naive.forward_kinematics(mechanism.bodies, q)
    return [
        np.array([np.concatenate([row[2], row[3]]) for row in loop_rows(loop, R, p)]).T
        for loop in mechanism.loops
    ]


def loop_forces(mechanism, q, solution):
    """(wrenches (loops, 6), torques of couplings, and for both whether λ leaves a choice)."""
    slices, count = row_slices(mechanism), len(mechanism.loops)
    lam, N = solution.lam, solution.parts.N
    wrenches, unique = np.zeros((count, 6)), np.zeros((count, 6), bool)
    for i, (rows, Q) in enumerate(zip(slices[:count], wrench_maps(mechanism, q), strict=True)):
        wrenches[i] = Q @ lam[rows]
        unique[i] = (np.abs(Q @ N[rows]) < 1e-8).all(axis=1)
    torques = np.array([lam[rows][0] for rows in slices[count:]])
    sure = np.array([bool((np.abs(N[rows]) < 1e-8).all()) for rows in slices[count:]], bool)
    return SimpleNamespace(wrench=wrenches, unique=unique, torque=torques, torque_unique=sure)


def external_forces(mechanism, q, wrenches):
    """The loops' wrenches as forces on bodies, at body origins: (n, 6), both ends."""
    R, p = naive.forward_kinematics(mechanism.bodies, q)
    pushed = np.zeros((len(mechanism.bodies), 6))
    for loop, wrench in zip(mechanism.loops, wrenches, strict=True):
        _, _, _, xB = frames(loop, R, p)
        for body, sign in ((loop["b"], 1.0), (loop["a"], -1.0)):
            if body != -1:
                pushed[body] += sign * naive.shift(xB - p[body]) @ wrench
    return pushed


def mechanism(bodies, loops=(), couplings=()):
    """A mechanism as all functions above take it."""
    return SimpleNamespace(bodies=list(bodies), loops=list(loops), couplings=list(couplings))


def closed(mechanism, q, steps=30):
    """The closed configuration that Newton's method with G⁺ finds from q."""
    for _ in range(steps):
        g = residual(mechanism, q)
        if np.abs(g).max(initial=0.0) < 1e-15:
            break
        q = naive.integrate(mechanism.bodies, q, -decompose(jacobian(mechanism, q)).pinv @ g)
    return q


# ---- planar mechanisms of hinges in extended precision ----


def extended(values):
    return np.asarray(values, dtype=np.longdouble)


def planar_points(bodies, q):
    """Hinges (n, 2) and axes (n, 2, 2) of bodies that turn about z, in the plane."""
    p, R = np.zeros((len(bodies), 2), np.longdouble), np.zeros((len(bodies), 2, 2), np.longdouble)
    for k in naive.base_to_tips(bodies):
        body, i = bodies[k], bodies[k]["parent"]
        above = (R[i], p[i]) if i != -1 else (extended(np.eye(2)), extended(np.zeros(2)))
        c, s = np.cos(q[k]), np.sin(q[k])
        p[k] = above[1] + above[0] @ extended(body["translation"])[:2]
        R[k] = above[0] @ extended(body["rotation"])[:2, :2] @ extended([[c, -s], [s, c]])
    return p, R


def planar_dynamics(mechanism, q, v, gravity):
    """(v̇, pin forces on body b) of hinges about z and pins, solved to 64 bits of mantissa.

    A double factorisation corrects itself by residuals in extended precision, so what is left is
    the condition number times 1e-19.
    """
    bodies, (q, v) = mechanism.bodies, (extended(q), extended(v))
    p, R = planar_points(bodies, q)
    n = len(bodies)
    on_path = np.zeros((n, n), np.longdouble)
    for k in range(n):
        on_path[k, naive.path_to_base(bodies, k)] = 1
    speed = on_path @ v

    def moved(k, x):
        """Columns of the velocity of a point x of body k, and its acceleration for v̇ = 0."""
        if k == -1:
            return np.zeros((2, n), np.longdouble), np.zeros(2, np.longdouble)
        path = naive.path_to_base(bodies, k)[::-1]
        columns = np.zeros((2, n), np.longdouble)
        columns[0, path], columns[1, path] = -(x - p[path])[:, 1], (x - p[path])[:, 0]
        links = np.diff(np.vstack([p[path], x]), axis=0)
        return columns, -(speed[path] ** 2) @ links

    M, right = np.zeros((n, n), np.longdouble), np.zeros(n, np.longdouble)
    for k, body in enumerate(bodies):
        columns, bent = moved(k, p[k] + R[k] @ extended(body["com"])[:2])
        mass, moment = np.longdouble(body["mass"]), np.longdouble(body["inertia"][2][2])
        M += mass * columns.T @ columns + moment * np.outer(on_path[k], on_path[k])
        right += mass * columns.T @ (extended(gravity)[:2] - bent)
    rows, gammas = [], []
    for loop in mechanism.loops:
        ends = []
        for end in "ab":
            k, point = loop[end], extended(loop[f"translation_{end}"])[:2]
            ends.append(moved(k, point if k == -1 else p[k] + R[k] @ point))
        rows.append(ends[1][0] - ends[0][0])
        gammas.append(ends[1][1] - ends[0][1])
    G = np.concatenate(rows)
    matrix = np.block([[M, -G.T], [G, np.zeros((len(G), len(G)), np.longdouble)]])
    solution = _refined(matrix, np.concatenate([right, -np.concatenate(gammas)]))
    return solution[:n].astype(float), solution[n:].astype(float).reshape(-1, 2)


def _refined(matrix, right):
    inverse = np.linalg.inv(matrix.astype(float))
    solution = np.zeros_like(right)
    for _ in range(12):
        solution = solution + inverse @ (right - matrix @ solution).astype(float)
    return solution
