"""Settings of the HTML build: `sphinx-build -W -c docs . site`, then open site/README.html.

The whole repository is the source, because pages of docs/ link to READMEs outside it.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent

project = "skodyn"
author = "The skodyn developers"
extensions = ["myst_parser"]
root_doc = "README"
source_suffix = {".md": "markdown"}
include_patterns = ["*.md", "docs/*.md", "benchmarks/README.md", "scenarios/README.md"]
html_theme = "alabaster"
html_theme_options = {
    "description": "multibody dynamics with the spatial operator algebra",
    "page_width": "1280px",
    "body_max_width": "none",
}
html_static_path = ["pages.css"]
html_css_files = ["pages.css"]
html_copy_source = False
highlight_language = "none"


def with_contents(app, name, source):
    """Sphinx wants a table of contents: the README, which reads well without, gets the index's."""
    if name == root_doc:
        links = re.findall(r"\]\(([^)#:]+)\.md\)", (ROOT / "docs" / "README.md").read_text())
        pages = [f"docs/{link}".replace("docs/../", "") for link in links]
        pages = "\n".join(["docs/README", *pages, "benchmarks/README"]).replace("\nREADME\n", "\n")
        source[0] += f"\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"


def setup(app):
    app.connect("source-read", with_contents)
