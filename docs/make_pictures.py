"""Makes the pictures of README and docs from the shipped scenarios.

    python docs/make_pictures.py             # all of them, into docs/pictures/
    python docs/make_pictures.py pendulum    # those whose name contains this

Needs the extras plot and view; the screenshot needs playwright and Debian's chromium as well.
tests/test_pictures.py draws some frames anew and compares them with the files.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from skodyn.io import load
from skodyn.io.trajectory import Trajectory
from skodyn.io.trajectory import open as open_trajectory
from skodyn.scenario import parse_scenario, read_scenario
from skodyn.scenario.running import run_scenario
from skodyn.sweeps.running import sweep
from skodyn.view.document import replay_page
from skodyn.view.gif import film
from skodyn.view.plots import force_picture, save, sheet, sparsity_picture, study_picture
from skodyn.view.recording import record

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "scenarios"
PICTURES = ROOT / "docs" / "pictures"
FILM = {"size": (480, 360), "fps": 20}
SLOW = 0.4  # pace of the rag doll, whose fall takes two seconds
SCREEN = (1200, 700)
ONE_PERIOD = (("duration = 20.0", "duration = 5.0"),)
ONE_SWAY = (("duration = 10.0", "duration = 5.0"),)
ONE_STEP = (("duration = 6.0", "duration = 2.0"),)


@cache
def run_of(name: str, changes: tuple[tuple[str, str], ...] = ()) -> Trajectory:
    """A shipped scenario, run now, with some of its text replaced; logs lie in a temporary
    folder until this process ends."""
    path = SCENARIOS / f"{name}.toml"
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, f"{path} has no {old!r}"
        text = text.replace(old, new)
    scenario = parse_scenario(text, SCENARIOS) if changes else read_scenario(path)
    log = _folder() / f"{name}{'-changed' * bool(changes)}.h5"
    run_scenario(scenario, log, overwrite=True)
    return open_trajectory(log)


@cache
def _folder() -> Path:
    import atexit

    folder = Path(tempfile.mkdtemp(prefix="pictures-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def pendulum_film(target: Path) -> None:
    target.write_bytes(film(record(run_of("double_pendulum")), **FILM))


def doll_film(target: Path) -> None:
    target.write_bytes(film(record(run_of("rag_doll")), speed=SLOW, **FILM))


def chain_film(target: Path) -> None:
    target.write_bytes(film(record(run_of("whipping_chain")), speed=0.5, **FILM))


def bricard_film(target: Path) -> None:
    target.write_bytes(film(record(run_of("bricard", ONE_PERIOD)), speed=1.0, **FILM))


def stewart_film(target: Path) -> None:
    target.write_bytes(film(record(run_of("stewart", ONE_SWAY)), speed=1.0, **FILM))


def jansen_film(target: Path) -> None:
    target.write_bytes(film(record(run_of("jansen_leg", ONE_STEP)), speed=0.5, **FILM))


def singular_sheet(target: Path) -> None:
    channels = ["q", "loop_forces", "loop_error"]
    save(sheet([run_of("parallelogram")], channels=channels), target, force=True)


def pendulum_sheet(target: Path) -> None:
    save(sheet([run_of("double_pendulum")]), target, force=True)


def two_pendulums_sheet(target: Path) -> None:
    nearly = run_of("double_pendulum", (("elbow = 0.5\n", "elbow = 0.501\n"),))
    save(sheet([run_of("double_pendulum"), nearly]), target, force=True)


def chain_sheet(target: Path) -> None:
    save(sheet([run_of("whipping_chain")]), target, force=True)


def humanoid_zeros(target: Path) -> None:
    save(sparsity_picture(load(SCENARIOS / "models" / "humanoid.toml")), target, force=True)


def pendulum_forces(target: Path) -> None:
    logged = (('channels = ["energy"]', 'channels = ["energy", "vdot"]'),)
    save(force_picture(run_of("double_pendulum", logged)), target, force=True)


def fixman_angles(target: Path) -> None:
    from fixman_picture import bond_angles  # beside this file

    save(bond_angles(), target, force=True)


def gains_study(target: Path) -> None:
    study = sweep(SCENARIOS / "sweep_cart_gains.toml")
    save(study_picture(study, ["overshoot", "arrival", "swing"]), target, force=True)


def viewer_screen(target: Path) -> None:
    """The viewer's page in a headless Chromium."""
    sys.path.insert(0, str(ROOT / "tests"))
    import browser

    if not browser.CHROMIUM:
        print(f"{target.name} stays as it is: {browser.WITHOUT}")
        return
    page_file = _folder() / "viewer.html"
    page_file.write_text(replay_page(record(run_of("rag_doll"))), encoding="utf-8")
    with (
        browser.chromium() as started,
        browser.open_page(started, page_file.as_uri(), SCREEN) as (page, _, _),
    ):
        page.locator("#channel").fill("left_elbow")
        page.locator("#channel").fill("right_elbow")
        page.locator("#scrub").fill("0.42")
        page.locator("#trail").check()
        browser.picture(page)
        page.screenshot(path=target)


PICTURES_BY_NAME: dict[str, Callable[[Path], Any]] = {
    "double_pendulum.gif": pendulum_film,
    "rag_doll.gif": doll_film,
    "whipping_chain.gif": chain_film,
    "bricard.gif": bricard_film,
    "stewart.gif": stewart_film,
    "jansen_leg.gif": jansen_film,
    "singular_forces.png": singular_sheet,
    "double_pendulum_sheet.png": pendulum_sheet,
    "two_pendulums_sheet.png": two_pendulums_sheet,
    "whipping_chain_sheet.png": chain_sheet,
    "humanoid_sparsity.png": humanoid_zeros,
    "double_pendulum_forces.png": pendulum_forces,
    "fixman.png": fixman_angles,
    "cart_gains.png": gains_study,
    "viewer.png": viewer_screen,
}


def main(words: list[str]) -> None:
    PICTURES.mkdir(exist_ok=True)
    for name, make in PICTURES_BY_NAME.items():
        if not words or any(word in name for word in words):
            make(PICTURES / name)
            print(f"{name:<28} {(PICTURES / name).stat().st_size / 1e6:.2f} MB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
