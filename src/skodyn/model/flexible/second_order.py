"""Second-order displacements of a body from matrices, as slaves of its modes.

The field of a pair of modes is g_ij(s) in u = Σφᵢηᵢ + ½Σ g_ij ηᵢηⱼ: modal derivatives, which a
finite element program finds, or the foreshortening of a slender part by its slopes. All pairs are
written in a few shapes, g_ij ≈ Σ_b ψ_b (A_b)_ij, by their singular values in the norm of the mass,
each pair weighed by 1/(ωᵢωⱼ): how far equal forces move it. What follows from it are the slaves
ξ_b = ½ηᵀA_bη, as for beams.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skodyn.errors import ModelError
from skodyn.faults import Fault
from skodyn.model.columns import as_floats
from skodyn.typing import Floats

__all__ = ["Slaves", "find_slaves"]

CUT = 1e-2
"""Slaves whose share of the fields is below this part of the largest are left out, as for beams."""
_SAME = 1e-9
_HELD = 1e-6


class Slaves(NamedTuple):
    """ψ_b (n, 3, slaves) and A_b (slaves, m, m)."""

    shapes: Floats
    factors: Floats


class Reduced(NamedTuple):
    """What the modes of a body are: (n, 3) places, (n, 3, m) shapes, ω², held nodes, m̂."""

    places: Floats
    shapes: Floats
    squares: Floats
    root: Any
    mass: Any


def find_slaves(given: Any, body: Reduced) -> Slaves:
    """The slaves of fields (m, m, n, 3), or of a function of places and shapes for them."""
    count, m = len(body.places), len(body.squares)
    if given is None:
        return Slaves(np.zeros((count, 3, 0)), np.zeros((0, m, m)))
    read = as_floats(given(body.places, body.shapes) if callable(given) else given)
    fields = _checked(read, (m, m, count, 3), body)
    if not fields.any():
        return find_slaves(None, body)
    omega = np.sqrt(body.squares)
    weighed = (fields / np.outer(omega, omega)[:, :, None, None]).reshape(m * m, count, 3)
    gram = np.einsum("anx,bnx->ab", weighed, _times(body.mass, weighed))
    sizes, mix = np.linalg.eigh(0.5 * (gram + gram.T))
    kept = mix[:, sizes > CUT**2 * sizes[-1]][:, ::-1]
    shapes = np.einsum("ab,anx->bnx", kept, weighed)
    heavy = _times(body.mass, shapes)
    norms = np.einsum("bnx,bnx->b", shapes, heavy)
    factors = np.einsum("bnx,ijnx->bij", heavy, fields) / norms[:, None, None]
    largest = np.linalg.norm(shapes, axis=2).max(axis=1)
    shapes, factors = shapes / largest[:, None, None], factors * largest[:, None, None]
    return Slaves(shapes.transpose(1, 2, 0), 0.5 * (factors + factors.transpose(0, 2, 1)))


def _times(mass: Any, fields: Floats) -> Floats:
    """m̂ applied to each of (k, n, 3)."""
    k, n, _ = fields.shape
    product = np.asarray(mass @ fields.transpose(1, 0, 2).reshape(n, -1))
    back: Floats = product.reshape(n, k, 3).transpose(1, 0, 2)
    return back


def _checked(fields: Floats | None, shape: tuple[int, ...], body: Reduced) -> Floats:
    key, found = ("second_order",), ""
    if fields is None or fields.shape != shape:
        what = "no numbers" if fields is None else f"of shape {fields.shape}"
        found, remedy = f"is {what}", f"give shape {shape}: modes, modes, nodes, 3."
    elif not np.isfinite(fields).all():
        found, remedy = "is not finite", "give finite numbers."
    elif np.abs(fields - fields.transpose(1, 0, 2, 3)).max() > _SAME * np.abs(fields).max():
        found, remedy = "is not symmetric in its modes", "give g[i, j] and g[j, i] alike."
    elif np.abs(fields[:, :, body.root]).max() > _HELD * np.abs(fields).max():
        found, remedy = "moves the root", "give fields that vanish where the body is held."
    if found or fields is None:
        raise ModelError(Fault(f"from_matrices: second_order {found}", remedy, key))
    return fields
