"""Settings of the HTML build: `sphinx-build -W -c docs . site`, then open site/README.html.

The whole repository is the source, because pages of docs/ link to READMEs outside it.
"""

import inspect
import re
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "src"))  # the reference is that of this tree
sys.path.insert(0, str(ROOT / "docs"))

project = "skodyn"
author = "The skodyn developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "mathml"]
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath"]
napoleon_google_docstring = False
napoleon_use_param = napoleon_use_rtype = False  # shapes are no names to link
autodoc_typehints = "none"  # numpydoc sections say more than annotations
autodoc_member_order = "bysource"
default_role = "py:obj"
myst_heading_anchors = 3
root_doc = "README"
source_suffix = {".md": "markdown"}
include_patterns = [
    "*.md",
    "docs/*.md",
    "docs/days/*.md",
    "benchmarks/README.md",
    "scenarios/README.md",
]
html_theme = "alabaster"
html_theme_options = {
    "description": "multibody dynamics with the spatial operator algebra",
    "page_width": "1280px",
    "body_max_width": "none",
}
html_sidebars = {"**": ["menu.html"]}
templates_path = ["templates"]
html_static_path = ["pages.css"]
html_css_files = ["pages.css"]
html_copy_source = False
highlight_language = "none"


def with_contents(app, name, source):
    """Sphinx wants a table of contents: the README, which reads well without, gets the index's,
    a list for each of its headings."""
    if name != root_doc:
        return
    source[0] += contents("Documentation", ["docs/README", "benchmarks/README"])
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for part in index.split("\n## ")[1:]:
        links = re.findall(r"\]\(([^)#:]+)\.md\)", part)
        pages = [f"docs/{link}".replace("docs/../", "") for link in links]
        source[0] += contents(part.partition("\n")[0], [p for p in pages if p != root_doc])


def contents(caption, pages):
    pages = "\n".join(pages)
    return f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{pages}\n```\n"


GROUPS = {  # by the packages in which public names live; the first that fits
    "Dynamics": ("skodyn.dynamics", "skodyn.model.loops.assembly"),
    "Models": ("skodyn.model", "skodyn.io", "skodyn.topology"),
    "Simulation": ("skodyn.simulation", "skodyn.scenario", "skodyn.channels", "skodyn.registry"),
    "Sweeps": ("skodyn.sweeps",),
    "Operators and general models": ("skodyn.algebra", "skodyn.sko"),
    "Errors": ("skodyn.errors",),
    "Further": ("skodyn",),
}


def entry(path, thing):
    """The directive of autodoc for one name."""
    if inspect.isclass(thing):
        kind, options = "class", ":members:\n:show-inheritance:"
        if issubclass(thing, BaseException):
            kind, options = "exception", ":show-inheritance:"
    elif inspect.isroutine(thing):
        kind, options = "function", ""
    else:
        kind, options = "data", ":no-value:"
    lines = [f".. auto{kind}:: {path}", *(f"   {line}" for line in options.splitlines())]
    return "\n".join(lines)


def reference():
    """Directives for all that is public, by groups; modules have their lists at the end."""
    import skodyn as sk

    names = [name for name in sk.__all__ if name != "__version__"]
    things = {name: getattr(sk, name) for name in names}
    modules = {n: m for n, m in things.items() if isinstance(m, ModuleType)}
    parts, left = [], {n: t for n, t in things.items() if n not in modules}
    for title, homes in GROUPS.items():
        mine = [n for n in left if f"{sk._MODULE_OF[n]}.".startswith(tuple(f"{h}." for h in homes))]
        blocks = [entry(f"skodyn.{name}", left.pop(name)) for name in sorted(mine, key=str.lower)]
        parts.append(section(title, blocks))
    for name, module in modules.items():
        if name == "typing":
            parts.append(section("sk.typing", names_of_types(module)))
            continue
        inside = [n for n in sorted(module.__all__) if getattr(module, n) is not things.get(n)]
        blocks = [entry(f"skodyn.{name}.{n}", getattr(module, n)) for n in inside]
        first = (inspect.getdoc(module) or "").partition("\n")[0]
        parts.append(section(f"sk.{name}", [first, *blocks]))
    return "\n".join(parts)


def names_of_types(module):
    """Aliases have no docstrings that Python keeps: they stand below them in the source."""
    found = re.findall(
        r'^(\w+): TypeAlias = .*?\n"""(.*?)"""', inspect.getsource(module), re.M | re.S
    )
    return [f"``{name}``\n   {' '.join(text.split())}" for name, text in found]


def section(title, blocks):
    body = "\n\n".join(block for block in blocks if block)
    return f"\n## {title}\n\n```{{eval-rst}}\n{body}\n```\n" if body else ""


def with_reference(app, name, source):
    if name == "docs/api":
        source[0] = source[0].replace("<!-- reference -->", reference())


def setup(app):
    app.connect("source-read", with_contents)
    app.connect("source-read", with_reference)
