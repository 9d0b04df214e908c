"""Writes the model files that are too long to write by hand.

    python scenarios/make_models.py

A test compares the files in models/ with what this script makes.
"""

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


FILES = {"chain_1000.toml": chain, "polymer_200.toml": polymer, "ten_beads.toml": ten_beads}


def main() -> None:
    for name, make in FILES.items():
        (MODELS / name).write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main()
