"""How long the first result takes: imports, first calls and whole runs, in fresh processes.

    python benchmarks/start.py                       # the skodyn that is installed, a minute
    python benchmarks/start.py --wheel SKODYN.whl    # also from a wheel, in a virtual environment
    python benchmarks/start.py --source              # also from source, everything compiled anew

Each figure is the median over several processes, of wall time and of processor time; caches of
compiled kernels are empty where the row says so. Beside them stand the import of MuJoCo and its
first `mj_step`, the import of Pinocchio and its first `aba`, on a double pendulum.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from compare import goals, heading, machine, mujoco, pin, table, verdicts

SCENARIO = Path(__file__).parent.parent / "scenarios" / "double_pendulum.toml"

FIRST_CALL = """
import skodyn as sk
b = sk.ModelBuilder()
b.add_body("a", "world", sk.Revolute(axis=(0, 1, 0)), mass=1.0, com=(0, 0, -1), inertia=(1, 1, 1))
b.add_body("b", "a", sk.Revolute(axis=(0, 1, 0)), translation=(0, 0, -2), mass=1.0,
           com=(0, 0, -1), inertia=(1, 1, 1))
model = b.build()
sk.forward_dynamics(model, model.neutral(), [0.0, 0.0], [0.0, 0.0])
"""

MUJOCO_STEP = """
import mujoco
inertial = "<inertial pos='0 0 -1' mass='1' diaginertia='1 1 1'/>"
body = "<body pos='0 0 -2'><joint type='hinge' axis='0 1 0'/>" + inertial + "{}</body>"
world = "<mujoco><worldbody>{}</worldbody></mujoco>"
model = mujoco.MjModel.from_xml_string(world.format(body.format(body.format(""))))
mujoco.mj_step(model, mujoco.MjData(model))
"""

PINOCCHIO_ABA = """
import numpy as np
import pinocchio as pin
model = pin.Model()
inertia = pin.Inertia(1.0, np.array([0, 0, -1.0]), np.eye(3))
place = pin.SE3(np.eye(3), np.array([0, 0, -2.0]))
joint = 0
for name in ("a", "b"):
    joint = model.addJoint(joint, pin.JointModelRY(), place, name)
    model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
pin.aba(model, model.createData(), np.zeros(2), np.zeros(2), np.zeros(2))
"""


def measured(command, repeats, environment=None):
    """(median wall, median processor) seconds of a command; its children count."""
    walls, busy = [], []
    for _ in range(repeats):
        began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        walls.append(time.perf_counter() - began)
        busy.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(walls), statistics.median(busy)


def run_command(python, folder):
    output = str(Path(folder) / "run.h5")
    return [python, "-m", "skodyn", "run", str(SCENARIO), "--quiet", "--overwrite", "-o", output]


def cold(command, folder, repeats, **more):
    """The same with an empty cache each time."""
    results = []
    for _ in range(repeats):
        empty = tempfile.mkdtemp(dir=folder)
        environment = os.environ | {"NUMBA_CACHE_DIR": empty} | more
        results.append(measured(command, 1, environment))
    return tuple(statistics.median(column) for column in zip(*results, strict=True))


def rows_of(label, python, folder, repeats):
    """Import, first call and run with what is installed for this interpreter."""
    call = [python, "-c", FIRST_CALL]
    yield f"{label}: import skodyn", measured([python, "-c", "import skodyn"], repeats)
    yield f"{label}: import, first forward_dynamics", measured(call, repeats)
    yield f"{label}: skodyn run", measured(run_command(python, folder), repeats)
    yield f"{label}, empty cache: first forward_dynamics", cold(call, folder, 3)
    yield f"{label}, empty cache: skodyn run", cold(run_command(python, folder), folder, 3)


def peers(repeats):
    if mujoco:
        yield "import mujoco", measured([sys.executable, "-c", "import mujoco"], repeats)
        command = [sys.executable, "-c", MUJOCO_STEP]
        yield "import mujoco, first mj_step", measured(command, repeats)
    if pin:
        yield "import pinocchio", measured([sys.executable, "-c", "import pinocchio"], repeats)
        command = [sys.executable, "-c", PINOCCHIO_ABA]
        yield "import pinocchio, first aba", measured(command, repeats)


def from_wheel(wheel, folder):
    """An interpreter with nothing but the wheel and what it needs."""
    home = Path(folder) / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    python = str(home / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", str(wheel)], check=True)
    return python


def source_rows(folder):
    """Without shipped code: what numba compiles, and the whole set on all cores."""
    command = run_command(sys.executable, folder)
    yield "numba alone, empty cache: skodyn run", cold(command, folder, 3, SKODYN_SHIPPED="0")
    warm = [sys.executable, "-m", "skodyn", "cache", "warm"]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(Path(folder) / "whole")}
    yield "skodyn cache warm, everything", measured(warm, 1, environment)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", type=Path, help="a wheel of skodyn with kernels in it")
    parser.add_argument("--source", action="store_true", help="also compile everything anew")
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    machine()
    heading("First results, in fresh processes")
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        results |= rows_of("installed", sys.executable, folder, options.repeats)
        if options.wheel:
            python = from_wheel(options.wheel, folder)
            results |= rows_of("wheel", python, folder, options.repeats)
        if options.source:
            results |= source_rows(folder)
        results |= peers(options.repeats)
    rows = [[name, *(f"{seconds:.2f}" for seconds in times)] for name, times in results.items()]
    table(["", "wall, s", "processor, s"], rows)
    for name, limit in (
        ("wheel: import skodyn", 0.25),
        ("wheel: skodyn run", 0.7),
        ("wheel, empty cache: first forward_dynamics", 1.0),
        ("wheel, empty cache: skodyn run", 3.0),
        ("numba alone, empty cache: skodyn run", 15.0),
        ("skodyn cache warm, everything", 90.0),
    ):
        if name in results:
            goals.append((f"{name}, s of wall time", results[name][0], "≤", limit))
    verdicts()


if __name__ == "__main__":
    main()
