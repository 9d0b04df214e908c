"""What long work shows, on the command line and in Python."""

import sys
import threading
import types
from contextlib import nullcontext

import pytest

import skodyn as sk
from skodyn import jit, progress

START = {"q0": [0.3, 0.1], "v0": [0.0, 0.0], "duration": 0.02}


@pytest.fixture
def at_once(monkeypatch):
    """Nothing is too short to be shown, and every call prints a line."""
    monkeypatch.setattr(progress, "AFTER", 0.0)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)


def simulate(**more):
    return sk.simulate(sk.examples.pendulum(2), **START, **more)


def test_short_work_shows_nothing(capsys):
    simulate()
    assert capsys.readouterr() == ("", "")


def test_long_work_in_python_shows_lines_where_nobody_watches(at_once, capsys):
    simulate()
    out, err = capsys.readouterr()
    assert out == ""
    assert "t = 0.02 of 0.02 s" in err
    assert " 100 %, " in err


@pytest.mark.parametrize("silence", ["argument", "environment"])
def test_it_is_silent_when_asked(at_once, capsys, monkeypatch, silence):
    if silence == "environment":
        monkeypatch.setenv("SKODYN_PROGRESS", "0")
    simulate(**({"progress": False} if silence == "argument" else {}))
    assert capsys.readouterr() == ("", "")


def test_it_is_shown_at_once_when_asked(monkeypatch, capsys):
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    simulate(progress=True)
    assert "of 0.02 s" in capsys.readouterr().err


def test_a_function_is_called_instead(at_once, capsys):
    seen = []
    simulate(progress=lambda engine, seconds: seen.append(engine.t))
    assert seen[-1] == 0.02
    assert capsys.readouterr() == ("", "")


def test_a_sweep_in_python_shows_what_the_command_shows(at_once, capsys):
    grid = {"initial.q.shoulder": [0.5, 1.0]}
    scenario = "scenarios/double_pendulum.toml"
    sk.sweep(scenario, grid, metrics={"far": {"kind": "max", "of": "v.elbow"}})
    assert "2 of 2 done, 0 failed" in capsys.readouterr().err
    sk.sweep(scenario, grid, metrics={"far": {"kind": "max", "of": "v.elbow"}}, progress=False)
    assert capsys.readouterr() == ("", "")


def test_a_notebook_has_a_bar_below_its_cell(at_once, capsys, monkeypatch):
    updates = []
    shell = type("ZMQInteractiveShell", (), {})()
    handle = types.SimpleNamespace(update=updates.append)
    display = types.ModuleType("IPython.display")
    display.HTML, display.display = str, lambda _shown, display_id: handle
    ipython = types.ModuleType("IPython")
    ipython.get_ipython, ipython.display = lambda: shell, display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    simulate(progress=True)
    assert '<progress value="' in updates[0]
    assert updates[-1] == ""  # it goes when the work is done
    assert capsys.readouterr() == ("", "")


@pytest.fixture
def compile_some(monkeypatch):
    """Tells that a kernel is compiled, as if a second had passed then."""
    from numba.core.compiler_lock import global_compiler_lock

    def at_once(timer):  # in a thread of its own, as a timer does
        thread = threading.Thread(target=timer.function)
        thread.start()
        thread.join()

    def compiling(still):
        with global_compiler_lock if still else nullcontext():
            for tell in list(jit.BEFORE_COMPILING):
                tell("some kernel")

    monkeypatch.setattr(threading.Timer, "start", at_once)
    monkeypatch.setattr(progress, "_said", [])
    before = list(jit.BEFORE_COMPILING)
    jit.BEFORE_COMPILING.clear()
    progress.tell_of_compiling()
    progress.tell_of_compiling()  # twice is once
    yield compiling
    jit.BEFORE_COMPILING[:] = before


def test_compiling_is_told_of_if_it_takes_more_than_a_second(compile_some, capsys):
    compile_some(still=False)
    assert capsys.readouterr().err == ""
    compile_some(still=True)
    assert capsys.readouterr().err == progress.COMPILING + "\n"


def test_compiling_is_told_of_again_but_not_at_once(compile_some, capsys):
    for _ in range(3):
        compile_some(still=True)
    assert capsys.readouterr().err.count("compiling") == 1
    progress._said[0] -= 1.01 * progress.AGAIN
    compile_some(still=True)
    compile_some(still=True)
    assert capsys.readouterr().err == progress.MORE + "\n"


def test_time_left_in_words():
    assert progress.in_time(3725.4) == "1:02:05"
    assert progress.in_time(float("inf")) == "…"
