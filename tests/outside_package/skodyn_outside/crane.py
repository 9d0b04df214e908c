"""A joint: it slides along a rail, then turns about the vertical."""

from dataclasses import dataclass

import skodyn as sk


@dataclass(frozen=True)
class Crane(sk.Joint):
    """q is (length along x, angle about z)."""

    name: str | None = None
    type_name = "crane"
    nq = nv = 2

    def twists(self):
        still = (0.0, 0.0, 0.0)
        return (still, (1.0, 0.0, 0.0)), ((0.0, 0.0, 1.0), still)
