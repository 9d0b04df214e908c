"""A hash of everything in a model that decides a result."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from skodyn.model.loops.loop_description import frame_arrays
from skodyn.model.shapes import shape_text

if TYPE_CHECKING:
    from skodyn.model.model_data import ModelData

__all__ = ["content_hash"]


def content_hash(model: ModelData) -> str:
    """Stable hash of everything that decides a result, names included."""
    digest = hashlib.sha256()
    texts = (*model.body_names, "", *model.joint_names, "", *(j.type_name for j in model.joints))
    for text in texts:
        digest.update(text.encode() + b"\0")
    for array in (model.indices, model.parameters, model.alignment):
        digest.update(array.tobytes())
    for name, mimic in model.mimics.items():  # its numbers are among the parameters
        digest.update(f"{name}\0{mimic.source}\0".encode())
    for name, loop in model.loops.items():
        said = ("loop", name, loop.body_a, loop.body_b, loop.joint.type_name, "")
        digest.update("\0".join(said).encode())
        digest.update(b"".join(a.tobytes() for a in frame_arrays(loop)))
    for name, coupling in model.couplings.items():  # its numbers are among the parameters, too
        kind = "polynomial" if coupling.coefficients else "linear"
        digest.update("\0".join((kind, name, *coupling.joints, "")).encode())
    for name, frame in sorted(model.frames.items()):
        digest.update(f"{name}\0{frame.body}\0".encode())
        digest.update(frame.rotation.tobytes() + frame.translation.tobytes())
    for name, given in sorted(model.joint_properties.items()):
        digest.update(f"{name}\0{given!r}\0".encode())
    for name, bent in model.flexible.items():
        digest.update(f"{name}\0{bent.content_hash}\0".encode())
    for name, node in sorted(model.attached.items()):
        digest.update(f"{name}\0{node}\0".encode())
    for body, shapes in sorted(model.collisions.items()):
        for one in shapes:
            digest.update(f"{body}\0{one.name}\0{shape_text(one.shape)}\0".encode())
            digest.update(one.rotation.tobytes() + one.translation.tobytes())
            if one.surface is not None:
                digest.update(f"{one.surface!r}\0".encode())
    return digest.hexdigest()
