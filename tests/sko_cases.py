"""Random SKO models beside their dense twins, and bounds for what may differ."""

from functools import cache

import numpy as np

import skodyn as sk
from sko_twin import SHAPES, Twin, random_model

EPS = np.finfo(float).eps
SEEDS = range(48)


class Case:
    """A random ragged model: skodyn's, the twin's in the same order, and a generator."""

    def __init__(self, seed):
        self.rng = np.random.default_rng([5, seed])
        self.shape = SHAPES[seed % 4]
        self.described = random_model(self.rng, 1 + seed // 4, self.shape)
        described = dict(self.described)
        parents = described.pop("parents")
        self.model = sk.SKOModel(parents, **described)
        self.twin = Twin(self.described, self.model.tree.order)

    def columns(self, rows, count=3):
        return self.rng.normal(size=(rows, count))


@cache
def case_of(seed):
    return Case(seed)


def close(actual, expected, scale=0.0, kappa=1.0, roundings=20):
    """Equal up to so many roundings, times κ, of the largest number that enters."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    if expected.size:
        size = max(np.abs(expected).max(), scale)
        error = np.abs(actual - expected).max()
        assert error <= roundings * EPS * kappa * size, f"{error / (EPS * kappa * size):.3g}"


def largest(*matrices):
    """The product of the largest entries: a size for sums of products."""
    return np.prod([np.abs(m).max(initial=1.0) for m in matrices])


def blocks_close(blocks, expected, scale=0.0, kappa=1.0, roundings=20):
    """Every block close, on the scale of the largest of them or a larger one given; None expects
    a block without rows."""
    scale = max([scale, *(np.abs(e).max(initial=0.0) for e in expected if e is not None)])
    assert len(blocks) == len(expected)
    for block, wanted in zip(blocks, expected, strict=True):
        if wanted is None:
            assert block.shape[0] == 0
        else:
            close(block, wanted, scale, kappa, roundings)
