"""A misspelt keyword of a function is answered like a misspelt key of a file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from skodyn.errors import ArgumentError
from skodyn.faults import Fault
from skodyn.wording import Spelling, did_you_mean

__all__ = ["check_keywords", "fields_checked", "keywords_checked"]

Given = ParamSpec("Given")
Result = TypeVar("Result")


def check_keywords(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise ArgumentError for every keyword that is not known."""
    names = tuple(known)
    spelling = Spelling(names)
    faults = []
    for name in (name for name in given if name not in names):
        meant = spelling.meant(name)
        remedy = did_you_mean(meant) if meant else f"it takes {', '.join(names)}."
        problem = f"{function} has no argument {name!r}"
        faults.append(Fault(problem, remedy, (name,)))
    if faults:
        raise ArgumentError(faults)


def keywords_checked(
    more: Callable[[], Iterable[str]] | None = None,
) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """For functions that are called now and then: unknown keywords are told, all at once.

    more: names that the function takes besides those of its signature, in its `**`.
    """

    def decorated(function: Callable[Given, Result]) -> Callable[Given, Result]:
        parameters = inspect.signature(function).parameters.values()
        own = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        known = [name for name in own if name != "self"]
        every = frozenset(known)
        said = function.__qualname__.removesuffix(".__init__")

        @wraps(function)
        def call(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            if not kwargs.keys() <= every:
                also: tuple[Any, ...] = tuple(more()) if more is not None else ()
                check_keywords(said, kwargs, (*known, *also))
            return function(*args, **kwargs)

        return call

    return decorated


def fields_checked(cls: type[Result]) -> type[Result]:
    """The same for a dataclass, whose arguments are its fields."""
    cls.__init__ = keywords_checked()(cls.__init__)  # type: ignore[method-assign]
    return cls
