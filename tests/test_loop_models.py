"""Loops and couplings as parts of a model: what is kept of them, and that nothing loses them."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skodyn as sk
from skodyn.cli import main
from skodyn.io.model_record import model_text, read_model
from skodyn.model import layout
from skodyn.model.drawing import LIMIT, describe, draw, size_words
from skodyn.model.joints import CATALOGUE, CLOSING
from skodyn.scenario import parse_scenario
from skodyn.sweeps.scenario_data import model_data, to_toml

HEAVY: dict[str, Any] = {"mass": 1.0, "com": (0.4, 0, 0), "inertia": (0.1, 0.1, 0.1)}
CLOSED_BY: dict[str, Any] = {
    "fixed": sk.Fixed(),
    "revolute": sk.Revolute((0, 1, 2)),
    "prismatic": sk.Prismatic((1, 0, 0)),
    "helical": sk.Helical((0, 0, 1), pitch=0.1),
    "cylindrical": sk.Cylindrical((0, 0, 1)),
    "universal": sk.Universal((1, 0, 0), (0, 1, 1)),
    "planar": sk.Planar(),
    "translation": sk.Translation(),
    "spherical": sk.Spherical(),
    "rod": sk.Rod(0.7),
}


def four_bar(**loop: Any) -> sk.ModelBuilder:
    """Crank 0.3, coupler 0.9, rocker 0.7 and ground 1, whose pin may be changed."""
    b = sk.ModelBuilder(name="four-bar")
    b.add_body("crank", "world", sk.Revolute(name="motor"), **HEAVY)
    b.add_body("coupler", "crank", sk.Revolute(), translation=(0.3, 0, 0), **HEAVY)
    b.add_body("rocker", "world", sk.Revolute(), translation=(1, 0, 0), **HEAVY)
    given = {"translation_a": (0.9, 0, 0), "translation_b": (0.7, 0, 0), **loop}
    b.add_loop("pin", "coupler", "rocker", given.pop("joint", sk.Revolute()), **given)
    return b


def chains(n: int) -> sk.ModelBuilder:
    """Hinges side by side on the ground."""
    b = sk.ModelBuilder(name="hinges")
    for k in range(n):
        b.add_body(f"h{k}", "world", sk.Revolute(), translation=(k, 0, 0), **HEAVY)
    return b


def geared() -> sk.ModelBuilder:
    b = chains(7)
    b.add_coupling("wrist", "h1", "h0", (0.1, -0.5, 0.3))
    b.add_coupling("differential", terms={"h2": 1, "h3": 1, "h4": -2}, offset=0.25)
    b.add_coupling("lock", "h5", coefficients=[0.125])
    return b


def closed_by(joint: Any) -> sk.ModelBuilder:
    b = sk.ModelBuilder(name="closed")
    for side, place in (("left", -1), ("right", 1)):
        b.add_body(side, "world", sk.Free(), translation=(place, 0, 0), **HEAVY)
    b.add_loop(
        "closure", "left", "right", joint, translation_a=(0.1, 0.2, 0.3),
        rotation_a=(0.5, 0.5, 0.5, 0.5), rotation_b=np.eye(3), translation_b=(1 / 3, 0, 0),
    )  # fmt: skip
    b.add_loop("leg", "world", "left", sk.Rod(1.25), translation_b=(0, 0.1, 0))
    return b


EVERY: dict[str, Callable[[], sk.ModelBuilder]] = {
    "four-bar": four_bar,
    "geared": geared,
    **{f"{name} loop": (lambda j=joint: closed_by(j)) for name, joint in CLOSED_BY.items()},
}


# ---- what is kept -------------------------------------------------------------------------------


def test_every_joint_but_a_free_one_and_a_gimbal_closes_loops():
    assert set(CLOSING) == set(CLOSED_BY) == {*CATALOGUE, "rod"} - {"free", "gimbal"}


def test_a_loop_keeps_what_was_given():
    turned = ((0, -1, 0), (1, 0, 0), (0, 0, 1))
    model = four_bar(rotation_a=turned, rotation_b=(0.6, 0.8, 0, 0)).build()
    (name,), pin = model.loops, model.loops["pin"]
    assert name == "pin"
    assert isinstance(pin, sk.Loop)
    assert (pin.body_a, pin.body_b, pin.joint) == ("coupler", "rocker", sk.Revolute())
    np.testing.assert_array_equal(pin.rotation_a, turned)
    np.testing.assert_array_equal(pin.translation_a, (0.9, 0, 0))
    np.testing.assert_array_equal(pin.translation_b, (0.7, 0, 0))
    np.testing.assert_allclose(pin.rotation_b @ (0, 0, 1), (0, -0.96, -0.28), atol=1e-15)


def test_couplings_keep_what_was_given():
    model = geared().build()
    assert model.couplings == {
        "wrist": sk.JointCoupling(("h1", "h0"), coefficients=(0.1, -0.5, 0.3)),
        "differential": sk.JointCoupling(("h2", "h3", "h4"), (), (1.0, 1.0, -2.0), 0.25),
        "lock": sk.JointCoupling(("h5",), (), (1.0,), 0.125),
    }


def test_a_polynomial_of_degree_one_stays_one():
    b = chains(2)
    b.add_coupling("gear", "h0", "h1", [0, -3])
    assert b.build().couplings["gear"].coefficients == (0.0, -3.0)


def test_loops_come_before_couplings_in_the_order_given():
    b = closed_by(sk.Spherical())
    b.add_body("a", "world", sk.Revolute(), **HEAVY)
    b.add_body("b", "a", sk.Revolute(), **HEAVY)
    b.add_coupling("gear", "a", "b", (0, 1))
    b.add_loop("another", "left", "b", sk.Spherical())
    model = b.build()
    assert model.loop_names == ("closure", "leg", "another", "gear")
    assert model.has_loops


def test_every_joint_of_the_tree_keeps_its_coordinates():
    model = four_bar().build()
    assert (model.nq, model.nv) == (3, 3)
    assert model.independent_joints == ("motor", "coupler", "rocker")


def test_arrays_of_loops_are_read_only_and_loops_are_sealed():
    model = four_bar().build()
    for one in (model, pickle.loads(pickle.dumps(model))):
        with pytest.raises(ValueError, match="read-only"):
            one.loops["pin"].translation_a[0] = 1.0
    with pytest.raises(sk.ModelError, match="loops cannot be replaced"):
        replace(model, loops={})
    with pytest.raises(sk.ModelError, match="couplings cannot be replaced"):
        replace(geared().build(), couplings={})


def test_a_massless_body_may_lie_on_a_loop_but_not_beside_one():
    b = four_bar()
    b.add_body("link", "world", sk.Revolute(), translation=(0, 1, 0))
    b.add_loop("link pin", "link", "rocker", sk.Spherical(), translation_a=(1, 0, 0))
    b.build()
    b.add_body("dangling", "link", sk.Revolute())
    with pytest.raises(sk.ModelError, match="Body 'dangling': it can move"):
        b.build()


def test_a_massless_joint_may_be_geared_to_another():
    b = chains(1)
    b.add_body("wheel", "world", sk.Revolute())
    b.add_coupling("gear", "wheel", "h0", (0, 2))
    assert b.build().couplings


# ---- without them -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERY)
def test_opened_is_the_tree_as_built_without_loops(name: str):
    b = EVERY[name]()
    model = b.build()
    b.loops, b.couplings = [], []
    tree = b.build()
    assert model.opened == tree
    assert model != tree
    np.testing.assert_array_equal(model.opened.kernel_tree, tree.kernel_tree)
    np.testing.assert_array_equal(model.opened.parameters, tree.parameters)
    assert not model.opened.has_loops
    assert model.opened.opened is model.opened
    assert tree.opened is tree
    assert tree.groups == tree.loop_names == ()


def test_a_table_of_loops_lies_behind_the_tree():
    model = four_bar().build()
    tree = model.opened.kernel_tree
    assert tree[layout.LOOPS] == 0
    assert model.kernel_tree[layout.LOOPS] == tree.size < model.kernel_tree.size
    before = np.delete(model.kernel_tree[: tree.size], layout.LOOPS)
    np.testing.assert_array_equal(before, np.delete(tree, layout.LOOPS))
    np.testing.assert_array_equal(
        model.parameters[: tree.size], model.opened.parameters[: tree.size]
    )


@pytest.mark.parametrize(
    ("build", "kind", "name"), [(four_bar, "loops", "pin"), (geared, "couplings", "wrist")]
)
def test_what_has_no_code_for_loops_says_so(build: Any, kind: str, name: str):
    model = build().build()
    with pytest.raises(sk.ModelError) as caught:
        model._refuse_loops("mass_matrix")
    assert str(caught.value) == (
        f"Model {model.name!r}: mass_matrix does not take models with {kind}, and {name!r} is "
        "one; use model.opened, the same tree without them."
    )
    model.opened._refuse_loops("mass_matrix")


# ---- what makes models differ -------------------------------------------------------------------


CHANGED = {
    "translation of A": four_bar(translation_a=(0.9, 1e-15, 0)),
    "translation of B": four_bar(translation_b=(0.7, 0, 1e-15)),
    "rotation of A": four_bar(rotation_a=(0, 0, 0, 1)),
    "rotation of B": four_bar(rotation_b=(0, 0, 0, 1)),
    "axis": four_bar(joint=sk.Revolute((0, 1e-9, 1))),
    "type": four_bar(joint=sk.Cylindrical()),
    "rod": four_bar(joint=sk.Rod(0.7)),
    "longer rod": four_bar(joint=sk.Rod(0.8)),
    "screw": four_bar(joint=sk.Helical(pitch=0.1)),
    "steeper screw": four_bar(joint=sk.Helical(pitch=0.2)),
    "none": four_bar(),
}


def test_the_hash_knows_every_part_of_a_loop():
    hashes = {b.build().content_hash for b in CHANGED.values()}
    assert len(hashes) == len(CHANGED)


def test_the_hash_knows_names_and_ends_of_a_loop():
    base = four_bar()
    (pin,) = base.loops
    changes = [{"name": "other"}, {"body_a": "crank"}, {"body_b": "world"}, {}]
    hashes = set()
    for change in changes:
        base.loops = [replace(pin, **change)]
        hashes.add(base.build().content_hash)
    assert len(hashes) == len(changes)


def test_the_hash_knows_every_part_of_a_coupling():
    given: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        (("gear", "h0", "h1", (0, 1)), {}),
        (("other", "h0", "h1", (0, 1)), {}),
        (("gear", "h1", "h0", (0, 1)), {}),
        (("gear", "h0", "h2", (0, 1)), {}),
        (("gear", "h0", "h1", (0, 1, 2)), {}),
        (("gear", "h0", None, (0.5,)), {}),
        (("gear",), {"terms": {"h0": 1, "h1": 2}}),
        (("gear",), {"terms": {"h0": 1, "h1": 2}, "offset": 0.5}),
        (("gear",), {"terms": {"h0": 1, "h1": 3}}),
    ]
    hashes = set()
    for arguments, options in given:
        b = chains(3)
        b.add_coupling(*arguments, **options)
        hashes.add(b.build().content_hash)
    assert len(hashes) == len(given)


# ---- there and back -----------------------------------------------------------------------------


def assert_same(back: sk.Model, model: sk.Model) -> None:
    assert back == model
    assert describe(back) == describe(model)
    assert back.loop_names == model.loop_names
    assert back.couplings == model.couplings
    np.testing.assert_array_equal(back.parameters, model.parameters)


@pytest.mark.parametrize("name", EVERY)
def test_models_with_loops_come_back_from_their_record_and_from_a_pickle(name: str):
    model = EVERY[name]().build()
    assert_same(read_model(model_text(model)), model)
    assert_same(pickle.loads(pickle.dumps(model)), model)


@pytest.mark.parametrize("name", EVERY)
def test_models_with_loops_come_back_from_a_file(name: str, tmp_path: Path):
    model = EVERY[name]().build()
    path = tmp_path / "m.toml"
    path.write_text(to_toml(model_data(model)))
    assert_same(sk.load(path), model)


def test_a_record_from_before_there_were_loops_is_read():
    model = four_bar().build().opened
    data = json.loads(model_text(model))
    del data["loops"], data["couplings"]
    assert read_model(json.dumps(data)) == model


FILE = """
name = "four-bar"
[bodies]
crank = { parent = "world", joint = { type = "revolute", name = "motor" }, mass = 1, \
com = [0.4, 0, 0], inertia = [0.1, 0.1, 0.1] }
coupler = { parent = "crank", joint = { type = "revolute" }, translation = [0.3, 0, 0], mass = 1, \
com = [0.4, 0, 0], inertia = [0.1, 0.1, 0.1] }
rocker = { parent = "world", joint = { type = "revolute" }, translation = [1, 0, 0], mass = 1, \
com = [0.4, 0, 0], inertia = [0.1, 0.1, 0.1] }

[loops.pin]
joint = { type = "revolute", axis = [0, 0, 1] }
body_a = "coupler"
translation_a = [0.9, 0, 0]
body_b = "rocker"
translation_b = [0.7, 0, 0]
"""


def test_a_file_says_the_same_as_the_builder(tmp_path: Path):
    path = tmp_path / "m.toml"
    path.write_text(
        f"{FILE}"
        "[couplings.wrist]\njoint = 'coupler'\nsource = 'motor'\ncoefficients = [0.1, -0.5]\n"
        "[couplings.cage]\nterms = { motor = 1, rocker = -2 }\noffset = 0.5\n"
        "[loops.leg]\njoint = { type = 'rod', length = 0.5 }\nbody_a = 'world'\nbody_b = 'crank'\n"
    )
    b = four_bar()
    b.add_loop("leg", "world", "crank", sk.Rod(0.5))
    b.add_coupling("wrist", "coupler", "motor", (0.1, -0.5))
    b.add_coupling("cage", terms={"motor": 1, "rocker": -2}, offset=0.5)
    assert_same(sk.load(path), b.build())


def test_a_scenario_may_hold_a_model_with_loops():
    b = chains(2)
    b.add_coupling("gear", "h0", "h1", (0, 2))
    b.add_loop("rail", "h0", "world", sk.Cylindrical())
    model = b.build()
    text = to_toml({"duration": 0.1, "model": model_data(model)})
    assert_same(parse_scenario(text, Path()).model, model)


# ---- drawn --------------------------------------------------------------------------------------


def test_loops_couplings_and_groups_are_drawn():
    b = four_bar()
    b.add_body("dial", "rocker", sk.Prismatic(), **HEAVY)
    b.add_coupling("gear", "dial", "motor", (0.1, 0, -0.5))
    b.add_coupling("cage", terms={"motor": 1, "rocker": -2}, offset=0.5)
    model = b.build()
    text = str(model).splitlines()
    assert text[0].startswith("four-bar: 4 bodies, nq 4, nv 4, 1 loop, 2 couplings, 4 kg, ")
    below = text[text.index("loops") :]
    assert below[:-1] == [
        "loops",
        "   pin  revolute axis (0, 0, 1)  coupler at (0.9, 0, 0) – rocker at (0.7, 0, 0)",
        "couplings",
        "   gear  dial = 0.1 - 0.5 × motor²",
        "   cage  motor - 2 × rocker = 0.5",
        "groups",
    ]
    assert below[-1].startswith("   loop 'pin' and couplings 'gear' and 'cage': 7 rows, ")


def test_a_group_says_its_rows_redundant_ones_and_mobility():
    assert str(four_bar().build()).splitlines()[-1] == (
        "   loop 'pin': 5 rows, 3 redundant; mobility 1 ('motor', 'coupler' and 'rocker', on "
        "'world')"
    )
    b = chains(2)
    b.add_coupling("gear", "h0", "h1", (0, 1))
    assert str(b.build()).splitlines()[-1] == (
        "   coupling 'gear': 1 row, none redundant; mobility 1 ('h0' and 'h1', on 'world')"
    )


def test_a_large_group_is_noted():
    b = chains(70)
    b.add_coupling("all", terms={f"h{k}": 1 + k for k in range(70)})
    line = str(b.build()).splitlines()[-1]
    assert line.endswith("; 70 degrees of freedom in one group may be slow")
    assert "'h5' and 64 more, on 'world'" in line


def test_a_long_list_of_couplings_is_cut_and_says_so():
    n = LIMIT + 5
    b = chains(n + 1)
    for k in range(n):
        b.add_coupling(f"gear {k}", f"h{k}", f"h{k + 1}", (0, 1))
    model = b.build()
    short, full = draw(model).splitlines(), draw(model, everything=True).splitlines()
    assert sum(line.startswith("   gear ") for line in short) == LIMIT
    assert sum(line.startswith("   gear ") for line in full) == n
    assert short[-1] == "… 6 bodies and 5 couplings left out; `skodyn info --all` shows them"


def test_a_tree_is_drawn_as_before():
    tree = four_bar().build().opened
    assert "loop" not in str(tree)
    assert size_words(tree) == "3 bodies, nq 3, nv 3"


def test_info_and_check_speak_of_loops(tmp_path: Path, capsys: Any):
    path = tmp_path / "m.toml"
    path.write_text(FILE)
    words = "loop 'pin': 5 rows, 3 redundant; mobility 1"
    assert main(["info", str(path)]) == 0
    assert f"groups\n   {words}" in capsys.readouterr().out
    assert main(["check", str(path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith(words)
    assert out.endswith("valid (3 bodies, nq 3, nv 3, 1 loop)\n")
    assert main(["info", str(path), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["loops"]["pin"]["body_a"] == "coupler"
    (group,) = data["groups"]
    assert group["joints"] == ["motor", "coupler", "rocker"]
    assert (group["rows"], group["rank"], group["mobility"]) == (5, 2, 1)


def test_a_mechanism_that_cannot_close_is_drawn_but_not_sound(tmp_path: Path, capsys: Any):
    path = tmp_path / "m.toml"
    path.write_text(FILE.replace("[0.7, 0, 0]", "[7.0, 0, 0]"))
    assert main(["info", str(path)]) == 0
    assert "groups\n   Loop 'pin': its ends are " in capsys.readouterr().out
    assert main(["check", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Loop 'pin': its ends are " in err
