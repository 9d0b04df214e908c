"""The picture of docs/fixman.md: bond angles of two chains with and without the Fixman potential.

Made by make_pictures.py. It runs the models of scenarios/trimer_fixman.toml and
scenarios/ten_beads_fixman.toml for much longer than they do, each with and without its force.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import skodyn as sk
from skodyn.scenario import read_scenario
from skodyn.scenario.running import plan_of
from skodyn.simulation import session
from skodyn.simulation.elements import Forces
from skodyn.view.plots import style

SCENARIOS = Path(__file__).resolve().parent.parent / "scenarios"
BINS = np.linspace(-1.0, 1.0, 21)
DURATIONS = {"trimer_fixman": 12_000.0, "ten_beads_fixman": 1500.0}  # one angle against eight


def histogram(name: str, with_force: bool) -> NDArray[np.float64]:
    """Density of cos θ between bonds that follow each other."""
    plan = plan_of(read_scenario(SCENARIOS / f"{name}.toml"))
    plan = replace(plan, duration=DURATIONS[name], channels=())
    if not with_force:
        plan = replace(plan, forces=Forces())
    run = session.run(plan)
    rotations, _ = sk.forward_kinematics(plan.model, run.q)
    bonds = rotations[:, 1:, :, 0]
    cosines = np.sum(bonds[:, 1:] * bonds[:, :-1], axis=-1)
    return np.histogram(cosines, BINS, density=True)[0]


def bond_angles() -> Any:
    """The figure."""
    figure = style.new_figure(8.5, 3.2)
    grid = figure.add_gridspec(1, 2)
    with style.settings():
        for place, name in zip(grid, DURATIONS, strict=True):
            words = name.removesuffix("_fixman").replace("_", " ")
            axes = style.panel(figure, place, words, "density")
            for i, label in enumerate(("rigid bonds", "with the Fixman potential")):
                axes.stairs(histogram(name, bool(i)), BINS, label=label, color=style.COLOURS[i])
            axes.axhline(0.5, color="black", linewidth=0.5)
            axes.set(xlabel="cos θ", ylim=(0.3, 0.65))
        style.legend(axes)
    return figure
