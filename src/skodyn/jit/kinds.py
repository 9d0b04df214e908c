"""What kernels take: the kinds of arguments, said without numba.

A kernel declares its signature with these words, and is compiled for it alone. Inputs are
read-only, which arrays of a frozen model are and any other array may become.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = [
    "COUNT",
    "FLAG",
    "FLOATS",
    "FLOAT_POINTER",
    "INTS",
    "INT_POINTER",
    "MATRIX",
    "NUMBER",
    "PLACES",
    "RESULT",
    "Group",
    "Kind",
]


_NUMBERS = {"float64": float, "int64": int, "bool": bool}


class Kind(NamedTuple):
    """A number, or a contiguous array of numbers."""

    dtype: str  # "float64", "int64" or "bool"
    dimensions: int = 0  # −1: a pointer
    writable: bool = False

    @property
    def code(self) -> str:
        """Two characters: what launch.c reads a signature from."""
        letter = {"float64": "d", "int64": "i", "bool": "b"}[self.dtype]
        return (letter.upper() if self.writable else letter) + str(self.dimensions)

    def fit(self, given: Any) -> Any:
        """The argument as numba's dispatcher must see it inside a group, where it converts nothing:
        a number of the right type, an array that is read-only if the kernel only reads it.
        """
        if self.dimensions == 0:
            return _NUMBERS[self.dtype](given)
        if self.writable or not given.flags.writeable:
            return given
        view = given.view()
        view.flags.writeable = False
        return view

    def of(self, dimensions: int) -> Kind:
        """The same in an array of so many dimensions."""
        return self._replace(dimensions=dimensions)


class Group(NamedTuple):
    """What travels together, as a NamedTuple: its class and the kinds of its members.

    A member may be a Group again, or any constant whose numba type says it all (a lane width).
    """

    noun: type
    members: tuple[Any, ...]

    @property
    def code(self) -> str:
        """As launch.c reads it: the members in brackets."""
        return "(" + "".join(member.code for member in self.members) + ")"

    def fit(self, given: Any) -> Any:
        """Each member as numba's dispatcher must see it."""
        pairs = zip(self.members, given, strict=True)
        return self.noun(*(member.fit(value) for member, value in pairs))


COUNT = Kind("int64")
NUMBER = Kind("float64")
FLAG = Kind("bool")
INTS = Kind("int64", 1)
FLOATS = Kind("float64", 1)
RESULT = Kind("float64", 1, writable=True)
MATRIX = Kind("float64", 2, writable=True)
PLACES = Kind("int64", 1, writable=True)  # whole numbers that a kernel writes down

# what kernels pass to one another: an address without a length
FLOAT_POINTER = Kind("float64", -1, writable=True)
INT_POINTER = Kind("int64", -1, writable=True)
