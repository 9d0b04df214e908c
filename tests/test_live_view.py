"""Watching a run as it goes: `skodyn run --view`, its messages, and what becomes of the log."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.cli import main
from skodyn.scenario import read_scenario
from skodyn.scenario.running import plan_of
from skodyn.simulation.elements import Forces, PointSpring
from skodyn.simulation.pulling import move_end, pulled, spring_at
from skodyn.view.live import LiveView
from skodyn.view.server import page_server


def plan(name="double_pendulum", duration=None):
    made = plan_of(read_scenario(f"scenarios/{name}.toml"))
    return replace(made, duration=duration) if duration else made


# ---- the spring ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["double_pendulum", "stewart", "flexible_pendulum", "gripper"])
def test_moving_the_end_is_a_run_with_another_spring_to_the_bit(name):
    given = plan(name)
    first = given.engine()
    first.advance(20)
    body, point = given.model.body_names[-1], np.array([0.05, 0.0, 0.02])
    memory, away = first.memory_of_run(), np.array([1.0, 0.3, 0.2])
    near = spring_at(given, first.q.copy(), body, point, np.zeros(3))
    one = pulled(given, memory, near)
    move_end(one, away)
    one.advance(20)
    other = pulled(given, memory, replace(near, point_b=tuple(away)))
    other.advance(20)
    alone = pulled(given, memory, None)
    alone.advance(20)
    assert one.q.tobytes() == other.q.tobytes()
    assert one.y.tobytes() == other.y.tobytes()
    assert one.q.tobytes() != alone.q.tobytes()


def test_without_a_spring_a_run_goes_on_to_the_same_bits():
    given = plan()
    whole, part = given.engine(), given.engine()
    whole.advance(50)
    part.advance(20)
    rest = pulled(given, part.memory_of_run(), None)
    rest.advance(30)
    assert rest.q.tobytes() == whole.q.tobytes()
    assert rest.y.tobytes() == whole.y.tobytes()


def test_the_spring_pulls_the_point_towards_its_end():
    """A ball on three sliders, without gravity: it comes to rest where it is pulled to."""
    b = sk.ModelBuilder(gravity=(0, 0, 0))
    b.add_body("ball", joint=sk.Translation(), mass=2.0, inertia=(0.1, 0.1, 0.1))
    model = b.build()
    start, like = np.zeros(3), plan()
    given = type(like)(model, start, start, 20.0, like.settings, Forces())
    end = np.array([0.4, -0.2, 0.7])
    spring = spring_at(given, np.zeros(3), "ball", np.zeros(3), end)
    assert isinstance(spring, PointSpring)
    assert np.sqrt(spring.stiffness / 2.0) == pytest.approx(2 * np.pi * 1.5)
    engine = pulled(given, given.engine().memory_of_run(), spring)
    while not engine.finished:
        engine.advance(1000)
    np.testing.assert_allclose(engine.q, end, atol=1e-6)


def test_a_spring_is_never_stiffer_than_the_step_allows():
    given = plan()
    coarse = replace(given, settings=type(given.settings)("rk4", 0.1), duration=10.0, every=1)
    body = given.model.body_names[-1]
    fine, soft = (
        spring_at(one, one.q0, body, np.zeros(3), np.zeros(3)).stiffness for one in (given, coarse)
    )
    assert soft < fine


# ---- the server ---------------------------------------------------------------------------------


class Page:
    """What a page does, without a browser."""

    def __init__(self, port):
        self.port = port

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def say(self, **message):
        headers = {"Content-Type": "application/json"}
        return self.ask("POST", "/control", json.dumps(message), **headers)

    def watch(self):
        """Every frame, until the run is over."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", "/events")
        answer = connection.getresponse()
        assert answer.headers["Content-Type"] == "text/event-stream"
        while line := answer.readline():
            if line.startswith(b"data: "):
                yield json.loads(line[6:])


@pytest.fixture
def talking():
    live = LiveView(plan(), "a run")
    with page_server(live.page, 0, live) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield live, Page(server.server_address[1])
        server.shutdown()


def test_messages_are_checked_and_taken(talking):
    live, page = talking
    assert page.say(paused=True, speed=0.25) == (200, "")
    assert (live.wishes.paused, live.wishes.speed) == (True, 0.25)
    assert page.say(grab={"body": 1, "point": [0, 0, 0.1], "end": [1, 2, 3]})[0] == 200
    grab = live.wishes.grab
    assert grab.body == live.model.body_names[1]
    np.testing.assert_allclose(live.recording.upright @ grab.end, [1, 2, 3])
    assert page.say(grab=None)[0] == 200
    assert live.wishes.grab is None
    wrong = [
        {"speed": 0}, {"speed": "fast"}, {"what": 1}, {"grab": {"body": 9}},
        {"grab": {"body": 9, "point": [0, 0, 0], "end": [0, 0, 0]}},
        {"grab": {"body": 0, "point": [0, 0], "end": [0, 0, 0]}},
    ]  # fmt: skip
    for message in wrong:
        status, words = page.say(**message)
        assert status == 400, message
        assert words.startswith("This was not understood")
    assert live.wishes.grab is None


def test_other_sites_and_forms_are_turned_away(talking):
    live, page = talking
    said = json.dumps({"paused": True})
    json_ = {"Content-Type": "application/json"}
    assert page.ask("POST", "/control", said)[0] == 415
    assert page.ask("POST", "/control", said, Origin="http://evil.example", **json_)[0] == 403
    assert page.ask("POST", "/control", said, Host="evil.example", **json_)[0] == 403
    assert page.ask("GET", "/events", Origin="http://evil.example")[0] == 403
    assert page.ask("POST", "/", said, **json_)[0] == 404
    assert page.ask("POST", "/control", "{", **json_)[0] == 400
    assert page.ask("POST", "/control", " " * 20_000, **json_)[0] == 413
    assert not live.wishes.paused
    status, text = page.ask("GET", "/")
    assert status == 200
    assert "connect-src 'self'" in text


# ---- whole runs ---------------------------------------------------------------------------------


class Started:
    """`skodyn run --view` in a process of its own."""

    def __init__(self, folder, scenario, *more):
        command = [sys.executable, "-m", "skodyn", "run", str(scenario), "--view", "--no-browser"]
        self.log = folder / "out.h5"
        self.process = subprocess.Popen(
            [*command, "-o", str(self.log), *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=os.environ,
        )  # fmt: skip
        line = self.process.stderr.readline()
        self.address = re.search(r"http://127\.0\.0\.1:(\d+)/", line)[0]
        self.page = Page(int(self.address.rsplit(":", 1)[1][:-1]))

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self):
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@pytest.fixture
def short(tmp_path):
    """A pendulum that swings for one second."""
    path = tmp_path / "short.toml"
    text = Path("scenarios/double_pendulum.toml").read_text("utf-8")
    text = re.sub(r"duration = [\d.]+", "duration = 1.0", text)
    path.write_text(text.replace('"models/', f'"{Path.cwd()}/scenarios/models/'), "utf-8")
    return path


def test_watching_slowing_down_and_pausing_change_no_bit(tmp_path, short):
    assert main(["run", str(short), "-o", str(tmp_path / "alone.h5"), "--quiet"]) == 0
    with Started(tmp_path, short) as run:
        began, frames = time.monotonic(), []
        for frame in run.page.watch():
            frames.append(frame)
            if len(frames) == 3:
                run.page.say(paused=True)
                time.sleep(0.6)
                run.page.say(paused=False, speed=2.0)
        took = time.monotonic() - began
        code, out, _ = run.end()
    assert code == 0
    assert "finished" in out
    assert took > 0.9  # half a second of pause, and the rest at twice the speed
    assert frames[-1]["state"] == "finished"
    assert any(frame["state"] == "paused" for frame in frames)
    times = [frame["t"] for frame in frames]
    assert times == sorted(times)
    assert len(set(times)) > 10
    seen, alone = sk.open(run.log), sk.open(tmp_path / "alone.h5")
    assert seen.q.tobytes() == alone.q.tobytes()
    assert seen.status == "finished"
    assert seen.provenance["identity"] == alone.provenance["identity"]


def test_a_run_that_was_touched_is_logged_up_to_there_and_resumes_untouched(tmp_path, short):
    assert main(["run", str(short), "-o", str(tmp_path / "alone.h5"), "--quiet"]) == 0
    with Started(tmp_path, short, "--json") as run:
        last, let_go = None, False
        for count, frame in enumerate(run.page.watch()):
            if count == 5:
                run.page.say(grab={"body": 1, "point": [0, 0, 0], "end": [2.0, 0, 2.0]})
            touched = frame["touched"]
            if touched is not None and frame["t"] > touched + 0.2 and not let_go:
                let_go = run.page.say(grab=None) == (200, "")
            last = frame
        code, out, err = run.end()
    assert code == 0
    data = json.loads(out)
    assert data["status"] == "touched"
    assert 0.0 < data["touched"] < 1.0
    assert last["touched"] == data["touched"]
    assert last["t"] == pytest.approx(1.0)
    assert "what followed was not logged" in err
    alone = sk.open(tmp_path / "alone.h5")
    end = sk.forward_kinematics(alone.model, alone.q[-1])[1] @ np.eye(3)
    shown = np.reshape(last["positions"], (-1, 3))
    assert np.abs(shown[1] - end[1]).max() > 0.02  # it was pulled, and moved otherwise
    half = sk.open(run.log)
    assert half.status == "interrupted"
    assert half.t[-1] <= data["touched"]
    assert half.q.tobytes() == alone.q[: len(half)].tobytes()
    assert main(["resume", str(run.log), "--quiet"]) == 0
    assert sk.open(run.log).q.tobytes() == alone.q.tobytes()


def test_ctrl_c_ends_it_while_it_waits_and_while_it_is_paused(tmp_path, short):
    with Started(tmp_path, short) as run:
        run.process.send_signal(signal.SIGINT)
        assert run.end()[0] == 130
    assert sk.open(run.log).t[-1] < 0.01
    run.log.unlink()
    with Started(tmp_path, short) as run:
        for frame in run.page.watch():
            if frame["state"] == "running":
                run.page.say(paused=True)
            if frame["state"] == "paused":
                run.process.send_signal(signal.SIGINT)
        assert run.end()[0] == 130
    assert sk.open(run.log).status == "interrupted"


def test_what_does_not_go_together_is_refused(tmp_path, short, capsys):
    assert main(["run", str(short), "--view", "--resume"]) == 2
    assert "--view" in capsys.readouterr().err
    log = tmp_path / "there.h5"
    assert main(["run", str(short), "-o", str(log), "--quiet"]) == 0
    assert main(["run", str(short), "-o", str(log), "--view", "--no-browser"]) == 2
    assert main(["run", str(short), "--view", "--port", "70000", "--no-browser"]) == 2
