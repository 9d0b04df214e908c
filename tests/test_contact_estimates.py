"""Laws that robot files give: MuJoCo's estimated on request, Drake's as they are."""

from __future__ import annotations

import numpy as np
import pytest

import skodyn as sk
from skodyn.cli.runs import check_scenario
from skodyn.io.model_record import model_text, read_model
from skodyn.model.contact.contact_estimates import mixed
from skodyn.model.contact.contact_pairs import find_pairs
from skodyn.model.contact.contacts import restitution_of
from skodyn.model.shapes import Proximity, Surface

mujoco = pytest.importorskip("mujoco")

BALL = """<mujoco><worldbody><geom name="floor" type="plane" size="5 5 1" {floor}/>
<body name="ball" pos="0 0 {height}"><freejoint/>
<geom name="skin" type="sphere" size="0.1" mass="{mass}" {ball}/></body>
</worldbody>{more}</mujoco>"""
ESTIMATE = sk.Contact("ball", "floor", solref="estimate")


def text(ball="", floor="", mass=1.0, height=0.0999, more=""):
    return BALL.format(ball=ball, floor=floor, mass=mass, height=height, more=more)


def loaded(tmp_path, **values):
    path = tmp_path / "ball.xml"
    path.write_text(text(**values))
    return sk.load(path)


def law(model, contact=ESTIMATE):
    (pair,) = find_pairs(model, [contact])
    return pair.law


def their_depth(**values):
    """How deep MuJoCo's ball rests."""
    model = mujoco.MjModel.from_xml_string(text(**values))
    data = mujoco.MjData(model)
    for _ in range(4000):
        mujoco.mj_step(model, data)
    return 0.1 - data.qpos[2]


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"mass": 7.0},
        {"ball": 'solref="0.01 1"', "floor": 'solref="0.03 1"'},
        {"ball": 'solref="-20000 -100"'},
        {"ball": 'solimp="0.8 0.95 0.002 0.3 3"', "floor": 'solimp="0.9 0.99 0.001 0.5 2"'},
        {"ball": 'solref="0.01 1.5" priority="2"', "floor": 'solref="0.05 1"'},
        {"ball": 'solmix="3" solref="0.01 1"'},
    ],
)
def test_things_rest_as_deep_as_in_mujoco(tmp_path, values):
    found, model = law(loaded(tmp_path, **values)), loaded(tmp_path, **values)
    ours = 9.81 * model.mass[0] / found.stiffness
    assert ours == pytest.approx(their_depth(**values), rel=2e-3)


def test_the_numbers_of_the_study(tmp_path):
    """Sphere of 1 kg, defaults: 26.7 kN/m at rest, 2.3 kN/m in motion, 0.367 mm deep."""
    (pair,) = find_pairs(loaded(tmp_path), [ESTIMATE])
    assert pair.law.stiffness == pytest.approx(26.7e3, rel=5e-3)
    assert "0.000367 m" in pair.from_file
    assert "its motion has 231" in pair.from_file
    assert restitution_of(pair.law.dissipation, 1.0) == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("condim", "expected"),
    [(1, (0.0, 0.0, 0.0)), (3, (0.7, 0.0, 0.0)), (4, (0.7, 0.02, 0.0)), (6, (0.7, 0.02, 0.003))],
)
def test_condim_says_which_friction(tmp_path, condim, expected):
    model = loaded(tmp_path, ball=f'friction="0.7 0.02 0.003" condim="{condim}"',
                   floor='friction="0.1 0 0" condim="1"')  # fmt: skip
    found = law(model)
    assert (found.friction, found.torsional_friction, found.rolling_friction) == expected
    own = law(model, sk.Contact("ball", "floor", solref="estimate", friction=0.25))
    assert own.friction == 0.25


def test_surfaces_mix_as_in_mujoco(tmp_path):
    """What mj_contactParam gives: read from the contact that a step leaves."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        words = []
        for _ in range(2):
            negative = rng.random() < 0.3
            a, b = (-rng.uniform(100, 1000), -rng.uniform(1, 50)) if negative else (
                rng.uniform(0.01, 0.1), rng.uniform(0.5, 2))  # fmt: skip
            d = rng.uniform([0.5, 0.9], [0.9, 0.99])
            f = rng.uniform(0.1, 1.0, size=3)
            words.append(
                f'solref="{a} {b}" solimp="{d[0]} {d[1]} 0.001 0.5 2" friction="{f[0]} {f[1]} '
                f'{f[2]}" condim="{rng.choice([1, 3, 4, 6])}" solmix="{rng.uniform(0.1, 3)}" '
                f'priority="{rng.integers(0, 2)}"'
            )
        values = {"ball": words[0], "floor": words[1], "height": 0.09}
        theirs = mujoco.MjModel.from_xml_string(text(**values))
        data = mujoco.MjData(theirs)
        mujoco.mj_forward(theirs, data)
        seen = data.contact[0]
        model = loaded(tmp_path, **values)
        ball, floor = model.collisions["ball"][0].surface, model.collisions["world"][0].surface
        found = mixed(floor, ball)
        assert np.allclose(found.solref, seen.solref, rtol=1e-12)
        assert np.allclose(found.solimp, seen.solimp, rtol=1e-12)
        assert found.condim == seen.dim
        assert np.allclose(found.friction, seen.friction[[0, 2, 3]], rtol=1e-12)


def test_a_ball_falls_by_the_estimate_and_rests_as_deep(tmp_path):
    model = loaded(tmp_path, height=0.11)
    run = sk.simulate(model, model.neutral(), np.zeros(6), duration=2.0, dt=2e-3,
                      integrator="implicit_contact", contacts=[ESTIMATE])  # fmt: skip
    assert 0.1 - (0.11 + run.q[-1, 6]) == pytest.approx(their_depth(), rel=5e-3)
    (said,) = run.summary["contact_laws"]
    assert said.startswith("ball/skin with floor: stiffness 2.67")


DRAKE = """<robot name="r"><link name="ball"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision name="skin"><geometry><sphere radius="0.1"/></geometry>{ball}</collision></link>
<link name="other"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision name="skin"><geometry><sphere radius="0.1"/></geometry>{other}</collision></link>
<link name="between"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="prismatic"><parent link="ball"/><child link="between"/><axis xyz="1 0 0"/>
<limit lower="-9" upper="9" effort="1" velocity="1"/></joint>
<joint name="k" type="prismatic"><parent link="between"/><child link="other"/><axis xyz="1 0 0"/>
<limit lower="-9" upper="9" effort="1" velocity="1"/></joint></robot>"""
SOFT = """<drake:proximity_properties><drake:point_contact_stiffness value="2e5"/>
<drake:hunt_crossley_dissipation value="3"/><drake:mu_dynamic value="0.4"/>
<drake:mu_static value="0.6"/></drake:proximity_properties>"""
HARD = SOFT.replace("2e5", "6e5").replace('"3"', '"1"').replace("0.4", "0.8").replace("0.6", "1.2")
BOTH = sk.Contact("ball", "other", proximity="drake")


def robot(tmp_path, ball=SOFT, other=HARD):
    path = tmp_path / "r.urdf"
    path.write_text(DRAKE.format(ball=ball, other=other))
    return sk.load(path, root="free")


def test_drakes_properties_combine_as_drake_does(tmp_path):
    """k₁k₂/(k₁ + k₂), d weighted by the other's stiffness, 2μ₁μ₂/(μ₁ + μ₂)."""
    model = robot(tmp_path)
    found = law(model, BOTH)
    assert found.stiffness == pytest.approx(1.5e5)
    assert found.dissipation == pytest.approx(0.75 * 3 + 0.25 * 1)
    assert found.friction == found.static_friction == pytest.approx(2 * 0.4 * 0.8 / 1.2)
    slow = law(model, sk.Contact("ball", "other", proximity="drake", slip_speed=0.01))
    assert slow.static_friction == pytest.approx(2 * 0.6 * 1.2 / 1.8)
    again = read_model(model_text(model))
    assert again.collisions["ball"][0].surface == Proximity(
        stiffness=2e5, dissipation=3.0, kinetic=0.4, static=0.6
    )
    assert law(again, BOTH) == found
    grounded = sk.dynamics.contact_functions.with_ground(model, [sk.HalfSpace()])
    alone = law(grounded, sk.Contact("ball", "floor", proximity="drake"))
    assert (alone.stiffness, alone.dissipation, alone.friction) == pytest.approx((2e5, 3.0, 0.4))


def refusal(model, contact):
    with pytest.raises(sk.ModelError) as caught:
        find_pairs(model, [contact])
    return " ".join(str(fault) for fault in caught.value.faults)


def test_what_cannot_be_had_is_refused(tmp_path):
    ball = loaded(tmp_path)
    said = refusal(ball, sk.Contact("ball", "floor"))
    assert "has no stiffness" in said or "no stiffness" in said
    said = refusal(
        ball, sk.Contact("ball", "floor", solref="estimate", stiffness=1e4, restitution=0.5)
    )
    assert "stiffness 10000.0 has no effect beside solref" in said
    assert "restitution" in said
    assert 'give "estimate"' in refusal(ball, sk.Contact("ball", "floor", solref="exact"))
    said = refusal(ball, sk.Contact("ball", "floor", proximity="drake"))
    assert "and shape 'ball/skin' has none; add it to the file, or give stiffness" in said
    both = sk.Contact("ball", "floor", solref="estimate", proximity="drake")
    assert "give one of them" in refusal(ball, both)
    pair = loaded(tmp_path, more='<contact><pair geom1="skin" geom2="floor"/></contact>')
    assert "<pair> gives them a law of their own" in refusal(pair, ESTIMATE)
    plain = robot(tmp_path, ball="", other="")
    estimate = sk.Contact("ball", "other", solref="estimate")
    assert "moving geoms of an MJCF file" in refusal(plain, estimate)
    soft = SOFT.replace('<drake:point_contact_stiffness value="2e5"/>', "")
    assert "lacks drake:point_contact_stiffness" in refusal(robot(tmp_path, ball=soft), BOTH)
    bad = SOFT.replace("drake:mu_dynamic", "drake:mu_dynamo")
    with pytest.raises(sk.ModelError, match="mu_dynamo"):
        robot(tmp_path, ball=bad)


def test_drakes_law_needs_the_properties_of_every_body(tmp_path):
    """A body without any is not rigid as the ground is: all that is missing is said at once."""
    said = refusal(robot(tmp_path, other=""), BOTH)
    assert "and shape 'other/skin' has none; add it to the file, or give stiffness" in said
    assert "shape 'ball/skin' has none" in refusal(robot(tmp_path, ball=""), BOTH)
    zero, bare = SOFT.replace("2e5", "0"), SOFT.replace("hunt_crossley_dissipation", "mu_static", 1)
    said = refusal(robot(tmp_path, ball=zero), BOTH)
    assert "shape 'ball/skin' has drake:point_contact_stiffness 0, which is not a spring" in said
    bare = bare.replace('<drake:mu_static value="0.6"/>', "")
    said = refusal(robot(tmp_path, ball=zero, other=bare), BOTH)
    assert "'ball/skin' has drake:point_contact_stiffness 0" in said
    assert "'other/skin' lacks drake:hunt_crossley_dissipation" in said
    minus = SOFT.replace("2e5", "-1")
    with pytest.raises(sk.ModelError, match="point_contact_stiffness"):
        robot(tmp_path, ball=minus)
    floor = sk.dynamics.contact_functions.with_ground(robot(tmp_path, ball=""), [sk.HalfSpace()])
    assert "shape 'ball/skin' has none" in refusal(
        floor, sk.Contact("ball", "floor", proximity="drake")
    )


def test_a_scenario_says_what_it_estimates(tmp_path):
    loaded(tmp_path)
    path = tmp_path / "run.toml"
    path.write_text(
        'duration = 0.1\n[model]\nfile = "ball.xml"\n[integrator]\nmethod = "rk4"\ndt = 1e-4\n'
        '[contacts.skin]\na = "ball"\nb = "floor"\nsolref = "estimate"\n'
    )
    assert "note: contact ball/skin with floor: stiffness" in check_scenario(str(path))


def test_surfaces_without_priority_are_their_own_mixture():
    one = Surface(friction=(0.3, 0.1, 0.2), solref=(0.05, 1.2))
    assert mixed(one, one) == one
    assert mixed(one, None) == one
