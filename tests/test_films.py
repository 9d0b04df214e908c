"""Films: formats, the camera that was asked for, the stretch of time, progress."""

from __future__ import annotations

import shutil
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import skodyn as sk
from skodyn.cli import main
from skodyn.view import films
from skodyn.view.camera import Camera, first_view, looking
from skodyn.view.recording import record


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    log = tmp_path_factory.mktemp("films") / "run.h5"
    model = sk.load("scenarios/models/double_pendulum.toml")
    sk.simulate(model, [1.0, 0.2], [0.0, 0.0], duration=2.0, every=20, log=log)
    return log


def frames(path):
    with Image.open(path) as picture:
        return picture.n_frames, picture.size


def test_a_stretch_of_time_is_filmed(run, tmp_path, capsys):
    target = tmp_path / "a.gif"
    line = ["view", str(run), "--gif", str(target), "--size", "64x48", "--fps", "10"]
    assert main([*line, "--time", "0.5:1.5"]) == 0
    assert frames(target) == (10, (64, 48))
    assert main([*line, "--time", "1.5:", "--overwrite"]) == 0
    assert frames(target)[0] == 5
    capsys.readouterr()
    assert main([*line, "--time", "1:3", "--overwrite"]) == 2
    assert "this run goes from 0 to 2 s" in capsys.readouterr().err


def test_the_camera_goes_where_it_is_asked_to(run):
    recording = record(sk.open(run))
    plain = first_view(recording, recording.scene.extent)
    seen = looking(plain, Camera("lower", 30.0, 45.0, 2.0), recording)
    assert (seen.azimuth, seen.elevation) == pytest.approx((np.pi / 6, np.pi / 4))
    assert seen.distance == pytest.approx(plain.distance / 2)
    assert seen.follow == recording.model.body_index("lower")
    with pytest.raises(sk.ModelError, match="has no body 'lowest'"):
        looking(plain, Camera("lowest"), recording)


def test_options_of_the_camera_change_the_film(run, tmp_path, capsys):
    line = ["view", str(run), "--size", "64x48", "--fps", "2", "--time", "0:0.5"]
    made = {}
    asked = {"plain": "", "turned": "--azimuth 170", "high": "--elevation 80",
             "near": "--zoom 1.5", "follow": "--follow lower"}  # fmt: skip
    for name, words in asked.items():
        more = words.split()
        assert main([*line, *more, "--gif", str(tmp_path / f"{name}.gif")]) == 0
        made[name] = (tmp_path / f"{name}.gif").read_bytes()
    assert len(set(made.values())) == 5
    assert main([*line, "--elevation", "95", "--gif", str(tmp_path / "x.gif")]) == 2
    assert "from -89 to 89" in capsys.readouterr().err


def test_without_ffmpeg_it_is_said_by_name(run, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    for kind in ("mp4", "webm"):
        target = tmp_path / f"a.{kind}"
        assert main(["view", str(run), f"--{kind}", str(target)]) == 2
        words = capsys.readouterr().err
        assert "need the program ffmpeg" in words
        assert "apt-get install ffmpeg" in words
        assert not target.exists()


ENCODER = """#!/usr/bin/env python3
import sys
data = sys.stdin.buffer.read()
assert sys.argv[sys.argv.index("-s") + 1] == "64x48"
open(sys.argv[-1], "wb").write(len(data).to_bytes(8, "little") + data[:9])
"""


def test_an_encoder_gets_every_frame_whole(run, tmp_path, monkeypatch):
    """With a stand-in for ffmpeg that counts what it is given."""
    program = tmp_path / "ffmpeg"
    program.write_text(ENCODER)
    program.chmod(0o755)
    monkeypatch.setattr(films, "ffmpeg_program", lambda: str(program))
    told = []
    data = films.film(record(sk.open(run)), size=(64, 48), fps=5, kind="mp4",
                      progress=lambda i, n: told.append((i, n)))  # fmt: skip
    assert int.from_bytes(data[:8], "little") == 10 * 64 * 48 * 3
    assert told[-1] == (10, 10)
    program.write_text("#!/bin/sh\necho no such codec >&2\nexit 1\n")
    with pytest.raises(sk.SkodynError, match="made no webm: no such codec"):
        films.film(record(sk.open(run)), size=(64, 48), fps=5, kind="webm")


@pytest.mark.skipif(
    not shutil.which("ffmpeg"), reason="no ffmpeg; on Debian: apt-get install ffmpeg"
)
@pytest.mark.parametrize(("kind", "head"), [("mp4", b"ftyp"), ("webm", b"webm")])
def test_ffmpeg_makes_films_that_it_can_read_again(run, tmp_path, kind, head):
    target = tmp_path / f"a.{kind}"
    line = ["view", str(run), f"--{kind}", str(target), "--size", "65x49", "--fps", "10"]
    assert main(line) == 0
    assert head in target.read_bytes()[:64]
    decoded = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", target, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
        capture_output=True, check=True,
    ).stdout  # fmt: skip
    assert len(decoded) == 20 * 66 * 50 * 3  # padded to even sizes


def test_progress_of_a_long_film_is_told(run, tmp_path, capsys, monkeypatch):
    from skodyn import progress

    monkeypatch.setattr(progress, "AFTER", 0.0)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    line = ["view", str(run), "--gif", str(tmp_path / "a.gif"), "--size", "64x48", "--fps", "5"]
    assert main(line) == 0
    assert "frame 10 of 10" in capsys.readouterr().err
    assert main([*line, "--overwrite", "--quiet"]) == 0
    assert "frame" not in capsys.readouterr().err
