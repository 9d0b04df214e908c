"""What kernels take: the kinds of arguments, said without numba.

A kernel declares its signature with these words, and is compiled for it alone. Inputs are
read-only, which arrays of a frozen model are and any other array may become.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["COUNT", "FLAG", "FLOATS", "INTS", "MATRIX", "NUMBER", "PLACES", "RESULT", "Kind"]


class Kind(NamedTuple):
    """A number, or a contiguous array of numbers."""

    dtype: str  # "float64", "int64" or "bool"
    dimensions: int = 0
    writable: bool = False

    @property
    def code(self) -> str:
        """Two characters: what launch.c reads a signature from."""
        letter = {"float64": "d", "int64": "i", "bool": "b"}[self.dtype]
        return (letter.upper() if self.writable else letter) + str(self.dimensions)

    def of(self, dimensions: int) -> Kind:
        """The same in an array of so many dimensions."""
        return self._replace(dimensions=dimensions)


COUNT = Kind("int64")
NUMBER = Kind("float64")
FLAG = Kind("bool")
INTS = Kind("int64", 1)
FLOATS = Kind("float64", 1)
RESULT = Kind("float64", 1, writable=True)
MATRIX = Kind("float64", 2, writable=True)
PLACES = Kind("int64", 1, writable=True)  # whole numbers that a kernel writes down
