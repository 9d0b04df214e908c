"""Makes the pictures of README and docs from the shipped scenarios.

    python docs/make_pictures.py             # all of them, into docs/pictures/
    python docs/make_pictures.py pendulum    # those whose name contains this

Needs the extras plot and view; the screenshot needs playwright and Debian's chromium as well.
tests/test_pictures.py draws some frames anew and compares them with the files.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from skodyn import Box, Contact, Free, HalfSpace, ModelBuilder, Sphere, simulate
from skodyn.io import load
from skodyn.io.trajectory import Trajectory
from skodyn.io.trajectory import open as open_trajectory
from skodyn.scenario import parse_scenario, read_scenario
from skodyn.scenario.running import run_scenario
from skodyn.sweeps.running import sweep
from skodyn.view.camera import Camera
from skodyn.view.document import replay_page
from skodyn.view.films import film
from skodyn.view.plots import force_picture, save, sheet, sparsity_picture, study_picture
from skodyn.view.recording import Recording, record, still

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "scenarios"
PICTURES = ROOT / "docs" / "pictures"
FILM = {"size": (480, 360), "fps": 20}
SMALL = {"size": (400, 300), "fps": 15}
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


def arm_film(target: Path) -> None:
    """The first half of the two-link arm's motion; its links bend five times as much."""
    run = record(run_of("two_link_flexible"), exaggerate=5)
    bare = tuple(layer for layer in run.scene.shown if layer != "inertia")  # motors would hide all
    run = replace(run, scene=replace(run.scene, shown=bare))
    above = Camera(elevation=50)
    target.write_bytes(film(run, span=(0.0, 2.0), speed=0.5, camera=above, **SMALL))


def slew_film(target: Path) -> None:
    """The slew of a satellite with panels; they bend five times as much."""
    run = record(run_of("satellite_flexible"), exaggerate=5)
    target.write_bytes(film(run, span=(0.0, 14.0), speed=2.5, **SMALL))


@cache
def _after_page(page: str) -> Path:
    """A folder in which every block of a page was run; its files are still there."""
    sys.path.insert(0, str(ROOT / "tests"))
    from pages import run_page

    folder = _folder() / page
    shutil.copytree(SCENARIOS, folder / "scenarios")
    before = Path.cwd()
    os.chdir(folder)
    try:
        for _ in run_page(ROOT / "docs" / f"{page}.md", folder):
            pass
    finally:
        os.chdir(before)
    return folder


def day_student(target: Path) -> None:
    shutil.copy(_after_page("days/student") / "reach.png", target)


def day_scientist(target: Path) -> None:
    shutil.copy(_after_page("days/scientist") / "map.png", target)


def day_reader(target: Path) -> None:
    shutil.copy(_after_page("days/reader") / "mass.png", target)


def singular_sheet(target: Path) -> None:
    channels = ["q", "loop_forces", "loop_error"]
    save(sheet([run_of("parallelogram")], channels=channels), target, overwrite=True)


def pendulum_sheet(target: Path) -> None:
    save(sheet([run_of("double_pendulum")]), target, overwrite=True)


def two_pendulums_sheet(target: Path) -> None:
    nearly = run_of("double_pendulum", (("elbow = 0.5\n", "elbow = 0.501\n"),))
    save(sheet([run_of("double_pendulum"), nearly]), target, overwrite=True)


def chain_sheet(target: Path) -> None:
    save(sheet([run_of("whipping_chain")]), target, overwrite=True)


def humanoid_zeros(target: Path) -> None:
    save(sparsity_picture(load(SCENARIOS / "models" / "humanoid.toml")), target, overwrite=True)


def pendulum_forces(target: Path) -> None:
    logged = (('channels = ["energy"]', 'channels = ["energy", "vdot"]'),)
    save(force_picture(run_of("double_pendulum", logged)), target, overwrite=True)


def fixman_angles(target: Path) -> None:
    from fixman_picture import bond_angles  # beside this file

    save(bond_angles(), target, overwrite=True)


def stiffening(target: Path) -> None:
    from flexible_pictures import stiffening_and_errors  # beside this file

    save(stiffening_and_errors(), target, overwrite=True)


def gains_study(target: Path) -> None:
    study = sweep(SCENARIOS / "sweep_cart_gains.toml")
    save(study_picture(study, ["overshoot", "arrival", "swing"]), target, overwrite=True)


def pile_film(target: Path) -> None:
    """A chain falls on the floor and lies there in a heap, seen from near."""
    run = record(run_of("falling_chain"))
    near = Camera(follow=run.model.body_names[-1], zoom=3, elevation=25)
    target.write_bytes(film(run, span=(0.0, 1.0), speed=0.25, camera=near, **SMALL))


def trot_forces(target: Path) -> None:
    """What the feet of a quadruped carry while it stands, trots and stands again."""
    save(sheet([run_of("quadruped")], channels=["contacts"]), target, overwrite=True)


def trot_screen(target: Path) -> None:
    """The same forces as arrows, when two feet carry all."""
    recording = record(run_of("quadruped"))

    def act(page: Any) -> None:
        page.locator("#scrub").fill("0.31")
        page.locator("#layer-contacts").check()

    _screen(target, recording, act)


def slip_map(target: Path) -> None:
    """How far a quadruped has slid after two seconds, over friction and slope."""
    study = sweep(SCENARIOS / "sweep_quadruped.toml")
    over = ["contacts.feet.friction", "ground.floor.normal.x"]
    at = {"contacts.feet.stiffness": 3e4}
    save(study_picture(study, ["slid"], over=over, at=at), target, overwrite=True)


def _screen(
    target: Path,
    recording: Recording,
    act: Callable[[Any], None],
    size: tuple[int, int] = SCREEN,
    scheme: str = "light",
) -> None:
    """The viewer's page in a headless Chromium, after something was done in it."""
    page_file = _folder() / "viewer.html"
    page_file.write_text(replay_page(recording), encoding="utf-8")
    _shot(target, page_file.as_uri(), act, size, scheme)


def _shot(
    target: Path,
    address: str,
    act: Callable[[Any], None],
    size: tuple[int, int] = SCREEN,
    scheme: str = "light",
) -> None:
    sys.path.insert(0, str(ROOT / "tests"))
    import browser

    if not browser.CHROMIUM:
        print(f"{target.name} stays as it is: {browser.WITHOUT}")
        return
    with browser.chromium() as started, browser.open_page(started, address, size) as (page, _, _):
        page.emulate_media(color_scheme=scheme)
        act(page)
        browser.picture(page)
        page.screenshot(path=target)


def viewer_screen(target: Path) -> None:
    """A replay, with a plot in step with it."""

    def act(page: Any) -> None:
        page.locator("#channel").fill("left_elbow")
        page.locator("#channel").fill("right_elbow")
        page.locator("#scrub").fill("0.42")
        page.locator("#tree > *").nth(2).evaluate("row => row.click()")  # the head
        page.locator("#trail").check()

    _screen(target, record(run_of("rag_doll")), act)


def model_screen(target: Path) -> None:
    """A model with sliders for its joints."""

    def act(page: Any) -> None:
        for i, value in ((8, 0.5), (11, -0.8), (14, 0.6)):
            page.locator("#sliders input").nth(i).fill(str(value))
        page.locator("#tree li").nth(4).click()

    _screen(target, still(load(SCENARIOS / "models" / "humanoid.toml")), act)


def closed_screen(target: Path) -> None:
    """A closed mechanism: one slider moves its crank, the other joints follow."""

    def act(page: Any) -> None:
        page.locator("#sliders input[type=range]").first.fill("1.2")

    scenario = read_scenario(SCENARIOS / "jansen_leg.toml")
    _screen(target, still(scenario.model, scenario.q0), act)


def dark_screen(target: Path) -> None:
    """Contact forces and velocities of a box that slides, in the dark."""

    recording = record(thrown_boxes())
    (pushes,) = (field for field in recording.arrows if field.layer == "contacts")
    landing = 10 + int(np.argmax(pushes.sizes[10:]))  # not the first touch, of the box alone

    def act(page: Any) -> None:
        page.locator("#scrub").fill(str(landing / (len(recording.times) - 1)))
        for layer in ("contacts", "velocities"):
            page.locator(f"#layer-{layer}").check()

    _screen(target, recording, act, scheme="dark")


def phone_screen(target: Path) -> None:
    """The same at the width of a phone."""
    _screen(target, record(run_of("stewart", ONE_SWAY)), lambda page: None, (390, 760))


def live_screen(target: Path) -> None:
    """A quadruped that is pulled by its trunk while it is simulated."""
    from live_picture import pull_slowly, watched_run  # beside this file

    with watched_run(SCENARIOS / "quadruped.toml", _folder() / "live.h5") as address:
        _shot(target, address, pull_slowly)


def thrown_boxes() -> Trajectory:
    """A box that is thrown along the ground, and a ball."""
    builder = ModelBuilder(name="box and ball")
    builder.add_body("box", joint=Free(), mass=1.0, inertia=(0.02, 0.02, 0.02))
    builder.add_collision("box", Box((0.4, 0.3, 0.2)))
    builder.add_body("ball", joint=Free(), mass=0.5, inertia=(0.004, 0.004, 0.004))
    builder.add_collision("ball", Sphere(0.15))
    laws = [
        Contact(name, "floor", stiffness=2e4, dissipation=0.3, friction=0.4)
        for name in ("box", "ball")
    ]
    q = [1, 0, 0, 0, 0, 0, 0.13, 1, 0, 0, 0, 0.2, 0.7, 0.14]
    v = [0, 0.5, 0.3, 1.6, 0.2, 0, 0, 0, 0, 1.2, -0.3, 0]
    ground = [HalfSpace()]
    return simulate(
        builder.build(),
        q,
        v,
        duration=1.0,
        dt=2e-4,
        every=50,
        ground=ground,
        contacts=laws,
        channels=["contacts"],
    ).trajectory


PICTURES_BY_NAME: dict[str, Callable[[Path], Any]] = {
    "double_pendulum.gif": pendulum_film,
    "rag_doll.gif": doll_film,
    "whipping_chain.gif": chain_film,
    "bricard.gif": bricard_film,
    "stewart.gif": stewart_film,
    "jansen_leg.gif": jansen_film,
    "two_link_flexible.gif": arm_film,
    "satellite_flexible.gif": slew_film,
    "day_student.png": day_student,
    "day_scientist.png": day_scientist,
    "day_reader.png": day_reader,
    "singular_forces.png": singular_sheet,
    "double_pendulum_sheet.png": pendulum_sheet,
    "two_pendulums_sheet.png": two_pendulums_sheet,
    "whipping_chain_sheet.png": chain_sheet,
    "humanoid_sparsity.png": humanoid_zeros,
    "double_pendulum_forces.png": pendulum_forces,
    "fixman.png": fixman_angles,
    "flexible.png": stiffening,
    "cart_gains.png": gains_study,
    "quadruped_slip.png": slip_map,
    "quadruped_forces.png": trot_forces,
    "viewer_contacts.png": trot_screen,
    "falling_chain.gif": pile_film,
    "viewer.png": viewer_screen,
    "viewer_model.png": model_screen,
    "viewer_closed.png": closed_screen,
    "viewer_dark.png": dark_screen,
    "viewer_phone.png": phone_screen,
    "viewer_live.png": live_screen,
}


def main(words: list[str]) -> None:
    PICTURES.mkdir(exist_ok=True)
    for name, make in PICTURES_BY_NAME.items():
        if not words or any(word in name for word in words):
            make(PICTURES / name)
            print(f"{name:<28} {(PICTURES / name).stat().st_size / 1e6:.2f} MB", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
