"""The functions of Fixman's method: a model and configurations in, numbers out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skodyn.errors import DynamicsError, ModelError, StateError
from skodyn.fixman import banded
from skodyn.fixman.chain import Chain, read_chain
from skodyn.fixman.lumped import LumpedChain
from skodyn.fixman.point_masses import PointChain, takes
from skodyn.fixman.rigid_bodies import RigidChain, slender
from skodyn.forks import cached_property
from skodyn.model.coordinates import vector
from skodyn.model.model import Model
from skodyn.typing import Floats

__all__ = ["Pieces", "hard_matrix", "mass_matrix_logdet", "mass_matrix_solve", "take_apart"]


class Pieces:
    """A chain taken apart in one configuration, its coordinates soft or hard.

    `kind` says which form of the method serves: "rigid bodies" (eq. 19), "point masses" (eqs. 1–9)
    or "lumped masses" (`lumped.py`), of which H does not exist or is not banded.
    """

    def __init__(self, chain: Chain, hard: NDArray[np.bool_]) -> None:
        self.chain = chain
        soft = (np.arange(6) < chain.n_dof[:, None]) & ~hard[:, None]
        self._pieces = _in_pieces(chain, soft, bool(hard.any()))

    @property
    def kind(self) -> str:
        kinds = {RigidChain: "rigid bodies", PointChain: "point masses"}
        return kinds.get(type(self._pieces), "lumped masses")

    @property
    def n_soft(self) -> int:
        """How many coordinates are soft: the size of G₁₁."""
        return self._pieces.size

    @property
    def log_det_G(self) -> float:
        """log det of the mass matrix of all coordinates, soft and hard, in closed form."""
        return self._parted.logdet_free

    @property
    def log_det_H22(self) -> float:
        """log det of the hard part of its inverse, from a Cholesky factorisation in bands."""
        return 2.0 * float(np.log(self._factor[:, 0]).sum())

    @property
    def H22_bands(self) -> Floats:
        """H₂₂ in bands: row i holds H₂₂[i, i], H₂₂[i, i − 1], …"""
        return self._parted.hard_bands()

    @property
    def H11(self) -> Floats:
        """The soft part of the inverse of G, dense."""
        return self._columns(True)[0]

    @property
    def H12(self) -> Floats:
        """The part of the inverse of G that joins soft and hard, dense: n_soft × hard."""
        return self._columns(True)[1].T

    @property
    def H22(self) -> Floats:
        """The hard part of the inverse of G, dense."""
        return self._columns(False)[1]

    @cached_property
    def log_det(self) -> float:
        """log det G₁₁ = log det G + log det H₂₂ (eq. 5)."""
        if isinstance(self._pieces, LumpedChain):
            return self._pieces.logdet
        return self.log_det_G + self.log_det_H22

    def solve(self, b: Floats) -> Floats:
        """G₁₁⁻¹b = (H₁₁ − H₁₂H₂₂⁻¹H₁₂*)b (eq. 9), of one vector."""
        if isinstance(self._pieces, LumpedChain):
            return self._pieces.solve(b)
        pieces, factor = self._parted, self._factor
        c, d = pieces.apply(b, np.zeros(len(factor)))  # H₁₁ b and H₁₂* b
        banded.solve(factor, d)
        f, _ = pieces.apply(np.zeros(pieces.size), d)  # H₁₂ H₂₂⁻¹ H₁₂* b
        return c - f

    def __repr__(self) -> str:
        return f"<Pieces: {len(self.chain.n_dof)} {self.kind}, {self.n_soft} soft coordinates>"

    @property
    def _parted(self) -> RigidChain | PointChain:
        if isinstance(self._pieces, LumpedChain):
            raise ModelError(
                f"Model {self.chain.model.name!r} has no banded H: bodies without inertia, or "
                "coordinates of point masses that were made hard, are eliminated with their "
                "constraints instead",
                "log_det and solve are there.",
            )
        return self._pieces

    @cached_property
    def _factor(self) -> Floats:
        bands = self._parted.hard_bands()
        if banded.factorize(bands) >= 0:
            raise DynamicsError(
                f"H₂₂ of model {self.chain.model.name!r} is not positive definite to rounding; the "
                "masses differ too much in size, or an axis of a joint lies along its bond."
            )
        return bands

    def _columns(self, soft: bool) -> tuple[Floats, Floats]:
        """H applied to unit vectors of the soft, or the hard, coordinates; columns in two parts."""
        pieces = self._parted
        hard = len(pieces.hard_bands())
        count = pieces.size if soft else hard
        found = []
        for unit in np.eye(count):
            ones, none = unit, np.zeros(hard if soft else pieces.size)
            found.append(pieces.apply(ones, none) if soft else pieces.apply(none, ones))
        shapes = (pieces.size, count), (hard, count)
        both = [np.array([x[i] for x in found]).T.reshape(shapes[i]) for i in (0, 1)]
        return both[0], both[1]


def take_apart(model: Model, q: ArrayLike, *, hard: Iterable[str] = ()) -> Pieces:
    """A serial chain as free pieces, with what Fixman's theorem says of them.

    Parameters
    ----------
    model : Model
        A serial chain.
    q : array_like, shape (nq,)
        One configuration.
    hard : iterable of str
        Joints whose own coordinates are hard as well: G₁₁ is then the mass matrix without them.

    Returns
    -------
    pieces : Pieces
        With `log_det_G`, `H11`, `H12`, `H22`, `log_det` and `solve`.
    """
    coordinates = model.check_q(q)
    if coordinates.ndim != 1:
        raise StateError(
            f"q has shape {coordinates.shape}",
            f"take_apart is for one configuration, ({model.nq},). mass_matrix_logdet and "
            "mass_matrix_solve take batches.",
        )
    return _pieces_of(model, coordinates, _hard_bodies(model, hard))


def mass_matrix_logdet(model: Model, q: ArrayLike, *, hard: Iterable[str] = ()) -> float | Floats:
    """log det 𝓜 = log det G + log det H₂₂, O(n); serial chains only.

    Parameters
    ----------
    model : Model
        A serial chain.
    q : array_like, shape (nq,) or (B, nq)
        One configuration, or B of them.
    hard : iterable of str
        Joints that are held: 𝓜 is then without their rows and columns.

    Returns
    -------
    logdet : float or ndarray, shape (B,)
    """
    held, coordinates = _hard_bodies(model, hard), model.check_q(q)
    if coordinates.ndim == 1:
        return _pieces_of(model, coordinates, held).log_det
    return np.array([_pieces_of(model, row, held).log_det for row in coordinates])


def mass_matrix_solve(
    model: Model, q: ArrayLike, rhs: ArrayLike, *, hard: Iterable[str] = ()
) -> Floats:
    """𝓜⁻¹·rhs by eq. 9, O(n) for each right side; serial chains only.

    Parameters
    ----------
    model : Model
        A serial chain.
    q : array_like, shape (nq,) or (B, nq)
        One configuration, or B of them.
    rhs : array_like, shape (nv,) or (B, nv)
        One right side for all configurations, or as many as rows; with one configuration it is
        taken apart once for all of them. Joints in `hard` have no place in a row.
    hard : iterable of str
        Joints that are held.

    Returns
    -------
    x : ndarray, shape (nv,) or (B, nv)
    """
    held, coordinates = _hard_bodies(model, hard), model.check_q(q)
    size = model.nv - sum(model.joints[k].nv for k in np.flatnonzero(held))
    b = vector(rhs, size, "rhs")
    if coordinates.ndim == 1:
        pieces = _pieces_of(model, coordinates, held)
        solved = [pieces.solve(row) for row in np.atleast_2d(b)]
        return np.array(solved).reshape(b.shape)
    if b.ndim == 2 and len(b) != len(coordinates):
        raise StateError(
            f"q has {len(coordinates)} rows and rhs {len(b)}", "give as many, or one of either."
        )
    rows = np.broadcast_to(b, (len(coordinates), size))
    pairs = zip(coordinates, rows, strict=True)
    solved = [_pieces_of(model, row, held).solve(np.ascontiguousarray(x)) for row, x in pairs]
    return np.array(solved).reshape(len(coordinates), size)


def hard_matrix(model: Model, q: ArrayLike, *, hard: Iterable[str] = ()) -> Floats:
    """H₂₂ of the hard variables in bands: row i holds H₂₂[i, i], H₂₂[i, i − 1], …"""
    return take_apart(model, q, hard=hard).H22_bands


def _pieces_of(model: Model, q: Floats, held: NDArray[np.bool_]) -> Pieces:
    model._refuse_mimics("the fixman package")
    model._refuse_loops("the fixman package")
    model._refuse_flexible("the fixman package")
    return Pieces(read_chain(model, q), held)


def _in_pieces(
    chain: Chain, soft: NDArray[np.bool_], chosen: bool
) -> RigidChain | PointChain | LumpedChain:
    """As rigid bodies if all have inertia, as point masses if they fit, or else by the pencil."""
    if not slender(chain).size:
        return RigidChain.of(chain, soft)
    if not chosen and takes(chain):
        return PointChain.of(chain)
    return LumpedChain.of(chain, soft)


def _hard_bodies(model: Model, hard: Iterable[str]) -> NDArray[np.bool_]:
    if isinstance(hard, str):
        raise StateError(f"hard is {hard!r}", "give a list of joints' names.")
    held = np.zeros(model.n_bodies, dtype=np.bool_)
    for name in hard:
        model.v_slice(name)  # refuses what is no joint, with a guess
        held[model.joint_names.index(name)] = True
    return held
