"""The compiler flags that decide the bits of a result; see compiling.py for why they are these."""

from __future__ import annotations

from typing import Any

COMPILE_FLAGS: dict[str, Any] = {"error_model": "numpy", "fastmath": False, "boundscheck": False}
