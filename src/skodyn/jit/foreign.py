"""Functions that kernels call by their address: controllers and quantities that a person wrote.

The address is data, so a loop is compiled once and calls whatever it is given. Without the compiler
the "address" is the Python function itself.
"""

from __future__ import annotations

from typing import Any

__all__ = ["ForeignFunction"]


class ForeignFunction:
    """How to call a C function of this form: `call(address, *arguments)` inside kernels.

    Words for result and arguments: "number", "count", "pointer" (to numbers), "nothing".
    """

    def __init__(self, result: str, *arguments: str) -> None:
        self.result = result
        self.arguments = arguments

    def __call__(self, address: Any, *arguments: Any) -> Any:
        return address(*arguments)
