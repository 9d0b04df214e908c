"""What a person can get wrong in a call: each is refused in one sentence, nothing is misread."""

import importlib
import pkgutil
import re

import numpy as np
import pytest

import adapters
import naive
import skodyn as sk
import skodyn.dynamics
from skodyn.dynamics.algorithm import Algorithm

B = 11  # a register full, and some that overlap


@pytest.fixture(scope="module")
def model():
    """Every joint type; the body fixed to the ground and the quaternions are of interest here."""
    made = sk.ModelBuilder(name="robot")
    made.add_body("plate", "world", sk.Fixed(), mass=2.0)
    made.add_body("slider", "world", sk.Prismatic(axis=(1, 0, 0)), mass=1.0)
    arm = {
        "mass": 1.0,
        "com": (0.3, 0.1, 0),
        "inertia": (0.1, 0.12, 0.13),
        "translation": (0, 0, 1),
    }
    made.add_body("arm", "slider", sk.Revolute(axis=(0, 1, 0), name="elbow"), **arm)
    made.add_body("hand", "arm", sk.Spherical(name="wrist"), **arm)
    made.add_body("drone", "world", sk.Free(name="flight"), **arm)
    made.add_body("screw", "drone", sk.Helical(axis=(0, 0, 1), pitch=0.1), **arm)
    made.add_body("table", "drone", sk.Planar(), **arm)
    made.add_body("fork", "table", sk.Universal(), **arm)
    made.add_body("rod", "fork", sk.Cylindrical(axis=(0, 0, 1)), **arm)
    made.add_body("cloud", "drone", sk.Translation(), **arm)
    return made.build()


def arguments(model, batch=None, seed=3):
    """Sound arguments by name, of one state or of a batch."""
    rng = np.random.default_rng(seed)
    states = [model.random_state(rng) for _ in range(batch or 1)]
    q, v = (np.array(column) for column in zip(*states, strict=True))
    rows = len(states)
    found = {"q": q, "v": v, "f_ext": rng.normal(size=(rows, model.n_bodies, 6))}
    found |= {name: rng.normal(size=v.shape) for name in ("tau", "vdot", "rhs")}
    return found if batch else {name: a[0] for name, a in found.items()}


NODES = [("hand", (0.1, 0.2, 0.3)), ("rod", (0, 0, 1))]
FUNCTIONS = {  # name: (arguments that vary with the state, arguments that do not, has out)
    "forward_dynamics": (("q", "v", "tau", "f_ext"), (), True),
    "inverse_dynamics": (("q", "v", "vdot", "f_ext"), (), True),
    "bias_force": (("q", "v", "f_ext"), (), True),
    "gravity_force": (("q",), (), True),
    "mass_matrix": (("q",), (), True),
    "mass_matrix_inverse": (("q",), (), True),
    "mass_matrix_solve": (("q", "rhs"), (), True),
    "mass_matrix_logdet": (("q",), (), False),
    "forward_kinematics": (("q",), (), False),
    "velocities": (("q", "v"), (), False),
    "jacobian": (("q",), ("hand", (0.1, 0.2, 0.3)), True),
    "jacobian_dot_v": (("q", "v"), ("hand", (0.1, 0.2, 0.3)), False),
    "operational_space_compliance": (("q",), (NODES,), True),
    "joint_forces": (("q", "v", "tau", "f_ext"), (), False),
    "energy": (("q", "v"), (), False),
    "momentum": (("q", "v"), (), False),
    "center_of_mass": (("q",), (), False),
    "forward_dynamics_derivatives": (("q", "v", "tau", "f_ext"), (), False),
    "inverse_dynamics_derivatives": (("q", "v", "vdot", "f_ext"), (), False),
    "linearize": (("q", "v", "tau", "f_ext"), (), False),
    "coriolis_matrix": (("q", "v"), (), True),
    "christoffel_symbols": (("q",), (), False),
    "mass_matrix_logdet_gradient": (("q",), (), True),
    "fixman_potential": (("q",), (), False),
}
PLACES = [(name, argument) for name, (named, _, _) in FUNCTIONS.items() for argument in named]
WITH_OUT = [name for name, (_, _, has_out) in FUNCTIONS.items() if has_out]
per_function = pytest.mark.parametrize("name", FUNCTIONS)
per_argument = pytest.mark.parametrize(("name", "argument"), PLACES)
single_and_batch = pytest.mark.parametrize("batch", [None, 1, B])


def call(name, model, given, **options):
    named, others, _ = FUNCTIONS[name]
    return getattr(sk, name)(model, *(given[n] for n in named), *others, **options)


def same(first, second):
    first, second = ((r if isinstance(r, tuple) else (r,)) for r in (first, second))
    for a, b in zip(first, second, strict=True):
        assert np.shape(a) == np.shape(b)
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


# ---- what is not a number ----------------------------------------------------------------------


@single_and_batch
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@per_argument
def test_nan_and_infinity_are_refused_and_located(model, name, argument, bad, batch):
    given = arguments(model, batch)
    for place in (0, -1, given[argument].size // 2):
        table = given[argument].copy()
        table.reshape(-1)[place] = bad
        where = list(map(int, np.unravel_index(place % table.size, table.shape)))
        expected = re.escape(f"{argument}{where} is {bad}; give finite numbers.")
        with pytest.raises(sk.StateError, match=f"^{expected}$"):
            call(name, model, given | {argument: table})


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@per_argument
def test_they_are_located_as_well_where_states_go_one_by_one(
    model, name, argument, bad, monkeypatch
):
    """As they do until the kernel of batches is worth its compilation."""
    monkeypatch.setattr(Algorithm, "goes_one_by_one", lambda algorithm, rows: True)
    test_nan_and_infinity_are_refused_and_located(model, name, argument, bad, B)


WRONG_TYPES = {
    "strings": lambda a: a.astype(str),
    "complex": lambda a: a.astype(complex),
    "objects": lambda a: a.astype(object),
    "booleans": lambda a: a > 0,
    "a word": lambda a: "abc",
    "a mapping": lambda a: {"q": 1},
    "ragged": lambda a: [[1.0], [2.0, 3.0]],
    "dates": lambda a: a.astype("datetime64[s]"),
}


@pytest.mark.parametrize("wrong", WRONG_TYPES)
@per_argument
def test_what_is_not_real_numbers_is_refused(model, name, argument, wrong):
    for batch in (None, B):
        given = arguments(model, batch)
        with pytest.raises(sk.StateError, match=f"^{argument} is not an array of real numbers"):
            call(name, model, given | {argument: WRONG_TYPES[wrong](given[argument])})


@per_argument
def test_none_stands_for_nothing_but_external_forces(model, name, argument):
    for batch in (None, B):
        given = arguments(model, batch)
        if argument == "f_ext":
            zero = np.zeros_like(given["f_ext"])
            both = (call(name, model, given | {"f_ext": f}) for f in (None, zero))
            for a, b in zip(*(r if isinstance(r, tuple) else (r,) for r in both), strict=True):
                assert (a == b).all()
        else:
            with pytest.raises(sk.StateError, match=f"^{argument} is not an array of real"):
                call(name, model, given | {argument: None})


# ---- shapes ------------------------------------------------------------------------------------


@single_and_batch
@per_argument
def test_wrong_shapes_are_refused(model, name, argument, batch):
    given = arguments(model, batch)
    a = given[argument]
    wrong = [a[..., :-1], np.concatenate([a, a], axis=-1), np.zeros((*a.shape[:-1], 0)),
             np.zeros((2, 2, *a.shape)), np.float64(1.0)]  # fmt: skip
    if argument == "f_ext":
        wrong += [np.ascontiguousarray(np.swapaxes(a, -1, -2)), a.reshape(-1), a[..., :-1, :]]
    elif argument != "rhs":
        wrong += [a[..., None], a.reshape(-1)[:, None]]
    for table in wrong:
        with pytest.raises(sk.StateError, match=f"{argument} has shape"):
            call(name, model, given | {argument: table})


@pytest.mark.parametrize("name", [n for n, (named, _, _) in FUNCTIONS.items() if len(named) > 1])
def test_batches_of_different_lengths_are_refused_with_the_lengths(model, name):
    given = arguments(model, B)
    named = FUNCTIONS[name][0]
    for argument in named:
        with pytest.raises(sk.StateError, match="The numbers of states differ") as caught:
            call(name, model, given | {argument: given[argument][: B - 1]})
        assert f"{argument} has {B - 1}" in str(caught.value)
        assert f"has {B}" in str(caught.value)


def test_all_faults_are_told_at_once(model):
    given = arguments(model)
    given["q"] = given["q"][:-1]
    given["v"] = np.full(model.nv, np.nan)
    given["tau"] = "abc"
    with pytest.raises(sk.StateError) as caught:
        call("forward_dynamics", model, given)
    assert len(caught.value.faults) == 3


@per_function
def test_an_empty_batch_has_an_empty_result(model, name):
    empty = {key: table[:0] for key, table in arguments(model, B).items()}
    found = call(name, model, empty)
    one = call(name, model, arguments(model))
    found, one = ((r if isinstance(r, tuple) else (r,)) for r in (found, one))
    assert [np.shape(a) for a in found] == [(0, *np.shape(b)) for b in one]


# ---- what is accepted --------------------------------------------------------------------------


def spread(a):
    """The same numbers, not next to each other."""
    wide = np.full((*a.shape[:-1], 2 * a.shape[-1]), np.nan)
    wide[..., ::2] = a
    return wide[..., ::2]


def read_only(a):
    a = a.copy()
    a.setflags(write=False)
    return a


class Subclass(np.ndarray):
    pass


WAYS = {
    "not contiguous": spread,
    "Fortran order": np.asfortranarray,
    "read-only": read_only,
    "lists": np.ndarray.tolist,
    "big-endian": lambda a: a.astype(">f8"),
    "subclass": lambda a: a.view(Subclass),
    "long double": lambda a: a.astype(np.longdouble),
    "unaligned": lambda a: np.frombuffer(b"x" + a.tobytes(), offset=1).reshape(a.shape),
}


@single_and_batch
@pytest.mark.parametrize("way", WAYS)
@per_function
def test_equal_numbers_give_equal_results_however_they_are_stored(model, name, way, batch):
    given = arguments(model, batch)
    expected = call(name, model, given)
    same(call(name, model, {key: WAYS[way](a) for key, a in given.items()}), expected)
    for argument in FUNCTIONS[name][0]:
        same(call(name, model, given | {argument: WAYS[way](given[argument])}), expected)


@per_function
def test_whole_numbers_and_single_precision_are_accepted(model, name):
    for batch in (None, B):
        given = arguments(model, batch)
        given = {key: np.rint(3 * a) for key, a in given.items()}
        given["q"][...] = model.neutral()
        expected = call(name, model, given)
        for kind in (np.int64, np.int8, np.float32, np.float16):
            same(call(name, model, {key: a.astype(kind) for key, a in given.items()}), expected)


@per_function
def test_arguments_are_left_as_they_were(model, name):
    for batch in (None, B):
        given = arguments(model, batch)
        before = {key: a.copy() for key, a in given.items()}
        call(name, model, given)
        for key, a in given.items():
            same(a, before[key])


def test_a_model_without_freedom_has_empty_answers():
    made = sk.ModelBuilder()
    made.add_body("block", "world", sk.Fixed(), translation=(1, 2, 3), mass=2.0)
    model, none = made.build(), np.zeros(0)
    assert sk.forward_dynamics(model, none, none, none).shape == (0,)
    assert sk.inverse_dynamics(model, none, none, none).shape == (0,)
    assert sk.mass_matrix(model, none).shape == (0, 0)
    assert sk.mass_matrix_solve(model, none, none).shape == (0,)
    assert sk.mass_matrix_solve(model, none, np.zeros((0, 3))).shape == (0, 3)
    assert sk.mass_matrix_logdet(model, none) == 0.0
    assert sk.jacobian(model, none, "block").shape == (6, 0)
    assert (sk.operational_space_compliance(model, none, [("block", (1, 1, 1))]) == 0).all()
    assert (sk.center_of_mass(model, none) == (1, 2, 3)).all()
    for part in sk.velocities(model, none, none):
        assert (part == 0).all()
    assert sk.forward_dynamics(model, np.zeros((5, 0)), none, none).shape == (5, 0)


# ---- quaternions -------------------------------------------------------------------------------


@per_function
def test_a_quaternion_of_other_length_names_joint_and_state(model, name):
    given = arguments(model)
    given["q"][model.q_slice("wrist")] *= 1.01
    with pytest.raises(sk.StateError, match=r"^Joint 'wrist': its quaternion has norm 1\.01 inst"):
        call(name, model, given)
    for batch in (2, B):
        given = arguments(model, batch)
        given["q"][1, model.q_slice("flight")] *= np.r_[[0.5] * 4, 1, 1, 1]
        with pytest.raises(
            sk.StateError, match=r"^Joint 'flight': its .* in state 1 has norm 0\.5"
        ):
            call(name, model, given)


def test_every_bad_quaternion_is_named(model):
    given = arguments(model, B)
    given["q"][2, model.q_slice("flight")] = 0.0
    given["q"][5, model.q_slice("wrist")] *= 2.0
    with pytest.raises(sk.StateError) as caught:
        call("mass_matrix", model, given)
    assert len(caught.value.faults) == 2


# ---- out and threads ---------------------------------------------------------------------------


@single_and_batch
@pytest.mark.parametrize("name", WITH_OUT)
def test_out_that_cannot_be_used_is_refused(model, name, batch):
    given = arguments(model, batch)
    right = call(name, model, given)
    locked = right.copy()
    locked.setflags(write=False)
    with pytest.raises(sk.StateError, match=r"^out is read-only"):
        call(name, model, given, out=locked)
    wrong = [np.empty(right.size + 1), np.empty((1, 1, *right.shape)), right.astype(np.float32),
             right.astype(int), right.astype(complex), right.tolist(), "abc", 1.0,
             np.empty((*right.shape[:-1], right.shape[-1] - 1)), np.empty(0)]  # fmt: skip
    if right.ndim > 1:
        wrong.append(right.reshape(-1))  # as many numbers, another shape
    for out in wrong:
        with pytest.raises(sk.StateError, match=r"^out is .*give a float64 array of shape"):
            call(name, model, given, out=out)


@single_and_batch
@pytest.mark.parametrize("name", WITH_OUT)
def test_out_is_filled_and_returned_whatever_its_strides(model, name, batch):
    given = arguments(model, batch)
    right = call(name, model, given)
    for out in (np.empty(right.shape), np.empty(right.shape, order="F"), spread(right * np.nan)):
        assert call(name, model, given, out=out) is out
        same(np.ascontiguousarray(out), right)


@pytest.mark.parametrize("batch", [None, 3, 20])
def test_poses_go_into_a_pair_of_arrays_whatever_their_strides(model, batch):
    q = arguments(model, batch)["q"]
    found = sk.forward_kinematics(model, q)
    wide = [np.full((*one.shape, 2), np.nan)[..., 0] for one in found]
    own = [np.full(one.shape, np.nan) for one in found]
    earlier = tuple(sk.forward_kinematics(model, np.roll(q, 1, axis=0) if batch else q))
    swapped = (earlier[0][::-1], earlier[1]) if batch else earlier
    for out in (wide, tuple(own), earlier, swapped):
        given = sk.forward_kinematics(model, q, out=out)
        assert all(a is b for a, b in zip(given, out, strict=True))
        assert all(np.array_equal(a, b) for a, b in zip(given, found, strict=True))
        for one in out:
            one[...] = np.nan


@pytest.mark.parametrize("file", ["gripper", "four_bar", "flexible_pendulum"])
@pytest.mark.parametrize("batch", [None, 9])
def test_poses_of_mimics_loops_and_bent_bodies_go_into_a_pair_too(file, batch):
    scenario = sk.read_scenario(f"scenarios/{file}.toml")
    q = scenario.q0 if batch is None else np.tile(scenario.q0, (batch, 1))
    found = sk.forward_kinematics(scenario.model, q)
    out = tuple(np.full(one.shape, np.nan) for one in found)
    given = sk.forward_kinematics(scenario.model, q, out=out)
    assert given[0] is out[0]
    assert given[1] is out[1]
    assert all(np.array_equal(a, b) for a, b in zip(given, found, strict=True))


@pytest.mark.parametrize("batch", [None, 3, 20])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r, p: r, "give a pair of arrays"),
        (lambda r, p: (r,), "give a pair of arrays"),
        (lambda r, p: 3.0, "out is 3.0; give a pair of arrays"),
        (lambda r, p: (r, p[..., :2].copy()), "float64 of shape"),
        (lambda r, p: (r.astype(np.float32), p), "float32"),
        (lambda r, p: (r, read_only(p)), "read-only"),
    ],
)
def test_a_pair_that_cannot_be_written_is_refused(model, batch, change, words):
    q = arguments(model, batch)["q"]
    out = change(*(one.copy() for one in sk.forward_kinematics(model, q)))
    with pytest.raises(sk.StateError, match=words):
        sk.forward_kinematics(model, q, out=out)


def test_solve_with_columns_checks_its_arguments(model):
    given = arguments(model)
    columns = np.random.default_rng(0).normal(size=(model.nv, 3))
    right = sk.mass_matrix_solve(model, given["q"], columns)
    for i in range(3):
        same(right[:, i].copy(), sk.mass_matrix_solve(model, given["q"], columns[:, i].copy()))
    out = spread(right * np.nan)
    assert sk.mass_matrix_solve(model, given["q"], columns, out=out) is out
    same(out.copy(), right)
    same(sk.mass_matrix_solve(model, given["q"].tolist(), columns.tolist()), right)
    assert sk.mass_matrix_solve(model, given["q"], columns[:, :0]).shape == (model.nv, 0)
    in_place = columns.copy()
    same(sk.mass_matrix_solve(model, given["q"], in_place, out=in_place), right)
    for wrong, message in [
        (columns[:-1], "rhs has shape"),
        (columns.astype(str), "rhs is not an array of real numbers"),
        (np.where(columns == columns[4, 2], np.nan, columns), r"rhs\[4, 2\] is nan"),
    ]:
        with pytest.raises(sk.StateError, match=f"^{message}"):
            sk.mass_matrix_solve(model, given["q"], wrong)
    with pytest.raises(sk.StateError, match=r"^out is"):
        sk.mass_matrix_solve(model, given["q"], columns, out=np.empty((3, model.nv)))
    with pytest.raises(sk.StateError, match=r"^q has shape"):
        sk.mass_matrix_solve(model, given["q"][:-1], columns)
    with pytest.raises(sk.StateError, match=r"Joint 'wrist': its quaternion has norm 1\.1"):
        sk.mass_matrix_solve(model, given["q"] * 1.1, columns)


@single_and_batch
@pytest.mark.parametrize("threads", [0, -1, "2", 1.5, True, [2]])
@per_function
def test_threads_is_a_whole_number_from_one(model, name, threads, batch):
    given = arguments(model, batch)
    with pytest.raises(sk.StateError, match=r"^threads is .*; give a whole number from 1"):
        call(name, model, given, threads=threads)


@per_function
def test_any_whole_number_of_threads_will_do(model, name):
    given = arguments(model, 17)
    expected = call(name, model, given, threads=1)
    for threads in (None, 2, 5, 100, np.int64(3), np.uint8(2)):
        same(call(name, model, given, threads=threads), expected)


# ---- bodies, points, options -------------------------------------------------------------------

AT_A_BODY = {
    "jacobian": lambda m, a, body, point: sk.jacobian(m, a["q"], body, point),
    "jacobian_dot_v": lambda m, a, body, point: sk.jacobian_dot_v(m, a["q"], a["v"], body, point),
    "compliance": lambda m, a, body, point: sk.operational_space_compliance(
        m, a["q"], [("arm", (0, 0, 0)), (body, point)]
    ),
}


@pytest.mark.parametrize("at", AT_A_BODY)
@pytest.mark.parametrize("batch", [None, B])
def test_a_body_that_is_not_there_is_refused(model, at, batch):
    given, function = arguments(model, batch), AT_A_BODY[at]
    with pytest.raises(sk.ModelError, match=r"has no body or frame 'hnad'; did you mean 'hand'\?"):
        function(model, given, "hnad", (0, 0, 0))
    for body in (-1, model.n_bodies, 10**30, 1.0, None, (1, 2)):
        with pytest.raises(sk.ModelError, match=r"^There is no body .*number from 0 to 9"):
            function(model, given, body, (0, 0, 0))
    same(
        function(model, given, "hand", (0, 0, 1)),
        function(model, given, np.int32(model.body_index("hand")), np.array([0, 0, 1])),
    )


@pytest.mark.parametrize("at", AT_A_BODY)
@pytest.mark.parametrize(
    ("point", "message"),
    [
        ((1, 2), r"point has shape \(2,\)"),
        ((1, 2, 3, 4), r"point has shape \(4,\)"),
        (((1, 2, 3),), r"point has shape \(1, 3\)"),
        (1.0, r"point has shape \(\)"),
        ((1, 2, np.nan), r"point\[2\] is nan"),
        ("abc", "point is not an array of real numbers"),
        (None, "point is not an array of real numbers"),
        ((1, 2j, 3), "point is not an array of real numbers"),
    ],
)
def test_a_point_is_three_finite_numbers(model, at, point, message):
    with pytest.raises(sk.StateError, match=f"^{message}"):
        AT_A_BODY[at](model, arguments(model), "hand", point)


def test_nodes_are_pairs(model):
    q = arguments(model)["q"]
    for nodes in (None, 3, [("hand",)], [("hand", (0, 0, 0), 1)], ("hand", (0, 0, 0), 1)):
        with pytest.raises(sk.StateError, match=r"^nodes is .*pairs"):
            sk.operational_space_compliance(model, q, nodes)
    assert sk.operational_space_compliance(model, q, []).shape == (0, 0)
    assert sk.operational_space_compliance(model, np.tile(q, (5, 1)), []).shape == (5, 0, 0)
    pairs = iter(NODES)
    same(
        sk.operational_space_compliance(model, q, pairs),
        sk.operational_space_compliance(model, q, NODES),
    )


def test_momentum_is_taken_about_the_origin_or_the_centre_of_mass(model):
    given = arguments(model)
    with pytest.raises(sk.StateError, match=r"^about is 'base'; give 'origin' or 'com'"):
        sk.momentum(model, given["q"], given["v"], about="base")


def test_nothing_without_mass_has_a_centre_of_mass():
    made = sk.ModelBuilder(name="ghost")
    made.add_body("nothing", "world", sk.Fixed())
    model, none = made.build(), np.zeros(0)
    with pytest.raises(sk.DynamicsError, match="'ghost' has no mass"):
        sk.center_of_mass(model, none)
    with pytest.raises(sk.DynamicsError, match="'ghost' has no mass"):
        sk.momentum(model, none, none, about="com")
    assert sk.momentum(model, none, none).shape == (6,)


# ---- states in which the equations of motion have no answer --------------------------------------


def chain(*links):
    """A serial chain of (name, joint, mass, com, inertia, translation)."""
    made, parent = sk.ModelBuilder(), "world"
    for name, joint, mass, com, inertia, translation in links:
        made.add_body(name, parent, joint, translation=translation, mass=mass, com=com,
                      inertia=inertia)  # fmt: skip
        parent = name
    return made.build()


Y, ROUND = (0, 1, 0), (0.1, 0.1, 0.1)
GOOD = [("first", sk.Revolute(axis=Y), 1.0, (1, 0, 0), ROUND, (0, 0, 0)),
        ("second", sk.Revolute(axis=Y), 1.0, (1, 0, 0), ROUND, (1, 0, 0))]  # fmt: skip
LAST = ("last", sk.Fixed(), 1.0, (1, 0, 0), ROUND, (1, 0, 0))
SINGULAR = {  # what: (links, joint, its type, reason)
    "a slider that carries inertia but no mass": (
        [*GOOD, ("bad", sk.Prismatic(axis=Y), 0.0, (0, 0, 0), ROUND, (1, 0, 0))],
        "bad", r"\(prismatic\)", "what it carries has no mass",
    ),
    "two sliders in a row with nothing between": (
        [*GOOD, ("bad", sk.Prismatic(axis=Y), 0.0, (0, 0, 0), (0, 0, 0), (1, 0, 0)),
         ("out", sk.Prismatic(axis=Y), 1.0, (0, 0, 0), ROUND, (0, 0, 0))],
        "bad", r"\(prismatic\)", "1 kg it carries hang from joints further out",
    ),
    "a hinge through a point mass": (
        [*GOOD, ("bad", sk.Revolute(axis=Y), 1.0, (0, 2, 0), (0, 0, 0), (1, 0, 0))],
        "bad", r"\(revolute\)", "the 1 kg it carries lie on its axis",
    ),
    "a hinge through a point mass, with sound bodies further in and out": (
        [*GOOD, ("bad", sk.Revolute(axis=Y), 1.0, (0, 2, 0), (0, 0, 0), (1, 0, 0)),
         ("out", sk.Revolute(axis=Y), 1.0, (0, 2, 0), ROUND, (0, 1, 0))],
        "bad", r"\(revolute\)", "other joints outboard already allow the same motion",
    ),
    "a point mass on a ball joint": (
        [*GOOD, ("bad", sk.Spherical(), 1.0, (0, 0, 0.5), (0, 0, 0), (1, 0, 0))],
        "bad", r"\(spherical\)", "no inertia about one of them",
    ),
    "a universal joint whose axes are all but parallel": (
        [*GOOD, ("bad", sk.Universal(axis1=(1, 0, 0), axis2=(1, 1e-9, 0)), 1.0, (0, 0, 0), ROUND,
                 (1, 0, 0)), LAST],
        "bad", r"\(universal\)", "two of its axes have become parallel",
    ),
    "a point mass that turns and slides along a line": (
        [*GOOD, ("bad", sk.Cylindrical(axis=Y), 1.0, (0, 0, 0), (0, 0, 0), (1, 0, 0))],
        "bad", r"\(cylindrical\)", "no inertia about one of them",
    ),
}  # fmt: skip
SOLVERS = ("forward_dynamics", "mass_matrix_inverse", "mass_matrix_solve", "mass_matrix_logdet",
           "operational_space_compliance", "joint_forces", "forward_dynamics_derivatives",
           "linearize", "mass_matrix_logdet_gradient", "fixman_potential")  # fmt: skip


@pytest.mark.parametrize("trouble", SINGULAR)
@pytest.mark.parametrize("name", SOLVERS)
def test_a_joint_that_nothing_resists_is_named_with_the_reason(trouble, name):
    links, joint, kind, reason = SINGULAR[trouble]
    model = chain(*links)
    named, others, _ = FUNCTIONS[name]
    others = ([(0, (0, 0, 0))],) if others else ()
    for batch, where in ((None, ""), (2, " in state 0"), (13, " in state 0")):
        given = arguments(model, batch) | {"f_ext": None}
        given["q"][...] = model.neutral()
        problem = "has no inertia, so that the mass matrix is singular"
        expected = f"^Joint '{joint}' {kind}{where} {problem}: .*{reason}"
        with pytest.raises(sk.DynamicsError, match=expected):
            getattr(sk, name)(model, *(given[n] for n in named), *others)


def test_the_singular_state_of_a_batch_is_named():
    """A gimbal: three hinges on one point; singular only where the outer axis meets the inner."""
    none = (0.0, 0.0, 0.0)
    model = chain(
        ("yaw", sk.Revolute(axis=(0, 0, 1)), 0.0, none, none, none),
        ("pitch", sk.Revolute(axis=Y), 0.0, none, none, none),
        ("roll", sk.Revolute(axis=(1, 0, 0)), 1.0, none, ROUND, none),
    )
    q = np.random.default_rng(4).uniform(-0.5, 0.5, size=(11, 3))
    zero = np.zeros(3)
    assert np.isfinite(sk.forward_dynamics(model, q, zero, zero)).all()
    for row in range(11):
        locked = q.copy()
        locked[row, 1] = np.pi / 2
        with pytest.raises(sk.DynamicsError, match=rf"^Joint 'yaw' \(revolute\) in state {row} "):
            sk.forward_dynamics(model, locked, zero, zero, threads=2)


def test_the_inverse_needs_no_inertia_where_nothing_is_solved():
    model = chain(*SINGULAR["a hinge through a point mass"][0])
    zero = np.zeros(model.nv)
    assert np.isfinite(sk.inverse_dynamics(model, zero, zero, zero)).all()
    assert np.linalg.matrix_rank(sk.mass_matrix(model, zero)) == model.nv - 1


# ---- numbers that are too large ----------------------------------------------------------------


@pytest.mark.parametrize("batch", [None, B])
@pytest.mark.parametrize("name", [n for n, (named, _, _) in FUNCTIONS.items() if "v" in named])
def test_velocities_that_overflow_are_refused(model, name, batch):
    given = arguments(model, batch)
    given["v"] = given["v"] * 1e200
    if name in ("momentum", "coriolis_matrix"):  # linear in v
        given["v"] = given["v"] * 1e107
    with pytest.raises(sk.DynamicsError, match=r"not finite at joint '.*too large for double"):
        call(name, model, given)


def test_christoffel_symbols_that_overflow_name_the_state_that_was_given():
    """Inside they are a batch of velocity directions, which is nobody's business."""
    b = sk.ModelBuilder()
    b.add_body("beam", "world", sk.Revolute(axis=(0, 1, 0)), mass=1.0)
    b.add_body("trolley", "beam", sk.Prismatic(axis=(1, 0, 0)), mass=1.0)
    model = b.build()
    q = np.array([[0.1, 2.0], [0.2, 1.0], [0.3, 1e200], [0.4, 3.0], [0.5, 4.0]])
    assert np.isfinite(sk.christoffel_symbols(model, q[:2])).all()
    with pytest.raises(sk.DynamicsError, match=r"^The result is not finite at joint"):
        sk.christoffel_symbols(model, q[2])
    with pytest.raises(sk.DynamicsError, match=r"^The result in state 2 is not finite at joint"):
        sk.christoffel_symbols(model, q)


@pytest.mark.parametrize("batch", [None, B])
@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n not in ("gravity_force",)])
def test_lengths_that_overflow_are_refused(name, batch):
    bodies = naive.random_bodies(np.random.default_rng(1), 5, kinds=["translation", "revolute"],
                                 branching=0.0)  # fmt: skip
    model = adapters.build(bodies)
    given = arguments(model, batch)
    for k, joint in enumerate(model.joints):
        if joint.type_name == "translation":
            given["q"][..., model.q_slice(model.joint_names[k])] = 1.7e308
    named, others, _ = FUNCTIONS[name]
    tip = (4, (0, 0, 0))
    others = () if not others else (tip if len(others) == 2 else ([tip],))
    with pytest.raises(sk.DynamicsError, match=r"not finite at joint '.*too large for double"):
        getattr(sk, name)(model, *(given[n] for n in named), *others)


def every_algorithm():
    """Those of all modules of the package, by module and name."""
    modules = [importlib.import_module(f"skodyn.dynamics.{m.name}") for m in
               pkgutil.iter_modules(skodyn.dynamics.__path__)]  # fmt: skip
    return {f"{module.__name__}.{name}": value for module in modules
            for name, value in vars(module).items() if isinstance(value, Algorithm)}  # fmt: skip


ALGORITHMS = every_algorithm()
CALLED = {"", "v", "x", "v x", "v f_ext", "v x f_ext"}
"""What `driver.run` has a call for."""


@pytest.mark.parametrize("name", ALGORITHMS)
def test_what_an_algorithm_takes_is_what_its_kernel_of_one_state_has(name):
    algorithm = ALGORITHMS[name]
    assert algorithm.takes in CALLED
    given = algorithm.given(v := np.zeros(1), x := np.ones(1), f_ext := np.full(6, 2.0))
    if algorithm.forces_behind:
        assert len(given) == 2
        assert np.array_equal(given[1][:-1], [*x, *f_ext])
        return
    named = {"v": v, "x": x, "f_ext": f_ext}
    assert all(a is named[b] for a, b in zip(given, algorithm.takes.split(), strict=True))
    signature = getattr(algorithm.single, "signature", None)
    assert signature is None or len(given) == len(signature) - len(("block", "q", "out"))


def test_an_x_that_no_kernel_takes_has_no_name():
    odd = {n for n, a in ALGORITHMS.items() if a.x is not None and "x" not in a.takes.split()}
    assert not odd
