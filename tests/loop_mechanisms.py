"""Random mechanisms that are closed by construction, at a random state, seeded.

A tree, q and pairs of bodies are drawn; frame B of a closing joint is placed where the joint puts
it at some position of its own freedom, so the loop is closed at q to rounding. A loop that would
leave its group no freedom is kept only now and then, one that is nearly singular never.
"""

from __future__ import annotations

from functools import cache, cached_property

import numpy as np

import naive
import naive_loops
import skodyn as sk
from loop_references import Mechanism

EPS = np.finfo(float).eps
SINGLE = ("revolute", "prismatic", "helical")
STYLES = ("spatial", "spatial", "planar", "floating", "twice", "chain")
WEAKEST = 1e-3  # of a mechanism's largest singular value; below lies rounding only


# ---- trees --------------------------------------------------------------------------------------


def named(bodies):
    for k, body in enumerate(bodies):
        body["name"], body["joint_name"] = f"b{k}", f"j{k}"
        body["joint"].pop("name", None)
    return bodies


def about_z(rng):
    return naive.axis_rotation((0, 0, 1), rng.uniform(-np.pi, np.pi))


def planar_tree(rng, n, floating):
    """Hinges about one direction and sliders across it, on the ground, a turned body or a flier."""
    bodies = naive.random_bodies(rng, n, ["revolute"], branching=0.4)
    place = naive.base_to_tips(bodies)
    number = {k: i for i, k in enumerate(place)}
    bodies = [bodies[k] for k in place]
    for i, body in enumerate(bodies):
        body["parent"] = 0 if i and body["parent"] == -1 else number.get(body["parent"], -1)
        body["rotation"] = about_z(rng)
        slides = rng.random() < 0.15
        axis = about_z(rng)[0] if slides else np.array([0.0, 0, 1])
        body["joint"] = {"kind": "prismatic" if slides else "revolute", "axis": axis}
    bodies[0]["rotation"] = naive.quaternion_matrix(naive.random_unit(rng, 4))
    bodies[0]["joint"] = {"kind": "free" if floating else "fixed"}
    return bodies


def spatial_tree(rng, n, floating, branching):
    kinds = [kind for kind in naive.KINDS if kind not in ("free", "fixed")]
    bodies = naive.random_bodies(rng, n, kinds * 3 + ["free", "fixed"], branching=branching,
                                 rotors=(0.0, 0.5)[int(rng.integers(2))])  # fmt: skip
    if floating:
        base = naive.base_to_tips(bodies)[0]
        bodies[base]["joint"] = {"kind": "free"}
        for body in bodies:
            if body["parent"] == -1 and body is not bodies[base]:
                body["parent"] = base
    return bodies


# ---- loops --------------------------------------------------------------------------------------


def closing_joint(rng, kind, planar):
    """A closing joint and its own position; in a plane its axes are those that leave it motion."""
    if kind == "rod":
        return {"kind": "rod", "length": float(rng.uniform(0.2, 1.0))}, None
    joint = naive.random_joint(rng, kind)
    z, flat = np.array([0.0, 0, 1]), about_z(rng)[0]
    if planar and kind == "prismatic":
        joint["axis"] = flat
    elif planar and kind in ("revolute", "cylindrical", "helical"):
        joint["axis"] = z
    elif planar and kind == "universal":
        joint["axis1"], joint["axis2"] = z, flat
    elif planar and kind == "planar":
        joint["x_axis"], joint["y_axis"] = flat, np.cross(z, flat)
    if kind == "helical":  # so steep a pitch that turns and lengths weigh alike
        joint["pitch"] = float(rng.choice((-1, 1)) * rng.uniform(0.2, 0.6))
    carrier = [{"joint": joint}]
    q = naive.random_state(rng, carrier)[0]
    if planar and kind == "universal":
        q[1] = 0.0
    if planar and kind == "spherical":
        q = naive.quaternion_exp(z * q[0])
    if planar and kind == "translation":
        q[2] = 0.0
    return joint, q


def placed(rng, poses, ends, joint, at, planar):
    """The loop of a joint between two bodies, its frames where it is closed."""
    R, p = poses
    pair = [(np.eye(3), np.zeros(3)) if k == -1 else (R[k], p[k]) for k in ends]
    spread = np.array([0.4, 0.4, 0.4 if joint["kind"] == "rod" or not planar else 0.0])
    rotation_a = about_z(rng) if planar else naive.quaternion_matrix(naive.random_unit(rng, 4))
    translation_a = rng.normal(size=3) * spread
    RA, xA = pair[0][0] @ rotation_a, pair[0][1] + pair[0][0] @ translation_a
    if joint["kind"] == "rod":
        turn, apart = np.eye(3), joint["length"] * naive.random_unit(rng)
    else:
        turn, apart, _ = naive.joint_kinematics(joint, at)
    RB, xB = RA @ turn, xA + RA @ apart
    return {
        "a": ends[0], "b": ends[1], "joint": joint, "rotation_a": rotation_a,
        "translation_a": translation_a, "rotation_b": pair[1][0].T @ RB,
        "translation_b": pair[1][0].T @ (xB - pair[1][1]),
    }  # fmt: skip


def coupling(rng, bodies, q, taken):
    """A relation of joints with one coordinate that holds at q, or None."""
    free = [k for k, b in enumerate(bodies) if b["joint"]["kind"] in SINGLE]
    followers = [k for k in free if k not in taken]
    if not followers or len(free) < 2:
        return None
    first = int(rng.choice(followers))
    value = {k: q[naive.offsets(bodies)[0][k]][0] for k in free}
    others = [k for k in free if k != first]
    if rng.random() < 0.5:
        source = int(rng.choice(others))
        degree = int(rng.integers(1, 5))
        c = [0.0, *(rng.normal(size=degree) / 3.0 ** np.arange(degree)).tolist()]
        c[0] = float(value[first] - naive_loops.polynomial(c, value[source]))
        taken.add(first)
        return {"joints": [first, source], "coefficients": c}
    chosen = [int(k) for k in rng.permutation([k for k in others if k not in taken])[:2]]
    if not chosen:
        return None
    joints = [first, *chosen]
    taken.update(joints)
    factors = (rng.choice((-1, 1), len(joints)) * rng.uniform(0.5, 2.0, len(joints))).tolist()
    offset = float(sum(f * value[k] for f, k in zip(factors, joints, strict=True)))
    return {"joints": joints, "factors": factors, "offset": offset}


# ---- judgement ----------------------------------------------------------------------------------


def group_freedom(made, G):
    """What is left to the group of the last constraint, and whether singular values have a gap."""
    count = len(made.loops) + len(made.couplings)
    cycles = [naive_loops.cycle(made, i) for i in range(count)]
    group, grown = set(cycles[-1]), True
    while grown:
        merged = group.union(*[c for c in cycles if c & group])
        grown, group = merged != group, merged
    v_slices = naive.offsets(made.bodies)[1]
    columns = [i for k in sorted(group) for i in range(v_slices[k].start, v_slices[k].stop)]
    if all(v_slices[k].start == v_slices[k].stop for k in cycles[-1]):
        return -1, False  # nothing moves between the ends: skodyn refuses such a loop
    sigma = np.linalg.svd(G, compute_uv=False)
    rounding = naive_loops.weakest(sigma)
    clear = (sigma[sigma > rounding] > WEAKEST * sigma[0]).all()
    rank = np.linalg.matrix_rank(G[:, columns], rounding)
    return len(columns) - int(rank), bool(clear)


def add(made, q, candidate, locked):
    """Take a constraint up if what remains is sound; locked: also if nothing can move any more."""
    into = made.loops if "a" in candidate else made.couplings
    into.append(candidate)
    rest, clear = group_freedom(made, naive_loops.jacobian(made, q))
    if rest < 0 or not clear or (rest == 0 and not locked):
        into.pop()
        return False
    return True


def ends_of(rng, n, style, made):
    """Two bodies; now and then one of an earlier loop, so that loops share and nest."""
    b = int(rng.integers(n))
    if made.loops and rng.random() < 0.5:
        b = max(made.loops[int(rng.integers(len(made.loops)))][end] for end in "ab")
    a = -1 if style not in ("planar", "floating") and rng.random() < 0.3 else b
    while a == b:
        a = int(rng.integers(n))
    return (a, b) if rng.random() < 0.8 else (b, a)


class Case(Mechanism):
    """A random mechanism with skodyn's model and everything in packed order."""

    def __init__(self, seed):
        rng = np.random.default_rng([18, seed])
        self.style, self.seed = STYLES[seed % len(STYLES)], seed
        planar = self.style in ("planar", "floating")
        loops, n = 1 + seed // len(STYLES) % 6, int(rng.integers(4, 9))
        n += 2 * loops if planar else loops
        if planar:
            bodies = planar_tree(rng, n, self.style == "floating")
        else:
            floating = rng.random() < 0.4
            bodies = spatial_tree(rng, n, floating, 0.0 if self.style == "chain" else 0.6)
        bodies = named(bodies)
        q, v = naive.random_state(rng, bodies)
        made = naive_loops.mechanism(bodies)
        poses = naive.forward_kinematics(bodies, q)
        locked = rng.random() < 0.12
        for _ in range(40 * loops):
            if len(made.loops) >= loops:
                break
            kind = str(rng.choice(naive_loops.CLOSING))
            joint, at = closing_joint(rng, kind, planar)
            ends = ends_of(rng, n, self.style, made)
            loop = placed(rng, poses, ends, joint, at, planar)
            if add(made, q, loop, locked) and self.style == "twice":
                joint, at = closing_joint(rng, kind, planar)
                again = placed(rng, poses, ends, joint, at, planar)
                add(made, q, again if rng.random() < 0.6 else dict(loop), locked)
        taken: set[int] = set()
        for _ in range(int(rng.integers(3)) if seed % 2 else 0):
            relation = coupling(rng, bodies, q, taken)
            if relation is not None:
                add(made, q, relation, locked)
        for i, loop in enumerate(made.loops):
            loop["name"] = f"loop{i}"
        for i, relation in enumerate(made.couplings):
            relation["name"] = f"coupling{i}"
        gravity = rng.normal(scale=6.0, size=3)
        v = naive_loops.project_velocity(made, q, v)
        tau = rng.normal(scale=3.0, size=len(v))
        super().__init__(bodies, made.loops, made.couplings, gravity, q, v, tau)
        self.f_ext = rng.normal(scale=3.0, size=(n, 6))
        self.rng = rng

    @cached_property
    def built(self):
        return self.model

    @cached_property
    def solution(self):
        """Forward dynamics under tau and f_ext by the twin, list order."""
        return naive_loops.forward_dynamics(
            self.twin, self.q, self.v, self.tau, self.gravity, self.f_ext
        )

    @cached_property
    def kappa(self):
        """How much rounding may grow: in solving with X*𝓜X, and in finding X and G⁺."""
        solved = np.linalg.cond(self.solution.D) if len(self.solution.D) else 1.0
        sigma, rank = self.solution.parts.sigma, self.solution.parts.rank
        return solved * (sigma[0] / sigma[rank - 1] if rank else 1.0)

    @cached_property
    def speed_up(self):
        """A size for accelerations: what all terms of v̇ come to before they cancel."""
        s = self.solution
        forces = np.abs(self.tau) + np.abs(s.bias) + np.abs(s.M) @ np.abs(s.x_p)
        strength = np.linalg.norm(np.linalg.inv(s.D), 2) if len(s.D) else 0.0
        moved = min(np.linalg.norm(s.vdot), strength * np.linalg.norm(forces))
        return moved + np.linalg.norm(s.x_p)


@cache
def case_of(seed) -> Case:
    return Case(seed)


# ---- what skodyn returns ------------------------------------------------------------------------


def of_loop(model: sk.Model, values, name: str) -> np.ndarray:
    """What belongs to a loop in (…, loops, 6), or to a coupling in (…, couplings)."""
    if name in model.loops:
        return np.asarray(values)[..., list(model.loops).index(name), :]
    return np.asarray(values)[..., list(model.couplings).index(name)]
