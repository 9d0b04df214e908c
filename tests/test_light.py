"""The light subset of the tests needs no peer, and the command that explores finds its files."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import exploring
import run_checks
from conftest import PEERS

ROOT = Path(__file__).parent.parent
FILES = run_checks.files(run_checks.LIGHT)


@pytest.mark.large
def test_the_light_subset_can_be_collected_where_no_peer_is_installed():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", *FILES],
        env=os.environ | {"SKODYN_LIGHT": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:]


def test_peers_are_kept_out_of_light_tests():
    code = "import conftest, mujoco"
    environment = os.environ | {"SKODYN_LIGHT": "1", "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert "mujoco is a peer, which light tests do not need" in done.stderr


def test_the_extra_for_light_tests_names_no_peer_and_is_part_of_that_for_all():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert set(extras["light"]) < set(extras["test"])
    names = {word.partition(">=")[0] for word in extras["light"]}
    assert not names & (PEERS | {"pin"})


def test_every_property_test_takes_its_examples_from_one_place():
    """Else an exploring run would look at the same examples again."""
    with_properties = [
        path for path in Path(__file__).parent.glob("test_*.py") if "@given(" in path.read_text()
    ]
    explored = exploring.files_that_explore()
    missing = [p.name for p in with_properties if str(p) not in explored and p.name != __file__]
    assert [name for name in missing if name != Path(__file__).name] == []


@pytest.mark.parametrize(
    ("environment", "count", "alike"),
    [({}, 5, True), ({"SKODYN_EXPLORE": "2"}, 6, False), ({"SKODYN_SEEDS": "7,9"}, 2, True)],
)
def test_seeds_are_a_fixed_list_unless_one_explores(environment, count, alike):
    code = "import exploring; print(exploring.seeds(3, slow=2))"
    clean = {k: v for k, v in os.environ.items() if not k.startswith("SKODYN_")}
    said = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=clean | environment,
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    assert said[0].count(",") + 1 >= count
    assert (said[0] == said[1]) is alike
