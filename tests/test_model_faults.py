"""Malformed descriptions: each fault is named with body, value and remedy; nothing else escapes."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import fields, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import skodyn as sk
from exploring import examples
from skodyn.model.joints import CATALOGUE, Joint

NAN, INF = float("nan"), float("inf")
SOUND: dict[str, Any] = {"mass": 1.0, "com": (0, 0, -0.5), "inertia": (0.1, 0.1, 0.1)}
TURNED = ((0, -1, 0), (1, 0, 0), (0, 0, 1))


def faults_of(*bodies: dict[str, Any], frames: Any = (), **options: Any) -> tuple[str, ...]:
    """Build bodies, each sound but for the entries given, and return the faults."""
    builder = sk.ModelBuilder(**options)
    for number, changes in enumerate(bodies):
        entries = {"name": f"body{number}", "joint": sk.Revolute(), **SOUND, **changes}
        builder.add_body(**entries)
    for entries in frames:
        builder.add_frame(**entries)
    with pytest.raises(sk.ModelError) as caught:
        builder.build()
    return tuple(map(str, caught.value.faults))


def one(**changes: Any) -> Callable[[], tuple[str, ...]]:
    """A model of one body called 'arm' that is sound but for these entries."""
    return lambda: faults_of({"name": "arm", **changes})


def frame(**changes: Any) -> Callable[[], tuple[str, ...]]:
    """A sound body 'arm' with one frame 'tip' that is sound but for these entries."""
    return lambda: faults_of({"name": "arm"}, frames=[{"name": "tip", "body": "arm", **changes}])


def joint(given: Any) -> Callable[[], tuple[str, ...]]:
    return one(joint=given)


# what is described -> words its only fault must contain
TABLE: dict[str, tuple[Callable[[], tuple[str, ...]], tuple[str, ...]]] = {
    # mass
    "negative mass": (one(mass=-2.5), ("'arm'", "mass is -2.5", "negative", "kilograms")),
    "text for a mass": (one(mass="heavy"), ("'arm'", "mass is 'heavy'", "give a number")),
    "no mass but None": (one(mass=None), ("'arm'", "mass is None", "give a number")),
    "mass of three": (one(mass=(1, 2, 3)), ("mass is (1, 2, 3)", "give a number")),
    "complex mass": (one(mass=1 + 2j), ("mass is (1+2j)", "give a number")),
    "true for a mass": (one(mass=True), ("mass is True", "give a number")),
    "NaN mass": (one(mass=NAN), ("'arm'", "mass is nan", "not finite")),
    "infinite mass": (one(mass=INF), ("'arm'", "mass is inf", "not finite")),
    "absurd mass": (one(mass=1e200), ("mass is 1e+200", "beyond ±1e60", "SI")),
    "mass no float can hold": (one(mass=10**400), ("mass is 1000", "…", "give a number")),
    "mass no text can hold": (one(mass=10**5000), ("without a printable form", "a number")),
    "decimal mass": (one(mass=Decimal("1.5")), ("Decimal('1.5')", "give a number")),
    # inertia
    "asymmetric inertia": (
        one(inertia=((1, 0.2, 0), (0, 1, 0), (0, 0, 1))),
        ("'arm'", "not symmetric", "differ by 0.2", "transpose"),
    ),
    "indefinite inertia": (
        one(inertia=(-0.1, 0.5, 0.5)),
        ("'arm'", "not positive semidefinite", "(-0.1, 0.5, 0.5)", "centre of mass"),
    ),
    "triangle inequality": (
        one(inertia=(0.1, 0.2, 0.5)),
        ("'arm'", "(0.1, 0.2, 0.5)", "0.1 + 0.2 < 0.5", "repair_inertia=True"),
    ),
    "two moments": (one(inertia=(1, 1)), ("inertia is (1, 1)", "3×3", "principal")),
    "text for inertia": (one(inertia="big"), ("inertia is 'big'", "3×3")),
    "ragged inertia": (one(inertia=((1, 0), (0, 1, 0), (0,))), ("inertia is ((1, 0)", "3×3")),
    "NaN inertia": (one(inertia=(1, NAN, 1)), ("'arm'", "nan", "not finite")),
    "booleans in an inertia": (one(inertia=(1.0, True, 1.0)), ("(1.0, True, 1.0)", "3×3")),
    "nothing to move": (
        one(mass=0.0, inertia=(0, 0, 0)),
        ("'arm'", "can move (revolute joint)", "mass or inertia", "give it a mass, or fix it"),
    ),
    # vectors
    "short translation": (one(translation=(1, 2)), ("translation is (1, 2)", "three numbers")),
    "nested translation": (one(translation=[[0, 0, 1]]), ("[[0, 0, 1]]", "three numbers")),
    "infinite translation": (one(translation=(0, 0, INF)), ("translation", "inf", "not finite")),
    "None for com": (one(com=None), ("'arm'", "com is None", "three numbers")),
    "texts in com": (one(com=("0", "0", "0")), ("com is ('0', '0', '0')", "three numbers")),
    "NaN com": (one(com=(NAN, 0, 0)), ("com is [nan, 0.0, 0.0]", "not finite")),
    "ragged com": (one(com=(1, (2, 3), 4)), ("com is (1, (2, 3), 4)", "three numbers")),
    "objects in com": (one(com=np.array([1, None, 2])), ("com is array(", "three numbers")),
    "masked com": (one(com=np.ma.array([1, 2, 3], mask=[0, 1, 0])), ("masked", "three numbers")),
    "dictionary for com": (one(com={"x": 1}), ("{'x': 1}", "three numbers")),
    "gravity down": (
        lambda: faults_of({}, gravity=-9.81),
        ("The model: gravity is -9.81", "three numbers"),
    ),
    "NaN gravity": (lambda: faults_of({}, gravity=(0, 0, NAN)), ("gravity", "not finite")),
    # rotation
    "stretched rotation": (
        one(rotation=((2, 0, 0), (0, 1, 0), (0, 0, 1))),
        ("'arm'", "not orthonormal", "more digits"),
    ),
    "reflection": (
        one(rotation=((1, 0, 0), (0, 1, 0), (0, 0, -1))),
        ("'arm'", "reflection", "flip the sign"),
    ),
    "Euler angles": (one(rotation=(0, 0, 1)), ("rotation is (0, 0, 1)", "3×3", "quaternion")),
    "long quaternion": (one(rotation=(1, 1, 0, 0)), ("norm 1.41421356", "unit quaternion")),
    "zero quaternion": (one(rotation=(0, 0, 0, 0)), ("norm 0", "unit quaternion")),
    "NaN rotation": (one(rotation=(NAN, 0, 0, 0)), ("not finite", "unit quaternion")),
    "huge rotation": (one(rotation=np.full((3, 3), 1e308)), ("1.e+308", "not orthonormal")),
    "text for a rotation": (one(rotation="flip"), ("rotation is 'flip'", "3×3")),
    # names
    "number for a name": (one(name=7), ("Body number 1", "7", "text")),
    "None for a name": (one(name=None), ("Body number 1", "None", "text")),
    "empty name": (one(name=""), ("Body number 1", "empty name", "give it one")),
    "blank name": (one(name="  "), ("Body number 1", "empty name", "give it one")),
    "name in two lines": (one(name="a\nb"), ("'a\\nb'", "cannot be printed", "rename")),
    "half a character": (one(name="\ud800"), ("'\\ud800'", "cannot be printed", "rename")),
    "name of the ground": (one(name="world"), ("'world'", "ground", "rename")),
    "same name twice": (lambda: faults_of({"name": "a"}, {"name": "a"}), ("'a'", "2", "own")),
    "no name for the model": (lambda: faults_of({}, name=""), ("The model", "empty name")),
    "None for the model's name": (lambda: faults_of({}, name=None), ("The model", "None")),
    "same joint name twice": (
        lambda: faults_of({"joint": sk.Revolute(name="j")}, {"joint": sk.Free(name="j")}),
        ("Joint 'j'", "2", "own"),
    ),
    "joint named like another body": (
        lambda: faults_of({"name": "a"}, {"name": "b", "joint": sk.Revolute(name="a")}),
        ("Joint 'a'", "2", "own"),
    ),
    "number for a joint name": (joint(sk.Revolute(name=3)), ("'arm'", "joint", "3", "text")),
    "empty joint name": (joint(sk.Revolute(name="")), ("'arm'", "joint", "empty name")),
    # tree
    "no body": (lambda: faults_of(), ("no body", "add at least one")),
    "misspelt parent": (
        lambda: faults_of({"name": "shoulder"}, {"name": "b", "parent": "sholder"}),
        ("'b'", "'sholder'", "did you mean 'shoulder'?"),
    ),
    "unknown parent": (one(parent="quite else"), ("'arm'", "'quite else'", "name a body")),
    "None for a parent": (one(parent=None), ("'arm'", "parent is None", "'world'")),
    "list for a parent": (one(parent=["world"]), ("'arm'", "parent is ['world']", "'world'")),
    "its own parent": (one(parent="arm"), ("'arm'", "its own parent", "'world'")),
    "two in a ring": (
        lambda: faults_of({"name": "a", "parent": "b"}, {"name": "b", "parent": "a"}),
        ("bodies", "a → b → a", "cycle", "'world'"),
    ),
    # joints
    "text for a joint": (joint("revolute"), ("'arm'", "joint is 'revolute'", "Revolute(")),
    "class for a joint": (joint(sk.Revolute), ("'arm'", "Revolute(axis=")),
    "bare joint": (joint(Joint()), ("'arm'", "Revolute(axis=")),
    "zero axis": (joint(sk.Revolute(axis=(0, 0, 0))), ("'arm'", "zero length", "(0, 0, 1)")),
    "axis of two": (joint(sk.Prismatic(axis=(0, 1))), ("prismatic", "(0, 1)", "three numbers")),
    "letter for an axis": (joint(sk.Revolute(axis="z")), ("axis is 'z'", "three numbers")),
    "letters for an axis": (joint(sk.Revolute(axis="001")), ("axis is '001'", "three numbers")),
    "generator for an axis": (
        joint(sk.Revolute(axis=(x for x in (0, 0, 1)))),
        ("generator", "three numbers"),
    ),
    "NaN axis": (joint(sk.Cylindrical(axis=(0, NAN, 1))), ("cylindrical", "not finite")),
    "huge axis": (joint(sk.Revolute(axis=(10**400, 0, 0))), ("axis is (1000", "three numbers")),
    "parallel universal axes": (
        joint(sk.Universal(axis1=(0, 0, 1), axis2=(0, 0, -2))),
        ("'arm'", "parallel", "(0, 0, -2)", "revolute"),
    ),
    "planar axes not perpendicular": (
        joint(sk.Planar(x_axis=(1, 0, 0), y_axis=(1, 1, 0))),
        ("'arm'", "not perpendicular", "(1, 1, 0)", "give two"),
    ),
    "NaN pitch": (joint(sk.Helical(pitch=NAN)), ("helical", "pitch is nan", "not finite")),
    "array for a pitch": (joint(sk.Helical(pitch=np.ones(1))), ("pitch is array", "a number")),
    # frames
    "frame of an unknown body": (frame(body="amr"), ("'tip'", "'amr'", "did you mean 'arm'?")),
    "frame of None": (frame(body=None), ("'tip'", "no body None", "name a body")),
    "frame without a name": (frame(name=" "), ("Frame number 1", "empty name")),
    "frame named by a number": (frame(name=1.5), ("Frame number 1", "1.5", "text")),
    "frame named like the ground": (frame(name="world"), ("Frame 'world'", "rename")),
    "short frame translation": (frame(translation=(1,)), ("Frame 'tip'", "(1,)", "three numbers")),
    "reflected frame": (frame(rotation=np.diag([1, 1, -1])), ("Frame 'tip'", "reflection")),
    "same frame twice": (
        lambda: faults_of({"name": "a"}, frames=[{"name": "f", "body": "a"}] * 2),
        ("Frame 'f'", "2", "own"),
    ),
}


@pytest.mark.parametrize("what", TABLE)
def test_a_malformed_description_has_one_fault_that_names_it(what: str):
    describe, words = TABLE[what]
    faults = describe()
    assert len(faults) == 1, faults
    for word in words:
        assert word in faults[0]
    assert faults[0].endswith((".", "?"))
    assert "\n" not in faults[0]
    assert "node" not in faults[0].lower()


@pytest.mark.parametrize("field", ["mass", "com", "inertia", "translation", "rotation"])
@pytest.mark.parametrize("bad", [NAN, INF, -INF])
def test_a_number_that_is_not_finite_is_refused_in_every_field(field: str, bad: float):
    shapes = {"mass": (), "com": (3,), "inertia": (3, 3), "translation": (3,), "rotation": (4,)}
    (fault,) = faults_of({"name": "arm", field: np.full(shapes[field], bad)})
    assert "Body 'arm'" in fault
    assert "not finite" in fault


@pytest.mark.parametrize("type_name", CATALOGUE)
def test_every_parameter_of_every_joint_is_checked(type_name: str):
    joint_type = CATALOGUE[type_name]
    for parameter in fields(joint_type):
        for bad in ("", [[]], NAN, object(), b"", 1j):
            (fault,) = faults_of({"name": "arm", "joint": joint_type(**{parameter.name: bad})})
            assert "Body 'arm'" in fault


def test_all_faults_come_at_once():
    faults = faults_of(
        {"name": "a", "parent": "b", "mass": -1, "joint": sk.Revolute(axis=(0, 0, 0))},
        {"name": "b", "parent": "a", "com": "x", "inertia": (1, 1, 9)},
        {"name": "c", "parent": "d", "rotation": 5},
        frames=[{"name": "f", "body": "e"}, {"name": "", "body": "a"}],
        gravity=None,
        name=3,
    )
    assert len(faults) == 11
    message = str(sk.ModelError(faults))
    assert message.startswith("11 faults in this model:\n")
    assert all(fault in message for fault in faults)


def test_a_body_below_a_cycle_is_named_too():
    cycle, hanging = faults_of(
        {"name": "a", "parent": "b"}, {"name": "b", "parent": "a"}, {"name": "c", "parent": "b"}
    )
    assert "a → b → a" in cycle
    assert hanging.startswith("Body 'c' cannot be reached")


def test_a_wrong_mass_is_not_also_called_missing():
    assert len(faults_of({"mass": "x", "inertia": (0, 0, 0)})) == 1
    assert len(faults_of({"mass": NAN, "inertia": (0, 0, 0)})) == 1


def test_names_that_look_like_words_of_a_message_survive():
    (fault,) = faults_of(
        {"name": "Node 1", "parent": "a node"}, {"name": "a node", "parent": "Node 1"}
    )
    assert fault.startswith("The bodies Node 1 → a node → Node 1 form a cycle")


# ---- what must be accepted ----------------------------------------------------------------------


def built(*bodies: dict[str, Any], **options: Any) -> sk.Model:
    builder = sk.ModelBuilder(**options)
    for entries in bodies:
        builder.add_body(**entries)
    return builder.build()


def test_a_massless_inner_body_is_sound():
    model = built(
        {"name": "ring", "joint": sk.Revolute()},
        {"name": "rotor", "parent": "ring", "joint": sk.Revolute(axis=(1, 0, 0)), **SOUND},
    )
    assert model.mass.tolist() == [0.0, 1.0]


def test_a_massless_leaf_that_cannot_move_is_sound():
    model = built(
        {"name": "arm", "joint": sk.Revolute(), **SOUND}, {"name": "tip", "parent": "arm"}
    )
    assert model.nv == 1


def test_a_body_with_inertia_but_no_mass_is_sound():
    assert built({"name": "rotor", "joint": sk.Revolute(), "inertia": (1, 1, 1)}).nv == 1


@pytest.mark.parametrize("mass", [2, 2.0, np.float32(2), np.int8(2), Fraction(2), np.array(2)])
def test_any_real_number_is_a_mass(mass: Any):
    assert built({"name": "a", "mass": mass}).mass.tolist() == [2.0]


@pytest.mark.parametrize("rotation", [TURNED, np.array(TURNED), (0.5**0.5, 0, 0, 0.5**0.5)])
def test_matrices_and_quaternions_are_rotations(rotation: Any):
    model = built({"name": "a", "rotation": rotation})
    np.testing.assert_allclose(model.rotation[0], TURNED, atol=1e-15)


def test_moments_and_matrices_may_be_mixed():
    matrix = ((2.0, 0.1, 0), (0.1, 2, 0), (0, 0, 2))
    model = built({"name": "a", "inertia": (1, 2, 2)}, {"name": "b", "inertia": matrix})
    np.testing.assert_array_equal(model.inertia, [np.diag([1, 2, 2]), matrix])


# ---- repair -------------------------------------------------------------------------------------


def test_repair_lists_each_inertia_it_replaced_and_nothing_else():
    builder = sk.ModelBuilder()
    builder.add_body("good; still", mass=1.0, inertia=(1, 1, 1))
    builder.add_body("bad; worse", mass=1.0, inertia=(1, 1, 5))
    model = builder.build(repair_inertia=True)
    (repair,) = model.repairs
    assert repair.startswith("Body 'bad; worse': inertia violates the triangle inequality")
    assert "1 + 1 < 5; replaced [[1.0, 0.0, 0.0]" in repair
    low, middle, high = np.linalg.eigvalsh(model.inertia[1])
    assert low + middle >= high * (1 - 1e-12)


def mimic_model() -> sk.Model:
    b = sk.ModelBuilder()
    b.add_body("a", joint=sk.Revolute(), **SOUND)
    b.add_body("b", "a", sk.Revolute(), **SOUND)
    b.add_mimic("b", "a", 2.0)
    return b.build()


PACKED_VALUES: dict[str, Any] = {
    "mass": np.array([5.0, 5.0]),
    "com": np.zeros((2, 3)),
    "inertia": np.broadcast_to(np.eye(3), (2, 3, 3)),
    "rotation": np.broadcast_to(np.eye(3), (2, 3, 3)),
    "translation": np.ones((2, 3)),
    "gravity": np.zeros(3),
    "joints": (sk.Prismatic(), sk.Prismatic()),
    "joint_names": ("c", "d"),
    "mimics": {},
}


@pytest.mark.parametrize("field", PACKED_VALUES)
def test_what_was_packed_cannot_be_replaced_behind_the_kernels(field: str) -> None:
    model = mimic_model()
    with pytest.raises(sk.ModelError, match=rf"{field} cannot be replaced .*with_changes"):
        replace(model, **{field: PACKED_VALUES[field]})


def test_every_field_of_a_model_is_packed_or_free_to_replace() -> None:
    from skodyn.model.model_data import PACKED

    free = {"name", "frames", "repairs", "joint_properties", "limits", "visuals", "notes"}
    free |= {"collisions", "starts", "bent"}
    assert {f.name for f in fields(sk.Model)} == {*PACKED, *free, "packed_with"}
    model = mimic_model()
    renamed = replace(model, name="other", notes=("a note",))
    assert renamed.notes == ("a note",)
    assert sk.mass_matrix(renamed, [0.3]) == sk.mass_matrix(model, [0.3])
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), model.uncoupled):
        assert replace(twin, name="again").name == "again"
        with pytest.raises(sk.ModelError, match="mass cannot be replaced"):
            replace(twin, mass=np.ones(2))


def test_repair_does_not_excuse_other_faults():
    builder = sk.ModelBuilder()
    builder.add_body("a", mass=-1.0, inertia=(1, 1, 5))
    with pytest.raises(sk.ModelError, match="negative"):
        builder.build(repair_inertia=True)


# ---- fuzz ---------------------------------------------------------------------------------------


class Hostile:
    """Raises whatever is asked of it."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no")

    __len__ = __iter__ = __array__ = __repr__ = __str__ = __float__ = __int__ = __index__ = _refuse
    __getitem__ = __bool__ = _refuse


class Endless:
    """An iterable that never ends."""

    def __iter__(self) -> Any:
        while True:
            yield 0.0


ATOMS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=10**300)
    | st.floats()
    | st.complex_numbers()
    | st.text(max_size=5)
    | st.characters(categories=["Cs", "Cc"])
    | st.binary(max_size=3)
    | st.fractions()
    | st.decimals()
    | st.datetimes()
    | st.builds(Hostile)
    | st.builds(Endless)
    | st.builds(lambda: 10**5000)
    | st.sampled_from([object(), int, len, np.ma.masked, ..., range(3)])
    | st.sampled_from(["world", "arm", sk.Revolute(), Joint(), sk.Free])
)
GARBAGE = (
    st.recursive(
        ATOMS,
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.tuples(inner, inner, inner)
            | st.dictionaries(st.text(max_size=2), inner, max_size=2)
        ),
        max_leaves=9,
    )
    | npst.arrays(npst.scalar_dtypes(), npst.array_shapes(min_dims=0, max_dims=3, max_side=4))
    | npst.arrays(np.float64, st.sampled_from([(), (3,), (4,), (3, 3)]))
    | st.lists(st.floats(), min_size=3, max_size=4)
    | st.iterables(st.floats(), max_size=3)
)
BODY_FIELDS = ["name", "parent", "joint", "translation", "rotation", "mass", "com", "inertia"]
FRAME_FIELDS = ["name", "body", "translation", "rotation"]
PARAMETERS = [(t, f.name) for t in CATALOGUE.values() for f in fields(t)]


def built_or_refused(builder: sk.ModelBuilder, repair: bool = False) -> bool:
    """A sound model, or faults that are sentences."""
    try:
        model = builder.build(repair_inertia=repair)
    except sk.ModelError as error:
        return len(error.faults) > 0 and all(str(f).endswith((".", "?")) for f in error.faults)
    return bool(np.isfinite(model.parameters).all()) and len(model.content_hash) == 64


@examples(300)
@given(
    body=st.dictionaries(st.sampled_from(BODY_FIELDS), GARBAGE, max_size=3),
    frame=st.dictionaries(st.sampled_from(FRAME_FIELDS), GARBAGE, max_size=2),
    model=st.dictionaries(st.sampled_from(["name", "gravity"]), GARBAGE, max_size=1),
    repair=st.booleans(),
)
def test_garbage_in_any_field_is_built_or_refused(
    body: dict[str, Any], frame: dict[str, Any], model: dict[str, Any], repair: bool
):
    builder = sk.ModelBuilder(**model)
    builder.add_body("arm", joint=sk.Revolute(), **SOUND)
    builder.add_body(**{"name": "hand", "parent": "arm", "joint": sk.Revolute(), **SOUND, **body})
    builder.add_frame(**{"name": "tip", "body": "arm", **frame})
    assert built_or_refused(builder, repair)


@examples(200)
@given(parameter=st.sampled_from(PARAMETERS), value=GARBAGE)
def test_garbage_in_any_joint_parameter_is_built_or_refused(
    parameter: tuple[type[Joint], str], value: Any
):
    joint_type, name = parameter
    builder = sk.ModelBuilder()
    builder.add_body("arm", joint=joint_type(**{name: value}), **SOUND)
    assert built_or_refused(builder)
