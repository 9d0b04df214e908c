"""Looking at a sweep runs no code and needs no more than it uses; running one says what it does."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.cli import main
from skodyn.scenario import read_scenario
from skodyn.sweeps.designs import Listed, Product, Sampled, Span, Varied
from skodyn.sweeps.plan import make_plan, read_plan

MODELS = Path(__file__).parent.parent / "scenarios" / "models"
TEXT = f"""
duration = 0.01
[model]
file = "{MODELS / "double_pendulum.toml"}"
[sweep.grid]
"bodies.upper.mass" = [1.0, 2.0]
[sweep.metrics]
own = {{ of = "REFERENCE", kind = "max" }}
"""
MARKING = """
from pathlib import Path
Path(__file__).with_name("it_ran").touch()
def f(t, q, v):
    return q[0] * 1.0
"""


def study(folder: Path, code: str, reference: str = "own.py:f") -> Path:
    inner = folder / "inner"
    inner.mkdir()
    (inner / reference.split(":")[0]).write_text(code)
    path = inner / "study.toml"
    path.write_text(TEXT.replace("REFERENCE", reference))
    return path


# ---- code ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("reference", ["own.py:f", "../own.py:f"])
def test_commands_that_look_run_no_code_and_those_that_run_do(reference, tmp_path, capsys):
    path = study(tmp_path, MARKING, reference)
    mark = (path.parent / reference.split(":")[0]).with_name("it_ran")
    for command in (["check"], ["sweep", "plan"], ["info"], ["view", "--html", f"{path}.html"]):
        assert main([*command, str(path)]) == 0
    read_plan(path)
    assert not mark.exists()
    assert "without own" in capsys.readouterr().out  # the time of a run, in a plan
    index = str(tmp_path / "out.h5")
    assert main(["sweep", "run", str(path), "-o", index, "--engine", "in-process", "--quiet"]) == 0
    assert mark.exists()
    mark.unlink()
    for command in (["status", index], ["failures", index], ["show", index, "0"]):
        assert main(["sweep", *command]) == 0
    assert not mark.exists()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def g(t, q, v):\n    return 0.0\n", "has no function 'f'"),
        ("def g():\n    f = 3\n", "has no function 'f'"),
        ("def f(:\n", "is not Python"),
        ("f = 1\0", "is not Python"),
    ],
)
def test_what_the_text_of_a_file_tells_is_found_by_looking(code, words, tmp_path, capsys):
    assert main(["check", str(study(tmp_path, code))]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    "code",
    [
        "from math import sin as f\n",
        "import os.path as f\n",
        "from os.path import *\n",
        "try:\n    f = g\nexcept NameError:\n    f = None\n",
        "if True:\n    def f(t, q, v):\n        return 0.0\n",
        "for f in [max]:\n    pass\n",
    ],
)
def test_a_name_may_be_bound_in_any_way(code, tmp_path):
    read_plan(study(tmp_path, code))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("f = 3\n", "has no function 'f'"),
        ("def f(t, q, v):\n    return {}[q]\n", "cannot be compiled"),
        ("raise OSError('no luck')\ndef f(t, q, v):\n    return 0.0\n", "raised OSError while"),
    ],
)
def test_a_function_that_is_of_no_use_is_refused_before_there_is_an_index(code, words, tmp_path):
    out = tmp_path / "out.h5"
    with pytest.raises(sk.ScenarioError, match=words):
        sk.sweep(study(tmp_path, code), out=out, engine="threads")
    assert not out.exists()


@pytest.mark.parametrize("action", ["run", "resume"])
def test_commands_that_run_code_say_so(action, capsys):
    with pytest.raises(SystemExit):
        main(["sweep", action, "--help"])
    assert "runs the Python files that metrics name" in " ".join(capsys.readouterr().out.split())


# ---- packages -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "design",
    [
        {"kind": "sobol", "parameters": {"gravity.z": [-10.0, -9.0]}},
        {"kind": "latin_hypercube", "parameters": {"gravity.z": [-10.0, -9.0]}},
        {"kind": "random", "parameters": {"gravity.z": {"mean": -10.0, "deviation": 0.1}}},
    ],
    ids=["sobol", "latin_hypercube", "normal"],
)
def test_a_sample_that_needs_scipy_says_how_to_get_it(design, tmp_path, monkeypatch):
    path = study(tmp_path, MARKING)
    path.write_text(TEXT.split("[sweep.grid]")[0])
    for name in [n for n in sys.modules if n.split(".")[0] == "scipy"] + ["scipy.special", "scipy"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(sk.ScenarioError, match=r"need SciPy; install .*skodyn\[sweep\]"):
        sk.sweep(path, {**design, "count": 4})
    plain = {"kind": "random", "count": 4, "parameters": {"gravity.z": [-10.0, -9.0]}}
    assert len(sk.sweep(path, plain, engine="in-process")) == 4


# ---- sizes --------------------------------------------------------------------------------------


def test_a_billion_runs_are_planned_at_once(tmp_path):
    path = study(tmp_path, MARKING)
    path.write_text(TEXT.split("[sweep.grid]")[0])
    span = {"from": 0.1, "to": 1.0, "count": 1000}
    grid = dict.fromkeys(("bodies.upper.mass", "joints.elbow.damping", "bodies.lower.mass"), span)
    began = time.perf_counter()
    plan = make_plan(read_scenario(path), {"grid": grid})
    assert plan.count == 10**9
    assert time.perf_counter() - began < 10.0
    assert (plan.scan.low == 0.1).all()
    assert (plan.scan.high == 1.0).all()


def test_the_runs_in_which_some_parameters_vary_show_all_their_combinations():
    design = Product((
        Listed({"a": [0.0, 1.0]}),
        Sampled({"b": Span(0, 1)}, "random", 3),
        Product((Listed({"c": [1.0, 2.0, 3.0], "d": [4.0, 5.0, 6.0]}), Listed({"e": [7.0, 8.0]}))),
    ))  # fmt: skip
    every = design.points(np.arange(design.count))
    names = list(design.names)
    for chosen in (["a"], ["b"], ["d", "e"], ["a", "c"], names, []):
        columns = [names.index(name) for name in chosen]
        runs = np.concatenate(list(Varied(design, chosen).chunks(4)))
        assert (np.diff(runs) > 0).all()
        found = np.unique(design.points(runs)[:, columns], axis=0)
        assert (found == np.unique(every[:, columns], axis=0)).all()
        assert len(runs) == Varied(design, chosen).count


def test_seeds_that_no_float_holds_are_refused(tmp_path):
    path = study(tmp_path, MARKING)
    path.write_text(TEXT.split("[sweep.grid]")[0] + "[initial]\nq_noise = 0.1\n")
    with pytest.raises(sk.ScenarioError, match="9007199254740993, which is not a number of 64"):
        make_plan(read_scenario(path), {"grid": {"seed": [1, 2**53 + 1]}})
    path.write_text(f"seed = {2**53}\n" + path.read_text())
    with pytest.raises(sk.ScenarioError, match="beyond 2⁵³"):
        make_plan(read_scenario(path), {"replicas": 2})


def test_a_parameter_given_in_two_spellings_is_refused(tmp_path):
    path = study(tmp_path, MARKING)
    twice = "gravity.z = [1.0]\n'gravity.z' = [2.0]\n"
    path.write_text(TEXT.split("[sweep.metrics]")[0] + twice)
    with pytest.raises(sk.ScenarioError, match=r"'gravity.z' is given twice"):
        read_plan(path)


def test_a_csv_file_that_names_a_parameter_twice_is_refused(tmp_path):
    path = study(tmp_path, MARKING)
    (path.parent / "p.csv").write_text("gravity.z,gravity.z\n1,2\n")
    path.write_text(TEXT.split("[sweep.grid]")[0])
    with pytest.raises(sk.ScenarioError, match="names a parameter twice"):
        make_plan(read_scenario(path), {"designs": [{"kind": "list", "file": "p.csv"}]})
