"""What a fork must not leave behind in the child: a lock that a thread of the parent holds.

A forked child has all of its parent's memory and one of its threads. A lock held by another thread
at that moment is never released there.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any, TypeVar, overload

__all__ = ["cached_property", "on_fork"]

T = TypeVar("T")


class cached_property(functools.cached_property[T]):  # noqa: N801
    """functools' own as it is from Python 3.12: without a lock.

    In 3.11 one lock for all objects is held while the value is made. Here two threads may make it
    both, and get the same one.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Any: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type[Any] | None = None) -> Any:
        if instance is None:
            return self
        return vars(instance).setdefault(str(self.attrname), self.func(instance))


def on_fork(
    before: Callable[[], Any] | None = None,
    in_parent: Callable[[], Any] | None = None,
    in_child: Callable[[], Any] | None = None,
) -> None:
    """Have functions called around every fork; nothing where a system knows no forks."""
    if hasattr(os, "register_at_fork"):
        calls = {"before": before, "after_in_parent": in_parent, "after_in_child": in_child}
        os.register_at_fork(**{name: call for name, call in calls.items() if call})
