"""Bodies that bend, on their way from a description to a model.

Beams in segments become rigid bodies with elastic joints. Those with modes become a rigid body that
weighs the same, and their modes beside it, which `flexible_packing.with_flexible` puts back in.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from skodyn.conventions import GROUND
from skodyn.faults import Fault
from skodyn.model.builder_entries import BodyDescription, FrameDescription
from skodyn.model.columns import as_floats
from skodyn.model.flexible.beam_bodies import beam_body
from skodyn.model.flexible.beam_checks import beam_faults
from skodyn.model.flexible.beams import Beam
from skodyn.model.flexible.bending_checks import (
    axis_fault,
    besides_faults,
    free_fault,
    node_faults,
    reference_faults,
)
from skodyn.model.flexible.bent import UNREAD, Bent, BentBody, Hanging
from skodyn.model.flexible.modal_body import ROOT, TIP, FlexibleBody
from skodyn.model.flexible.segments import Segments, segments_of
from skodyn.model.joints import Fixed
from skodyn.model.mechanisms.mechanism_bodies import with_lists
from skodyn.model.subjects import subject

if TYPE_CHECKING:
    from skodyn.model.description import ModelBuilder

__all__ = ["bend", "node_names"]


def bend(described: ModelBuilder, faults: list[Fault]) -> Bent:
    """The description with flexible bodies replaced; what is wrong with them goes to faults."""
    bodies, frames = described.bodies, described.frames
    flexible = {b.name: b for b in bodies if b.flexible is not None and isinstance(b.name, str)}
    before = len(faults)
    for body in flexible.values():
        faults += _faults(body)
    unread = [name for name, b in flexible.items() if b.flexible is UNREAD]
    nodes = {name: node_names(b.flexible) for name, b in flexible.items()}
    for what, given, key in (("Body", bodies, "parent"), ("Frame", frames, "body")):
        for one in (x for x in given if getattr(x, key) not in unread):
            faults += node_faults(one, getattr(one, key), nodes, subject(what, one.name))
    faults += reference_faults(described, flexible)
    owners = [*(b.parent for b in bodies), *(f.body for f in frames)]
    named = all(isinstance(owner, str) for owner in owners)  # the others are judged elsewhere
    if named and len(faults) == before and not unread:
        return _replaced(described, flexible, faults)
    stand_ins = [_stand_in(b) if b.flexible is not None else replace(b, at=None) for b in bodies]
    return Bent(with_lists(described, bodies=stand_ins))


def node_names(given: Any) -> tuple[str, ...]:
    """The nodes that bodies and frames can be placed at."""
    own = given.nodes if isinstance(given, Beam | FlexibleBody) else {}
    return tuple(dict.fromkeys((ROOT, TIP, *(own if isinstance(own, Mapping) else ()))))


def _stand_in(body: BodyDescription) -> BodyDescription:
    """A rigid body, so that all else can be judged."""
    weighed = {"mass": 1.0, "com": (0.5, 0.0, 0.0), "inertia": np.eye(3)}
    return replace(body, **weighed, flexible=None, at=None)  # type: ignore[arg-type]


def _faults(body: BodyDescription) -> list[Fault]:
    """Everything that can be said of a flexible body by itself."""
    whose = subject("Body", body.name)
    faults = besides_faults(body, whose)
    if isinstance(body.flexible, Beam):
        return faults + beam_faults(body.flexible, whose)
    if isinstance(body.flexible, FlexibleBody) or body.flexible is UNREAD:
        return faults
    return [*faults, whose.found("flexible", body.flexible, "give a Beam or a FlexibleBody.")]


# ---- replaced -----------------------------------------------------------------------------------


def _replaced(
    described: ModelBuilder, flexible: dict[str, BodyDescription], faults: list[Fault]
) -> Bent:
    hanging = _hanging(described.bodies, flexible, "parent")
    framed = _hanging(described.frames, flexible, "body")
    bent = Bent(described)
    pieces: dict[str, Segments] = {}
    reduced: dict[bytes, FlexibleBody] = {}
    bodies: list[BodyDescription] = []
    for body in described.bodies:
        if body.name not in flexible:
            bodies.append(body)
            continue
        carried, frames = hanging[body.name], framed[body.name]
        found = axis_fault(body, bool(carried), subject("Body", body.name))
        faults += found
        if found:
            bodies.append(_stand_in(body))
        elif isinstance(body.flexible, Beam) and body.flexible.segments is not None:
            on_tip = any(one.node == TIP for one in carried.values())
            own = segments_of(body, body.flexible, on_tip)
            pieces[body.name] = own
            bodies += own.bodies
            bent.properties |= own.properties
            names = tuple(piece.name for piece in own.bodies)
            bent.bodies[body.name] = BentBody(body.flexible, names, carried, frames)
        else:
            modal = _modal(body, carried, faults, reduced)
            bodies.append(modal.rigid)
            bent.modal[body.name] = modal.body
            bent.bodies[body.name] = BentBody(body.flexible, (), carried, frames)
    at_nodes = [f for f in described.frames if f.body in bent.modal and f.at is not None]
    bodies += [_as_body(frame) for frame in at_nodes]
    bodies = [_placed(b, b.parent, flexible, pieces, bent) for b in bodies]
    on_frames = [_on_piece(f, flexible, pieces) for f in described.frames if f not in at_nodes]
    bent.builder = with_lists(described, bodies=bodies, frames=on_frames)
    return bent


def _hanging(given: list[Any], flexible: Mapping[str, Any], key: str) -> dict[str, Any]:
    """By flexible body: what is placed at which of its nodes."""
    found: dict[str, dict[str, Hanging]] = {name: {} for name in flexible}
    for one in given:
        owner = getattr(one, key)
        if isinstance(owner, str) and owner in flexible:
            found[owner][one.name] = Hanging(one.at or ROOT, one.translation)
    return found


class _Modal(NamedTuple):
    rigid: BodyDescription
    body: FlexibleBody


def _modal(
    body: BodyDescription,
    carried: Mapping[str, Hanging],
    faults: list[Fault],
    reduced: dict[bytes, FlexibleBody],
) -> _Modal:
    """The modes of a body, and a rigid one that weighs the same; equal beams are reduced once."""
    found = body.flexible
    nodes = {one.node for one in carried.values()}
    nodes |= set(found.loaded if isinstance(found, Beam) else ())
    free = getattr(body.joint, "is_floating", False) and body.parent == GROUND and not nodes
    if isinstance(found, Beam):
        key = pickle.dumps((found, sorted(nodes), free))
        if key not in reduced:
            reduced[key] = beam_body(found, sorted(nodes), free=free)
        found = reduced[key]
    else:
        faults += free_fault(found, free, subject("Body", body.name))
    com = found.first_moment / found.mass
    about = found.mass * (com @ com * np.eye(3) - np.outer(com, com))
    weighed = {"mass": found.mass, "com": com, "inertia": found.inertia - about}
    return _Modal(replace(body, **weighed, flexible=None), found)


def _placed(
    body: BodyDescription,
    parent: str,
    flexible: Mapping[str, BodyDescription],
    pieces: Mapping[str, Segments],
    bent: Bent,
) -> BodyDescription:
    if parent in pieces:
        on_piece: BodyDescription = _moved(
            body, "parent", flexible[parent].flexible, pieces[parent]
        )
        return on_piece
    if parent in flexible:
        bent.attached[body.name] = body.at or ROOT
    return replace(body, at=None) if body.at is not None else body


def _as_body(frame: FrameDescription) -> BodyDescription:
    """A frame at a node moves with it, as a body without mass does that is fixed there."""
    place = (frame.translation, frame.rotation)
    weight = (0.0, (0.0, 0.0, 0.0), np.zeros((3, 3)))
    return BodyDescription(frame.name, frame.body, Fixed(), *place, *weight, None, frame.at)


def _on_piece(
    frame: FrameDescription,
    flexible: Mapping[str, BodyDescription],
    pieces: Mapping[str, Segments],
) -> FrameDescription:
    if frame.body in pieces:
        beam = flexible[frame.body].flexible
        frame = _moved(frame, "body", beam, pieces[frame.body])
    return frame


def _moved(one: Any, key: str, beam: Beam, own: Segments) -> Any:
    """Fixed to the piece that has the node."""
    parts = {ROOT: 0.0, TIP: 1.0, **beam.nodes}
    piece, x = own.place(float(parts[one.at or ROOT]) * float(beam.length))
    shift = as_floats(one.translation)
    if shift is None or shift.shape != (3,):
        return replace(one, **{key: piece, "at": None})  # it will be refused
    return replace(one, **{key: piece, "at": None, "translation": shift + np.array([x, 0.0, 0.0])})
