"""A package outside of the tree adds a joint, a method, a force and a channel, a file each.

It is found as an installed package is, by its entry point (tests/outside_package).
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import h5py
import numpy as np
import pytest

import skodyn as sk
from skodyn import registry
from skodyn.channels.entry import CHANNELS
from skodyn.cli import main
from skodyn.model.joints import CATALOGUE
from skodyn.simulation.element import ELEMENTS
from skodyn.simulation.methods import METHODS
from skodyn.view.recording import record

OUTSIDE = Path(__file__).parent / "outside_package"
NAMES = {"crane": CATALOGUE, "ralston3": METHODS, "quadratic_drag": ELEMENTS, "tip": CHANNELS}

SCENARIO = """
duration = 400.0
[model]
gravity = [0, 0, -9.81]
[model.bodies.trolley]
parent = "world"
joint = { type = "crane" }
mass = 2.0
inertia = [0.1, 0.1, 0.1]
[model.bodies.hook]
parent = "trolley"
joint = { type = "revolute", axis = [0, 1, 0] }
mass = 1.0
com = [0, 0, -1]
inertia = [0.02, 0.02, 0.01]
[initial]
q = { trolley = [0.1, 0.2], hook = 1.0 }
v = { trolley = [0.3, 1.0] }
[forces.air]
type = "quadratic_drag"
joint = "hook"
coefficient = 0.05
[integrator]
method = "ralston3"
dt = 1e-4
[output]
every = 1000
channels = ["energy", "tip"]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """As if the package were installed: on the path, with its metadata."""
    monkeypatch.syspath_prepend(OUTSIDE)
    monkeypatch.setattr(registry, "_loaded", False)
    (tmp_path / "run.toml").write_text(SCENARIO)
    brief = SCENARIO.replace("400.0", "0.5")
    (tmp_path / "brief.toml").write_text(brief)
    grid = '[sweep]\nlogs = "all"\n[sweep.metrics]\nswing = { of = "q.hook", kind = "min" }\n'
    grid += '[sweep.grid]\n"forces.air.coefficient" = [0.05, 0.5, 5.0]\n'
    (tmp_path / "study.toml").write_text(brief + grid)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    for name, kinds in NAMES.items():
        kinds.remove(name)
    for module in [name for name in sys.modules if name.startswith("skodyn_outside")]:
        del sys.modules[module]


def test_nothing_of_it_is_imported_before_a_name_is_not_known(folder):
    assert {"rk4", "revolute"} <= {*METHODS.built_in, *CATALOGUE.built_in}
    assert METHODS["rk4"].name == "rk4"
    sk.load(Path(__file__).parents[1] / "scenarios" / "models" / "double_pendulum.toml")
    assert "skodyn_outside" not in sys.modules
    for name, kinds in NAMES.items():
        assert name in kinds
        assert name not in kinds.built_in
    assert "skodyn_outside" in sys.modules


def test_check_run_plot_and_view_know_what_it_adds(folder, capsys):
    assert main(["check", "brief.toml"]) == 0
    assert main(["run", "brief.toml", "--quiet"]) == 0
    assert main(["info", "brief.h5"]) == 0
    assert main(["plot", "brief.h5"]) == 0
    assert main(["view", "brief.h5", "--html", "film.html"]) == 0
    said = capsys.readouterr().out
    assert "tip" in said
    assert "ralston3" in said
    traj = sk.open("brief.h5")
    assert traj.q_names == ("trolley.length", "trolley.angle", "hook")
    assert traj.model.joints[0].type_name == "crane"
    (drag,) = (one for one in record(traj).arrows if one.layer == "torques")  # as it says itself
    size = 0.05 * traj.joint("hook", "v")[:, 0] ** 2
    np.testing.assert_allclose(np.linalg.norm(drag.vectors[:, 0], axis=1), size, rtol=1e-12)
    q = traj.q
    np.testing.assert_allclose(traj["tip"][:, 0], np.abs(q[:, 0]), rtol=1e-15)  # the hook's origin
    assert abs(traj.summary["energy_imbalance"]) < 1e-9  # what the drag takes is accounted for
    assert traj.summary["work_of_forces"] < -1e-3


def test_the_method_has_order_three_and_the_drag_acts(folder):
    end = {}
    for dt in (0.02, 0.01, 1e-4):
        (folder / "a.toml").write_text(SCENARIO.replace("400.0", "0.4").replace("1e-4", str(dt))
                                       .replace("every = 1000", "every = 1"))  # fmt: skip
        end[dt] = sk.run(sk.read_scenario("a.toml"), None).q[-1]
    coarse, fine = (np.abs(end[dt] - end[1e-4]).max() for dt in (0.02, 0.01))
    assert 2.7 < np.log2(coarse / fine) < 3.4


def test_a_killed_run_is_resumed_to_the_same_bits(folder):
    command = [sys.executable, "-m", "skodyn"]
    here = {**os.environ, "PYTHONPATH": f"{OUTSIDE}:{os.environ.get('PYTHONPATH', '')}"}
    killed = subprocess.Popen([*command, "run", "run.toml", "-o", "killed.h5", "--quiet"], env=here)
    for _ in range(2400):
        time.sleep(0.02)
        if (folder / "killed.h5").exists() and len(sk.open("killed.h5")) > 100:
            break
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    assert len(sk.open("killed.h5")) < 4001
    subprocess.run([*command, "resume", "killed.h5", "--quiet"], env=here, check=True)
    assert main(["run", "run.toml", "-o", "whole.h5", "--quiet"]) == 0
    one, other = sk.open("whole.h5"), sk.open("killed.h5")
    assert len(one) == len(other) == 4001
    for name in one.channels:
        np.testing.assert_array_equal(one[name], other[name])


def test_a_sweep_runs_it_in_lanes_to_the_bits_of_single_runs(folder):
    assert main(["sweep", "run", "study.toml", "-o", "out.h5", "--quiet"]) == 0
    results = sk.open_sweep("out.h5")
    logs = sorted(folder.rglob("run-*.h5"))
    assert len(logs) == 3
    for i, log in enumerate(logs):  # logs are written one by one, results found side by side
        traj = sk.open(log)
        assert "tip" in traj.channels
        np.testing.assert_array_equal(results.q[i], traj.q[-1])
    assert (np.diff(results.metrics[:, 0]) > 0.0).all()  # more drag, less swing


def test_a_changed_force_is_another_run(folder):
    scenario = sk.read_scenario("brief.toml")
    from skodyn.scenario.running import plan_of

    before = plan_of(scenario).identity()
    (element,) = scenario.forces.elements
    outside = sys.modules[type(element).__module__]
    try:
        outside.QuadraticDrag.unused = lambda self: 1.0
        after = plan_of(scenario).identity()
    finally:
        del outside.QuadraticDrag.unused
    assert {key for key in before if before[key] != after[key]} == {"forces"}


def test_what_cannot_be_loaded_is_a_warning_with_its_name(folder, monkeypatch):
    from importlib import metadata

    broken = metadata.EntryPoint("odd", "skodyn_outside:NOTHING", registry.GROUP)
    monkeypatch.setattr(metadata, "entry_points", lambda group: [broken])
    with pytest.warns(sk.PluginWarning, match="entry point 'odd' of a package .* cannot be used"):
        assert "crane" not in CATALOGUE
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "crane" not in CATALOGUE  # it is said once


class Misfit(sk.Joint):
    pass


class Bent(sk.Joint):
    type_name = "bent"
    nq = nv = 2

    def twists(self):
        return (((0.0, 0.0, 1.0), (0.0, 0.0, 0.0)),)


class Ball(sk.Joint):
    type_name = "ball"
    kind = sk.Spherical.kind
    nq, nv = 4, 3


class Pushing(sk.Element):
    type_name = "pushing"
    table = "pushes"


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (3, "register was given 3, which is nothing that can be registered"),
        (lambda t, q, v: 0.0, "which is nothing that can be registered"),
        (Misfit, "Misfit has no type_name"),
        (Bent, "Bent has 1 twists, nq 2 and nv 2"),
        (Ball, "Ball is not a product of screws"),
        (Pushing, "Pushing has the table 'pushes'"),
        (Pushing, "Pushing has no part"),
        (Pushing, "Pushing has no pack"),
    ],
)
def test_what_is_no_thing_of_a_kind_is_refused(thing, words):
    with pytest.raises(sk.FaultsError, match=words):
        sk.register(thing)


# ---- the same inside of the package: one file each ----------------------------------------------

FORMAT = '''
from skodyn.io.importer import Importer
from skodyn.model.description import ModelBuilder
from skodyn.model.joints import Revolute
from skodyn.registry import register


def read(path, options):
    """A number of links: a chain."""
    made = ModelBuilder()
    for k in range(int(open(path).read())):
        parent = f"b{k - 1}" if k else "world"
        made.add_body(f"b{k}", parent, Revolute(), mass=1.0, inertia=(1, 1, 1))
    return made.build()


register(Importer("chain", "a chain", (".links",), read))
'''


def inside(name: str, thing: str) -> str:
    """A file of the outside package as it would stand inside."""
    text = (OUTSIDE / "skodyn_outside" / f"{name}.py").read_text()
    imports = "import skodyn.extension as sk\nfrom skodyn.registry import register\n"
    text = text.replace("import skodyn as sk\n", imports)
    return f"{text}\n\nregister({thing})\n"


def test_each_is_one_file_inside_of_the_package(tmp_path):
    """The count of places that adding a thing touches is one: nothing else is edited here."""
    package = tmp_path / "src" / "skodyn"
    shutil.copytree(Path(sk.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    added = {
        "simulation/steppers/ralston.py": inside("ralston", "RALSTON"),
        "simulation/element_kinds/drag.py": inside("drag", "QuadraticDrag"),
        "channels/entries/tip.py": inside("tip", "tip_speed").replace("skodyn.extension", "skodyn")
        .replace("import skodyn as sk", "from skodyn.channels import own as sk"),
        "io/importers/chain.py": FORMAT,
        "model/joint_kinds/crane.py": inside("crane", "Crane").replace(
            "import skodyn.extension as sk",
        "from skodyn.model import joint_entry as sk"),
    }  # fmt: skip
    for path, text in added.items():
        (package / path).write_text(text)
    (tmp_path / "run.toml").write_text(SCENARIO.replace("400.0", "0.2"))
    (tmp_path / "three.links").write_text("3")
    here = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    command = [sys.executable, "-m", "skodyn"]
    subprocess.run([*command, "run", "run.toml", "--quiet"], env=here, check=True, cwd=tmp_path)
    said = subprocess.run([*command, "info", "three.links"], env=here, check=True, cwd=tmp_path,
                          capture_output=True, text=True).stdout  # fmt: skip
    assert "3 bodies" in said
    with h5py.File(tmp_path / "run.h5") as log:
        assert log["tip"].shape == (3, 2)
