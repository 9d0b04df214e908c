"""The viewer's page in a real browser, served and from disk."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager

import numpy as np
import pytest

import browser
import skodyn as sk
from browser import changed_share, coloured_share, open_page, picture, wait
from skodyn.cli import main
from skodyn.io.log import LogWriter
from skodyn.view.document import replay_page
from skodyn.view.recording import record, still
from skodyn.view.server import page_server

pytestmark = pytest.mark.skipif(not browser.CHROMIUM, reason=browser.WITHOUT)


@pytest.fixture(scope="module")
def chromium():
    with browser.chromium() as started:
        yield started


def chain(n, name="chain"):
    b = sk.ModelBuilder(name=name)
    for k in range(n):
        b.add_body(f"link{k}", f"link{k - 1}" if k else "world", sk.Revolute(axis=(0, 1, 0)),
                   translation=(0, 0, -0.5 if k else 0), mass=1.0, com=(0, 0, -0.25),
                   inertia=(0.02, 0.02, 0.004))  # fmt: skip
    return b.build()


def swing(path, n=2, rows=41, name="chain"):
    """A log of a chain that is turned by hand: all joints from −1 to 1 rad in 2 s."""
    model = chain(n, name)
    t = np.linspace(0, 2, rows)
    q = np.repeat(np.linspace(-1, 1, rows)[:, None], n, axis=1) * 2 / n
    energy = np.stack((np.sin(t), 5 - np.sin(t)), axis=1)
    with LogWriter.create(path, ["energy"], model, {}) as log:
        step = np.arange(rows)
        log.append({"t": t, "step": step, "q": q, "v": np.full_like(q, 0.5), "energy": energy})
        log.finish("finished")
    return path


@contextmanager
def served(recording):
    server = page_server(lambda: replay_page(recording))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


def scrub(page, share):
    page.locator("#scrub").fill(str(share))


def test_the_served_page_asks_only_loopback_says_nothing_and_scrubs(chromium, tmp_path):
    log = sk.open(swing(tmp_path / "a.h5"))
    with (
        served(record(log)) as address,
        open_page(chromium, address) as (page, requests, complaints),
    ):
        first = picture(page)
        assert coloured_share(first) > 0.002
        scrub(page, 0.75)
        later = picture(page)
        assert page.evaluate("skodyn.time") == pytest.approx(1.5)
        assert changed_share(first, later) > 0.004
        assert "1.50" in page.locator("#clock").inner_text()
        scrub(page, 0)
        assert changed_share(first, picture(page)) < 0.0005  # and back to the same picture
    assert requests == [address]
    assert complaints == []


def test_the_standalone_file_opens_from_disk_and_holds_no_address(chromium, tmp_path, capsys):
    swing(tmp_path / "a.h5")
    target = tmp_path / "run.html"
    assert main(["view", str(tmp_path / "a.h5"), "--html", str(target)]) == 0
    assert "run.html" in capsys.readouterr().out
    assert not re.search(r"(https?:)?//[a-z0-9.-]+\.[a-z]{2,}", target.read_text())
    with open_page(chromium, target.as_uri()) as (page, requests, complaints):
        first = picture(page)
        assert coloured_share(first) > 0.002
        scrub(page, 1)
        assert changed_share(first, picture(page)) > 0.004
    assert requests == [target.as_uri()]
    assert complaints == []


def test_play_runs_in_real_time_and_the_plot_moves_with_it(chromium, tmp_path):
    log = sk.open(swing(tmp_path / "a.h5"))
    with served(record(log)) as address, open_page(chromium, address) as (page, _, complaints):
        assert page.locator("#curves button").count() == 3  # kinetic, potential, total
        before = picture(page, "#chart")
        page.locator("#speed").select_option("0.25")  # a slow machine must not miss the end
        page.locator("#play").click()
        wait(page, "skodyn.time > 0.5")
        page.locator("#play").click()
        stopped = page.evaluate("skodyn.time")
        assert 0.5 < stopped <= 2.0
        assert changed_share(before, picture(page, "#chart")) > 1e-4  # the cursor moved
        kinetic = page.locator("#curves button").first.inner_text()
        frames = {int((stopped + e) / 0.05) for e in (-1e-6, 1e-6)}  # it may stop at a row's time
        shown = float(kinetic.split()[-2])
        assert any(shown == pytest.approx(np.sin(k * 0.05), abs=0.01) for k in frames)
        page.locator("#curves button").first.click()
        assert page.locator("#curves button").count() == 2
        page.locator("#channel").fill("link1 velocity")
        assert "0.5 rad/s" in page.locator("#curves").inner_text()
        page.keyboard.press("Escape")
        box = page.locator("#chart").bounding_box()
        page.mouse.click(box["x"] + box["width"] - 6, box["y"] + 40)
        assert page.evaluate("skodyn.time") == pytest.approx(2.0)
    assert complaints == []


def test_keys_step_frames_and_drag_and_wheel_move_the_eye(chromium, tmp_path):
    log = sk.open(swing(tmp_path / "a.h5"))
    with served(record(log)) as address, open_page(chromium, address) as (page, _, complaints):
        page.locator("#scene").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert page.evaluate("skodyn.time") == pytest.approx(0.1)
        page.keyboard.press("ArrowLeft")
        assert page.evaluate("skodyn.time") == pytest.approx(0.05)
        page.keyboard.press("End")
        assert page.evaluate("skodyn.time") == pytest.approx(2.0)
        view = page.evaluate("({...skodyn.view})")
        page.mouse.move(200, 200)
        page.mouse.down()
        page.mouse.move(260, 230)
        page.mouse.up()
        page.mouse.wheel(0, 200)
        wait(page, f"skodyn.view.distance > {view['distance']} * 1.01")
        assert page.evaluate("skodyn.view.azimuth") != view["azimuth"]
        assert page.evaluate("skodyn.view.elevation") > view["elevation"]
    assert complaints == []


def test_following_a_body_keeps_its_centre_of_mass_in_the_middle(chromium, tmp_path):
    recording = record(sk.open(swing(tmp_path / "a.h5")))
    with served(recording) as address, open_page(chromium, address) as (page, _, complaints):
        page.locator("#tree li", has_text="link1").click()
        page.locator("#follow").check()
        page.locator("#trail").check()
        for share, frame in ((0.25, 10), (1, 40)):
            scrub(page, share)
            picture(page)
            target = page.evaluate("skodyn.view.target")
            np.testing.assert_allclose(target, recording.centres()[frame, 1], atol=1e-4)
    assert complaints == []


def test_layers_can_be_hidden_and_shown(chromium, tmp_path):
    recording = still(chain(2, name="<b>'\"&</b></script>"))
    with served(recording) as address, open_page(chromium, address) as (page, _, complaints):
        assert page.locator("#title").inner_text() == "<b>'\"&</b></script>"
        assert not page.locator("#player").is_visible()  # nothing to play in a model
        full = picture(page)
        for layer in ("inertia", "links", "joints", "floor", "compass"):
            page.locator(f"#layer-{layer}").uncheck()
        empty = picture(page)
        assert coloured_share(full) > 0.002
        assert np.ptp(empty[60:], axis=(0, 1)).max() < 8  # one colour, below the line of hints
        page.locator("#layer-frames").check()
        assert coloured_share(picture(page)) > 1e-4
    assert complaints == []


def test_a_chain_of_a_thousand_bodies_is_drawn_in_a_handful_of_calls_and_scrubs(chromium, tmp_path):
    recording = record(sk.open(swing(tmp_path / "a.h5", 1000, rows=11)))
    with served(recording) as address, open_page(chromium, address) as (page, _, complaints):
        page.evaluate(
            """() => { const gl = skodyn.renderer.gl, draw = gl.drawElementsInstanced.bind(gl);
               window.calls = 0; gl.drawElementsInstanced = (...a) => { calls++; draw(...a); } }"""
        )
        first = picture(page)
        drawn = page.evaluate("(calls = 0, skodyn.draw(), calls)")
        assert 1 <= drawn <= 10
        scrub(page, 1)
        assert changed_share(first, picture(page)) > 0.001
        pose = page.evaluate("""() => { const p = new Float32Array(skodyn.renderer.poses.length);
            skodyn.replay.poses(1.03, p); return [...p.slice(8 * 1000, 8 * 1001)]; }""")
        positions, turns = recording.at(1.03)
        np.testing.assert_allclose(pose[:3], positions[999], atol=2e-4)
        np.testing.assert_allclose(np.abs(pose[4:] @ turns[999]), 1.0, atol=1e-6)
    assert complaints == []
