"""Numbers of the solid bar to all digits of a double, from K and M of its file.

    python tests/solid_bar_exact.py

prints what `EXACT` of tests/test_from_matrices.py holds. Every double of K and M is taken as the
number that it is, of the two halves of K, which differ by roundings, the mean; all else has 40
digits. Linear systems are factored in double precision and solutions refined with residuals of 40
digits, which wins some seven digits a round. With 60 digits and more rounds every double is the
same. It imports nothing of skodyn.
"""

from __future__ import annotations

import decimal
from decimal import Decimal
from pathlib import Path

import numpy as np
import scipy.linalg

DIGITS = 40
DATA = Path(__file__).parent / "data" / "flexible" / "solid_bar_h20.npz"
PI = Decimal("3.141592653589793238462643383279502884197")
ROUNDS, GUARDS = 6, 8


def exact(array):
    """Every double as the decimal number that it is."""
    return np.vectorize(Decimal, otypes=[object])(np.asarray(array, dtype=np.float64))


def rough(array):
    return np.asarray(array, dtype=np.float64)


class Sparse:
    """A matrix of decimals of which the zeros are left out."""

    def __init__(self, dense):
        self.dense = dense
        self.rows = [np.flatnonzero(row != 0) for row in dense]

    def __matmul__(self, other):
        return np.stack([self.dense[i, cols] @ other[cols] for i, cols in enumerate(self.rows)])


class Solver:
    """K⁻¹ by a rough factor and exact residuals."""

    def __init__(self, matrix):
        self.matrix, self.factor = matrix, scipy.linalg.cho_factor(rough(matrix.dense))

    def __call__(self, right):
        x = exact(np.zeros(right.shape))
        for _ in range(ROUNDS):
            left = right - self.matrix @ x
            scale = max(map(abs, left.flat)) or Decimal(1)
            x = x + exact(scipy.linalg.cho_solve(self.factor, rough(left / scale))) * scale
        return x


def cholesky(matrix):
    lower = exact(np.zeros(matrix.shape))
    for j in range(len(matrix)):
        lower[j, j] = (matrix[j, j] - lower[j, :j] @ lower[j, :j]).sqrt()
        for i in range(j + 1, len(matrix)):
            lower[i, j] = (matrix[i, j] - lower[i, :j] @ lower[j, :j]) / lower[j, j]
    return lower


def inverse_of_lower(lower):
    found = exact(np.zeros(lower.shape))
    for j in range(len(lower)):
        found[j, j] = 1 / lower[j, j]
        for i in range(j + 1, len(lower)):
            found[i, j] = -(lower[i, j:i] @ found[j:i, j]) / lower[i, i]
    return found


def jacobi(matrix):
    """(values, vectors) of a symmetric matrix, by Jacobi's rotations; lowest first."""
    a, n = matrix.copy(), len(matrix)
    turned = exact(np.eye(n))
    for _ in range(30):
        for p in range(n):
            for q in range(p + 1, n):
                if a[p, q] == 0:
                    continue
                tau = (a[q, q] - a[p, p]) / (2 * a[p, q])
                t = 1 / (abs(tau) + (1 + tau * tau).sqrt()) * (1 if tau >= 0 else -1)
                c = 1 / (1 + t * t).sqrt()
                turn = np.array([[c, t * c], [-t * c, c]], dtype=object)
                a[:, [p, q]] = a[:, [p, q]] @ turn
                a[[p, q]] = turn.T @ a[[p, q]]
                turned[:, [p, q]] = turned[:, [p, q]] @ turn
        rest = sum(abs(a[p, q]) for p in range(n) for q in range(p))
        if rest < Decimal("1e-36") * sum(abs(a[p, p]) for p in range(n)):
            break
    order = np.argsort(rough(np.diag(a)), kind="stable")
    return np.diag(a)[order], turned[:, order]


def ritz(stiffness, mass, shapes):
    """(ω², shapes) of the motions that some shapes allow."""
    small = [shapes.T @ (matrix @ shapes) for matrix in (stiffness, mass)]
    scale = [1 / value.sqrt() for value in np.diag(small[1])]
    small = [np.outer(scale, scale) * (a + a.T) / 2 for a in small]
    back = inverse_of_lower(cholesky(small[1]))
    squares, turned = jacobi(back @ small[0] @ back.T)
    return squares, (shapes * np.array(scale, dtype=object)) @ (back.T @ turned)


def lowest(stiffness, mass, count):
    """(ω², shapes), by subspace iteration from rough ones."""
    solve, most = Solver(stiffness), count + GUARDS
    start = scipy.linalg.eigh(rough(stiffness.dense), rough(mass.dense), subset_by_index=(0, most))
    shapes = exact(start[1])
    for _ in range(4):
        squares, shapes = ritz(stiffness, mass, solve(mass @ shapes))
    return squares[:count], shapes[:, :count]


def hertz(squares):
    return [float(value.sqrt() / (2 * PI)) for value in squares]


def rigid_face(nodes, ids):
    """(3n, 6): how three translations and three rotations of the centre move a face."""
    block = exact(np.zeros((3 * len(nodes), 6)))
    centre = nodes[ids].sum(axis=0) / len(ids)
    for i in ids:
        x, y, z = nodes[i] - centre
        block[3 * i : 3 * i + 3, :3] = exact(np.eye(3))
        block[3 * i : 3 * i + 3, 3:] = [[0, z, -y], [-z, 0, x], [y, -x, 0]]
    return block


def numbers():
    """All of them, by their names in the reference file."""
    with decimal.localcontext(prec=DIGITS):
        return _numbers()


def _numbers():
    data = np.load(DATA)
    nodes, tip = exact(data["nodes"]), data["tip"]
    stiffness, mass = exact(data["K"]), exact(data["M"])
    stiffness = (stiffness + stiffness.T) / 2
    held = [3 * i + c for i in range(len(nodes)) if i not in data["root"] for c in range(3)]
    whole = [Sparse(a[np.ix_(held, held)]) for a in (stiffness, mass)]
    clamped, _ = lowest(*whole, 6)
    inner = [i for i in held if i // 3 not in tip]
    face = rigid_face(nodes, tip)
    kii, mii = (Sparse(a[np.ix_(inner, inner)]) for a in (stiffness, mass))
    pulled = Sparse(stiffness) @ face
    static = face.copy()
    static[inner] = -Solver(kii)(pulled[inner])
    natural = exact(np.zeros((3 * len(nodes), 4)))
    natural[inner] = lowest(kii, mii, 4)[1]
    both = np.concatenate((static, natural), axis=1)
    reduced, _ = ritz(Sparse(stiffness), Sparse(mass), both)
    back = inverse_of_lower(cholesky(static.T @ (Sparse(stiffness) @ static)))
    return {
        "craig_bampton_6_plus_4_Hz": hertz(reduced),
        "clamped_free_Hz": hertz(clamped),
        "tip_flexibility": [float(column @ column) for column in back.T],
    }


if __name__ == "__main__":
    for name, values in numbers().items():
        print(f"{name}: {values}")
