"""Controllers with a clock: the keys of samples, of their delay and noise (control_calls.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skodyn.model.keys import NOT_NEGATIVE, POSITIVE, key

__all__ = ["DELAY", "Q_NOISE", "SAMPLE_TIME", "V_NOISE", "sampling_faults"]

SAMPLE_TIME = key(POSITIVE, "s from one sample to the next, torques held in between")
DELAY = key(NOT_NEGATIVE, "s from a sample to its torques; with `sample_time` only")
Q_NOISE = key(NOT_NEGATIVE, "standard deviation of measured coordinates, rad or m")
V_NOISE = key(NOT_NEGATIVE, "standard deviation of measured velocities, rad/s or m/s")


def sampling_faults(given: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """What has no meaning without samples."""
    if given.get("sample_time"):
        return []
    remedy = "give sample_time too, or leave it out."
    return [
        (name, f"has a {name}, but its law is evaluated all the time", remedy)
        for name in ("delay", "q_noise", "v_noise")
        if given.get(name)
    ]
