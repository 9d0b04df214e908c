"""Closing loops: references, random mechanisms beside the naive twin, what cannot be closed."""

import numpy as np
import pytest

import loop_references
import naive_loops
import skodyn as sk
from loop_mechanisms import case_of
from skodyn.model.loops.assembly import assemble
from skodyn.model.loops.loop_geometry import constraint_rows
from skodyn.model.loops.loop_samples import closed_samples
from skodyn.model.loops.loop_systems import group_length, loop_systems

Z = sk.Revolute()


def errors(model, q):
    return max(np.abs(rows.g).max() for rows in constraint_rows(model, q))


def ranks(model, q):
    """By dense rows of the whole model, metres and radians as they are."""
    whole = []
    for rows in constraint_rows(model, q):
        part = np.zeros((len(rows.g), model.nv))
        part[:, rows.dofs] = rows.G
        whole.append(part)
    return np.linalg.matrix_rank(np.concatenate(whole), tol=1e-8)


def four_bar(crank=0.3, coupler=0.9, rocker=0.7, ground=1.0, **closing):
    b = sk.ModelBuilder()
    b.add_body("crank", "world", Z, mass=1, com=(0.1, 0, 0))
    b.add_body("coupler", "crank", Z, translation=(crank, 0, 0), mass=1, com=(0.1, 0, 0))
    b.add_body("rocker", "world", Z, translation=(ground, 0, 0), mass=1, com=(0.1, 0, 0))
    joint = closing.pop("joint", Z)
    given = {"translation_a": (coupler, 0, 0), "translation_b": (rocker, 0, 0)} | closing
    b.add_loop("pin", "coupler", "rocker", joint, **given)
    return b.build()


# ---- mechanisms that are known ------------------------------------------------------------------


@pytest.mark.parametrize("name", loop_references.NAMES)
def test_references(name):
    made = loop_references.reference(name)
    model, counts = made.model, made.source["counts"]
    q = made.state(model)[0]
    found = assemble(model, q)
    assert np.array_equal(found.q, q)  # closed already: not a bit is changed
    assert found.mobility == counts["mobility"]
    assert (found.rows, found.rank) == (counts["rows"], counts["rank"])
    assert found.redundant == counts["redundant_rows"]
    assert not found.singular
    for sample in closed_samples(model):
        assert errors(model, sample) < 1e-13
        assert ranks(model, sample) == counts["rank"]


@pytest.mark.parametrize("name", loop_references.NAMES)
@pytest.mark.parametrize("size", [1e-6, 1e-2, 0.1])
def test_references_from_nearby(name, size):
    made = loop_references.reference(name)
    model = made.model
    q = made.state(model)[0]
    rng = np.random.default_rng(3)
    start = model.integrate(q, size * rng.normal(size=model.nv))
    found = assemble(model, start)
    assert errors(model, found.q) < 3e-14
    assert found.rank == made.source["counts"]["rank"]
    for group in loop_systems(model):  # another closed configuration is no nearer
        gone = np.linalg.norm(group.way(start, found.q))
        assert gone <= 1.001 * np.linalg.norm(group.way(start, q))


@pytest.mark.parametrize("seed", range(72))
def test_random_mechanisms(seed):
    """All closing joints, couplings, shared, nested and floating loops; rank by the dense twin."""
    case = case_of(seed)
    model = case.built
    q = case.state(model)[0]
    rank = naive_loops.decompose(naive_loops.jacobian(case.twin, case.q)).rank
    found = assemble(model, q)
    assert found.rank == rank
    assert found.mobility == model.nv - rank
    np.testing.assert_allclose(found.q, q, atol=1e-11)
    start = model.integrate(q, 0.05 * np.random.default_rng(seed).normal(size=model.nv))
    assert errors(model, assemble(model, start).q) < 1e-12
    for sample in closed_samples(model):
        assert errors(model, sample) < 1e-12
        assert ranks(model, sample) == rank


@pytest.mark.parametrize("n", [1, 2, 4, 12])
def test_windows_that_lie_flat_are_singular(n):
    """At neutral all links of A02 lie in one line, where every window may fold over."""
    model = loop_references.n_four_bar(n).model
    found = assemble(model, model.neutral())
    assert found.singular
    assert (found.mobility, found.rank) == (1, 2 * n)
    assert ranks(model, found.q) < 2 * n
    for sample in closed_samples(model):
        assert ranks(model, sample) == 2 * n


def test_long_and_many_loops():
    ring = loop_references.ring(300).model
    found = assemble(ring, closed_samples(ring, 1)[0])
    assert (found.mobility, found.rank) == (298, 2)
    tower = loop_references.ladder(100).model
    found = assemble(tower, closed_samples(tower, 1)[0])
    assert (found.mobility, found.rank, found.redundant) == (100, 200, 300)


def test_no_freedom_is_left():
    b = sk.ModelBuilder()
    b.add_body("a", "world", Z, mass=1)
    b.add_body("b", "world", Z, translation=(1, 0, 0), mass=1)
    b.add_loop("pin", "a", "b", Z, translation_a=(0.6, 0, 0), translation_b=(0.7, 0, 0))
    model = b.build()
    found = assemble(model, [0.5, 2.5])
    assert (found.mobility, found.rank) == (0, 2)
    assert errors(model, found.q) < 1e-15
    samples = closed_samples(model)
    assert all(np.array_equal(sample, samples[0]) for sample in samples)


def test_a_floating_mechanism_does_not_move_as_a_whole():
    b = sk.ModelBuilder()
    b.add_body("base", "world", sk.Free(), mass=1, inertia=np.eye(3))
    for side, y in (("left", 0.2), ("right", -0.2)):
        b.add_body(side, "base", Z, translation=(0, y, 0), mass=1, com=(0.1, 0, 0))
    b.add_body("tip", "left", Z, translation=(0.5, 0, 0), mass=1, com=(0.1, 0, 0))
    b.add_loop("pin", "tip", "right", Z, translation_a=(0.4, 0, 0), translation_b=(0.5, 0, 0))
    model = b.build()
    q = model.random_state(np.random.default_rng(2))[0]
    found = assemble(model, q)
    base = model.q_slice("base")
    assert np.array_equal(found.q[base], q[base])
    assert errors(model, found.q) < 1e-15
    assert found.mobility == 7


def test_couplings_and_sliders():
    b = sk.ModelBuilder()
    b.add_body("pinion", "world", Z, mass=1, inertia=np.eye(3))
    b.add_body("rack", "world", sk.Prismatic(axis=(1, 0, 0)), mass=1)
    b.add_body("arm", "rack", Z, mass=1, com=(0.1, 0, 0))
    b.add_coupling("teeth", terms={"rack": 1.0, "pinion": -0.02}, offset=0.1)
    b.add_coupling("curve", "arm", "pinion", [0.1, -0.5, 0.3])
    model = b.build()
    q = assemble(model, [1.0, 0.3, 0.2]).q
    pinion, rack, arm = (q[model.q_slice(name)][0] for name in ("pinion", "rack", "arm"))
    assert rack - 0.02 * pinion == pytest.approx(0.1, abs=1e-15)
    assert arm == pytest.approx(0.1 - 0.5 * pinion + 0.3 * pinion**2, abs=1e-15)


# ---- nearest, and held --------------------------------------------------------------------------


def test_it_is_the_nearest():
    """Against all positions of the crank, on the same branch."""
    model = four_bar()
    start = np.array([0.7, -0.2, 1.9])
    found = assemble(model, start).q
    distance = np.linalg.norm(found - start)
    least = np.inf
    for crank in np.linspace(found[0] - 0.3, found[0] + 0.3, 121):
        other = assemble(model, [crank, found[1], found[2]], hold=["crank"]).q
        least = min(least, np.linalg.norm(other - start))
    assert distance <= least * (1 + 1e-5)
    assert distance > 0.1


def test_held_joints_keep_their_bits():
    model = four_bar()
    found = assemble(model, [1.0, -0.5, 1.6], hold=("crank",))
    assert found.q[0] == 1.0
    assert errors(model, found.q) < 2e-16
    assert np.array_equal(found.q, assemble(model, [1.0, -0.5, 1.6], hold="crank").q)
    assert not np.array_equal(found.q, assemble(model, [1.0, -0.5, 1.6]).q)
    assert found.mobility == 1  # of the mechanism, not of what is not held


def test_a_start_at_a_saddle_is_left():
    """A stretched chain of two links whose end must come nearer: no slope leads there."""
    b = sk.ModelBuilder()
    b.add_body("a", "world", Z, mass=1)
    b.add_body("b", "a", Z, translation=(1, 0, 0), mass=1)
    b.add_loop("pin", "b", "world", Z, translation_a=(1, 0, 0), translation_b=(1.5, 0, 0))
    model = b.build()
    assert errors(model, assemble(model, [0.0, 0.0]).q) < 1e-15


# ---- refusals -----------------------------------------------------------------------------------


def refusal(kind, function, *given, **named):
    with pytest.raises(kind) as refused:
        function(*given, **named)
    return tuple(map(str, refused.value.faults))


def test_ends_that_cannot_meet():
    model = four_bar(ground=5.0)  # 5 − 0.3 − 0.9 − 0.7 are left
    (fault,) = refusal(sk.StateError, assemble, model, [0.1, 0.1, 3.0])
    assert fault.startswith("Loop 'pin': its ends are 3.1 m apart at best, tried from the given q")
    (fault,) = refusal(sk.ModelError, closed_samples, model)
    assert "Loop 'pin': its ends are 3.1 m apart at best, tried from 100 configurations" in fault


def test_ends_that_cannot_meet_with_a_joint_held():
    model = four_bar(crank=0.5, coupler=0.6, rocker=0.6)
    assemble(model, [0.1, 0.5, 1.0])
    (fault,) = refusal(sk.StateError, assemble, model, [3.1, 0.5, 1.0], hold=["crank"])
    assert "with 'crank' held" in fault
    apart = np.linalg.norm([1 - 0.5 * np.cos(3.1), 0.5 * np.sin(3.1)]) - 1.2
    assert f"{apart:.3g} m apart" in fault


def test_a_coupling_that_cannot_be_met():
    b = sk.ModelBuilder()
    b.add_body("a", "world", Z, mass=1, inertia=np.eye(3))
    b.add_body("b", "world", Z, mass=1, inertia=np.eye(3))
    b.add_coupling("gear", "b", "a", [0.5, 2.0])
    model = b.build()
    (fault,) = refusal(sk.StateError, assemble, model, [1.0, 1.0], hold=["a", "b"])
    assert fault.startswith("Coupling 'gear': its joints miss by 1.5 rad at best")


HALF = np.diag([1.0, -1.0, -1.0])


def test_axes_that_meet_antiparallel():
    model = four_bar(rotation_b=HALF)
    (fault,) = refusal(sk.StateError, assemble, model, [0.5, 0.5, 1.0])
    assert fault.startswith("Loop 'pin': its axes meet antiparallel; turn rotation_b")


@pytest.mark.parametrize("joint", [sk.Fixed(), sk.Translation(), sk.Prismatic(axis=(0, 0, 1))])
def test_frames_that_meet_turned(joint):
    b = sk.ModelBuilder()
    b.add_body("a", "world", sk.Translation(), mass=1)
    b.add_loop("weld", "a", "world", joint, rotation_b=HALF)
    model = b.build()
    (fault,) = refusal(sk.StateError, assemble, model, [0.1, 0.2, 0.3])
    assert fault.startswith("Loop 'weld': its frames meet turned against each other")


@pytest.mark.parametrize("joint", [sk.Fixed(), sk.Revolute(), sk.Cylindrical(), sk.Planar()])
def test_a_start_that_is_turned_by_much_is_turned_back(joint):
    """Products of directions lead to the wrong root from here."""
    b = sk.ModelBuilder()
    b.add_body("a", "world", sk.Free(), mass=1, inertia=np.eye(3))
    b.add_loop("closure", "a", "world", joint)
    model = b.build()
    q = np.array([np.cos(1.4), np.sin(1.4), 0, 0, 0.3, 0.2, 0.1])
    found = assemble(model, q)
    assert errors(model, found.q) < 1e-15
    turn = sk.forward_kinematics(model, found.q)[0][0]
    assert turn[2, 2] == pytest.approx(1.0)


def test_arguments():
    model = four_bar()
    (fault,) = refusal(sk.ModelError, assemble, model, model.neutral(), hold=["cranck"])
    assert "no joint 'cranck'; did you mean 'crank'?" in fault
    faults = refusal(sk.ModelError, assemble, model, model.neutral(), hold=["x1", "x2"])
    assert len(faults) == 2
    (fault,) = refusal(sk.StateError, assemble, model, np.zeros((2, 3)))
    assert "one configuration" in fault


def test_a_tree_is_closed_everywhere():
    model = four_bar().opened
    found = assemble(model, [0.1, 0.2, 0.3])
    assert (found.mobility, found.rows, found.rank, found.singular) == (3, 0, 0, False)
    assert np.array_equal(found.q, [0.1, 0.2, 0.3])


# ---- sizes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_sizes_do_not_matter(size):
    plain = assemble(four_bar(), [0.7, -0.2, 1.9]).q
    model = four_bar(0.3 * size, 0.9 * size, 0.7 * size, size)
    found = assemble(model, [0.7, -0.2, 1.9])
    assert errors(model, found.q) < 3e-16 * size
    np.testing.assert_allclose(found.q, plain, atol=1e-3)
    assert found.rank == 2


def slider_crank(unit):
    b = sk.ModelBuilder()
    b.add_body("crank", "world", Z, mass=1)
    b.add_body("rod", "crank", Z, translation=(0.3 * unit, 0, 0), mass=1)
    b.add_body("slider", "world", sk.Prismatic(axis=(1, 0, 0)), mass=1)
    b.add_loop("pin", "rod", "slider", Z, translation_a=(0.9 * unit, 0, 0))
    return b.build()


def test_units_do_not_matter():
    """Lengths in another unit, a power of two: the same bits, for joints that slide as well."""
    plain = assemble(slider_crank(1.0), [0.5, -0.4, 0.8]).q
    for unit in (1 / 16, 1024.0):
        found = assemble(slider_crank(unit), [0.5, -0.4, 0.8 * unit]).q
        assert np.array_equal(found / [1, 1, unit], plain)


def test_group_length_is_a_power_of_two():
    model = four_bar()
    assert group_length(model, (0, 1, 2), (0,)) == 1.0
    assert group_length(four_bar(ground=0.3, crank=0.1, coupler=0.1), (0, 1, 2), (0,)) == 0.5
    b = sk.ModelBuilder()
    b.add_body("a", "world", Z, mass=1)
    b.add_loop("rod", "a", "world", sk.Rod(3.2))
    assert group_length(b.build(), (0,), (0,)) == 4.0
    b = sk.ModelBuilder()
    b.add_body("a", "world", sk.Free(), mass=1)
    b.add_loop("ball", "a", "world", sk.Spherical())
    assert group_length(b.build(), (0,), (0,)) == 1.0


def test_samples_are_the_same_every_time_and_for_groups_that_are_alike():
    model = loop_references.ladder(6).model
    first, second = closed_samples(model), closed_samples(model)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    for sample in first:
        third, fifth = (
            np.concatenate([sample[model.q_slice(f"{part}{k}")] for part in ("left", "rung")])
            for k in (3, 5)
        )
        assert np.array_equal(third, fifth)
    assert not np.allclose(first[0], first[1])
