"""A headless Chromium for the tests of the viewer's page."""

from __future__ import annotations

import io
import os
import shutil
import time
from contextlib import contextmanager

import numpy as np
from PIL import Image

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WITHOUT = "no chromium on this machine; on Debian: apt-get install chromium"


@contextmanager
def chromium():
    """A browser without a window and without a graphics card."""
    from playwright.sync_api import sync_playwright

    arguments = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
    arguments += ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


@contextmanager
def open_page(browser, address, size=(800, 480)):
    """(page, requests, complaints): a page with its player started, every address that it asked
    for, and all that it wrote to the console or threw."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    requests, complaints = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address)
    wait(page, "window.skodyn && window.skodyn.framesDrawn > 0")
    yield page, requests, complaints
    page.close()


def wait(page, expression, seconds=60):
    """Until an expression is true. Playwright's own way evaluates text inside the page, which the
    page's policy forbids."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"never true: {expression}"
        page.wait_for_timeout(30)


def picture(page, of="#scene"):
    """The pixels of an element as they are shown, (height, width, 3)."""
    wait(page, "!window.skodyn.stale")
    page.wait_for_timeout(100)
    shot = page.locator(of).screenshot()
    return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"), dtype=np.int16)


def coloured_share(image):
    """The share of pixels with a strong colour: bodies have one, floor and sky have none."""
    return float(((image.max(axis=2) - image.min(axis=2)) > 60).mean())


def changed_share(before, after):
    return float((np.abs(before - after).max(axis=2) > 25).mean())


# Where a body is seen: of all pixels the one that is farthest inside it, since rods may be thin.
_SPOT = """(body) => {
  const { renderer, view, shown } = skodyn, { width, height } = renderer.canvas, gl = renderer.gl;
  renderer.pick(0, 0, view, shown);
  const seen = new Uint8Array(4 * width * height);
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, seen);
  const is = (i, j) => {
    const k = 4 * (j * width + i);
    return seen[k] + 256 * seen[k + 1] - 1 === body;
  };
  let best = null, most = -1;
  for (let j = 4; j < height - 4; j++) for (let i = 4; i < width - 4; i++) {
    if (!is(i, j)) continue;
    let around = 0;
    while (around < 4 && [[-1, 0], [1, 0], [0, -1], [0, 1]]
      .every(([a, b]) => is(i + a * (around + 1), j + b * (around + 1)))) around++;
    if (around > most) { most = around; best = [(i + 0.5) / width, 1 - (j + 0.5) / height]; }
  }
  return best;
}"""


def spot(page, body):
    """Where on the page a body is seen, (x, y), to put the pointer on it."""
    share = page.evaluate(_SPOT, body)
    page.evaluate("skodyn.stale = true")
    assert share is not None, f"body {body} is not seen"
    box = page.locator("#scene").bounding_box()
    return box["x"] + share[0] * box["width"], box["y"] + share[1] * box["height"]
