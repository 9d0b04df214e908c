"""What a person sees of the viewer: floor, camera, light and dark, phone, sliders, arrows."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import trimesh

import browser
import skodyn as sk
from browser import changed_share, open_page, picture, wait
from skodyn.dynamics.contact_functions import with_ground
from skodyn.model.shapes import Mesh, Visual
from skodyn.view.camera import FIELD_OF_VIEW, Camera, first_view, floor_height, kept_in_sight
from skodyn.view.document import replay_page
from skodyn.view.drawing import Painter
from skodyn.view.mesh_files import read_mesh
from skodyn.view.recording import record, show_layers, still
from skodyn.view.rotations import quaternions
from skodyn.view.scene import scene_of

needs_browser = pytest.mark.skipif(not browser.CHROMIUM, reason=browser.WITHOUT)


@pytest.fixture(scope="module")
def chromium():
    with browser.chromium() as started:
        yield started


@contextmanager
def opened(started, tmp_path, recording, size=(800, 480)):
    page_file = tmp_path / "page.html"
    page_file.write_text(replay_page(recording), encoding="utf-8")
    with open_page(started, page_file.as_uri(), size) as (page, _, complaints):
        yield page
        assert complaints == []


def arm(below=0.0, gravity=(0, 0, -9.81)):
    """An arm that stands on the world, from height 0 up, or hangs."""
    b = sk.ModelBuilder(gravity=gravity, name="arm")
    z = np.array([0, 0, 1.0 if not below else -1.0])
    if gravity[1]:
        z = z[[0, 2, 1]]
    for k in range(2):
        b.add_body(f"rod{k}", f"rod{k - 1}" if k else "world", sk.Revolute(axis=(1, 0, 0)),
                   translation=z * k, mass=1.0, com=z / 2, inertia=(0.02, 0.02, 0.02))  # fmt: skip
    return b.build()


def ball(shape=None):
    b = sk.ModelBuilder(name="ball")
    b.add_body("ball", joint=sk.Free(), mass=1.0, inertia=(0.004, 0.004, 0.004))
    b.add_collision("ball", shape or sk.Sphere(0.1))
    return b.build()


def thrown(**more):
    """A ball that is thrown along a floor at height 0.25."""
    law = sk.Contact("ball", "floor", stiffness=1e4, friction=0.5, dissipation=0.3)
    ground = [sk.HalfSpace(point=(0, 0, 0.25))]
    return sk.simulate(ball(), [1, 0, 0, 0, 0, 0, 0.6], [0, 0, 0, 2.0, 0, 0], duration=0.6,
                       dt=2e-4, every=25, ground=ground, contacts=[law], **more)  # fmt: skip


# ---- floor ------------------------------------------------------------------------------------


def height(recording):
    return floor_height(recording, recording.scene.extent)


def test_the_floor_is_at_height_zero_for_what_stands_on_the_world():
    assert height(still(arm())) == 0.0
    assert height(still(arm(gravity=(0, -9.81, 0)))) == 0.0


def test_what_hangs_below_height_zero_has_its_floor_below_it():
    recording = still(arm(below=1.0))
    lowest = recording.outline()[..., 2].min()
    assert lowest < -1.5
    assert lowest - 0.2 < height(recording) < lowest


def test_a_free_body_has_its_floor_at_its_lowest_point():
    recording = still(ball())
    assert height(recording) == pytest.approx(-0.1, abs=1e-6)


def test_a_half_space_is_the_floor_and_a_tilted_one_is_drawn():
    assert height(record(thrown().trajectory)) == pytest.approx(0.25)
    tilted = with_ground(ball(), [sk.HalfSpace(normal=(0.5, 0, 1))])
    layers = {batch.layer for batch in scene_of(tilted).batches}
    assert "ground" in layers
    level = with_ground(ball(), [sk.HalfSpace()])
    assert "ground" not in {batch.layer for batch in scene_of(level).batches}


def test_a_height_field_and_every_other_shape_that_touches_is_drawn():
    field = sk.HeightField((2.0, 2.0), ((0.0, 0.1, 0.0), (0.0, 0.3, 0.0), (0.0, 0.1, 0.0)))
    ground = with_ground(ball(), {"hill": field})
    scene = scene_of(ground)
    (name,) = [name for name in scene.meshes if "hill" in name]
    assert scene.meshes[name].vertices[:, 2].max() == pytest.approx(0.3)
    shapes = [sk.Box((0.1, 0.2, 0.3)), sk.Capsule(0.1, 0.2), sk.Cylinder(0.1, 0.2),
              sk.Ellipsoid((0.1, 0.2, 0.3)), sk.Disk(0.2, 0.01),
              sk.Points(((0, 0, 0.1),))]  # fmt: skip
    for shape in shapes:
        recording = still(ball(shape))
        assert "collisions" in recording.scene.shown
        assert np.ptp(Painter(recording, (48, 36)).frame(0.0)) > 60


# ---- camera -----------------------------------------------------------------------------------


@needs_browser
def test_the_camera_stays_above_the_floor_and_is_reset(chromium, tmp_path):
    with opened(chromium, tmp_path, still(arm())) as page:
        before = page.evaluate("({...skodyn.view})")
        page.mouse.move(300, 200)
        page.mouse.down()
        page.mouse.move(340, -2000, steps=8)
        page.mouse.up()
        picture(page)
        low = page.evaluate("({...skodyn.view})")
        assert low["eye"][2] >= low["floor"] + 0.029 * low["distance"]
        assert low["elevation"] < before["elevation"]
        page.mouse.move(300, 200)
        page.mouse.wheel(0, 300)
        wait(page, f"skodyn.view.distance > {before['distance']} * 1.05")
        page.locator("#reset").click()
        picture(page)
        after = page.evaluate("({...skodyn.view})")
        assert after == before
        page.locator("#layer-floor").uncheck()  # without a floor one may look from below
        page.mouse.move(300, 200)
        page.mouse.down()
        page.mouse.move(300, 20, steps=4)
        page.mouse.up()
        picture(page)
        assert page.evaluate("skodyn.view.eye[2]") < low["floor"]


def two_that_part():
    b = sk.ModelBuilder(gravity=(0, 0, 0), name="two")
    for name in ("left", "right"):
        b.add_body(name, joint=sk.Free(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    q = np.tile([1.0, 0, 0, 0, 0, 0, 0], 2)
    v = np.array([0, 0, 0, 1.0, 0, 0, 0, 0, 0, -1.0, 0, 0])
    return sk.simulate(b.build(), q, v, duration=2.0, dt=0.01, every=5)


SEEN = """() => { const { view, run, replay, renderer } = skodyn;
    const away = (k) => Math.hypot(...add(replay.centre(k, renderer.poses), view.target, -1));
    return { d: view.distance, far: Math.max(...run.reaches.map((r, k) => away(k) + r)) }; }"""

PINCH = """() => { const canvas = document.getElementById("scene");
    const send = (type, pointerId, clientX) => canvas.dispatchEvent(new PointerEvent(type,
        { pointerId, clientX, clientY: 200, pointerType: "touch", buttons: 1, bubbles: true }));
    send("pointerdown", 11, 150); send("pointerdown", 12, 210);
    send("pointermove", 11, 120); send("pointermove", 12, 240);
    send("pointerup", 11, 120); send("pointerup", 12, 240); }"""


def corners_in_sight(recording, view, t):
    """The largest share of half the picture that centres, with what is around them, reach."""
    positions, _ = recording.at(t)
    target = np.array(view.target)
    far = np.linalg.norm(positions - target, axis=1) + recording.scene.reaches
    return float((far / np.sqrt(view.distance**2 - far**2)).max() / np.tan(FIELD_OF_VIEW / 2))


@needs_browser
def test_following_a_body_keeps_the_whole_in_sight(chromium, tmp_path):
    recording = record(two_that_part().trajectory)
    with opened(chromium, tmp_path, recording) as page:
        page.locator("#tree li", has_text="left").click()
        page.locator("#follow").check()
        for share in ("0.2", "1"):
            page.locator("#scrub").fill(share)
            picture(page)
            seen = page.evaluate(SEEN)
            assert seen["far"] < seen["d"] * np.sin(FIELD_OF_VIEW / 2)
    view = first_view(recording, recording.scene.extent)
    followed = Painter(recording, (64, 48), Camera(follow="left")).view
    assert followed.follow == 0
    for t in (0.0, 2.0):
        positions, _ = recording.at(t)
        now = kept_in_sight(followed, positions, recording.scene.reaches)
        assert now.target == pytest.approx(positions[0])
        assert corners_in_sight(recording, now, t) < 1.0
    assert view.follow == -1


# ---- light and dark, phones -------------------------------------------------------------------


@needs_browser
def test_the_page_is_dark_where_the_system_is_and_can_be_switched(chromium, tmp_path):
    with opened(chromium, tmp_path, record(thrown().trajectory)) as page:
        light = picture(page)
        page.emulate_media(color_scheme="dark")
        dark = picture(page)
        panel = picture(page, "aside")
        chart = picture(page, "#chart")
        assert light.mean() > 200
        assert dark.mean() < 90
        assert np.median(panel) < 60
        assert np.median(chart) < 60
        page.locator("#theme").click()
        assert picture(page).mean() > 200
        page.locator("#theme").click()
        assert picture(page).mean() < 90


@needs_browser
def test_at_a_phones_width_nothing_is_cut_off_and_two_fingers_zoom(chromium, tmp_path):
    with opened(chromium, tmp_path, record(thrown().trajectory), (360, 740)) as page:
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 360
        scene, panel, play = (page.locator(x).bounding_box() for x in ("#scene", "aside", "#play"))
        assert scene["width"] == pytest.approx(360, abs=1)
        assert scene["height"] > 300
        assert panel["y"] >= play["y"] + play["height"]
        before = page.evaluate("skodyn.view.distance")
        page.evaluate(PINCH)
        assert page.evaluate("skodyn.view.distance") == pytest.approx(before / 2, rel=1e-6)


@needs_browser
def test_notes_fold_and_axes_and_scale_are_drawn(chromium, tmp_path):
    notes = tuple(
        f"a long note, number {i}, on something that was not found " * 3 for i in range(9)
    )
    recording = replace(still(arm()), notes=notes)
    with opened(chromium, tmp_path, recording) as page:
        assert page.locator("#notes summary").inner_text() == "9 notes"
        assert not page.locator("#notes li").first.is_visible()
        page.locator("#notes summary").click()
        assert page.locator("#notes li").count() == 9
        assert page.locator("#notes li").first.is_visible()
        assert page.locator("#compass text").all_inner_texts().__len__() == 3
        bar = page.locator("#scale i").bounding_box()["width"]
        length, unit = page.locator("#scale span").inner_text().split()
        metres = float(length) * {"m": 1, "cm": 0.01}[unit]
        view = page.evaluate("({...skodyn.view})")
        box = page.locator("#scene").bounding_box()
        pixels = min(box["width"], box["height"])
        assert bar / metres * 2 * view["distance"] * np.tan(FIELD_OF_VIEW / 2) == pytest.approx(
            pixels, rel=0.02
        )


@needs_browser
def test_the_floor_ends_at_a_horizon_that_is_level_with_the_eye(chromium, tmp_path):
    with opened(chromium, tmp_path, still(arm())) as page:
        page.evaluate("document.getElementById('hint').hidden = true")
        for elevation in (0.2, 0.1):
            page.evaluate(f"skodyn.view.elevation = {elevation}; skodyn.stale = true")
            column = picture(page)[:, 2:8].mean(axis=(1, 2))
            sky_ends = int(np.argmax(column[:-6] - column[6:] > 3)) + 3
            wanted = len(column) / 2 * (1 - np.tan(elevation) / np.tan(FIELD_OF_VIEW / 2))
            assert abs(sky_ends - wanted) < 8, elevation


def shares_of_the_picture(recording, points):
    """Where points are in the first view: 1 is the edge of a square picture."""
    view = first_view(recording, recording.scene.extent)
    seen = (np.asarray(points) - view.target) @ view.axes().T
    depth = view.distance - seen[:, 2]
    return np.abs(seen[:, :2]).max(axis=1) / (depth * np.tan(FIELD_OF_VIEW / 2))


def test_the_first_view_has_scenery_that_is_near_and_the_ends_of_springs():
    b = sk.ModelBuilder(name="arm on a desk")
    b.add_body("rod", "world", sk.Revolute(axis=(1, 0, 0)), mass=1.0, com=(0, 0, 0.2),
               inertia=(0.02, 0.02, 0.02))  # fmt: skip
    bare = still(b.build())
    b.add_visual("world", sk.Box((0.9, 0.5, 0.05)), translation=(-0.1, 0, 0))
    desk = still(b.build())
    corners = [(x, y, 0.0) for x in (-0.55, 0.35) for y in (-0.25, 0.25)]
    assert shares_of_the_picture(bare, corners).max() > 1.2
    assert shares_of_the_picture(desk, corners).max() < 1.2  # pictures are wider than high
    b.add_visual("world", sk.Box((90.0, 50.0, 0.05)))  # a hall: it need not be whole in sight
    hall = first_view(still(b.build()), desk.scene.extent)
    assert hall.distance < 4 * first_view(bare, bare.scene.extent).distance
    hook = sk.PointSpring("rod1", "world", stiffness=20.0, point_b=(0, 1.5, 3.0))
    run = sk.simulate(arm(), [0.0, 0.0], [0.0, 0.0], duration=0.02, dt=1e-3, elements=[hook])
    assert shares_of_the_picture(record(run.trajectory), [(0, 1.5, 3.0)]).max() < 1.2


# ---- sliders and the pose ---------------------------------------------------------------------


@needs_browser
def test_sliders_move_the_joints_as_forward_kinematics_does(chromium, tmp_path):
    model = sk.load("scenarios/models/every_joint.toml")
    rng = np.random.default_rng(5)
    with opened(chromium, tmp_path, still(model)) as page:
        count = page.locator("#sliders input").count()
        assert count == model.nv
        values = rng.uniform(-0.3, 0.3, count)
        for i, value in enumerate(values):
            page.locator("#sliders input").nth(i).fill(str(value))
        picture(page)
        q = page.evaluate("skodyn.joints.q()")
        poses = np.array(page.evaluate("[...skodyn.renderer.poses]"))
        rotations, positions = sk.forward_kinematics(model, q)
        turns = quaternions(rotations)
        for k in range(model.n_bodies):
            row = poses[8 * (k + 1) : 8 * (k + 2)]
            np.testing.assert_allclose(row[:3], positions[k], atol=1e-6)
            assert abs(row[4:] @ turns[k]) == pytest.approx(1, abs=1e-6)
        page.locator("#tree li").last.click()
        picture(page)
        words = page.locator("#pose").inner_text().replace("−", "-").split("x, y, z: ")[1]
        shown = [float(x) for x in words.split(" m")[0].split(",")]
        np.testing.assert_allclose(shown, positions[-1], atol=6e-5)
        page.locator("#neutral").click()
        np.testing.assert_allclose(page.evaluate("skodyn.joints.q()"), model.neutral())


@needs_browser
def test_mimic_joints_follow_their_slider_and_limits_bound_it(chromium, tmp_path):
    b = sk.ModelBuilder(name="gripper")
    slide = {"mass": 1.0, "inertia": (0.01, 0.01, 0.01)}
    b.add_body("a", "world", sk.Prismatic(axis=(0, 1, 0), name="finger1"), **slide)
    b.add_body("b", "world", sk.Prismatic(axis=(0, 1, 0), name="finger2"), **slide)
    b.add_mimic("finger2", "finger1", -2.0, 0.1)
    model = b.build().with_changes(limits={"finger1": {"lower": -0.2, "upper": 0.3}})
    with opened(chromium, tmp_path, still(model)) as page:
        slider = page.locator("#sliders input")
        assert slider.count() == 1
        assert (slider.get_attribute("min"), slider.get_attribute("max")) == ("-0.2", "0.3")
        slider.fill("0.25")
        picture(page)
        poses = page.evaluate("[...skodyn.renderer.poses]")
        assert poses[9] == pytest.approx(0.25)
        assert poses[17] == pytest.approx(-0.4)
    model = model.with_changes(limits={"finger2": {"lower": -0.1, "upper": 0.3}})
    with opened(chromium, tmp_path, still(model)) as page:  # no joint that follows leaves its own
        slider = page.locator("#sliders input")
        ends = [float(slider.get_attribute(end)) for end in ("min", "max")]
        assert ends == pytest.approx([-0.1, 0.1])


# ---- colours ----------------------------------------------------------------------------------


def test_colours_of_gltf_and_collada_files_are_those_of_the_file(tmp_path):
    red, green = (0.9, 0.1, 0.1), (0.1, 0.8, 0.2)
    scene = trimesh.Scene()
    for i, colour in enumerate((red, green)):
        box = trimesh.creation.box((0.1, 0.1, 0.1))
        box.apply_translation((0.2 * i, 0, 0))
        material = trimesh.visual.material.PBRMaterial(baseColorFactor=[*colour, 1.0])
        box.visual = trimesh.visual.TextureVisuals(material=material)
        scene.add_geometry(box)
    for ending in ("glb", "dae"):
        path = tmp_path / f"two.{ending}"
        parts = list(scene.geometry.values())
        collada = trimesh.exchange.dae.export_collada(parts)
        path.write_bytes(scene.export(file_type="glb") if ending == "glb" else collada)
        mesh = read_mesh(str(path))
        left = mesh.vertices[:, 0] < 0.1
        np.testing.assert_allclose(mesh.colours[left], np.tile(red, (left.sum(), 1)), atol=0.01)
        np.testing.assert_allclose(
            mesh.colours[~left], np.tile(green, ((~left).sum(), 1)), atol=0.01
        )
    model = ball()
    look = Visual(Mesh("two.glb", tmp_path / "two.glb"), np.eye(3), np.zeros(3), (0, 0, 1.0, 1.0))
    recording = still(replace(model, visuals={"ball": (look,)}))
    frame = Painter(recording, (160, 120)).frame(0.0).astype(int)
    reddish = (frame[..., 0] - frame[..., 1:].max(axis=2) > 60).sum()
    greenish = (frame[..., 1] - frame[..., [0, 2]].max(axis=2) > 60).sum()
    bluish = (frame[..., 2] - frame[..., :2].max(axis=2) > 60).sum()
    assert reddish > 200
    assert greenish > 200
    assert bluish == 0


def test_the_swatch_of_a_body_is_the_colour_it_is_drawn_in():
    model = arm()
    look = Visual(sk.Box((0.1, 0.1, 1.0)), np.eye(3), np.zeros(3), (1.0, 0.5, 0.0, 1.0))
    scene = scene_of(replace(model, visuals={"rod1": (look,)}))
    assert scene.swatches[1] == "#FF8000"
    assert scene.swatches[0] == scene_of(model).swatches[0]


# ---- arrows -----------------------------------------------------------------------------------


def field(recording, layer):
    return next(one for one in recording.arrows if one.layer == layer)


def test_contact_arrows_are_normal_forces_at_the_points_and_say_whether_they_slip():
    run = thrown()
    recording = record(run.trajectory)
    found = field(recording, "contacts")
    i = int(np.argmax(found.sizes))
    law = sk.Contact("ball", "floor", stiffness=1e4, friction=0.5, dissipation=0.3)
    now = sk.contact_forces(run.trajectory.model, [law], run.q[i], run.v[i])
    np.testing.assert_allclose(found.vectors[i, 0, 2], now.force[0, 2], rtol=1e-12)
    np.testing.assert_allclose(found.places[i], now.point, atol=1e-12)
    assert found.states[i, 0] == (now.slip_speed[0] > 1e-3)
    assert found.usual <= found.sizes.max()


def test_velocity_arrows_are_those_of_the_centres_of_mass():
    run = sk.simulate(arm(), [0.5, 0.3], [1.0, -2.0], duration=0.2, dt=1e-3, every=1)
    recording = record(run.trajectory)
    found = field(recording, "velocities")
    centres = recording.centres()
    slope = (centres[101] - centres[99]) / 2e-3
    np.testing.assert_allclose(found.vectors[100], slope, atol=1e-4)


def test_springs_and_wrenches_of_a_run_are_arrows_with_their_forces():
    rope = sk.PointSpring("rod1", "world", stiffness=20.0, damping=1.0, length=0.5,
                          point_a=(0, 0, 1), point_b=(1.0, 0, 2.0))  # fmt: skip
    push = sk.Wrench("rod0", force=(0, 3.0, 0), point=(0, 0, 1), frame="body")
    run = sk.simulate(arm(), [0.2, 0.1], [0.3, 0.0], duration=0.1, dt=1e-3, every=10,
                      elements=[rope, push])  # fmt: skip
    recording = record(run.trajectory)
    rotations, positions = sk.forward_kinematics(arm(), run.q[0])
    tip = positions[1] + rotations[1] @ (0, 0, 1)
    line = np.array((1.0, 0, 2.0)) - tip
    spatial, _, _ = sk.velocities(arm(), run.q[0], run.v[0])
    speed = spatial[1, 3:] + np.cross(spatial[1, :3], tip - positions[1])
    along = line / np.linalg.norm(line)
    pull = 20.0 * (np.linalg.norm(line) - 0.5) - speed @ along
    np.testing.assert_allclose(field(recording, "springs").vectors[0, 0], pull * along, rtol=1e-12)
    forces = field(recording, "forces").vectors[0, 0]
    np.testing.assert_allclose(forces, rotations[0] @ (0, 3.0, 0), rtol=1e-12)
    quiet = Painter(recording, (480, 360)).frame(0.0).astype(int)
    for layer, least in (("springs", 60), ("forces", 150)):  # the spring is seen along its line
        shown = Painter(show_layers(recording, [layer]), (480, 360)).frame(0.0).astype(int)
        assert (np.abs(shown - quiet).max(axis=2) > 25).sum() > least
    with pytest.raises(sk.LogError, match="nothing to show as 'contacts'"):
        show_layers(recording, ["contacts"])


def test_what_drives_a_joint_is_an_arrow_along_its_axis_and_weights_hang_down():
    held = sk.Servo("rod0", kp=30.0, kd=2.0, target=0.5, limit=5.0, gravity_compensation=True)
    swing = sk.Sinusoid("rod1", amplitude=2.0, frequency=3.0, phase=0.4, offset=0.5)
    ramp = sk.TorqueTable("rod1", times=[0.0, 0.05], torques=[0.0, 4.0])
    twist = sk.Wrench("rod1", moment=(0.0, 0.0, 1.5), frame="body")
    spring = {"rod1": sk.JointProperties(stiffness=7.0, rest=0.2)}
    model = arm()
    run = sk.simulate(model, [0.2, 0.1], [0.3, 0.0], duration=0.1, dt=1e-3, every=10,
                      elements=[held, swing, ramp, twist], joints=spring)  # fmt: skip
    recording = record(run.trajectory)
    found, t, q, v = field(recording, "torques"), run.t, run.q, run.v
    axes = [np.array(joint.twists()[0][0]) for joint in model.joints]
    rotations, _ = sk.forward_kinematics(model, q)
    weight = sk.gravity_force(model, q)[:, 0]
    servo = np.clip(30.0 * (0.5 - q[:, 0]) - 2.0 * v[:, 0] + weight, -5.0, 5.0)
    sizes = (servo, 0.5 + 2.0 * np.sin(6 * np.pi * t + 0.4), np.minimum(80.0 * t, 4.0))
    wanted = [x[:, None] * (rotations[:, k] @ axes[k])
              for x, k in zip(sizes, (0, 1, 1), strict=True)]  # fmt: skip
    wanted.append(rotations[:, 1] @ (0.0, 0.0, 1.5))
    wanted.append(-7.0 * (q[:, 1] - 0.2)[:, None] * (rotations[:, 1] @ axes[1]))
    assert found.unit == "N m"
    assert found.bodies.tolist() == [0, 1, 1, 1, 1]
    turn = recording.upright.T
    np.testing.assert_allclose(found.vectors, np.stack(wanted, axis=1) @ turn, atol=1e-12)
    weights = field(recording, "weights").vectors
    np.testing.assert_allclose(weights[3], model.mass[:, None] * model.gravity @ turn, rtol=1e-15)
    integral = sk.Servo("rod0", kp=1.0, ki=1.0)  # what it has gathered is not in the rows
    run = sk.simulate(model, [0.2, 0.1], [0.3, 0.0], duration=0.1, elements=[integral])
    assert "torques" not in {one.layer for one in record(run.trajectory).arrows}


@needs_browser
def test_arrows_appear_on_demand_and_the_legend_says_what_they_stand_for(chromium, tmp_path):
    recording = record(thrown().trajectory)
    i = int(np.argmax(field(recording, "contacts").sizes))
    with opened(chromium, tmp_path, recording) as page:
        page.locator("#scrub").fill(str(recording.times[i] / recording.times[-1]))
        before = picture(page)
        assert not page.locator("#legend").is_visible()
        for layer in ("contacts", "velocities"):
            page.locator(f"#layer-{layer}").check()
        assert changed_share(before, picture(page)) > 0.002
        words = page.locator("#legend").inner_text()
        assert "sticks" in words
        assert "slips" in words
        assert "m/s" in words
        dots = page.locator("#legend i").evaluate_all("all => all.map((i) => i.style.background)")
        colours = [c for name in ("contacts", "velocities") for c in field(recording, name).colours]
        assert dots == [f"rgb({', '.join(str(int(c[i : i + 2], 16)) for i in (1, 3, 5))})"
                        for c in colours]  # fmt: skip
