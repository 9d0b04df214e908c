"""Of whom the faults of a model are: the words that name a part, and the path of keys to it.

The path is that of a model file; what is described in Python has the same.
"""

from __future__ import annotations

from typing import Any

from skodyn.faults import Subject, shown

__all__ = ["GROUPS", "MODEL", "joint_subject", "subject"]

GROUPS = {
    "Body": "bodies",
    "Frame": "frames",
    "Loop": "loops",
    "Coupling": "couplings",
    "Link": "links",
    "Joint": "joints",
}
"""The table of a model file in which each kind of part stands."""

MODEL = Subject(words="The model")


def subject(what: str, name: Any, more: str = "", *inside: str) -> Subject:
    """A part of the model, by its kind and name.

    more: further words, for what stands inside it: ", revolute joint".
    """
    text = name if isinstance(name, str) else shown(name)
    return Subject(
        (GROUPS[what], text, *inside),
        f"{what} {shown(name)}{more}",
        body=text if what in ("Body", "Link") else "",
        joint=text if what == "Joint" else "",
    )


def joint_subject(name: Any, body: Any = "", *inside: str) -> Subject:
    """A joint by its name, which stands in the table of the body that it carries."""
    joint, carried = (given if isinstance(given, str) else shown(given) for given in (name, body))
    path = ("bodies", carried, "joint", *inside) if carried else ()
    return Subject(path, f"Joint {shown(name)}", carried, joint)
