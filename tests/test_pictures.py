"""The pictures of the documentation are what docs/make_pictures.py makes of the scenarios now.

Some frames are drawn anew and compared with the files; other versions of matplotlib, pillow or
Chromium may move a few pixels, another scenario or another look moves many. After a change that is
meant: python docs/make_pictures.py
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import browser
from skodyn.view.drawing import Painter
from skodyn.view.plots import save, sheet
from skodyn.view.recording import record

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs" / "pictures"
REMEDY = "make the pictures anew: python docs/make_pictures.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("make_pictures", ROOT / "docs/make_pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pixels(image):
    return np.asarray(image.convert("RGB"), dtype=int)


def differing(a, b):
    """The share of pixels that differ visibly."""
    assert a.shape == b.shape, REMEDY
    return float((np.abs(a - b).max(axis=2) > 48).mean())


@pytest.mark.parametrize(("name", "pace"), [("double_pendulum", 1.25), ("rag_doll", 0.4)])
def test_films_show_the_scenarios_as_they_are(script, name, pace):
    recording = record(script.run_of(name))
    painter = Painter(recording, script.FILM["size"])
    with Image.open(PICTURES / f"{name}.gif") as film:
        for i in (5, film.n_frames // 2):
            film.seek(i)
            kept = pixels(film)[40:-40]  # without title and clock
            other = painter.frame(i * pace / script.FILM["fps"] + 0.3)[40:-40].astype(int)
            now = painter.frame(i * pace / script.FILM["fps"])[40:-40].astype(int)
            assert differing(kept, now) < 0.002, REMEDY
            assert differing(kept, other) > 0.005  # this test can tell


def test_the_plot_sheet_shows_the_scenario_as_it_is(script, tmp_path):
    path = save(sheet([script.run_of("double_pendulum")]), tmp_path / "now.png")
    with Image.open(path) as now, Image.open(PICTURES / "double_pendulum_sheet.png") as kept:
        assert differing(pixels(kept), pixels(now)) < 0.02, REMEDY


@pytest.mark.skipif(not browser.CHROMIUM, reason=browser.WITHOUT)
def test_the_screenshot_shows_the_viewer_as_it_is(script, tmp_path):
    script.viewer_screen(tmp_path / "now.png")
    with Image.open(tmp_path / "now.png") as now, Image.open(PICTURES / "viewer.png") as kept:
        assert differing(pixels(kept), pixels(now)) < 0.03, REMEDY  # fonts are the machine's


def test_every_picture_is_made_by_the_script_and_small(script):
    found = {path.name for path in PICTURES.iterdir()}
    assert found == set(script.PICTURES_BY_NAME)
    assert max(path.stat().st_size for path in PICTURES.iterdir()) < 1.5e6


def test_pages_show_only_pictures_that_exist():
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for source in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text()):
            assert (page.parent / source).is_file(), f"{page.name}: {source}"
