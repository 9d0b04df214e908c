"""Where named frames are: two data sets, positions and rotations; of models that have frames."""

from __future__ import annotations

from skodyn.channels.curves import Curves, Family
from skodyn.channels.entries.poses import AXES
from skodyn.channels.entry import Channel, DataSet, Labels
from skodyn.channels.rows import Rows
from skodyn.faults import Fault
from skodyn.model.model import Model
from skodyn.registry import register
from skodyn.typing import Floats


def _labels(model: Model) -> Labels:
    names = tuple(model.frames)
    return {"frame": names, "axis": AXES, "frame_axis": AXES} if names else {}


def _fault(model: Model) -> Fault | None:
    if model.flexible:
        problem = "Channel 'frame_poses' is of rigid bodies, and bodies of this model have modes"
        return Fault(
            problem, "log 'deflection', or give them segments.", ("channels",), "frame_poses"
        )
    if not model.frames:
        problem = f"Channel 'frame_poses' needs named frames, and model {model.name!r} has none"
        return Fault(
            problem, "add frames to the model, or log 'poses'.", ("channels",), "frame_poses"
        )
    return None


def _compute(rows: Rows) -> dict[str, Floats]:
    from skodyn.dynamics.frames import frame_poses

    names = tuple(rows.model.frames)
    (poses,) = rows.each(
        lambda model, q, threads: frame_poses(model, q, names, threads=threads), rows.q
    )
    return {"frame_positions": poses[..., :3, 3], "frame_rotations": poses[..., :3, :3]}


def _draw(name: str, curves: Curves) -> list[Family]:
    """Origins, a curve for each axis; rotation matrices are no curves."""
    if name != "frame_positions":
        return []
    names = tuple(f"{frame}.{axis}" for frame in curves.labels["frame"] for axis in AXES)
    values = curves.values.reshape(len(curves.values), -1)
    return [Family("frame_positions", "position of frames in world axes", "m", names, values)]


FRAMES = register(
    Channel(
        "frame_poses",
        {
            "frame_positions": DataSet(
                ("t", "frame", "axis"), "origins of named frames in world axes [m]", "m"
            ),
            "frame_rotations": DataSet(
                ("t", "frame", "axis", "frame_axis"), "rotation matrices, frame to world"
            ),
        },
        _compute,
        _labels,
        _fault,
        _draw,
        order=13,
    )
)
