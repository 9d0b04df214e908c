"""Run the notebooks' sources and store what they print: `python docs/make_notebooks.py`.

Every docs/notebooks/NAME.py is cells between lines `# %%` (code) and `# %% [markdown]` (text, each
line behind `# `). They are executed here, without Jupyter, and written with their outputs to
NAME.ipynb. With --check nothing is written; the exit code is 1 if a stored notebook is not current.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "notebooks"
MARK = re.compile(r"^# %%( \[markdown\])?$", re.MULTILINE)


def cells_of(source: str) -> list[tuple[str, str]]:
    """(kind, text) of every cell."""
    marks = list(MARK.finditer(source))
    ends = [mark.start() for mark in marks[1:]] + [len(source)]
    found = []
    for mark, end in zip(marks, ends, strict=True):
        body = source[mark.end() : end].strip("\n")
        if mark[1]:
            found.append(("markdown", re.sub(r"^# ?", "", body, flags=re.MULTILINE)))
        else:
            found.append(("code", body))
    return found


def run_cell(text: str, namespace: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Execute a cell; what it printed, and the value of a last line that is an expression."""
    tree = ast.parse(text)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        stream = {"output_type": "stream", "name": "stdout", "text": lines(printed.getvalue())}
        outputs.append(stream)
    if value is not None:
        data = {"text/plain": lines(repr(value))}
        if hasattr(value, "_repr_latex_"):
            data["text/latex"] = lines(value._repr_latex_())
        result = {"output_type": "execute_result", "metadata": {}, "data": data}
        outputs.append({**result, "execution_count": count})
    return outputs


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def notebook_of(source: str) -> str:
    """The executed notebook as the text of its file."""
    cells: list[dict[str, Any]] = []
    namespace: dict[str, Any] = {"__name__": "__main__"}
    count = 0
    for number, (kind, text) in enumerate(cells_of(source)):
        cell = {"id": f"cell-{number}", "cell_type": kind, "metadata": {}, "source": lines(text)}
        if kind == "code":
            count += 1
            cell["execution_count"] = count
            cell["outputs"] = run_cell(text, namespace, count)
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    book = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    stale = []
    for source in sorted(FOLDER.glob("*.py")):
        target = source.with_suffix(".ipynb")
        text = notebook_of(source.read_text(encoding="utf-8"))
        if "--check" not in arguments:
            target.write_text(text, encoding="utf-8")
            print(f"wrote {target.name}")
        elif not target.exists() or target.read_text(encoding="utf-8") != text:
            stale.append(target.name)
    for name in stale:
        print(f"{name} is not current; run python docs/make_notebooks.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
