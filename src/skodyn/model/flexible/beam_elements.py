"""Shapes of a straight uniform beam by finite elements: static shapes and natural modes.

Deflection in a plane, twist and stretch are one problem each: a field with its slope at every
element's ends, an energy ½∫ a (f⁽ᵏ⁾)² dx, k = 2 for bending and 1 for twist and stretch, and
inertia ∫ (b f² + c f′²) dx. Elements are Hermite's cubic ones with two bubbles inside, so of fifth
degree; 24 of them give the first six frequencies to 1e-9.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skodyn.typing import Floats

Whole = NDArray[np.int64]

__all__ = ["ELEMENTS", "Field", "Mesh", "find_shapes", "gauss_rule", "shapes_at"]

ELEMENTS = 24
POINTS = 6
"""Gauss points an element: exact for products of two shapes."""
BASIS = 6
"""Shapes of an element: value and slope at either end, two bubbles."""


class Field(NamedTuple):
    """One of the four problems: what resists, what is moved, what a clamped end holds."""

    order: int
    stiffness: float
    inertia: float
    slope_inertia: float = 0.0

    @property
    def held(self) -> int:
        """How many of value and slope an end loses when it is clamped."""
        return 2 if self.order == 2 else 1


class Mesh(NamedTuple):
    """Where elements begin and end, and Gauss points of all of them with their weights."""

    ends: Floats
    points: Floats
    weights: Floats

    @classmethod
    def of(cls, length: float, fractions: Sequence[float]) -> Mesh:
        """Elements of about equal length, with an end at each of these parts of the length."""
        breaks = np.unique(np.concatenate(([0.0, 1.0], np.asarray(fractions, dtype=np.float64))))
        pieces = [
            np.linspace(a, b, max(1, round(ELEMENTS * (b - a))) + 1)[:-1]
            for a, b in pairwise(breaks.tolist())
        ]
        ends = np.append(np.concatenate(pieces), 1.0) * length
        nodes, weights = gauss_rule(POINTS)
        sizes = np.diff(ends)[:, None]
        points = ends[:-1, None] + sizes * nodes
        return cls(ends, points.reshape(-1), (sizes * weights).reshape(-1))

    def at(self, fraction: float) -> int:
        """The number of the end that lies at this part of the length."""
        return int(np.argmin(np.abs(self.ends - fraction * self.ends[-1])))


def gauss_rule(count: int) -> tuple[Floats, Floats]:
    """Points and weights on 0 … 1."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return 0.5 * (1.0 + nodes), 0.5 * weights


def _basis(s: Floats, size: Floats, derivative: int) -> Floats:
    """(…, 6): value, slope, value, slope and two bubbles at s in 0 … 1, or a derivative of them."""
    polynomials = np.array(
        [
            [1, 0, -3, 2, 0, 0], [0, 1, -2, 1, 0, 0], [0, 0, 3, -2, 0, 0], [0, 0, -1, 1, 0, 0],
            [0, 0, 1, -2, 1, 0], [0, 0, -1, 4, -5, 2],
        ], dtype=np.float64,
    )  # fmt: skip
    for _ in range(derivative):
        polynomials = polynomials[:, 1:] * np.arange(1, polynomials.shape[1])
    powers = s[..., None] ** np.arange(polynomials.shape[1])
    found: Floats = np.einsum("kp,...p->...k", polynomials, powers)
    found[..., [1, 3]] *= size[..., None]
    found /= size[..., None] ** derivative
    return found


def _rows(mesh: Mesh, element: Whole) -> Whole:
    """(…, 6): which unknowns an element's shapes belong to."""
    ends = 2 * element[..., None] + np.arange(4)
    bubbles = 2 * len(mesh.ends) + 2 * element[..., None] + np.arange(2)
    return np.concatenate((ends, bubbles), axis=-1)


def shapes_at(mesh: Mesh, values: Floats, x: Floats, derivative: int = 0) -> Floats:
    """(points, shapes): shapes, given by their unknowns, at any x."""
    last = len(mesh.ends) - 2
    element = np.clip(np.searchsorted(mesh.ends, x, side="right") - 1, 0, last)
    size = np.diff(mesh.ends)[element]
    basis = _basis((x - mesh.ends[element]) / size, size, derivative)
    found: Floats = np.einsum("pk,pkm->pm", basis, values[_rows(mesh, element)])
    return found


def _assembled(mesh: Mesh, field: Field) -> tuple[Floats, Floats]:
    """Stiffness and mass matrices of all unknowns."""
    elements = len(mesh.ends) - 1
    count = 2 * len(mesh.ends) + 2 * elements
    stiffness, mass = np.zeros((count, count)), np.zeros((count, count))
    nodes, weights = gauss_rule(POINTS)
    for e, size in enumerate(np.diff(mesh.ends).tolist()):
        sizes = np.full(POINTS, size)
        value, slope, bend = (_basis(nodes, sizes, d) for d in range(3))
        strain = bend if field.order == 2 else slope
        rows = _rows(mesh, np.array(e))
        here = np.ix_(rows, rows)
        w = size * weights
        stiffness[here] += field.stiffness * (strain.T * w) @ strain
        mass[here] += field.inertia * (value.T * w) @ value
        mass[here] += field.slope_inertia * (slope.T * w) @ slope
    return stiffness, mass


def find_shapes(
    mesh: Mesh, field: Field, count: int, carried: Sequence[int], clamped: bool
) -> tuple[Floats, Floats]:
    """(unknowns, one column a shape; ω²) of the lowest shapes.

    Craig & Bampton: static shapes of the ends that carry something, and natural modes of the rest
    with these held; then made orthogonal. A clamped beam is held at its first end; a free one has
    its rigid motions left out.
    """
    stiffness, mass = _assembled(mesh, field)
    held = list(range(field.held)) if clamped else []
    masters = [2 * end + i for end in carried for i in range(field.held)]
    interior = np.setdiff1d(np.arange(len(mass)), held + masters)
    inside = np.ix_(interior, interior)
    rigid = 0 if clamped else field.held
    shift = 0.0 if clamped else field.stiffness / field.inertia / mesh.ends[-1] ** (2 * field.order)
    wanted = max(0, count - len(masters)) + rigid
    modes, _ = _lowest(stiffness[inside], mass[inside], wanted, shift)
    basis = np.zeros((len(mass), len(masters) + modes.shape[1]))
    basis[masters, np.arange(len(masters))] = 1.0
    if masters:
        apart = stiffness[interior][:, masters]
        basis[interior, : len(masters)] = -np.linalg.solve(stiffness[inside], apart)
    basis[interior, len(masters) :] = modes
    reduced = (basis.T @ stiffness @ basis, basis.T @ mass @ basis)
    mixed, squares = _lowest(*reduced, count + rigid, shift)
    shapes = _normalised(mesh, basis @ mixed[:, rigid:])
    return shapes, squares[rigid:]


def _lowest(stiffness: Floats, mass: Floats, count: int, shift: float) -> tuple[Floats, Floats]:
    """The lowest modes and ω², by the largest 1/(ω² + shift): exact where it matters."""
    if count == 0:
        return np.zeros((len(mass), 0)), np.zeros(0)
    scale = 1.0 / np.sqrt(np.diagonal(stiffness + shift * mass))
    factor = np.linalg.cholesky((stiffness + shift * mass) * np.outer(scale, scale))
    half = np.linalg.solve(factor, (mass * np.outer(scale, scale)))
    turned = np.linalg.solve(factor, half.T)
    values, vectors = np.linalg.eigh(0.5 * (turned + turned.T))
    order = np.argsort(values)[::-1][:count]
    modes = scale[:, None] * np.linalg.solve(factor.T, vectors[:, order])
    return modes, 1.0 / values[order] - shift


def _normalised(mesh: Mesh, shapes: Floats) -> Floats:
    """Largest value 1; positive at the last end."""
    tip = shapes[2 * len(mesh.ends) - 2]
    inside = np.abs(shapes_at(mesh, shapes, mesh.points)).max(axis=0)
    largest = np.maximum(inside, np.abs(shapes[: 2 * len(mesh.ends) : 2]).max(axis=0))
    result: Floats = shapes * (np.where(tip < 0.0, -1.0, 1.0) / largest)
    return result
