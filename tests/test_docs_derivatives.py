"""The code on the pages about derivatives and the Fixman potential runs as printed."""

import re
from pathlib import Path

import pytest

from skodyn.scenario import parse_scenario

ROOT = Path(__file__).parents[1]


def blocks(page, language):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.parametrize("page", ["derivatives.md", "fixman.md"])
def test_python_blocks_run_in_order(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    names = {}
    found = blocks(page, "python")
    assert len(found) >= 4
    for block in found:
        exec(compile(block, page, "exec"), names)


def test_the_scenario_tables_fit_a_scenario():
    (tables,) = blocks("fixman.md", "toml")
    head, forces = tables.split("\n\n", 1)
    text = f'{head}\nduration = 1.0\n[model]\nfile = "models/trimer.toml"\n{forces}'
    scenario = parse_scenario(text, ROOT / "scenarios")
    assert scenario.thermostat is not None
    assert scenario.thermostat.seed == 1
