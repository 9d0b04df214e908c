"""A beam as rigid pieces with elastic joints between them: right for any deflection.

Each spring stands for a length d of the beam around it and has its stiffness over d. So an end that
passes a moment on has half a piece, as the root always has and the tip if it carries something.
Frequencies and deflections converge like 1/n².
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skodyn.model.builder_entries import BodyDescription
from skodyn.model.flexible.beam_bodies import first_frequencies
from skodyn.model.flexible.beams import Beam, BeamNumbers
from skodyn.model.joints import Gimbal, Joint, Universal
from skodyn.model.properties import JointProperties
from skodyn.typing import Floats

__all__ = ["Segments", "segments_of"]


@dataclass(frozen=True)
class Segments:
    """What became of a beam: its pieces, where each begins, and their elastic joints."""

    bodies: tuple[BodyDescription, ...]
    starts: tuple[float, ...]
    properties: Mapping[str, JointProperties]

    def place(self, x: float) -> tuple[str, float]:
        """The piece that has this point of the beam, and where in it the point lies."""
        k = int(np.searchsorted(self.starts, x * (1.0 + 1e-12), side="right")) - 1
        return self.bodies[k].name, x - self.starts[k]


def segments_of(body: BodyDescription, beam: Beam, tip_carries: bool) -> Segments:
    """The pieces NAME.1, NAME.2 … of a body that was found valid."""
    assert beam.segments is not None
    numbers = beam.numbers
    pitch = numbers.length / (beam.segments - (1.0 if tip_carries else 0.5))
    sizes = np.full(beam.segments, pitch)
    sizes[0] *= 0.5
    if tip_carries:
        sizes[-1] *= 0.5
    starts = np.concatenate(([0.0], np.cumsum(sizes)[:-1]))
    names = [f"{body.name}.{k + 1}" for k in range(beam.segments)]
    carried_by = replace(body.joint, name=body.joint.joint_name or body.name)  # type: ignore[call-arg]
    pieces = [replace(body, name=names[0], joint=carried_by, flexible=None)]
    for before, name, size in zip(names[:-1], names[1:], sizes[:-1].tolist(), strict=True):
        place = (size, 0.0, 0.0)
        pieces.append(
            BodyDescription(name, before, _elastic_joint(numbers), place, None, 0.0, None, None)
        )
    weighed = [
        replace(piece, **_weight(numbers, size))
        for piece, size in zip(pieces, sizes.tolist(), strict=True)
    ]
    elastic = _springs(beam, pitch)
    return Segments(tuple(weighed), tuple(starts.tolist()), dict.fromkeys(names[1:], elastic))


def _elastic_joint(numbers: BeamNumbers) -> Joint:
    """Two bends, and twist where the beam has a stiffness against it."""
    bends = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    return Gimbal((1.0, 0.0, 0.0), *bends) if numbers.torsion else Universal(*bends)


def _weight(numbers: BeamNumbers, size: float) -> dict[str, Any]:
    mass = numbers.mass * size
    y, z = (rotary * size for rotary in numbers.rotary)
    rod = mass * size * size / 12.0
    inertia: Floats = np.diag([y + z, rod + z, rod + y])
    return {"mass": mass, "com": (0.5 * size, 0.0, 0.0), "inertia": inertia}


def _springs(beam: Beam, pitch: float) -> JointProperties:
    """Stiffness of each axis; dampers in proportion, so that the lowest mode has its part."""
    numbers = beam.numbers
    in_y, in_z = numbers.bending
    stiffness = [*([numbers.torsion] if numbers.torsion else []), in_z, in_y]
    per_joint = tuple(k / pitch for k in stiffness)
    ratio = float(np.asarray(beam.damping, dtype=np.float64).reshape(-1)[0])
    if not ratio:
        return JointProperties(stiffness=per_joint)
    slowest = first_frequencies(numbers)[-len(stiffness) :]
    damping = (2.0 * ratio * k / w for k, w in zip(per_joint, slowest, strict=True))
    return JointProperties(stiffness=per_joint, damping=tuple(damping))
