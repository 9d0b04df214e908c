"""Models, scenarios and sweeps in TOML, changed as people, disks and enemies change files.

Whatever the file: it is sound, or one of skodyn's own errors names it; never another exception,
never more than ten seconds, never more than a gigabyte. `skodyn check` says the same as Python.

    python tests/toml_mutations.py 7 2000 60       # seed, most mutations, most seconds

prints one line of JSON for each finding, the text that did it included, and a count at the end.
The same seed gives the same texts, whatever the machine.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import resource
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from skodyn.cli import main as command
from skodyn.errors import FaultsError, ScenarioError, SkodynError
from skodyn.io import load
from skodyn.io.toml_source import TomlSource
from skodyn.scenario import read_scenario
from skodyn.scenario.runnable import refuse_unrunnable
from skodyn.scenario.running import plan_of
from skodyn.simulation.force_tables import pack_forces
from skodyn.sweeps.index import create_index
from skodyn.sweeps.packing import Packer
from skodyn.sweeps.plan import read_plan
from skodyn.sweeps.stored_study import record_of
from time_limit import time_limit

SCENARIOS = Path(__file__).parent.parent / "scenarios"
MOST_SECONDS = 10.0
MOST_BYTES = 10**9

STUDIED = """
duration = 0.02
seed = 3
[model]
file = "models/double_pendulum.toml"
[initial]
q_noise = 0.01
[initial.q]
elbow = 0.3
[joints.elbow]
damping = 0.1
lower = -2.0
upper = 2.0
[controllers.pd]
type = "servo"
joint = "shoulder"
kp = 3.0
[controllers.table]
type = "torque_table"
joint = "elbow"
times = [0.0, 0.5, 1.0]
torques = [0.0, 1.0, 0.0]
[forces.push]
type = "wrench"
body = "lower"
force = [1.0, 0.0, 0.0]
[integrator]
method = "rk4"
dt = 0.001
[output]
every = 2
channels = ["energy"]
"""
SWEEPS = [
    """
[sweep]
replicas = 2
sample_every = 1
logs = [0, 1]
[sweep.metrics]
swing = { of = "q.elbow", kind = "max" }
fall = { of = "position.lower.z", kind = "crossing", level = 1.0, direction = "down" }
drift = { kind = "energy_drift" }
reach = { of = "metrics.py:reach", kind = "rms" }
""",
    """
[sweep.grid]
"bodies.upper.mass" = [0.5, 1.0]
"joints.elbow.upper" = { from = 1.0, to = 2.0, count = 3, scale = "log" }
[sweep.metrics]
swing = { of = "q.elbow", kind = "max" }
""",
    """
[[sweep.designs]]
kind = "sobol"
count = 4
seed = 7
parameters."initial.v.elbow" = [-1.0, 1.0]
parameters."gravity.z" = { mean = -9.81, deviation = 0.01 }
""",
    """
[sweep]
logs = "failed"
[[sweep.designs]]
kind = "list"
parameters."controllers.pd.kp" = [1.0, 2.0]
parameters."controllers.pd.kd" = [0.1, 0.3]
[[sweep.designs]]
kind = "list"
file = "points.csv"
""",
    """
[[sweep.designs]]
kind = "together"
designs = [
    { kind = "random", count = 2, parameters = { "initial.q.shoulder" = [0.0, 1.0] } },
    { kind = "list", parameters = { "integrator.dt" = [0.001, 0.002] } },
]
""",
]


def _words(text: str) -> list[str]:
    return text.split()


def _lines(text: str) -> list[str]:
    return text.strip().split("\n")


NUMBERS = [
    *_words("""
0 -1 1 2 -0.0 0.5 1e-9 1e-300 5e-324 1e6 1e8 1e9 1e12 1e18 1e60 1e61 1e308 1e400 -1e308 nan inf -inf
1000000 10000000 100000000 1000000000 1000000000000 1000000000000000000 9223372036854775807
9223372036854775808 9007199254740993 0x7f 1_0 0.1e 1979-05-27 07:32:00 1979-05-27T07:32:00Z
"""),
    "1" + 400 * "0",
    "1" + 5000 * "0",
]
OTHERS = [
    *_lines("""
true
false
""
" "
"x"
[]
{}
[[]]
[{}]
[1]
[1, 2]
[1, 2, 3]
["a"]
[[1, 2], [3]]
[nan, 1, 2]
[1e308, -1e308]
[true, 1]
{ a = 1 }
{ from = 0, to = 1, count = 3 }
{ from = 1, to = 9, count = 100000000 }
{ from = 1e-320, to = 1e308, count = 5, scale = "log" }
{ low = 0, high = inf }
{ mean = 1e308, deviation = 1e308 }
{ low = 1, high = 2, scale = [] }
{ kind = "max" }
{ kind = [] }
{ kind = "max", of = 3 }
{ kind = "crossing", of = "energy", level = [] }
{ kind = "grid", parameters = { a = [1] } }
"""),
    "[" + "0.0, " * 50000 + "]",
    *("[" * depth + "]" * depth for depth in (30, 120, 2000)),
    *("{ a = " * depth + "1" + " }" * depth for depth in (30, 150)),
    '"' + "x" * 100_000 + '"',
]
WORDS = [
    *_words("""
world upper q.elbow energy nowhere.py:f metrics.py:nothing metrics.py: broken.py:f
../../../etc/passwd /etc/passwd / .
models points.csv * ** \\u0000 \\n \\u007f 🤖 sobol random latin_hypercube grid list
together product rk4 dormand_prince implicit_midpoint servo wrench fixman log linear revolute free
spherical fixed crossing all failed scenario models/double_pendulum.toml /dev/zero
models/seven_joint_arm.toml
"""),
    "",
    " ",
    "x" * 5000,
]
LINES = [
    *_lines("""
duration = 1e9
seed = 9223372036854775807
[sweep]
[model]
[[model]]
[sweep.grid]
[[sweep.designs]]
[sweep.metrics]
replicas = 1000000000000000000
replicas = 100000000
sample_every = 1000000000000000000000
logs = [[[]]]
logs = {}
"seed" = [1e300]
"seed" = [nan]
"seed" = [9007199254740993]
"duration" = [1e12]
"integrator.dt" = [1e-12, 1.0]
"output.every" = [1e30]
"integrator.method" = ["rk4", 3]
"integrator.method" = ["rk4", { a = 1 }]
"bodies.upper.rotation" = [[1, 0, 0, 0], [[0]]]
"initial.q.elbow" = { from = 0, to = 1, count = 1000000000 }
count = 1000000000000
count = 100000000
scale = 7
kind = "max"
"thermostat.rate" = [1e300]
"""),
    "a" + ".a" * 300 + " = 1",
    "[a" + ".a" * 300 + "]",
    "[a" + ".a" * 50 + "]",
    "[thermostat]\nkT = 1.0\nrate = 1e30",
    "[output]\ninterval = 1e-12",
]


def seeds() -> dict[str, str]:
    """Sound files by kind and name."""
    found = {f"scenario {p.stem}": p.read_text() for p in sorted(SCENARIOS.glob("*.toml"))}
    for path in sorted((SCENARIOS / "models").glob("*.toml")):
        if path.stat().st_size < 20_000:
            found[f"model {path.stem}"] = path.read_text()
    return found | {f"sweep {i}": STUDIED + sweep for i, sweep in enumerate(SWEEPS)}


# ---- changes ------------------------------------------------------------------------------------


def _replaced(pattern: str, text: str, other: str, rng: random.Random) -> str:
    """The text with one group of one match replaced."""
    spans = [match.span(1) for match in re.finditer(pattern, text, re.MULTILINE)]
    start, end = rng.choice(spans) if spans else (len(text), len(text))
    return text[:start] + other + text[end:]


_VALUE = r"= *([^\n#]+?) *(?:#[^\n]*)?$"
_NUMBER = r"[ \[=,](-?\d[\d_.]*(?:e-?\d+)?)\b"
_WORD = r'"([^"\n]*)"'
_KEY = r"(?:^|[{,] *|\.)([A-Za-z_]\w*)(?= *[=.\]])"


def other_value(text: str, rng: random.Random) -> str:
    return _replaced(_VALUE, text, rng.choice(NUMBERS + OTHERS), rng)


def other_number(text: str, rng: random.Random) -> str:
    return _replaced(_NUMBER, text, rng.choice(NUMBERS), rng)


def near_number(text: str, rng: random.Random) -> str:
    return _replaced(_NUMBER, text, f"{rng.choice((1, -1)) * 10 ** rng.uniform(-12, 12):.4g}", rng)


def number_to_value(text: str, rng: random.Random) -> str:
    return _replaced(_NUMBER, text, rng.choice(OTHERS), rng)


def other_word(text: str, rng: random.Random) -> str:
    return _replaced(_WORD, text, rng.choice(WORDS), rng)


def word_from_elsewhere(text: str, rng: random.Random) -> str:
    return _replaced(_WORD, text, rng.choice(re.findall(_WORD, text) or [""]), rng)


def word_to_value(text: str, rng: random.Random) -> str:
    return _replaced(r'("[^"\n]*")', text, rng.choice(NUMBERS + OTHERS), rng)


def other_key(text: str, rng: random.Random) -> str:
    keys = re.findall(_KEY, text, re.MULTILINE)
    return _replaced(_KEY, text, rng.choice([*keys, "", "kind", "count", "file", "*", "a.b"]), rng)


def line_out(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    del lines[rng.randrange(len(lines))]
    return "\n".join(lines)


def line_twice(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    lines.insert(rng.randrange(len(lines)), rng.choice(lines))
    return "\n".join(lines)


def other_line(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(LINES))
    return "\n".join(lines)


def table_out(text: str, rng: random.Random) -> str:
    tables = re.split(r"^(?=\[)", text, flags=re.MULTILINE)
    del tables[rng.randrange(len(tables))]
    return "".join(tables)


def cut_short(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text) + 1)]


def bit_flipped(text: str, rng: random.Random) -> str:
    data = bytearray(text.encode("utf-8", "surrogateescape"))
    for _ in range(rng.randrange(1, 4) if data else 0):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data.decode("utf-8", "surrogateescape")


CHANGES: list[Callable[[str, random.Random], str]] = [
    *[other_value] * 4, *[other_number] * 4, near_number, *[number_to_value] * 2, *[other_word] * 3,
    word_from_elsewhere, *[word_to_value] * 2, *[other_key] * 2, line_out, line_twice,
    *[other_line] * 2, table_out, cut_short, bit_flipped,
]  # fmt: skip


def mutations(seed: int) -> Iterator[tuple[str, bytes]]:
    """(kind, file) without end."""
    rng, sound = random.Random(seed), seeds()
    while True:
        kind = rng.choice(("model", "scenario", "sweep", "sweep"))
        name = rng.choice([name for name in sound if name.startswith(kind)])
        text = sound[name]
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            text = rng.choice(CHANGES)(text, rng)
        yield kind, text.encode("utf-8", "surrogateescape")


# ---- judging ------------------------------------------------------------------------------------


def limit_memory() -> None:
    """Of this process and for good: what it has now and a gigabyte."""
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MOST_BYTES, resource.RLIM_INFINITY))


def furnish(folder: Path) -> None:
    """What files of scenarios speak of."""
    shutil.copytree(SCENARIOS / "models", folder / "models")
    (folder / "points.csv").write_text("bodies.lower.mass,bodies.lower.com.x\n1.0,0.0\n2.0,0.1\n")
    (folder / "metrics.py").write_text("def reach(t, q, v):\n    return q[0]\n")
    (folder / "broken.py").write_text("raise RuntimeError('planning must not run this')\n")


def read_as(kind: str, path: Path, *, write: bool = False) -> None:
    """Read and plan, up to the first step of a run; `write`: the index of a sweep, too."""
    if kind == "model":
        model = load(path)
        if write:
            assert model.groups is not None  # refused like by skodyn check if loops cannot close
    elif _has_sweep(path):
        plan = read_plan(path)
        for _ in Packer(plan.study).pack(plan.design.points(np.arange(min(8, plan.count)))):
            pass
        if write and plan.count <= 1000:
            create_index(path.with_suffix(".h5"), plan, record_of(plan), overwrite=True)
    else:
        scenario = read_scenario(path)
        plan = plan_of(scenario)
        pack_forces(plan.model, plan.forces)
        if write:
            refuse_unrunnable(scenario)


def _has_sweep(path: Path) -> bool:
    with contextlib.suppress(SkodynError):
        return "sweep" in TomlSource(path, ScenarioError).data
    return False


def complaint(kind: str, path: Path) -> str:
    """What is wrong with how a file is answered, or ''."""
    try:
        with time_limit(MOST_SECONDS):
            read_as(kind, path)
    except SkodynError as error:
        faults = [str(f) for f in error.faults] if isinstance(error, FaultsError) else [str(error)]
        nameless = [fault for fault in faults if path.name not in fault]
        return f"the file is not named: {nameless[0][:300]}" if nameless else ""
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:300]}{_place(error)}"
    return ""


def _place(error: BaseException) -> str:
    traceback, place = error.__traceback__, ""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if "skodyn" in code.co_filename:
            place = f" ({Path(code.co_filename).name}, {code.co_name})"
        traceback = traceback.tb_next
    return place


def disagreement(kind: str, path: Path) -> str:
    """Whether `skodyn check` says another thing than Python, or ''."""
    said = io.StringIO()
    try:
        with time_limit(MOST_SECONDS):
            try:
                read_as(kind, path, write=True)
                expected = 0
            except SkodynError:
                expected = 2
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = command(["check", str(path)])
    except BaseException as error:
        return f"skodyn check: {type(error).__name__}: {str(error)[:300]}{_place(error)}"
    if code == expected:
        return ""
    return f"skodyn check ends with {code}, Python with {expected}: {said.getvalue()[:300]}"


def findings(seed: int, most: int, seconds: float) -> Iterator[dict[str, Any]]:
    """One record for each file that is answered badly; at last how many were tried."""
    began, tried = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        furnish(folder)
        path = folder / "mutated.toml"
        for kind, data in mutations(seed):
            if tried >= most or time.monotonic() - began > seconds:
                break
            path.write_bytes(data)
            bad = complaint(kind, path) or (tried % 3 == 0 and disagreement(kind, path))
            if bad:
                yield {"number": tried, "kind": kind, "bad": bad, "text": data.decode("latin-1")}
            tried += 1
    yield {"tried": tried}


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    limit_memory()
    warnings.simplefilter("error", RuntimeWarning)  # nobody asked for what NumPy prints
    for record in findings(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])):
        print(json.dumps(record), flush=True)
