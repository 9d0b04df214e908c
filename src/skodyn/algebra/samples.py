"""What of a result is rounding? It differs between models that differ by a rounding.

A sample is the workbench of a model whose every number is changed by a unit or two in its last
place. An equation of the algebra holds for each of them, so that what differs between the two sides
is rounding there as well, only other rounding. This is the discrete stochastic arithmetic of
Vignes, with the model's numbers in the place of all intermediate ones.

What an operator A makes of a vector x is taken as A(x + y) − Ay, with a y of its own for each
sample: numbers that are the same in all samples would be rounded in the same way.

Where a difference is taken inside the Riccati solution and nothing may be left of it, as of
τ̄ = I − τ where a joint moves in every direction, it is taken from numbers rounded otherwise too:
in very small blocks roundings may be the same by chance.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skodyn import sko
from skodyn.algebra.block_algebra import identity_blocks, multiply, transpose
from skodyn.algebra.workbench import Workbench
from skodyn.forks import cached_property
from skodyn.sko import Riccati, SKOModel
from skodyn.sko.blocks import Blocks, Floats

__all__ = ["SAMPLES", "Sample", "samples_of"]

SAMPLES = 8
ULPS = 2.0
"""So many units in its last place a number of the model may change."""
EPS = float(np.finfo(np.float64).eps)


def samples_of(bench: Workbench) -> tuple[Workbench, ...]:
    """Always the same ones, so that a verdict does not change from call to call."""
    return tuple(Sample(bench, seed) for seed in range(SAMPLES))


class Sample(Workbench):
    """The workbench of a model with every number rounded otherwise."""

    def __init__(self, bench: Workbench, seed: int) -> None:
        self._seed = seed
        model, rng = bench.model, np.random.default_rng(seed)
        rounded = SKOModel.from_packed(
            model.tree,
            _otherwise(model.weights, rng),
            _otherwise(model.H, rng),
            _symmetric(_otherwise(model.M, rng)),
            model.a + _roundings(model.a, rng),
            model.b + _roundings(model.b, rng),
        )
        super().__init__(rounded, bench.origin, bench.rates)

    @cached_property
    def solution(self) -> Riccati:
        found, rng = sko.riccati(self.model), np.random.default_rng(self._seed + SAMPLES)
        tau = _otherwise(found.tau, rng)
        one = identity_blocks(self.model.sizes)
        tau_bar = Blocks(one.data - tau.data, tau.rows, tau.cols)
        P_plus = Blocks(found.P_plus.data + _roundings(found.P.data, rng), tau.rows, tau.cols)
        psi = multiply(self.model.weights, tau_bar)
        return replace(found, tau=tau, tau_bar=tau_bar, P_plus=_symmetric(P_plus), psi=psi)

    def given(self, blocks: Blocks) -> Blocks:
        return _otherwise(blocks, np.random.default_rng(self._seed))

    def tried(self, x: Floats) -> Floats:
        """x + y and y side by side; `measured` takes what is made of y off again."""
        size = np.sqrt(np.mean(x**2)) if x.size else 0.0
        y = size * np.random.default_rng(self._seed + 2 * SAMPLES).normal(size=x.shape)
        return np.hstack((x + y, y))

    def measured(self, y: Floats) -> Floats:
        count = y.shape[1] // 2
        return y[:, :count] - y[:, count:]

    @property
    def samples(self) -> tuple[Workbench, ...]:
        """None: a sample is what others are measured by."""
        return ()


def _roundings(numbers: Floats, rng: np.random.Generator) -> Floats:
    """What to add to each number: less than a unit in its last place; zeros stay zero."""
    return EPS * rng.uniform(-ULPS, ULPS, numbers.shape) * numbers


def _otherwise(blocks: Blocks, rng: np.random.Generator) -> Blocks:
    return Blocks(blocks.data + _roundings(blocks.data, rng), blocks.rows, blocks.cols)


def _symmetric(blocks: Blocks) -> Blocks:
    return Blocks((blocks.data + transpose(blocks).data) / 2, blocks.rows, blocks.cols)
