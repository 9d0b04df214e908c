"""How much of the kernels is scaffolding: lines of imports and entry points among all lines.

    python benchmarks/scaffolding.py [--files]

Entry points are functions under `@kernel`, and statements in which `one_state`, `batch`,
`solve_kernel` or their like make a kernel of a sweep. With --files each file has a row. The
formatter gives each imported name a line of its own, so the share of characters says more than that
of lines about how much there is to read.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import NamedTuple

KERNELS = Path(__file__).parent.parent / "src" / "skodyn" / "kernels"
MAKERS = {"one_state", "batch", "solve_kernel", "_entry", "kernel", "brief_kernel"}


class Counts(NamedTuple):
    lines: int
    imports: int
    entries: int
    characters: int
    scaffolding: int  # characters of imports and entry points


def span(node: ast.stmt) -> slice:
    """The lines of a statement, with its decorators."""
    first = min((d.lineno for d in getattr(node, "decorator_list", [])), default=node.lineno)
    return slice(first - 1, node.end_lineno)


def called(node: ast.expr | None) -> str:
    while isinstance(node, ast.Call):
        node = node.func
    return node.id if isinstance(node, ast.Name) else ""


def is_entry_point(node: ast.stmt) -> bool:
    if isinstance(node, ast.FunctionDef):
        return any(called(decorator) in MAKERS for decorator in node.decorator_list)
    return isinstance(node, ast.Assign) and called(node.value) in MAKERS


def measure(path: Path) -> Counts:
    text = path.read_text()
    lines, body = [line.strip() for line in text.splitlines()], ast.parse(text).body
    imports = [span(node) for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    entries = [span(node) for node in body if is_entry_point(node)]
    counts = [sum(len(lines[part]) for part in parts) for parts in (imports, entries)]
    scaffolding = sum(len(line) for part in (*imports, *entries) for line in lines[part])
    return Counts(len(lines), *counts, sum(map(len, lines)), scaffolding)


def row(name: str, counts: Counts) -> str:
    by_lines = 100.0 * (counts.imports + counts.entries) / max(counts.lines, 1)
    by_characters = 100.0 * counts.scaffolding / max(counts.characters, 1)
    shares = f"{by_lines:7.1f} % {by_characters:11.1f} %"
    return f"{name:36} {counts.lines:6} {counts.imports:8} {counts.entries:8} {shares}"


def main() -> None:
    found = {path: measure(path) for path in sorted(KERNELS.rglob("*.py"))}
    print(f"{'file':36} {'lines':>6} {'imports':>8} {'entries':>8}  of lines of characters")
    if "--files" in sys.argv[1:]:
        for path, counts in sorted(found.items(), key=lambda item: -item[1].imports):
            print(row(str(path.relative_to(KERNELS)), counts))
    print(row("all kernels", Counts(*map(sum, zip(*found.values(), strict=True)))))


if __name__ == "__main__":
    main()
