"""Mass, centre of mass and inertia of solids of even density.

    b.add_body("arm", "world", hinge, **sk.solid(sk.Box((0.1, 0.1, 0.5)), mass=2.0))

Inertias of triangles are sums over the tetrahedra that they span with one point: with corners
a, b, c seen from it, s = a + b + c and d = det(a, b, c), a tetrahedron has volume d/6, first moment
d·s/24 and second moments d·(aa* + bb* + cc* + ss*)/120.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skodyn.errors import ModelError
from skodyn.faults import Subject, shown
from skodyn.model.columns import as_floats, read_column, read_rotations
from skodyn.model.contact.collision_checks import shape_faults
from skodyn.model.products import applied, product
from skodyn.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Sphere
from skodyn.typing import Floats

__all__ = ["Solid", "solid"]

_SUBJECT = Subject((), "The solid")
_KINDS = (Box, Cylinder, Capsule, Sphere, Ellipsoid)


@dataclass(frozen=True, eq=False)
class Solid:
    """What a body weighs; `**solid` gives mass, com and inertia to `add_body`.

    Parameters
    ----------
    mass : float
        kg.
    com : ndarray, shape (3,)
        Centre of mass, in body axes from the body's origin, m.
    inertia : ndarray, shape (3, 3)
        About the centre of mass, in body axes, kg·m².

    Examples
    --------
    >>> ball, stick = sk.solid(sk.Sphere(0.1), mass=1.0), sk.solid(sk.Cylinder(0.01, 1.0), mass=0.5)
    >>> both = stick + ball.at((0, 0, 0.5))
    >>> both.mass, both.com.round(3).tolist()
    (1.5, [0.0, 0.0, 0.333])
    """

    mass: float
    com: Floats
    inertia: Floats

    def keys(self) -> Iterator[str]:
        """The arguments of `add_body` that it stands for."""
        return iter(("mass", "com", "inertia"))

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)

    def at(self, translation: ArrayLike = (0.0, 0.0, 0.0), rotation: Any = None) -> Solid:
        """The same solid, moved and turned."""
        moved, one = read_column([translation], (3,), "translation", lambda _: _SUBJECT)
        turned, two = read_rotations([rotation], lambda _: _SUBJECT)
        if one or two:
            raise ModelError([*one, *two])
        turn = turned[0]
        inertia = product(product(turn, self.inertia), turn.T)
        com = moved[0] + applied(turn, self.com)
        return Solid(self.mass, com, 0.5 * (inertia + inertia.T))

    def __add__(self, other: Solid) -> Solid:
        if not isinstance(other, Solid):
            return NotImplemented
        mass = self.mass + other.mass
        if mass == 0.0:
            return Solid(0.0, np.zeros(3), self.inertia + other.inertia)
        com = (self.mass * self.com + other.mass * other.com) / mass
        inertia = sum(
            (one.inertia + one.mass * _steiner(one.com - com) for one in (self, other)),
            np.zeros((3, 3)),
        )
        return Solid(mass, com, inertia)


def _steiner(d: Floats) -> Floats:
    result: Floats = (d @ d) * np.eye(3) - np.outer(d, d)
    return result


def solid(
    shape: Box | Cylinder | Capsule | Sphere | Ellipsoid | ArrayLike,
    *,
    mass: float | None = None,
    density: float | None = None,
) -> Solid:
    """Mass, centre of mass and inertia of a shape of even density.

    Parameters
    ----------
    shape : Box, Cylinder, Capsule, Sphere or Ellipsoid, or array_like of shape (n, 3, 3)
        Where the shape has its centre is the origin; a thin rod is a `Cylinder` of a small radius.
        Triangles of a closed surface, three corners each, stand for any other, wherever they are.
    mass : float, optional
        kg; or
    density : float, optional
        kg/m³.

    Returns
    -------
    weight : Solid
        For ``add_body(…, **weight)``.

    Raises
    ------
    ModelError
        The shape is none, or has holes in its surface.

    Examples
    --------
    >>> sk.solid(sk.Box((1.0, 2.0, 3.0)), mass=12.0).inertia.diagonal().tolist()
    [13.0, 10.0, 5.0]
    """
    given = {"mass": mass, "density": density}
    known = [key for key, value in given.items() if value is not None]
    if len(known) != 1:
        raise ModelError(f"solid has {' and '.join(known) or 'no mass'}", "give mass or density.")
    value = as_floats(given[known[0]])
    if value is None or value.ndim or not 0.0 <= value < math.inf:
        problem = f"{known[0]} is {shown(given[known[0]])}"
        raise ModelError(problem, "give a number from 0.")
    if isinstance(shape, _KINDS):
        volume, com, unit = _of_shape(shape)
    else:
        volume, com, unit = _of_triangles(shape)
    kilograms = float(value) * (volume if known == ["density"] else 1.0)
    return Solid(kilograms, com, kilograms * unit)


def _of_shape(shape: Any) -> tuple[float, Floats, Floats]:
    """(volume, centre of mass, inertia of one kilogram)."""
    faults = shape_faults(shape, _SUBJECT)
    if faults:
        raise ModelError(faults)
    if isinstance(shape, Box):
        x, y, z = shape.size
        moments = (y * y + z * z) / 12, (x * x + z * z) / 12, (x * x + y * y) / 12
        return _centred(x * y * z, moments)
    if isinstance(shape, Cylinder):
        r, h = shape.radius, shape.length
        across = r * r / 4 + h * h / 12
        return _centred(math.pi * r * r * h, (across, across, r * r / 2))
    if isinstance(shape, Capsule):
        return _centred(*_capsule(shape.radius, shape.length))
    a, b, c = (shape.radius,) * 3 if isinstance(shape, Sphere) else shape.radii
    moments = (b * b + c * c) / 5, (a * a + c * c) / 5, (a * a + b * b) / 5
    return _centred(4 / 3 * math.pi * a * b * c, moments)


def _capsule(r: float, h: float) -> tuple[float, tuple[float, float, float]]:
    """A cylinder and a ball in two halves, whose centres of mass are 3r/8 beyond its ends."""
    tube, ball = math.pi * r * r * h, 4 / 3 * math.pi * r**3
    part = tube / (tube + ball)
    across = part * (r * r / 4 + h * h / 12)
    across += (1 - part) * (0.4 * r * r + h * h / 4 + 3 / 8 * h * r)
    along = part * r * r / 2 + (1 - part) * 0.4 * r * r
    return tube + ball, (across, across, along)


def _centred(volume: float, moments: tuple[float, float, float]) -> tuple[float, Floats, Floats]:
    return float(volume), np.zeros(3), np.diag(moments).astype(np.float64)


# ---- triangles ----------------------------------------------------------------------------------


def _of_triangles(given: Any) -> tuple[float, Floats, Floats]:
    corners = as_floats(given)
    if corners is None or corners.ndim != 3 or corners.shape[1:] != (3, 3) or len(corners) < 4:
        kinds = ", ".join(kind.__name__ for kind in _KINDS)
        remedy = f"give {kinds}, or the triangles of a closed surface, shape (n, 3, 3)."
        raise ModelError(f"shape is {shown(given)}", remedy)
    if not np.isfinite(corners).all():
        raise ModelError("The triangles have corners that are not finite", "correct them.")
    _check_closed(corners)
    middle = corners.reshape(-1, 3).mean(axis=0)
    a, b, c = (corners[:, k] - middle for k in range(3))
    d = np.einsum("ni,ni->n", a, np.cross(b, c))
    volume = d.sum() / 6
    size = np.abs(corners - middle).max() ** 3
    if abs(volume) <= 1e-12 * size:
        raise ModelError("The triangles enclose no volume", "give the surface of a solid.")
    s = a + b + c
    com = (d[:, None] * s).sum(axis=0) / 24 / volume
    second = sum(np.einsum("n,ni,nj->ij", d, x, x) for x in (a, b, c, s)) / 120 / volume
    about = np.trace(second) * np.eye(3) - second - _steiner(com)
    return abs(float(volume)), middle + com, 0.5 * (about + about.T)


def _check_closed(corners: Floats) -> None:
    """Every edge lies between two triangles that go along it in opposite directions."""
    _, number = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    sides = number.reshape(-1, 3)
    edges = np.concatenate([sides[:, [0, 1]], sides[:, [1, 2]], sides[:, [2, 0]]])
    edges = edges[edges[:, 0] != edges[:, 1]]
    there, back = (np.unique(x, axis=0, return_counts=True) for x in (edges, edges[:, ::-1]))
    if there[0].shape != back[0].shape or not (
        (there[0] == back[0]).all() and (there[1] == back[1]).all()
    ):
        raise ModelError(
            "The triangles have open edges, or some that are turned inside out",
            "give a closed surface, with corners that are shared exactly.",
        )
