"""How operator expressions grow, and how dense NumPy compares: `python benchmarks/operators.py`.

Two expressions: ψx, and the forward dynamics of PyCraft's Listing 14, from 𝒯 to θ̈, on chains. The
Riccati equation is solved beforehand. Times are processor times of one thread, the best of several,
taken in turns, so that other programs on the machine hurt little and all sizes alike.
"""

import os
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is there

import numpy as np

import skodyn as sk
from skodyn.topology import Tree

SIZES = (100, 1_000, 10_000, 100_000)
DENSE = 200


def chain(n):
    """A chain of n hinged bodies as an SKO model: links 0.2 m long, about y, x, y, x, …

    Given as blocks, because a builder with 100,000 calls would take longer than what is measured.
    """
    rng = np.random.default_rng(n)
    angles = 0.1 * rng.normal(size=n).cumsum()
    links = 0.2 * np.stack([np.sin(angles), np.zeros(n), -np.cos(angles)], axis=1)
    weights = np.broadcast_to(np.eye(6), (n, 6, 6)).copy()
    weights[:, :3, 3:] = tilde(links)
    H = np.zeros((n, 1, 6))
    H[np.arange(n), 0, np.arange(n) % 2] = 1.0
    arm = tilde(links / 2)
    M = np.zeros((n, 6, 6))
    M[:, :3, :3] = 0.002 * np.eye(3) - 0.5 * arm @ arm
    M[:, :3, 3:], M[:, 3:, :3] = 0.5 * arm, -0.5 * arm
    M[:, 3:, 3:] = 0.5 * np.eye(3)
    tree = Tree((np.arange(n) - 1).tolist())
    rows = np.where(np.arange(n) > 0, 6, 0)
    a, b = rng.normal(size=(2, 6 * n))
    return sk.SKOModel.from_packed(
        tree,
        sk.sko.Blocks(weights[1:].reshape(-1), rows, np.full(n, 6)),
        sk.sko.Blocks.stacked(H),
        sk.sko.Blocks.stacked(M),
        a,
        b,
    )


def tilde(vectors):
    full = np.zeros((len(vectors), 3, 3))
    x, y, z = vectors.T
    full[:, 0, 1], full[:, 0, 2], full[:, 1, 2] = -z, y, -x
    return full - full.transpose(0, 2, 1)


class Lazy:
    """Listing 14 with operators."""

    def __init__(self, n):
        self.ops = ops = sk.operators(chain(n))
        self.names = ops.psi, ops.K, ops.P, ops.H, ops.D.inverse(), ops.G, ops.E_phi
        self.T = np.random.default_rng(1).normal(size=ops.joint_space.size)
        self.x = np.random.default_rng(2).normal(size=ops.node_space.size)
        self.forward_dynamics()

    def psi_x(self):
        return self.ops.psi @ self.x

    def forward_dynamics(self):
        psi, K, P, H, Dinv, G, ephi = self.names
        T, a, b = self.T, self.ops.a, self.ops.b
        z = psi @ (K @ T + P @ a + b)
        eps = T - H @ z
        nu = Dinv @ eps
        alpha = psi.T @ (H.T @ nu + a)
        return nu - G.T @ (ephi.T @ alpha)


class Dense(Lazy):
    """The same expression with NumPy matrices.

    The operators begin with the blocks of ℰ_ψ, and so should these: ψ = (I − ℰ_ψ)⁻¹ belongs to one
    state and is solved for, or formed. With ψ formed beforehand, what is left are products.
    """

    def __init__(self, n):
        super().__init__(n)
        ops = self.ops
        self.matrices = [op.dense() for op in self.names[1:]]
        self.E_psi = ops.E_psi.dense()
        self.one = np.eye(len(self.E_psi))
        self.psi = np.linalg.inv(self.one - self.E_psi)
        self.a, self.b = np.array(ops.a), np.array(ops.b)

    def evaluate(self, psi_times, psi_transposed_times):
        K, P, H, Dinv, G, ephi = self.matrices
        z = psi_times(K @ self.T + P @ self.a + self.b)
        nu = Dinv @ (self.T - H @ z)
        alpha = psi_transposed_times(H.T @ nu + self.a)
        return nu - G.T @ (ephi.T @ alpha)

    def psi_at_hand(self):
        return self.evaluate(lambda x: self.psi @ x, lambda x: self.psi.T @ x)

    def psi_solved_for(self):
        rest = self.one - self.E_psi
        return self.evaluate(
            lambda x: np.linalg.solve(rest, x), lambda x: np.linalg.solve(rest.T, x)
        )

    def psi_formed(self):
        psi = np.linalg.inv(self.one - self.E_psi)
        return self.evaluate(lambda x: psi @ x, lambda x: psi.T @ x)


def best(calls, seconds=0.3, rounds=5):
    """Best time of each call, measured in turns."""
    found = dict.fromkeys(calls, np.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            end = time.perf_counter() + seconds / rounds
            while True:
                start = time.thread_time()
                call()
                found[name] = min(found[name], time.thread_time() - start)
                if time.perf_counter() > end:
                    break
    return found


def report_growth():
    cases = {n: Lazy(n) for n in SIZES}
    for what in ("psi_x", "forward_dynamics"):
        times = best({n: getattr(case, what) for n, case in cases.items()}, seconds=1.0)
        print(what.replace("_", " "))
        for n, seconds in times.items():
            print(
                f"  {n:>7} bodies  {1e6 * seconds:10.1f} µs  {1e9 * seconds / n:8.1f} ns per body"
            )
        print(f"  100,000 bodies take {times[100_000] / times[10_000]:.1f} times what 10,000 take")


def report_dense():
    lazy, full = Lazy(DENSE), Dense(DENSE)
    reference = np.asarray(lazy.forward_dynamics())
    for way in (full.psi_at_hand, full.psi_solved_for, full.psi_formed):
        assert np.allclose(way(), reference, rtol=1e-6, atol=1e-6 * abs(reference).max())
    calls = {
        "operators": lazy.forward_dynamics,
        "dense, ψ at hand": full.psi_at_hand,
        "dense, ψ solved for": full.psi_solved_for,
        "dense, ψ formed": full.psi_formed,
    }
    times = best(calls, seconds=1.5)
    print(f"forward dynamics, {DENSE} bodies")
    for name, seconds in times.items():
        ratio = seconds / times["operators"]
        print(f"  {name:<20} {1e6 * seconds:10.1f} µs  {ratio:8.1f} times")


if __name__ == "__main__":
    report_growth()
    report_dense()
