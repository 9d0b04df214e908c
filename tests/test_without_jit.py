"""NUMBA_DISABLE_JIT=1: lanes, spatial helpers and coordinates as plain Python, at width 1.

The same work is done here, compiled, and in a process without the compiler, which runs this file as
a script. Python 3.11 has no fma, so results differ by roundings; everything else must agree.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import adapters
import naive
import test_lanes
import test_spatial
from skodyn import jit
from skodyn.lanes import WIDTH_1, plain
from skodyn.model import manifold
from skodyn.model.joints import CATALOGUE

TOLERANCE = 1e-12  # of numbers of order one to a hundred, after some tens of roundings
FMA_ROWS = [k for k, name in enumerate(test_lanes.EXPECTED) if name.startswith("fma")]


def lane_results():
    """Operations and sincos on finite samples, by the kernels of test_lanes.py."""
    table = np.ascontiguousarray(test_lanes.special_and_random_pairs()[:, -200:])
    operated = np.zeros((len(test_lanes.EXPECTED) + 1, 200))
    test_lanes.run(test_lanes.operations, WIDTH_1, table.reshape(-1), operated.reshape(-1), 200)
    asked = np.zeros((200, 3))
    test_lanes.run(test_lanes.questions, WIDTH_1, table[0].copy(), asked.reshape(-1), 200)
    constants = np.array([1.0, -2.0, 0.5, 4.0, 3.0])
    _, total, back = test_lanes.run_memory(WIDTH_1, constants)
    x = np.array([0.0, -0.0, 1e-300, 0.5, -1.0, 3.14159, 100.0, -99999.0, 1e5, 1e6, -1e300])
    return {
        "operations": operated,
        "questions": asked,
        "memory": np.append(total, back),
        "sincos": test_lanes.run_sincos(WIDTH_1, x),
        "sincos of nan and infinity": test_lanes.run_sincos(WIDTH_1, np.array([np.nan, np.inf])),
    }


def spatial_results():
    """All helpers on all samples, and logarithms, by the kernels of test_spatial.py."""
    found = {
        test_spatial.module_name(module): test_spatial.evaluated(module, WIDTH_1)[1]
        for module in test_spatial.GROUPS
    }
    angles = (0.0, 1e-160, 1e-5, 0.4999, 0.5, 2.0, 3.0, 4.0)
    _, _, back = test_spatial.there_and_back(angles)
    return found | {f"there and back: {name}": value for name, value in back.items()}


def model_results():
    """integrate and difference on a model with every joint type, single and batched."""
    rng = np.random.default_rng(21)
    bodies = naive.random_bodies(rng, 2 * len(CATALOGUE))
    model = adapters.build(bodies)
    assert {joint.type_name for joint in model.joints} == {*CATALOGUE} - {"gimbal"}
    q = np.array([model.random_state(rng)[0] for _ in range(3)])
    dv = rng.normal(size=(3, model.nv))
    moved = model.integrate(q, dv)
    return {
        "integrate": moved,
        "integrate one": model.integrate(q[0], dv[0]),
        "difference": model.difference(q, moved),
    }


def all_results():
    with np.errstate(all="ignore"):  # NaN and infinity are among the samples
        return lane_results() | spatial_results() | model_results()


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """(compiled results, plain results), arrays by name."""
    path = tmp_path_factory.mktemp("plain") / "results.npz"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, __file__, str(path)], env=environment, check=True)
    with np.load(path) as plain:
        return all_results(), dict(plain)


def test_plain_python_gives_what_the_compiler_gives_up_to_rounding(both):
    compiled, plain = both
    assert set(compiled) == set(plain)
    for name, expected in compiled.items():
        if name != "operations":
            scale = 1 + np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
            assert_allclose(plain[name], expected, rtol=0, atol=TOLERANCE * scale, err_msg=name)


def test_operations_other_than_fma_have_the_same_bits(both):
    compiled, plain = (results["operations"] for results in both)
    test_lanes.same_bits(np.delete(plain, FMA_ROWS, 0), np.delete(compiled, FMA_ROWS, 0))


def test_fma_without_the_compiler_rounds_twice(both):
    compiled, plain = (results["operations"] for results in both)
    a, b, c = test_lanes.special_and_random_pairs()[:, -200:]
    for row, size in zip(FMA_ROWS, (np.abs(a * b) + np.abs(c), 2.5 * np.abs(b) + 1), strict=True):
        assert (np.abs(plain[row] - compiled[row]) <= 2**-52 * size).all()


def test_plain_numbers_divide_by_zero_as_processors_do():
    """A kernel that meets a singular matrix says so afterwards; Python's own floats would raise."""
    zeros = plain.sqrt(0.0), plain.floor(0.5), plain.logarithm(1.0), plain.libm_sin(0.0)
    with np.errstate(divide="ignore"):
        assert [1.0 / zero for zero in zeros] == [np.inf] * 4
        assert 1.0 / (plain.libm_cos(0.0) - 1.0) == np.inf


def test_every_kernel_runs_without_the_compiler():
    """Where an index that leaves its array raises; kernels, steppers and parts at every width."""
    program = Path(__file__).with_name("every_kernel.py")
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, str(program)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []  # the names of those that were not called


if __name__ == "__main__":
    assert jit.JIT_DISABLED
    assert not hasattr(manifold.integrate, "py_func"), "this is still a compiled function"
    np.savez(Path(sys.argv[1]), **all_results())
