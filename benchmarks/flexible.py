"""What flexible bodies cost beside rigid ones: forward dynamics of chains, one state, one core.

    python benchmarks/flexible.py

Processor time, best of several; a chain of 100 hinged beams, each on the tip of the one before.
"""

from __future__ import annotations

import time

import numpy as np

import skodyn as sk

LENGTH = 0.2
HINGE = sk.Revolute(axis=(0, 0, 1))
KINDS = {
    "4 modes": ({"y": 2, "z": 2}, False),
    "4 modes, slaves": ({"y": 2, "z": 2}, True),
    "8 modes": ({"y": 4, "z": 4}, False),
    "8 modes, slaves": ({"y": 4, "z": 4}, True),
}


def chain(bodies: int, modes: dict[str, int] | None, stiffening: bool = False) -> sk.Model:
    """Rigid bars without modes, beams with them."""
    builder = sk.ModelBuilder()
    parent = "world"
    for k in range(bodies):
        if modes is None:
            builder.add_body(
                f"b{k}", parent, HINGE, translation=(LENGTH if k else 0.0, 0, 0), mass=LENGTH,
                com=(LENGTH / 2, 0, 0), inertia=(1e-3, 1e-3, 1e-3),
            )  # fmt: skip
        else:
            beam = sk.Beam(
                LENGTH, mass_per_length=1.0, bending_stiffness=50.0, rotary_inertia=1e-4,
                modes=modes, stiffening=stiffening,
            )  # fmt: skip
            builder.add_body(f"b{k}", parent, HINGE, flexible=beam, at="tip" if k else None)
        parent = f"b{k}"
    return builder.build()


def seconds(model: sk.Model, calls: int, tries: int = 15) -> float:
    """Of one call."""
    q, v = model.random_state(np.random.default_rng(0))
    tau, out = np.zeros(model.nv), np.empty(model.nv)
    sk.forward_dynamics(model, q, v, tau, out=out)  # compiles
    best = np.inf
    for _ in range(tries):
        start = time.process_time()
        for _ in range(calls):
            sk.forward_dynamics(model, q, v, tau, out=out)
        best = min(best, (time.process_time() - start) / calls)
    return float(best)


def main() -> None:
    rigid = seconds(chain(100, None), 200)
    print(f"rigid            {rigid * 1e7:7.0f} ns a body")
    for name, (modes, stiffening) in KINDS.items():
        found = seconds(chain(100, modes, stiffening), 100)
        print(f"{name:16} {found * 1e7:7.0f} ns a body, {found / rigid:.1f} rigid ones")
    for bodies in (10, 100, 1000):
        found = seconds(chain(bodies, {"y": 2, "z": 2}), max(5, 2000 // bodies))
        print(f"4 modes, {bodies:4} bodies: {found / bodies * 1e9:5.0f} ns a body")


if __name__ == "__main__":
    main()
