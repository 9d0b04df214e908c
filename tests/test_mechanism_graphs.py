"""Mechanisms given as links and joints in any order: whatever is cut, the bodies move alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import naive_loops
import skodyn as sk
from exploring import examples
from loop_mechanisms import case_of
from loop_references import NAMES, Mechanism, joint, reference
from skodyn.model.mechanisms.mechanism_graph import Edge, carriers
from skodyn.topology.spanning import breadth_first
from test_model_faults import GARBAGE, SOUND

EPS = np.finfo(float).eps
HINGE = sk.Revolute()


# ---- mechanisms as graphs -----------------------------------------------------------------------


def axes_of(seed: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Axes in which a link is described; the ground has its own, and seed 0 leaves all as is."""
    if name == "world" or not seed:
        return np.eye(3), np.zeros(3)
    rng = np.random.default_rng([seed, *name.encode()])
    return naive.quaternion_matrix(naive.random_unit(rng, 4)), rng.normal(size=3)


def graph_of(made: Mechanism, seed: int = 0, order: Any = None) -> sk.ModelBuilder:
    """Bodies as links, joints of bodies and of loops as joints, each link in its own axes."""
    b = sk.ModelBuilder(gravity=made.gravity)
    for body in made.bodies:
        R, p = axes_of(seed, body["name"])
        com, inertia = R @ body["com"] + p, R @ body["inertia"] @ R.T
        b.add_link(body["name"], mass=body["mass"], com=com, inertia=inertia)
    joints = joints_of(made)
    for k in range(len(joints)) if order is None else order:
        name, bodies, kind, frames = joints[k]
        placed = {}
        for end, body, (Q, x) in zip("ab", bodies, frames, strict=True):
            R, p = axes_of(seed, body)
            placed |= {f"rotation_{end}": R @ Q, f"translation_{end}": R @ x + p}
        b.add_joint(name, *bodies, kind, **placed)
    for c in made.couplings:
        names = [made.bodies[k]["joint_name"] for k in c["joints"]]
        if "coefficients" in c:
            b.add_coupling(c["name"], *names, c["coefficients"])
        else:
            b.add_coupling(c["name"], terms=dict(zip(names, c["factors"], strict=True)),
                           offset=c["offset"])  # fmt: skip
    return b


def joints_of(made: Mechanism) -> list[Any]:
    """(name, its two bodies, joint, frames in them): of the bodies, then of the loops."""
    still = (np.eye(3), np.zeros(3))
    found = [
        (body["joint_name"], (made.body_name(body["parent"]), body["name"]), joint(body["joint"]),
         ((body["rotation"], body["translation"]), still))
        for body in made.bodies
    ]  # fmt: skip
    return found + [
        (x["name"], (made.body_name(x["a"]), made.body_name(x["b"])), joint(x["joint"]),
         ((x["rotation_a"], x["translation_a"]), (x["rotation_b"], x["translation_b"])))
        for x in made.loops
    ]  # fmt: skip


def position(kind: Any, R: np.ndarray, d: np.ndarray) -> np.ndarray:
    """The coordinates of a joint from the pose of frame B in frame A."""

    def angle(u: Any, turn: np.ndarray) -> float:
        skew = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
        return float(np.arctan2(u @ skew, np.trace(turn) - 1))

    axes = [np.array(u if any(u) else t) for u, t in kind.twists()]
    if kind.type_name == "fixed":
        return np.zeros(0)
    if kind.type_name in ("spherical", "free"):
        at = d if kind.type_name == "free" else ()
        return np.array([*quaternion(R), *at])
    if kind.type_name == "prismatic" or kind.type_name == "translation":
        return np.array([u @ d for u in axes])
    if kind.type_name == "helical":
        return np.array([axes[0] @ d / kind.pitch])
    if kind.type_name == "planar":
        return np.array([axes[0] @ d, axes[1] @ d, angle(axes[2], R)])
    if kind.type_name == "universal":
        u, w = axes
        first = np.arctan2(u @ np.cross(w, R @ w), w @ R @ w - (u @ w) ** 2)
        return np.array([first, angle(w, naive.axis_rotation(u, -first) @ R)])
    return np.array([angle(axes[0], R), *([axes[0] @ d] * (kind.nv - 1))])


def quaternion(R: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(
        np.block([
            [np.array([[np.trace(R)]]), skew_part(R)[None]],
            [skew_part(R)[:, None], R + R.T - np.trace(R) * np.eye(3)],
        ])
    )  # fmt: skip
    return vectors[:, np.argmax(values)]


def skew_part(R: np.ndarray) -> np.ndarray:
    return np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])


@dataclass
class Seen:
    """A mechanism in a state of its own model: what its bodies do, by their names."""

    made: Mechanism

    def __post_init__(self) -> None:
        self.model = self.made.model
        self.q, self.v, _ = self.made.state(self.model)
        rotations, origins = sk.forward_kinematics(self.model, self.q)
        self.pose = {"world": (np.eye(3), np.zeros(3))} | {
            name: (rotations[k], origins[k]) for k, name in enumerate(self.model.body_names)
        }
        self.joints = {name: rest for name, *rest in joints_of(self.made)}

    def state_in(self, model: sk.Model) -> tuple[np.ndarray, np.ndarray]:
        """q by the poses of bodies; v by their velocities, which joints of a tree give uniquely."""
        q = np.empty(model.nq)
        for name in model.joint_names:
            bodies, kind, frames = self.joints[name]
            A, B = (
                (R @ Q, x + R @ y)
                for (R, x), (Q, y) in zip((self.pose[b] for b in bodies), frames, strict=True)
            )
            q[model.q_slice(name)] = position(kind, A[0].T @ B[0], A[0].T @ (B[1] - A[1]))
        J, moving = centre_jacobian(model, q), centre_jacobian(self.model, self.q)
        v = np.linalg.lstsq(J, moving @ self.v, rcond=None)[0]
        return q, v


def centre_jacobian(model: sk.Model, q: np.ndarray) -> np.ndarray:
    """Rows by body, in the order of their names: how it turns, and how its centre moves."""
    rows = [sk.jacobian(model, q, name, com) for name, com in centres(model)]
    return np.concatenate(rows)


def centres(model: sk.Model) -> list[tuple[str, np.ndarray]]:
    return sorted(zip(model.body_names, model.com, strict=True), key=lambda pair: pair[0])


def motion(
    model: sk.Model, q: np.ndarray, v: np.ndarray, tau: Any, solved: Any = sk.forward_dynamics
) -> np.ndarray:
    """Accelerations of all bodies, at their centres, and the energies."""
    vdot = solved(model, q, v, tau)
    drift = [sk.jacobian_dot_v(model, q, v, name, com) for name, com in centres(model)]
    energy = np.ravel(sk.energy(model, q, v))
    return np.concatenate((centre_jacobian(model, q) @ vdot + np.concatenate(drift), energy))


def torques(model: sk.Model, other: sk.Model) -> np.ndarray:
    """Some force along each coordinate that both models have; armature stands in both."""
    tau = np.zeros(model.nv)
    for name in set(model.joint_names) & set(other.joint_names):
        s = model.v_slice(name)
        tau[s] = np.random.default_rng([*name.encode()]).normal(size=s.stop - s.start)
    return tau


def as_naive(x: Any) -> dict[str, Any]:
    return {"kind": x.type_name} | {
        f.name: getattr(x, f.name) for f in fields(x) if f.name != "name"
    }


def dense_dynamics(model: sk.Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """By the naive twin, from what the model says of itself; bodies in its order."""
    number = {name: k for k, name in enumerate(("world", *model.body_names), start=-1)}
    columns = ("rotation", "translation", "mass", "com", "inertia")
    bodies = [
        {"parent": int(model.tree.parent[k]), "joint": as_naive(model.joints[k])}
        | {key: getattr(model, key)[k] for key in columns}
        for k in range(model.n_bodies)
    ]
    loops = [
        {f.name: getattr(x, f.name) for f in fields(x) if f.name[:4] in ("rota", "tran")}
        | {"a": number[x.body_a], "b": number[x.body_b], "joint": as_naive(x.joint)}
        for x in model.loops.values()
    ]
    couplings = [
        {"joints": [model.joint_names.index(name) for name in x.joints]}
        | ({"coefficients": x.coefficients} if x.coefficients else
           {"factors": x.factors, "offset": x.offset})
        for x in model.couplings.values()
    ]  # fmt: skip
    twin = naive_loops.mechanism(bodies, loops, couplings)
    still = np.zeros((model.n_bodies, 6))
    return naive_loops.forward_dynamics(twin, q, v, tau, model.gravity, still).vdot


def assert_alike(
    seen: Seen, model: sk.Model, tolerance: float, solved: Any = sk.forward_dynamics
) -> None:
    q, v = seen.state_in(model)
    ours = motion(model, q, v, torques(model, seen.model), solved)
    theirs = motion(seen.model, seen.q, seen.v, torques(seen.model, model), solved)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * (1 + np.abs(theirs).max()))


# ---- the same motion ----------------------------------------------------------------------------


def four_bar() -> Mechanism:
    return reference("02_four_bar")


def names_of(made: Mechanism) -> list[str]:
    return [name for name, *_ in joints_of(made)]


def test_a_four_bar_moves_alike_in_every_order_and_cut_anywhere():
    seen = Seen(four_bar())
    names = names_of(seen.made)
    for k, (order, cut) in enumerate(product(permutations(range(4)), [(), *zip(names)])):
        model = graph_of(seen.made, 1 + k, order).build(cut=cut)
        assert set(model.loops) == set(names) - set(model.joint_names)
        assert not cut or set(model.loops) == set(cut)
        assert_alike(seen, model, 1e-12)


def turned_over(made: Mechanism, which: Any, seed: int) -> sk.ModelBuilder:
    """The graph, where some joints have body_a and body_b the other way round: q changes sign."""
    b = graph_of(made, seed)
    for k in which:
        x = b.joints[k]
        b.joints[k] = type(x)(x.name, x.body_b, x.body_a, x.joint, x.translation_b, x.rotation_b,
                              x.translation_a, x.rotation_a)  # fmt: skip
    return b


def test_a_four_bar_moves_alike_whichever_way_round_its_joints_are_given():
    seen = Seen(four_bar())
    names = names_of(seen.made)
    for which in [set(c) for n in range(5) for c in combinations(range(4), n)]:
        for cut in names:
            model = turned_over(seen.made, which, 7).build(cut=[cut])
            plain = graph_of(seen.made, 7).build(cut=[cut])
            q, v = seen.state_in(plain)
            tau = np.arange(1.0, 4.0)
            flip = np.empty(3)
            for name in model.joint_names:
                sign = -1.0 if names.index(name) in which else 1.0
                flip[model.v_slice(name)] = sign
            same = [model.joint_names.index(name) for name in plain.joint_names]
            ours = np.empty(3), np.empty(3), np.empty(3)
            for packed, values in zip(ours, (q, v, tau), strict=True):
                packed[same] = values
            found = motion(model, *(flip * x for x in ours))
            np.testing.assert_allclose(found, motion(plain, q, v, tau), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("10")])
def test_references_move_alike_when_the_builder_chooses_the_cuts(name: str):
    seen = Seen(reference(name))
    order = np.random.default_rng(4).permutation(len(joints_of(seen.made)))
    model = graph_of(seen.made, 3, order).build()
    assert len(model.loops) == len(seen.made.loops)
    assert_alike(seen, model, 1e-10)


@pytest.mark.parametrize("seed", range(120))
def test_random_mechanisms_move_alike_when_the_builder_chooses_the_cuts(seed: int):
    case = case_of(seed)
    seen = Seen(case)
    order = np.random.default_rng(seed).permutation(len(joints_of(case)))
    welds = [loop["name"] for loop in case.loops if loop["joint"]["kind"] == "fixed"]
    model = graph_of(case, 1 + seed, order).build(cut=welds)  # some are there twice
    for solved in (dense_dynamics, sk.forward_dynamics):
        assert_alike(seen, model, 100 * EPS * case.kappa, solved)


def depths(model: sk.Model) -> list[int]:
    parent = np.asarray(model.tree.parent)
    found: list[int] = []
    for k in range(model.n_bodies):
        found.append(1 if parent[k] < 0 else found[parent[k]] + 1)
    return found


def test_trees_are_shallow_unless_told_otherwise():
    made = reference("10_ring_100")
    assert max(depths(graph_of(made).build())) == 50
    assert max(depths(graph_of(made).build(cut=["pin"]))) == 100


# ---- the same model -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_references_cut_at_their_loops_are_the_same_models(name: str):
    made = reference(name)
    cut = [loop["name"] for loop in made.loops]
    bodies = len(made.bodies)
    order = [*np.random.default_rng(5).permutation(bodies), *range(bodies, bodies + len(cut))]
    assert graph_of(made, order=order).build(cut=cut) == made.model


@pytest.mark.parametrize("seed", range(12))
def test_random_trees_with_every_joint_are_the_same_models(seed: int):
    case = case_of(seed)
    tree = Mechanism(case.bodies, [], [], case.gravity, case.q, case.v)
    order = np.random.default_rng(seed).permutation(len(case.bodies))
    assert graph_of(tree, order=order).build() == tree.model


def test_a_builder_is_not_changed_and_may_be_cut_again():
    b = graph_of(four_bar(), 2)
    whole = [list(x) for x in (b.bodies, b.loops, b.links, b.joints)]
    first, other, again = b.build(cut=["pin"]), b.build(cut=["crank"]), b.build()
    assert first == again != other
    assert whole == [list(x) for x in (b.bodies, b.loops, b.links, b.joints)]


# ---- a joint seen from its other side -----------------------------------------------------------

TWO_WAY = [
    sk.Revolute((1, -2, 0.5)),
    sk.Prismatic((0, 0, 1), armature=0.3),
    sk.Helical((1, 1, 0), pitch=-0.2),
    sk.Cylindrical((0.3, 0, 1)),
    sk.Fixed(),
]


@pytest.mark.parametrize("kind", TWO_WAY, ids=lambda kind: kind.type_name)
def test_a_turned_joint_keeps_q(kind: Any):
    """Frame B seen from frame A is where the joint puts it, whichever of the two is carried."""
    rng = np.random.default_rng(8)
    Q, x = naive.quaternion_matrix(naive.random_unit(rng, 4)), rng.normal(size=3)
    P, y = naive.quaternion_matrix(naive.random_unit(rng, 4)), rng.normal(size=3)
    plain = sk.ModelBuilder()
    plain.add_body("arm", joint=kind, **SOUND)
    b = sk.ModelBuilder()
    b.add_link("arm", mass=1.0, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.25))
    b.add_joint("hinge", "arm", "world", kind, translation_a=x, rotation_a=Q, translation_b=y,
                rotation_b=P)  # fmt: skip
    model = b.build()
    assert model.joint_names == ("hinge",)
    q = rng.normal(size=model.nq)
    (turn,), (shift,) = sk.forward_kinematics(plain.build(), q)
    (R,), (p,) = sk.forward_kinematics(model, q)  # of frame A
    np.testing.assert_allclose(R @ turn, P, atol=1e-14)
    np.testing.assert_allclose(p + R @ shift, y, atol=1e-14)
    np.testing.assert_allclose(model.com[0], Q.T @ ([0.1, 0.2, 0.3] - x), atol=1e-15)
    np.testing.assert_allclose(model.inertia[0], Q.T @ np.diag([0.1, 0.2, 0.25]) @ Q, atol=1e-16)


# ---- what hangs on links ------------------------------------------------------------------------


def arm(turned: bool) -> sk.Model:
    """A link with a body, a frame and a loop on it, described in its axes or in its joint's."""
    Q, x = axes_of(9, "arm") if turned else (np.eye(3), np.zeros(3))

    def at(*y: float) -> Any:
        return Q @ np.array(y) + x

    b = sk.ModelBuilder()
    b.add_frame("tip", "arm", translation=at(1, 2, 3), rotation=Q)
    b.add_loop("rope", "world", "arm", sk.Rod(4.0), translation_b=at(0, 0, 1))
    b.add_body("hand", "arm", sk.Revolute(), translation=at(0, 1, 0), rotation=Q, **SOUND)
    b.add_link("arm", mass=2.0, com=at(0.5, 0, 0), inertia=Q @ np.diag([1.0, 2, 2.5]) @ Q.T)
    b.add_link("finger", **SOUND)
    b.add_joint("knuckle", "hand", "finger", sk.Prismatic(), translation_a=(0, 0, 1))
    b.add_joint("ball", "world", "arm", sk.Spherical(), translation_b=x, rotation_b=Q)
    return b.build()


def test_what_is_placed_in_a_link_stays_where_it_was_put():
    one, other = arm(False), arm(True)
    assert one.body_names == other.body_names == ("arm", "hand", "finger")
    assert one.joint_names == ("ball", "hand", "knuckle")
    assert list(one.loops) == ["rope"]
    np.testing.assert_allclose(other.parameters, one.parameters, atol=1e-14)
    np.testing.assert_allclose(other.frames["tip"].translation, (1, 2, 3), atol=1e-14)
    np.testing.assert_allclose(other.frames["tip"].rotation, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(other.loops["rope"].translation_b, (0, 0, 1), atol=1e-14)


def test_a_rotation_that_was_rounded_to_nine_digits_twice_is_still_one():
    b = sk.ModelBuilder()
    Q = naive.axis_rotation((1, 0, 0), 1.0) + 3e-10 * np.ones((3, 3))
    b.add_link("arm", **SOUND)
    b.add_link("hand", **SOUND)
    b.add_joint("hinge", "world", "arm", HINGE, rotation_a=Q.T, rotation_b=Q)
    b.add_joint("wrist", "arm", "hand", HINGE, rotation_a=Q)
    assert b.build().nv == 2


# ---- choices ------------------------------------------------------------------------------------


def linked(*joints: Any, links: str = "abc", **options: Any) -> sk.ModelBuilder:
    """Links by letters; joints as (name, body_a, body_b, joint), "w" stands for the world."""
    b = sk.ModelBuilder(**options)
    for name in links:
        b.add_link(name, **SOUND)
    for k, (name, one, two, *rest) in enumerate(joints):
        ends = ("world" if end == "w" else end for end in (one, two))
        kind = rest[0] if rest else HINGE
        b.add_joint(name, *ends, kind, translation_a=(k, 1, 0), translation_b=(0, k, 0))
    return b


def tree_of(b: sk.ModelBuilder, **options: Any) -> dict[str, str]:
    """Which joint carries each body."""
    model = b.build(**options)
    return dict(zip(model.body_names, model.joint_names, strict=True))


def test_two_joints_between_the_same_bodies_are_a_tree_joint_and_a_loop():
    b = linked(("left", "w", "a"), ("right", "w", "a", sk.Cylindrical()), links="a")
    assert tree_of(b) == {"a": "left"}
    assert list(b.build().loops) == ["right"]
    assert tree_of(b, cut=["left"]) == {"a": "right"}


def test_a_forest_hangs_on_the_ground():
    b = linked(("j1", "a", "w"), ("j2", "w", "b"), ("j3", "b", "c"), ("j4", "w", "d", sk.Free()),
               ("j5", "d", "e"), links="ecabd")  # fmt: skip
    assert tree_of(b) == {"a": "j1", "b": "j2", "c": "j3", "d": "j4", "e": "j5"}


def test_the_lighter_of_two_equally_short_ways_is_taken():
    """So a Stewart platform is cut at its balls."""
    b = linked(("ball", "a", "c", sk.Spherical()), ("hinge", "b", "c"), ("j1", "w", "a"),
               ("j2", "w", "b"))  # fmt: skip
    assert tree_of(b)["c"] == "hinge"


def test_welds_carry_unless_they_would_lock_another_joint():
    weld = sk.Fixed()
    b = linked(("hinge", "a", "c"), ("weld", "b", "c", weld), ("j1", "w", "a"), ("j2", "w", "b"))
    assert tree_of(b)["c"] == "weld"
    b = linked(("hinge", "w", "a"), ("weld", "w", "a", weld), ("more", "w", "a", weld), links="a")
    assert tree_of(b) == {"a": "hinge"}
    b = linked(("j1", "w", "a", weld), ("j2", "a", "b"), ("j3", "b", "w", weld), links="ab")
    assert list(b.build().loops) == ["j3"]
    b = linked(("ball", "a", "w", sk.Spherical()), ("weld", "w", "a", weld), links="a")
    assert faults_of(b)[0].startswith("Loop 'ball': body_a 'a' and body_b 'world' cannot move")


def test_a_ball_is_not_turned_while_there_is_another_way():
    """The way through b is longer, but q of a ball belongs to body_b."""
    b = linked(("ball", "a", "w", sk.Spherical()), ("j1", "w", "b"), ("j2", "b", "a"), links="ab")
    assert tree_of(b) == {"a": "j2", "b": "j1"}
    assert list(b.build().loops) == ["ball"]


def test_free_joints_and_those_with_armature_or_coupling_are_never_cut():
    motor = sk.Revolute(armature=0.1)
    ring = [("j1", "w", "a"), ("j2", "a", "b"), ("j3", "b", "c"), ("j4", "c", "w")]
    b = linked(*ring)
    assert list(b.build().loops) == ["j3"]
    ring[2] = ("j3", "b", "c", motor)
    assert list(linked(*ring).build().loops) == ["j2"]
    ring[1] = ("j2", "a", "b", motor)
    assert list(linked(*ring).build().loops) == ["j4"]
    ring[3] = ("j4", "c", "w", motor)
    assert list(linked(*ring).build().loops) == ["j1"]
    b = linked(("j1", "w", "a"), ("j2", "a", "b"), ("j3", "w", "b", sk.Free()), links="ab")
    assert list(b.build().loops) == ["j2"]
    b = linked(("j1", "w", "a"), ("j2", "a", "b"), ("j3", "b", "c"), ("j4", "c", "w"))
    b.add_coupling("gear", "j3", "j1", (0, 2))
    assert list(b.build().loops) == ["j2"]


def test_rods_close_loops_whatever_the_order():
    b = linked(("rod", "w", "a", sk.Rod(0.5)), ("j1", "w", "a"), links="a")
    assert tree_of(b) == {"a": "j1"}
    assert list(b.build().loops) == ["rod"]


def test_a_stewart_platform_hangs_on_a_leg_if_nothing_else_carries_it():
    made = reference("08_stewart")
    seen = Seen(made)
    seen.joints = {name: seen.joints[name] for name in seen.joints if name != "platform"}
    b = graph_of(made, 6)
    b.joints = [x for x in b.joints if x.name != "platform"]
    if b.joints[-1].body_a == "platform":  # q of a ball is that of body_b
        b.joints = [swapped(x) if x.body_a == "platform" else x for x in b.joints]
        seen.joints = {
            name: [rest[0][::-1], rest[1], rest[2][::-1]] if rest[0][0] == "platform" else rest
            for name, rest in seen.joints.items()
        }
    model = b.build()
    assert len(model.loops) == 5
    assert model.nv == 6 * 3 + 3
    assert sk.assemble(model, seen.state_in(model)[0]).mobility == 6
    assert_alike(seen, model, 1e-11)


def swapped(x: Any) -> Any:
    return type(x)(x.name, x.body_b, x.body_a, x.joint, x.translation_b, x.rotation_b,
                   x.translation_a, x.rotation_a)  # fmt: skip


# ---- the search ---------------------------------------------------------------------------------


def random_edges(rng: Any, n: int, count: int, plain: bool) -> list[Edge]:
    edges = []
    for _ in range(count):
        a, b = (int(k) for k in rng.choice(n, 2, replace=False))
        if plain:
            edges.append(Edge(a, b, False, 0.0, 0.0, 1))
        else:
            to_a = np.inf if a == 0 else float(rng.random() < 0.5)
            edges.append(Edge(a, b, rng.random() < 0.3, to_a, np.inf * (b == 0) if b == 0 else 0.0,
                              int(rng.integers(3))))  # fmt: skip
    return edges


@pytest.mark.parametrize("seed", range(40))
def test_without_wishes_the_search_is_that_of_spanning_trees(seed: int):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    edges = random_edges(rng, n, int(rng.integers(0, 3 * n)), plain=True)
    left_out = {k for k in range(len(edges)) if rng.random() < 0.2}
    ends = [(edge.a, edge.b) for edge in edges]
    assert carriers(n, edges, left_out) == breadth_first(n, ends, [0], left_out)[1]


def walked(edges: list[Edge], chosen: Any, n: int) -> dict[int, int] | None:
    """The edge to each node in the tree of some edges, or None if they are none."""
    through, waiting = {0: -1}, [0]
    while waiting:
        here = waiting.pop()
        for k in chosen:
            edge = edges[k]
            if here in edge[:2] and k != through[here]:
                other = edge.b if edge.a == here else edge.a
                if other in through:
                    return None
                through[other] = k
                waiting.append(other)
    return through if len(through) == n else None


def turned_count(edges: list[Edge], through: dict[int, int]) -> float:
    ways = ((edges[k], node) for node, k in through.items() if k >= 0)
    return sum(edge.to_a if edge.a == node else edge.to_b for edge, node in ways)


@pytest.mark.parametrize("seed", range(400))
def test_the_search_finds_a_tree_that_turns_and_cuts_nothing_wrongly_if_there_is_one(seed: int):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    edges = random_edges(rng, n, int(rng.integers(n - 1, 8)), plain=False)
    kept = {k for k, edge in enumerate(edges) if edge.kept}
    every = (walked(edges, some, n) for some in combinations(range(len(edges)), n - 1)
             if kept <= set(some))  # fmt: skip
    costs = [turned_count(edges, through) for through in every if through is not None]
    found = dict(enumerate(carriers(n, edges)))
    reached = -2 not in found.values()
    sound = reached and kept <= set(found.values()) and turned_count(edges, found) == 0.0
    assert sound == (0.0 in costs)
    if costs and min(costs) < np.inf:
        assert reached  # and what must be turned is said


# ---- faults -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Own(sk.Revolute):
    """A joint of one's own, of which no rows are known."""


def square(**kinds: Any) -> sk.ModelBuilder:
    """w → a → b → c → w by hinges j1 … j4, or by other joints."""
    ends = (("j1", "w", "a"), ("j2", "a", "b"), ("j3", "b", "c"), ("j4", "c", "w"))
    return linked(*((*end, kinds.get(end[0], HINGE)) for end in ends))


def with_coupling() -> sk.ModelBuilder:
    b = square()
    b.add_coupling("gear", "j3", "j1", (0, 2))
    return b


def with_body(*joints: Any, **body: Any) -> sk.ModelBuilder:
    b = linked(*joints, links="a")
    b.add_body(**{"name": "hand", "parent": "a", "joint": HINGE, **SOUND, **body})
    return b


def with_loop(name: str) -> sk.ModelBuilder:
    b = square()
    b.add_loop(name, "world", "b", sk.Rod(1.0))
    return b


MOTOR = sk.Revolute(armature=0.1)
ROUND = "give body_a and body_b the other way round"
FAULTS: list[tuple[Callable[[], sk.ModelBuilder], Any, tuple[str, ...]]] = [
    (square, "j1", ("cut is 'j1'; give a list of joints' names, for example cut=['pin'].",)),
    (square, 5, ("cut is 5; give a list of joints' names, for example cut=['pin'].",)),
    (square, ["j44"], ("There is no joint 'j44' to cut; did you mean 'j4'?",)),
    (square, [7], ("There is no joint 7 to cut; name one that add_joint was given.",)),
    (lambda: arm_alone(), ["elbow"],
     ("There is no joint 'elbow' to cut; name one that add_joint was given.",)),
    (lambda: square(j2=MOTOR), ["j2"],
     ("Joint 'j2' cannot be cut, because it has armature 0.1; cut another one.",)),
    (lambda: square(j1=sk.Free()), ["j1"],
     ("Joint 'j1' cannot be cut, because it is free and closes nothing; cut another one.",)),
    (lambda: square(j1=Own()), ["j1"],
     ("Joint 'j1' cannot be cut, because it is Own(armature=0.0, axis=(0.0, 0.0, 1.0), name=None), "
      "of which no rows are known; cut another one.",)),
    (with_coupling, ["j3"],
     ("Joint 'j3' cannot be cut, because coupling 'gear' needs its coordinate; cut another one.",)),
    (square, ["j1", "j3"], ("Nothing carries links 'a' and 'b' without joints 'j1' and 'j3'; cut "
                            "fewer joints.",)),
    (lambda: linked(("j1", "w", "a"), links="a"), ["j1"],
     ("Nothing carries link 'a' without joint 'j1'; cut fewer joints.",)),
    (lambda: linked(("j1", "w", "a"), ("j2", "b", "c")), (),
     ("Nothing carries links 'b' and 'c': no joint leads to them from 'world'; join them to "
      "'world' or to a body that is, by Free() if nothing holds them.",)),
    (lambda: linked(("j1", "w", "a"), ("rod", "a", "b", sk.Rod(1.0)), links="ab"), (),
     ("Nothing carries link 'b': no joint leads to it from 'world' (a rod carries nothing); join "
      "it to 'world' or to a body that is, by Free() if nothing holds it.",)),
    (lambda: with_body(("j1", "w", "hand")), (),
     ("Nothing carries link 'a': no joint leads to it from 'world'; join it to 'world' or to a "
      "body that is, by Free() if nothing holds it.",)),
    (lambda: linked(("ball", "a", "w", sk.Spherical()), links="a"), (),
     (f"Joint 'ball': it carries its body_a 'a', but the coordinates of a spherical joint are "
      f"those of body_b; {ROUND}.",)),
    (lambda: linked(("float", "a", "w", sk.Free()), links="a"), (),
     (f"Joint 'float': it carries its body_a 'a', but the coordinates of a free joint are those "
      f"of body_b; {ROUND}.",)),
    (lambda: square(j4=sk.Universal()), ["j1"],
     (f"Joint 'j4': it carries its body_a 'c', but the coordinates of a universal joint are those "
      f"of body_b; {ROUND}, or cut another joint.",)),
    (lambda: square(j1=MOTOR, j2=MOTOR, j3=MOTOR, j4=MOTOR), (),
     ("Joint 'j3' cannot close the loop that it makes with 'j1', 'j2' and 'j4', because it has "
      "armature 0.1, and none of those can be cut instead; change one of them.",)),
    (lambda: with_body(("j1", "w", "a"), ("j2", "w", "hand", MOTOR)), (),
     ("Joint 'j2' cannot close the loop that it makes with 'j1', because it has armature 0.1, and "
      "none of those can be cut instead; change one of them.",)),
    (lambda: linked(("j1", "w", "a"), ("j1", "w", "b"), links="ab"), (),
     ("Joint 'j1': 2 of them have this name; give each its own.",)),
    (lambda: linked(("j1", "w", "a"), links="aa"), (),
     ("Link 'a': 2 of them have this name; give each its own.",)),
    (lambda: linked(("j1", "w", "a"), ("world", "w", "b"), links=["a", "b", ""]), (),
     ("Link number 3 has an empty name (''); give it one.",
      "Joint 'world' has the name of the ground; rename it.")),
    (lambda: with_body(("j1", "w", "a"), name="a", parent="world"), (),
     ("Link 'a' has the name of a body; rename one of them.",)),
    (lambda: with_body(("hand", "w", "a")), (),
     ("Joint 'hand' has the name of the joint of body 'hand'; rename one of them.",)),
    (lambda: with_loop("j2"), (), ("Joint 'j2' has the name of a loop; rename one of them.",)),
    (lambda: square(j2=sk.Revolute(name="motor")), (),
     ("Joint 'j2', revolute joint: name is 'motor', but a joint between links goes by the name "
      "that add_joint was given; take it away.",)),
    (lambda: linked(("j1", "w", "a"), ("j2", "arm", "a"), ("j3", "a", 3), links="a"), (),
     ("Joint 'j2': body_a is 'arm', which is not a body; name a link or a body, or 'world'.",
      "Joint 'j3': body_b is 3, which is not a body; name a link or a body, or 'world'.")),
    (lambda: linked(("j1", "w", "a"), ("j2", "a", "a"), links="a"), (),
     ("Joint 'j2': body_a and body_b are both 'a'; join two different bodies.",)),
    (lambda: square(j2="hinge"), (),
     ("Joint 'j2': joint is 'hinge'; give a joint such as Revolute(axis=(0, 0, 1)).",)),
    (lambda: square(j2=sk.Revolute((0, 0, 0)), j3=sk.Rod(-1.0)), (),
     ("Joint 'j2', revolute joint: axis (0.0, 0.0, 0.0) has zero length; give a direction "
      "such as (0, 0, 1).",
      "Joint 'j3', rod joint: length is -1; give a length greater than zero, in metres.")),
]  # fmt: skip


def arm_alone() -> sk.ModelBuilder:
    b = sk.ModelBuilder()
    b.add_body("arm", joint=sk.Revolute(name="elbow"), **SOUND)
    return b


def faults_of(b: sk.ModelBuilder, cut: Any = ()) -> tuple[str, ...]:
    with pytest.raises(sk.ModelError) as caught:
        b.build(cut=cut)
    return tuple(map(str, caught.value.faults))


@pytest.mark.parametrize(("made", "cut", "sentences"), FAULTS)
def test_faults_have_exactly_these_sentences(made: Any, cut: Any, sentences: tuple[str, ...]):
    assert faults_of(made(), cut) == sentences


def test_all_faults_are_said_at_once():
    b = linked(("j1", "w", "a"), ("j2", "b", "a"), links="ab", name="")
    b.add_link("c", mass=-1.0, com=(0, 0), inertia=(1, 1, 5))
    b.add_joint("j3", "a", "b", HINGE, translation_a=(0, np.nan, 0), rotation_b=(2, 0, 0, 0))
    b.add_body("hand", "arm", HINGE, mass="heavy")
    b.add_frame("tip", "d")
    b.add_loop("rope", "world", "a", sk.Rod(0.0))
    assert faults_of(b, ["j4"]) == (
        "The model has an empty name (''); give it one.",
        "Body 'hand': there is no parent 'arm'; name a body of the model, or 'world'.",
        "Joint 'j3': translation_a is [0.0, nan, 0.0], which is not finite; give ordinary SI "
        "values.",
        "Joint 'j3': rotation_b is (2, 0, 0, 0), of norm 2; give a unit quaternion (w, x, y, z).",
        "Body 'c': com is (0, 0); give three numbers.",
        "Body 'hand': mass is 'heavy'; give a number.",
        "Body 'c': mass is -1, which is negative; give its mass in kilograms.",
        "Body 'c': inertia violates the triangle inequality: principal moments (1, 1, 5), but "
        "1 + 1 < 5; correct it, or give repair_inertia=True to take the nearest valid one.",
        "Frame 'tip': there is no body 'd' to fix it in; name a body of the model, or 'world'.",
        "Loop 'rope', rod joint: length is 0; give a length greater than zero, in metres.",
    )


def test_faults_of_bodies_without_mass_wait_until_it_is_known_what_they_carry():
    b = linked(("j1", "carriage", "a"), ("j2", "b", "c"))
    b.add_body("carriage", "world", sk.Prismatic())
    (fault,) = faults_of(b)
    assert fault.startswith("Nothing carries links 'b' and 'c'")


@examples(150)
@given(values=st.lists(GARBAGE, min_size=11, max_size=11), which=st.sets(st.integers(0, 10)))
def test_whatever_is_given_is_built_or_refused(values: list[Any], which: set[int]):
    sound = ("j2", "a", "b", HINGE, (0, 0, 0), None, 1.0, (0, 0, 0), (1, 1, 1), ["j2"], "b")
    name, one, two, kind, x, R, mass, com, inertia, cut, link = (
        values[k] if k in which else sound[k] for k in range(11)
    )
    b = linked(("j1", "w", "a"), ("j3", "w", "b"), links="ab")
    b.add_link(link if 10 in which else "d", mass=mass, com=com, inertia=inertia)
    b.add_joint("j4", "world", link if 10 in which else "d", HINGE)
    b.add_joint(name, one, two, kind, translation_a=x, rotation_b=R)
    faults = built_or_faults(b, cut)
    assert all(fault.endswith((".", "?")) for fault in faults)
    assert len(set(faults)) == len(faults)


def built_or_faults(b: sk.ModelBuilder, cut: Any) -> tuple[str, ...]:
    try:
        assert np.isfinite(b.build(cut=cut).parameters).all()
    except sk.ModelError as error:
        return tuple(map(str, error.faults)) or ("none",)
    return ()
