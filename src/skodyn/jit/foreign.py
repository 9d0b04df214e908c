"""Functions that kernels call by their address: controllers and quantities that a person wrote, and
parts of the package that few models need.

The address is data, so a loop is compiled once and calls whatever it is given. Without the compiler
the "address" is the Python function itself.
"""

from __future__ import annotations

from typing import Any

__all__ = ["ForeignFunction", "PartCall", "call_part"]


class ForeignFunction:
    """How to call a C function of this form: `call(address, *arguments)` inside kernels.

    Words for result and arguments: "number", "count", "pointer" (to numbers), "nothing".
    """

    def __init__(self, result: str, *arguments: str) -> None:
        self.result = result
        self.arguments = arguments

    def __call__(self, address: Any, *arguments: Any) -> Any:
        return address(*arguments)


class PartCall:
    """How a kernel calls a part: `call_part(address, *arguments)` gives the part's status.

    Arguments are what kernels pass to helpers, NamedTuples included; those of the part are of the
    same types. They travel as one row of numbers, which both sides make of the types.
    """

    def __call__(self, address: Any, *arguments: Any) -> Any:
        return address(*arguments)


call_part = PartCall()
