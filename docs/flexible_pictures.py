"""The picture of docs/flexible.md: what stiffening does, and what modes and segments cost in error.

Made by make_pictures.py, against the references of tests/data/flexible.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import skodyn as sk
from skodyn.scenario import read_scenario
from skodyn.scenario.running import plan_of
from skodyn.simulation import session
from skodyn.view.plots import style

ROOT = Path(__file__).resolve().parent.parent
MODES, SEGMENTS = (1, 2, 3, 4, 5), (2, 3, 4, 6, 8, 12, 16)
Floats = NDArray[np.float64]


def reference(name: str) -> dict[str, Any]:
    path = ROOT / "tests" / "data" / "flexible" / f"{name}.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def spin_up(axes: Any) -> None:
    """scenarios/spin_up.toml with and without stiffening; without, it soon leaves the picture."""
    rows = np.array(reference("spin_up")["rows"])[::8]
    axes.plot(rows[:, 0], rows[:, 2], "o", color="black", markersize=3, label="exact beam")
    plan = plan_of(read_scenario(ROOT / "scenarios" / "spin_up.toml"))
    for i, (label, stiffening, end) in enumerate((("stiffening", True, 20), ("without", False, 7))):
        model = plan.model.with_changes(bodies={"beam.flexible.stiffening": stiffening})
        run = session.run(replace(plan, model=model, duration=float(end), channels=()))
        tip = list(model.flexible["beam"].nodes).index("tip")
        across = sk.deflections(model, run.q, "beam")[:, tip, 1]
        axes.plot(run.t, across, color=style.COLOURS[i], label=label)
    axes.set(xlabel="t, s", ylim=(-1.2, 0.2))


def flap_frequency(speed: float, stiffening: bool) -> float:
    """The lowest out of the plane in which a beam of unit length, mass and stiffness turns."""
    beam = sk.Beam(
        1.0,
        mass_per_length=1.0,
        bending_stiffness=1.0,
        rotary_inertia=1e-12,
        modes={"z": 6},
        stiffening=stiffening,
    )
    builder = sk.ModelBuilder(gravity=(0, 0, 0))
    builder.add_body("beam", joint=sk.Revolute(axis=(0, 0, 1)), flexible=beam)
    model = builder.build()
    v = np.zeros(model.nv)
    v[0] = speed
    h, modes = 1e-4, model.mode_slice("beam", "v")
    bent = h * np.eye(model.nv)[modes]
    turning = np.broadcast_to(v, bent.shape)
    slope = sk.bias_force(model, bent, turning) - sk.bias_force(model, -bent, turning)
    mass = sk.mass_matrix(model, model.neutral())[modes, modes]
    squares = np.linalg.eigvals(np.linalg.solve(mass, slope[:, modes].T / (2 * h)))
    return float(np.sqrt(squares.real.min()))


def turning(axes: Any) -> None:
    """The first flap frequency against the hub's rate, on the published table."""
    table = {
        float(k): v for k, v in reference("rotating_beam_frequencies")["published"]["flap"].items()
    }
    speeds = [speed for speed in table if speed <= 10]
    axes.plot(
        speeds, [table[s] for s in speeds], "o", color="black", markersize=4, label="published"
    )
    rates = np.linspace(0.0, 10.0, 21)
    for i, label in enumerate(("stiffening", "without")):
        found = [flap_frequency(rate, not i) for rate in rates]
        axes.plot(rates, found, color=style.COLOURS[i], label=label)
    axes.set(xlabel="Ω √(ρA L⁴/EI)")


def strip_error(**division: Any) -> float:
    """Of the tip over one second of a strip that falls, in lengths, against an exact beam."""
    given = reference("flexible_pendulum")
    p, rows = given["parameters"], np.array(given["rows"])
    beam = sk.Beam(
        p["L"],
        mass_per_length=p["rhoA"],
        bending_stiffness=p["EI"],
        rotary_inertia=p["rhoI"],
        **division,
    )
    builder = sk.ModelBuilder(gravity=(0, -p["g"], 0))
    builder.add_body("strip", joint=sk.Revolute(axis=(0, 0, 1)), flexible=beam)
    builder.add_frame("end", "strip", at="tip")
    model = builder.build()
    run = sk.simulate(
        model,
        model.neutral(),
        np.zeros(model.nv),
        duration=1.0,
        dt=5e-4,
        every=40,
        integrator="implicit_midpoint",
        implicit_springs=True,
    )
    return float(np.abs(tip_of(model, run.q) - rows[: len(run.q), 1:3]).max() / p["L"])


def tip_of(model: sk.Model, q: Floats) -> Floats:
    if model.flexible:
        tip = list(model.flexible["strip"].nodes).index("tip")
        return sk.node_poses(model, q, "strip")[:, tip, :2, 3]
    return sk.frame_poses(model, q, ["end"])[:, 0, :2, 3]


def errors(axes: Any) -> None:
    modes = [strip_error(modes={"y": n}) for n in MODES]
    segments = [strip_error(segments=n) for n in SEGMENTS]
    axes.loglog(MODES, modes, "o-", color=style.COLOURS[0], label="modes")
    axes.loglog(SEGMENTS, segments, "s-", color=style.COLOURS[1], label="segments")
    axes.set(xlabel="how many")


def stiffening_and_errors() -> Any:
    """The figure."""
    figure = style.new_figure(11.0, 3.2)
    panels = (
        ("spin-up of a beam of 10 m", "tip, m", spin_up),
        ("first flap frequency of a turning beam", "ω √(ρA L⁴/EI)", turning),
        ("error of a falling strip", "tip, lengths", errors),
    )
    with style.settings():
        for place, (title, unit, draw) in zip(figure.add_gridspec(1, 3), panels, strict=True):
            axes = style.panel(figure, place, title, unit)
            draw(axes)
            axes.legend(fontsize=7)
    return figure
