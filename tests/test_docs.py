"""The documentation runs: every Python block, every command marked to run, every link.

Blocks of one page share a namespace and a folder that holds a copy of scenarios/, in the order of
the page. A ```bash block right after <!-- run --> is executed line by line and must succeed; any
block right after <!-- file: NAME --> is saved in the folder under that name.
"""

import re
import shlex
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

import skodyn
from skodyn.cli import main

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"(?P<marker><!-- run -->\s*)?(?:<!-- file: (?P<file>[\w.]+) -->\s*)?"
    r"^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.M | re.S,
)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def name_of(page):
    return page.relative_to(ROOT).as_posix()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["docs"])
    return tmp_path


def run_command(line):
    words = shlex.split(line, comments=True)
    if words:
        assert words[0] == "skodyn", f"only skodyn can be run here, not {words[0]}"
        assert main(words[1:]) == 0, line


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_of_a_page_runs(page, folder):
    text = page.read_text()
    namespace = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        line = text[: block.start("text")].count("\n")
        if block["file"]:
            (folder / block["file"]).write_text(block["text"])
        if block["language"] == "python":
            source = "\n" * line + block["text"]  # line numbers of a traceback are the page's
            exec(compile(source, name_of(page), "exec"), namespace)
        if block["language"] == "toml":
            tomllib.loads(block["text"])
        if block["language"] == "bash" and block["marker"]:
            for command in block["text"].replace("\\\n", " ").splitlines():
                run_command(command)


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
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert sorted(pages - set(LINK.findall(index))) == []


def test_the_page_of_functions_has_every_public_name():
    text = (ROOT / "docs" / "functions.md").read_text()
    named = set(re.findall(r"`(?:sk\.)?(\w+)", text))
    assert sorted(set(skodyn.__all__) - named) == []
