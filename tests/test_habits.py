"""Files around the code agree with it: changelog, citation, hooks, the forge's workflow."""

import re
import shlex
import tomllib
from pathlib import Path

import run_checks

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_version_is_one_in_project_citation_and_changelog():
    (cited,) = re.findall(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    changes = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert changes[0] == "Unreleased"
    assert [cited, changes[1]] == [PROJECT["version"]] * 2


def commands(path):
    """What a YAML file of hooks or jobs has run, line by line."""
    text = (ROOT / path).read_text()
    found = re.findall(r"^\s*(?:- )?(?:run|entry): (?!\|)(.*)$", text, re.M)
    return [part.strip() for line in found for part in line.split("&&")]


def test_hooks_run_what_the_checks_run():
    hooks = [shlex.split(entry)[1:] for entry in commands(".pre-commit-config.yaml")]
    checks = {name: arguments for name, arguments in run_checks.CHECKS if name != "kernels"}
    # a hook is given single files, also those that the settings leave out
    assert hooks[0] == [*checks["lint"][:4], "--force-exclude"]
    # and repairs what a check reports
    assert hooks[1] == ["-m", "ruff", "format", "--quiet", "--force-exclude"]
    assert hooks[2:4] == [checks["types"], checks["import layers"]]


def test_what_hooks_and_workflow_run_exists():
    words = [shlex.split(c) for c in commands(".github/workflows/checks.yml")]
    words += [shlex.split(c) for c in commands(".pre-commit-config.yaml")]
    files = [w for line in words for w in line if re.fullmatch(r"[\w./]+\.py|\.ci/run", w)]
    assert len(files) > 5
    assert [name for name in files if not (ROOT / name).exists()] == []
    options = {w for line in words for w in line if w in ("--light", "--interpreted")}
    assert options == {"--light", "--interpreted"}


def test_the_workflow_tries_the_oldest_versions_that_the_project_allows():
    text = (ROOT / ".github" / "workflows" / "checks.yml").read_text()
    oldest = dict(re.findall(r"(\w+)==([\d.]+)", text))
    for wanted in PROJECT["dependencies"]:
        name, _, version = wanted.partition(">=")
        assert oldest[name].startswith(version)
    lowest = PROJECT["requires-python"].removeprefix(">=")
    assert f'python: "{lowest}"' in text
