"""Flexible bodies in viewer, page and film: what is drawn is where the nodes are."""

from __future__ import annotations

import numpy as np
import pytest

import browser
import skodyn as sk
from browser import changed_share, open_page, picture
from skodyn.cli import main
from skodyn.errors import LogError
from skodyn.view.bent_shapes import LAYER, SCALE, scale_colours
from skodyn.view.document import replay_page
from skodyn.view.drawing import Painter
from skodyn.view.films import film
from skodyn.view.recording import record, show_layers, still
from skodyn.view.rotations import rotated
from skodyn.view.scene import scene_of


def boom(*, section=None, segments=None):
    """A beam on a pin with a camera at its tip; it bends both ways and twists."""
    beam = {"modes": {"y": 2, "z": 2, "twist": 1}, "torsion_stiffness": 5.0}
    beam |= {
        "mass_per_length": 0.5,
        "bending_stiffness": (20.0, 30.0),
        "rotary_inertia": (1e-3, 2e-3),
    }
    if section:
        beam = {"modes": {"y": 2, "z": 2}, "section": section, "young": 7e10, "density": 2700.0}
    if segments:
        beam = {**beam, "segments": segments}
        beam.pop("modes")
    b = sk.ModelBuilder(name="boom on a pin")
    joint = sk.Revolute(axis=(0, 1, 0), name="pin")
    b.add_body("boom", joint=joint, translation=(0, 0, 1), flexible=sk.Beam(2.0, **beam))
    camera = {"mass": 1.0, "com": (0.2, 0, 0), "inertia": (0.01, 0.02, 0.02)}
    b.add_body("camera", "boom", sk.Revolute(axis=(0, 0, 1)), at="tip", translation=(0.1, 0, 0.2),
               **camera)  # fmt: skip
    return b.build()


def bent_state(model, body="boom", size=0.2):
    q = model.neutral()
    q[model.mode_slice(body)] = (
        size * np.array([1.0, 0.1, -0.8, 0.05, 1.5])[: model.flexible[body].modes]
    )
    q[0] = 0.4
    return q


def corners_in_world(recording, t=0.0):
    """(corners, stations moved) of each surface, in the picture's axes."""
    positions, turns = recording.at(t)
    for shape, modes in recording.bending(t):
        points, normals, far = shape.surface(modes)
        k = shape.body
        yield shape, positions[k] + rotated(turns[k], points), rotated(turns[k], normals), far


@pytest.mark.parametrize("section", [None, {"tube": [0.05, 0.045]}, {"box": [0.06, 0.03]}])
@pytest.mark.parametrize("factor", [1.0, 3.0])
def test_sections_at_both_ends_are_where_the_nodes_are(section, factor):
    model = boom(section=section)
    q = bent_state(model, size=0.1)
    drawn = q.copy()
    drawn[model.mode_slice("boom")] *= factor
    root, tip = sk.node_poses(model, drawn, "boom")
    recording = still(model, q, exaggerate=factor)
    ((shape, corners, normals, _),) = corners_in_world(recording)
    for node, station in ((root, 0), (tip, len(shape.stations) - 1)):
        here = shape.station == station
        expected = shape.arms[here] @ node[:3, :3].T + node[:3, 3]
        np.testing.assert_allclose(corners[here], expected, atol=1e-12)
        np.testing.assert_allclose(normals[here], shape.normals[here] @ node[:3, :3].T, atol=1e-12)
    camera = recording.positions[0, 1]
    np.testing.assert_allclose(camera, tip[:3, 3] + tip[:3, :3] @ (0.1, 0, 0.2), atol=1e-12)


def test_surfaces_are_closed_and_their_faces_look_outward():
    for section in (None, {"tube": [0.05, 0.045]}, {"box": [0.06, 0.03]}):
        (shape,) = scene_of(boom(section=section)).bent
        corners, normals, _ = shape.surface(np.zeros(shape.flexible.modes))
        a, b, c = (corners[shape.triangles[:, i]] for i in range(3))
        across = np.cross(b - a, c - a)
        assert ((across * normals[shape.triangles[:, 0]]).sum(axis=1) > 0).all()
        volume = (a * across).sum() / 6
        y, z = np.ptp(corners, axis=0)[1:]
        full = 2.0 * y * z * (np.pi / 4 if section and "tube" in section else 1.0)
        assert volume == pytest.approx(full, rel=0.02)


def imported():
    """A bar of finite elements with the faces of its hull."""
    spatial = pytest.importorskip("scipy.spatial")
    from test_from_matrices import DATA, bar

    b = sk.ModelBuilder(name="imported")
    body = bar(5, interfaces={}, faces=spatial.ConvexHull(DATA["nodes"]).simplices)
    b.add_body("bar", joint=sk.Revolute(axis=(0, 1, 0)), flexible=body)
    return b.build()


def test_imported_faces_move_with_their_points():
    model = imported()
    body, q = model.flexible["bar"], model.neutral()
    q[model.mode_slice("bar")] = 0.03 * np.arange(1, body.modes + 1)
    ((shape, corners, _, far),) = corners_in_world(still(model, q))
    display = body.display
    moved = display.points + display.translation @ q[model.mode_slice("bar")]
    np.testing.assert_allclose(corners, moved[display.faces.reshape(-1)], atol=1e-14)
    wanted = np.linalg.norm(moved - display.points, axis=1)[display.faces.reshape(-1)]
    np.testing.assert_allclose(far, wanted, atol=1e-14)
    assert shape.turns is None


def test_pieces_of_a_beam_with_segments_lie_end_to_end():
    model = boom(segments=5)
    scene = scene_of(model)
    (batch,) = [one for one in scene.batches if one.layer == LAYER]
    assert len(batch.instances) == 5
    assert batch.instances[:, 8].sum() == pytest.approx(2.0)
    _, positions = sk.forward_kinematics(model, model.neutral())
    ends = positions[:5, 0] + batch.instances[:, 8]
    np.testing.assert_allclose(ends[:-1], positions[1:5, 0], atol=1e-6)
    assert "inertia" not in {b.layer for b in scene.batches if (b.instances[:, 0] < 5).any()}


def test_colours_go_from_rest_to_the_largest_deflection():
    np.testing.assert_allclose(scale_colours(np.array([0.0, 1.0])), [SCALE[0], SCALE[-1]])
    run = sk.simulate(boom(), bent_state(boom()), np.zeros(7), duration=0.2, dt=0.002)
    recording = record(run.trajectory)
    tips = np.linalg.norm(sk.deflections(boom(), run.q, "boom"), axis=-1)
    assert recording.largest_deflection == pytest.approx(tips.max(), rel=1e-9)
    assert record(run.trajectory, exaggerate=10).largest_deflection > 9 * tips.max()


def test_a_film_shows_the_bending_and_exaggerates_it():
    model = boom()
    straight, bent = model.neutral(), bent_state(model, size=0.02)
    straight[0] = bent[0]
    frames = [
        Painter(still(model, q, exaggerate=x), (320, 240)).frame(0.0).astype(np.int16)
        for q, x in ((straight, 1.0), (bent, 1.0), (bent, 10.0))
    ]
    assert changed_share(frames[0], frames[2]) > 2 * changed_share(frames[0], frames[1]) > 0.0
    run = sk.simulate(model, bent, np.zeros(7), duration=0.1, dt=0.002)
    assert film(record(run.trajectory, exaggerate=5), size=(64, 48))[:3] == b"GIF"


def pulled_run():
    """A boom that is pushed and pulled at its nodes, by a spring between two of them as well."""
    model = boom()
    pull = [
        sk.Wrench("boom", force=(0.5, 0.0, 1.0), moment=(0.0, 0.1, 0.0), node="tip", frame="body"),
        sk.Wrench("camera", force=(0.0, 0.4, 0.0), point=(0.1, 0.0, 0.0)),
        sk.PointSpring("boom", "world", 5.0, 0.3, node_a="tip", point_b=(2.0, 0.5, 1.5)),
        sk.PointSpring("camera", "boom", 4.0, 0.2, length=0.5, node_b="root"),
    ]
    return sk.simulate(
        model, bent_state(model, size=0.05), np.ones(7), duration=0.1, dt=0.001, elements=pull
    )


@pytest.mark.parametrize("factor", [1.0, 3.0])
def test_arrows_of_forces_at_nodes_start_at_the_bent_node(factor):
    run, model = pulled_run(), boom()
    recording = record(run.trajectory, exaggerate=factor)
    fields = {field.layer: field for field in recording.arrows}
    drawn = run.q.copy()
    drawn[:, model.mode_slice("boom")] *= factor
    roots, tips = sk.node_poses(model, drawn, "boom").transpose(1, 0, 2, 3)
    rotations, places = sk.forward_kinematics(model, drawn)
    camera = places[:, 1] + rotations[:, 1] @ (0.1, 0, 0)
    for i in (0, 7, len(run.t) - 1):
        poses, when = recording.at(recording.times[i]), (i, i, 0.0)
        for layer, starts in (
            ("forces", (tips[i, :3, 3], camera[i])),
            ("torques", (tips[i, :3, 3],)),
            ("springs", (tips[i, :3, 3], places[i, 1])),
        ):
            np.testing.assert_allclose(fields[layer].starts(*poses, when), starts, atol=1e-12)
        ends = fields["springs"].far_ends(*poses, when)
        np.testing.assert_allclose(ends, [(2.0, 0.5, 1.5), roots[i, :3, 3]], atol=1e-12)
    true = sk.node_poses(model, run.q, "boom")[:, 1]
    pushed = np.einsum("fij,j->fi", true[:, :3, :3], (0.5, 0.0, 1.0))
    np.testing.assert_allclose(fields["forces"].vectors[:, 0], pushed, atol=1e-12)
    np.testing.assert_allclose(fields["torques"].vectors[:, 0], 0.1 * true[:, :3, 1], atol=1e-12)
    np.testing.assert_allclose(fields["springs"].vectors[:, 0], tip_spring(run, true), atol=1e-4)
    np.testing.assert_allclose(fields["springs"].hung, [(2.0, 0.5, 1.5)])


def tip_spring(run, tips):
    """What the spring at the tip pulls with; the rate of its length by differences."""
    line = (2.0, 0.5, 1.5) - tips[:, :3, 3]
    length = np.linalg.norm(line, axis=1)
    rate = np.gradient(length, run.t, edge_order=2)
    return ((5.0 * length + 0.3 * rate) / length)[:, None] * line


def test_what_cannot_be_exaggerated_is_refused(tmp_path, capsys):
    with pytest.raises(LogError, match="nothing to exaggerate"):
        still(sk.examples.pendulum(), exaggerate=10)
    target = tmp_path / "strip.html"
    assert main(["view", "scenarios/flexible_pendulum.toml", "--exaggerate", "10",
                 "--html", str(target)]) == 0  # fmt: skip
    assert "10 times as large" in capsys.readouterr().err
    assert main(["view", "scenarios/double_pendulum.toml", "--exaggerate", "10",
                 "--html", str(tmp_path / "no.html")]) == 2  # fmt: skip


# ---- in a browser -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chromium():
    if not browser.CHROMIUM:
        pytest.skip(browser.WITHOUT)
    with browser.chromium() as started:
        yield started


def shown(chromium, recording, folder):
    path = folder / "page.html"
    path.write_text(replay_page(recording), encoding="utf-8")
    return open_page(chromium, path.as_uri())


def test_arrows_at_nodes_are_seen_in_page_and_film(chromium, tmp_path):
    recording = record(pulled_run().trajectory, exaggerate=2.0)
    quiet = Painter(recording, (320, 240)).frame(0.05).astype(np.int16)
    for layer in ("forces", "springs"):
        painted = Painter(show_layers(recording, [layer]), (320, 240)).frame(0.05).astype(np.int16)
        assert changed_share(quiet, painted) > 0.001
    with shown(chromium, recording, tmp_path) as (page, _, complaints):
        for layer in ("forces", "springs"):
            before = picture(page)
            page.locator(f"#layer-{layer}").check()
            assert changed_share(before, picture(page)) > 0.001
        assert not complaints


def test_a_bent_beams_pixels_move_and_have_the_colour_of_its_deflection(chromium, tmp_path):
    run = sk.simulate(boom(), bent_state(boom()), np.zeros(7), duration=0.5, dt=0.002)
    with shown(chromium, record(run.trajectory), tmp_path) as (page, _, complaints):
        first = picture(page)
        page.locator("#layer-joints").uncheck()
        page.locator("#scrub").fill("0.5")
        later = picture(page)
        assert changed_share(first, later) > 0.004
        assert "deflection" in page.locator("#legend").inner_text()
        page.locator("#layer-deflection").uncheck()
        plain = picture(page)
        assert changed_share(later, plain) > 0.004
        page.locator("#layer-bending").uncheck()
        assert changed_share(plain, picture(page)) > 0.004
        assert not complaints


CORNERS = """() => {
  const { bent, renderer } = skodyn, { gl } = renderer, n = bent.surfaces[0].station.length;
  const program = gl.createProgram(), uniform = {}, made = gl.createBuffer();
  for (const [kind, source] of [[gl.VERTEX_SHADER, BENT_VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.transformFeedbackVaryings(program, ["point"], gl.INTERLEAVED_ATTRIBS);
  gl.linkProgram(program);
  const names = Object.keys(bent.program.uniform);
  for (const name of names) uniform[name] = gl.getUniformLocation(program, name);
  gl.bindBuffer(gl.TRANSFORM_FEEDBACK_BUFFER, made);
  gl.bufferData(gl.TRANSFORM_FEEDBACK_BUFFER, 12 * n, gl.STREAM_READ);
  gl.bindBuffer(gl.TRANSFORM_FEEDBACK_BUFFER, null);
  gl.drawElements = () => {
    gl.bindBufferBase(gl.TRANSFORM_FEEDBACK_BUFFER, 0, made);
    gl.beginTransformFeedback(gl.POINTS);
    gl.drawArrays(gl.POINTS, 0, n);
    gl.endTransformFeedback();
    gl.bindBufferBase(gl.TRANSFORM_FEEDBACK_BUFFER, 0, null);
  };
  bent.program = { program, uniform };
  bent.draw(renderer.told, skodyn.shown, false);
  const found = new Float32Array(3 * n);
  gl.bindBuffer(gl.TRANSFORM_FEEDBACK_BUFFER, made);
  gl.getBufferSubData(gl.TRANSFORM_FEEDBACK_BUFFER, 0, found);
  return [...found];
}"""
"""What the page's own shader makes of the corners, read back from the graphics card."""


ROUNDED = 2e-5  # m, of 2: sines of a shader have some 16 bits


@pytest.mark.parametrize("kind", ["beam", "faces"])
def test_the_vertex_shader_puts_corners_where_the_nodes_are(chromium, tmp_path, kind):
    model = boom() if kind == "beam" else imported()
    name = model.body_names[0]
    q = bent_state(model, name, 0.1 if kind == "beam" else 0.02)
    tip = sk.node_poses(model, q, name)[list(model.flexible[name].nodes).index("tip")]
    recording = still(model, q)
    with shown(chromium, recording, tmp_path) as (page, _, complaints):
        found = np.array(page.evaluate(CORNERS)).reshape(-1, 3)
        assert not complaints
    ((shape, corners, _, far),) = corners_in_world(recording)
    np.testing.assert_allclose(found, corners, atol=ROUNDED)
    assert far.max() > 0.01
    if kind == "beam":
        here = shape.station == len(shape.stations) - 1
        np.testing.assert_allclose(
            found[here], shape.arms[here] @ tip[:3, :3].T + tip[:3, 3], atol=ROUNDED
        )


def test_sliders_of_modes_bend_the_beam_and_carry_what_hangs_on_it(chromium, tmp_path):
    model = boom()
    q = bent_state(model)
    with shown(chromium, still(model, model.neutral()), tmp_path) as (page, _, complaints):
        before = picture(page)
        values = ", ".join(str(x) for x in q)
        page.evaluate(f"skodyn.joints.values.set([{values}]); skodyn.joints.changed()")
        after = picture(page)
        assert changed_share(before, after) > 0.004
        poses = np.array(page.evaluate("[...skodyn.renderer.poses.slice(8, 24)]")).reshape(2, 8)
        _, positions = sk.forward_kinematics(model, q)
        np.testing.assert_allclose(poses[:, :3], positions, atol=1e-6)
        amounts = page.evaluate("[...skodyn.bent.amounts.numbers.filter((_, i) => i % 4 === 0)]")
        count = model.flexible["boom"].shapes
        from skodyn.dynamics.flexible_nodes import shape_amounts

        wanted = shape_amounts(model.flexible["boom"], q[model.mode_slice("boom")])
        np.testing.assert_allclose(amounts[:count], wanted, rtol=1e-6, atol=1e-9)
        said = page.locator("#coordinates").input_value()
        np.testing.assert_allclose(np.fromstring(said[5:-1], sep=","), q, atol=1e-7)
        assert not complaints
