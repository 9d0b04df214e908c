"""The HDF5 log: what is in it, that it survives a kill at any moment, and what it refuses."""

from __future__ import annotations

import os
import pickle
import random
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import skodyn as sk
from skodyn.channels.entry import built_in_data
from skodyn.conventions import JointKind
from skodyn.errors import LogError
from skodyn.io import trajectory
from skodyn.io.log import LogWriter
from skodyn.io.provenance import collect
from skodyn.io.schema import Names
from skodyn.io.trajectory import Trajectory
from skodyn.jit import JIT_DISABLED, shipped
from skodyn.model.joints import CATALOGUE, Joint

_OF_FEW = ("loop_", "contact_", "deflection", "frame_", "integrals")  # which this model cannot have
EXTRA = tuple(name for name in built_in_data() if not name.startswith(_OF_FEW))


def make_model() -> sk.Model:
    b = sk.ModelBuilder()
    common: dict[str, Any] = {"mass": 1.0, "com": (0, 0, 0), "inertia": np.eye(3)}
    b.add_body("base", parent="world", joint=sk.Free(), **common)
    b.add_body("arm", parent="base", joint=sk.Revolute(name="shoulder"), **common)
    b.add_body("hand", parent="arm", joint=sk.Spherical(name="ball"), **common)
    b.add_body("sled", parent="world", joint=sk.Planar(), **common)
    return b.build()


MODEL = make_model()
NAMES = Names.of(MODEL)


def block(start: int, stop: int, channels: tuple[str, ...] = EXTRA) -> dict[str, np.ndarray]:
    """Rows whose every number tells its channel, row and column."""
    found = {}
    for number, name in enumerate(channels):
        shape = NAMES.row_shape(name)
        column = np.arange(np.prod(shape, dtype=int)).reshape(shape) * 1e-3
        rows = np.arange(start, stop, dtype=float).reshape(-1, *(1 for _ in shape))
        found[name] = rows + column + number * 0.1
    found["step"] = np.arange(start, stop)
    return found


def write(path: Path, rows: int = 500, **options: Any) -> LogWriter:
    log = LogWriter.create(path, EXTRA, MODEL, {"scenario": "é = 1\n"}, **options)
    log.append(block(0, rows // 2))
    log.append(block(rows // 2, rows))
    return log


# ---- content --------------------------------------------------------------------------------


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path, expected = tmp_path / "a.h5", block(0, 500)
    origin: dict[str, Any] = {"seed": 2**100, "integrator": "rk4", "dt": 0.1, "point": [1, 2]}
    provenance = collect(MODEL, "x = 1\n" * 30_000, integrator_settings={"a": 1}, **origin)
    with LogWriter.create(path, EXTRA, MODEL, provenance, expected_rows=500) as log:
        log.append(block(0, 200))
        log.flush(sync=True)
        log.append(block(200, 500))
        log.finish("finished", summary={"steps": 500, "drift": np.float64(1e-9), "x": np.eye(2)})
    traj = trajectory.open(path)
    assert len(traj) == 500
    assert traj.channels == EXTRA
    for name in EXTRA:
        np.testing.assert_array_equal(traj[name], expected[name])
    assert traj.status == "finished"
    assert traj.summary == {"steps": 500, "drift": 1e-9, "x": [[1, 0], [0, 1]]}
    assert traj.scenario_text == "x = 1\n" * 30_000
    assert {k: traj.provenance[k] for k in provenance} == provenance
    assert traj.provenance["seed"] == 2**100
    assert traj.provenance["ended"] > traj.provenance["started"]
    assert {"skodyn", "numpy", "numba", "h5py", "python"} <= set(provenance["versions"])
    held = None if JIT_DISABLED else shipped.opened()
    ran = "plain Python" if JIT_DISABLED else "shared object" if held else "numba"
    assert provenance["kernels"]["from"] == ran
    assert provenance["kernels"].get("digest") == (held and held.listed["digest"])
    assert path.stat().st_size < 1e6  # chunks follow expected_rows, reserved space is given back


def test_names_of_coordinates() -> None:
    free = ["base.w", "base.x", "base.y", "base.z", "base.px", "base.py", "base.pz"]
    ball = ["ball.w", "ball.x", "ball.y", "ball.z"]
    plane = ["sled.x", "sled.y", "sled.angle"]
    assert set(NAMES.labels["q_name"]) == {*free, "shoulder", *ball, *plane}
    assert {"base.wx", "base.vz", "shoulder", "ball.wz"} <= set(NAMES.labels["v_name"])
    assert len(NAMES.labels["q_name"]) == MODEL.nq
    assert len(NAMES.labels["v_name"]) == MODEL.nv


@pytest.mark.parametrize("kind", CATALOGUE.values(), ids=CATALOGUE)
def test_every_joint_type_has_distinct_names(kind: type[Any], tmp_path: Path) -> None:
    b = sk.ModelBuilder()
    b.add_body("a", parent="world", joint=kind(), mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    model = b.build()
    names = Names.of(model)
    assert len(set(names.labels["q_name"])) == model.nq
    assert len(set(names.labels["v_name"])) == model.nv
    with LogWriter.create(tmp_path / "a.h5", (), model, {}) as log:
        q, v = np.zeros((3, model.nq)), np.zeros((3, model.nv))
        log.append({"t": np.arange(3.0), "step": np.arange(3), "q": q, "v": v})
    assert trajectory.open(tmp_path / "a.h5").joint("a").shape == (3, model.nq)


@dataclass(frozen=True)
class SlideAndTurn(Joint):
    """A joint of one's own, as CONTRIBUTING.md says: it slides along x and y and turns twice."""

    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    name: str | None = None
    type_name = "slide and turn"
    kind = JointKind.SERIES
    nq = nv = 2

    def twists(self) -> Any:
        return (((0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), (self.axis, (0.0, 0.0, 0.0)))


@dataclass(frozen=True)
class SlideSlideTurnTurn(SlideAndTurn):
    type_name = "slide, slide, turn, turn"
    nq = nv = 4

    def twists(self) -> Any:
        still, along = (0.0, 0.0, 0.0), (0.0, 1.0, 0.0)
        slide, turn = super().twists()
        return (slide, (still, along), turn, ((1.0, 0.0, 0.0), still))


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        (SlideAndTurn, ["length", "angle"]),
        (SlideSlideTurnTurn, ["length1", "length2", "angle1", "angle2"]),
    ],
)
def test_a_joint_of_ones_own_with_several_coordinates_is_logged(
    kind: type[Joint], parts: list[str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    sk.register(kind)
    request.addfinalizer(lambda: CATALOGUE.remove(kind.type_name))
    b = sk.ModelBuilder()
    common: dict[str, Any] = {"mass": 1.0, "com": (0.1, 0, -0.3), "inertia": (0.1, 0.1, 0.1)}
    b.add_body("cart", joint=kind(), **common)
    b.add_body("pole", "cart", sk.Revolute((0, 1, 0)), **common)
    model = b.build()
    start, path = 0.1 * np.arange(model.nq), tmp_path / "own.h5"
    given: dict[str, Any] = {"duration": 0.1, "dt": 0.01, "channels": ["tau", "poses"]}
    run = sk.simulate(model, start, start, log=path, **given)
    kept = sk.simulate(model, start, start, **given)
    assert run.status == "finished"
    traj = sk.open(path)
    assert list(traj.q_names) == [*(f"cart.{part}" for part in parts), "pole"]
    assert traj.v_names == traj.q_names
    assert traj.model == model
    np.testing.assert_array_equal(traj.joint("cart"), kept.q[:, : kind.nq])
    np.testing.assert_array_equal(traj.joint("cart", "v"), kept.v[:, : kind.nv])


def test_xarray_opens_the_file_with_named_dimensions(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    write(tmp_path / "a.h5").finish("finished")
    mine = trajectory.open(tmp_path / "a.h5").to_xarray()
    with xarray.open_dataset(tmp_path / "a.h5", engine="h5netcdf") as theirs:
        assert theirs.q.dims == ("t", "q_name")
        assert theirs.rotations.dims == ("t", "body", "axis", "body_axis")
        column = theirs.q.sel(q_name="shoulder").values
        np.testing.assert_array_equal(column, block(0, 500)["q"][:, 7])
        assert list(theirs.body.values) == list(MODEL.body_names)
        xarray.testing.assert_equal(theirs.load(), mine)


def test_without_xarray_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(LogError, match="pip install"):
        Trajectory.in_memory(MODEL, block(0, 5)).to_xarray()


# ---- reading --------------------------------------------------------------------------------


@pytest.fixture(params=["file", "memory"])
def traj(request: pytest.FixtureRequest, tmp_path: Path) -> Trajectory:
    if request.param == "memory":
        return Trajectory.in_memory(MODEL, block(0, 500), {"scenario": "é = 1\n"})
    write(tmp_path / "a.h5").finish("finished")
    return trajectory.open(tmp_path / "a.h5")


def test_slices_are_trajectories(traj: Trajectory) -> None:
    full = block(0, 500)
    for rows in (slice(10, 20), slice(None, None, 7), slice(-5, None), slice(None, None, -3)):
        part = traj[rows]
        np.testing.assert_array_equal(part.q, full["q"][rows])
        np.testing.assert_array_equal(part[1:].t, full["t"][rows][1:])
        np.testing.assert_array_equal(part.step, full["step"][rows])
        assert len(part) == len(part.v)
    assert len(traj[600:]) == len(traj[600:].t) == 0


def test_joint_columns(traj: Trajectory) -> None:
    full = block(0, 500)
    np.testing.assert_array_equal(traj.joint("ball"), full["q"][:, MODEL.q_slice("ball")])
    np.testing.assert_array_equal(traj.joint("ball", "tau"), full["tau"][:, MODEL.v_slice("ball")])
    np.testing.assert_array_equal(
        traj[::9].joint("shoulder", "v"), full["v"][::9, MODEL.v_slice("shoulder")]
    )
    with pytest.raises(LogError, match="did you mean 'shoulder'"):
        traj.joint("sholder")
    with pytest.raises(LogError, match="no joint columns"):
        traj.joint("ball", "energy")
    with pytest.raises(LogError, match="no channel 'speed'"):
        traj["speed"]


def test_common_interface(traj: Trajectory) -> None:
    assert traj.scenario_text == "é = 1\n"
    assert traj.status == "finished"
    assert traj.message == ""
    assert traj.q_names == NAMES.labels["q_name"]
    assert traj.v_names == NAMES.labels["v_name"]
    assert traj.body_names == MODEL.body_names
    assert traj.joint_names == MODEL.joint_names
    assert "500 rows" in repr(traj)
    assert "empty" in repr(traj[:0])
    with traj as held:
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(held)).q, held.q)


def test_channels_that_were_not_logged(tmp_path: Path) -> None:
    LogWriter.create(tmp_path / "a.h5", (), MODEL, {}).finish("finished")
    empty = trajectory.open(tmp_path / "a.h5")
    assert empty.q.shape == (0, MODEL.nq)
    with pytest.raises(LogError, match="'energy' was not logged"):
        empty["energy"]
    with pytest.raises(LogError, match="did you mean 'energy'"):
        LogWriter.create(tmp_path / "b.h5", ["enery"], MODEL, {})


def test_a_running_log_can_be_read_here_and_elsewhere(tmp_path: Path) -> None:
    log = write(tmp_path / "a.h5")
    log.flush()
    log.append(block(500, 600))
    assert len(trajectory.open(tmp_path / "a.h5")) == 500
    code = "import sys; from skodyn.io import trajectory as t; x = t.open(sys.argv[1])"
    code += "; print(len(x), x.t[-1], x.status)"
    printed = subprocess.check_output([sys.executable, "-c", code, tmp_path / "a.h5"], text=True)
    assert printed.split() == ["500", "499.0", "running"]
    log.finish("finished")


# ---- writing --------------------------------------------------------------------------------


def test_a_block_is_taken_whole_or_not_at_all(tmp_path: Path) -> None:
    with write(tmp_path / "a.h5") as log:
        for name, value, match in (
            ("q", np.zeros((3, 2)), "shape"),
            ("v", np.zeros((2, MODEL.nv)), "shape"),
            ("step", np.zeros(3), "int64"),
            ("q", np.zeros((3, MODEL.nq), complex), "complex"),
            ("foo", np.zeros(3), "foo"),
        ):
            with pytest.raises(LogError, match=match):
                log.append(block(500, 503) | {name: value})
        assert log.rows == 500
        log.append(block(500, 503))
    with pytest.raises(LogError, match="closed"):
        log.append(block(503, 504))
    np.testing.assert_array_equal(trajectory.open(tmp_path / "a.h5").q, block(0, 503)["q"])


@pytest.mark.parametrize(
    ("error", "status"), [(ValueError("far"), "failed"), (KeyboardInterrupt(), "interrupted")]
)
def test_the_end_of_a_with_block_is_recorded(
    tmp_path: Path, error: BaseException, status: str
) -> None:
    with pytest.raises(type(error)), write(tmp_path / "a.h5"):
        raise error
    traj = trajectory.open(tmp_path / "a.h5")
    assert (traj.status, len(traj)) == (status, 500)
    assert status != "failed" or traj.message == "ValueError: far"


def test_a_long_message_is_cut_at_a_letter(tmp_path: Path) -> None:
    write(tmp_path / "a.h5").finish("failed", "ü" * 5000)
    assert trajectory.open(tmp_path / "a.h5").message == "ü" * 1000


def test_resume_cuts_and_continues(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    write(path).finish("interrupted", "Ctrl-C", {"steps": 1})
    log = LogWriter.reopen(path, {"scenario": "not kept", "host": "b"})
    with pytest.raises(LogError, match="cannot be cut to 501"):
        log.truncate(501)
    log.truncate(123)
    assert trajectory.open(path).status == "running"
    log.append(block(123, 700))
    log.finish("finished", summary={"steps": 2})
    traj = trajectory.open(path)
    for name in EXTRA:
        np.testing.assert_array_equal(traj[name], block(0, 700)[name])
    assert (traj.status, traj.message, traj.summary) == ("finished", "", {"steps": 2})
    assert traj.provenance["resumed"] == [{"host": "b"}]


# ---- refusals -------------------------------------------------------------------------------


def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    write(path).finish("finished")
    with pytest.raises(LogError, match=r"a\.h5 exists .*overwrite=True"):
        write(path)
    write(path, rows=10, overwrite=True).finish("finished")
    assert len(trajectory.open(path)) == 10
    path.write_text("my thesis")
    with pytest.raises(LogError, match="not an HDF5 file"):
        write(path, overwrite=True)
    assert path.read_text() == "my thesis"


def test_the_log_of_a_live_run_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    log = write(path)
    log.flush()
    code = (
        "import sys; from pathlib import Path\n"
        "sys.path.insert(0, sys.argv[2]); import test_log as t\n"
        "for go in (lambda p: t.write(p, overwrite=True), t.LogWriter.reopen):\n"
        "    try: go(Path(sys.argv[1]))\n"
        "    except t.LogError as error: print(error)\n"
    )
    command = [sys.executable, "-c", code, path, Path(__file__).parent]
    printed = subprocess.check_output(command, text=True)
    assert printed.count("in use by a run") == 2
    log.finish("finished")
    assert len(trajectory.open(path)) == 500


def test_bad_places(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="does not exist"):
        write(tmp_path / "none" / "a.h5")
    with pytest.raises(LogError, match="is a folder"):
        write(tmp_path)
    with pytest.raises(LogError, match="GB free"):
        write(tmp_path / "a.h5", expected_rows=10**13)
    assert not (tmp_path / "a.h5").exists()


def test_files_that_are_no_logs(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    openers: tuple[Any, ...] = (trajectory.open, LogWriter.reopen)
    for opener in openers:
        with pytest.raises(LogError, match="no such file"):
            opener(path)
    path.write_text("t,q\n0,1\n")
    for opener in openers:
        with pytest.raises(LogError, match="not an HDF5 file"):
            opener(path)
    with h5py.File(path, "w") as file:
        file["t"] = 1.0
    for opener in openers:
        with pytest.raises(LogError, match="not a skodyn log"):
            opener(path)


def test_truncated_and_newer_files(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    write(path).finish("finished")
    content = path.read_bytes()
    for keep in (len(content) - 5000, len(content) // 2, 3000, 100):
        path.write_bytes(content[:keep])
        for opener in (trajectory.open, LogWriter.reopen):
            with pytest.raises(LogError, match=r"cut short|not an HDF5|cannot"):
                opener(path)
    path.write_bytes(content)
    with h5py.File(path, "r+") as file:
        file.attrs["schema_version"] = 99
    with pytest.raises(LogError, match="upgrade"):
        trajectory.open(path)


# ---- kills and full disks -------------------------------------------------------------------


ENDLESS = """
import sys
sys.path.insert(0, sys.argv[2])
import test_log as t
from pathlib import Path
path = Path(sys.argv[1])
log = t.LogWriter.reopen(path) if path.exists() else t.write(path, 20)
while True:
    for _ in range(3):
        log.append(t.block(log.rows, log.rows + 50))
    log.flush()
    print(log.rows, flush=True)
"""


@pytest.mark.large
def test_killed_at_random_moments(tmp_path: Path) -> None:
    path, rng, promised = tmp_path / "a.h5", random.Random(1), 0
    for _ in range(5):
        command = [sys.executable, "-c", ENDLESS, path, Path(__file__).parent]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(rng.uniform(0.0, 0.15))
            process.send_signal(signal.SIGKILL)
            told = [int(line) for line in process.stdout.read().splitlines() if line.strip()]
        promised = max([promised, *told])
        traj = trajectory.open(path)
        assert traj.status == "running"
        assert len(traj) >= promised
        for name in EXTRA:
            np.testing.assert_array_equal(traj[name], block(0, len(traj))[name])
    LogWriter.reopen(path).finish("finished")


def fill(log: LogWriter) -> int:
    """Append until the disk is full; how many rows went in."""

    def forever() -> None:
        while True:
            log.append(block(log.rows, log.rows + 100))
            log.flush()

    with pytest.raises(LogError, match=r"disk is full|file size limit"):
        forever()
    return log.rows


def check_after_full_disk(path: Path, rows: int) -> None:
    traj = trajectory.open(path)
    assert len(traj) == rows > 0
    assert (traj.status, traj.message) == ("failed", "disk full")
    for name in EXTRA:
        np.testing.assert_array_equal(traj[name], block(0, rows)[name])


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="mounting needs root")
def test_disk_full(tmp_path: Path) -> None:
    command = ["mount", "-t", "tmpfs", "-o", "size=3m", "none", str(tmp_path)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        log = write(tmp_path / "a.h5", 10, expected_rows=2000)
        rows = fill(log)
        log.finish("failed", "disk full", {"steps": 3})
        check_after_full_disk(tmp_path / "a.h5", rows)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_file_size_limit(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    log = write(tmp_path / "a.h5", 10, expected_rows=2000)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3 * 2**20, before[1]))
    try:
        rows = fill(log)
        log.finish("failed", "disk full", {"steps": 3})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    check_after_full_disk(tmp_path / "a.h5", rows)
