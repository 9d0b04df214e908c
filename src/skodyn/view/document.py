"""One HTML file with scene, recording and player in it. It asks the network for nothing.

Arrays go into one block of bytes (gzip, base64); where the header has an array, it says where in
the block it lies.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import math
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.channels.curves import Family
from skodyn.model.drawing import size_words
from skodyn.model.loops.loop_drawing import coupling_words
from skodyn.view.arrows import ArrowField
from skodyn.view.bent_shapes import SCALE
from skodyn.view.camera import FIELD_OF_VIEW, first_view, with_room
from skodyn.view.closures import ARROW_LOOKS, CLOSING, rgb
from skodyn.view.joint_table import FAR, joint_table, no_sliders
from skodyn.view.recording import LINE, Recording
from skodyn.view.rotations import quaternions
from skodyn.view.scene import Scene
from skodyn.view.shapes import Mesh

__all__ = ["replay_page"]

_SCRIPTS = (
    "geometry.js", "theme.js", "renderer.js", "camera.js", "compass.js", "replay.js", "closures.js",
    "arrows.js", "bent.js", "assembly.js", "joints.js", "live.js", "chart.js", "panel.js",
    "player.js",
)  # fmt: skip
_TURN_SCALE = 32767  # quaternions as 16-bit integers: within 3e-5 rad, half the size


class _Block:
    """Bytes of many arrays, each at a multiple of 8."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0

    def add(self, array: NDArray[Any], kind: str) -> dict[str, Any]:
        data = np.ascontiguousarray(array, dtype=f"<{kind}").tobytes()
        place = {"$at": self.size, "type": kind, "count": int(np.size(array))}
        self.parts += [data, bytes(-len(data) % 8)]
        self.size += len(data) + -len(data) % 8
        return place

    def text(self) -> str:
        packed = gzip.compress(b"".join(self.parts), compresslevel=6, mtime=0)
        return base64.b64encode(packed).decode()


def replay_page(recording: Recording, *, live: bool = False) -> str:
    """The page of a recording, complete. live: it hears of a run that goes on (live.py)."""
    block = _Block()
    scene = recording.scene
    header = {
        "title": recording.title,
        "about": _about(recording),
        "notes": list(recording.notes),
        "digits": _digits(recording),
        "times": block.add(recording.times, "f8"),
        "positions": block.add(recording.positions, "f4"),
        "turns": block.add(np.rint(recording.turns * _TURN_SCALE), "i2"),
        "coms": block.add(recording.model.com, "f4"),
        "bodies": _bodies(recording),
        "reaches": [round(x, 6) for x in scene.reaches.tolist()],
        "scene": _scene(scene, recording, block),
        "view": _view(recording, scene, live),
        "loops": _loops(recording),
        "closures": _closures(recording, block),
        "arrows": [_arrows(field, block) for field in recording.arrows],
        "arrowLooks": {"extent": recording.arrow_size, **ARROW_LOOKS},
        "bent": _bent(recording, block),
        "live": live,
        "joints": joint_table(recording.model, recording.q, scene.extent),
        **_signals(recording, block),
    }
    values = {
        "title": html.escape(recording.title),
        "connect": "; connect-src 'self'" if live else "",
        "style": _asset("style.css"),
        "run": json.dumps(header, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        "blob": block.text(),
        "script": "\n".join(_asset(name) for name in _SCRIPTS),
    }
    head, *rest = _asset("page.html").split("{{")
    parts = (piece.split("}}", 1) for piece in rest)
    return head + "".join(values[name] + after for name, after in parts)


def _asset(name: str) -> str:
    return (resources.files("skodyn.view") / "page" / name).read_text(encoding="utf-8")


def _about(recording: Recording) -> str:
    words = [size_words(recording.model)]
    if len(recording.times) > 1:
        words.append(f"{len(recording.times)} frames")
    return ", ".join(words)


def _digits(recording: Recording) -> int:
    """Decimals of the clock: enough to tell frames apart."""
    gaps = np.diff(recording.times)
    smallest = float(gaps[gaps > 0].min()) if (gaps > 0).any() else 1.0
    return int(np.clip(math.ceil(-math.log10(smallest)), 1, 6))


def _bodies(recording: Recording) -> list[dict[str, Any]]:
    """The tree as rows; an only child stands right below its parent, as in `skodyn info`. share:
    of the mass, for the centre of all."""
    model = recording.model
    total = float(model.mass.sum())
    shares = model.mass / total if total > 0 else np.full(model.n_bodies, 1 / model.n_bodies)
    depths: list[int] = []
    children = np.diff(model.tree.child_start).tolist()
    for p in model.parent.tolist():
        depths.append(0 if p < 0 else depths[p] + (children[p] > 1))
    swatches = recording.scene.swatches
    columns = (model.body_names, depths, swatches, model.joints, shares.tolist())
    return [
        {"name": name, "depth": depth, "colour": colour, "joint": joint.type_name, "share": share}
        for name, depth, colour, joint, share in zip(*columns, strict=True)
    ]


def _loops(recording: Recording) -> dict[str, Any]:
    """What stands beside the tree: loops with the joint that closes them, couplings, notes."""
    model, ends = recording.model, recording.ends
    rows: list[dict[str, Any]] = [
        {"name": name, "what": loop.joint.type_name, "of": f"{loop.body_a} – {loop.body_b}"}
        | {"bodies": [int(ends.body_a[i]), int(ends.body_b[i])], "colour": CLOSING}
        for i, (name, loop) in enumerate(model.loops.items())
    ]
    for name, coupling in model.couplings.items():
        bodies = [model.joint_index(joint) for joint in coupling.joints]
        words = {"name": name, "what": "coupling", "of": coupling_words(coupling)}
        rows.append(words | {"bodies": bodies, "colour": ""})
    notes = [f"{one.title}, {one.note}" for one in recording.signals if one.note]
    if recording.q is not None and model.has_loops and no_sliders(model, recording.q):
        notes.append(no_sliders(model, recording.q))
    return {"rows": rows, "notes": notes}


def _closures(recording: Recording, block: _Block) -> dict[str, Any] | None:
    """What page/closures.js draws lines and arrows from."""
    if not recording.model.loops:
        return None
    ends, scene, scale = recording.ends, recording.scene, recording.arrow_scale
    places = {
        "bodyA": ends.body_a.tolist(),
        "bodyB": ends.body_b.tolist(),
        "pointA": block.add(ends.point_a, "f4"),
        "pointB": block.add(ends.point_b, "f4"),
    }
    looks = {"line": LINE * scene.radius, "extent": scene.extent, **ARROW_LOOKS}
    if recording.wrenches is None:
        return {**places, **looks}
    wrenches = block.add(recording.wrenches, "f4")
    return {**places, **looks, "wrenches": wrenches, "force": scale.force, "moment": scale.moment}


def _arrows(field: ArrowField, block: _Block) -> dict[str, Any]:
    """What page/arrows.js draws from; vectors as 16-bit integers, in parts of the largest."""
    peak = float(np.abs(field.vectors).max(initial=0.0)) or 1.0
    data: dict[str, Any] = {
        "layer": field.layer,
        "words": field.words,
        "unit": field.unit,
        "count": field.count,
        "usual": field.usual,
        "peak": peak,
        "keys": list(field.keys),
        "colours": [rgb(colour) for colour in field.colours],
        "lineColour": rgb(field.colours[-1]),
        "vectors": block.add(np.rint(field.vectors / peak * _TURN_SCALE), "i2"),
    }
    if field.places is not None:
        data["places"] = block.add(field.places, "f4")
    if field.bodies is not None and field.points is not None:
        data |= {"bodies": field.bodies.tolist(), "points": block.add(field.points, "f4")}
    if field.states is not None:
        data["states"] = block.add(field.states, "u1")
    if field.ends is not None:
        bodies, points = field.ends
        data["ends"] = {"bodies": bodies.tolist(), "points": block.add(points, "f4")}
    return data


def _bent(recording: Recording, block: _Block) -> dict[str, Any] | None:
    """What page/bent.js draws flexible bodies from."""
    if not recording.scene.bent:
        return None
    surfaces = []
    for shape, modes in zip(recording.scene.bent, recording.modes, strict=True):
        parts = (shape.moves,) if shape.turns is None else (shape.moves, shape.turns)
        table = np.stack(parts, axis=-1).transpose(0, 2, 3, 1)  # station, shape, part, axis
        numbers = {"stations": shape.stations, "normals": shape.normals, "arms": shape.arms}
        surfaces.append(
            {name: block.add(array, "f4") for name, array in numbers.items()}
            | {
                "body": shape.body,
                "colour": shape.colour.tolist(),
                "modes": shape.flexible.modes,
                "count": shape.flexible.shapes,
                "turns": shape.turns is not None,
                "shapes": block.add(table, "f4"),
                "slaves": block.add(shape.flexible.slaves, "f4"),
                "values": block.add(modes, "f4"),
                "station": block.add(shape.station, "u4"),
                "triangles": block.add(shape.triangles, "u4"),
            }
        )
    expected = FAR * max(shape.flexible.length for shape in recording.scene.bent)
    largest = recording.largest_deflection or expected  # of a run that is yet to come
    sizes = {"largest": largest, "exaggerate": recording.exaggerate}
    return {"surfaces": surfaces, "scale": SCALE, **sizes}


def _mesh(mesh: Mesh, block: _Block) -> dict[str, Any]:
    data = {
        "vertices": block.add(mesh.vertices, "f4"),
        "normals": block.add(mesh.normals, "f4"),
        "triangles": block.add(mesh.triangles, "u4"),
    }
    if mesh.colours is not None:
        data["colours"] = block.add(mesh.colours, "f4")
    return data


def _scene(scene: Scene, recording: Recording, block: _Block) -> dict[str, Any]:
    floor = ("floor",) if np.any(recording.model.gravity) else ()
    return {
        "extent": scene.extent,
        "shown": [*scene.shown, *floor, "compass"],
        "meshes": {name: _mesh(mesh, block) for name, mesh in scene.meshes.items()},
        "batches": [
            {
                "mesh": batch.mesh,
                "layer": batch.layer,
                "count": len(batch.instances),
                "instances": block.add(batch.upright(recording.upright), "f4"),
            }
            for batch in scene.batches
        ],
    }


def _view(recording: Recording, scene: Scene, live: bool) -> dict[str, Any]:
    view = first_view(recording, scene.extent)
    view = with_room(view, recording) if live else view
    return {
        "target": view.target,
        "distance": view.distance,
        "azimuth": view.azimuth,
        "elevation": view.elevation,
        "follow": view.follow,
        "floor": view.floor,
        "fieldOfView": FIELD_OF_VIEW,
        "cell": view.cell,
        "upright": quaternions(recording.upright).tolist(),
    }


def _signals(recording: Recording, block: _Block) -> dict[str, Any]:
    """Every curve by name, and which of them are plotted at first."""
    signals: list[dict[str, Any]] = []
    first: list[int] = []
    for family in recording.signals:
        for i, name in enumerate(family.names):
            if len(first) < 3 and family.channel == ("energy" if _has_energy(recording) else "q"):
                first.append(len(signals))
            label = _label(family, name)
            values = block.add(family.values[:, i], "f4")
            signals.append({"name": label, "unit": family.unit, "values": values})
    return {"signals": signals, "plotted": first}


_SUFFIX = {"v": "velocity", "vdot": "acceleration", "tau": "force"}


def _label(family: Family, name: str) -> str:
    """What a curve is called in the page."""
    if family.channel == "q":
        return name
    if family.channel in _SUFFIX:
        return f"{name} {_SUFFIX[family.channel]}"
    return f"{name} {family.title}" if family.unit else family.title


def _has_energy(recording: Recording) -> bool:
    return any(family.channel == "energy" for family in recording.signals)
