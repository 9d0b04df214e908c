"""Systems cut into parts: put together at the cuts they are the whole, to rounding."""

from functools import cache

import numpy as np
import pytest

import naive
import skodyn as sk
from test_dynamics_twin import Case
from test_mimic import Case as MimicCase

EPS = np.finfo(float).eps
SEEDS = range(0, 240, 2)  # those of which all bodies have mass


@cache
def case_of(seed):
    return Case(seed)


def random_parts(case, seed):
    rng = np.random.default_rng([52, seed])
    share = (0.1, 0.3, 0.6, 1.0)[seed % 4]
    return sk.cut(case.model, [n for n in case.model.joint_names if rng.random() < share])


@pytest.mark.parametrize("seed", SEEDS)
def test_random_parts_are_the_whole(seed):
    case = case_of(seed)
    parts, expected = random_parts(case, seed), case.to_v(case.vdot)
    vdot = parts.forward_dynamics(case.q, case.v, case.x, case.f, threads=1 + seed // 2 % 2)
    kappas = [
        np.linalg.cond(sk.mass_matrix(piece.part.model, case.q[piece.coordinates]))
        for piece in parts._pieces.values()
        if piece.part.model.nv
    ]
    bound = 10 * max(case.kappa, *kappas, 1.0) * EPS * max(1.0, case.cancellation / 10)
    assert np.linalg.norm(vdot - expected) <= bound * np.linalg.norm(expected)
    assert parts.recomputed == tuple(parts.parts)


def test_every_joint_has_been_cut_and_parts_are_few_and_many():
    kinds, counts = set(), set()
    for seed in SEEDS:
        parts = random_parts(case_of(seed), seed)
        counts.add(len(parts.parts))
        joints = dict(zip(parts.whole.joint_names, parts.whole.joints, strict=True))
        kinds |= {joints[name].type_name for name in parts.parts if name != "world"}
    assert kinds == set(naive.KINDS)
    assert counts >= set(range(1, 8))


def test_threads_do_not_change_a_bit_and_nothing_is_done_twice():
    case = case_of(28)
    parts = random_parts(case, 28)
    one = parts.forward_dynamics(case.q, case.v, case.x, case.f, threads=1)
    assert parts.recomputed == tuple(parts.parts)
    again = parts.forward_dynamics(case.q, case.v, case.x, case.f, threads=2)
    assert (again == one).all()
    assert parts.recomputed == ()
    fresh = random_parts(case, 28).forward_dynamics(case.q, case.v, case.x, case.f, threads=2)
    assert (fresh == one).all()


def arm(grip=None, links=3):
    b = sk.ModelBuilder(name="arm with a gripper")
    parent = "world"
    for k in range(links):
        b.add_body(
            f"link{k}", parent, sk.Revolute(axis=np.eye(3)[k % 3]), translation=(0.4, 0, 0),
            mass=1.0, com=(0.2, 0, 0), inertia=(0.01, 0.02, 0.02),
        )  # fmt: skip
        parent = f"link{k}"
    for side in (-1, 1):
        b.add_body(
            f"camera{side}", "link1", sk.Revolute(axis=(0, 0, 1)), translation=(0, 0.1 * side, 0),
            mass=0.2, com=(0.05, 0, 0), inertia=(0.001,) * 3,
        )  # fmt: skip
    if grip:
        add_gripper(b, parent, grip)
    return b.build()


def add_gripper(b, parent, mass):
    b.add_body(
        "palm", parent, sk.Revolute(axis=(1, 0, 0), name="wrist"), translation=(0.4, 0, 0),
        mass=mass, com=(0.05, 0, 0), inertia=(0.01,) * 3,
    )  # fmt: skip
    for k in range(2):
        b.add_body(
            f"finger{k}", "palm", sk.Prismatic(axis=(0, 1, 0)), translation=(0.1, 0, 0), mass=0.1
        )


def gripper(mass):
    b = sk.ModelBuilder(name=f"gripper of {mass} kg")
    add_gripper(b, "world", mass)
    return b.build()


def test_another_gripper_leaves_the_other_parts_as_they_were():
    first, second = arm(0.7), arm(2.5)
    q, v = first.random_state(np.random.default_rng(3))
    tau = np.random.default_rng(4).normal(size=first.nv)
    parts = sk.cut(first, ["wrist", "camera1"])
    parts.forward_dynamics(q, v, tau)
    other = parts.replaced("wrist", gripper(2.5))
    vdot = other.forward_dynamics(q, v, tau)
    assert other.recomputed == ("wrist",)
    expected = sk.forward_dynamics(second, q, v, tau)
    kappa = np.linalg.cond(sk.mass_matrix(second, q))
    assert np.linalg.norm(vdot - expected) <= 10 * kappa * EPS * np.linalg.norm(expected)
    assert other.whole.content_hash == second.content_hash
    assert (parts.forward_dynamics(q, v, tau) != vdot).any()
    assert parts.recomputed == ()  # the first gripper is still at hand
    moved = v.copy()
    moved[parts.whole.v_slice("wrist")] += 1.0
    other.forward_dynamics(q, moved, tau)
    assert other.recomputed == ("wrist",)
    other.forward_dynamics(q, moved, tau + 1.0)
    assert set(other.recomputed) == {"world", "wrist", "camera1"}


def test_a_part_is_a_model_of_its_own():
    parts = sk.cut(arm(0.7), ["wrist"])
    assert parts["wrist"].body_names == ("palm", "finger0", "finger1")
    assert parts["world"].n_bodies == 5
    assert repr(parts) == "<Parts of 'arm with a gripper', bodies of each: world: 5, wrist: 3>"
    assert list(sk.cut(arm(), ["link0"]).parts) == ["link0"]


def test_what_cannot_be_cut_or_replaced_is_refused():
    model = arm(0.7)
    with pytest.raises(sk.ModelError) as caught:
        sk.cut(model, ["writs", "camera1", "camera1"])
    assert len(caught.value.faults) == 2
    with pytest.raises(sk.ModelError, match="cuts is 'wrist'; give a list"):
        sk.cut(model, "wrist")
    with pytest.raises(sk.ModelError, match="cut does not take models with mimic joints"):
        sk.cut(MimicCase(1).model, [])
    with pytest.raises(sk.ModelError, match="cut does not take models with loops"):
        sk.cut(sk.load("scenarios/models/four_bar.toml"), [])
    parts = sk.cut(model, ["wrist"])
    with pytest.raises(sk.ModelError, match="There is no part 'elbow'; there are 'world', 'wrist'"):
        parts.replaced("elbow", gripper(1.0))
    with pytest.raises(sk.ModelError, match="'link2'"):
        parts.replaced("world", arm(links=2))
    two = sk.ModelBuilder()
    for k in range(2):
        two.add_body(f"stick{k}", "world", sk.Revolute(axis=(0, 0, 1)), mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(sk.ModelError, match="2 bodies on its ground"):
        parts.replaced("wrist", two.build())
    q, v = model.random_state(np.random.default_rng(0))
    with pytest.raises(sk.StateError, match="one state at a time"):
        parts.forward_dynamics(np.stack([q, q]), v, v)
    with pytest.raises(sk.StateError, match="tau has shape"):
        parts.forward_dynamics(q, v, v[:2])


def test_faults_name_joints_of_the_part_and_leave_no_half_done_work_behind():
    b = sk.ModelBuilder()
    b.add_body("arm", "world", sk.Revolute(axis=(0, 1, 0)), mass=1.0, com=(0.5, 0, 0))
    b.add_body("tip", "arm", sk.Spherical(), translation=(1, 0, 0), mass=1.0, inertia=(1, 1, 1))
    parts = sk.cut(b.build(), ["tip"])
    good = np.array([0.1, 1.0, 0.0, 0.0, 0.0])
    with pytest.raises(sk.StateError, match="'tip'"):
        parts.forward_dynamics(good * [1, 2, 1, 1, 1], np.zeros(4), np.zeros(4))
    vdot = parts.forward_dynamics(good, np.zeros(4), np.zeros(4))
    expected = sk.forward_dynamics(parts.whole, good, np.zeros(4), np.zeros(4))
    assert np.abs(vdot - expected).max() < 1e-13
