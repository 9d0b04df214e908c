"""One step of implicit contact from the definition, dense and slow; imports nothing of skodyn.

The new velocity minimises ½(v − v₀)ᵀ𝓜(v − v₀) − h·v·(τ − bias) + Σ ℓ, with a convex ℓ for each
contact point and for each joint's springs, dampers, friction, stops and servos:

    γn = h·k·(δ₀ − h·vn)₊ᵖ·(1 − c·vn)₊
    γt = −h·a·w·min(1, F/(a·|w|)),   a = h·kt + d,   w = vt + kt·s/a
    s⁺ = (s − h·f/d)/(1 + h·kt/d),   f = γt/h

Loops hold G·(v − v₀) = −h·Ġv₀ by multipliers: [𝓗 G*; G 0] in place of the Hessian 𝓗.

F = μN with N of the start; a second pass takes N of the first. Hessians come from differences of
the forces' formulas by hand, steps are halved until the cost falls: nothing here is fast.
"""

from __future__ import annotations

import numpy as np


def normal_impulse(given, gap, vn, h):
    """(γn, −dγn/dvn)."""
    k, c, p = given["k"], given["c"], given["p"]
    x, brake = -gap - h * vn, 1.0 - c * vn
    if x <= 0.0 or brake <= 0.0:
        return 0.0, 0.0
    return h * k * x**p * brake, h * k * (p * h * x ** (p - 1) * brake + c * x**p)


def normal_energy(given, gap, vn, h):
    """ℓn = ∫ γn from vn to where it ends, by Gauss–Legendre."""
    x = -gap - h * vn
    end = -gap / h
    if given["c"] > 0.0:
        end = min(end, 1.0 / given["c"])
    if x <= 0.0 or vn >= end:
        return 0.0
    nodes, weights = np.polynomial.legendre.leggauss(40)
    at = 0.5 * (end - vn) * nodes + 0.5 * (end + vn)
    return (
        0.5
        * (end - vn)
        * sum(w * normal_impulse(given, gap, u, h)[0] for u, w in zip(at, weights, strict=True))
    )


class Point:
    """A contact point: gap, normal n, rows of v (3 × nv) and of ω (3 × nv) of a against b."""

    def __init__(self, law, gap, n, jacobian, spin, s, zeta, turn):
        self.law, self.gap, self.n, self.s, self.zeta = law, gap, n, s, zeta
        self.turned = [self._rotated(x, turn) for x in (s, zeta)]
        across = np.eye(3) - np.outer(n, n)
        self.across = across
        along = np.outer(n, n)
        torsion, rolling = law.get("torsion", 0.0), law.get("rolling", 0.0)
        self.weight = torsion * along + rolling * across
        self.keeps = (torsion > 0) * along + (rolling > 0) * across
        # what friction sees: shift across n, and rotation times lengths
        self.rows = np.vstack((across @ jacobian, self.weight @ spin))
        self.normal_row = n @ jacobian
        self.jacobian, self.spin = jacobian, spin

    @staticmethod
    def _rotated(s, step):
        """s turned along with the contact, its length kept; step: h·ωc."""
        moved = s + np.cross(step, s)
        size = np.linalg.norm(moved)
        return s if size == 0.0 else moved * np.linalg.norm(s) / size

    def held(self, h):
        a = h * self.law["kt"] + self.law["d"]
        s, zeta = self.turned
        return self.law["kt"] / a * np.concatenate((self.across @ s, self.keeps @ zeta)), a

    def limit(self, v, force):
        slip = self.across @ self.jacobian @ v
        mu, mu_s = self.law["mu"], self.law.get("mu_s", self.law["mu"])
        if mu_s > mu:
            mu += (mu_s - mu) / (1.0 + slip @ slip / self.law["slip_speed"] ** 2)
        return mu * force

    def start_force(self, v):
        """N at the start of the step."""
        depth, vn = max(-self.gap, 0.0), self.normal_row @ v
        law = self.law
        return law["k"] * depth ** law["p"] * max(1.0 - law["c"] * vn, 0.0)

    def friction(self, v, h, limit):
        """(γ of six, Hessian, ℓt)."""
        if not self.law["mu"]:
            return np.zeros(6), np.zeros((6, 6)), 0.0
        held, a = self.held(h)
        w = self.rows @ v + held
        size = np.linalg.norm(w)
        if a * size <= limit:
            return -h * a * w, h * a * np.eye(6), 0.5 * h * a * size**2
        way = w / size
        energy = h * (limit * size - 0.5 * limit**2 / a)
        return -h * limit * way, h * limit / size * (np.eye(6) - np.outer(way, way)), energy


def joint_impulse(joint, q, v0, v, h):
    """(h·T, −dhT/dv, ℓ) of one degree of freedom: spring, damper, friction, stops, servos."""
    push, slope, cost = 0.0, 0.0, 0.0
    get = joint.get
    k, c = get("stiffness", 0.0), get("damping", 0.0)
    stretch = q - get("rest", 0.0)
    push += -h * (k * (stretch + h * v) + c * v)
    slope += h * (h * k + c)
    cost += 0.5 * h * (h * k + c) * v * v + h * k * stretch * v
    friction, speed = get("friction", 0.0), get("friction_speed", 1e-2)
    root = np.hypot(v, speed)
    push -= h * friction * v / root
    slope += h * friction * speed**2 / root**3
    cost += h * friction * root
    for depth, sign in (
        (get("lower", -np.inf) - q, 1.0),
        (q - get("upper", np.inf), -1.0),
    ):
        ks, cs = get("stop_stiffness", 0.0), get("stop_damping", 0.0) * (depth > 0.0)
        force = ks * (depth - sign * h * v) - sign * cs * v if np.isfinite(depth) else 0.0
        if force > 0.0:
            grade = h * ks + cs
            push += sign * h * force
            slope += h * grade
            cost += 0.5 * h * force**2 / grade
    for servo in get("servos", ()):
        p, d = h * max(servo["kp"], 0.0), max(servo["kd"], 0.0)
        base = servo["kp"] * (servo["target"] - q) + servo["kd"] * (servo["speed"] - v0)
        base += servo.get("more", 0.0) + d * v0
        wanted, limit, grade = base - (p + d) * v, servo["limit"], p + d
        if abs(wanted) <= limit:
            push, slope = push + h * wanted, slope + h * grade
            cost += h * (0.5 * grade * v * v - base * v)
        else:
            push += h * np.sign(wanted) * limit
            edge = (base - np.sign(wanted) * limit) / grade if grade else 0.0
            cost += h * (0.5 * grade * edge**2 - base * edge)
            cost -= h * np.sign(wanted) * limit * (v - edge)
    return push, slope, cost


def solve(mass, force, v0, points, joints, q, h, passes=2, tolerance=1e-13, held=None):
    """(v, limits): the new velocity, and the F that it was found with.

    force: τ − bias. joints: one table per degree of freedom, q their coordinates. held: (G, Ġv₀) of
    what must hold.
    """
    G, bent = held if held is not None else (np.zeros((0, len(v0))), np.zeros(0))
    v = v0 - h * np.linalg.pinv(G, rcond=1e-9) @ bent
    limits = [point.limit(v0, point.start_force(v0)) for point in points]
    for number in range(passes):
        if number:
            limits = [
                p.limit(v, normal_impulse(p.law, p.gap, p.normal_row @ v, h)[0] / h) for p in points
            ]
        v = _newton(mass, force, v0, v, points, limits, joints, q, h, tolerance, G)
    return v, limits


def _newton(mass, force, v0, v, points, limits, joints, q, h, tolerance, G):
    def cost_and_slopes(v):
        cost = 0.5 * (v - v0) @ mass @ (v - v0) - h * force @ v
        gradient, hessian = mass @ (v - v0) - h * force, mass.copy()
        for point, limit in zip(points, limits, strict=True):
            vn = point.normal_row @ v
            push, grade = normal_impulse(point.law, point.gap, vn, h)
            cost += normal_energy(point.law, point.gap, vn, h)
            gradient = gradient - push * point.normal_row
            hessian = hessian + grade * np.outer(point.normal_row, point.normal_row)
            gamma, g, energy = point.friction(v, h, limit)
            cost += energy
            gradient = gradient - point.rows.T @ gamma
            hessian = hessian + point.rows.T @ g @ point.rows
        for i, joint in enumerate(joints):
            push, slope, energy = joint_impulse(joint, q[i], v0[i], v[i], h)
            gradient[i] -= push
            hessian[i, i] += slope
            cost += energy
        return cost, gradient, hessian

    def step_and_rest(gradient, hessian):
        """Newton's step that leaves G·v alone, and what of the gradient no multiplier holds."""
        matrix = np.block([[hessian, G.T], [G, np.zeros((len(G), len(G)))]])
        right = np.concatenate((-gradient, np.zeros(len(G))))
        size = np.concatenate((1.0 / np.sqrt(np.diag(hessian)), np.ones(len(G))))
        found = size * np.linalg.lstsq(size[:, None] * matrix * size, size * right, rcond=1e-13)[0]
        rest = gradient - np.linalg.pinv(G, rcond=1e-9) @ (G @ gradient)
        return found[: len(v0)], np.abs(rest).max()

    cost, gradient, hessian = cost_and_slopes(v)
    scale = max(np.abs(h * force).max(), np.abs(mass @ v0).max(), 1e-300)
    for _ in range(300):
        step, rest = step_and_rest(gradient, hessian)
        if rest <= tolerance * scale:
            return v
        share = 1.0
        while share > 1e-12:
            found = cost_and_slopes(v + share * step)
            if found[0] <= cost + 1e-4 * share * gradient @ step + 1e-13 * abs(cost):
                break
            share *= 0.5
        if step_and_rest(*found[1:])[1] >= rest and share < 1e-6:
            return v  # rounding
        v = v + share * step
        cost, gradient, hessian = found
    if step_and_rest(gradient, hessian)[1] > 1e-9 * scale:
        raise ArithmeticError("the twin did not converge")
    return v


def ends(points, limits, v, h):
    """What each point has at the end: force and moment on a, bristles, work and loss."""
    found = []
    for point, limit in zip(points, limits, strict=True):
        law, vn = point.law, point.normal_row @ v
        push = normal_impulse(law, point.gap, vn, h)[0] / h
        gamma, _, _ = point.friction(v, h, limit)
        f, g = gamma[:3] / h, gamma[3:] / h
        elastic = [law["k"] * max(x, 0.0) ** (law["p"] + 1) / (law["p"] + 1)
                   for x in (-point.gap, -point.gap - h * vn)]  # fmt: skip
        work = h * push * vn + gamma @ point.rows @ v
        loss = elastic[0] - elastic[1] - h * push * vn
        s, zeta = point.turned
        if law["mu"]:
            fall = 1.0 + h * law["kt"] / law["d"]
            new_s = (s - h * f / law["d"]) / fall
            new_zeta = (zeta - h * g / law["d"]) / fall
            before, after = s @ s + zeta @ zeta, new_s @ new_s + new_zeta @ new_zeta
            loss += 0.5 * law["kt"] * (before - after) - gamma @ point.rows @ v
        else:
            new_s, new_zeta = s, zeta
        found.append({
            "force": push * point.n + f, "moment": point.weight @ g, "normal_force": push,
            "s": new_s, "zeta": new_zeta, "work": work, "loss": loss,
        })  # fmt: skip
    return found
