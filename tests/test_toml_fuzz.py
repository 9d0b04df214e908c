"""Mutations of models, scenarios and sweeps: sound, or one of skodyn's errors that names the file;
never another exception, never more than ten seconds or a gigabyte, and `skodyn check` agrees."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

import toml_mutations as fuzz
from skodyn.errors import SkodynError
from skodyn.io.toml_source import TomlSource
from skodyn.scenario import ScenarioError, read_scenario
from skodyn.sweeps.plan import read_plan

TOOL = Path(fuzz.__file__)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    fuzz.furnish(tmp_path)
    return tmp_path


# ---- what was found -----------------------------------------------------------------------------

SWEPT = {
    "metric kind is a list": "[sweep.metrics]\na = { kind = [] }",
    "metric kind is a table": "[sweep.metrics]\na = { kind = { kind = 'max' } }",
    "metric of is a number": "[sweep.metrics]\na = { kind = 'max', of = 3 }",
    "metric of is a list": "[sweep.metrics]\na = { kind = 'max', of = [1] }",
    "metric of is a table": "[sweep.metrics]\na = { kind = 'max', of = { a = 1 } }",
    "metric level is a list": "[sweep.metrics]\na = { kind='crossing', of='energy', level=[] }",
    "metric level is a date": "[sweep.metrics]\na = { kind='crossing', of='work', level=07:32:00}",
    "metric level is huge": "[sweep.metrics]\na = { kind='crossing', of='energy', level=1%s }"
    % (400 * "0"),
    "metric file has a NUL": r"[sweep.metrics]" + '\na = { kind = "max", of = "a\\u0000.py:f" }',
    "metric file has a long name": f"[sweep.metrics]\na = {{ kind='max', of='{'x' * 5000}.py:f' }}",
    "metric file is a folder": "[sweep.metrics]\na = { kind = 'max', of = '.py:f' }",
    "metric function is missing": "[sweep.metrics]\na = { kind='max', of='metrics.py:none' }",
    "range of 1e8": "[sweep.grid]\n'gravity.z' = { from = 1, to = 2, count = 100000000 }",
    "range of 1e18": "[sweep.grid]\n'gravity.z' = { from=1, to=2, count=1000000000000000000 }",
    "range of 2^63": "[sweep.grid]\n'gravity.z' = { from=1, to=2, count=9223372036854775808 }",
    "range of 1e400": "[sweep.grid]\n'gravity.z' = { from=1, to=2, count=1%s }" % (400 * "0"),
    "range from a huge integer": "[sweep.grid]\n'gravity.z' = { from = 1%s, to = 2, count = 3 }"
    % (400 * "0"),
    "value is a huge integer": "[sweep.grid]\n'gravity.z' = [1%s]" % (400 * "0"),
    "grid of an empty table": "[sweep.grid]\n'gravity.z' = {}",
    "sample of 1e12": "[[sweep.designs]]\nkind = 'sobol'\ncount = 1000000000000\n"
    "parameters.'gravity.z' = [1, 2]",
    "sample of a huge span": "[[sweep.designs]]\nkind = 'random'\ncount = 2\n"
    "parameters.'gravity.z' = [0, 1%s]" % (400 * "0"),
    "sample seed is huge": "[[sweep.designs]]\nkind = 'sobol'\ncount = 2\nseed = 1%s\n"
    "parameters.'gravity.z' = [1, 2]" % (400 * "0"),
    "replicas of 1e18": "[sweep]\nreplicas = 1000000000000000000",
    "replicas of 1e8": "[sweep]\nreplicas = 100000000",
    "sample_every of 2^63": "[sweep]\nreplicas = 2\nsample_every = 9223372036854775808",
    "product of 1e300": "[[sweep.designs]]\nkind = 'product'\ndesigns = ["
    + "{ kind = 'random', count = 1000000, parameters = { 'gravity.z' = [1, 2] } }, " * 60
    + "]",
    "points are a number": "[[sweep.designs]]\nkind = 'list'\nfile = 7",
    "points have a NUL": '[[sweep.designs]]\nkind = "list"\nfile = "a\\u0000"',
    "points never end": "[[sweep.designs]]\nkind = 'list'\nfile = '/dev/zero'",
    "value is a nest": f"[sweep.grid]\n'integrator.method' = [{'[' * 200}{']' * 200}]",
    "value is a table": "[sweep.grid]\n'integrator.method' = [{ a = 1 }]",
    "kind is a nest": "[[sweep.designs]]\nkind = {}",
    "scale is a list": "[sweep.grid]\n'gravity.z' = { from = 1, to = 2, count = 2, scale = [] }",
    "logs is a table": "[sweep]\nreplicas = 2\nlogs = {}",
}


@pytest.mark.parametrize("text", SWEPT.values(), ids=SWEPT)
def test_a_sweep_that_once_ended_in_a_traceback_or_never_is_refused(text: str, folder: Path):
    path = folder / "study.toml"
    path.write_text(fuzz.STUDIED + text)
    assert fuzz.complaint("sweep", path) == ""
    assert fuzz.disagreement("sweep", path) == ""
    with pytest.raises(SkodynError):
        read_plan(path)


SOUND = {
    "long keys with dots": "title = 'a.b.c'",
    "DEL in a title": 'title = "a\\u007fb"',
    "mark of byte order": "\ufeff",
    "lines of Windows": "# \r\n",
}


@pytest.mark.parametrize("head", SOUND.values(), ids=SOUND)
@pytest.mark.parametrize("sweep", ["", *fuzz.SWEEPS])
def test_check_agrees_with_python_on_files_that_are_sound(head: str, sweep: str, folder: Path):
    path = folder / "study.toml"
    path.write_bytes((head + fuzz.STUDIED + sweep).encode())
    fuzz.read_as("sweep", path)
    assert fuzz.disagreement("sweep", path) == ""


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a" + ".a" * 30_000 + " = 1", "more than 100 parts"),
        ('"a"' + '."a"' * 30_000 + " = 1", "more than 100 parts"),
        ("a = " + "[" * 200 + "]" * 200, "nested too deeply"),
        ("a = " + "{ a = " * 150 + "1" + "}" * 150, "nested too deeply"),
        ("[a" + ".a" * 90 + "]", "nested too deeply"),
    ],
    ids=["bare parts", "quoted parts", "lists", "tables", "header"],
)
def test_what_is_nested_deeply_is_refused_with_its_line(text: str, what: str, folder: Path):
    path = folder / "deep.toml"
    path.write_text("\n\n" + text)
    for kind in ("model", "scenario"):
        assert fuzz.complaint(kind, path) == ""
    with fuzz.time_limit(5.0), pytest.raises(ScenarioError, match=rf"deep.toml:3: .*{what}"):
        read_scenario(path)


def test_lines_are_found_in_time_that_grows_with_the_file_alone(tmp_path: Path):
    rows = "".join(f"  {i},\n" for i in range(30_000))
    path = tmp_path / "long.toml"
    path.write_text(f'x = [\n{rows}]\ny = """\n[{rows}"""""\nz = \'[\' # [\n[t]\nw = 1\n')
    with fuzz.time_limit(5.0):
        source = TomlSource(path, ScenarioError)
        assert [source.line(key) for key in "xyzt"] == [1, 30_003, 60_005, 60_006]
    assert source.line("t", "w") == 60_007


def test_a_list_of_another_length_is_refused_with_file_and_line(folder: Path):
    path = folder / "study.toml"
    path.write_text(fuzz.STUDIED.replace("damping = 0.1", "damping = [0.1, 0.2]"))
    with pytest.raises(
        ScenarioError, match=r"study.toml:\d+: joints.elbow.damping is \(0.1, 0.2\)"
    ):
        read_scenario(path)


def test_a_file_without_end_is_refused():
    with fuzz.time_limit(5.0), pytest.raises(ScenarioError, match="larger than 100 MB"):
        read_scenario("/dev/zero")


# ---- mutations ----------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_files():
    first, again = (list(islice(fuzz.mutations(3), 50)) for _ in range(2))
    assert first == again
    assert len({data for _, data in first}) > 45


def found(seed: int, most: int, seconds: float) -> tuple[list[str], int]:
    """(what is wrong, how many files were tried), in a process with little memory."""
    command = [sys.executable, str(TOOL), str(seed), str(most), str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * seconds + 120)
    assert done.returncode == 0, done.stderr[-2000:]
    records = [json.loads(line) for line in done.stdout.splitlines()]
    return [f"{r['bad']}\n{r['text'][:3000]}" for r in records[:-1]], records[-1]["tried"]


def test_no_mutation_ends_in_a_traceback():
    bad, tried = found(seed=20, most=600, seconds=20.0)
    assert not bad, f"{len(bad)} findings, the first one:\n{bad[0]}"
    assert tried > 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_no_mutation_of_many_ends_in_a_traceback(seed: int):
    bad, _ = found(seed=100 + seed, most=2500, seconds=900.0)
    assert not bad, f"{len(bad)} findings, the first one:\n{bad[0]}"
