"""A flexible body as its modes describe it: the integrals that dynamics needs, and nothing else.

A point s of the undeformed body sits at s + Σ φᵢ(s) ηᵢ + Σ ψ_b(s) ξ_b, in body axes, from its
origin at the joint that carries it. The masters η are coordinates of the state; the slaves follow
them, ξ_b = ½ ηᵀA_bη: the second-order part of the displacement, from which geometric stiffening
comes. Shapes are numbered masters first, slaves behind.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.errors import ModelError
from skodyn.faults import Fault, Subject
from skodyn.forks import cached_property
from skodyn.looks import look
from skodyn.model.columns import as_floats
from skodyn.typing import Floats

__all__ = ["BeamCurvature", "FlexibleBody", "FlexibleDisplay", "FlexibleNode"]

ROOT, TIP = "root", "tip"
_SYMMETRIC = 1e-9  # of the largest entry


@dataclass(frozen=True, eq=False)
class FlexibleNode:
    """A place of a flexible body that moves and turns with it: something can hang there.

    Parameters
    ----------
    position : (3,)
        Undeformed, m.
    translation : (3, n)
        Displacement for each shape.
    rotation : (3, n)
        Rotation vector for each shape; the node's axes are exp of their sum.
    """

    position: Floats
    translation: Floats
    rotation: Floats


@dataclass(frozen=True, eq=False)
class BeamCurvature:
    """What the strain energy of a beam has beyond ½ηᵀKη, at Gauss points:

        U₄ = ½ Σ_g weight_g (slope_y·η curvature_y·η + slope_z·η curvature_z·η)²

    weights (g,) are those of the rule times the bending stiffness in y; where that in z differs,
    curvature_z has the square root of their ratio as a factor. The others are (g, m).
    """

    weights: Floats
    slope_y: Floats
    curvature_y: Floats
    slope_z: Floats
    curvature_z: Floats


@dataclass(frozen=True, eq=False)
class FlexibleDisplay:
    """What is drawn: points that move with the shapes, and either faces or a swept outline.

    points (p, 3), translation (p, 3, n); with faces (f, 3), three points each. Without faces the
    points are a centre line along x, rotation (p, 3, n) turns its sections, and outline (k, 2) is
    the edge of a section in y and z.
    """

    points: Floats
    translation: Floats
    rotation: Floats
    faces: NDArray[np.int64]
    outline: Floats


@dataclass(frozen=True, eq=False)
class FlexibleBody:
    """A body that bends, by its modes; `Beam` and `flexible.from_matrices` make it.

    n shapes: m masters, which are coordinates of the state, and behind them the slaves. All arrays
    are read-only; two bodies are equal if their numbers are.

    Parameters
    ----------
    mass : float
        kg.
    first_moment : (3,)
        ∫ s dm.
    inertia : (3, 3)
        About the origin, undeformed.
    shape_integrals : (n, 3)
        ∫ φᵢ dm.
    position_shapes : (n, 3, 3)
        ∫ s φᵢᵀ dm.
    shape_products : (n, n, 3, 3)
        ∫ φᵢ φⱼᵀ dm; their traces are the modal mass matrix.
    stiffness : (m,)
        Of each master, N/m (of one without units, N m).
    damping : (m,)
        Of each master, N s/m.
    slaves : (n − m, m, m)
        A_b of each slave, symmetric.
    labels : tuple of str
        Of each master: "y1", "z1", "twist1", "stretch1", "mode1" …
    nodes : mapping of str to FlexibleNode
        "root" and "tip" are always there.
    frequencies : (m,)
        Of each master by itself, Hz.
    length : float
        What deflections are compared with, m.
    curvature : BeamCurvature, optional
        Strain energy of fourth order.
    display : FlexibleDisplay, optional
        What is drawn of it.
    file : str
        Where `flexible.load` read it; empty if it was made.

    Raises
    ------
    ModelError
        Arrays that do not fit each other, with every fault at once.
    """

    mass: float
    first_moment: Floats
    inertia: Floats
    shape_integrals: Floats
    position_shapes: Floats
    shape_products: Floats
    stiffness: Floats
    damping: Floats
    slaves: Floats
    labels: tuple[str, ...]
    nodes: Mapping[str, FlexibleNode]
    frequencies: Floats
    length: float
    curvature: BeamCurvature | None = None
    display: FlexibleDisplay | None = field(default=None, repr=False)
    file: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        faults = _Reader(self).faults()
        if faults:
            raise ModelError(faults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        _Reader(self).faults()  # pickling forgets read-only flags

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: self.__dict__[f.name] for f in fields(self)}

    @property
    def modes(self) -> int:
        """How many masters: coordinates that the body adds to the state."""
        return len(self.labels)

    @property
    def shapes(self) -> int:
        """How many shapes: masters and slaves."""
        return len(self.shape_integrals)

    @cached_property
    def modal_mass(self) -> Floats:
        """(n, n): the kinetic energy of the shapes among themselves."""
        traces: Floats = np.trace(self.shape_products, axis1=2, axis2=3)
        return traces

    @property
    def units(self) -> tuple[str, ...]:
        """rad or m for each master."""
        return tuple("rad" if label.startswith("twist") else "m" for label in self.labels)

    @property
    def is_clamped(self) -> bool:
        """Does no shape move or turn the root? Those of a body in free flight may."""
        root = self.nodes[ROOT]
        return not (root.translation.any() or root.rotation.any())

    @cached_property
    def content_hash(self) -> str:
        """Stable hash of all that decides a result, not of what is drawn, nor of where it lies."""
        digest = hashlib.sha256()
        for name in _NUMBERS:
            digest.update(np.asarray(getattr(self, name), dtype=np.float64).tobytes())
        digest.update("\0".join((*self.labels, "")).encode())
        for name, node in sorted(self.nodes.items()):
            digest.update(f"{name}\0".encode() + _bytes_of(node))
        digest.update(_bytes_of(self.curvature) if self.curvature else b"")
        return digest.hexdigest()

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write it to an HDF5 file, for `flexible.load` and `file = …` in model files.

        Parameters
        ----------
        path : path
            Where; the file gets its name once it is complete.
        overwrite : bool
            Replace a file that holds a flexible body; any other is never replaced.

        Raises
        ------
        LogError
            The file exists, or cannot be written.
        """
        look("save_body", "skodyn.io.flexible_files")(self, path, overwrite=overwrite)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FlexibleBody) and self.content_hash == other.content_hash

    def __hash__(self) -> int:
        return hash(self.content_hash)


_NUMBERS = (
    "mass", "first_moment", "inertia", "shape_integrals", "position_shapes", "shape_products",
    "stiffness", "damping", "slaves", "frequencies", "length",
)  # fmt: skip


def _bytes_of(given: Any) -> bytes:
    return b"".join(getattr(given, f.name).tobytes() for f in fields(given))


class _Reader:
    """Makes the arrays of a body what they shall be, and collects what cannot be made so."""

    def __init__(self, body: FlexibleBody) -> None:
        self.body = body
        self.found: list[Fault] = []
        self.whose = Subject(words="Flexible body")

    def faults(self) -> list[Fault]:
        body = self.body
        m = len(body.labels)
        n = len(body.shape_integrals) if np.ndim(body.shape_integrals) == 2 else m
        shapes: dict[str, tuple[int, ...]] = {
            "mass": (), "first_moment": (3,), "inertia": (3, 3), "shape_integrals": (n, 3),
            "position_shapes": (n, 3, 3), "shape_products": (n, n, 3, 3), "stiffness": (m,),
            "damping": (m,), "slaves": (n - m, m, m), "frequencies": (m,), "length": (),
        }  # fmt: skip
        for name, shape in shapes.items():
            self._set(body, name, shape, name)
        self._parts(m, n)
        if not self.found:
            self._judge()
        return self.found

    def _parts(self, m: int, n: int) -> None:
        body = self.body
        for missing in {ROOT, TIP} - set(body.nodes):
            self._fault("nodes", f"has no node {missing!r}", "give root and tip.")
        for name, node in body.nodes.items():
            for key, shape in (("position", (3,)), ("translation", (3, n)), ("rotation", (3, n))):
                self._set(node, key, shape, f"{key} of node {name!r}")
        if body.curvature is not None:
            g = np.size(body.curvature.weights)
            for f in fields(body.curvature):
                shape = (g,) if f.name == "weights" else (g, m)
                self._set(body.curvature, f.name, shape, f"{f.name} of curvature")
        if body.display is not None:
            for f in fields(body.display):
                array = np.ascontiguousarray(getattr(body.display, f.name))
                array.setflags(write=False)
                object.__setattr__(body.display, f.name, array)

    def _set(self, owner: Any, name: str, shape: tuple[int, ...], words: str) -> None:
        given = getattr(owner, name)
        array = as_floats(given)
        if array is None or array.shape != shape:
            what = "no numbers" if array is None else f"of shape {array.shape}"
            self._fault(name, f"{words} is {what}", f"give shape {shape}.")
        elif not np.isfinite(array).all():
            self._fault(name, f"{words} is not finite", "give finite numbers.")
        elif shape == ():
            object.__setattr__(owner, name, float(array))
        else:
            array = np.ascontiguousarray(array)
            array.setflags(write=False)
            object.__setattr__(owner, name, array)

    def _judge(self) -> None:
        body = self.body
        if not body.labels or len(set(body.labels)) < len(body.labels):
            self._fault("labels", f"labels are {body.labels}", "give each mode a name of its own.")
        for name, least in (("mass", body.mass), ("length", body.length)):
            if not least > 0.0:
                self._fault(name, f"{name} is {least:.6g}", "give a number above 0.")
        if not (body.stiffness > 0.0).all():
            self._fault("stiffness", "stiffness is not above 0", "leave rigid motions out.")
        if not (body.damping >= 0.0).all():
            self._fault("damping", "damping is negative", "give numbers of at least 0.")
        pairs = {
            "inertia": (body.inertia, body.inertia.T),
            "shape_products": (body.shape_products, body.shape_products.transpose(1, 0, 3, 2)),
            "slaves": (body.slaves, body.slaves.transpose(0, 2, 1)),
        }
        for name, (one, other) in pairs.items():
            largest = np.abs(one).max(initial=0.0)
            if np.abs(one - other).max(initial=0.0) > _SYMMETRIC * largest:
                self._fault(name, f"{name} is not symmetric", "give both halves alike.")

    def _fault(self, key: str, problem: str, remedy: str) -> None:
        self.found.append(self.whose.fault(f"{self.whose.words}: {problem}", remedy, key))
