"""No function of the package stands twice: what two places need has one seam.

Rules of joint properties, entry points of batches and displays of progress did once.
"""

import ast
from collections import defaultdict
from pathlib import Path

import skodyn as sk

SOURCE = Path(sk.__file__).parent
LEAST = 6  # lines of a body, without its docstring


def bodies():
    """(place, text of the body) of every function that is long enough."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lines = ast.unparse(body).splitlines() if body else []
                if len(lines) >= LEAST:
                    yield f"{path.relative_to(SOURCE)}:{node.name}", "\n".join(lines)


def test_no_function_stands_twice():
    found = defaultdict(list)
    for place, text in bodies():
        found[text].append(place)
    assert [places for places in found.values() if len(places) > 1] == []
