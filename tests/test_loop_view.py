"""Loops in films and in the page: closing joints, lines, arrows, the list beside the tree."""

from __future__ import annotations

import numpy as np
import pytest

import skodyn as sk
from browser import changed_share, picture
from skodyn.cli import main
from skodyn.io.log import LogWriter
from skodyn.io.trajectory import Trajectory
from skodyn.view.closures import ArrowScale
from skodyn.view.document import replay_page
from skodyn.view.drawing import Painter
from skodyn.view.recording import record, show_wrenches, still
from skodyn.view.scene import INSTANCE, scene_of

PLACE = slice(1, 4)
LENGTH = INSTANCE.index("sz")
ROWS = 5
HINGE = sk.Revolute(axis=(0, 1, 0))
BODY = {"mass": 1.0, "com": (0, 0, 0.5), "inertia": (0.1, 0.1, 0.01)}
DOWN = (0, 0, -9.81)


def linkage(gravity=DOWN, length=1.0):
    """A parallelogram closed by a pin where q is (a, −a, a, …), with a rod to the ground, a welded
    flag and two gears."""
    b = sk.ModelBuilder(gravity=gravity, name="linkage")
    b.add_body("crank", "world", HINGE, **BODY)
    b.add_body("coupler", "crank", HINGE, translation=(0, 0, 1), **BODY)
    b.add_body("rocker", "world", HINGE, translation=(1, 0, 0), **BODY)
    b.add_body("wheel", "world", HINGE, translation=(0, 0.5, 0), **BODY)
    b.add_loop("pin", "coupler", "rocker", HINGE, translation_a=(1, 0, 0), translation_b=(0, 0, 1))
    b.add_loop("strut", "world", "rocker", sk.Rod(length), translation_a=(1, 1, 0.5),
               translation_b=(0, 0, 0.5))  # fmt: skip
    b.add_coupling("gear", "wheel", "crank", (0.0, -2.0))
    return b.build()


def run_of(model, wrenches=None):
    t = np.linspace(0, 1, ROWS)
    q = np.outer(0.4 * t, (1.0, -1.0, 1.0, -2.0))
    rows = {"t": t, "step": np.arange(ROWS), "q": q, "v": np.zeros((ROWS, model.nv))}
    if wrenches is not None:
        table = np.full((ROWS, len(model.loop_names), 6), np.nan)
        table[:, : len(model.loops)] = wrenches
        rows["loop_forces"] = table
    return Trajectory.in_memory(model, rows)


def loaded(gravity=DOWN):
    """The linkage with a growing force and a moment in its pin; along y they are undetermined."""
    wrenches = np.zeros((ROWS, 2, 6))
    wrenches[:, 0] = (0.5, np.nan, 0.0, 4.0, np.nan, 3.0)
    wrenches[:, 0] *= np.linspace(0.8, 1.2, ROWS)[:, None]
    wrenches[:, 1] = (0, 0, 0, 0, 2.5, 0)
    return record(run_of(linkage(gravity), wrenches))


def rows_of(batches, layer, mesh):
    found = [b.instances for b in batches if (b.layer, b.mesh) == (layer, mesh)]
    return np.concatenate(found) if found else np.zeros((0, len(INSTANCE)))


# ---- the scene ----------------------------------------------------------------------------------


def test_closing_joints_are_drawn_where_frame_b_is_in_the_style_of_the_tree():
    model = linkage()
    scene = scene_of(model)
    (pin,) = rows_of(scene.batches, "loops", "cylinder")
    assert pin[0] == model.body_index("rocker")
    np.testing.assert_allclose(pin[PLACE], (0, 0, 1))
    tree_pin = rows_of(scene.batches, "joints", "cylinder")[0]
    np.testing.assert_allclose(pin[4:11], tree_pin[4:11])  # the same shape
    assert not np.allclose(pin[11:], tree_pin[11:])  # in another colour
    assert "loops" in scene.shown


def test_a_rod_has_a_ball_at_each_end_and_a_block_on_the_ground():
    model = linkage()
    scene = scene_of(model)
    balls = rows_of(scene.batches, "loops", "sphere")
    assert sorted(balls[:, 0]) == [-1, model.body_index("rocker")]
    assert [1, 1, 0.5] in rows_of(scene.batches, "links", "box")[:, PLACE].tolist()


def test_links_reach_the_ends_of_loops():
    model = linkage()
    links = rows_of(scene_of(model).batches, "links", "cylinder")
    coupler = links[links[:, 0] == model.body_index("coupler")]
    np.testing.assert_allclose(coupler[:, PLACE], [(0.5, 0, 0)])
    np.testing.assert_allclose(coupler[:, LENGTH], 1.0)


@pytest.mark.parametrize("joint", [
    sk.Fixed(), sk.Prismatic(), sk.Cylindrical(), sk.Universal(), sk.Planar(), sk.Translation(),
    sk.Spherical(), sk.Helical(pitch=0.1), sk.Rod(0.4),
], ids=lambda joint: joint.type_name)  # fmt: skip
def test_every_closing_joint_has_a_picture(joint):
    b = sk.ModelBuilder(name="pair")
    b.add_body("a", "world", sk.Free(), **BODY)
    b.add_body("b", "world", sk.Free(), **BODY)
    b.add_loop("close", "a", "b", joint, translation_a=(0, 0, 0.3), translation_b=(0, 0.1, 0))
    model = b.build()
    drawn = [batch for batch in scene_of(model).batches if batch.layer == "loops"]
    assert sum(len(batch.instances) for batch in drawn) >= 1
    assert np.ptp(Painter(still(model), (48, 36)).frame(0.0)) > 60


def test_a_tree_has_nothing_of_loops():
    recording = still(linkage().opened)
    assert recording.moving(0.0) == []
    assert not {"loops", "wrenches"} & {b.layer for b in recording.scene.batches}
    assert "loops" not in recording.scene.shown
    assert "cone" not in recording.scene.meshes


# ---- lines and arrows ---------------------------------------------------------------------------


@pytest.mark.parametrize("gravity", [DOWN, (0, -9.81, 0), (0, 0, 0)])
def test_a_rod_is_a_line_between_its_two_points_and_a_closed_pin_has_none(gravity):
    model = linkage(gravity)
    recording = record(run_of(model))
    (line,) = rows_of(recording.moving(0.5), "loops", "cylinder")
    rotations, positions = sk.forward_kinematics(model, run_of(model).q[2])
    k = model.body_index("rocker")
    end = positions[k] + rotations[k] @ (0, 0, 0.5)
    middle = recording.upright @ (np.array((1, 1, 0.5)) + end) / 2
    np.testing.assert_allclose(line[PLACE], middle, atol=1e-6)
    np.testing.assert_allclose(line[LENGTH], np.linalg.norm(end - (1, 1, 0.5)), rtol=1e-6)
    assert line[0] == -1


@pytest.mark.parametrize("gravity", [DOWN, (0, -9.81, 0)])
def test_arrows_start_at_the_closure_and_point_along_what_is_determined(gravity):
    recording = loaded(gravity)
    scale = recording.arrow_scale
    heads = rows_of(recording.moving(0.5), "wrenches", "cone")
    assert len(heads) == 1 + 1 + 2  # two forces, and a moment with two heads
    _, b = recording.ends.places(*recording.at(0.5))
    along = recording.upright @ (0.8, 0.0, 0.6)
    tip = heads[0, PLACE] + heads[0, LENGTH] / 2 * along
    np.testing.assert_allclose(tip, b[0] + 5.0 / scale.force * scale.length * along, atol=1e-5)
    axis = heads[2, PLACE] - b[0]
    np.testing.assert_allclose(
        axis / np.linalg.norm(axis), recording.upright @ (1, 0, 0), atol=1e-5
    )


def test_a_moment_of_mere_rounding_is_no_arrow_and_a_spike_does_not_shrink_the_others():
    wrenches = np.zeros((100, 1, 6))
    wrenches[:, 0, 3], wrenches[:, 0, 1] = 10.0, 1e-15
    wrenches[50, 0, 3] = 1e9
    assert ArrowScale.of(wrenches, 1.0) == (1.0, 10.0, 0.0)
    assert ArrowScale.of(np.zeros((3, 1, 6)), 1.0) == (1.0, 0.0, 0.0)


def orange(image):
    r, g, b = np.moveaxis(image.astype(int), 2, 0)
    return int(((r - b > 90) & (r - g > 60) & (g - b > 25)).sum())


def test_films_show_arrows_on_demand_and_only_then():
    recording = loaded()
    plain, forced = (
        Painter(one, (160, 120)).frame(0.5) for one in (recording, show_wrenches(recording))
    )
    assert orange(forced) > orange(plain) + 30


def test_arrows_asked_for_where_there_are_none_are_refused():
    with pytest.raises(sk.LogError, match="its log lacks them; run a model with loops"):
        show_wrenches(record(run_of(linkage())))
    with pytest.raises(sk.LogError, match="its model has no loops"):
        show_wrenches(still(linkage().opened))


# ---- models -------------------------------------------------------------------------------------


def test_a_model_whose_loops_are_open_at_rest_is_closed_before_it_is_drawn():
    model = linkage(length=1.1)
    recording = still(model)
    (line,) = rows_of(recording.moving(0.0), "loops", "cylinder")
    assert line[LENGTH] == pytest.approx(1.1, rel=1e-6)
    assert not recording.notes


def test_a_model_that_cannot_be_closed_is_drawn_open_and_that_is_said():
    model = linkage(length=9.0)
    recording = still(model)
    (note,) = recording.notes
    assert note.startswith("drawn with its loops open: ")
    assert "strut" in note
    assert np.ptp(Painter(recording, (48, 36)).frame(0.0)) > 60


def test_the_view_holds_the_ends_of_loops():
    recording = record(run_of(linkage()))
    outline = recording.outline()
    assert np.abs(outline - (1, 1, 0.5)).max(axis=2).min() < 1e-12


# ---- commands and the page ----------------------------------------------------------------------


def logged(path, run, channels):
    with LogWriter.create(path, channels, run.model, {}) as log:
        log.append({name: run[name] for name in ("t", "step", "q", "v", *channels)})
        log.finish("finished")
    return path


def test_the_command_draws_arrows_and_says_when_it_cannot(tmp_path, capsys):
    model = linkage()
    run = run_of(model, np.ones((ROWS, 2, 6)))
    with_forces = logged(tmp_path / "a.h5", run, ["loop_forces"])
    without = logged(tmp_path / "b.h5", run, [])
    film = ["--size", "64x48", "--fps", "5", "--gif"]
    assert main(["view", str(with_forces), "--loop-forces", *film, str(tmp_path / "a.gif")]) == 0
    assert main(["view", str(with_forces), *film, str(tmp_path / "b.gif")]) == 0
    assert (tmp_path / "a.gif").read_bytes() != (tmp_path / "b.gif").read_bytes()
    capsys.readouterr()
    assert main(["view", str(without), "--loop-forces", *film, str(tmp_path / "c.gif")]) == 2
    assert "there are no loop forces to draw" in capsys.readouterr().err


def test_the_page_lists_loops_and_couplings_beside_the_tree_and_marks_their_bodies(page_of):
    with page_of(loaded()) as (page, _, complaints):
        rows = page.locator("#closings li").all_inner_texts()
        assert [" ".join(row.split()) for row in rows] == [
            "pinrevolute · coupler – rocker",  # with a gap that is no character
            "strutrod · world – rocker",
            "gearcoupling · wheel = -2 × crank",
        ]
        page.locator("#closings li").first.click()
        marked = page.locator("#tree li.end").all_inner_texts()
        assert marked == ["couplerrevolute", "rockerrevolute"]
        page.locator("#closings li").first.click()
        assert page.locator("#tree li.end").count() == 0
        assert "undetermined (redundant rows): pin.y" in page.locator("#loop-notes").inner_text()
        page.locator("#channel").fill("pin.x loop force")
        assert "pin.x loop force 3.2 N" in page.locator("#curves").inner_text()
    assert complaints == []


def test_the_page_draws_arrows_on_demand(page_of):
    with page_of(loaded()) as (page, _, complaints):
        plain = picture(page)
        assert not page.locator("#layer-wrenches").is_checked()
        page.locator("#layer-wrenches").check()
        forced = picture(page)
        assert orange(forced) > orange(plain) + 100
        page.locator("#layer-wrenches").uncheck()
        page.locator("#layer-loops").uncheck()
        assert changed_share(plain, picture(page)) > 0.002  # pin and rod are gone
    assert complaints == []


@pytest.mark.parametrize("gravity", [DOWN, (0, -9.81, 0)])
def test_page_and_films_draw_the_same_lines_and_arrows(page_of, gravity):
    recording = show_wrenches(loaded(gravity))
    with page_of(recording) as (page, _, complaints):
        page.locator("#scrub").fill("0.6")
        picture(page)
        found = page.evaluate("""() => { const { closures, moving } = skodyn;
            return Object.fromEntries(Object.keys(moving).map((name) =>
                [name, [...closures.rows[name].subarray(0, 14 * moving[name].count)]])); }""")
    assert complaints == []
    batches = recording.moving(0.6)
    kinds = (("line", "loops", "cylinder"), ("shaft", "wrenches", "cylinder"),
             ("cone", "wrenches", "cone"))  # fmt: skip
    for name, layer, mesh in kinds:
        mine, theirs = rows_of(batches, layer, mesh), np.reshape(found[name], (-1, 14))
        order, their_order = (np.lexsort(np.round(x[:, 1:4], 3).T) for x in (mine, theirs))
        np.testing.assert_allclose(theirs[their_order], mine[order], atol=2e-4)


def test_a_page_of_a_tree_has_no_list_of_loops(page_of):
    with page_of(still(linkage().opened)) as (page, _, complaints):
        assert not page.locator("#loops").is_visible()
        assert page.locator("#layer-loops").count() == 0
    assert complaints == []


# ---- no sliders ---------------------------------------------------------------------------------


def test_a_page_of_a_closed_model_says_why_it_has_no_sliders(page_of):
    with page_of(still(linkage(length=9.0))) as (page, _, complaints):  # the strut is too short
        assert not page.locator("#joints").is_visible()
        assert page.locator("#loop-notes").inner_text() == "no sliders: its loops are open"
    assert complaints == []
    with page_of(still(sk.examples.four_bar())) as (page, _, complaints):
        assert page.locator("#joints").is_visible()
        assert page.locator("#loop-notes").inner_text() == ""
    assert "no sliders: " not in replay_page(record(run_of(linkage())))
