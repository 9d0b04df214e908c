"""Models, runs and sweeps show themselves: in notebooks, in scripts, as files."""

from __future__ import annotations

import io
import webbrowser
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import skodyn as sk
from skodyn.view import shown


@pytest.fixture(scope="module")
def run():
    model = sk.load("scenarios/models/double_pendulum.toml")
    return sk.simulate(model, [1.0, 0.2], [0.0, 0.0], duration=0.5, every=10, channels=["energy"])


@pytest.fixture
def asked(monkeypatch):
    """What the browser was asked to show."""
    found = []
    monkeypatch.setattr(webbrowser, "open", found.append)
    return found


def test_a_run_a_trajectory_and_a_model_open_the_browser_on_one_file(run, asked):
    for page in (run.view(), run.trajectory.view(frames=5), run.trajectory.model.view([0.1, 0.2])):
        text = page.html
        assert text.startswith("<!doctype html>")
        assert "double pendulum" in text
    assert len(asked) == 3
    assert all(address.startswith("file://") for address in asked)


def test_with_a_path_a_file_is_written_and_no_browser_opened(run, asked, tmp_path):
    run.view(tmp_path / "run.html", show=["velocities"])
    assert '"velocities"' in (tmp_path / "run.html").read_text()
    with pytest.raises(sk.LogError, match=r"run\.html exists"):
        run.view(tmp_path / "run.html")
    assert asked == []


def test_in_a_notebook_the_page_is_shown_in_a_frame_and_nothing_opens(run, asked, monkeypatch):
    monkeypatch.setattr(shown, "_in_notebook", lambda: True)
    page = run.view()
    assert asked == []
    frame = page._repr_html_()
    assert frame.startswith("<iframe srcdoc=")
    assert "<script" not in frame  # escaped, so that it runs inside of the frame alone


def test_plots_are_pictures_in_notebooks_and_files_elsewhere(run, tmp_path):
    picture = run.plot(channels=["q"])
    with Image.open(io.BytesIO(picture._repr_png_())) as image:
        assert min(image.size) > 100
    assert picture.figure.axes
    run.trajectory.plot(tmp_path / "run.svg")
    assert "<svg" in (tmp_path / "run.svg").read_text()


def test_a_sweep_is_plotted_and_tells_its_ranges(tmp_path):
    text = (
        Path("scenarios/sweep_cart_gains.toml")
        .read_text()
        .replace("duration = 4.0", "duration = 0.2")
    )
    text = text.replace('file = "models', f'file = "{Path("scenarios").resolve()}/models')
    (tmp_path / "short.toml").write_text(text)
    study = sk.sweep(tmp_path / "short.toml")
    text = study._repr_html_()
    assert "600 finished" in text
    assert "controllers.drive.kp" in text
    assert "no number" in text  # the cart does not arrive in this time
    study.plot(tmp_path / "gains.png", metrics=["swing"])
    with Image.open(tmp_path / "gains.png") as image:
        assert min(image.size) > 100


def test_the_html_of_models_runs_and_general_models_is_escaped_and_short(run):
    b = sk.ModelBuilder(name="<b>arm</b>")
    for k in range(40):
        b.add_body(f"<i>{k}", f"<i>{k - 1}" if k else "world", sk.Revolute(), mass=1.0,
                   com=(0, 0, 0.1), inertia=(1e-3, 1e-3, 1e-3))  # fmt: skip
    model = b.build()
    text = model._repr_html_()
    assert "<b>arm" not in text.replace("<b>Model", "")
    assert "<i>" not in text
    assert "<details><summary>tree" in text  # folded
    assert "40 kg" in text
    general = sk.sko_model(model, model.neutral())
    nodes = general._repr_html_()
    assert "and 28 more" in nodes
    assert "&lt;i&gt;0" in nodes
    words = run._repr_html_()
    assert "finished" in words
    assert "energy error" in words
    assert words.count("<polyline") == 2
    assert run.trajectory._repr_html_().startswith("<div><b>Trajectory")


def test_a_run_that_blew_up_still_has_html(run):
    arrays = {"t": np.arange(3.0), "step": np.arange(3), "q": np.full((3, 2), np.nan),
              "v": np.zeros((3, 2))}  # fmt: skip
    broken = type(run.trajectory).in_memory(run.trajectory.model, arrays, status="failed")
    assert "failed" in broken._repr_html_()
