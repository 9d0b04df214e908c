"""The blocks of a page of the documentation, run in its order, with what they print.

A block right after <!-- file: NAME --> is saved under that name; a ```bash block right after
<!-- run --> is executed line by line. An ```output block right below a block that ran is what it
printed. It is compared word by word, numbers to what rounding may change, and … stands for
anything: times, sizes, names of folders.
"""

import contextlib
import io
import re
import shlex
import tomllib
from pathlib import Path
from typing import NamedTuple

from skodyn.cli import main

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(
    r"(?P<marker><!-- run -->\s*)?(?:<!-- file: (?P<file>[\w.]+) -->\s*)?"
    r"^```(?P<language>\w*)\n(?P<text>.*?)^```$"
    r"(?:\n\n```output\n(?P<output>.*?)^```$)?",
    re.M | re.S,
)
NUMBER = re.compile(r"[-+−]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
CLOSE, SMALL = 1e-5, 1e-9


class Printed(NamedTuple):
    """A block that was run, and what it wrote to standard output."""

    block: re.Match[str]
    line: int
    text: str


def run_page(page, folder):
    """Runs every block of a page in the present folder; yields those that can print."""
    text = page.read_text(encoding="utf-8")
    namespace = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        line = text[: block.start("text")].count("\n")
        if block["file"]:
            (folder / block["file"]).write_text(block["text"], encoding="utf-8")
        if block["language"] == "toml":
            tomllib.loads(block["text"])
        with contextlib.redirect_stdout(io.StringIO()) as said:
            if block["language"] == "python":
                source = "\n" * line + block["text"]  # line numbers of a traceback are the page's
                exec(compile(source, page.relative_to(ROOT).as_posix(), "exec"), namespace)
            if block["language"] == "bash" and block["marker"]:
                for command in block["text"].replace("\\\n", " ").splitlines():
                    _run_command(command)
        yield Printed(block, line, said.getvalue())


def _run_command(line):
    words = shlex.split(line, comments=True)
    if words:
        assert words[0] == "skodyn", f"only skodyn can be run here, not {words[0]}"
        assert main(words[1:]) == 0, line


def agrees(shown, printed):
    """Whether a page shows what was printed."""
    pieces = [_words(piece) for piece in shown.split("…")]
    words, at = _words(printed), 0
    for n, piece in enumerate(pieces):
        last = len(words) - len(piece)
        starts = [at] if n == 0 else [last] if n == len(pieces) - 1 else range(at, last + 1)
        found = [i for i in starts if at <= i <= last and _alike(piece, words[i : i + len(piece)])]
        if not found:
            return False
        at = found[0] + len(piece)
    return at == len(words)


def _words(text):
    """Words, numbers and signs, without the space between them."""
    return re.findall(rf"{NUMBER.pattern}|[^\W\d]+|[^\w\s]", text)


def _alike(shown, printed):
    return all(map(_same, shown, printed))


def _same(a, b):
    if a == b or not (NUMBER.fullmatch(a) and NUMBER.fullmatch(b)) or (a + b).isdigit():
        return a == b
    x, y = (float(word.replace("−", "-")) for word in (a, b))
    return abs(x - y) <= SMALL + CLOSE * max(abs(x), abs(y))
