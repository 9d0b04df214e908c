"""The picture of a run as it goes in docs/plots-and-viewer.md; made by make_pictures.py."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def watched_run(scenario: Path, log: Path) -> Iterator[str]:
    """The address of the page of `skodyn run --view`, in a process that ends with it."""
    command = [sys.executable, "-m", "skodyn", "run", str(scenario), "-o", str(log)]
    process = subprocess.Popen(
        [*command, "--overwrite", "--view", "--no-browser"], stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        found = re.search(r"http://\S+/", process.stderr.readline())
        assert found is not None, "the run has no page"
        yield found[0]
    finally:
        process.kill()
        process.communicate()


def pull_slowly(page: Any) -> None:
    """Slow the run down, take hold of its first body and pull, until the springs have moved it."""
    import browser  # of the tests

    browser.wait(page, "skodyn.live.frame && skodyn.live.frame.t > 0.05")
    page.locator("#speed").select_option("0.25")
    x, y = browser.spot(page, 0)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 120, y - 150, steps=5)
    browser.wait(page, "skodyn.live.frame.touched !== null")
    browser.wait(page, "skodyn.live.frame.t > skodyn.live.frame.touched + 0.25")
    page.keyboard.press("Space")
    browser.wait(page, "skodyn.live.frame.state === 'paused'")
