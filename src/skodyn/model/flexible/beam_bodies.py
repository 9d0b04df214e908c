"""A beam reduced to its modes: a `FlexibleBody` whose integrals are sums over particles.

Particles lie at Gauss points along the axis, four a section where sections have inertia, at
(±a, 0) and (0, ±b). One moves by u = φ + ψ×y, φ the displacement of the axis and ψ = (θ, −w′, v′)
the rotation of the section. All integrals are sums over the same particles, so that they fit each
other to rounding whatever the shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from skodyn.model.columns import as_floats
from skodyn.model.flexible.beam_elements import Field, Mesh, find_shapes, gauss_rule, shapes_at
from skodyn.model.flexible.beams import DIRECTIONS, Beam, BeamNumbers
from skodyn.model.flexible.modal_body import (
    ROOT,
    TIP,
    BeamCurvature,
    FlexibleBody,
    FlexibleDisplay,
    FlexibleNode,
)
from skodyn.typing import Floats

__all__ = ["beam_body", "first_frequencies"]

SLAVE_CUT = 1e-2
"""Slaves whose share of the foreshortening is below this part of the largest are left out."""
EXACT = 1e-10
"""Quadratures that differ by less, as a part, are the same."""
_AXIS = {"stretch": 0, "y": 1, "z": 2}


def beam_body(beam: Beam, carried: Sequence[str] = (), *, free: bool = False) -> FlexibleBody:
    """The modes of a beam that was found valid.

    carried: nodes on which something hangs. free: it floats with nothing on it.
    """
    shapes = _Shapes(beam, carried, free)
    particles = _particles(shapes)
    moves = particles.moves
    mass, s = particles.mass, particles.position
    outer = np.einsum("k,ki,kj->ij", mass, s, s)
    products = np.einsum("k,kin,kjm->nmij", mass, moves, moves)
    every = np.einsum("nnii->n", products)
    modal_mass, size = every[: shapes.count], np.sqrt(every)
    weight, reach = np.sqrt(mass.sum()), np.sqrt(np.trace(outer))
    products = 0.5 * (products + products.transpose(1, 0, 3, 2))
    omega = np.sqrt(shapes.squares)
    ratio = np.broadcast_to(np.asarray(as_floats(beam.damping)), (shapes.count,))
    return FlexibleBody(
        mass=float(mass.sum()),
        first_moment=_clean(mass @ s, weight * reach),
        inertia=_clean(np.trace(outer) * np.eye(3) - outer, reach * reach),
        shape_integrals=_clean(np.einsum("k,kin->ni", mass, moves), weight * size[:, None]),
        position_shapes=_clean(
            np.einsum("k,ki,kjn->nij", mass, s, moves), reach * size[:, None, None]
        ),
        shape_products=_clean(products, np.outer(size, size)[:, :, None, None]),
        stiffness=shapes.squares * modal_mass,
        damping=2.0 * ratio * omega * modal_mass,
        slaves=shapes.slaves,
        labels=shapes.labels,
        nodes={name: shapes.node(part) for name, part in _parts(beam).items()},
        frequencies=omega / (2.0 * np.pi),
        length=shapes.numbers.length,
        curvature=_curvature(shapes) if beam.stiffening else None,
        display=_display(shapes),
    )


def _clean(values: Floats, scale: float | Floats) -> Floats:
    """What symmetry makes zero is zero, not a rounding."""
    return np.where(np.abs(values) > 1e-12 * scale, values, 0.0)


def _parts(beam: Beam) -> dict[str, float]:
    """Every node, as a part of the length."""
    return {ROOT: 0.0, TIP: 1.0, **{name: float(x) for name, x in beam.nodes.items()}}


def _fields(numbers: BeamNumbers) -> dict[str, Field]:
    mass, rotary = numbers.mass, numbers.rotary
    return {
        "y": Field(2, numbers.bending[0], mass, rotary[0]),
        "z": Field(2, numbers.bending[1], mass, rotary[1]),
        "twist": Field(1, numbers.torsion, numbers.about_axis),
        "stretch": Field(1, numbers.axial, mass),
    }


def first_frequencies(numbers: BeamNumbers) -> tuple[float, ...]:
    """Of the clamped beam in twist, if it has that, in z and in y, rad/s."""
    mesh, fields = Mesh.of(numbers.length, ()), _fields(numbers)
    which = ("twist", "z", "y") if numbers.torsion else ("z", "y")
    squares = [find_shapes(mesh, fields[one], 1, (), True)[1][0] for one in which]
    return tuple(np.sqrt(squares).tolist())


class _Shapes:
    """Masters of all directions and their slaves, as functions of x."""

    def __init__(self, beam: Beam, carried: Sequence[str], free: bool) -> None:
        parts = _parts(beam)
        self.numbers = beam.numbers
        self.mesh = Mesh.of(self.numbers.length, sorted(parts.values()))
        self.free = free
        ends = sorted({self.mesh.at(parts[name]) for name in carried} - {0})
        fields = _fields(self.numbers)
        self.found: dict[str, Floats] = {}
        squares, labels = [], list[str]()
        for which in DIRECTIONS:
            count = (beam.modes or {}).get(which, 0)
            if count:
                shape, square = find_shapes(self.mesh, fields[which], count, ends, not free)
                self.found[which] = shape
                squares.append(square)
                labels += [f"{which}{i + 1}" for i in range(shape.shape[1])]
        self.squares, self.labels = np.concatenate(squares), tuple(labels)
        self.count = len(labels)
        self.slave_shapes, self.slaves = self._find_slaves(beam.stiffening)

    def columns(self, which: str) -> slice:
        first = next(i for i, label in enumerate(self.labels) if label.startswith(which))
        return slice(first, first + self.found[which].shape[1])

    def of(self, which: str, x: Floats, derivative: int = 0) -> Floats:
        """(points, m): masters of one direction; zero in the columns of all others."""
        result = np.zeros((len(x), self.count))
        if which in self.found:
            result[:, self.columns(which)] = shapes_at(self.mesh, self.found[which], x, derivative)
        return result

    def shortening(self, x: Floats) -> Floats:
        """(points, m, m): −∫₀ˣ (v′ᵢv′ⱼ + w′ᵢw′ⱼ), exactly, element by element."""
        ends, (nodes, weights) = self.mesh.ends, gauss_rule(6)
        place = np.clip(np.searchsorted(ends, x, side="right") - 1, 0, len(ends) - 2)
        whole = self._pairs(ends[:-1], np.diff(ends), nodes, weights)
        before = np.concatenate((np.zeros((1, *whole.shape[1:])), np.cumsum(whole, axis=0)))
        return -(before[place] + self._pairs(ends[place], x - ends[place], nodes, weights))

    def _pairs(self, first: Floats, size: Floats, nodes: Floats, weights: Floats) -> Floats:
        """∫ of products of slopes from each first, over this size."""
        x = (first[:, None] + size[:, None] * nodes).reshape(-1)
        # a point on an element's last end belongs to it, not to the next
        slopes = [self.of(which, x, 1).reshape(len(first), -1, self.count) for which in "yz"]
        w = size[:, None] * weights
        y, z = (np.einsum("eg,egi,egj->eij", w, s, s) for s in slopes)
        both: Floats = y + z
        return both

    def _find_slaves(self, stiffening: bool) -> tuple[Floats, Floats]:
        """(fields at Gauss points, one column a slave; A_b), by POD of the foreshortening.

        Pairs of masters weigh 1/(ωᵢωⱼ): how far they are moved by equal forces.
        """
        points, weights = self.mesh.points, self.mesh.weights
        none = np.zeros((len(points), 0)), np.zeros((0, self.count, self.count))
        if not stiffening or not {"y", "z"} & set(self.found):
            return none
        given = self.shortening(points)
        if self.free:
            given = given - np.einsum("p,pij->ij", weights, given) / weights.sum()
        omega = np.sqrt(self.squares)
        weighed = np.sqrt(weights)[:, None, None] * given / np.outer(omega, omega)
        left, sizes, _ = np.linalg.svd(weighed.reshape(len(points), -1), full_matrices=False)
        kept = left[:, sizes > SLAVE_CUT * sizes[0]]
        share: Floats = np.einsum("pb,p,pij->bij", kept, np.sqrt(weights), given)
        fields = kept / np.sqrt(weights)[:, None]
        scale = np.where(fields[-1] < 0.0, -1.0, 1.0) / np.abs(fields).max(axis=0)
        share = share / scale[:, None, None]
        return fields * scale, 0.5 * (share + share.transpose(0, 2, 1))

    def slaves_at(self, x: Floats) -> Floats:
        """(points, slaves): ψ_b anywhere, from the foreshortening of which it is made."""
        if not len(self.slaves):
            return np.zeros((len(x), 0))
        same = np.array_equal(x, self.mesh.points)
        return self.slave_shapes if same else self._from_pairs(x)

    def _from_pairs(self, x: Floats) -> Floats:
        """ψ_b is a combination of the fields of pairs; found once at Gauss points."""
        points = self.mesh.points
        fields = self.shortening(points).reshape(len(points), -1)
        here = self.shortening(x).reshape(len(x), -1)
        if self.free:
            mean = (self.mesh.weights @ fields) / self.mesh.weights.sum()
            fields, here = fields - mean, here - mean
        omega = np.sqrt(self.squares)
        scale = 1.0 / np.outer(omega, omega).reshape(-1)
        mix = np.linalg.lstsq(fields * scale, self.slave_shapes, rcond=1e-12)[0]
        result: Floats = (here * scale) @ mix
        return result

    def moves(self, x: Floats) -> Floats:
        """(points, 3, n): φ of the axis."""
        result = np.zeros((len(x), 3, self.count + len(self.slaves)))
        for which, axis in _AXIS.items():
            result[:, axis, : self.count] = self.of(which, x)
        result[:, 0, self.count :] = self.slaves_at(x)
        return result

    def turns(self, x: Floats) -> Floats:
        """(points, 3, n): ψ of the sections."""
        result = np.zeros((len(x), 3, self.count + len(self.slaves)))
        result[:, 0, : self.count] = self.of("twist", x)
        result[:, 1, : self.count] = -self.of("z", x, 1)
        result[:, 2, : self.count] = self.of("y", x, 1)
        return result

    def node(self, part: float) -> FlexibleNode:
        x = np.array([part * self.numbers.length])
        position = np.array([x[0], 0.0, 0.0])
        moves, turns = self.moves(x)[0], self.turns(x)[0]
        if part == 0.0 and not self.free:
            moves, turns = np.zeros_like(moves), np.zeros_like(turns)  # clamped, without rounding
        return FlexibleNode(position, moves, turns)


class _Particles(NamedTuple):
    mass: Floats
    position: Floats
    moves: Floats


def _particles(shapes: _Shapes) -> _Particles:
    mesh, numbers = shapes.mesh, shapes.numbers
    x, mass = mesh.points, numbers.mass * mesh.weights
    moves, turns = shapes.moves(x), shapes.turns(x)
    on_axis = np.stack((x, np.zeros_like(x), np.zeros_like(x)), axis=1)
    if not numbers.about_axis:
        return _Particles(mass, on_axis, moves)
    a, b = (np.sqrt(2.0 * r / numbers.mass) for r in numbers.rotary)
    arms = np.array([[0, a, 0], [0, -a, 0], [0, 0, b], [0, 0, -b]], dtype=np.float64)
    return _Particles(
        np.tile(0.25 * mass, 4),
        np.concatenate([on_axis + arm for arm in arms]),
        np.concatenate([moves + np.cross(turns, arm[None, :, None], axis=1) for arm in arms]),
    )


def _curvature(shapes: _Shapes) -> BeamCurvature | None:
    """Slopes and curvatures at Gauss points along the whole beam.

    The static shapes of a tip alone are cubics: four points integrate their fourth-order strain
    energy exactly, and are taken where they do.
    """
    most = max((shapes.found[w].shape[1] for w in "yz" if w in shapes.found), default=0)
    if not most:
        return None
    few, many = _at_points(shapes, 4), _at_points(shapes, max(8, 4 + 2 * most))
    exact, found = _fourth_order(many), _fourth_order(few)
    scale = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    return few if (np.abs(found - exact) <= EXACT * scale).all() else many


def _at_points(shapes: _Shapes, count: int) -> BeamCurvature:
    nodes, weights = gauss_rule(count)
    x, (ei_y, ei_z) = shapes.numbers.length * nodes, shapes.numbers.bending
    return BeamCurvature(
        ei_y * shapes.numbers.length * weights,
        shapes.of("y", x, 1),
        shapes.of("y", x, 2),
        shapes.of("z", x, 1),
        shapes.of("z", x, 2) * np.sqrt(ei_z / ei_y),
    )


def _fourth_order(c: BeamCurvature) -> Floats:
    """∫ f_ij f_kl of all products f_ij = v′ᵢv″ⱼ + v′ⱼv″ᵢ + w′ᵢw″ⱼ + w′ⱼw″ᵢ."""
    half = np.einsum("gi,gj->gij", c.slope_y, c.curvature_y)
    half = half + np.einsum("gi,gj->gij", c.slope_z, c.curvature_z)
    both = (half + half.transpose(0, 2, 1)).reshape(len(c.weights), -1)
    found: Floats = both.T @ (c.weights[:, None] * both)
    return found


def _display(shapes: _Shapes) -> FlexibleDisplay:
    x = np.linspace(0.0, shapes.numbers.length, 33)
    points = np.stack((x, np.zeros_like(x), np.zeros_like(x)), axis=1)
    outline = np.array(shapes.numbers.outline)
    nothing = np.zeros((0, 3), dtype=np.int64)
    return FlexibleDisplay(points, shapes.moves(x), shapes.turns(x), nothing, outline)
