"""The picture of docs/fixman.md: bond angles of two chains with and without the Fixman potential.

    python docs/make_pictures/fixman.py [--duration 1500]

Writes docs/pictures/fixman.png; needs matplotlib. Runs the models of scenarios/trimer_fixman.toml
and scenarios/ten_beads_fixman.toml, each with and without its force.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import skodyn as sk
from skodyn.scenario import read_scenario
from skodyn.scenario.running import plan_of
from skodyn.simulate import session
from skodyn.simulate.elements import Forces

ROOT = Path(__file__).parents[2]
BINS = np.linspace(-1.0, 1.0, 21)


def histogram(name, with_force, duration):
    """Density of cos θ between bonds that follow each other."""
    plan = plan_of(read_scenario(ROOT / "scenarios" / f"{name}.toml"))
    plan = replace(plan, duration=duration, channels=())
    if not with_force:
        plan = replace(plan, forces=Forces())
    run = session.run(plan)
    rotations, _ = sk.forward_kinematics(plan.model, run.q)
    bonds = rotations[:, 1:, :, 0]
    cosines = np.sum(bonds[:, 1:] * bonds[:, :-1], axis=-1)
    return np.histogram(cosines, BINS, density=True)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--duration", type=float, default=1500.0, help="simulated seconds of ten beads"
    )
    duration = parser.parse_args().duration
    try:
        import matplotlib
    except ImportError:
        sys.exit("The picture needs matplotlib; install it with: pip install matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3), sharey=True)
    for axis, name in zip(axes, ("trimer_fixman", "ten_beads_fixman"), strict=True):
        times = 8 if name == "trimer_fixman" else 1  # one angle instead of eight
        for with_force, label in ((False, "rigid bonds"), (True, "with the Fixman potential")):
            axis.stairs(histogram(name, with_force, times * duration), BINS, label=label)
        axis.axhline(0.5, color="black", linewidth=0.5)
        axis.set(title=name.removesuffix("_fixman").replace("_", " "), xlabel="cos θ")
    axes[0].set(ylabel="density", ylim=(0.3, 0.65))
    axes[1].legend()
    target = ROOT / "docs" / "pictures" / "fixman.png"
    target.parent.mkdir(exist_ok=True)
    figure.savefig(target, dpi=120, bbox_inches="tight")
    print(f"{target.relative_to(ROOT)} written")


if __name__ == "__main__":
    main()
