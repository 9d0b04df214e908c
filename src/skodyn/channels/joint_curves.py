"""The curves of joints: one family for each unit."""

from __future__ import annotations

import numpy as np

from skodyn.channels.curves import Curves, Family
from skodyn.model.joints import Joint
from skodyn.model.model import Model

__all__ = ["column_units", "force_unit", "joint_families"]

_RATES = {"rad": ("rad/s", "rad/s²", "N·m"), "m": ("m/s", "m/s²", "N")}
_WORDS = {"q": "position", "v": "velocity", "vdot": "acceleration", "tau": "joint force"}


def joint_families(channel: str, curves: Curves) -> list[Family]:
    """Families of q, v, vdot or tau: angles, lengths, quaternions."""
    names = np.array(curves.labels["q_name" if channel == "q" else "v_name"], dtype=object)
    columns_of = _columns(curves.model, channel)
    kept = np.array([name in curves.joints for name, _ in columns_of], dtype=bool)
    units = np.array([unit for _, unit in columns_of])
    found = []
    for unit in sorted(set(units[kept].tolist()), key=_unit_order):
        columns = np.flatnonzero(kept & (units == unit))
        title = f"{_kind(unit)} {_WORDS[channel]}" if unit else "orientation quaternion"
        title = {"N·m": "joint torque", "N": "joint force"}.get(unit, title)
        title += _axes_words(curves, channel, unit)
        shown = tuple(names[columns])
        found.append(Family(channel, title, unit, shown, curves.values[:, columns]))
    return found


def _axes_words(curves: Curves, channel: str, unit: str) -> str:
    """In whose axes the velocities of free and spherical joints are; "" if there are none."""
    turned = [
        name
        for name, joint in _joints(curves.model)
        if name in curves.joints and joint.nq != joint.nv and unit in _units(joint, channel)
    ]
    if not turned or channel not in ("v", "vdot"):
        return ""
    whose = ", ".join(turned) if len(turned) < 3 else "free and spherical joints"
    return f" ({whose}: in body axes)"


def column_units(model: Model, channel: str) -> list[str]:
    """The unit of each column of q, v, vdot or tau in a log; empty for quaternions."""
    return [unit for _, unit in _columns(model, channel)]


def force_unit(model: Model, joint: str) -> str:
    """N·m or N: the unit of the force in a joint with one coordinate."""
    return _units(model.joints[model.joint_index(joint)], "tau")[0]


def _columns(model: Model, channel: str) -> list[tuple[str, str]]:
    """(joint, unit) of each column; modes of a flexible body are columns of its joint."""
    return [
        (name, unit)
        for name, joint in _joints(model)
        for unit in (*_units(joint, channel), *_mode_units(model, name, channel))
    ]


def _joints(model: Model) -> list[tuple[str, Joint]]:
    """Those that have columns in a log."""
    return [(name, model.joints[model.joint_index(name)]) for name in model.independent_joints]


def _unit_order(unit: str) -> int:
    """Angles, lengths, quaternions: the same in every channel, so that panels face each other."""
    return 2 if not unit else int(not unit.startswith(("rad", "N·m")))


def _kind(unit: str) -> str:
    return "angular" if unit.startswith("rad") else "linear"


def _mode_units(model: Model, joint: str, channel: str) -> tuple[str, ...]:
    """The unit of each mode of the body that a joint carries."""
    body = model.flexible.get(model.body_names[model.joint_index(joint)])
    units = body.units if body else ()
    if channel == "q":
        return units
    return tuple(_RATES[unit][("v", "vdot", "tau").index(channel)] for unit in units)


def _units(joint: Joint, channel: str) -> tuple[str, ...]:
    """The unit of each column of a joint."""
    if channel == "q":
        return joint.q_units
    return tuple(_RATES[unit][("v", "vdot", "tau").index(channel)] for unit in joint.v_units)
