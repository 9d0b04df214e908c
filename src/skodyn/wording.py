"""How faults are phrased: quoting, listing, arrows, and a guess at what was meant."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from typing import Any

from skodyn.errors import TopologyError
from skodyn.faults import Fault

__all__ = [
    "Spelling",
    "argument",
    "arrows",
    "did_you_mean",
    "hashable_names",
    "listed",
    "listed_items",
    "listed_nodes",
    "options_spoken",
    "quote",
]


_options: ContextVar[bool] = ContextVar("sentences speak of options", default=False)


@contextmanager
def options_spoken() -> Iterator[None]:
    """Inside, sentences speak of options of the command line instead of arguments."""
    before = _options.set(True)
    try:
        yield
    finally:
        _options.reset(before)


def argument(name: str, *, yes: bool = False) -> str:
    """What a person gave, or is to give: workers or --workers; if yes, force=True or --force."""
    if _options.get():
        return f"--{name}"
    return f"{name}=True" if yes else name


def quote(name: object) -> str:
    """A label as it stands in a sentence: 'arm' for a string, 3 for a number."""
    return repr(name)


def arrows(names: Iterable[Hashable]) -> str:
    """A path in full: a → b → c."""
    return " → ".join(str(name) for name in names)


def listed(names: Sequence[Hashable], limit: int = 12) -> str:
    """'a', 'b' and 'c'; a long list is cut short and says by how much."""
    words = [quote(name) for name in names[:limit]]
    if len(names) > limit:
        words.append(f"{len(names) - limit} more")
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def listed_nodes(nodes: object) -> list[Hashable]:
    """Nodes that were given as a list, or a sentence for what is none."""
    return listed_items(nodes, "nodes", "a list of nodes")


def listed_items(items: object, what: str, wanted: str) -> list[Any]:
    """What was given as a list, or a sentence that says what was wanted."""
    if not isinstance(items, Iterable):
        raise TopologyError(f"{what} is {quote(items)}", f"give {wanted}.")
    return list(items)


def hashable_names(names: list[Any]) -> list[Hashable]:
    """The names, or a sentence for each that can be none."""
    faults = [
        Fault(
            f"The node at position {k} is named {name!r}, a {type(name).__name__}",
            "give a name that cannot change, such as a string.",
        )
        for k, name in enumerate(names)
        if not _is_hashable(name)
    ]
    if faults:
        raise TopologyError(faults)
    return names


def _is_hashable(name: object) -> bool:
    try:
        hash(name)
    except TypeError:
        return False
    return True


class Spelling:
    """Guesses which known name was meant; on a budget, so that many typos stay cheap."""

    _COMPARISONS = 100_000

    def __init__(self, known: Collection[Hashable], cutoff: float = 0.6) -> None:
        self._known = known  # looked at only when a guess is wanted
        self._cutoff = cutoff  # how alike names must be; 1 is equal
        self._spent = 0

    def remedy(self, name: Hashable, otherwise: str) -> str:
        """'did you mean …?' when a known name is close, else the remedy given; ends a sentence."""
        meant = self.meant(name)
        return did_you_mean(meant) if meant else f"{otherwise}."

    def meant(self, name: Hashable) -> str:
        """The known name that is closest, if any is close; else ''."""
        if not isinstance(name, str) or self._spent >= self._COMPARISONS:
            return ""
        known = [other for other in self._known if isinstance(other, str)]
        self._spent += 1 + len(known)
        return next(iter(get_close_matches(name, known, n=1, cutoff=self._cutoff)), "")


def did_you_mean(name: str) -> str:
    """The remedy for a misspelt name."""
    return f"did you mean {quote(name)}?"
