"""Inverse kinematics beside a plain loop over Pinocchio's Jacobian, in one run.

    python benchmarks/inverse_kinematics.py [COUNT]

Both solve the same random reachable targets, the poses of frames at random positions within the
joints' limits, from the neutral position, to 1e-10 in m and rad. The loop over Pinocchio is damped
least squares as its examples write it, with steps cut off at the limits and random restarts.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pinocchio as pin

import skodyn as sk

ROBOTS = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
CASES = (
    ("Panda, hand", "panda_description/urdf/panda.urdf", "fixed", ("panda_hand_tcp",)),
    (
        "Talos, feet and hands",
        "talos_data/robots/talos_reduced.urdf",
        "free",
        ("left_sole_link", "right_sole_link", "gripper_left_base_link", "gripper_right_base_link"),
    ),
)
TOLERANCE = 1e-10


def random_states(model, rng, count):
    """Positions within the limits; a free root anywhere near the origin."""
    states = np.array([model.random_state(rng)[0] for _ in range(count)])
    for name, limit in model.limits.items():
        lower, upper = max(limit.lower, -np.pi), min(limit.upper, np.pi)
        states[:, model.q_slice(name)] = rng.uniform(lower, upper, (count, 1))
    return states


class Loop:
    """Damped least squares over Pinocchio's Jacobian, one target after the other."""

    def __init__(self, path, root, frames):
        base = [pin.JointModelFreeFlyer()] if root == "free" else []
        self.model = pin.buildModelFromUrdf(str(path), *base)
        self.data = self.model.createData()
        self.frames = [self.model.getFrameId(name) for name in frames]
        self.lower, self.upper = self.model.lowerPositionLimit, self.model.upperPositionLimit
        if root == "free":
            self.lower[:7], self.upper[:7] = -np.inf, np.inf
        self.rng = np.random.default_rng(0)

    def errors(self, q, targets):
        pin.forwardKinematics(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        parts = [
            pin.log6(self.data.oMf[f].actInv(t)).vector
            for f, t in zip(self.frames, targets, strict=True)
        ]
        return np.concatenate(parts)

    def search(self, q, targets):
        for _ in range(200):
            error = self.errors(q, targets)
            if np.abs(error).max() <= TOLERANCE:
                return q
            J = np.concatenate(
                [pin.computeFrameJacobian(self.model, self.data, q, f) for f in self.frames]
            )
            damped = J @ J.T + (1e-3 * (error @ error) + 1e-14) * np.eye(len(J))
            q = pin.integrate(self.model, q, J.T @ np.linalg.solve(damped, error))
            q = np.clip(q, self.lower, self.upper)
        return None

    def solve(self, targets):
        q = pin.neutral(self.model)
        for _ in range(50):
            found = self.search(np.clip(q, self.lower, self.upper), targets)
            if found is not None:
                return True
            q = pin.neutral(self.model)
            low, high = np.maximum(self.lower, -1.0), np.minimum(self.upper, 1.0)
            start = 7 if self.model.joints[1].nq == 7 else 0
            q[start:] = self.rng.uniform(low[start:], np.maximum(high, low)[start:])
        return False


def main(count):
    for title, file, root, frames in CASES:
        path = ROBOTS / file
        model = sk.load(path, root=root, mimic="independent")
        rng = np.random.default_rng(0)
        poses = sk.frame_poses(model, random_states(model, rng, count), list(frames))
        targets = {name: poses[:, k] for k, name in enumerate(frames)}
        sk.inverse_kinematics(model, {name: pose[:16] for name, pose in targets.items()})
        sk.frame_poses(model, np.repeat(model.neutral()[None], 20_000, axis=0), list(frames))
        sk.jacobian(model, np.repeat(model.neutral()[None], 20_000, axis=0), frames[0])
        began = time.perf_counter()
        found = sk.inverse_kinematics(model, targets)
        ours = time.perf_counter() - began
        outside = sum(
            int(((found.q[:, s] < limit.lower) | (found.q[:, s] > limit.upper)).sum())
            for name, limit in model.limits.items()
            for s in [model.q_slice(name)]
        )
        print(
            f"{title}: skodyn {found.solved.sum()} of {count} to {TOLERANCE:g}, {outside} outside "
            f"limits, {1e3 * ours / count:.3g} ms each ({found.iterations.mean():.1f} steps)"
        )
        few = min(count, 200)
        loop = Loop(path, root, frames)
        began = time.perf_counter()
        solved = sum(loop.solve([pin.SE3(one) for one in poses[k]]) for k in range(few))
        theirs = time.perf_counter() - began
        print(
            f"{title}: a loop over Pinocchio's Jacobian {solved} of {few}, "
            f"{1e3 * theirs / few:.3g} ms each; skodyn takes a "
            f"{theirs / few / (ours / count):.2g}th of it"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
