"""Poses of frames and of all bodies beside forward dynamics of the same arm.

    python benchmarks/frame_poses.py

An arm of seven revolute joints, one state at a time and 10,000 together on one thread. The calls
alternate, and of each the best of many rounds counts, in processor time: on a machine that others
use, ratios mean more than microseconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import skodyn as sk

ROUNDS = 40


def arm() -> sk.Model:
    """Seven joints, with axes along z and y by turns, and a frame at the tip."""
    b = sk.ModelBuilder(name="arm of seven")
    parent = "world"
    for k in range(7):
        joint = sk.Revolute(axis=((0, 0, 1), (0, 1, 0))[k % 2])
        solid = {"mass": 2.0, "com": (0.01, 0.02, 0.1), "inertia": (0.1, 0.1, 0.05)}
        b.add_body(f"link{k}", parent, joint, translation=(0, 0, 0.3), **solid)
        parent = f"link{k}"
    b.add_frame("tool", parent, translation=(0, 0, 0.1))
    return b.build()


def best(calls: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Processor time of each call in µs: the best of rounds in which they take turns."""
    found = dict.fromkeys(calls, np.inf)
    for call in calls.values():
        call()
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.process_time()
            for _ in range(repeats):
                call()
            found[name] = min(found[name], 1e6 * (time.process_time() - start) / repeats)
    return found


def calls_for(model: sk.Model, count: int | None) -> dict[str, Callable[[], Any]]:
    states = () if count is None else (count,)
    rng = np.random.default_rng(0)
    q, v, tau = (rng.normal(size=(*states, 7)) for _ in range(3))
    vdot, pose = np.empty((*states, 7)), np.empty((*states, 4, 4))
    threads = {} if count is None else {"threads": 1}
    poses = sk.forward_kinematics(model, q, **threads)
    return {
        "forward dynamics, out=": lambda: sk.forward_dynamics(
            model, q, v, tau, out=vdot, **threads
        ),
        "forward dynamics": lambda: sk.forward_dynamics(model, q, v, tau, **threads),
        "one frame, out=": lambda: sk.frame_poses(model, q, "tool", out=pose, **threads),
        "one frame": lambda: sk.frame_poses(model, q, "tool", **threads),
        "all bodies, out=": lambda: sk.forward_kinematics(model, q, out=poses, **threads),
        "all bodies": lambda: sk.forward_kinematics(model, q, **threads),
    }


def main() -> None:
    model = arm()
    for count, repeats in ((None, 1000), (10_000, 1)):
        found = best(calls_for(model, count), repeats)
        print("one state" if count is None else f"{count} states")
        for name, time_of in found.items():
            beside = "forward dynamics" + (", out=" if name.endswith("out=") else "")
            print(f"  {name:24} {time_of:9.2f} µs  {time_of / found[beside]:5.2f}")


if __name__ == "__main__":
    main()
