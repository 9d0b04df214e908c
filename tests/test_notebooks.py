"""The notebooks in docs/ run, and what is stored in them is what they print today."""

import importlib.util
import json
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
SOURCES = sorted((DOCS / "notebooks").glob("*.py"))


def maker():
    found = importlib.util.spec_from_file_location("make_notebooks", DOCS / "make_notebooks.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_stored_notebook_is_what_its_source_gives_now(source):
    stored = json.loads(source.with_suffix(".ipynb").read_text(encoding="utf-8"))
    fresh = json.loads(maker().notebook_of(source.read_text(encoding="utf-8")))
    for old, new in zip(stored["cells"], fresh["cells"], strict=True):
        assert old == new, "run python docs/make_notebooks.py"
    assert stored == fresh


def test_there_is_a_notebook_and_no_source_is_missing():
    assert {path.stem for path in SOURCES} == {p.stem for p in (DOCS / "notebooks").glob("*.ipynb")}
    assert "operators" in {path.stem for path in SOURCES}
