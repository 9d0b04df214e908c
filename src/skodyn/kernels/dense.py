"""Small dense matrices in lanes: Cholesky factors, with the reciprocals of their diagonals."""

from skodyn.jit import helper, routine
from skodyn.lanes import all_lanes, fma, load, sqrt, store


@routine
def cholesky(work, at, n):
    """Factor the lower triangle of an n × n matrix in place; is it positive definite?"""
    sound = True
    for i in range(n):
        for j in range(i + 1):
            x = load(work, at + i * n + j)
            for c in range(j):
                x = fma(-load(work, at + i * n + c), load(work, at + j * n + c), x)
            if i == j:
                sound = sound and all_lanes(x > 0.0)
                store(work, at + i * n + i, 1.0 / sqrt(x))
            else:
                store(work, at + i * n + j, x * load(work, at + j * n + j))
    return sound


@routine
def solve_lower(work, at, n, x, step):
    """x ← L⁻¹x in place; elements lie `step` lanes apart."""
    for i in range(n):
        value = load(work, x + i * step)
        for c in range(i):
            value = fma(-load(work, at + i * n + c), load(work, x + c * step), value)
        store(work, x + i * step, value * load(work, at + i * n + i))


@helper
def solve_lower_rows(work, at, n, x, width):
    """X ← L⁻¹X in place, of a matrix whose rows have `width` numbers."""
    for i in range(n):
        pivot = load(work, at + i * n + i)
        for j in range(width):
            value = load(work, x + i * width + j)
            for c in range(i):
                value = fma(-load(work, at + i * n + c), load(work, x + c * width + j), value)
            store(work, x + i * width + j, value * pivot)


@routine
def solve_upper(work, at, n, x):
    """x ← L⁻ᵀx in place."""
    for back in range(n):
        i = n - 1 - back
        value = load(work, x + i)
        for c in range(i + 1, n):
            value = fma(-load(work, at + c * n + i), load(work, x + c), value)
        store(work, x + i, value * load(work, at + i * n + i))
