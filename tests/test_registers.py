"""Registers of eight numbers and of four: the same bits.

Where the processor has AVX-512, batches take eight states at once, else four. This file, run as a
program without AVX-512, finds what the test finds with it.
"""

import os
import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

import adapters
import naive
import skodyn as sk
from skodyn.jit import JIT_DISABLED
from skodyn.lanes import LANES
from skodyn.lanes.cache_lines import NUMBERS_IN_LINE, line_zeros, whole_lines

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from models import humanoid

STATES = 13  # a register full, and some that overlap


def limbs_of_every_joint():
    """Deep, with odd numbers of columns in its limbs."""
    rng = np.random.default_rng(5)
    bodies = naive.random_bodies(rng, 61, branching=0.0, rotors=0.3)
    bodies[40]["parent"], bodies[51]["parent"] = 7, -1
    return adapters.build(bodies)


def found():
    """Results of batches by name; one tree for products with 𝓜⁻¹ and one for recursions."""
    results = {}
    for name, model in (("bushy", humanoid()), ("deep", limbs_of_every_joint())):
        rng = np.random.default_rng(1)
        states = [model.random_state(rng) for _ in range(STATES)]
        q, v = (np.array(column) for column in zip(*states, strict=True))
        tau, f = rng.normal(size=v.shape), rng.normal(size=(STATES, model.n_bodies, 6))
        results[f"{name} mass"] = sk.mass_matrix(model, q, threads=1)
        results[f"{name} vdot"] = sk.forward_dynamics(model, q, v, tau, f, threads=1)
        three = sk.forward_dynamics_derivatives(model, q, v, tau, f, threads=1)
        results |= {f"{name} by {x}": m for x, m in zip(("q", "v", "tau"), three, strict=True)}
    return results


@pytest.mark.skipif(JIT_DISABLED, reason="registers are a matter of compiled code")
def test_registers_of_eight_and_of_four_numbers_give_the_same_bits(tmp_path):
    features = llvm.get_host_cpu_features()
    if not features.get("avx512f"):
        pytest.skip("this processor has no registers of eight numbers")
    for name in features:
        if name.startswith("avx512"):
            features[name] = False
    saved = tmp_path / "narrow.npz"
    done = subprocess.run(
        [sys.executable, __file__, str(saved)],
        env={**os.environ, "NUMBA_CPU_FEATURES": features.flatten()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "lanes: 4" in done.stdout
    narrow = np.load(saved)
    for name, wide in found().items():
        np.testing.assert_array_equal(wide, narrow[name], err_msg=name)


@pytest.mark.parametrize("count", [1, 7, 8, 1000])
def test_lanes_begin_where_a_cache_line_does(count):
    zeros = line_zeros(count)
    assert zeros.shape == (count,)
    assert zeros.ctypes.data % 64 == 0
    assert not zeros.any()
    assert whole_lines(count) % NUMBERS_IN_LINE == 0
    assert 0 <= whole_lines(count) - count < NUMBERS_IN_LINE


if __name__ == "__main__":
    print("lanes:", LANES)
    np.savez(sys.argv[1], **found())
