"""Things that grow, by name: joints, integrators, force elements, log channels, file formats.

Each kind of thing has one `Registry`, which stands beside its base class. Things of the package lie
in one folder, a file each, which is imported when somebody first looks. Things of others come by
`register`, or as entry points of the group "skodyn" of installed packages; these are imported only
when a name is not known, or when all names are listed.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any, Generic, TypeVar

from skodyn.errors import FaultsError

__all__ = ["GROUP", "PluginWarning", "Registry", "load_plugins", "register"]

GROUP = "skodyn"
"""The group of entry points that installed packages offer things in."""

Thing = TypeVar("Thing")
Registered = TypeVar("Registered")
_ALL: list[Registry[Any]] = []
_loaded, _loading = False, 0


class PluginWarning(UserWarning):
    """An installed package offers something to skodyn that cannot be used."""


class Registry(Mapping[str, Thing], Generic[Thing]):
    """Things of one kind by their names: those of the package first, in order, then others.

    what: how one is called in a sentence. takes: is it a thing of this kind? name: of a thing.
    folder: the package whose modules hold, and register, what skodyn brings itself.
    order: how these are sorted; by name unless given, and without a folder as they come.
    check: why a thing of others cannot be used, as ends of sentences.
    """

    def __init__(
        self,
        what: str,
        takes: Callable[[object], bool],
        name: Callable[[Any], str],
        folder: str = "",
        order: Callable[[Any], Any] | None = None,
        check: Callable[[Any], list[str]] | None = None,
    ) -> None:
        self._check = check
        self.what, self.takes, self._name = what, takes, name
        self._folder, self._order = folder, order
        self._own: dict[str, Thing] = {}
        self._others: dict[str, Thing] = {}
        self._is_open = not folder
        self._opening: set[int] = set()  # threads that import the folder now
        _ALL.append(self)

    def add(self, thing: Thing, own: bool = False) -> None:
        """Make a thing known; a name is given once. own: skodyn brings it itself."""
        wrong = self._check(thing) if self._check and not own else []
        if wrong:
            whose = getattr(thing, "__name__", thing)
            raise FaultsError([f"{whose} {fault}." for fault in wrong])
        name = self._name(thing)
        known = self._own.get(name, self._others.get(name, thing))
        if known is not thing and (self._is_open or not own):  # an own one may be read again
            raise FaultsError(f"There is {self.what} {name!r} already; give another name.")
        (self._own if own else self._others)[name] = thing

    def remove(self, name: str) -> None:
        """Forget a thing from outside, as tests do."""
        self._others.pop(name, None)

    @property
    def built_in(self) -> Mapping[str, Thing]:
        """What skodyn brings itself; nothing of others is imported.

        A thread that is interrupted here (Ctrl-C) leaves the registry as if nobody had looked: the
        next look imports the folder again, and things of the file that was cut off a second time.
        """
        thread = threading.get_ident()
        if not self._is_open and thread not in self._opening:
            self._opening.add(thread)  # what is imported may ask for names itself
            try:
                _import_all(self._folder)  # where other threads wait for it
            finally:
                self._opening.discard(thread)
            key = self._order or self._name
            self._own = dict(sorted(self._own.items(), key=lambda item: key(item[1])))
            self._is_open = True
        return self._own

    def __getitem__(self, name: str) -> Thing:
        found = self._at_hand(name)
        if found is None:
            load_plugins()
            found = self._at_hand(name)
        if found is None:
            raise KeyError(name)
        return found

    def _at_hand(self, name: str) -> Thing | None:
        return self.built_in.get(name, self._others.get(name))

    def __iter__(self) -> Iterator[str]:
        load_plugins()
        return iter([*self.built_in, *self._others])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def listed(self) -> str:
        """All names, for a sentence."""
        return ", ".join(self)


def register(thing: Registered) -> Registered:
    """Make a joint, an integrator, a force, a channel or a file format known by its name.

    Scenario and model files can use it from then on. A package makes its things known to
    everybody who installs it by entry points in the group "skodyn": each names a thing, a list of
    things, or a module that registers some.

    Parameters
    ----------
    thing : class or object
        A subclass of `Joint` whose motion is a product of screws, what `explicit_method` returns, a
        subclass of `Element`, what `channel` returns, or an `extension.Importer`.

    Returns
    -------
    thing : class or object
        The thing itself, so that this works as a decorator of classes.

    Raises
    ------
    FaultsError
        The name is taken, or the thing is none of these.

    Examples
    --------
    >>> first = sk.channel(lambda t, q, v: q[0], name="first_angle", unit="rad")
    >>> _ = sk.register(first)
    >>> run = sk.simulate(sk.examples.pendulum(2), [1.0, 0.0], [0.0, 0.0], duration=0.1,
    ...                   channels=["first_angle"])
    >>> bool((run.trajectory["first_angle"] == run.q[:, 0]).all())
    True
    """
    for registry in _ALL:
        if registry.takes(thing):
            caller = str(sys._getframe(1).f_globals.get("__name__"))
            registry.add(thing, caller.startswith(f"{__package__}.") and caller != __name__)
            return thing
    raise FaultsError(
        f"register was given {thing!r}, which is nothing that can be registered; give a "
        "subclass of sk.Joint or sk.Element, an sk.explicit_method(…) or an sk.channel(…)."
    )


def load_plugins() -> None:
    """Import what installed packages offer, once; what cannot be used is a warning."""
    global _loaded, _loading
    if _loaded or _loading == threading.get_ident():
        return
    _loading = threading.get_ident()
    try:
        _load_each()
        _loaded = True  # unless interrupted
    finally:
        _loading = 0


def _load_each() -> None:
    from importlib.metadata import entry_points

    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        try:
            offered = point.load()
            for thing in offered if isinstance(offered, list | tuple) else [offered]:
                if not isinstance(thing, ModuleType):  # a module has registered what it has
                    register(thing)
        except Exception as error:
            package = point.dist.name if point.dist else "a package"
            warnings.warn(
                f"The entry point {point.name!r} of {package} ({point.value}) cannot be used: "
                f"{type(error).__name__}: {error}; correct or uninstall it.",
                PluginWarning,
                stacklevel=2,
            )


def _import_all(folder: str) -> None:
    package = importlib.import_module(folder)
    for module in sorted(found.name for found in pkgutil.iter_modules(package.__path__)):
        importlib.import_module(f"{folder}.{module}")
