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
