"""The recursions of general SKO models on chains of growing length, warm: they should grow with it.

pytest benchmarks/test_sko.py --benchmark-enable
"""

from functools import cache

import numpy as np
import pytest

import skodyn as sk
from models import chain

LENGTHS = (1_000, 10_000, 100_000)

CALLS = {
    "from a rigid model": lambda c: sk.sko_model(c.model, c.q, c.v),
    "psi x": lambda c: sk.sko.gather(c.general.tree, c.solution.psi, c.x),
    "riccati": lambda c: sk.sko.riccati(c.general),
    "inverse dynamics": lambda c: sk.sko.inverse_dynamics(c.general, c.v),
    "forward dynamics": lambda c: sk.sko.forward_dynamics(c.general, c.v),
}


class Chain:
    """A rigid chain in a random state and its SKO model."""

    def __init__(self, n):
        self.model = chain(n)
        self.q, self.v = self.model.random_state(np.random.default_rng(n))
        self.general = sk.sko_model(self.model, self.q, self.v)
        self.solution = sk.sko.riccati(self.general)
        self.x = np.ones(self.general.size)


@cache
def chain_of(n):
    return Chain(n)


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("name", CALLS)
def test_bench_general_recursion(benchmark, name, n):
    case = chain_of(n)
    CALLS[name](case)  # compile, or load from the cache
    benchmark.extra_info["bodies"] = n
    benchmark(CALLS[name], case)
