"""What metrics see of named frames: their origins in the world, behind what contacts do.

A part of its own in the place of that which looks at contacts alone, so that loops of runs without
such metrics stay as they are. Origins of frames in their bodies are numbers of each run: they can
be parameters of a sweep. The operations are those of frame_motion.py, so are the bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skodyn.dynamics.frames import frame_poses, frame_table
from skodyn.jit import COUNT, helper
from skodyn.kernels.frame_motion import FRAME
from skodyn.kernels.kinematics import scatter_poses
from skodyn.kernels.mimics import full_model
from skodyn.kernels.packed_model import entry
from skodyn.kernels.rows import store_row3
from skodyn.kernels.status import OK
from skodyn.kernels.tuples import load3, load_matrix
from skodyn.kernels.workspace import BODY, body_slot
from skodyn.lanes import parts_of
from skodyn.model.contact import contact_layout as its
from skodyn.model.layout import PARENT
from skodyn.model.model import Model
from skodyn.simulation.contact.contact_looks import look_at_contacts
from skodyn.simulation.element_tools import numbers3
from skodyn.simulation.structures import ROWS, STATE, SYSTEM
from skodyn.spatial.linear3 import add, multiply_vector
from skodyn.typing import Floats

__all__ = ["LOOK_AT_FRAMES", "NO_FRAMES", "FrameOrigins", "codes_of", "looks_of", "origins_of"]

# codes of a look: where contacts begin (0: nobody asks for them), how many frames, where their
# numbers begin, then the body of each frame
CONTACTS, FRAMES, NUMBERS, BODIES = range(4)


class FrameOrigins(NamedTuple):
    """Frames by their bodies, −1 for the world, and their origins in the bodies' kernel frames."""

    bodies: NDArray[np.int64]
    numbers: Floats  # (…, 3·frames)


NO_FRAMES = FrameOrigins(np.zeros(0, dtype=np.int64), np.zeros((0, 0)))


@helper
def look_at_frames(work, system, at, state, out):
    """LOOKS of every contact point if asked for, then the origin of each frame."""
    model, codes, first = full_model(system.model), system.codes, 0
    if codes[at + CONTACTS] > 0:
        look_at_contacts(work, system, codes[at + CONTACTS], state, out)
        first = 3 * codes[codes[at + CONTACTS] + its.POINTS]
    scatter_poses(work, model, state.q)
    for i in range(codes[at + FRAMES]):
        k = codes[at + BODIES + i]
        origin = numbers3(work, system.numbers, codes[at + NUMBERS] + 3 * i)
        place = multiply_vector(load_matrix(work, body_slot(k) + BODY.ROTATION), origin)
        while k >= 0:
            place = add(place, load3(work, body_slot(k) + BODY.ARM))
            k = entry(model, k, PARENT)
        store_row3(work, out, first + 3 * i, place)
    return OK


LOOK_AT_FRAMES = parts_of(look_at_frames, SYSTEM, COUNT, STATE, ROWS)


def codes_of(contacts: int, bodies: NDArray[np.int64], numbers_at: int) -> list[int]:
    """What the part reads where its look begins."""
    return [contacts, len(bodies), numbers_at, *bodies.tolist()]


def origins_of(model: Model, frames: Sequence[str]) -> FrameOrigins:
    """Frames of a model by name."""
    table = frame_table(model, tuple(frames))[1:].reshape(-1, FRAME)
    return FrameOrigins(table[:, 0].astype(np.int64), table[:, 10:].reshape(-1))


def looks_of(model: Model, q: Floats, frames: Sequence[str]) -> Floats:
    """(states, 3·frames) of rows of a run alone."""
    poses = frame_poses(model, q, frames, threads=1)
    return np.ascontiguousarray(poses[..., :3, 3]).reshape(len(q), -1)
