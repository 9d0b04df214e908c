"""A run as it goes in a real browser: shown, paused, slowed down, pulled at."""

from __future__ import annotations

import pytest

import browser
import skodyn as sk
from skodyn.cli import main
from test_live_view import Started


@pytest.fixture(scope="module")
def chromium():
    if not browser.CHROMIUM:
        pytest.skip(browser.WITHOUT)
    with browser.chromium() as started:
        yield started


def test_a_page_shows_the_run_pauses_it_and_pulls_a_body(chromium, tmp_path):
    with (
        Started(tmp_path, "scenarios/double_pendulum.toml") as run,
        browser.open_page(chromium, run.address) as (page, _, complaints),
    ):
        browser.wait(page, "skodyn.live.frame && skodyn.live.frame.t > 0.1")
        page.locator("#play").click()
        browser.wait(page, "skodyn.live.frame.state === 'paused'")
        first = browser.picture(page)
        t = page.evaluate("skodyn.live.frame.t")
        page.wait_for_timeout(300)
        assert page.evaluate("skodyn.live.frame.t") == t
        x, y = browser.spot(page, 1)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 60, y - 80, steps=5)
        assert page.evaluate("skodyn.live.drag.body") == 1
        page.keyboard.press("Space")
        browser.wait(page, "skodyn.live.frame.touched !== null")
        page.wait_for_timeout(500)
        assert browser.changed_share(first, browser.picture(page)) > 0.002
        page.mouse.up()
        assert page.evaluate("skodyn.live.drag") is None
        assert "not logged" in page.locator("#live").inner_text()
        view = page.evaluate("skodyn.view.azimuth")
        box = page.locator("#scene").bounding_box()
        page.mouse.move(box["x"] + 5, box["y"] + 60)  # the sky: the camera turns as ever
        page.mouse.down()
        page.mouse.move(box["x"] + 60, box["y"] + 60)
        page.mouse.up()
        assert page.evaluate("skodyn.view.azimuth") != view
        assert not complaints


def pace(page, seconds=1.0):
    """Simulated seconds for each second that passes, by what the page shows."""
    seen = "[skodyn.live.frame.t, performance.now() / 1000]"
    first = page.evaluate(seen)
    page.wait_for_timeout(1000 * seconds)
    last = page.evaluate(seen)
    return (last[0] - first[0]) / (last[1] - first[1])


def test_the_speed_of_a_page_slows_the_run_down_and_hurries_it(chromium, tmp_path):
    with (
        Started(tmp_path, "scenarios/double_pendulum.toml") as run,
        browser.open_page(chromium, run.address) as (page, _, complaints),
    ):
        browser.wait(page, "skodyn.live.frame && skodyn.live.frame.t > 0.1")
        speed = page.locator("#speed")
        assert speed.input_value() == "1"
        paces = {}
        for choice in ("0.1", "0.5", "0.01"):
            speed.select_option(choice)
            browser.wait(page, f"skodyn.live.frame.speed === {choice}")
            paces[choice] = pace(page)
        for choice, found in paces.items():  # never faster; slower where the machine is busy
            assert 0.2 * float(choice) < found < float(choice) + 0.1, paces
        assert paces["0.01"] < paces["0.1"] < paces["0.5"]
        page.locator("#play").click()
        browser.wait(page, "skodyn.live.frame.state === 'paused'")
        with browser.open_page(chromium, run.address) as (other, _, _):  # one that comes later
            browser.wait(other, "skodyn.live.frame !== null")
            assert other.locator("#speed").input_value() == "0.01"
            assert other.locator("#play").get_attribute("aria-label") == "go on"
            assert other.locator("#live").inner_text() == "paused"
            other.locator("#speed").select_option("10")
            other.locator("#play").click()
            browser.wait(page, "skodyn.live.over")
        assert speed.input_value() == "10"
        assert page.locator("#live").inner_text() == "finished"
        assert not complaints
    alone = tmp_path / "alone.h5"
    assert main(["run", "scenarios/double_pendulum.toml", "-o", str(alone), "--quiet"]) == 0
    assert sk.open(run.log).q.tobytes() == sk.open(alone).q.tobytes()
