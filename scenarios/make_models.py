"""Writes the model files that are too long to write by hand.

    python scenarios/make_models.py

A test compares the files in models/ with what this script makes.
"""

import math
from pathlib import Path

MODELS = Path(__file__).parent / "models"


def chain(n: int = 1000) -> str:
    """n links of 2 cm and 20 g in a row, all hinged about y; straight down at all angles zero."""
    lines = [
        f"# A chain of {n} equal links, {0.02 * n:g} m long. Written by make_models.py.",
        "",
        f'name = "chain of {n} links"',
        "",
        "[bodies]",
    ]
    for k in range(n):
        parent = f"link{k - 1}" if k else "world"
        lines.append(
            f'link{k} = {{ parent = "{parent}", '
            'joint = { type = "revolute", axis = [0, 1, 0] }, '
            f"translation = [0, 0, {-0.02 if k else 0}], "
            "mass = 0.02, com = [0, 0, -0.01], inertia = [7e-7, 7e-7, 1e-7] }"
        )
    return "\n".join(lines) + "\n"


def polymer(n: int = 200) -> str:
    """n beads of 1 g; a weightless rod of 1 cm joins each to the centre of the one before."""
    lines = [
        f"# {n} beads on rods of 1 cm, jointed freely and adrift. Written by make_models.py.",
        "",
        f'name = "polymer of {n} beads"',
        "gravity = [0, 0, 0]",
        "",
        "[bodies]",
        'bead000 = { parent = "world", joint = { type = "free", name = "head" }, '
        "mass = 0.001, inertia = [1e-8, 1e-8, 1e-8] }",
    ]
    for k in range(1, n):
        lines.append(
            f'bead{k:03} = {{ parent = "bead{k - 1:03}", '
            f'joint = {{ type = "spherical", name = "bond{k:03}" }}, '
            f"translation = [{0 if k == 1 else 0.01}, 0, 0], "
            "mass = 0.001, com = [0.01, 0, 0], inertia = [1e-8, 1e-8, 1e-8] }"
        )
    return "\n".join(lines) + "\n"


def falling_chain(n: int = 50) -> str:
    """n beads of 10 g on rods of 2 cm, jointed freely below the first, which floats."""
    lines = [
        f"# {n} beads on rods of 2 cm, which can touch. Written by make_models.py.",
        "",
        f'name = "falling chain of {n} beads"',
        "",
        "[bodies]",
    ]
    bead = 'collisions.ball = { type = "sphere", radius = 0.008'
    for k in range(n):
        place = f"translation = [0, 0, {-0.02 if k > 1 else 0}], "
        parent = f"bead{k - 1:02}" if k else "world"
        joint = '{ type = "spherical" }' if k else '{ type = "free" }'
        at = -0.02 if k else 0
        lines.append(
            f'bead{k:02} = {{ parent = "{parent}", joint = {joint}, {place if k else ""}'
            f"mass = 0.01, com = [0, 0, {at}], inertia = [4e-7, 4e-7, 4e-7], "
            f"{bead}, translation = [0, 0, {at}] }} }}"
        )
    return "\n".join(lines) + "\n"


def ten_beads(n: int = 10) -> str:
    """n beads of 1 kg on rods of 1 m; the first is a point, the others sit at the rods' ends."""
    lines = [
        f"# {n} equal beads on rods of 1 m, jointed freely and adrift. Written by make_models.py.",
        "",
        'name = "ten beads"',
        "gravity = [0, 0, 0]",
        "",
        "[bodies]",
        'bead0 = { parent = "world", joint = { type = "translation", name = "place" }, mass = 1 }',
    ]
    for k in range(1, n):
        lines.append(
            f'bead{k} = {{ parent = "bead{k - 1}", joint = {{ type = "spherical", '
            f'name = "bond{k}" }}, translation = [{0 if k == 1 else 1}, 0, 0], '
            "mass = 1, com = [1, 0, 0], inertia = [0.1, 0.1, 0.1] }"
        )
    return "\n".join(lines) + "\n"


def stewart() -> str:
    """A platform on six legs, each a gimbal, a slide and a ball; extensions count from 1.3 m."""
    lines = [
        "# A Stewart platform on six legs of variable length: six loops that share the platform.",
        "# Written by make_models.py.",
        "",
        'name = "Stewart platform"',
        "",
        "[bodies.platform]",
        'parent = "world"',
        'joint = { type = "free", name = "pose" }',
        "mass = 20",
        "com = [0, 0, 0.05]",
        "inertia = [1.5, 1.5, 2.8]",
    ]
    for k in range(1, 7):
        lines += ["", *_leg(k)]
    return "\n".join(lines) + "\n"


def _leg(k: int) -> list[str]:
    """Leg k: feet in pairs at 0°, 120° and 240°, heads in pairs in between."""
    middle, side = 120 * ((k - 1) // 2), 1 if k % 2 == 0 else -1
    foot, head = (
        ", ".join(f"{radius * turn(math.radians(middle + side * off)):.6f}" for turn in _TURNS)
        for radius, off in ((1.0, 10), (0.6, 50))
    )
    return [
        f"[bodies.lower{k}]",
        'parent = "world"',
        'joint = { type = "universal", axis1 = [1, 0, 0], axis2 = [0, 1, 0], '
        f'name = "gimbal{k}" }}',
        f"translation = [{foot}, 0]",
        "mass = 2",
        "com = [0, 0, 0.3]",
        "inertia = [0.06, 0.06, 0.002]",
        "",
        f"[bodies.upper{k}]",
        f'parent = "lower{k}"',
        f'joint = {{ type = "prismatic", axis = [0, 0, 1], name = "leg{k}" }}',
        "translation = [0, 0, 1.3]",
        "mass = 1.5",
        "com = [0, 0, -0.3]",
        "inertia = [0.045, 0.045, 0.001]",
        "",
        f"[loops.ball{k}]",
        'joint = { type = "spherical" }',
        f'body_a = "upper{k}"',
        'body_b = "platform"',
        f"translation_b = [{head}, 0]",
    ]


_TURNS = (math.cos, math.sin)

FILES = {
    "chain_1000.toml": chain,
    "chain_50.toml": falling_chain,
    "polymer_200.toml": polymer,
    "ten_beads.toml": ten_beads,
    "stewart.toml": stewart,
}


def main() -> None:
    for name, make in FILES.items():
        (MODELS / name).write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main()
