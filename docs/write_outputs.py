"""Writes below each block of the pages what it prints.

    python docs/write_outputs.py                # every page
    python docs/write_outputs.py loops days/    # those whose name contains one of these

A Python block that prints has its output below it; of commands, those that have an ```output block
already. What is shown and agrees with what is printed now, … included, is left as it is.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from pages import agrees, run_page  # noqa: E402
from test_docs import PAGES, name_of  # noqa: E402

VOLATILE = {  # what another machine or another hour changes, and what stands for it
    r"[\d,]+ steps/s, [\d.:]+ s": "… steps/s, … s",
    r"[\d.]+ s, [\d,]+ runs/s": "… s, … runs/s",
    r"about [\d.e-]+ s for a run, [\d.e-]+ s on": "about … s for a run, … s on",
    r"planned  in [\d.]+ s": "planned  in … s",
    r"\d+ lanes?": "… lanes",
    r"\d{4}-\d\d-\d\dT\S+ by skodyn \S+": "… by skodyn …",
    r"(?<![.\w])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{12,16}\b": "…",
    r"\d+\.\d+ MB": "… MB",
    r"interrupted at t = \S+ s, step \d+": "interrupted at t = … s, step …",
}


def written(page: Path, folder: Path) -> str:
    """A page with what its blocks print now."""
    text = page.read_text(encoding="utf-8")
    for block, _, printed in reversed(list(run_page(page, folder))):
        shown = block["output"]
        if shown is None and (block["language"] != "python" or not printed):
            continue
        if shown is not None and agrees(shown, printed):
            continue
        below = f"\n\n```output\n{_tidy(printed)}\n```" if printed else ""
        end = re.compile(r"^```$", re.M).search(text, block.end("text")).end()
        text = text[:end] + below + text[block.end() :]
    return text


def _tidy(printed: str) -> str:
    for pattern, word in VOLATILE.items():
        printed = re.sub(pattern, word, printed)
    return "\n".join(line.rstrip() for line in printed.strip("\n").splitlines())


def main(words: list[str]) -> None:
    for page in PAGES:
        if words and not any(word in name_of(page) for word in words):
            continue
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            shutil.copytree(ROOT / "scenarios", "scenarios")
            new = written(page, Path(folder))
        if new != page.read_text(encoding="utf-8"):
            page.write_text(new, encoding="utf-8")
            print(name_of(page), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "100")
    main(sys.argv[1:])
