"""General SKO models straight from the definition: dense NumPy, nothing from skodyn.

A described model is a dict of lists in any order of nodes: parents (−1 for a base), A (None for a
base), H, M, a, b. `Twin` stacks them in a given order and writes every operator out in full.

Equation numbers are those of Jain 2011-II.
"""

from functools import cached_property

import numpy as np

SHAPES = ("chain", "star", "tree", "forest")


def random_parents(rng, n, shape):
    """Parent positions of n nodes in random order."""
    if shape == "chain":
        parents = np.arange(n) - 1
    elif shape == "star":
        parents = np.where(np.arange(n) == 0, -1, 0)
    elif shape == "tree":
        parents = np.array([-1] + [int(rng.integers(k)) for k in range(1, n)])
    else:  # several bases from three nodes on
        parents = np.array([int(rng.integers(-1, k)) for k in range(n)])
        parents[n // 2] = -1
    place = rng.permutation(n)
    listed = np.empty(n, dtype=int)
    listed[place] = np.where(parents < 0, -1, place[parents])
    return listed.tolist()


def random_weight(rng, rows, cols):
    """A weight: regular or not square, of rank one, or zero."""
    kind = rng.integers(6)
    if kind == 0:
        return np.zeros((rows, cols))
    if kind == 1:
        return np.outer(rng.normal(size=rows), rng.normal(size=cols)) / np.sqrt(rows * cols)
    return rng.normal(size=(rows, cols)) / np.sqrt(cols)


def random_model(rng, n, shape, largest=7):
    """A described model with ragged sizes; some nodes are locked, some move in every direction."""
    parents = random_parents(rng, n, shape)
    m = rng.integers(1, largest + 1, size=n)
    dofs = [int(rng.integers(0, size + 1)) for size in m]
    factors = [rng.normal(size=(size, size)) for size in m]
    return {
        "parents": parents,
        "A": [None if p < 0 else random_weight(rng, m[p], m[k]) for k, p in enumerate(parents)],
        "H": [rng.normal(size=(d, size)) for d, size in zip(dofs, m, strict=True)],
        "M": [f @ f.T + np.eye(len(f)) for f in factors],
        "a": [rng.normal(size=size) for size in m],
        "b": [rng.normal(size=size) for size in m],
    }


def diagonal(blocks):
    """One matrix with the given blocks, possibly empty, on its diagonal."""
    full = np.zeros((sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks)))
    i = j = 0
    for b in blocks:
        full[i : i + b.shape[0], j : j + b.shape[1]] = b
        i, j = i + b.shape[0], j + b.shape[1]
    return full


class Twin:
    """Dense operators of a described model, stacked in `order` (list positions)."""

    def __init__(self, described, order):
        self.order = [int(k) for k in order]
        pick = {key: [values[k] for k in self.order] for key, values in described.items()}
        place = {k: i for i, k in enumerate(self.order)}
        self.parent = [-1 if p < 0 else place[p] for p in pick["parents"]]
        self.m = [len(M) for M in pick["M"]]
        self.nodes = self.slices(self.m)
        self.dofs = self.slices([len(H) for H in pick["H"]])
        self.H, self.M = diagonal(pick["H"]), diagonal(pick["M"])
        self.a, self.b = np.concatenate(pick["a"]), np.concatenate(pick["b"])
        self.E = np.zeros((sum(self.m), sum(self.m)))
        for k, p in enumerate(self.parent):
            if p >= 0:
                self.E[self.nodes[p], self.nodes[k]] = pick["A"][k]
        self.one = np.eye(len(self.E))

    @staticmethod
    def slices(sizes):
        ends = np.cumsum(sizes).tolist()
        return [slice(end - int(size), end) for end, size in zip(ends, sizes, strict=True)]

    def related(self, above, k):
        """Is `above` the node k, or between it and the ground?"""
        while k >= 0 and k != above:
            k = self.parent[k]
        return k == above

    def blocks(self, matrix, rows=None, cols=None):
        """The diagonal blocks of a matrix."""
        rows, cols = rows or self.nodes, cols or self.nodes
        return [matrix[r, c] for r, c in zip(rows, cols, strict=True)]

    def edges(self, matrix, cols=None):
        """The blocks (℘(k), k) of a matrix; None for bases."""
        cols = cols or self.nodes
        pairs = zip(self.parent, cols, strict=True)
        return [None if p < 0 else matrix[self.nodes[p], c] for p, c in pairs]

    @cached_property
    def A(self):
        return np.linalg.inv(self.one - self.E)

    @cached_property
    def mass(self):
        """Eq. 3."""
        return self.H @ self.A @ self.M @ self.A.T @ self.H.T

    @cached_property
    def bias(self):
        """Eq. 3."""
        return self.H @ self.A @ (self.M @ self.A.T @ self.a + self.b)

    @cached_property
    def kappa(self):
        """Of everything that is inverted on the way: 𝓜, the blocks of D and those of P."""
        inverted = [self.mass, *self.blocks(self.D, self.dofs, self.dofs), *self.blocks(self.P)]
        return max([np.linalg.cond(x) for x in inverted if x.size], default=1.0)

    @cached_property
    def P(self):
        """Eq. 31 as a fixed point; ℰ is nilpotent, so the iteration ends."""
        P = self.M
        for _ in self.parent:
            HP = self.H @ P
            P = self.M + self.E @ (P - HP.T @ np.linalg.solve(HP @ self.H.T, HP)) @ self.E.T
        return P

    @cached_property
    def D(self):
        return self.H @ self.P @ self.H.T

    @cached_property
    def G(self):
        return self.P @ self.H.T @ np.linalg.inv(self.D)

    @cached_property
    def tau(self):
        return self.G @ self.H

    @cached_property
    def tau_bar(self):
        return self.one - self.tau

    @cached_property
    def P_plus(self):
        return self.tau_bar @ self.P

    @cached_property
    def E_psi(self):
        return self.E @ self.tau_bar

    @cached_property
    def psi(self):
        return np.linalg.inv(self.one - self.E_psi)

    @cached_property
    def K(self):
        return self.E @ self.G

    @cached_property
    def Omega(self):
        """Eq. 60."""
        Hpsi = self.H @ self.psi
        return Hpsi.T @ np.linalg.inv(self.D) @ Hpsi
