"""The code of docs/sko.md runs from top to bottom, and its tables name what exists."""

import re
from pathlib import Path

import skodyn as sk

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "sko.md").read_text()


def test_the_code_of_the_page_runs(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 7
    names = {}
    for block in blocks:
        exec(compile(block, "docs/sko.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "Node 'motor': the rows of H (1×1)" in printed


def test_the_table_lists_every_function():
    table = PAGE[PAGE.index("## What there is") : PAGE.index("## Misprints")]
    listed = set(re.findall(r"`(\w+)(?:\(.*?\))?`", table))
    functions = {name for name in sk.sko.__all__ if name.islower()}
    assert functions <= listed
