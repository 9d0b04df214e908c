"""How much throughput lanes give over one: a long arithmetic kernel with sine and cosine.

pytest benchmarks/test_bench_lanes.py --benchmark-enable
python benchmarks/test_bench_lanes.py        # prints the ratio; the goal is 2.5 or more
"""

import time

import numpy as np
import pytest

from skodyn.jit import helper, kernel
from skodyn.lanes import LANES, WIDTH_1, WIDTH_N, Work, fma, load, sincos, sqrt, store

SAMPLES = 4096  # in and out fit into the second-level cache: this measures arithmetic, not memory
STEPS = 8
GOAL = 2.5


@helper
def arithmetic(w, x, out, n):
    """Per sample: 8 steps of one sincos, one square root, one division and 100 fused products."""
    for i in range(n):
        a = load(Work(w, x), i)
        b = 0.5 * a
        for _ in range(STEPS):
            s, c = sincos(a)
            u, v = fma(c, a, -(s * b)), fma(s, a, c * b)
            for _ in range(25):  # two pairs that do not wait for each other
                u, v = fma(0.25, v, u), fma(-0.25, u, v)
                s, c = fma(0.25, c, s), fma(-0.25, s, c)
            scale = 1.0 / sqrt(fma(u, u, fma(v, v, 1.0)))
            a, b = fma(u, scale, 1e-3 * s), fma(v, scale, 1e-3 * c)
        store(Work(w, out), i, a + b)


@kernel
def one_lane(x, out):
    arithmetic(WIDTH_1, x, out, x.size)


@kernel
def all_lanes(x, out):
    arithmetic(WIDTH_N, x, out, x.size // LANES)


def prepared(entry):
    """(x, out) after a first call, which compiles the kernel or loads it from the cache."""
    x = np.random.default_rng(0).uniform(-10, 10, size=SAMPLES)
    out = np.empty_like(x)
    entry(x, out)
    return x, out


@pytest.mark.parametrize("entry", [one_lane, all_lanes], ids=["width 1", "width n"])
@pytest.mark.benchmark(group="4096 samples of a long arithmetic kernel with sincos")
def test_throughput_of_lanes(benchmark, entry):
    x, out = prepared(entry)
    benchmark(entry, x, out)
    assert np.isfinite(out).all()


def test_both_widths_compute_the_same_bits():
    (_, alone), (_, together) = prepared(one_lane), prepared(all_lanes)
    assert (alone == together).all()


def best_seconds(entry, repeats=50):
    """Shortest of several calls: what the processor can do when nobody else wants it."""
    x, out = prepared(entry)
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        entry(x, out)
        times.append(time.perf_counter() - start)
    return min(times)


def main():
    one, many = best_seconds(one_lane), best_seconds(all_lanes)
    print(f"width 1: {1e9 * one / SAMPLES:.0f} ns per sample")
    print(f"width {LANES}: {1e9 * many / SAMPLES:.0f} ns per sample")
    print(f"ratio:   {one / many:.2f} (goal: {GOAL} or more)")


if __name__ == "__main__":
    main()
