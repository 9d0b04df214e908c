"""The forge's workflow as data: it can be read, its commands exist, it covers what it should."""

import importlib.util
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / ".github" / "workflows" / "checks.yml").read_text()
WORKFLOW = yaml.safe_load(TEXT)
JOBS = WORKFLOW["jobs"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def variants(job):
    """Every choice of a job's matrix."""
    matrix = dict(job.get("strategy", {}).get("matrix", {}))
    found = [{}]
    listed = matrix.pop("include", None)
    for name, values in matrix.items():
        found = [{**one, name: value} for one in found for value in values]
    return listed or found


def filled(text, chosen):
    """A text with the values of a matrix in it; what it does not have is empty."""
    return re.sub(r"\$\{\{ *matrix\.(\w+) *\}\}", lambda m: str(chosen.get(m[1], "")), text)


def steps():
    """(job, choice, command) of all that is run."""
    for name, job in JOBS.items():
        for chosen in variants(job):
            for step in job["steps"]:
                asked = re.fullmatch(
                    r"(?:\$\{\{ *)?(!?)matrix\.(\w+)(?: *\}\})?", step.get("if", "")
                )
                wanted = asked is None or bool(chosen.get(asked[2])) is not bool(asked[1])
                if "run" in step and wanted:
                    yield name, chosen, filled(step["run"], chosen)


COMMANDS = sorted({command for _, _, command in steps()})


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_one_that_a_shell_can_read_and_whose_parts_exist(command):
    read = subprocess.run(["bash", "-n"], input=command, text=True, capture_output=True)
    assert read.returncode == 0, read.stderr
    assert "matrix." not in command
    for line in re.split(r"&&|\n", command.strip()):
        words = shlex.split(line)
        if words[:2] == ["python", "-m"]:
            assert importlib.util.find_spec(words[2]) is not None
        elif words[:1] == ["python"] or words[:1] == ["bash"]:
            assert (ROOT / words[1]).is_file()
        else:
            assert words[0] in ("echo", "lint-imports")


def test_extras_and_oldest_versions_are_those_of_the_project():
    asked = set(re.findall(r"'\.\[(\w+)\]'", TEXT))
    assert asked <= PROJECT["optional-dependencies"].keys()
    (pins,) = (one["pins"] for one in variants(JOBS["versions"]) if "oldest" in one["name"])
    oldest = dict(pin.split("==") for pin in pins.split())
    for wanted in PROJECT["dependencies"]:
        name, _, version = wanted.partition(">=")
        assert oldest[name].startswith(version)


def test_machines_pythons_and_modes_are_all_there():
    assert set(JOBS) == {"all", "light", "lint", "versions", "explore"}
    light = JOBS["light"]["strategy"]["matrix"]
    assert light["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert {os.partition("-")[0] for os in light["os"]} == {"ubuntu", "macos"}
    assert any(os.endswith("-arm") for os in light["os"])
    named = {one["name"]: one for one in variants(JOBS["versions"])}
    assert any("newest" in name for name in named)
    (narrow,) = (one for name, one in named.items() if "AVX-512" in name)
    assert narrow["cpu"] == "x86-64-v3"
    ran = {(job, command) for job, chosen, command in steps()}
    assert ("all", "bash .ci/run") in ran
    assert ("versions", "python tests/run_checks.py --interpreted") in ran
    assert ("explore", "python tests/exploring.py 10") in ran
    assert any(job == "light" and command.endswith("--light") for job, command in ran)


def test_jobs_need_jobs_that_exist_and_end_in_time():
    for job in JOBS.values():
        needs = job.get("needs", [])
        assert {needs} if isinstance(needs, str) else set(needs) <= JOBS.keys()
        assert 0 < job["timeout-minutes"] <= 120
        assert all(set(step) & {"run", "uses"} for step in job["steps"])
    assert WORKFLOW["permissions"] == {"contents": "read"}


def test_property_tests_explore_on_a_schedule():
    when = WORKFLOW[True]  # YAML 1.1 reads the key `on` as a truth
    (weekly,) = when["schedule"]
    assert len(weekly["cron"].split()) == 5
    assert "schedule" not in JOBS["explore"]["if"]
    assert "!= 'push'" in JOBS["explore"]["if"]
