"""Trees of rigid and flexible bodies as clouds of particles: dense NumPy, importing nothing else.

Every body is a set of particles; a flexible one moves them by its shapes, slaves included. Where
particles are at coordinates q is all that is written down here. Jacobians and J̇v are derivatives
of that by Cauchy's formula on a circle in the complex plane, exact to rounding; masses, forces and
momenta are sums over particles, and forces of strain derivatives of the strain energy.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

POINTS, RADIUS = 32, 0.5  # 24 alias: 6e-9 in a mass matrix whose slaves turn nodes far
CIRCLE = RADIUS * np.exp(2j * np.pi * np.arange(POINTS) / POINTS)


def derivative(f, order):
    """d^order f/dε at 0, by the mean of f over a circle."""
    values = np.array([f(z) for z in CIRCLE])
    weights = (1, 1, 2)[order] * CIRCLE ** (-order) / POINTS
    return np.tensordot(weights, values, axes=1).real


def tilde(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def exponential(w):
    """(exp(w̃), ∫₀¹ exp(t w̃) dt), analytic in w."""
    s = w @ w
    a = b = c = 0.0
    term, i = 1.0 + 0.0 * s, 0
    while i < 30:  # Σ (−s)ⁱ/(2i+1)!, /(2i+2)!, /(2i+3)!
        a, b, c = a + term, b + term / (2 * i + 2), c + term / ((2 * i + 2) * (2 * i + 3))
        term = term * -s / ((2 * i + 2) * (2 * i + 3))
        i += 1
    x = tilde(w)
    return np.eye(3) + a * x + b * x @ x, np.eye(3) + b * x + c * x @ x


def quaternion_matrix(p):
    w, x, y, z = p
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


@dataclass
class Joint:
    """twists [u; t] in turn, or "spherical" or "free"."""

    kind: str
    twists: list = field(default_factory=list)
    armature: float = 0.0

    @property
    def nq(self):
        return {"spherical": 4, "free": 7}.get(self.kind, len(self.twists))

    @property
    def nv(self):
        return {"spherical": 3, "free": 6}.get(self.kind, len(self.twists))

    def pose(self, q, u):
        """(R, d) of the child in the joint frame at q moved by u."""
        if self.kind == "spherical":
            return quaternion_matrix(q) @ exponential(u)[0], np.zeros(3)
        if self.kind == "free":
            turn, shift = exponential(u[:3])
            r = quaternion_matrix(q[:4])
            return r @ turn, q[4:] + r @ (shift @ u[3:])
        r, d = np.eye(3), np.zeros(3)
        for (axis, slide), x in zip(self.twists, q + u, strict=True):
            d = d + r @ np.array(slide) * x
            r = r @ exponential(np.array(axis) * x)[0]
        return r, d


@dataclass
class Body:
    """Particles at `places` (p, 3) with `masses` (p,), in body axes."""

    parent: int
    joint: Joint
    rotation: np.ndarray  # of the joint frame in the parent's, or in its node's
    translation: np.ndarray
    masses: np.ndarray
    places: np.ndarray
    shapes: np.ndarray = None  # (n, p, 3)
    slaves: np.ndarray = None  # (n − m, m, m)
    stiffness: np.ndarray = None
    damping: np.ndarray = None
    gauss: tuple = None  # weights, v′, v″, w′, w″
    node: tuple = None  # of the parent: position, translation (3, n), rotation (3, n)

    @property
    def modes(self):
        return 0 if self.stiffness is None else len(self.stiffness)

    def amounts(self, eta):
        """η and ξ."""
        return np.concatenate((eta, [0.5 * eta @ a @ eta for a in self.slaves]))

    def strain(self, eta):
        energy = 0.5 * np.sum(self.stiffness * eta * eta)
        if self.gauss is not None:
            weights, v, vv, w, ww = self.gauss
            energy = energy + 0.5 * weights @ ((v @ eta) * (vv @ eta) + (w @ eta) * (ww @ eta)) ** 2
        return energy


class Twin:
    """A tree; modes of a body follow the coordinates of its joint."""

    def __init__(self, bodies, gravity):
        self.bodies, self.gravity = bodies, np.array(gravity)
        self.q_at = np.cumsum([0] + [b.joint.nq + b.modes for b in bodies])
        self.v_at = np.cumsum([0] + [b.joint.nv + b.modes for b in bodies])
        self.nq, self.nv = self.q_at[-1], self.v_at[-1]
        self.masses = np.concatenate([b.masses for b in bodies])

    def poses(self, q, u):
        """(R, x, amounts) of every body at q ⊞ u."""
        found = []
        for k, b in enumerate(self.bodies):
            at, dof = self.q_at[k], self.v_at[k]
            r, x = np.eye(3), np.zeros(3)
            if b.parent >= 0:
                r, x, amounts = found[b.parent]
                if b.node is not None:
                    place, move, turn = b.node
                    x = x + r @ (place + move @ amounts)
                    r = r @ exponential(turn @ amounts)[0]
            nq, nv = b.joint.nq, b.joint.nv
            turned, moved = b.joint.pose(q[at : at + nq], u[dof : dof + nv])
            x = x + r @ (b.translation + b.rotation @ moved)
            r = r @ b.rotation @ turned
            amounts = np.zeros(0)
            if b.modes:
                eta = q[at + nq : at + nq + b.modes] + u[dof + nv : dof + nv + b.modes]
                amounts = b.amounts(eta)
            found.append((r, x, amounts))
        return found

    def particles(self, q, u):
        """Where all particles are, (P, 3)."""
        clouds = []
        for b, (r, x, amounts) in zip(self.bodies, self.poses(q, u), strict=True):
            places = b.places
            if b.modes:
                places = places + np.tensordot(amounts, b.shapes, axes=1)
            clouds.append(x + places @ r.T)
        return np.concatenate(clouds)

    def jacobian(self, q):
        """(nv, P, 3)."""
        unit = np.eye(self.nv)
        return np.array([derivative(lambda z, u=u: self.particles(q, z * u), 1) for u in unit])

    def armature(self):
        """Rotors, one number a degree of freedom."""
        rotors = np.zeros(self.nv)
        for k, b in enumerate(self.bodies):
            rotors[self.v_at[k] : self.v_at[k] + b.joint.nv] = b.joint.armature
        return rotors

    def mass_matrix(self, q):
        j = self.jacobian(q)
        return np.einsum("ipx,p,jpx->ij", j, self.masses, j) + np.diag(self.armature())

    def strain(self, q, u):
        total = 0.0
        for k, b in enumerate(self.bodies):
            if b.modes:
                at, dof = self.q_at[k] + b.joint.nq, self.v_at[k] + b.joint.nv
                total = total + b.strain(q[at : at + b.modes] + u[dof : dof + b.modes])
        return total

    def bias(self, q, v, f_ext=None):
        """𝒞, with gravity, strain and damping, less forces [moment; force] at bodies' origins."""
        j = self.jacobian(q)
        acceleration = derivative(lambda z: self.particles(q, z * v), 2) - self.gravity
        total = np.einsum("ipx,p,px->i", j, self.masses, acceleration)
        for i, u in enumerate(np.eye(self.nv)):
            total[i] += derivative(lambda z, u=u: self.strain(q, z * u), 1)
        for k, b in enumerate(self.bodies):
            if b.modes:
                dof = self.v_at[k] + b.joint.nv
                total[dof : dof + b.modes] += b.damping * v[dof : dof + b.modes]
        if f_ext is not None:
            for i, u in enumerate(np.eye(self.nv)):
                total[i] -= sum(f @ w for f, w in zip(f_ext, self.velocities(q, u), strict=True))
        return total

    def velocities(self, q, v):
        """[ω; v] of every body's origin, world axes."""
        here = self.poses(q, np.zeros(self.nv))

        def moved(z):
            return np.array([np.column_stack((r, x)) for r, x, _ in self.poses(q, z * v)])

        rates, found = derivative(moved, 1), []
        for (r, _, _), rate in zip(here, rates, strict=True):
            turn = rate[:, :3] @ r.T
            found.append(np.concatenate(([turn[2, 1], turn[0, 2], turn[1, 0]], rate[:, 3])))
        return np.array(found)

    def forward(self, q, v, tau, f_ext=None):
        return np.linalg.solve(self.mass_matrix(q), tau - self.bias(q, v, f_ext))

    def energy(self, q, v):
        """(kinetic, potential)."""
        x, speed = self.particles(q, np.zeros(self.nv)), self.speeds(q, v)
        kinetic = 0.5 * np.sum(self.masses * np.sum(speed**2, axis=1))
        kinetic += 0.5 * np.sum(self.armature() * v * v)
        return kinetic, self.strain(q, np.zeros(self.nv)) - self.masses @ x @ self.gravity

    def speeds(self, q, v):
        return derivative(lambda z: self.particles(q, z * v), 1)

    def momentum(self, q, v):
        """[angular; linear] about the world origin."""
        x, p = self.particles(q, np.zeros(self.nv)), self.masses[:, None] * self.speeds(q, v)
        return np.concatenate((np.cross(x, p).sum(axis=0), p.sum(axis=0)))

    def center_of_mass(self, q):
        return self.masses @ self.particles(q, np.zeros(self.nv)) / self.masses.sum()
