"""Time, steps, coordinates and velocities: what every log has."""

from __future__ import annotations

from skodyn.channels.entry import Channel, DataSet, Labels
from skodyn.channels.joint_curves import joint_families
from skodyn.model.model import Model
from skodyn.registry import register


def _names(model: Model, size: str, parts: str) -> tuple[str, ...]:
    """Names: "shoulder" for a joint with one coordinate, "ball.w" … for several.

    A mimic joint has no columns: they would repeat those of its source. Modes of a flexible body
    follow its joint: "boom.y1".
    """
    names: list[str] = []
    for name in model.independent_joints:
        joint = model.joints[model.joint_index(name)]
        if getattr(joint, size) == 1:
            names.append(name)
        else:
            names += [f"{name}.{part}" for part in getattr(joint, parts)]
        names += model.mode_names(name)
    return tuple(names)


def coordinate_names(model: Model) -> Labels:
    """What the columns of q are called."""
    return {"q_name": _names(model, "nq", "q_parts")}


def velocity_names(model: Model) -> Labels:
    """What the columns of v are called."""
    return {"v_name": _names(model, "nv", "v_parts")}


TIME = register(
    Channel(
        "t", {"t": DataSet(("t",), "time [s]", "s")}, lambda rows: {"t": rows.t},
        always=True, order=0,
    )
)  # fmt: skip
STEP = register(
    Channel(
        "step",
        {"step": DataSet(("t",), "number of integration steps done", "", "<i8")},
        lambda rows: {"step": rows.step},
        always=True,
        order=1,
    )
)
Q = register(
    Channel(
        "q",
        {"q": DataSet(("t", "q_name"), "coordinates [rad, m, unit quaternions]")},
        lambda rows: {"q": rows.q},
        coordinate_names,
        draw=joint_families,
        always=True,
        order=2,
    )
)
V = register(
    Channel(
        "v",
        {"v": DataSet(("t", "v_name"), "velocities [rad/s, m/s]")},
        lambda rows: {"v": rows.v},
        velocity_names,
        draw=joint_families,
        always=True,
        order=3,
    )
)
