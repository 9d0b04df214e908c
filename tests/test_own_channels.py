"""Channels of one's own: functions of t, q and v in every log, and nothing of them in `check`."""

from __future__ import annotations

import os
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
from skodyn.channels.entry import CHANNELS
from skodyn.cli import main
from skodyn.jit import JIT_DISABLED
from skodyn.view.signals import families

ROOT = Path(__file__).parents[1]
MODEL = ROOT / "scenarios" / "models" / "double_pendulum.toml"


def spin(t, q, v):
    """How fast all joints are"""
    return np.sqrt((v * v).sum()) + 0.0 * t


@sk.channel(unit="m", labels=("x", "z"))
def reach(t, q, v, positions, rotations):
    tip = positions[1] - rotations[1, :, 2]
    return tip[0], tip[2]


@sk.channel(unit="rad/s", dims=("v_name",))
def double(t, q, v):
    return 2.0 * v


@sk.channel(name="frames", dims=("body", "axis"))
def second_axes(t, q, v, positions, rotations):
    return rotations[:, :, 1]


OWN = (spin, reach, double, second_axes)


def run(channels, model=None, log=None, duration=0.2, **more):
    model = model or sk.load(MODEL)
    return sk.simulate(model, np.full(model.nq, 0.3), np.full(model.nv, 0.1), duration=duration,
                       dt=1e-2, channels=channels, log=log, **more)  # fmt: skip


@pytest.mark.parametrize("logged", [False, True])
def test_functions_are_logged_with_names_units_and_dimensions(tmp_path, logged):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # all of them are compiled
        done = run(["energy", *OWN, "poses"], log=tmp_path / "run.h5" if logged else None)
    traj = done.trajectory
    assert traj.channels[-4:] == ("spin", "reach", "double", "frames")
    np.testing.assert_allclose(traj["spin"], np.linalg.norm(traj.v, axis=1), rtol=1e-15)
    np.testing.assert_array_equal(traj["double"], 2.0 * traj.v)
    np.testing.assert_array_equal(traj["frames"], traj["rotations"][:, :, :, 1])
    tips = traj["positions"][:, 1] - traj["rotations"][:, 1, :, 2]
    np.testing.assert_array_equal(traj["reach"], tips[:, [0, 2]])
    assert (traj.unit("reach"), traj.labels("reach")) == ("m", {"reach_part": ("x", "z")})
    assert traj.labels("frames") == {"body": traj.body_names, "axis": ("x", "y", "z")}
    np.testing.assert_array_equal(traj[::-1]["double"], traj["double"][::-1])
    data = traj.to_xarray()
    assert data.reach.dims == ("t", "reach_part")
    assert data.reach.sel(reach_part="z").values.tolist() == traj["reach"][:, 1].tolist()
    assert data.spin.attrs["long_name"] == "How fast all joints are"


def test_a_log_describes_channels_that_nobody_knows_any_more(tmp_path):
    run(["tau", reach, spin], log=tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as file:
        assert file["reach"].attrs["long_name"] == "reach [m]"
        assert file["reach"].dims[1][0].asstr()[:].tolist() == ["x", "z"]
    curves = {family.title: family for family in families(sk.open(tmp_path / "run.h5"))}
    assert curves["reach"].names == ("x", "z")
    assert (curves["reach"].unit, curves["spin"].names) == ("m", ("spin",))


def test_what_numba_cannot_compile_is_interpreted_and_said():
    kept = {}

    def strange(t, q, v):
        kept[t] = str(q)
        return len(kept)

    if JIT_DISABLED:
        assert run([strange]).trajectory["strange"][-1] == 21
        return
    with pytest.warns(sk.SlowChannelWarning, match="channel 'strange' is computed by Python"):
        done = run([strange])
    np.testing.assert_array_equal(done.trajectory["strange"], np.arange(1, 22))


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_compiled_and_interpreted_channels_agree():
    def plain(t, q, v, positions, rotations):
        return np.sin(q[0]) * v[1] + positions[1, 2] + t + len(f"{1}") - 1

    def quick(t, q, v, positions, rotations):
        return np.sin(q[0]) * v[1] + positions[1, 2] + t

    with pytest.warns(sk.SlowChannelWarning):
        done = run([sk.channel(lambda t, q, v, p, r: float(str(plain(t, q, v, p, r))), name="slow"),
                    quick])  # fmt: skip
    np.testing.assert_allclose(done.trajectory["slow"], done.trajectory["quick"], rtol=1e-14)


FAULTS = {
    "two parameters": (lambda t, q: 0.0, {}, "is a function of 2 parameters"),
    "name of ours": (lambda t, q, v: 0.0, {"name": "energy"}, "'energy' is one of skodyn's own"),
    "name of a dimension": (lambda t, q, v: 0.0, {"name": "body"}, "is one of skodyn's own"),
    "no word": (lambda t, q, v: 0.0, {"name": "a b"}, "cannot be called 'a b'"),
    "lambda": (lambda t, q, v: 0.0, {}, "cannot be called '<lambda>'"),
    "labels twice": (spin, {"labels": ("x", "x")}, "give labels that differ"),
    "label of nothing": (spin, {"labels": {"leg": ("a",)}}, "no dimension 'leg' to label"),
    "our dimension": (spin, {"dims": ("axis",), "labels": ("a",)}, "'axis' is one of skodyn's own"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_what_can_be_no_channel_is_refused(case):
    function, given, words = FAULTS[case]
    with pytest.raises(sk.StateError, match=words):
        sk.channel(function, **given)


def test_dimensions_without_labels_and_channels_given_twice_are_refused():
    with pytest.raises(sk.StateError, match="a dimension 'leg' without labels; give"):
        run([sk.channel(spin, dims=("leg",))])
    with pytest.raises(sk.StateError, match="Channel 'spin' is given twice"):
        run([spin, sk.channel(spin)])
    with pytest.raises(sk.StateError, match=r"Unknown channels \['heat'\]; choose from .*energy"):
        run(["heat"])
    with pytest.raises(sk.StateError, match=r"Unknown channels \[3\]"):
        run([3])


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda t, q, v: (1.0, 2.0), "of|returned"),
        (lambda t, q, v: 1 / (t > 0.1) if t < 0.15 else [][3], "raised"),
        (lambda t, q, v: 1j, "returned"),
    ],
)
@pytest.mark.filterwarnings("ignore::skodyn.SlowChannelWarning")
def test_what_a_channel_raises_or_returns_wrongly_ends_the_run(tmp_path, function, words):
    with pytest.raises(sk.ChannelError, match=f"the channel 'odd' .*({words})"):
        run([sk.channel(function, name="odd")], log=tmp_path / "run.h5")


def test_a_vector_of_another_length_is_refused():
    two = sk.channel(lambda t, q, v: q, name="two", labels=("a", "b", "c"))
    with pytest.raises(sk.ChannelError, match=r"'two' (raised ValueError .*another|returned)"):
        run([two])


def test_functions_cannot_change_the_rows_they_are_given():
    def vandal(t, q, v):
        q[0] = 7.0
        return 0.0

    with (
        pytest.warns(sk.SlowChannelWarning) if not JIT_DISABLED else warnings.catch_warnings(),
        pytest.raises(sk.ChannelError, match="read-only"),
    ):
        run([vandal])


def test_channels_of_models_with_mimic_joints_and_loops_see_the_state():
    made = sk.ModelBuilder()
    made.add_body("a", joint=sk.Revolute((0, 1, 0)), mass=1.0, com=(0, 0, -1), inertia=(1, 1, 1))
    made.add_body("b", "a", sk.Revolute((0, 1, 0)), mass=1.0, com=(0, 0, -1), inertia=(1, 1, 1))
    made.add_mimic("b", "a", 0.5)
    model = made.build()
    done = run([double, second_axes], model)
    assert done.trajectory["double"].shape == (21, 1)
    assert done.trajectory["frames"].shape == (21, 2, 3)


# ---- files --------------------------------------------------------------------------------------

FUNCTIONS = """
import numpy as np
import skodyn as sk

SCALE = 2.0

def spin(t, q, v):
    return SCALE * np.abs(v).max()

@sk.channel(unit="m", labels=("x", "z"))
def tip(t, q, v, positions, rotations):
    return positions[1, 0], positions[1, 2]
"""

SCENARIO = f"""
duration = 60.0
[model]
file = "{MODEL}"
[initial]
q = {{ shoulder = 1.5, elbow = 0.2 }}
[integrator]
method = "rk4"
dt = 1e-4
[output]
every = 100
channels = ["energy", "reach.py:spin", "reach.py:tip"]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "reach.py").write_text(FUNCTIONS)
    (tmp_path / "run.toml").write_text(SCENARIO)
    (tmp_path / "brief.toml").write_text(SCENARIO.replace("60.0", "0.1"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_scenario_names_functions_of_files_and_plots_show_them(folder, capsys):
    assert main(["run", "brief.toml", "-o", "a.h5", "--quiet"]) == 0
    assert main(["plot", "a.h5", "--channels", "spin,tip"]) == 0
    capsys.readouterr()
    traj = sk.open("a.h5")
    np.testing.assert_array_equal(traj["spin"], 2.0 * np.abs(traj.v).max(axis=1))
    assert traj.labels("tip") == {"tip_part": ("x", "z")}


def test_a_killed_run_is_resumed_to_the_same_bits_and_a_changed_file_is_refused(folder):
    command = [sys.executable, "-m", "skodyn"]
    some_seconds = SCENARIO.replace("60.0", "300.0").replace("every = 100", "every = 500")
    (folder / "run.toml").write_text(some_seconds)  # rows can be read once they are flushed
    whole = subprocess.Popen([*command, "run", "run.toml", "-o", "whole.h5", "--quiet"])
    killed = subprocess.Popen([*command, "run", "run.toml", "-o", "killed.h5", "--quiet"])
    for _ in range(1200):
        time.sleep(0.05)
        if (folder / "killed.h5").exists() and len(sk.open("killed.h5")) > 100:
            break
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    assert whole.wait() == 0
    kept = (folder / "reach.py").read_text()
    (folder / "reach.py").write_text(kept.replace("SCALE = 2.0", "SCALE = 2.5"))
    refused = subprocess.run([*command, "resume", "killed.h5", "--quiet"], capture_output=True)
    assert refused.returncode == 2
    assert b"its channels changed since" in refused.stderr
    (folder / "reach.py").write_text(kept)
    subprocess.run([*command, "resume", "killed.h5", "--quiet"], check=True)
    one, other = sk.open("whole.h5"), sk.open("killed.h5")
    assert len(one) == len(other) == 6001
    for name in one.channels:
        np.testing.assert_array_equal(one[name], other[name])


def test_check_and_info_run_no_code_and_say_what_is_missing(folder, capsys):
    (folder / "reach.py").write_text("raise SystemExit('this was run')\ndef spin(t, q, v): ...\n")
    assert main(["check", "run.toml"]) == 2
    said = capsys.readouterr()
    assert "has no function 'tip'" in said.out + said.err
    assert "run.toml:12" in said.out + said.err
    (folder / "reach.py").write_text("raise SystemExit('this was run')\nspin = tip = 3\n")
    assert main(["check", "run.toml"]) == 0
    with pytest.raises(SystemExit, match="this was run"):
        sk.run(sk.read_scenario("brief.toml"), None)


def test_sweeps_log_functions_of_files_wherever_they_are_read(folder, monkeypatch):
    text = (
        SCENARIO.replace("60.0", "0.1")
        + '[sweep]\nlogs = "all"\n[sweep.grid]\n"initial.q.elbow" = [0.1, 0.2]\n'
    )
    (folder / "study.toml").write_text(text)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    sk.sweep(folder / "study.toml", out="out.h5", engine="in-process")
    logs = sorted(elsewhere.rglob("run-*.h5"))
    assert len(logs) == 2
    for log in logs:
        traj = sk.open(log)
        np.testing.assert_array_equal(traj["spin"], 2.0 * np.abs(traj.v).max(axis=1))


def test_a_registered_channel_is_known_by_its_name(folder):
    own = sk.register(sk.channel(spin, name="own_spin", unit="rad/s"))
    try:
        assert own(0.0, np.zeros(2), np.array([3.0, 4.0])) == 5.0
        (folder / "named.toml").write_text(
            SCENARIO.replace('"reach.py:spin", "reach.py:tip"', '"own_spin"').replace("60.0", "0.1")
        )
        traj = sk.run(sk.read_scenario("named.toml"), None).trajectory
        np.testing.assert_allclose(traj["own_spin"], np.linalg.norm(traj.v, axis=1), rtol=1e-15)
        with pytest.raises(sk.FaultsError, match="There is a channel 'own_spin' already"):
            sk.register(sk.channel(spin, name="own_spin"))
    finally:
        CHANNELS.remove("own_spin")


def test_a_channel_inside_the_package_is_one_file():
    """Every entry comes from a file of its own folder, and nothing else names them."""
    for channel in CHANNELS.built_in.values():
        assert channel.compute.__module__.startswith("skodyn.channels.entries.")
