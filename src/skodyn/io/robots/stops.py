"""Position limits as compliant stops, for those who ask for them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from skodyn.faults import Subject
from skodyn.io.robots.findings import Findings
from skodyn.model.properties import JointLimits, JointProperties

__all__ = ["with_stops"]


def with_stops(
    properties: Mapping[str, JointProperties],
    limits: Mapping[str, JointLimits],
    findings: Findings,
    lines: Mapping[str, int],
) -> dict[str, JointProperties]:
    """The properties, with a stop at every position limit."""
    found = dict(properties)
    for name, limit in limits.items():
        if limit.lower == limit.upper:
            what = f"Joint {name!r}: lower and upper limit are both {limit.lower:g}"
            problem = f"{what}, so that stops would leave it no room"
            remedy, whose = "correct them, or load it without stops.", Subject(joint=name)
            findings.fault(lines.get(name, 0), problem, remedy, whose, limit.lower)
        elif math.isfinite(limit.lower) or math.isfinite(limit.upper):
            before = found.get(name, JointProperties())
            found[name] = replace(before, lower=limit.lower, upper=limit.upper)
    return found
