"""Joints and packing: every joint type of the catalogue against the dense twin (tests/naive.py),
and the packed arrays against what was described.

Joints are made from the fields of their classes, so a new type in the catalogue is tested without
a change here, as soon as the twin knows its kinematics.
"""

import dataclasses
import pickle
import re
import tracemalloc
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import adapters
import naive
import skodyn as sk
from skodyn.conventions import JointKind
from skodyn.extension import POINT, Row
from skodyn.model import layout
from skodyn.model.inertia_checks import check_inertias, nearest_valid
from skodyn.model.joints import CATALOGUE, CLOSING
from skodyn.model.packing import rotations_from_z_to

DIRECTIONS = {
    "+x": (1.0, 0.0, 0.0),
    "-x": (-1.0, 0.0, 0.0),
    "+y": (0.0, 1.0, 0.0),
    "-y": (0.0, -1.0, 0.0),
    "+z": (0.0, 0.0, 1.0),
    "-z": (0.0, 0.0, -1.0),
    "random 1": naive.random_unit(np.random.default_rng(1)),
    "random 2": naive.random_unit(np.random.default_rng(2)),
}


# ---- systems with one type of joint ---------------------------------------------------------


def arguments_of(joint_type):
    """The names of a joint's directions, which are vectors, and of its numbers."""
    shared = ("name", "armature")  # armature: test_armature.py
    own = [field for field in dataclasses.fields(joint_type) if field.name not in shared]
    axes = [field.name for field in own if isinstance(field.default, tuple)]
    return axes, [field.name for field in own if field.name not in axes]


def describe(rng, type_name, direction):
    """A naive joint: its first axis along the direction, a second one across, other numbers drawn.

    Where the twin's own random joints have slanted axes, they are tested in random systems below.
    """
    axes, numbers = arguments_of(CATALOGUE[type_name])
    assert len(axes) <= 3, "a joint with four axes: say here how they must lie"
    first = np.array(direction)
    across = np.cross(first, naive.random_unit(rng))
    directions = [first, across / np.linalg.norm(across)]
    directions.append(np.cross(*directions))
    drawn = {name: rng.uniform(-0.5, 0.5) for name in numbers}
    return {"kind": type_name, **dict(zip(axes, directions, strict=False)), **drawn}


CASES = [
    (type_name, name)
    for type_name, joint_type in CATALOGUE.items()
    for name in (DIRECTIONS if arguments_of(joint_type)[0] else ["random 1"])
]


@pytest.fixture(scope="module", params=CASES, ids=[" ".join(case) for case in CASES])
def jointed(request):
    """(bodies, model): two bodies on the joint in question, and a third one on a plain hinge."""
    type_name, direction = request.param
    rng = np.random.default_rng(CASES.index(request.param))
    bodies = naive.random_bodies(rng, 3, kinds=["revolute"], branching=0.0)
    hinge = next(k for k, body in enumerate(bodies) if body["parent"] == -1)
    for k, body in enumerate(bodies):
        if k != hinge:
            body["joint"] = describe(rng, type_name, DIRECTIONS[direction])
    return bodies, adapters.build(bodies)


def states(bodies, count, seed=0):
    rng = np.random.default_rng(seed)
    drawn = [naive.random_state(rng, bodies) for _ in range(count)]
    return np.array([q for q, _ in drawn]), np.array([v for _, v in drawn])


def shortened(bodies, dv, limit):
    """dv with the angular velocity of quaternion joints cut to a length below the limit."""
    dv = dv.copy()
    for body, s in zip(bodies, naive.offsets(bodies)[1], strict=True):
        if body["joint"]["kind"] in ("spherical", "free"):
            angular = dv[s.start : s.start + 3]
            angular *= limit / max(limit, np.linalg.norm(angular))
    return dv


def assert_same_configuration(bodies, actual, expected, tolerance):
    """Equal coordinates, quaternions up to sign, relative to the largest."""
    actual = actual.copy()
    for body, s in zip(bodies, naive.offsets(bodies)[0], strict=True):
        if body["joint"]["kind"] in ("spherical", "free"):
            four = slice(s.start, s.start + 4)
            actual[four] *= 1.0 if actual[four] @ expected[four] > 0 else -1.0
    scale = 1 + np.abs(expected).max(initial=0.0)
    assert_allclose(actual, expected, rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-12, 1e-6, 1e-2, 0.3, 1.0, 10.0])
def test_difference_undoes_integrate(jointed, size):
    bodies, model = jointed
    for q, v in zip(*states(bodies, 5), strict=True):
        dv = shortened(bodies, size * v, 0.999 * np.pi)  # beyond π another way is shorter
        q0, step = adapters.to_packed_q(model, bodies, q), adapters.to_packed_v(model, bodies, dv)
        again = model.difference(q0, model.integrate(q0, step))
        # a small step is a difference of coordinates of order one: its error is absolute
        assert_allclose(again, step, rtol=0, atol=1e-12 * (1 + np.abs(step).max()))


def test_integrate_undoes_difference_between_any_two_configurations(jointed):
    bodies, model = jointed
    (starts, _), (ends, _) = states(bodies, 10), states(bodies, 10, seed=1)
    for start, end in zip(starts, ends, strict=True):
        q0, q1 = (adapters.to_packed_q(model, bodies, q) for q in (start, end))
        reached = model.integrate(q0, model.difference(q0, q1))
        reached = adapters.from_packed_q(model, bodies, reached)
        assert_same_configuration(bodies, reached, end, 1e-12)


@pytest.mark.parametrize("size", [1e-9, 1.0, 20.0])
def test_integrate_agrees_with_the_naive_twin(jointed, size):
    bodies, model = jointed
    for q, v in zip(*states(bodies, 5), strict=True):
        q0 = adapters.to_packed_q(model, bodies, q)
        dv = adapters.to_packed_v(model, bodies, size * v)
        reached = adapters.from_packed_q(model, bodies, model.integrate(q0, dv))
        assert_same_configuration(bodies, reached, naive.integrate(bodies, q, size * v), 1e-12)


def test_difference_agrees_with_the_naive_twin(jointed):
    bodies, model = jointed
    (starts, _), (ends, _) = states(bodies, 5), states(bodies, 5, seed=1)
    for start, end in zip(starts, ends, strict=True):
        q0, q1 = (adapters.to_packed_q(model, bodies, q) for q in (start, end))
        dv = adapters.from_packed_v(model, bodies, model.difference(q0, q1))
        # the naive logarithm solves with the left Jacobian, ill-conditioned towards a full turn
        assert_allclose(dv, naive.difference(bodies, start, end), rtol=0, atol=1e-11)


def test_v_is_the_velocity_along_integrate(jointed):
    """d/dt of the poses along integrate(q, v t) = H* v, carried out from body to body."""
    bodies, model = jointed
    h = 1e-5  # central differences: h² ≈ 1e-10 of truncation, ε/h ≈ 1e-11 of rounding
    for q, v in zip(*states(bodies, 3), strict=True):
        q0 = adapters.to_packed_q(model, bodies, q)
        step = adapters.to_packed_v(model, bodies, h * v)
        ahead, behind = (
            naive.forward_kinematics(
                bodies, adapters.from_packed_q(model, bodies, model.integrate(q0, dv))
            )
            for dv in (step, -step)
        )
        R, p = naive.forward_kinematics(bodies, q)
        maps, v_slices = naive.hinge_maps(bodies, q), naive.offsets(bodies)[1]
        for k, body in enumerate(bodies):
            V = maps[k] @ v[v_slices[k]]
            parent = body["parent"]
            if parent != -1:
                turning = (ahead[0][parent] - behind[0][parent]) / (2 * h) @ R[parent].T
                V[:3] += [turning[2, 1], turning[0, 2], turning[1, 0]]
                V[3:] += (ahead[1][parent] - behind[1][parent]) / (2 * h)
                V[3:] += turning @ (p[k] - p[parent])
            turning = (ahead[0][k] - behind[0][k]) / (2 * h) @ R[k].T
            assert_allclose(turning, naive.tilde(V[:3]), rtol=0, atol=1e-8)
            assert_allclose((ahead[1][k] - behind[1][k]) / (2 * h), V[3:], rtol=0, atol=1e-8)


def test_batches_equal_single_calls_to_the_last_bit(jointed):
    bodies, model = jointed
    q, v = states(bodies, 6)
    q0, dv = adapters.to_packed_q(model, bodies, q), adapters.to_packed_v(model, bodies, v)
    q1 = model.integrate(q0, dv)
    assert q1.shape == q0.shape
    assert (q1 == [model.integrate(a, b) for a, b in zip(q0, dv, strict=True)]).all()
    one_by_one = [model.difference(a, b) for a, b in zip(q0, q1, strict=True)]
    assert (model.difference(q0, q1) == one_by_one).all()


def test_neutral_is_where_child_frames_coincide_with_joint_frames(jointed):
    bodies, model = jointed
    q = adapters.from_packed_q(model, bodies, model.neutral())
    assert (q == naive.neutral(bodies)).all()
    assert (model.check_q(model.neutral()) == model.neutral()).all()
    for body, s in zip(bodies, naive.offsets(bodies)[0], strict=True):
        R, p, _ = naive.joint_kinematics(body["joint"], q[s])
        assert_array_equal(R, np.eye(3))
        assert_array_equal(p, np.zeros(3))


def test_random_states_have_the_right_sizes_and_are_valid(jointed):
    bodies, model = jointed
    _, _, nq, nv = naive.offsets(bodies)
    q, v = model.random_state(np.random.default_rng(3))
    again, _ = model.random_state(np.random.default_rng(3))
    assert (model.nq, model.nv) == (nq, nv) == (q.size, v.size)
    assert (q == again).all()
    model.check_q(q)
    for k, joint in enumerate(model.joints):
        start = model.indices[k, layout.Q_START]
        if joint.nq > joint.nv:  # a quaternion comes first
            assert abs(np.linalg.norm(q[start : start + 4]) - 1) < 1e-15
    assert np.abs(q).max() <= np.pi


def test_slices_by_name_cover_q_and_v_once(jointed):
    _, model = jointed
    q_seen = [i for name in model.joint_names for i in range(model.nq)[model.q_slice(name)]]
    v_seen = [i for name in model.joint_names for i in range(model.nv)[model.v_slice(name)]]
    assert q_seen == list(range(model.nq))
    assert v_seen == list(range(model.nv))


@pytest.mark.parametrize("type_name", [t for t, j in CATALOGUE.items() if arguments_of(j)[0]])
def test_the_length_of_an_axis_does_not_matter(type_name):
    rng = np.random.default_rng(4)
    unit = describe(rng, type_name, DIRECTIONS["random 1"])
    longer = {name: 3 * value if "axis" in name else value for name, value in unit.items()}
    for a, b in zip(
        adapters.joint_from(unit).twists(), adapters.joint_from(longer).twists(), strict=True
    ):
        assert_allclose(a, b, rtol=0, atol=1e-15)


# ---- states that do not fit -------------------------------------------------------------------


@pytest.fixture(scope="module")
def arm():
    builder = sk.ModelBuilder()
    builder.add_body("upper", "world", sk.Revolute(name="shoulder"), mass=1.0)
    builder.add_body("hand", "upper", sk.Spherical(name="wrist"), mass=1.0)
    builder.add_body("ball", "world", sk.Free(name="flight"), mass=1.0)
    return builder.build()


GOOD = (0.1, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0)


def replaced(**changes):
    q = list(GOOD)
    for key, value in changes.items():
        q[int(key[1:])] = value
    return q


@pytest.mark.parametrize(
    ("q", "words"),
    [
        (replaced(_1=2.0), ["'wrist'", "norm 2 ", "divide"]),
        (replaced(_6=0.75), ["'flight'", "norm 1.25 ", "divide"]),
        ([GOOD, replaced(_1=0.5)], ["'wrist'", "state 1", "norm 0.5 ", "divide"]),
        (replaced(_3=np.nan), ["q[3]", "nan", "finite"]),
        ([GOOD, replaced(_0=-np.inf)], ["q[1, 0]", "-inf", "finite"]),
        (GOOD[:-1], ["q", "(11,)", "(12,)"]),
        (np.zeros((2, 2, 12)), ["q", "(2, 2, 12)", "(12,) or (batch, 12)"]),
        (3.0, ["q", "(12,)"]),
        (None, ["q", "12"]),
        (["a"] * 12, ["q", "not an array of real numbers", "12 floats"]),
        ([str(x) for x in GOOD], ["q", "not an array of real numbers", "12 floats"]),
        (np.array(GOOD) * 1j, ["q", "not an array of real numbers", "12 floats"]),
        ([[0.0], [0.0, 1.0]], ["q", "not an array of real numbers", "12 floats"]),
    ],
    ids=[
        "quaternion too long",
        "quaternion of a free joint",
        "quaternion in a batch",
        "nan",
        "infinity in a batch",
        "too short",
        "too many axes",
        "a number",
        "None",
        "text",
        "numbers as text",
        "complex",
        "ragged",
    ],
)
def test_a_wrong_q_is_named_with_its_value_and_the_remedy(arm, q, words):
    with pytest.raises(sk.StateError) as caught:
        arm.check_q(q)
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, str(caught.value)


def test_every_wrong_quaternion_is_named_at_once(arm):
    with pytest.raises(sk.StateError) as caught:
        arm.check_q(replaced(_1=2.0, _5=3.0))
    assert len(caught.value.faults) == 2
    assert "'wrist'" in str(caught.value)
    assert "'flight'" in str(caught.value)


def test_integrate_and_difference_name_the_argument_that_does_not_fit(arm):
    with pytest.raises(sk.StateError, match=r"dv has shape \(9,\).*\(10,\)"):
        arm.integrate(GOOD, np.zeros(9))
    with pytest.raises(sk.StateError, match=r"dv\[2\] is nan"):
        arm.integrate(GOOD, [0, 0, np.nan, 0, 0, 0, 0, 0, 0, 0])
    with pytest.raises(sk.StateError, match=r"q has batch shape \(2,\) and dv has \(\)"):
        arm.integrate([GOOD, GOOD], np.zeros(10))
    with pytest.raises(sk.StateError, match=r"q0 has batch shape \(\) and q1 has \(2,\)"):
        arm.difference(GOOD, [GOOD, GOOD])


def test_a_quaternion_within_the_tolerance_is_taken_as_it_is(arm):
    q = np.array(replaced(_1=1.0 + 4e-9))
    assert (arm.check_q(q) == q).all()


def test_a_model_without_freedom_has_one_empty_state():
    builder = sk.ModelBuilder()
    builder.add_body("post", mass=1.0)
    model = builder.build()
    assert model.neutral().shape == (0,)
    assert model.integrate([], []).shape == (0,)
    assert model.difference([], []).shape == (0,)
    assert model.integrate(np.zeros((3, 0)), np.zeros((3, 0))).shape == (3, 0)


# ---- packing --------------------------------------------------------------------------------


def records(model):
    """(body records, degree-of-freedom records) of the packed parameters."""
    stop = layout.HEADER + model.n_bodies * layout.BODY_RECORD
    assert model.parameters.size == layout.parameter_count(model.n_bodies, model.nv)
    bodies = model.parameters[layout.HEADER : stop].reshape(model.n_bodies, layout.BODY_RECORD)
    return bodies, model.parameters[stop:].reshape(model.nv, layout.DOF_RECORD)


def joint_pose(kind, q, pitch, twists):
    """Pose of the child in the joint frame, by the rules that conventions.py gives to kernels."""
    z, R, p = np.array([0.0, 0.0, 1.0]), np.eye(3), np.zeros(3)
    if kind in (JointKind.REVOLUTE, JointKind.HELICAL):
        R = naive.axis_rotation(z, q[0])
    if kind in (JointKind.PRISMATIC, JointKind.HELICAL):
        p = z * q[0] * (1.0 if kind == JointKind.PRISMATIC else pitch)
    if kind == JointKind.SERIES:
        for angle, twist in zip(q, twists, strict=True):
            p = p + R @ twist[3:6] * angle
            turns = np.abs(twist[:3]).max() > 0
            R = R @ naive.axis_rotation(twist[:3], angle) if turns else R
    if kind in (JointKind.SPHERICAL, JointKind.FREE):
        R = naive.quaternion_matrix(q[:4])
    if kind == JointKind.FREE:
        p = q[4:]
    return R, p


def kernel_poses(model, q):
    """(rotations of the kernel frames, origins), from `indices` and `parameters` alone."""
    body_records, dof_records = records(model)
    R, p = np.zeros((model.n_bodies, 3, 3)), np.zeros((model.n_bodies, 3))
    for k, (record, row) in enumerate(zip(body_records, model.indices, strict=True)):
        parent, kind, n_dof = row[layout.PARENT], row[layout.KIND], row[layout.N_DOF]
        n_q = n_dof + (kind in (JointKind.SPHERICAL, JointKind.FREE))
        R_parent, p_parent = (np.eye(3), np.zeros(3)) if parent == -1 else (R[parent], p[parent])
        R_joint, p_joint = joint_pose(
            kind,
            q[row[layout.Q_START] : row[layout.Q_START] + n_q],
            record[layout.PITCH],
            dof_records[row[layout.V_START] : row[layout.V_START] + n_dof],
        )
        placed = R_parent @ record[layout.PLACE_ROTATION : layout.PLACE_ROTATION + 9].reshape(3, 3)
        shift = record[layout.PLACE_TRANSLATION : layout.PLACE_TRANSLATION + 3]
        R[k], p[k] = placed @ R_joint, p_parent + R_parent @ shift + placed @ p_joint
    return R, p


TREES = [(0, 20, 0.5), (1, 20, 0.0), (2, 20, 1.0), (3, 1, 0.5), (4, 60, 0.3)]


@pytest.fixture(params=TREES, ids=["tree", "chain", "star", "one body", "large"])
def tree(request):
    seed, n, branching = request.param
    bodies = naive.random_bodies(np.random.default_rng(seed), n, branching=branching, massless=0.2)
    return bodies, adapters.build(bodies)


def test_packed_arrays_give_the_poses_of_the_naive_twin(tree):
    bodies, model = tree
    (q,), _ = states(bodies, 1)
    R, p = kernel_poses(model, adapters.to_packed_q(model, bodies, q))
    R = R @ model.alignment.transpose(0, 2, 1)
    R_naive, p_naive = naive.forward_kinematics(bodies, q)
    # sixty rotations in a row: some tens of roundings of numbers of order ten
    assert_allclose(adapters.from_packed_bodies(model, R), R_naive, rtol=0, atol=1e-13)
    assert_allclose(adapters.from_packed_bodies(model, p), p_naive, rtol=0, atol=1e-12)


def test_packed_inertias_are_those_of_the_naive_twin(tree):
    bodies, model = tree
    R, _ = kernel_poses(model, model.neutral())
    body_records, _ = records(model)
    packed = np.zeros((model.n_bodies, 6, 6))
    for k, record in enumerate(body_records):
        upper = np.zeros((3, 3))
        upper[np.triu_indices(3)] = record[layout.SECOND_MOMENT : layout.SECOND_MOMENT + 6]
        J = R[k] @ (upper + np.triu(upper, 1).T) @ R[k].T
        h = naive.tilde(R[k] @ record[layout.FIRST_MOMENT : layout.FIRST_MOMENT + 3])
        packed[k] = np.block([[J, h], [-h, record[layout.MASS] * np.eye(3)]])
    expected = naive.body_inertias(bodies, naive.neutral(bodies))
    assert_allclose(adapters.from_packed_bodies(model, packed), expected, rtol=0, atol=1e-13)


def test_indices_say_what_the_tree_says(tree):
    bodies, model = tree
    order, rows = adapters.packed_order(model), model.indices
    listed_parent = np.array([bodies[k]["parent"] for k in order])
    assert [f"b{k}" if k != -1 else None for k in listed_parent] == [
        model.body_names[k] if k != -1 else None for k in rows[:, layout.PARENT]
    ]
    assert (rows[:, layout.PARENT] < np.arange(model.n_bodies)).all()
    for k in range(model.n_bodies):
        path = naive.path_to_base(bodies, order[k])
        inside = {i for i in range(model.n_bodies) if rows[i, layout.SUBTREE_END] > k >= i}
        assert {int(order[i]) for i in inside} == set(path)
    assert (model.parameters[layout.GRAVITY : layout.GRAVITY + 3] == adapters.GRAVITY).all()


def test_the_alignment_puts_the_axis_of_a_single_axis_joint_along_z(tree):
    bodies, model = tree
    for k, listed in enumerate(adapters.packed_order(model)):
        joint = bodies[listed]["joint"]
        if joint["kind"] in ("revolute", "prismatic", "helical"):
            assert_allclose(model.alignment[k][:, 2], joint["axis"], rtol=0, atol=1e-15)
        else:
            assert (model.alignment[k] == np.eye(3)).all()


def test_rotations_from_z_to_are_exact_for_the_coordinate_axes():
    axes = np.vstack([np.eye(3), -np.eye(3)])
    turns = rotations_from_z_to(axes)
    assert (turns[:, :, 2] == axes).all()
    assert set(np.unique(turns)) == {-1.0, 0.0, 1.0}
    assert (turns @ turns.transpose(0, 2, 1) == np.eye(3)).all()
    assert (np.linalg.det(turns) == 1.0).all()


def test_rotations_from_z_to_are_proper_rotations_onto_any_axis():
    rng = np.random.default_rng(5)
    axes = rng.normal(size=(2000, 3)) * 10.0 ** rng.uniform(-9, 0, size=(2000, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    axes[:2] = [1, 1e-17, -1e-300], [1, 1e-17, 1e-300]  # on either side of the equator
    turns = rotations_from_z_to(axes)
    assert_allclose(turns[:, :, 2], axes, rtol=0, atol=1e-16)
    identity = np.broadcast_to(np.eye(3), turns.shape)
    assert_allclose(turns @ turns.transpose(0, 2, 1), identity, rtol=0, atol=1e-15)
    assert_allclose(np.linalg.det(turns), 1.0, rtol=0, atol=1e-15)


# ---- large models ---------------------------------------------------------------------------


def built_chain(n):
    """(model, peak of memory while it is checked and packed)."""
    builder = sk.ModelBuilder()
    joint, inertia = sk.Revolute(axis=(0, 1, 0)), ((0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1))
    for k in range(n):
        parent = f"b{k - 1}" if k else "world"
        builder.add_body(f"b{k}", parent, joint, translation=(0, 0, 1), mass=1, inertia=inertia)
    tracemalloc.start()
    try:
        return builder.build(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.large
def test_a_chain_of_100_000_bodies_packs_with_memory_linear_in_bodies():
    _, small = built_chain(20_000)
    model, large = built_chain(100_000)
    assert large / small < 6  # five times the bodies
    assert (model.parent == np.arange(-1, 99_999)).all()
    assert (model.indices[:, layout.SUBTREE_END] == 100_000).all()


@pytest.mark.large
def test_a_random_tree_of_10_000_bodies_with_every_joint_type_packs():
    rng = np.random.default_rng(6)
    n = 10_000
    pool = naive.random_bodies(rng, 100)
    place = rng.permutation(n)
    bodies = [None] * n
    for k in range(n):
        parent = int(place[rng.integers(max(0, k - 50), k)]) if rng.random() < 0.99 and k else -1
        bodies[place[k]] = dict(pool[k % 100], parent=parent)
    model = adapters.build(bodies)
    order = adapters.packed_order(model)
    assert {joint.type_name for joint in model.joints} == {*CATALOGUE} - {*naive.NOT_DRAWN}
    assert (np.sort(order) == np.arange(n)).all()
    assert (model.mass == [bodies[k]["mass"] for k in order]).all()
    (q,), _ = states(bodies, 1)
    _, p = kernel_poses(model, adapters.to_packed_q(model, bodies, q))
    for tip in rng.integers(0, n, size=20).tolist():  # against the twin along paths to the base
        path = naive.path_to_base(bodies, tip)[::-1]
        alone = [dict(bodies[k], parent=i - 1) for i, k in enumerate(path)]
        q_slices = naive.offsets(bodies)[0]
        q_alone = np.concatenate([q[q_slices[k]] for k in path])
        expected = naive.forward_kinematics(alone, q_alone)[1][-1]
        actual = p[model.body_index(f"b{tip}")]
        assert_allclose(actual, expected, rtol=0, atol=1e-13 * len(path))


# ---- a model is a frozen value ----------------------------------------------------------------


@pytest.fixture(scope="module")
def framed():
    """(builder, model) with all joint types and a frame."""
    bodies = naive.random_bodies(np.random.default_rng(7), 12)
    builder = adapters.builder(bodies)
    builder.add_frame("tool", "b3", translation=(1, 2, 3))
    return builder, builder.build()


def arrays_of(model):
    found = {f.name: getattr(model, f.name) for f in dataclasses.fields(model)}
    arrays = {name: value for name, value in found.items() if isinstance(value, np.ndarray)}
    arrays |= {"frame rotation": model.frames["tool"].rotation}
    return arrays | {"frame translation": model.frames["tool"].translation}


def test_arrays_of_a_model_are_read_only_and_its_fields_fixed(framed):
    _, model = framed
    arrays = arrays_of(model)
    assert {"indices", "parameters", "alignment", "mass", "inertia"} <= set(arrays)
    for array in arrays.values():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.mass = np.zeros(12)


def test_a_pickled_model_comes_back_equal_and_read_only(framed):
    _, model = framed
    again = pickle.loads(pickle.dumps(model))
    assert again == model
    assert hash(again) == hash(model)
    for name, array in arrays_of(again).items():
        assert not array.flags.writeable, name
        assert (array == arrays_of(model)[name]).all()


def test_the_content_hash_is_that_of_the_content(framed):
    builder, model = framed
    assert builder.build().content_hash == model.content_hash
    assert builder.build() == model
    assert model != "model"
    for change in ({"mass": 1.5}, {"name": "other"}, {"translation": (0, 0, 7)}, {"joint": None}):
        changed = sk.ModelBuilder(gravity=builder.gravity)
        changed.bodies = list(builder.bodies)
        changed.frames = list(builder.frames)
        leaf = leaf_of(builder.bodies)
        joint = sk.Fixed() if "joint" in change else builder.bodies[leaf].joint
        changed.bodies[leaf] = dataclasses.replace(
            builder.bodies[leaf], **change | {"joint": joint}
        )
        assert changed.build() != model, change
    lighter = sk.ModelBuilder(gravity=(0, 0, -1.62))
    lighter.bodies, lighter.frames = builder.bodies, builder.frames
    assert lighter.build() != model


def leaf_of(described):
    """Index of a body that carries nothing, on a joint that moves, and without a frame."""
    parents = {body.parent for body in described} | {"b3"}
    return next(k for k, b in enumerate(described) if b.name not in parents and b.joint.nv)


def test_body_order_of_the_description_does_not_change_the_poses():
    rng = np.random.default_rng(8)
    bodies = naive.random_bodies(rng, 15)
    place = rng.permutation(15)
    shuffled = [None] * 15
    for k, body in enumerate(bodies):
        parent = -1 if body["parent"] == -1 else int(place[body["parent"]])
        shuffled[place[k]] = dict(body, parent=parent)
    one, two = adapters.build(bodies), adapters.build(shuffled)
    q, _ = one.random_state(rng)
    listed = adapters.from_packed_q(one, bodies, q)
    slices, moved_slices = naive.offsets(bodies)[0], naive.offsets(shuffled)[0]
    moved = np.empty_like(listed)
    for k in range(15):
        moved[moved_slices[place[k]]] = listed[slices[k]]
    p_one = adapters.from_packed_bodies(one, kernel_poses(one, q)[1])
    p_two = kernel_poses(two, adapters.to_packed_q(two, shuffled, moved))[1]
    assert (adapters.from_packed_bodies(two, p_two)[place] == p_one).all()


# ---- repaired inertias ------------------------------------------------------------------------


def test_nearest_valid_is_the_identity_on_valid_inertias():
    rng = np.random.default_rng(9)
    for _ in range(50):
        _, _, inertia = naive.random_inertia(rng)
        assert_allclose(nearest_valid(inertia), inertia, rtol=0, atol=1e-15)


def test_nearest_valid_is_valid_and_no_valid_inertia_on_the_way_is_nearer():
    rng = np.random.default_rng(10)
    for _ in range(50):
        bad = rng.normal(size=(3, 3))
        bad = bad + bad.T
        good = nearest_valid(bad)
        assert (good == good.T).all()
        low, middle, high = np.linalg.eigvalsh(good)
        assert low >= -1e-15
        assert low + middle >= high - 1e-14
        assert not check_inertias(good[None], str)
        # nearest in Σ: towards any other valid inertia the distance grows
        target = second_moments(bad)
        best = np.linalg.norm(second_moments(good) - target)
        for _ in range(20):
            _, _, other = naive.random_inertia(rng)
            between = second_moments(good + 0.01 * (other - good))
            assert np.linalg.norm(between - target) >= best - 1e-14


def second_moments(inertia):
    return 0.5 * np.trace(inertia) * np.eye(3) - inertia


def test_a_repair_is_made_on_request_only_and_recorded():
    builder = sk.ModelBuilder()
    builder.add_body("good", joint=sk.Revolute(), mass=1.0, inertia=(1, 1, 1))
    builder.add_body("rod", joint=sk.Revolute(), mass=1.0, inertia=(1, 1, 5))
    with pytest.raises(sk.ModelError, match=r"'rod'.*triangle.*repair_inertia=True"):
        builder.build()
    model = builder.build(repair_inertia=True)
    (repair,) = model.repairs
    assert "'rod'" in repair
    assert "[0.0, 0.0, 5.0]" in repair
    rod = model.inertia[model.body_index("rod")]
    assert repr(rod.tolist()) in repair
    assert_allclose(rod, nearest_valid(np.diag([1.0, 1.0, 5.0])), rtol=0, atol=0)
    assert (model.inertia[model.body_index("good")] == np.eye(3)).all()
    assert not adapters.build(naive.random_bodies(np.random.default_rng(0), 3)).repairs


# ---- a joint of one's own that closes loops --------------------------------------------------


@dataclass(frozen=True)
class Pin(sk.Joint):
    """A hinge by another name, about y; it says the rows that hold where it closes a loop."""

    name: str | None = None
    type_name = "pin"
    nq = nv = 1

    def twists(self):
        return (((0.0, -1.0, 0.0), (0.0, 0.0, 0.0)),)

    def closing(self, frames):
        return (Row(POINT), *frames.parallel(np.array([0.0, -1.0, 0.0])))

    def reversed(self):
        return sk.Revolute(axis=(0, 1, 0))


def four_bar(pin):
    b = sk.ModelBuilder()
    hinge = sk.Revolute(axis=(0, -1, 0))
    for name, parent, length, x in (("crank", "world", 0.3, 0), ("coupler", "crank", 0.9, 0.3),
                                    ("rocker", "world", 0.7, 1)):  # fmt: skip
        b.add_body(name, parent, hinge, translation=(x, 0, 0), mass=length,
                   com=(length / 2, 0, 0), inertia=(0.02,) * 3)  # fmt: skip
    b.add_loop("pin", "coupler", "rocker", pin, translation_a=(0.9, 0, 0),
               translation_b=(0.7, 0, 0))  # fmt: skip
    return b.build()


def test_a_joint_of_ones_own_closes_a_loop_as_the_one_it_stands_for():
    with pytest.raises(sk.ModelError, match="which cannot close a loop"):
        four_bar(Pin())  # nobody has heard of it
    sk.register(Pin)
    try:
        own, usual = four_bar(Pin()), four_bar(sk.Revolute(axis=(0, -1, 0)))
        q = sk.assemble(own, [1.0, 0.0, 1.5], hold=["crank"]).q
        np.testing.assert_array_equal(q, sk.assemble(usual, [1.0, 0.0, 1.5], hold=["crank"]).q)
        v = sk.project_velocity(own, q, [2.0, 0.0, 0.0])
        found = sk.forward_dynamics(own, q, v, [0.3, 0.0, 0.0])
        np.testing.assert_array_equal(found, sk.forward_dynamics(usual, q, v, [0.3, 0.0, 0.0]))
    finally:
        CATALOGUE.remove("pin")


def test_a_gimbal_and_a_free_joint_close_nothing():
    assert {name for name in CATALOGUE if name not in CLOSING} == {"gimbal", "free"}
    assert "rod" in CLOSING


# ---- in how many places a kind of joint is known ---------------------------------------------


def test_kinds_are_named_where_their_formulas_are_and_nowhere_else():
    """A product of screws is one file of joint_kinds. What a kind with formulas of its own touches
    besides is counted here: whoever adds a place says why."""
    source = Path(sk.__file__).parent
    by_kind = re.compile(r"JointKind\.([A-Z]+)")
    named = {}
    for path in source.rglob("*.py"):
        for kind in by_kind.findall(path.read_text()):
            named.setdefault(kind, set()).add(path.relative_to(source).as_posix())
    own = {kind: {p for p in found if not p.startswith("model/joint_kinds/")}
           for kind, found in named.items()}  # fmt: skip
    formulas = {"kernels/joint_motion.py", "model/manifold.py", "model/coordinates.py"}
    assert own["SPHERICAL"] == own["FREE"] == formulas
    assert own["SERIES"] <= {"kernels/joint_motion.py", "model/joint_entry.py", "model/packing.py",
                             "model/coordinates.py",
                             "model/flexible/flexible_packing.py"}  # fmt: skip
    asking = re.compile(r"\b(SPHERICAL|FREE|SERIES|HELICAL|PRISMATIC)\b")
    kernels = {path.relative_to(source).as_posix() for folder in ("kernels", "simulation")
               for path in (source / folder).rglob("*.py")
               if asking.search(path.read_text())}  # fmt: skip
    assert kernels == {"kernels/joint_motion.py", "kernels/joint_kinds.py"}
    types = re.compile(r"type_name (?:==|!=|(?:not )?in)\s|isinstance\([\w.]*joint, (?!str)")
    asks = {path.relative_to(source).as_posix() for path in source.rglob("*.py")
            if types.search(path.read_text())}  # fmt: skip
    # Fixman's chains of beads take three joints; robots merge what is fixed
    assert asks <= {"fixman/point_masses.py", "io/robots/assembly.py"}
