"""How many cores there are has one answer, which knows affinity, cgroups and Slurm."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from skodyn import cores
from skodyn.cli import main
from skodyn.errors import SkodynError
from skodyn.sweeps.engines import open_engine

SOURCES = Path(cores.__file__).parent


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine of 64 cores whose files lie in a temporary folder; takes files and their texts."""
    monkeypatch.setattr(cores, "_CGROUPS", tmp_path / "proc" / "cgroup")
    monkeypatch.setattr(cores, "_MOUNTED", tmp_path / "sys")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    monkeypatch.delenv(cores.SLURM, raising=False)
    cores._granted.cache_clear()

    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("cpu_", "cpu.")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        cores._granted.cache_clear()

    yield write
    cores._granted.cache_clear()


def test_without_limits_every_core_that_the_process_may_run_on_counts(machine):
    assert cores.core_count() == 64


@pytest.mark.parametrize(
    ("quota", "count"),
    [("max 100000", 64), ("200000 100000", 2), ("150000 100000", 2), ("20000 100000", 1)],
)
def test_a_quota_of_cgroups_v2_is_rounded_up(machine, quota, count):
    machine(proc__cgroup="0::/job\n", sys__job__cpu_max=f"{quota}\n")
    assert cores.core_count() == count


def test_a_quota_of_a_group_further_up_counts_too(machine):
    machine(
        proc__cgroup="0::/slice/job\n",
        sys__slice__cpu_max="300000 100000\n",
        sys__slice__job__cpu_max="max 100000\n",
    )
    assert cores.core_count() == 3


def test_inside_a_container_the_root_is_its_own_group(machine):
    machine(proc__cgroup="0::/../../seen/from/the/host\n", sys__cpu_max="400000 100000\n")
    assert cores.core_count() == 4


@pytest.mark.parametrize("folder", ["cpu", "cpu,cpuacct"])
@pytest.mark.parametrize(("quota", "count"), [("-1", 64), ("250000", 3)])
def test_quotas_of_cgroups_v1(machine, folder, quota, count):
    controllers = "cpu" if folder == "cpu" else "cpu,cpuacct"
    at = f"sys__{folder}__docker__cpu_"
    machine(
        proc__cgroup=f"5:memory:/docker\n3:{controllers}:/docker\n1:name=systemd:/\n",
        **{f"{at}cfs_quota_us": f"{quota}\n", f"{at}cfs_period_us": "100000\n"},
    )
    assert cores.core_count() == count


def test_a_task_of_slurm_has_what_it_was_given(machine, monkeypatch):
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "5")
    assert cores.core_count() == 5


@pytest.mark.parametrize("said", ["0", "-3", "many", "2.5"])
def test_a_share_that_is_none_is_refused(machine, monkeypatch, said):
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", said)
    with pytest.raises(SkodynError, match=f"SLURM_CPUS_PER_TASK is '{said}'; give a whole number"):
        cores.core_count()


def test_affinity_counts_where_it_is_the_least_and_may_change(machine, monkeypatch):
    machine(proc__cgroup="0::/\n", sys__cpu_max="400000 100000\n")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3})
    assert cores.core_count() == 1


def test_where_there_is_no_affinity_all_cores_count(machine, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert cores.core_count() == 6
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores.core_count() == 1


def test_commands_run_where_there_is_no_affinity(monkeypatch, capsys):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    main(["cache", "info"])
    assert "folder" in capsys.readouterr().out


def test_a_sweep_has_a_worker_for_each_core_that_is_granted(machine, monkeypatch):
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "3")
    engine = open_engine("threads", None, None, lambda: None)
    engine.close()
    assert engine.workers == 3


def test_a_batch_goes_by_the_same_count():
    """In a process of its own: the limits are looked up once."""
    program = (
        "import numpy as np, skodyn as sk\n"
        "from skodyn.dynamics import driver\n"
        "asked = []\n"
        "split = driver._split\n"
        "driver._split = lambda rows, bodies, n: asked.append(n) or split(rows, bodies, n)\n"
        f"model = sk.load({str(SOURCES.parents[1] / 'scenarios/models/double_pendulum.toml')!r})\n"
        "driver.Algorithm.goes_one_by_one = lambda *_: False\n"
        "sk.gravity_force(model, np.zeros((64, 2)))\n"
        "print(asked)\n"
    )
    environment = {**os.environ, "SLURM_CPUS_PER_TASK": "1", "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[1]\n"


def test_nobody_else_counts_cores():
    """But the record of a run says how many the machine has."""
    words = re.compile(r"cpu_count|sched_getaffinity")
    found = {
        path.relative_to(SOURCES).as_posix()
        for path in SOURCES.rglob("*.py")
        if words.search(path.read_text())
    }
    assert found == {"cores.py", "io/provenance.py"}
