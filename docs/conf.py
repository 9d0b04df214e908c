"""Settings of the HTML build: `sphinx-build -W -c docs . site`, then open site/README.html.

The whole repository is the source, because pages of docs/ link to READMEs outside it.
"""

from pathlib import Path

ROOT = Path(__file__).parent.parent

project = "skodyn"
author = "The skodyn developers"
extensions = ["myst_parser"]
root_doc = "README"
source_suffix = {".md": "markdown"}
include_patterns = ["*.md", "docs/*.md", "benchmarks/README.md", "scenarios/README.md"]
html_theme = "alabaster"
html_theme_options = {"description": "multibody dynamics with the spatial operator algebra"}
html_copy_source = False
highlight_language = "none"


def with_contents(app, name, source):
    """Sphinx wants each page in a table of contents; the README reads well without one."""
    if name == root_doc:
        found = {path for pattern in include_patterns for path in ROOT.glob(pattern)}
        pages = sorted(path.relative_to(ROOT).with_suffix("").as_posix() for path in found)
        pages = "\n".join(page for page in pages if page != root_doc)
        source[0] += f"\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"


def setup(app):
    app.connect("source-read", with_contents)
