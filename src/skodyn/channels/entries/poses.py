"""Where bodies are: two data sets, positions and rotations."""

from __future__ import annotations

from skodyn.channels.entry import Channel, DataSet
from skodyn.registry import register

AXES = ("x", "y", "z")

POSES = register(
    Channel(
        "poses",
        {
            "positions": DataSet(("t", "body", "axis"), "body origins in world axes [m]", "m"),
            "rotations": DataSet(
                ("t", "body", "axis", "body_axis"), "rotation matrices, body to world"
            ),
        },
        lambda rows: {"rotations": rows.poses[0], "positions": rows.poses[1]},
        lambda model: {"body": model.body_names, "axis": AXES, "body_axis": AXES},
        algorithm="KINEMATICS",
        order=6,
    )
)
