"""Flexible bodies from matrices of finite elements: Craig and Bampton's reduction.

Nodes have three degrees of freedom each, in the order x, y, z of node 0, of node 1, … The root is
held; each interface is rigid (RBE2) and moves with the six of its centre. Shapes are the static
ones of the interfaces and natural modes with these held, made orthogonal. The mass matrix of solid
elements is m̂⊗I₃, and all integrals follow from m̂: Nᵢ = Xᵀm̂Φᵢ, S_ij = Φᵢᵀm̂Φⱼ. Programs integrate m̂
with few points, so that some motions of nodes carry no mass: m̂ is semidefinite, and modes are those
of Mφ = Kφ/ω², orthogonal by K.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skodyn.errors import ModelError
from skodyn.faults import Fault, shown
from skodyn.model.columns import as_floats
from skodyn.model.flexible.modal_body import ROOT, TIP, FlexibleBody, FlexibleDisplay, FlexibleNode
from skodyn.model.flexible.second_order import Reduced, find_slaves
from skodyn.typing import Floats

__all__ = ["from_matrices"]

_SYMMETRIC = 1e-9
_RIGID = 1e-12  # ω² below this part of the next: 1e-6 of a frequency


def from_matrices(
    nodes: Any,
    stiffness: Any,
    mass: Any,
    *,
    root: Sequence[int],
    interfaces: Mapping[str, Sequence[int]] | None = None,
    modes: int = 6,
    damping: float | Sequence[float] = 0.0,
    faces: Any = None,
    second_order: Any = None,
) -> FlexibleBody:
    """A flexible body from finite element matrices, reduced by Craig and Bampton's method.

    Needs SciPy. The body frame lies in the centre of the root's nodes, with the axes of `nodes`.

    Parameters
    ----------
    nodes : array_like, shape (n, 3)
        Where the nodes are, m.
    stiffness : sparse or dense, shape (3n, 3n)
        N/m, symmetric.
    mass : sparse or dense, shape (3n, 3n)
        kg, symmetric, the same in x, y and z. It may be singular, as that of elements with reduced
        integration is.
    root : sequence of int
        Nodes that are held by the body's joint: three or more, not in line.
    interfaces : mapping of str to sequence of int, optional
        Nodes that move together as a rigid face, by name; bodies can hang there. Without one that
        is called "tip" the node that is farthest from the root is the tip, where nothing can hang.
    modes : int
        How many shapes: six of each interface, then natural modes.
    damping : float or sequence of floats
        Part of critical damping: of every mode, or one for each.
    faces : array_like, shape (f, 3), optional
        Triangles to draw, three nodes each.
    second_order : array_like, shape (m, m, n, 3), or function, optional
        Displacements g_ij of second order, u = Σφᵢηᵢ + ½Σg_ij ηᵢηⱼ, from which geometric stiffening
        comes; or a function of nodes (n, 3), from the root's centre, and shapes (n, 3, m) that
        returns them.

    Returns
    -------
    body : FlexibleBody
        For `ModelBuilder.add_body(…, flexible=body)`. Without second_order it has no geometric
        stiffening: where that matters, split the body into several.

    Raises
    ------
    ModelError
        Every fault at once.

    See Also
    --------
    Beam : beams need no matrices.
    """
    given = _Given(nodes, stiffness, mass, root, interfaces or {}, modes, damping, faces)
    if given.faults:
        raise ModelError(given.faults)
    return given.reduced(second_order)


class _Given:
    """The arguments, checked; faults if they cannot be used."""

    def __init__(self, nodes: Any, stiffness: Any, mass: Any, root: Any, interfaces: Any,
                 modes: Any, damping: Any, faces: Any) -> None:  # fmt: skip
        from scipy import sparse  # few need it

        self.faults: list[Fault] = []
        places = as_floats(nodes)
        if places is None or places.ndim != 2 or places.shape[1] != 3:
            self._say("nodes", "nodes are not rows of three numbers", "give shape (n, 3).")
            return
        self.count, self.modes = len(places), modes
        self.stiffness, self.mass = (sparse.csc_array(a) for a in (stiffness, mass))
        for key, matrix in (("stiffness", self.stiffness), ("mass", self.mass)):
            self._check_matrix(key, matrix)
        taken: dict[int, str] = {}
        self.root = self._check_ids(ROOT, root, places, taken)
        if not isinstance(interfaces, Mapping):
            remedy = "give lists of nodes by name, { 'tip': [4, 5, 6, 7] }."
            self._say("interfaces", f"interfaces is {shown(interfaces)}", remedy)
            interfaces = {}
        self.interfaces = {
            name: self._check_ids(str(name), ids, places, taken) for name, ids in interfaces.items()
        }
        if ROOT in interfaces:
            self._say("interfaces", "an interface is called 'root'", "give those nodes as root.")
        ratio = as_floats(damping)
        if type(modes) is not int or not 1 <= modes <= 200:
            self._say("modes", f"modes is {modes!r}", "give a whole number from 1 to 200.")
        elif ratio is None or ratio.shape not in ((), (modes,)) or not (ratio >= 0.0).all():
            self._say(
                "damping", "damping does not fit", f"give a number of at least 0, or {modes}."
            )
        self.ratio = ratio
        drawn = as_floats(faces) if faces is not None else np.zeros((0, 3))
        if drawn is None or drawn.ndim != 2 or drawn.shape[1] != 3:
            self._say("faces", "faces are not rows of three nodes", "give shape (f, 3).")
        elif drawn.size and not (drawn.min() >= 0 and drawn.max() < self.count):
            self._say("faces", "faces name nodes that are not there", "count nodes from 0.")
        self.faces = drawn
        if not self.faults:
            self.places = places - places[self.root].mean(axis=0)
            self._check_definite()

    def _say(self, key: str, problem: str, remedy: str) -> None:
        self.faults.append(Fault(f"from_matrices: {problem}", remedy, (key,)))

    def _check_matrix(self, key: str, matrix: Any) -> None:
        size = 3 * self.count
        if matrix.shape != (size, size):
            what = f"{key} is of shape {matrix.shape}, with {self.count} nodes"
            self._say(key, what, f"give shape {(size, size)}.")
            return
        largest = abs(matrix).max()
        if not np.isfinite(largest) or largest == 0.0:
            self._say(key, f"{key} is zero or not finite", "give finite numbers.")
        elif abs(matrix - matrix.T).max() > _SYMMETRIC * largest:
            self._say(key, f"{key} is not symmetric", "give both halves alike.")
        elif key == "mass":
            one = matrix[0::3, 0::3]
            other = [matrix[i::3, j::3] - (one if i == j else 0 * one) for i in range(3)
                     for j in range(3)]  # fmt: skip
            if max(abs(x).max() for x in other) > _SYMMETRIC * largest:
                remedy = "give the mass matrix of solid elements, three degrees of freedom a node."
                self._say(key, "mass is not the same in x, y and z", remedy)

    def _check_definite(self) -> None:
        """Mass and stiffness with the root held; and whether there are as many shapes as asked."""
        held = np.setdiff1d(np.arange(self.count), self.root)
        lumped = self.mass[0::3, 0::3].tocsc()
        empty = held[lumped.diagonal()[held] == 0.0].tolist()
        if empty:
            remedy = "give every node but those of the root a mass: a consistent mass matrix."
            self._say("mass", f"node {empty[0]} has no mass", remedy)
        elif not _is_semidefinite(lumped[held][:, held]):
            remedy = (
                "look for rows of other nodes, one triangle taken for both, or negative masses."
            )
            self._say("mass", "mass is not positive semidefinite with the root held", remedy)
        basis, rigid = self._unknowns()
        inner = basis.shape[1] - 6 * rigid
        most = basis.shape[1] - 1 if inner else basis.shape[1]
        if not self.faults:
            wanted = -(-max(0, self.modes - 6 * rigid) // 3)
            free = np.setdiff1d(held, np.concatenate([held[:0], *self.interfaces.values()]))
            most = min(most, 6 * rigid + 3 * _rank(lumped[free][:, free], wanted))
        if self.modes > most:
            self._say("modes", f"modes is {self.modes}, but there are {most} shapes", "ask fewer.")
        elif not _is_definite((basis.T @ self.stiffness @ basis).tocsc()):
            remedy = "hold more nodes, or leave out what hangs on nothing."
            what = "stiffness is not positive definite: it lets the body move with its root held"
            self._say("stiffness", what, remedy)

    def _check_ids(self, name: str, ids: Any, places: Floats, taken: dict[int, str]) -> Any:
        given = as_floats(ids)
        if given is None or (given != np.floor(given)).any():
            self._say(name, f"{name} is {shown(ids)}", "give numbers of nodes, from 0 on.")
            return np.zeros(0, dtype=np.int64)
        found = np.unique(given.astype(np.int64).reshape(-1))
        unknown = [i for i in found.tolist() if not 0 <= i < self.count]
        if unknown:
            self._say(name, f"{name} names node {unknown[0]}, of {self.count}", "count from 0.")
            return found
        twice = [i for i in found.tolist() if taken.setdefault(i, name) != name]
        if twice:
            what = f"node {twice[0]} belongs to {taken[twice[0]]!r} and to {name!r}"
            self._say(name, what, "let no two share a node.")
        spread = places[found] - places[found].mean(axis=0) if len(found) else np.zeros((0, 3))
        if len(found) < 3 or np.linalg.matrix_rank(spread, tol=1e-9 * np.ptp(places)) < 2:
            what = f"{name} has {len(found)} nodes that fix no rotation"
            self._say(name, what, "give three or more that are not in line.")
        return found

    # ---- reduction ------------------------------------------------------------------------------

    def reduced(self, second_order: Any) -> FlexibleBody:
        from scipy import linalg

        loose = Fault(
            "from_matrices: stiffness lets the body move with its root held",
            "hold more nodes, or leave out what hangs on nothing.",
            ("root",),
        )
        try:
            shapes, squares = self._shapes(linalg)
        except (RuntimeError, linalg.LinAlgError):  # a factor that is singular
            raise ModelError(loose) from None
        if squares[0] <= max(_RIGID * squares[-1], self._noise()) or not (squares > 0.0).all():
            raise ModelError(loose)
        phi = shapes.reshape(self.count, 3, -1)
        largest = np.linalg.norm(phi, axis=1).max(axis=0)
        phi = phi / largest
        x, lumped = self.places, self.mass[0::3, 0::3]
        slaves = find_slaves(second_order, Reduced(x, phi, squares, self.root, lumped))
        phi = np.concatenate((phi, slaves.shapes), axis=2)
        weighed = np.asarray(lumped @ phi.reshape(self.count, -1)).reshape(phi.shape)
        products = np.einsum("kin,kjm->nmij", phi, weighed)
        products = 0.5 * (products + products.transpose(1, 0, 3, 2))
        modal_mass = np.einsum("nnii->n", products)[: len(squares)]
        outer = x.T @ np.asarray(lumped @ x)
        omega, m = np.sqrt(squares), len(squares)
        return FlexibleBody(
            mass=float(lumped.sum()),
            first_moment=np.asarray(lumped @ x).sum(axis=0),
            inertia=np.trace(outer) * np.eye(3) - 0.5 * (outer + outer.T),
            shape_integrals=weighed.sum(axis=0).T,
            position_shapes=np.einsum("ki,kjn->nij", x, weighed),
            shape_products=products,
            stiffness=squares * modal_mass,
            damping=2.0 * np.broadcast_to(self.ratio, (m,)) * omega * modal_mass,  # type: ignore[arg-type]
            slaves=slaves.factors,
            labels=tuple(f"mode{i + 1}" for i in range(m)),
            nodes=self._nodes(phi),
            frequencies=omega / (2.0 * np.pi),
            length=float(np.linalg.norm(x, axis=1).max()),
            display=FlexibleDisplay(
                x,
                phi,
                np.zeros((0, 3, phi.shape[2])),
                np.asarray(self.faces, np.int64),
                np.zeros((0, 2)),
            ),
        )

    def _noise(self) -> float:
        """ω² that nobody can tell from zero: roundings of the stiffest motion, a node's own."""
        mass, stiffness = self.mass.diagonal(), self.stiffness.diagonal()
        held = np.repeat(np.isin(np.arange(self.count), self.root), 3)
        stiffest = (stiffness[~held] / mass[~held]).max()
        return float(16.0 * np.finfo(np.float64).eps * stiffest)

    def _shapes(self, linalg: Any) -> tuple[Floats, Floats]:
        """(3n, m) orthogonal shapes and ω², lowest first."""
        from scipy.sparse.linalg import LinearOperator, eigsh, splu

        basis, rigid = self._unknowns()
        stiffness, mass = (basis.T @ a @ basis for a in (self.stiffness, self.mass))
        inner = basis.shape[1] - 6 * rigid
        kii, mii = (a.tocsc()[:inner, :inner] for a in (stiffness, mass))
        natural = max(0, self.modes - 6 * rigid)
        columns, factor = [], splu(kii)
        if rigid:
            pulled = stiffness.tocsc()[:inner, inner:].toarray()
            columns.append(np.concatenate((-factor.solve(pulled), np.eye(6 * rigid))))
        if natural:
            soft = LinearOperator(kii.shape, factor.solve, dtype=np.float64)
            _, found = eigsh(mii, natural, kii, Minv=soft, which="LA", v0=np.ones(inner))
            columns.append(np.concatenate((found, np.zeros((6 * rigid, natural)))))
        mixed = np.concatenate(columns, axis=1)
        small = [_paired(a, basis @ mixed) for a in (self.stiffness, self.mass)]
        # shapes of unit mass, so that the stiffest do not hide the softest
        scale = 1.0 / np.sqrt(np.diag(small[1]))
        squares, turned = linalg.eigh(*(a * np.outer(scale, scale) for a in small))
        turned = scale[:, None] * turned
        shapes = np.asarray(basis @ (mixed @ turned[:, : self.modes]))
        return shapes, np.asarray(squares[: self.modes])

    def _unknowns(self) -> tuple[Any, int]:
        """The map from free nodes, then six of each interface, to all degrees of freedom."""
        from scipy import sparse

        bound = [self.root, *self.interfaces.values()]
        free = np.setdiff1d(np.arange(self.count), np.concatenate(bound))
        rows = (3 * free[:, None] + np.arange(3)).reshape(-1)
        ones = sparse.csc_array(
            (np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(3 * self.count, len(rows))
        )
        faces = []
        for ids in self.interfaces.values():
            arms = self.places[ids] - self.places[ids].mean(axis=0)
            block = np.zeros((3 * self.count, 6))
            for i, (x, y, z) in zip(ids.tolist(), arms.tolist(), strict=True):
                block[3 * i : 3 * i + 3, :3] = np.eye(3)
                block[3 * i : 3 * i + 3, 3:] = [[0, z, -y], [-z, 0, x], [y, -x, 0]]
            faces.append(sparse.csc_array(block))
        return sparse.hstack([ones, *faces], format="csc"), len(faces)

    def _nodes(self, phi: Floats) -> dict[str, FlexibleNode]:
        nothing = np.zeros((3, phi.shape[2]))
        found = {ROOT: FlexibleNode(np.zeros(3), nothing, nothing.copy())}
        for name, ids in self.interfaces.items():
            found[name] = self._node(ids, phi)
        if TIP not in found:
            distance = np.linalg.norm(self.places, axis=1)
            end = int(np.argmax(distance))
            near = np.argsort(np.linalg.norm(self.places - self.places[end], axis=1))[:8]
            fitted = self._node(near, phi)
            found[TIP] = FlexibleNode(self.places[end], phi[end], fitted.rotation)
        return found

    def _node(self, ids: Any, phi: Floats) -> FlexibleNode:
        """The mean motion of some nodes, and the rotation that fits them best."""
        centre, moved = self.places[ids].mean(axis=0), phi[ids].mean(axis=0)
        arms, relative = self.places[ids] - centre, phi[ids] - moved
        second = np.trace(arms.T @ arms) * np.eye(3) - arms.T @ arms
        turned = np.cross(arms[:, :, None], relative, axis=1).sum(axis=0)
        return FlexibleNode(centre, moved, np.linalg.solve(second, turned))


def _is_definite(matrix: Any) -> bool:
    """By the signs of the pivots, which lie on the diagonal as in Cholesky's method (Sylvester)."""
    from scipy.sparse.linalg import splu

    if not matrix.shape[0]:
        return True
    how = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0}
    try:
        factor = splu(matrix, options={"SymmetricMode": True}, **how)
    except RuntimeError:  # a pivot is zero
        return False
    diagonal = np.array_equal(factor.perm_r, factor.perm_c)
    return bool(diagonal and (factor.U.diagonal() > 0.0).all())


def _is_semidefinite(matrix: Any) -> bool:
    """Up to roundings, of which a file of few digits has more; every diagonal entry is not zero."""
    from scipy import sparse

    return _is_definite((matrix + _SYMMETRIC * sparse.diags_array(matrix.diagonal())).tocsc())


def _rank(matrix: Any, enough: int) -> int:
    """Of a semidefinite matrix with a positive diagonal, counted no further than enough: pivots of
    Cholesky's method, the largest first."""
    scale = 1.0 / np.sqrt(matrix.diagonal())
    most = min(enough, int(matrix.shape[0]))
    left, columns = np.ones(matrix.shape[0]), np.zeros((most, matrix.shape[0]))
    for done in range(most):
        k = int(np.argmax(left))
        if left[k] <= _SYMMETRIC:
            return done
        column = scale * scale[k] * matrix[:, [k]].toarray()[:, 0]
        column -= columns[:done, k] @ columns[:done]
        columns[done] = column / np.sqrt(left[k])
        left -= columns[done] ** 2
    return most


def _paired(matrix: Any, shapes: Floats) -> Floats:
    """ΦᵀAΦ, summed in extended precision where the processor has it: the strain energy of soft
    shapes is a small difference of large numbers."""
    long = shapes.astype(np.longdouble)
    whole = long.T @ (matrix.astype(np.longdouble) @ long)
    result: Floats = (0.5 * (whole + whole.T)).astype(np.float64)
    return result
