"""Derivatives beside Pinocchio's, and how log det 𝓜 by Fixman's method grows with a chain.

    python benchmarks/derivatives.py            # a minute or two
    python benchmarks/derivatives.py --quick

Both libraries take turns on one core, warm, called from Python; the best of many turns counts.
A batch is 256 states on one thread, time per state: its turn is then as short as the others', so
that noise hits all alike. With 4096 states of the humanoid the results are 142 MB, and their way to
memory is measured, too; that has a row of its own.
"""

import argparse
import os
import time

import numpy as np
import pinocchio as pin

import skodyn as sk
from compare import CORES, race, table
from models import MODELS, chain, pinocchio_model
from skodyn import interop

BATCH, LARGE_BATCH = 256, 4096
NAMES = ("arm 7", "humanoid", "chain 100")


class Case:
    """A model in both libraries at one random state, and a batch of states."""

    def __init__(self, name, batch):
        self.model = MODELS[name]()
        self.pin_model = pinocchio_model(self.model)
        self.data = self.pin_model.createData()
        rng = np.random.default_rng(1)
        self.q, self.v = self.model.random_state(rng)
        self.v *= 0.1
        self.tau = rng.normal(size=self.model.nv)
        self.peer = (
            *interop.to_pinocchio_state(self.model, self.pin_model, self.q, self.v),
            interop.to_pinocchio_force(self.model, self.pin_model, self.q, self.tau),
        )
        states = [self.model.random_state(rng) for _ in range(batch)]
        self.qs, self.vs = (np.array(column) for column in zip(*states, strict=True))
        self.taus = rng.normal(size=(batch, self.model.nv))

    def algorithms(self):
        """(name, one state, batch, Pinocchio)."""
        m, nv, b = self.model, self.model.nv, len(self.qs)
        one, many = (self.q, self.v, self.tau), (self.qs, self.vs, self.taus)
        three, two, single = (np.empty((b, *s, nv, nv)) for s in ((3,), (2,), ()))
        pm, data, peer = self.pin_model, self.data, self.peer
        return [
            (
                "forward dynamics derivatives",
                lambda: sk.forward_dynamics_derivatives(m, *one),
                lambda: sk.forward_dynamics_derivatives(m, *many, out=three, threads=1),
                lambda: pin.computeABADerivatives(pm, data, *peer),
            ),
            (
                "inverse dynamics derivatives",
                lambda: sk.inverse_dynamics_derivatives(m, *one),
                lambda: sk.inverse_dynamics_derivatives(m, *many, out=two, threads=1),
                lambda: pin.computeRNEADerivatives(pm, data, *peer),
            ),
            (
                "inverse mass matrix",
                lambda: sk.mass_matrix_inverse(m, self.q),
                lambda: sk.mass_matrix_inverse(m, self.qs, out=single, threads=1),
                lambda: pin.computeMinverse(pm, data, peer[0]),
            ),
        ]


def compare_with_pinocchio(cases, turns):
    """A table of all algorithms for (name of a model, states in a batch)."""
    rows = []
    for name, batch in cases:
        case = Case(name, batch)
        for algorithm, one, many, peer in case.algorithms():
            best = race({"one": one, "batch": many, "pinocchio": peer}, turns)
            ours, theirs = best["one"] * 1e6, best["pinocchio"] * 1e6
            each = best["batch"] * 1e6 / len(case.qs)
            rows.append(
                (name, algorithm, batch, f"{theirs:.1f}", f"{ours:.1f}", f"{each:.2f}",
                 f"{theirs / ours:.2f}", f"{theirs / each:.1f}")
            )  # fmt: skip
    header = (
        "model",
        "algorithm",
        "batch",
        "Pinocchio µs",
        "one µs",
        "batch µs",
        "one ×",
        "batch ×",
    )
    table(header, rows)


def bead_chain(n):
    """n point masses on bonds of 1 m, each with two axes across its bond; the first is free."""
    builder = sk.ModelBuilder(name=f"beads {n}", gravity=(0, 0, 0))
    point = {"mass": 1.0, "inertia": (0, 0, 0)}
    builder.add_body("bead0", "world", sk.Translation(), **point)
    for k in range(1, n):
        builder.add_body(
            f"bead{k}",
            f"bead{k - 1}",
            sk.Universal(axis1=(0, 1, 0), axis2=(0, 0, 1)),
            translation=(1.0 if k > 1 else 0.0, 0, 0),
            com=(1, 0, 0),
            **point,
        )
    return builder.build()


def growth(turns):
    """Milliseconds at 10,000 and 100,000 links, and their ratio.

    Each function runs by itself, many times in a row, the lengths in turns: what another one leaves
    in the caches is no part of its growth, and noise hits both lengths alike.

    The recursions find so many point masses on universal joints singular: docs/fixman.md.
    """
    rows = []
    for name, make in (("rigid bodies", chain), ("point masses", bead_chain)):
        cases = [growing(make, n) for n in (10_000, 100_000)]
        for what in cases[0]:
            short, long = race({i: cases[i][what] for i in (0, 1)}, turns, at_least=0.1).values()
            rows.append(
                (name, what, f"{short * 1e3:.1f}", f"{long * 1e3:.1f}", f"{long / short:.1f}")
            )
    table(("chain of", "what", "10,000: ms", "100,000: ms", "ratio"), rows)


def growing(make, n):
    """What is measured of a chain of n, by name."""
    model = make(n)
    q = np.random.default_rng(2).uniform(-0.9, 0.9, model.nq)
    b = np.ones(model.nv)
    calls = {
        "log det, Fixman": lambda: sk.fixman.mass_matrix_logdet(model, q),
        "solve, Fixman": lambda: sk.fixman.mass_matrix_solve(model, q, b),
    }
    if make is chain:
        calls["log det, recursion"] = lambda: sk.mass_matrix_logdet(model, q)
        calls["solve, recursion"] = lambda: sk.mass_matrix_solve(model, q, b)
        found = sk.fixman.mass_matrix_logdet(model, q), sk.mass_matrix_logdet(model, q)
        assert abs(found[0] - found[1]) < 1e-10 * abs(found[1]), found
    return calls


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer turns and models")
    quick = parser.parse_args().quick
    start = time.perf_counter()
    os.sched_setaffinity(0, CORES[:1])
    cases = [(name, BATCH) for name in (NAMES[:2] if quick else NAMES)]
    compare_with_pinocchio(cases, 8 if quick else 60)
    if not quick:
        compare_with_pinocchio([("humanoid", LARGE_BATCH)], 20)
    print()
    growth(3 if quick else 8)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
