"""Random numbers that are a function of where they are asked for: Philox, by its counter.

J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, Parallel random numbers: as easy as 1, 2, 3
(SC 2011): ten rounds of Philox4x32. Nothing is remembered from one number to the next, so that
noise depends on the run's seed, the controller, the sample and the degree of freedom alone: not on
how a run is cut into chunks, on its lane, nor on being resumed.
"""

from __future__ import annotations

import math

from skodyn.jit import helper
from skodyn.lanes import logarithm, sincos, sqrt
from skodyn.simulation.control.control_records import SEED_HIGH, SEED_LOW, STREAM

__all__ = ["add_noise", "philox"]

MASK = 0xFFFFFFFF
ROUNDS = 10
TWO_PI = 2.0 * math.pi


@helper
def philox(a, b, c, d, key, other):
    """Four words of 32 bits from a counter of four and a key of two."""
    for _ in range(ROUNDS):
        one, two = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = (
            ((two >> 32) & MASK) ^ b ^ key,
            two & MASK,
            ((one >> 32) & MASK) ^ d ^ other,
            one & MASK,
        )
        key, other = (key + 0x9E3779B9) & MASK, (other + 0xBB67AE85) & MASK
    return a, b, c, d


@helper
def uniform(a, b):
    """Between 0 and 1, neither included, from two words."""
    return (float(a) * 1048576.0 + float(b >> 12) + 0.5) / 4503599627370496.0


@helper
def normal(a, b, c, d):
    """Of mean 0 and variance 1, from four words (Box and Muller)."""
    _, cosine = sincos(TWO_PI * uniform(c, d))
    return sqrt(-2.0 * logarithm(uniform(a, b))) * cosine


@helper
def add_noise(timing, number, first, deviation, count, out):
    """Add noise to `count` numbers, whose own numbers begin with `first`, at a sample."""
    if deviation > 0.0:
        stream, low, high = int(timing[STREAM]), int(timing[SEED_LOW]), int(timing[SEED_HIGH])
        for i in range(count):
            words = philox(number & MASK, (number >> 32) & MASK, first + i, stream, low, high)
            out[i] += deviation * normal(words[0], words[1], words[2], words[3])
