"""The documentation runs: every Python block, every command marked to run, every link.

Blocks of one page share a namespace and a folder that holds a copy of scenarios/, in the order of
the page; what a block printed stands below it (pages.py).
"""

import re
import shutil
import sys
from pathlib import Path

import pytest

import skodyn
from pages import agrees, run_page

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
REMEDY = "write what pages print anew: python docs/write_outputs.py PAGE"
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def name_of(page):
    return page.relative_to(ROOT).as_posix()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["docs"])
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_of_a_page_runs(page, folder):
    for block, line, printed in run_page(page, folder):
        shown = block["output"]
        if printed and (shown is not None or block["language"] == "python"):
            place = f"{name_of(page)}:{line}"
            assert agrees(shown or "", printed), f"{place} prints\n{printed}\n{REMEDY}"
        assert printed or shown is None, f"{name_of(page)}:{line} prints nothing"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_of_a_page_leads_somewhere(page):
    missing = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert not missing


INSIDE = {  # where a page shows the inside of the package, and says so
    "docs/howto-debugging.md": {"skodyn.kernels"},
}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_imports_nothing_that_is_not_public(page):
    deep = set(re.findall(r"^(?:from|import) (skodyn\.[\w.]+)", page.read_text(), re.M))
    public = {f"skodyn.{name}" for name in skodyn.__all__}
    assert deep - public <= INSIDE.get(name_of(page), set())


def test_the_index_leads_to_every_page():
    index = (ROOT / "docs" / "README.md").read_text()
    docs = ROOT / "docs"
    pages = {page.relative_to(docs).as_posix() for page in docs.rglob("*.md")} - {"README.md"}
    assert sorted(pages - set(LINK.findall(index))) == []


def test_the_page_of_functions_has_every_public_name():
    text = (ROOT / "docs" / "functions.md").read_text()
    named = set(re.findall(r"`(?:sk\.)?(\w+)", text))
    assert sorted(set(skodyn.__all__) - named) == []


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a 1.5 b", "a  1.5000001\nb", True),
        ("a 1.5 b", "a 1.501 b", False),
        ("error 3e-16", "error -2.1e-15", True),
        ("12 runs", "13 runs", False),
        ("12 runs", "12 runs more", False),
        ("took … s", "took 1.25 s", True),
        ("took … s …", "took 1.25 s and 3 kB", True),
        ("took … s", "took 1.25 s too long", False),
        ("", "a word", False),
    ],
)
def test_output_is_compared_by_words_and_numbers(shown, printed, same):
    assert agrees(shown, printed) == same
