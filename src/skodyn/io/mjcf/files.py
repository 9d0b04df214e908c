"""Files that an MJCF model names: each must lie in its own folder or in a search path.

MuJoCo opens meshes, textures and included files by itself, wherever they are. So all names are
looked at first, and none that leads out of the search paths reaches it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from skodyn.errors import ModelError
from skodyn.faults import Fault
from skodyn.io.robots.meshes import inside
from skodyn.io.xml_source import Element, XmlSource

__all__ = ["check_files"]

_FOLDERS = ("meshdir", "texturedir", "assetdir")
_MOST_FILES = 1000


def check_files(source: XmlSource, search_paths: Sequence[str | os.PathLike[str]]) -> None:
    """Raise ModelError for every file outside the allowed folders."""
    folder = os.path.realpath(source.path.parent)
    allowed = (folder, *(os.path.realpath(path) for path in search_paths))
    read = {os.path.realpath(source.path): source}
    waiting = [source]
    folders = {""}
    named: list[tuple[XmlSource, Element, str]] = []
    faults: list[Fault] = []
    while waiting:
        one = waiting.pop()
        for element in _all(one.root):
            folders |= {element.attributes[k] for k in _FOLDERS if k in element.attributes}
            for key, value in element.attributes.items():
                if key.startswith("file"):
                    named.append((one, element, value))
            if element.tag in ("include", "model") and "file" in element.attributes:
                for path in _places(element.attributes["file"], folder, one, {""}):
                    real = inside(path, allowed)
                    if real and real not in read and len(read) < _MOST_FILES:
                        read[real] = XmlSource(path, ModelError)
                        waiting.append(read[real])
    for one, element, value in named:
        places = _places(value, folder, one, folders)
        if any(not inside(path, allowed) for path in places):
            what = f"<{element.tag}> names {value!r}, which is outside the search paths"
            faults.append(one.fault(element.line, what, "add its folder to search_paths."))
    if faults:
        raise ModelError(faults)


def _places(name: str, folder: str, source: XmlSource, folders: set[str]) -> list[str]:
    """Every file that MuJoCo may take a name for."""
    starts = {folder, os.path.dirname(os.path.realpath(source.path)), os.getcwd()}
    paths = {os.path.join(start, inner, name) for start in starts for inner in folders}
    return sorted(path for path in paths if os.path.isfile(path))


def _all(root: Element) -> Iterator[Element]:
    waiting = [root]
    while waiting:
        element = waiting.pop()
        yield element
        waiting += element.children
