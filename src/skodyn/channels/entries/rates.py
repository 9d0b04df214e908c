"""Accelerations and joint forces, as the equations of motion had them."""

from __future__ import annotations

from skodyn.channels.entry import Channel, DataSet
from skodyn.channels.joint_curves import joint_families
from skodyn.registry import register

VDOT = register(
    Channel(
        "vdot",
        {"vdot": DataSet(("t", "v_name"), "accelerations [rad/s2, m/s2]")},
        lambda rows: {"vdot": rows.rates.vdot},
        draw=joint_families,
        on_its_own=True,
        order=4,
    )
)
TAU = register(
    Channel(
        "tau",
        {"tau": DataSet(("t", "v_name"), "joint forces [N m, N]")},
        lambda rows: {"tau": rows.rates.tau},
        draw=joint_families,
        on_its_own=True,
        usual=True,
        order=5,
    )
)
DRIVE = register(
    Channel(
        "drive",
        {"drive": DataSet(("t", "v_name"), "what it takes to follow prescribed motions [N m, N]")},
        lambda rows: {"drive": rows.rates.drive},
        draw=joint_families,
        on_its_own=True,
        order=6,
    )
)
