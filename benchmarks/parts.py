"""Hybrid dynamics and systems of parts beside the plain sweep: `python benchmarks/parts.py`.

Times are the least of several repetitions, warm; ratios are of times in this one run.
"""

from __future__ import annotations

import sys
import timeit

import numpy as np

import skodyn as sk

SIZES = (1_000, 10_000, 100_000)
INNER = (0.15, 0.25, 0.4)
"""Shares of the chain that the inner of two parts has."""


def chain(n: int) -> sk.Model:
    """n links hinged about random axes."""
    axes = np.random.default_rng(0).normal(size=(n, 3))
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    made, parent = sk.ModelBuilder(name=f"chain of {n}"), "world"
    for k in range(n):
        made.add_body(
            f"b{k}", parent, sk.Revolute(axis=axes[k]), translation=(0, 0, 0.1), mass=1.0,
            com=(0, 0, 0.05), inertia=(0.01, 0.01, 0.01),
        )  # fmt: skip
        parent = f"b{k}"
    return made.build()


def state(model: sk.Model) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    q, v = model.random_state(rng)
    return q, 0.01 * v, rng.normal(size=model.nv)


def least(call, budget: float = 0.4) -> float:
    """Seconds for a call, the least of as many as fit in the budget."""
    call()
    once = max(timeit.timeit(call, number=1), 1e-6)
    number = max(1, int(0.02 / once))
    repeat = max(3, int(budget / (once * number)))
    return min(timeit.repeat(call, number=number, repeat=repeat)) / number


def hybrid() -> None:
    """Hybrid beside forward dynamics, on a chain of 100 and as the chain grows."""
    print("hybrid dynamics: joints driven, µs, µs of forward dynamics, ratio (median of 9)")
    model = chain(100)
    q, v, tau = state(model)
    out, both = np.empty(100), np.empty((2, 100))
    for step in (100, 3, 1):
        names = list(model.joint_names[::step])
        pairs = [
            (
                least(lambda: sk.hybrid_dynamics(model, q, v, tau, tau, names, out=both), 0.1),  # noqa: B023
                least(lambda: sk.forward_dynamics(model, q, v, tau, out=out), 0.1),
            )
            for _ in range(9)
        ]
        ratio = np.median([a / b for a, b in pairs])
        a, b = min(p[0] for p in pairs), min(p[1] for p in pairs)
        print(f"  {len(names):4} {1e6 * a:8.2f} {1e6 * b:8.2f} {ratio:6.2f}")


def divide() -> None:
    """Two parts of one chain on two threads, beside the plain sweep."""
    print("bodies, ms of the plain sweep, ms of hybrid dynamics; then share of the inner part: ms")
    for n in SIZES:
        model = chain(n)
        q, v, tau = state(model)
        plain = least(lambda: sk.forward_dynamics(model, q, v, tau))  # noqa: B023
        names = tuple(model.joint_names[::3])
        mixed = least(lambda: sk.hybrid_dynamics(model, q, v, tau, tau, names))  # noqa: B023
        print(f"  {n:7} {1e3 * plain:9.3f} {1e3 * mixed:9.3f}", end="  ", flush=True)
        for share in INNER:
            parts = sk.cut(model, [f"b{int(share * n)}"])
            toggle = [tau, tau + 1e-9]

            def call(
                parts=parts, toggle=toggle, q=q, v=v, threads=2
            ):  # nothing may be taken from before
                toggle.reverse()
                q[0] = -q[0]
                parts.forward_dynamics(q, v, toggle[0], threads=threads)

            print(f"{share}: {1e3 * least(call):.3f}", end="; ", flush=True)
            if share == 0.25:
                alone = least(lambda call=call: call(threads=1))
                print(f"{share} on one thread: {1e3 * alone:.3f}", end="; ", flush=True)
        print(flush=True)


if __name__ == "__main__":
    chosen = sys.argv[1:] or ["hybrid", "divide"]
    for name in chosen:
        {"hybrid": hybrid, "divide": divide}[name]()
