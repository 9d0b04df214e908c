"""The tables of keys in docs/model-files.md, written from the reader and from docstrings.

python -m skodyn.scenario.model_page docs/model-files.md      # renew them in place

Which keys there are, the reader of model files says; what they mean, the docstrings of
`ModelBuilder`, of joints and of shapes.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from skodyn.conventions import DEFAULT_GRAVITY
from skodyn.io.flexible_tables import FLEXIBLE_KEYS
from skodyn.io.model_toml import KEYS, MIMIC_KEYS
from skodyn.io.shape_tables import shape_keys
from skodyn.model.description import ModelBuilder
from skodyn.model.flexible.beams import BEAM_KEYS, Beam
from skodyn.model.joints import CATALOGUE, CLOSING
from skodyn.model.shapes import SHAPES
from skodyn.scenario.page import between, default_words

__all__ = ["key_tables", "renewed"]

_MODULE = f"{__package__}.model_page"
BEGIN = f"<!-- keys: written by `python -m {_MODULE} docs/model-files.md` -->"

_GROUPS = {
    "bodies": ("`[bodies.NAME]`", ModelBuilder.add_body),
    "frames": ("`[frames.NAME]`", ModelBuilder.add_frame),
    "loops": ("`[loops.NAME]`", ModelBuilder.add_loop),
    "couplings": ("`[couplings.NAME]`", ModelBuilder.add_coupling),
}
_MUST = {"bodies": ("parent",)}  # what a file must say although a builder has a default
_FURTHER = {
    "collisions": "tables of shapes that can touch, see below",
    "visuals": "tables of shapes to look at, see below",
    "joint": "`{ type = …, … }`, see below",
    "flexible": "a table, see below; mass, com and inertia are then those of the beam",
}
_PLACES = {
    "translation": "its origin in the body's axes, from the body's origin, m",
    "rotation": "a 3×3 rotation matrix, or a unit quaternion [w, x, y, z]",
    "color": '"#RRGGBB", or red, green, blue and perhaps alpha from 0 to 1; of visuals only',
}
_ROD = "Keeps the origins of two frames at a length, without mass; it closes loops only."
_FILE = "an HDF5 file that `FlexibleBody.save` wrote, seen from this file; nothing else beside it"


def key_tables() -> str:
    """One Markdown table for each table of a model file, one row for each joint and shape."""
    top = {
        "name": ("the file's name", "of the model"),
        "gravity": (default_words(DEFAULT_GRAVITY), "in world axes, m/s²"),
    }
    sections = [
        _table("At the top of the file", top),
        *(_group(name, *given) for name, given in _GROUPS.items()),
        _table(
            "`joint = { … }`: joints", _joints(), ("type", "its own keys", "what it does, and q")
        ),
        _joint_keys(),
        _mimic(),
        _shapes(),
        _table("All shapes", {key: ("—", text) for key, text in _PLACES.items()}),
        _flexible(),
    ]
    return "\n\n".join(sections)


def renewed(page: str) -> str:
    """The page with its tables as they should be."""
    return between(page, BEGIN, key_tables())


def _table(
    title: str,
    rows: Mapping[str, tuple[str, str]],
    heads: Sequence[str] = ("key", "if left out", "meaning"),
) -> str:
    lines = [f"### {title}", "", f"| {' | '.join(heads)} |", "|" + " --- |" * len(heads)]
    lines += [f"| `{key}` | {default} | {text} |" for key, (default, text) in rows.items()]
    return "\n".join(lines)


def _group(name: str, title: str, adder: Any) -> str:
    meant, signature = parameters(adder), inspect.signature(adder).parameters
    rows = {}
    for key in (*KEYS[name], *(("collisions", "visuals") if name == "bodies" else ())):
        if key in ("collisions", "visuals"):
            rows[key] = ("—", _FURTHER[key])
            continue
        default = signature[key].default
        must = default is inspect.Parameter.empty or key in _MUST.get(name, ())
        text = meant[key] if name == "couplings" else _FURTHER.get(key, meant[key])
        rows[key] = (default_words(MISSING if must else default), text)
    return _table(title, rows)


def _joints() -> dict[str, tuple[str, str]]:
    rows = {}
    for name, kind in {**CATALOGUE.built_in, **CLOSING}.items():
        own = [f.name for f in fields(kind) if f.name not in ("name", "armature")]
        text = summary(kind) if name in CATALOGUE.built_in else _ROD
        rows[name] = (", ".join(f"`{key}`" for key in own) or "—", text)
    return rows


def _joint_keys() -> str:
    """Every parameter of any joint, once for each meaning that it has."""
    rows: dict[str, tuple[str, str]] = {}
    heads = ("key", "if left out", "of, and meaning")
    for name, kind in {**CATALOGUE.built_in, **CLOSING}.items():
        meant = parameters(kind) or {"length": "The distance that it keeps, m"}
        for f in (f for f in fields(kind) if f.name in meant):
            text = meant[f.name]
            if f.name in ("name", "armature"):
                rows.setdefault(f.name, (default_words(f.default), f"all: {text}"))
                continue
            before = rows.get(f.name, (default_words(f.default), ""))[1]
            if before.endswith(f": {text}"):
                words = before.removesuffix(f": {text}") + f", {name}: {text}"
                rows[f.name] = (rows[f.name][0], words)
            else:
                words = f"{before}; {name}: {text}" if before else f"{name}: {text}"
                rows[f.name] = (default_words(f.default), words)
    return _table("`joint = { … }`: keys of joints", rows, heads)


def _mimic() -> str:
    meant = parameters(ModelBuilder.add_mimic) | {"joint": "the joint it follows"}
    defaults = inspect.signature(ModelBuilder.add_mimic).parameters
    rows = {
        key: (default_words(MISSING if key == "joint" else defaults[key].default), meant[key])
        for key in MIMIC_KEYS
    }
    return _table("`joint = { …, mimic = { … } }`: a joint that follows another", rows)


def _shapes() -> str:
    rows = {}
    for word, kind in SHAPES.items():
        keys = [_shape_key(f) for f in fields(kind) if f.name in shape_keys(kind)]
        text = "A mesh file; to look at only." if word == "mesh" else summary(kind)
        rows[word] = (", ".join(keys), text)
    title = (
        "`[bodies.NAME.collisions.SHAPE]`, `[ground.SHAPE]`, `[bodies.NAME.visuals.SHAPE]`, "
        "`[scenery.SHAPE]`"
    )
    return _table(title, rows, ("type", "its own keys", "what it is"))


def _shape_key(f: Any) -> str:
    return f"`{f.name}`" + ("" if f.default is MISSING else f" ({default_words(f.default)})")


def _flexible() -> str:
    meant, defaults = parameters(Beam), {f.name: f.default for f in fields(Beam)}
    rows: dict[str, tuple[str, str]] = {}
    for key in FLEXIBLE_KEYS:
        if key == "beam":
            rows |= {f"beam.{k}": (default_words(defaults[k]), meant[k]) for k in BEAM_KEYS}
        elif key == "file":
            rows[key] = ("—", _FILE)
        else:
            given = None if defaults[key] is MISSING else defaults[key]
            rows[key] = (default_words(given), meant[key])
    return _table("`[bodies.NAME.flexible]`", rows)


# ---- docstrings ---------------------------------------------------------------------------------


def summary(thing: Any) -> str:
    """What stands before the first section of a docstring, as one line."""
    text = inspect.cleandoc(thing.__doc__ or "")
    return " ".join(re.split(r"\n[^\n]+\n-{3,}\n", text)[0].split())


def parameters(thing: Any) -> dict[str, str]:
    """What a numpydoc docstring says of each parameter."""
    text = inspect.cleandoc(thing.__doc__ or "")
    found = re.search(r"\nParameters\n-+\n(.*?)(?:\n\n[A-Z][^\n]*\n-{3,}\n|\Z)", text, re.DOTALL)
    return dict(_entries(found[1].splitlines())) if found else {}


def _entries(lines: Iterable[str]) -> Iterable[tuple[str, str]]:
    name, words = "", list[str]()
    for line in (*lines, "end :"):
        if line.startswith(" ") or not line:
            words.append(line.strip())
            continue
        if name:
            yield name, " ".join(words).strip().removesuffix(".").replace("|", "\\|")
        name, words = line.partition(" :")[0], []


def main(arguments: Sequence[str]) -> None:
    for name in arguments:
        page = Path(name).read_text(encoding="utf-8")
        Path(name).write_text(renewed(page), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
