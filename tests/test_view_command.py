"""`skodyn view`: files written, the server's address, what is refused."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import skodyn as sk
from skodyn.cli import main
from skodyn.io.log import LogWriter
from skodyn.view.server import page_server

ROOT = Path(__file__).parent.parent
MODEL = ROOT / "scenarios" / "models" / "double_pendulum.toml"


@pytest.fixture
def log(tmp_path):
    model = sk.load(MODEL)
    rows = 11
    q = np.linspace(0, 1, rows)[:, None] * np.ones((1, 2))
    with LogWriter.create(tmp_path / "run.h5", (), model, {}) as writer:
        data = {"t": np.linspace(0, 0.4, rows), "step": np.arange(rows), "q": q, "v": q}
        writer.append(data)
        writer.finish("finished")
    return tmp_path / "run.h5"


def header_of(page):
    return json.loads(re.search(r'<script id="run"[^>]*>(.*?)</script>', page, re.DOTALL)[1])


def test_a_log_becomes_a_page_and_a_film_with_no_other_file_at_hand(log, tmp_path, capsys):
    html, gif = tmp_path / "run.html", tmp_path / "run.gif"
    arguments = ["view", str(log), "--html", str(html), "--gif", str(gif)]
    assert main([*arguments, "--size", "64x48", "--fps", "10"]) == 0
    assert header_of(html.read_text())["title"] == "double pendulum"
    with Image.open(gif) as film:
        assert (film.size, film.n_frames) == ((64, 48), 4)
    before = html.read_bytes()
    capsys.readouterr()
    assert main(["view", str(log), "--html", str(html)]) == 2
    assert "run.html exists; choose another name" in capsys.readouterr().err
    assert main(["view", str(log), "--html", str(html), "--overwrite"]) == 0
    capsys.readouterr()
    assert main(["view", str(log), "--html", str(html), "--force"]) == 0  # its former word
    assert (
        "--force is deprecated and will be removed in version 0.3; use --overwrite."
        in capsys.readouterr().err
    )
    assert html.read_bytes() == before  # the same run gives the same page
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.gif", "run.h5", "run.html"]


def test_models_and_scenarios_can_be_looked_at_before_any_run(tmp_path):
    scenario = ROOT / "scenarios" / "double_pendulum.toml"
    for k, file in enumerate((MODEL, scenario)):
        assert main(["view", str(file), "--html", str(tmp_path / f"{k}.html")]) == 0
        names = [body["name"] for body in header_of((tmp_path / f"{k}.html").read_text())["bodies"]]
        assert names == ["upper", "lower"]
    assert (tmp_path / "0.html").read_text() != (tmp_path / "1.html").read_text()  # q0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.h5"], "none.h5"),
        (["LOG", "--html", "run.htm5"], "ends in .html"),
        (["LOG", "--gif", "run.png"], "ends in .gif"),
        (["LOG", "--html", "no/folder.html"], "cannot be written: No such file"),
        (["LOG", "--port", "99999"], "from 0 to 65535"),
        ([str(MODEL), "--model", str(MODEL), "--html", "a.html"], "--model is for logs"),
        (["LOG", "--model", str(MODEL.with_name("cart_pole.toml")), "--html", "a.html"],
         "was not run with model"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_one_sentence(log, monkeypatch, tmp_path, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    given = [str(log) if a == "LOG" else a for a in arguments]
    assert main(["view", *given]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["run.h5"]


@pytest.mark.parametrize("option", [["--size", "9x9"], ["--size", "big"], ["--fps", "0"],
                                    ["--speed", "-1"], ["--frames", "x"]])  # fmt: skip
def test_options_out_of_range_are_refused(log, option):
    with pytest.raises(SystemExit) as stop:
        main(["view", str(log), "--gif", "a.gif", *option])
    assert stop.value.code == 2


def test_the_command_serves_on_loopback_until_it_is_interrupted(log):
    command = [sys.executable, "-m", "skodyn", "view", str(log), "--no-browser"]
    # behind nohup SIGINT is ignored, by children as well, unless they are told otherwise
    heed = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, preexec_fn=heed)
    try:
        line = process.stdout.readline()
        port = int(re.match(r"http://127\.0\.0\.1:(\d+)/ ", line)[1])
        answer = ask(port, "/")
        assert answer[0] == 200
        assert header_of(answer[1])["title"] == "double pendulum"
        assert ask(port, "/elsewhere")[0] == 404
        assert ask(port, "/", host="evil.example")[0] == 403  # a foreign name that leads here
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
        process.communicate()


def ask(port, path, host=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path, headers={"Host": host} if host else {})
    reply = connection.getresponse()
    text = reply.read().decode()
    connection.close()
    return reply.status, text


def test_a_port_in_use_is_said():
    with page_server(lambda: "") as server:
        port = server.server_address[1]
        with pytest.raises(sk.SkodynError, match=f"Port {port} cannot be used"):
            page_server(lambda: "", port)


def test_without_pillow_the_extra_is_named_before_any_work(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "PIL", None)
    for kind in ("gif", "mp4"):
        assert main(["view", "is not there.h5", f"--{kind}", str(tmp_path / f"a.{kind}")]) == 2
        assert "pip install 'skodyn[view]'" in capsys.readouterr().err


def test_a_robot_file_is_drawn_with_its_meshes_from_the_search_path(tmp_path, capsys):
    (tmp_path / "meshes").mkdir()
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
    (tmp_path / "meshes" / "tip.obj").write_text(corners + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    (tmp_path / "robot.urdf").write_text(
        '<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        '<visual><geometry><mesh filename="tip.obj"/></geometry></visual></link>'
        '<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>'
    )
    arguments = ["view", str(tmp_path / "robot.urdf"), "--html", str(tmp_path / "r.html")]
    assert main([*arguments, "--search-path", str(tmp_path / "meshes")]) == 0
    meshes = header_of((tmp_path / "r.html").read_text())["scene"]["meshes"]
    assert any(name.endswith("tip.obj") for name in meshes)
    assert main([*arguments, "--overwrite"]) == 0
    assert "tip.obj" in capsys.readouterr().err  # not found, and said so
