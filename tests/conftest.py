"""What holds for all tests. With SKODYN_LIGHT=1 nothing of PEERS can be imported."""

import os
import sys

import pytest

PEERS = {
    "dm_control",
    "example_robot_data",
    "gymnasium",
    "mujoco",
    "pinocchio",
    "playwright",
    "sphinx",
}


class NoPeers:
    """A finder of modules that refuses the other libraries, as if they were not installed."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in PEERS:
            raise ModuleNotFoundError(f"{name} is a peer, which light tests do not need", name=name)


if os.environ.get("SKODYN_LIGHT") == "1":
    sys.meta_path.insert(0, NoPeers())


@pytest.fixture(autouse=True)
def _registries_as_they_were():
    """What a test or the example of a page registers is forgotten behind it."""
    from skodyn import registry

    before = {id(kind): dict(kind._others) for kind in registry._ALL}
    yield
    for kind in registry._ALL:
        known = before.get(id(kind), {})
        if kind._others != known:
            kind._others.clear()
            kind._others.update(known)


@pytest.fixture(scope="module")
def page_of(tmp_path_factory):
    """Opens the page of a recording in a browser: (page, requests, complaints)."""
    import browser
    from skodyn.view.document import replay_page

    if not browser.CHROMIUM:
        pytest.skip(browser.WITHOUT)
    path = tmp_path_factory.mktemp("pages") / "run.html"
    with browser.chromium() as started:

        def opened(recording):
            path.write_text(replay_page(recording), encoding="utf-8")
            return browser.open_page(started, path.as_uri())

        yield opened
