"""Sliders of closed mechanisms in the page: one joint is moved, the others follow."""

from __future__ import annotations

import numpy as np
import pytest

import skodyn as sk
from skodyn.scenario import read_scenario
from skodyn.view.recording import still
from test_loop_view import BODY, HINGE


def slide(page, name, value):
    """Moves a slider and returns q as the page has it."""
    page.locator(f"#sliders input[type=range][aria-label='{name}']").fill(str(value))
    return np.array(page.evaluate("skodyn.joints.q()"))


CLOSING_JOINTS = [
    sk.Revolute(axis=(0, 1, 0)),
    sk.Spherical(),
    sk.Cylindrical(axis=(0, 1, 0)),
    sk.Universal(axis1=(0, 1, 0), axis2=(1, 0, 0)),
    sk.Rod(0.2),
    sk.Helical(axis=(0, 1, 0), pitch=0.05),
    sk.Planar(x_axis=(1, 0, 0), y_axis=(0, 0, 1)),
    sk.Prismatic(axis=(1, 0, 0)),
]


def mechanism(joint):
    """Chains of a few joints of all kinds that meet in a closing joint."""
    b = sk.ModelBuilder(name=f"closed by {joint.type_name}")
    b.add_body("crank", "world", HINGE, **BODY)
    b.add_body("coupler", "crank", sk.Spherical(), translation=(0, 0, 1), **BODY)
    b.add_body("rocker", "world", HINGE, translation=(1.2, 0.1, 0), **BODY)
    b.add_body("slide", "rocker", sk.Prismatic(axis=(0, 0, 1)), translation=(0, 0, 0.6), **BODY)
    b.add_body("wrist", "slide", sk.Universal(axis1=(1, 0, 0), axis2=(0, 1, 0)), **BODY)
    b.add_body("wheel", "world", HINGE, translation=(0, 0.5, 0), **BODY)
    b.add_loop(
        "closing", "coupler", "wrist", joint, translation_a=(1, 0, 0), translation_b=(0, 0, 0.3)
    )
    b.add_coupling("cam", "wheel", "crank", (0.1, -2.0, 0.3))
    return b.build()


@pytest.mark.parametrize("joint", CLOSING_JOINTS, ids=lambda joint: joint.type_name)
def test_a_slider_moves_one_joint_and_the_others_keep_the_loops_closed(page_of, joint):
    model = mechanism(joint)
    assert model.loops["closing"].joint.type_name == joint.type_name
    begun = still(model)
    with page_of(begun) as (page, _, complaints):
        at = float(begun.q[model.q_slice("crank")][0])
        for way in (0.15, 0.3, -0.2):
            q = slide(page, "crank", at + way)
            assert q[model.q_slice("crank")][0] == pytest.approx(at + way, abs=1e-12)
            assert np.abs(sk.loop_error(model, q)).max() < 1e-10
        assert "the other joints follow" in page.locator("#stopped").inner_text()
    assert complaints == []


@pytest.mark.parametrize("name", ["bricard", "stewart", "jansen_leg", "four_bar", "gripper_flight"])
def test_sliders_of_shipped_mechanisms_keep_them_closed(page_of, name):
    scenario = read_scenario(f"scenarios/{name}.toml")
    model, rng = scenario.model, np.random.default_rng(3)
    with page_of(still(model, scenario.q0)) as (page, _, complaints):
        sliders = page.evaluate(
            "skodyn.joints.sliders.map(({ name, low, high }) => [name, low, high])"
        )
        for n in rng.permutation(len(sliders))[:6]:
            label, low, high = sliders[n]
            q = slide(page, label, rng.uniform(0.3 * low, 0.3 * high))
            assert np.abs(sk.loop_error(model, q)).max() < 1e-10, label
    assert complaints == []


def test_a_slider_that_cannot_go_on_stops_at_the_dead_point_and_says_so(page_of):
    b = sk.ModelBuilder(name="crank and rocker")
    b.add_body("crank", "world", HINGE, **BODY)
    b.add_body("coupler", "crank", HINGE, translation=(0, 0, 0.3), **BODY)
    b.add_body("rocker", "world", HINGE, translation=(1, 0, 0), **BODY)
    b.add_loop(
        "pin", "coupler", "rocker", HINGE, translation_a=(0, 0, 0.9), translation_b=(0, 0, 0.7)
    )
    model = b.build()
    start = sk.assemble(model, [0.5, 0.6, -0.4], hold=["crank"]).q
    reach = [
        np.arccos((1 + 0.49 - r**2) / 1.4) for r in (0.6, 1.2)
    ]  # crank and coupler in one line
    with page_of(still(model, start)) as (page, _, complaints):
        for target in (3.0, -3.0):
            q = slide(page, "rocker", target)
            assert "rocker goes no further" in page.locator("#stopped").inner_text()
            inside = np.pi / 2 - abs(q[2]) if q[2] < 0 else np.pi / 2 + q[2]
            assert min(abs(inside - x) for x in reach) < 1e-3
        for turn in np.linspace(0, 4 * np.pi, 40):  # the crank turns on and on
            q = slide(page, "crank", (turn + np.pi) % (2 * np.pi) - np.pi)
            assert np.abs(sk.loop_error(model, q)).max() < 1e-10
        assert q[0] > 2 * np.pi
        page.get_by_label("hold rocker").check()
        slide(page, "crank", 1.0)
        assert "with rocker held" in page.locator("#stopped").inner_text()
    assert complaints == []


def test_a_joint_that_follows_stops_the_slider_at_its_limit(page_of):
    model = sk.examples.four_bar()
    start = sk.assemble(model, [1.0, 0.0, 1.5], hold=["crank"]).q
    model = model.with_changes(limits={"rocker": {"lower": 0.0, "upper": float(start[2]) + 0.1}})
    with page_of(still(model, start)) as (page, _, complaints):
        q = slide(page, "crank", 2.5)
        assert q[2] == pytest.approx(start[2] + 0.1, abs=1e-4)
        assert "rocker is at its limit" in page.locator("#stopped").inner_text()
    assert complaints == []


def ball_crank(joint, offset=0.01):
    """A crank whose rod makes a turn about it, in space: the piston's way lies beside the crank."""
    b = sk.ModelBuilder(name="ball crank")
    parent, place = ("world", (0, 0, 0)) if joint.is_floating else ("crank", (0.3, 0, 0))
    b.add_body("crank", "world", HINGE, **BODY)
    b.add_body("rod", parent, joint, translation=place, **BODY)
    b.add_body("piston", "world", sk.Prismatic(axis=(1, 0, 0)), translation=(0, offset, 0), **BODY)
    wrist = sk.Universal(axis1=(0, 1, 0), axis2=(0, 0, 1))
    b.add_loop("pin", "rod", "piston", wrist, translation_a=(1, 0, 0))
    if joint.is_floating:
        b.add_loop("ball", "crank", "rod", sk.Spherical(), translation_a=(0.3, 0, 0))
    return b.build()


def places(page):
    """(values, where the sliders stand)."""
    ranges = "[...document.querySelectorAll('#sliders input[type=range]')]"
    shown = page.evaluate(f"{ranges}.map((input) => input.valueAsNumber)")
    return np.array(page.evaluate("[...skodyn.joints.values]")), np.array(shown)


@pytest.mark.parametrize("joint", [sk.Spherical(), sk.Free()], ids=lambda joint: joint.type_name)
def test_a_ball_that_follows_turns_on_and_its_sliders_stand_where_it_is(page_of, joint):
    """Of rotation vectors there is one for each turn, up to half of one: no part of it is an angle
    that could be shown within a turn by itself."""
    model = ball_crank(joint)
    with page_of(still(model, sk.assemble(model, model.neutral()).q)) as (page, _, complaints):
        before = None
        for turn in np.linspace(0, 4.1 * np.pi, 60):
            q = slide(page, "crank", (turn + np.pi) % (2 * np.pi) - np.pi)
            assert np.abs(sk.loop_error(model, q)).max() < 1e-10
            poses = sk.forward_kinematics(model.opened, q)[0]
            assert before is None or np.abs(poses - before).max() < 0.4  # no leap of any body
            before = poses
            values, shown = places(page)
            assert np.linalg.norm(values[1:4]) < np.pi + 1e-9
            np.testing.assert_allclose(shown[1:], values[1:], atol=1e-12)
        assert q[0] == pytest.approx(4.1 * np.pi)
    assert complaints == []


def test_a_slider_of_one_coordinate_of_a_ball_moves_it_and_the_others_follow(page_of):
    model = ball_crank(sk.Spherical(), offset=0.1)
    with page_of(still(model, sk.assemble(model, model.neutral()).q)) as (page, _, complaints):
        for value in (0.6, -1.4, -2.9, 2.0):
            q = slide(page, "rod turn y", value)
            assert places(page)[0][2] == pytest.approx(value, abs=1e-12)
            assert np.abs(sk.loop_error(model, q)).max() < 1e-10
    assert complaints == []


def test_a_joint_that_follows_takes_its_slider_along_however_far(page_of):
    b = sk.ModelBuilder(name="screw")
    b.add_body("screw", "world", HINGE, **BODY)
    b.add_body("nut", "world", sk.Prismatic(axis=(1, 0, 0)), **BODY)
    b.add_coupling("thread", "nut", "screw", (0.0, 5.0))
    model = b.build().with_changes(limits={"screw": {"velocity": 3.0}})  # no limit of the angle
    with page_of(still(model)) as (page, _, complaints):
        for turn in np.linspace(0, 4 * np.pi, 20):
            slide(page, "screw", (turn + np.pi) % (2 * np.pi) - np.pi)
        values, shown = places(page)
        assert "the other joints follow" in page.locator("#stopped").inner_text()
        np.testing.assert_allclose(values, [4 * np.pi, 20 * np.pi], rtol=1e-9)
        assert shown[1] == pytest.approx(values[1])
    assert complaints == []
