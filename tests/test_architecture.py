"""docs/ARCHITECTURE.md draws the layers as pyproject.toml has them."""

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "ARCHITECTURE.md").read_text()


def layers():
    """From the top: for each layer the packages that stand side by side in it."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contract = settings["tool"]["importlinter"]["contracts"][0]
    return [{name.strip().removeprefix("skodyn.") for name in layer.split("|")}
            for layer in contract["layers"]]  # fmt: skip


def test_the_drawing_has_the_layers_of_the_import_contract_in_their_order():
    block = re.search(r"<!-- layers -->\n```\n(.*?)```", PAGE, re.S)
    lines = [line for line in block[1].splitlines() if line.strip(" │")]
    drawn = [set(re.split(r"\s{2,}", line.strip())[0].split(" · ")) for line in lines]
    assert drawn == layers()


def test_every_package_is_in_a_layer_and_in_the_table():
    packages = {
        path.stem for path in (ROOT / "src" / "skodyn").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    } - {"__init__", "__main__"}  # fmt: skip
    assert packages == set().union(*layers())
    table = PAGE.partition("## What each package is responsible for")[2].partition("\n## ")[0]
    first_cells = "".join(line.split("|")[1] for line in table.splitlines() if line.startswith("|"))
    assert packages == set(re.findall(r"`(\w+)`", first_cells))


def test_every_file_that_the_page_names_exists():
    named = set(re.findall(r"\b[a-z_]+/[a-z_/]+(?:\.py|\.c)?\b", PAGE))
    known = {name for name in named if name.split("/")[0] in set().union(*layers())}
    missing = [name for name in known if not (ROOT / "src" / "skodyn" / name).exists()]
    assert len(known) > 10
    assert missing == []


def test_every_file_that_the_guides_name_exists():
    page = (ROOT / "CONTRIBUTING.md").read_text()
    guides = page.partition("## Add an algorithm")[2].partition("## Write a page")[0]
    named = set(re.findall(r"`([\w.]+/[\w./]*)`", guides))
    places = (ROOT, ROOT / "src", ROOT / "src" / "skodyn")
    missing = [name for name in named if not any((at / name).exists() for at in places)]
    assert len(named) > 20
    assert missing == []


FILES = {
    ".".join(file.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__"): file
    for file in (ROOT / "src").rglob("*.py")
}
"""Every module of the package by its name."""


def imported_at_once(module):
    """Modules of the package that a module imports when it is imported itself."""
    found, left = set(), list(ast.parse(module.read_text()).body)
    while left:
        node = left.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.If | ast.Try):
            left += ast.iter_child_nodes(node)
    return found


def test_no_modules_import_one_another_in_a_circle():
    """Neither inside a package nor between them; a package may import what is in it."""
    graph = {
        name: {
            other
            for other in imported_at_once(file) & FILES.keys()
            if other != name and not name.startswith(f"{other}.")
        }
        for name, file in FILES.items()
    }
    assert sum(map(len, graph.values())) > 1000
    while free := {name for name, needs in graph.items() if not needs & graph.keys()}:
        graph = {name: needs for name, needs in graph.items() if name not in free}
    assert not graph, f"these need one another: {', '.join(sorted(graph))}"


def modules_of(node):
    """What one import statement imports; a name that is no module stands for its module."""
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    inner = [f"{node.module}.{name.name}" for name in node.names]
    return [name if name in FILES else node.module for name in inner]


def reached(name, graph, packages):
    """Modules that are there once this one is imported; with packages, those around them, too."""
    found, left = set(), [name]
    while left:
        one = left.pop()
        if one in found or one not in graph:
            continue
        found.add(one)
        left += graph[one]
        if packages and "." in one:
            left.append(one.rpartition(".")[0])
    return found


def test_an_import_inside_a_function_saves_time_or_breaks_a_circle():
    """What is imported anyway stands at the top, unless it builds on the file that asks for it."""
    graph = {name: imported_at_once(file) & FILES.keys() for name, file in FILES.items()}
    graph["skodyn"] = set()  # the front page is lazy
    idle, looked_at = [], 0
    for name, file in FILES.items():
        there = reached(name, graph, packages=True)
        functions = [
            n for n in ast.walk(ast.parse(file.read_text())) if isinstance(n, ast.FunctionDef)
        ]
        for node in {n for f in functions for n in ast.walk(f)}:
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            looked_at += 1
            for one in modules_of(node):
                launch = one == "skodyn.jit"  # its module in C, which may be missing
                if one in there and not launch and name not in reached(one, graph, packages=False):
                    idle.append(f"{name}, line {node.lineno}: {one}")
    assert looked_at > 100
    assert idle == []
