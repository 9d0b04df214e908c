"""What the pencil of lumped.py is made of, body by body."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["PencilBlocks"]


class PencilBlocks(NamedTuple):
    """Blocks of body k; `start` says where its multipliers begin, and its twist ends."""

    inertia: Any  # (n, 6, 6): M, with what rotors add
    rotors: Any  # (n, 6, 6): what a rotor puts between the twists of bodies k and k − 1
    own: Any  # (n, 6, 6): Y, the rates of the coordinates of joint k from V(k) …
    carried: Any  # (n, 6, 6): … and Yφ*, from V(k − 1)
    hard: Any  # (n, 6): which of these coordinates are hard
    start: Any  # (n + 1,)
