"""Divide and conquer of logarithmic depth over one chain: a prototype in NumPy, and its cost.

    python benchmarks/log_depth.py

R. Featherstone, Int. J. Robotics Research 18, 1999: neighbours are joined pair by pair, so that N
bodies take log₂N rounds, each of which could run on as many processors as it has pairs. A piece is
known by what forces at its two ends do, with all at the origin of the world,

    α₁ = Φ₁₁f₁ + Φ₁₂f₂ + b₁,      α₂ = Φ₂₁f₁ + Φ₂₂f₂ + b₂,

and two pieces a, b that share a hinge S have V = (Φ₂₂ᵃ + Φ₁₁ᵇ)⁻¹, W = V − VS(S*VS)⁻¹S*V between
them. Poses and velocities are taken for granted here, although they are a sweep, too. Counted are
multiplications (with the addition behind them) of one joining and of finding what it was on the
way back, beside the articulated body algorithm with a hinge.
"""

import time

import numpy as np

import skodyn as sk
from compare import table

JOIN = {
    "factor of V": 56,  # Cholesky, 6 × 6
    "VS, S*VS and its inverse": 36 + 7,
    "V·Φ₂₁, V·Φ₁₂ and their part along S": 2 * (6 * 36 + 6 + 36),
    "Φ₁₁, Φ₂₂ (symmetric), Φ₁₂": 2 * 126 + 216,
    "b₁, b₂": 42 + 2 * 36,
}
BACK = 2 * 36 + 42 + 12  # β, f and the acceleration of the hinge
SWEEP = 300  # some 300 for a body and its hinge in the articulated body algorithm


def chain(n):
    b = sk.ModelBuilder(name="chain")
    for k in range(n):
        axis = ((0, 0, 1), (0, 1, 0), (1, 0, 0))[k % 3]
        b.add_body(
            f"b{k}", f"b{k - 1}" if k else "world", sk.Revolute(axis),
            translation=(0.02 if k else 0.0, 0.01, 0.0), mass=1.0, com=(0.01, 0.0, 0.0),
            inertia=(0.1, 0.1, 0.1),
        )  # fmt: skip
    return b.build()


def cross(a):
    x, y, z = a.T
    zero = np.zeros_like(x)
    rows = [[zero, -z, y], [z, zero, -x], [-y, x, zero]]
    return np.moveaxis(np.array(rows), (0, 1, 2), (1, 2, 0))


def pieces(model, q):
    """Φ and b of single bodies at rest under gravity, hinges S and c = 0, in world axes at its
    origin."""
    turns, places = sk.forward_kinematics(model, q)
    com = places + np.einsum("nij,nj->ni", turns, model.com)
    inertia = np.einsum("nij,njk,nlk->nil", turns, model.inertia, turns)
    mass, bars = model.mass, cross(com)
    spatial = np.zeros((len(mass), 6, 6))
    spatial[:, :3, :3] = inertia - mass[:, None, None] * bars @ bars
    spatial[:, :3, 3:] = mass[:, None, None] * bars
    spatial[:, 3:, :3] = -spatial[:, :3, 3:]
    spatial[:, 3:, 3:] = mass[:, None, None] * np.eye(3)
    axes = np.array([joint.axis for joint in model.joints], dtype=float)
    u = np.einsum("nij,nj->ni", turns, axes)
    phi = np.linalg.inv(spatial)
    gravity = np.zeros((len(mass), 6))
    gravity[:, 3:] = model.gravity
    return (phi, phi, phi, gravity, gravity), np.hstack((u, np.cross(places, u)))


def joined(left, right, S, tau):
    """(pieces half as many, what finds the hinges between them later)."""
    a11, a12, a22, a1, a2 = left
    b11, b12, b22, b1, b2 = right
    V = np.linalg.inv(a22 + b11)
    VS = np.einsum("nij,nj->ni", V, S)
    d = 1.0 / np.einsum("ni,ni->n", S, VS)
    W = V - d[:, None, None] * VS[:, :, None] * VS[:, None, :]
    up, down = W @ a12.transpose(0, 2, 1), W @ b12
    f = np.einsum("nij,nj->ni", W, a2 - b1) + (d * tau)[:, None] * VS
    whole = (
        a11 - a12 @ up, a12 @ down, b22 - b12.transpose(0, 2, 1) @ down,
        a1 - np.einsum("nij,nj->ni", a12, f), b2 + np.einsum("nji,nj->ni", b12, f),
    )  # fmt: skip
    return whole, (VS, d, up, down, f, a2 - b1, a12, b12)


def forward_dynamics(model, q, tau):
    """v̇ of a chain of 2ᵏ bodies at rest."""
    now, S = pieces(model, q)
    rounds, n, step = [], model.n_bodies, 1
    while len(now[0]) > 1:
        hinges = np.arange(step, n, 2 * step)
        now, kept = joined([x[::2] for x in now], [x[1::2] for x in now], S[hinges], tau[hinges])
        rounds.append((hinges, kept))
        step *= 2
    phi, b = now[0][0], now[3][0]
    inverse = np.linalg.inv(phi)
    vdot = np.empty(n)
    vdot[0] = (tau[0] + S[0] @ inverse @ b) / (S[0] @ inverse @ S[0])
    first, last = (inverse @ (S[0] * vdot[0] - b))[None], np.zeros((1, 6))
    for hinges, (VS, d, up, down, f, gap, a12, b12) in reversed(rounds):
        pull = np.einsum("nji,nj->ni", a12, first) - np.einsum("nij,nj->ni", b12, last) + gap
        vdot[hinges] = d * (tau[hinges] - np.einsum("ni,ni->n", VS, pull))
        inside = f + np.einsum("nij,nj->ni", up, first) - np.einsum("nij,nj->ni", down, last)
        first = np.stack((first, inside), axis=1).reshape(-1, 6)
        last = np.stack((-inside, last), axis=1).reshape(-1, 6)
    return vdot


def best(call, turns=5):
    times = []
    for _ in range(turns):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def main():
    rows = []
    for n in (64, 1024, 8192):
        model = chain(n)
        rng = np.random.default_rng(n)
        q, tau = rng.uniform(-0.5, 0.5, n), rng.normal(size=n)
        still = np.zeros(n)
        plain = sk.forward_dynamics(model, q, still, tau)
        error = np.abs(forward_dynamics(model, q, tau) - plain).max() / np.abs(plain).max()
        sweep = best(lambda m=model, a=q, s=still, t=tau: sk.forward_dynamics(m, a, s, t), 30)
        tree = best(lambda m=model, a=q, t=tau: forward_dynamics(m, a, t))
        rows.append([n, f"{1e3 * sweep:.3f}", f"{1e3 * tree:.1f}", f"{error:.0e}"])
    print("## Logarithmic depth, processor time in ms\n")
    table(["bodies", "plain sweep, compiled", "log depth, NumPy", "difference"], rows)
    join = sum(JOIN.values())
    print(f"\n{join} multiplications to join two pieces, {BACK} on the way back, {SWEEP} a body in")
    print(f"the plain sweep: {(join + BACK) / SWEEP:.1f} times the work.")


if __name__ == "__main__":
    main()
