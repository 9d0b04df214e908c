"""Every algorithm on every mechanism, one state and a batch, warm.

    pytest benchmarks/test_dynamics.py --benchmark-enable
    pytest benchmarks/test_dynamics.py --benchmark-enable -k "humanoid and batch"

A batch has 256 states, fewer where the results alone would fill more than 160 MB.
"""

from functools import cache

import numpy as np
import pytest

import skodyn as sk
from models import MODELS

BATCH = 256
LARGEST_RESULT = 20_000_000  # numbers


def last(model):
    return model.n_bodies - 1


# name: (how many numbers one state gives, the call)
ALGORITHMS = {
    "forward dynamics": (
        lambda m: m.nv,
        lambda m, q, v, x: sk.forward_dynamics(m, q, v, x),
    ),
    "inverse dynamics": (
        lambda m: m.nv,
        lambda m, q, v, x: sk.inverse_dynamics(m, q, v, x),
    ),
    "bias force": (lambda m: m.nv, lambda m, q, v, x: sk.bias_force(m, q, v)),
    "gravity force": (lambda m: m.nv, lambda m, q, v, x: sk.gravity_force(m, q)),
    "joint forces": (
        lambda m: 6 * m.n_bodies,
        lambda m, q, v, x: sk.joint_forces(m, q, v, x),
    ),
    "mass matrix": (lambda m: m.nv**2, lambda m, q, v, x: sk.mass_matrix(m, q)),
    "inverse mass matrix": (lambda m: m.nv**2, lambda m, q, v, x: sk.mass_matrix_inverse(m, q)),
    "solve": (lambda m: m.nv, lambda m, q, v, x: sk.mass_matrix_solve(m, q, x)),
    "log determinant": (lambda m: 1, lambda m, q, v, x: sk.mass_matrix_logdet(m, q)),
    "kinematics": (lambda m: 12 * m.n_bodies, lambda m, q, v, x: sk.forward_kinematics(m, q)),
    "velocities": (lambda m: 18 * m.n_bodies, lambda m, q, v, x: sk.velocities(m, q, v)),
    "jacobian": (lambda m: 6 * m.nv, lambda m, q, v, x: sk.jacobian(m, q, last(m))),
    "jacobian rate": (lambda m: 6, lambda m, q, v, x: sk.jacobian_dot_v(m, q, v, last(m))),
    "compliance": (
        lambda m: 144,
        lambda m, q, v, x: sk.operational_space_compliance(
            m, q, [(last(m), (0, 0, 0)), (m.n_bodies // 2, (0, 0, 0))]
        ),
    ),
    "energy": (lambda m: 2, lambda m, q, v, x: sk.energy(m, q, v)),
    "momentum": (lambda m: 6, lambda m, q, v, x: sk.momentum(m, q, v)),
    "center of mass": (lambda m: 3, lambda m, q, v, x: sk.center_of_mass(m, q)),
    "integrate": (lambda m: m.nq, lambda m, q, v, x: m.integrate(q, v)),
    "difference": (lambda m: m.nv, lambda m, q, v, x: m.difference(q, q)),
}


@cache
def made(name):
    return MODELS[name]()


def states(model, count):
    """(q, v, x) of so many states; x serves as tau, vdot or a right-hand side."""
    rng = np.random.default_rng(4)
    drawn = [model.random_state(rng) for _ in range(count)]
    q, v = np.array([q for q, _ in drawn]), np.array([v for _, v in drawn])
    return q, 0.1 * v, rng.normal(size=v.shape)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", MODELS)
def test_one_state(benchmark, name, algorithm):
    benchmark.group = f"{algorithm}, one state"
    model = made(name)
    _, call = ALGORITHMS[algorithm]
    q, v, x = (rows[0] for rows in states(model, 1))
    call(model, q, v, x)  # compiles the kernel or loads it from the cache
    benchmark(call, model, q, v, x)
    benchmark.extra_info["bodies"] = model.n_bodies


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", MODELS)
def test_batch(benchmark, name, algorithm):
    model = made(name)
    size, call = ALGORITHMS[algorithm]
    count = max(4, min(BATCH, LARGEST_RESULT // size(model)))
    benchmark.group = f"{algorithm}, batch"
    q, v, x = states(model, count)
    call(model, q[:4], v[:4], x[:4])
    benchmark(call, model, q, v, x)
    benchmark.extra_info |= {"bodies": model.n_bodies, "states": count}
