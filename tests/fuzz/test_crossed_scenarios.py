"""Features of scenarios that meet by chance: refused by `skodyn check` and by the run alike, or run
to the same bits alone, in pieces and in a sweep, and by every method to the same motion.

`pytest -m slow tests/fuzz/test_crossed_scenarios.py` makes a thousand scenarios. What such runs
once found stands below as cases of its own.
"""

from __future__ import annotations

from pathlib import Path

import crossed_scenarios as crossed
import pytest

import skodyn as sk
from skodyn.cli import main

THERMOSTAT = "[thermostat]\nkT = 0.01\nrate = 100.0\n"
IMPLICIT = '[integrator]\nmethod = "implicit_contact"\n'
SINE = '[motions.m]\ntype = "sine"\njoint = "{}"\namplitude = 0.0\nfrequency = 1.0\n'
FIXMAN = '[forces.f]\ntype = "fixman"\nkT = 0.1\n'
CLOSED = "[initial]\nassemble = true\nproject = true\n"
DEEP = """
[shapes.ball]
body = "lower"
type = "sphere"
radius = 0.1
[ground.ceiling]
type = "half_space"
normal = [0, 0, -1]
[contacts.c]
a = "lower"
b = "ceiling"
stiffness = 100.0
"""
REFUSED = {
    "thermostat, loops": ("four_bar", CLOSED + THERMOSTAT, "a thermostat does not take"),
    "thermostat, modes": ("boom", THERMOSTAT, "a thermostat does not take"),
    "implicit contact, modes": ("strip", IMPLICIT, "implicit_contact does not take"),
    "implicit contact, driven loops": (
        "four_bar",
        CLOSED + SINE.format("crank") + IMPLICIT,
        "prescribed motions beside closed loops",
    ),
    "motion, modes": ("strip", SINE.format("pin"), "prescribed motion does not take"),
    "Fixman force, loops": ("four_bar", CLOSED + FIXMAN, "the Fixman force does not take"),
    "contact, modes": ("strip", DEEP.replace("lower", "strip"), "does not take|cannot have"),
    "too deep at the start": ("double_pendulum", DEEP, "more than half of the shape"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    crossed.furnish(tmp_path)
    return tmp_path


def written(folder: Path, model: str, text: str) -> Path:
    path = folder / "case.toml"
    path.write_text(f'duration = 0.01\nmodel.file = "models/{model}.toml"\n{text}')
    return path


@pytest.mark.parametrize("case", REFUSED)
def test_check_refuses_what_a_run_refuses_before_its_first_step(case, folder, capsys):
    model, text, words = REFUSED[case]
    path = written(folder, model, text)
    assert main(["check", str(path)]) == 2
    said = capsys.readouterr().err
    with pytest.raises(sk.SkodynError, match=words):
        sk.run(path, progress=False)
    assert said.startswith(str(path))
    if case == "too deep at the start":
        return  # runs of a sweep may begin elsewhere
    path.write_text(path.read_text() + '[sweep.grid]\n"duration" = [0.01, 0.02]\n')
    assert main(["check", str(path)]) == 2
    with pytest.raises(sk.SkodynError, match=words):
        sk.sweep(path, out=folder / "out.h5", engine="in-process", progress=False)
    assert not (folder / "out.h5").exists()


def test_check_runs_no_law_to_find_out(folder, capsys):
    (folder / "mark.py").write_text(
        "raise RuntimeError('it ran')\ndef f(t, q, v, params, tau):\n  0"
    )
    law = '[controllers.c]\ntype = "python"\nfunction = "mark.py:f"\n'
    assert main(["check", str(written(folder, "double_pendulum", law + THERMOSTAT))]) == 0
    assert main(["check", str(written(folder, "four_bar", CLOSED + law + THERMOSTAT))]) == 2


ENDS = {
    "loops, adaptive": (
        "bricard",
        '[initial]\nproject = true\nv_noise = 0.1\n[integrator]\nmethod = "dormand_prince"\n',
    ),
    "a collision after the last step": ("trimer", THERMOSTAT.replace("100.0", "5000.0")),
}


@pytest.mark.parametrize("case", ENDS)
def test_a_sweep_has_the_last_rows_of_its_runs(case, folder):
    crossed.in_lanes(written(folder, *ENDS[case]))


def test_features_cross(tmp_path):
    ends = list(crossed.campaign(tmp_path, seed=17, count=12, seconds=30.0))
    wrong = [f"{end}\n{text}" for end, text in ends if end not in crossed.ENDS]
    assert not wrong, wrong[0]
    assert len(ends) > 1


def test_what_flies_apart_ends_by_a_bound():
    """Damping that is too strong for its clock: the steps of error control had no end."""
    given = {"model": {"file": "models/chain_50.toml"}, "integrator": {"dt": 5e-5}}
    crossed.shortened(given, "dormand_prince")
    assert given["bounds"] == {"max_speed": 1e5}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_many_features_cross(tmp_path, seed):
    ends = list(crossed.campaign(tmp_path, seed=seed, count=100, seconds=1800.0))
    wrong = [f"{end}\n{text}" for end, text in ends if end not in crossed.ENDS]
    assert not wrong, wrong[0]
