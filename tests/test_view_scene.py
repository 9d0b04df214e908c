"""Scenes, recordings and the renderer without a browser."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from PIL import Image

import skodyn as sk
from skodyn.io.log import LogWriter
from skodyn.model.shapes import Box, Capsule, Mesh, Visual
from skodyn.view import raster
from skodyn.view.camera import FIELD_OF_VIEW, first_view
from skodyn.view.drawing import Painter
from skodyn.view.films import film
from skodyn.view.mesh_files import read_mesh
from skodyn.view.recording import record, still
from skodyn.view.rotations import product, quaternions, rotation_from_z
from skodyn.view.scene import INSTANCE, half_axes, scene_of
from skodyn.view.shapes import UNIT_SHAPES, unit_mesh

VOLUMES = {"sphere": 4 / 3 * np.pi, "cylinder": np.pi, "box": 1.0, "cone": np.pi / 3}
SCALE = slice(INSTANCE.index("sx"), INSTANCE.index("sz") + 1)


def pendulum(gravity=(0, 0, -9.81), n=2):
    b = sk.ModelBuilder(gravity=gravity, name="pendulum")
    for k in range(n):
        b.add_body(f"rod{k}", f"rod{k - 1}" if k else "world", sk.Revolute(axis=(0, 1, 0)),
                   translation=(0, 0, -1.0 if k else 0), mass=2.0, com=(0, 0, -0.5),
                   inertia=(2 / 12, 2 / 12, 0.004))  # fmt: skip
    return b.build()


def log_of(path, model, q, t=None):
    rows = len(q)
    times = np.linspace(0, 1, rows) if t is None else np.asarray(t)
    v = np.zeros((rows, model.nv))
    with LogWriter.create(path, (), model, {}) as log:
        log.append({"t": times, "step": np.arange(rows), "q": np.asarray(q, float), "v": v})
        log.finish("finished")
    return sk.open(path)


# ---- shapes and rotations ---------------------------------------------------------------------


@pytest.mark.parametrize("shape", UNIT_SHAPES)
def test_unit_shapes_are_closed_outward_and_of_the_right_volume(shape):
    mesh = unit_mesh(shape, 64)
    a, b, c = (mesh.vertices[mesh.triangles[:, i]].astype(float) for i in range(3))
    normals = np.cross(b - a, c - a)
    assert np.einsum("ti,ti->t", a, normals).sum() / 6 == pytest.approx(VOLUMES[shape], rel=0.01)
    assert np.abs(normals.sum(axis=0)).max() < 1e-5  # closed: areas cancel
    given = sum(mesh.normals[mesh.triangles[:, i]] for i in range(3))
    assert (np.einsum("ti,ti->t", given, normals) > 0).all()
    np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=1), 1, atol=1e-6)


def test_quaternions_of_matrices_turn_vectors_as_the_matrices_do():
    rng = np.random.default_rng(1)
    q = rng.normal(size=(200, 4))
    q[:3] = [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]  # half turns, where w gives nothing
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    x = np.array([0.3, -1.2, 0.7])
    images = [product(product(a, np.array([0, *e])), a * [1, -1, -1, -1])[1:]
              for a in q for e in np.eye(3)]  # fmt: skip
    matrices = np.array(images).reshape(-1, 3, 3).transpose(0, 2, 1)
    found = quaternions(matrices)
    np.testing.assert_allclose(np.abs((found * q).sum(axis=1)), 1, atol=1e-14)
    np.testing.assert_allclose(
        matrices @ x, [product(product(a, np.array([0, *x])), a * [1, -1, -1, -1])[1:] for a in q],
        atol=1e-14,
    )  # fmt: skip


@pytest.mark.parametrize("direction", [(0, 0, 1), (0, 0, -2), (1, 0, 0), (0.2, -0.5, 0.1)])
def test_rotation_from_z_is_a_rotation_that_brings_z_there(direction):
    turn = rotation_from_z(np.array(direction, float))
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(turn) == pytest.approx(1)
    np.testing.assert_allclose(turn[:, 2], direction / np.linalg.norm(direction), atol=1e-15)


# ---- scenes -----------------------------------------------------------------------------------


def test_the_ellipsoid_of_a_box_touches_its_faces():
    a, b, c, m = 0.4, 1.0, 0.2, 3.0
    turn = rotation_from_z(np.array([1.0, 2, 3]))
    moments = m / 12 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    halves, axes = half_axes(m, turn @ np.diag(moments) @ turn.T)
    np.testing.assert_allclose(np.sort(halves), np.sort([a, b, c]) / np.array(2))
    assert np.linalg.det(axes) == pytest.approx(1)


def test_a_rod_is_drawn_as_long_as_it_is_and_thin_ones_stay_visible():
    scene = scene_of(pendulum())
    (ellipsoids,) = (b.instances for b in scene.batches if b.layer == "inertia")
    np.testing.assert_allclose(ellipsoids[:, SCALE].max(axis=1), 0.5, rtol=0.02)
    assert ellipsoids[:, SCALE].min() > 0.005 * scene.extent
    assert {b.layer for b in scene.batches} == {"inertia", "links", "joints", "frames"}


def test_a_model_without_mass_or_length_is_drawn_without_a_warning():
    b = sk.ModelBuilder(name="point")
    b.add_body("a", "world", sk.Free(), mass=1.0, inertia=(1e-12, 1e-12, 1e-12))
    b.add_body("marker", "a", sk.Fixed())
    image = Painter(still(b.build()), (64, 48)).frame(0.0)
    assert np.ptp(image) > 60


def dressed(model, **shapes):
    """The model as if a robot file had given it red shapes."""
    red = (1.0, 0.0, 0.0, 1.0)
    looks = {name: (Visual(one, np.eye(3), np.zeros(3), red),) for name, one in shapes.items()}
    return replace(model, visuals=looks)


def test_visual_shapes_take_the_place_of_the_inertia_of_their_body():
    scene = scene_of(dressed(pendulum(), rod0=Box((0.1, 0.2, 0.3)), rod1=Capsule(0.1, 0.5)))
    shapes = {b.mesh: b.instances for b in scene.batches if b.layer == "shapes"}
    np.testing.assert_allclose(shapes["box"][0, SCALE], (0.1, 0.2, 0.3), rtol=1e-6)
    np.testing.assert_allclose(shapes["cylinder"][0, SCALE], (0.1, 0.1, 0.5), rtol=1e-6)
    np.testing.assert_allclose(sorted(shapes["sphere"][:, 3]), (-0.25, 0.25))
    np.testing.assert_allclose(shapes["box"][0, -3:], (1, 0, 0))
    assert "inertia" not in scene.shown


def test_a_mesh_file_is_drawn_and_a_missing_one_is_said_and_replaced(tmp_path):
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
    (tmp_path / "tip.obj").write_text(corners + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    gone = tmp_path / "gone.stl"
    scene = scene_of(dressed(pendulum(), rod0=Mesh("tip.obj", tmp_path / "tip.obj", (2, 2, 2)),
                             rod1=Mesh("gone.stl", gone)))  # fmt: skip
    assert len(scene.meshes[str(tmp_path / "tip.obj")].triangles) == 4
    (note,) = scene.notes
    assert "gone.stl" in note
    assert "drawn by its inertia" in note
    bodies = {int(b.instances[0, 0]): b.mesh for b in scene.batches if b.layer == "shapes"}
    assert bodies == {0: str(tmp_path / "tip.obj"), 1: "sphere"}


@pytest.mark.parametrize("kind", ["stl", "obj", "ply", "dae"])
def test_mesh_files_of_common_kinds_are_read(tmp_path, kind):
    import trimesh

    path = tmp_path / f"box.{kind}"
    trimesh.creation.box((1, 2, 3)).export(path)
    mesh = read_mesh(str(path))
    assert len(mesh.triangles) == 12
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), (1, 2, 3), rtol=1e-6)


def test_a_broken_mesh_file_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "a.stl").write_bytes(b"solid nothing\nendsolid\n")
    with pytest.raises(sk.ModelError, match=r"a\.stl: this mesh file"):
        read_mesh(str(tmp_path / "a.stl"))


DEGENERATE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 5 5 5\nv 6 6 6\nv 7 7 7\nf 1 2 3\nf 4 5 6\n"


def test_corners_of_triangles_without_area_have_unit_normals_too(tmp_path):
    (tmp_path / "a.obj").write_text(DEGENERATE)
    mesh = read_mesh(str(tmp_path / "a.obj"))
    np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=1), 1.0, rtol=1e-6)


def test_a_mesh_file_with_a_corner_beyond_all_floats_is_refused(tmp_path):
    (tmp_path / "a.obj").write_text(DEGENERATE.replace("v 7 7 7", "v 7 1e300 7"))
    with pytest.raises(sk.ModelError, match=r"a\.obj: this mesh file has corners that are not"):
        read_mesh(str(tmp_path / "a.obj"))


def test_meshes_with_degenerate_triangles_and_flat_shapes_are_filmed(tmp_path):
    (tmp_path / "a.obj").write_text(DEGENERATE)
    for scale in ((1, 1, 1), (1, 1, 0), (0, 0, 0), (1, -1, 1)):
        mesh = Mesh("a.obj", tmp_path / "a.obj", scale)
        picture = Painter(still(dressed(pendulum(), rod0=mesh, rod1=Box((0.3, 0.2, 0)))), (64, 48))
        assert np.ptp(picture.frame(0.0)) > 0


def test_the_meshes_of_a_real_arm_are_filmed_without_a_warning():
    share = Path(pin.__file__).parents[4] / "share"
    arm = share / "example-robot-data/robots/ur_description/urdf/ur5_robot.urdf"
    recording = still(sk.load(arm, search_paths=[share]))
    assert not recording.notes
    frame = Painter(recording, (64, 48)).frame(0.0)
    assert frame.min() < 100


# ---- recordings -------------------------------------------------------------------------------


def test_poses_between_frames_are_those_of_the_joint_angle_between(tmp_path):
    model = pendulum(n=1)
    recording = record(log_of(tmp_path / "a.h5", model, [[0.0], [0.2]]))
    positions, turns = recording.at(0.5)
    rotations, _ = sk.forward_kinematics(model, np.array([0.1]))
    np.testing.assert_allclose(np.abs(turns[0] @ quaternions(rotations)[0]), 1, atol=1e-12)
    np.testing.assert_allclose(positions, 0, atol=1e-15)
    for t, frame in ((-1, 0), (9, 1)):
        np.testing.assert_allclose(recording.at(t)[1], recording.turns[frame])


def test_long_runs_are_thinned_and_rows_that_blew_up_are_left_out_and_both_are_said(tmp_path):
    q = np.linspace(0, 1, 1001)[:, None] * np.ones((1, 2))
    q[900:] = np.nan
    recording = record(log_of(tmp_path / "a.h5", pendulum(), q), frames=101)
    assert recording.notes[:2] == ("every 10th row of 1001", "11 rows without finite coordinates "
                                   "left out")  # fmt: skip
    assert len(recording.times) == 90
    assert np.isfinite(recording.positions).all()


def test_up_is_against_gravity_whatever_axis_that_is():
    side = still(pendulum(gravity=(0, -9.81, 0)))
    np.testing.assert_allclose(side.upright @ (0, 1, 0), (0, 0, 1), atol=1e-15)
    np.testing.assert_array_equal(still(pendulum(gravity=(0, 0, 0))).upright, np.eye(3))
    boxes = next(b for b in side.scene.batches if b.mesh == "box")
    turned = boxes.upright(side.upright)
    assert not np.allclose(turned[0, 4:8], boxes.instances[0, 4:8])


def test_a_log_of_another_model_is_refused(tmp_path):
    log = log_of(tmp_path / "a.h5", pendulum(), np.zeros((3, 2)))
    with pytest.raises(sk.LogError, match="was not run with model 'pendulum'"):
        record(log, pendulum(n=3))


def test_the_first_view_holds_the_whole_motion(tmp_path):
    q = np.linspace(-3, 3, 61)[:, None] * np.array([[1.0, 0.4]])
    recording = record(log_of(tmp_path / "a.h5", pendulum(), q))
    view = first_view(recording, recording.scene.extent)
    eye = np.array(view.target) + view.distance * view.axes()[2]
    seen = (recording.outline().reshape(-1, 3) - eye) @ view.axes().T
    share = np.abs(seen[:, 1] / seen[:, 2]) / np.tan(FIELD_OF_VIEW / 2)
    assert 0.5 < share.max() < 0.9
    assert view.follow == -1
    assert view.floor < recording.outline()[..., 2].min()


# ---- pictures without a browser ---------------------------------------------------------------


def test_a_triangle_fills_its_area_and_the_nearer_one_wins():
    nearness, image = np.zeros((100, 100)), np.zeros((100, 100, 3))
    points = np.array([(10, 10, 1), (90, 10, 1), (10, 90, 1), (10, 10, 2), (50, 10, 2), (10, 50, 2),
                       (0, 0, -1.0)])  # fmt: skip
    colours = np.repeat([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]], (3, 3, 1), axis=0)
    for order in ([(0, 1, 2), (3, 4, 5)], [(3, 5, 4), (0, 2, 1)]):
        nearness[:], image[:] = 0, 0
        raster.fill_triangles(points, colours, np.array([*order, (0, 1, 6)]), nearness, image)
        assert image[..., 1].sum() == pytest.approx(800, abs=41)
        assert image[..., 0].sum() == pytest.approx(2400, abs=41)
        assert image[..., 2].sum() == 0  # behind the eye


def test_a_sphere_covers_the_disc_that_perspective_makes_of_it():
    b = sk.ModelBuilder(gravity=(0, 0, 0), name="ball")
    b.add_body("ball", "world", sk.Free(), mass=1.0, inertia=(1.0, 1.0, 1.0))
    painter = Painter(still(b.build()), (200, 200))
    image = painter.frame(0.0).astype(int)
    radius, distance = np.sqrt(1.5), painter.view.distance
    angle = np.arcsin(radius / distance)
    across = 100 / np.tan(FIELD_OF_VIEW / 2) * np.tan(angle)
    covered = ((image.max(axis=2) - image.min(axis=2)) > 40).sum()
    assert covered == pytest.approx(np.pi * across**2, rel=0.03)


def test_a_gif_has_the_size_the_frames_and_the_pace_asked_for_and_moves(tmp_path):
    q = np.linspace(-1, 1, 31)[:, None] * np.ones((1, 2))
    recording = record(log_of(tmp_path / "a.h5", pendulum(), q))
    done = []
    data = film(recording, size=(96, 72), fps=10, speed=0.5, progress=lambda i, n: done.append(i))
    assert data == film(recording, size=(96, 72), fps=10, speed=0.5)  # deterministic
    picture = Image.open(io.BytesIO(data))
    assert picture.size == (96, 72)
    assert picture.n_frames == 20 == done[-1]  # 1 s at half speed
    assert picture.info["duration"] == 100
    frames = []
    for i in (0, 10, 19):
        picture.seek(i)
        frames.append(np.asarray(picture.convert("RGB"), dtype=int))
    assert (np.abs(frames[0] - frames[1]).max(axis=2) > 40).mean() > 0.005
    assert (np.abs(frames[1] - frames[2]).max(axis=2) > 40).mean() > 0.005


def test_the_floor_shows_a_shadow_only_where_there_is_gravity():
    def dark(gravity):
        image = Painter(still(pendulum(gravity)), (160, 120)).frame(0.0).astype(int)
        grey = (image.max(axis=2) - image.min(axis=2)) < 25
        return (grey & (image.mean(axis=2) < 222) & (image.mean(axis=2) > 150)).mean()

    assert dark((0, 0, -9.81)) > 3 * dark((0, 0, 0)) + 0.002
