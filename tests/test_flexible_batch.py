"""Flexible bodies in batches: each state has the bits that it has alone, in every lane."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import flexible_models
import skodyn as sk
from skodyn import jit
from skodyn.dynamics import algorithm, driver
from skodyn.dynamics import flexible_algorithms as bent

STATES = 13  # a full register at any width, and a last one that overlaps
FUNCTIONS = {
    "forward_dynamics": lambda m, s, **o: sk.forward_dynamics(m, s.q, s.v, s.x, **o),
    "forward_dynamics, pushed": lambda m, s, **o: sk.forward_dynamics(m, s.q, s.v, s.x, s.f, **o),
    "inverse_dynamics": lambda m, s, **o: sk.inverse_dynamics(m, s.q, s.v, s.x, **o),
    "inverse_dynamics, pushed": lambda m, s, **o: sk.inverse_dynamics(m, s.q, s.v, s.x, s.f, **o),
    "bias_force": lambda m, s, **o: sk.bias_force(m, s.q, s.v, s.f, **o),
    "gravity_force": lambda m, s, **o: sk.gravity_force(m, s.q, **o),
    "mass_matrix": lambda m, s, **o: sk.mass_matrix(m, s.q, **o),
    "mass_matrix_solve": lambda m, s, **o: sk.mass_matrix_solve(m, s.q, s.x, **o),
    "forward_kinematics": lambda m, s, **o: sk.forward_kinematics(m, s.q, **o),
    "velocities": lambda m, s, **o: sk.velocities(m, s.q, s.v, **o),
    "jacobian": lambda m, s, **o: sk.jacobian(m, s.q, m.n_bodies - 1, **o),
    "energy": lambda m, s, **o: sk.energy(m, s.q, s.v, **o),
    "momentum": lambda m, s, **o: sk.momentum(m, s.q, s.v, **o),
    "center_of_mass": lambda m, s, **o: sk.center_of_mass(m, s.q, **o),
}


@pytest.fixture(scope="module", params=[0, 5])
def case(request):
    """(model, states): a tree of rigid and modal bodies."""
    model, _ = flexible_models.random_system(request.param, bodies=6)
    assert 0 < len(model.flexible) < model.n_bodies
    rng = np.random.default_rng(request.param)
    q, v = map(np.array, zip(*(model.random_state(rng) for _ in range(STATES)), strict=True))
    for body in model.flexible:
        q[:, model.mode_slice(body)] *= 10.0
    x, f = rng.normal(size=(STATES, model.nv)), rng.normal(size=(STATES, model.n_bodies, 6))
    return model, SimpleNamespace(q=q, v=v, x=x, f=f)


@pytest.fixture
def in_lanes(monkeypatch):
    """Batches go to the kernel of lanes at once, and threads share even small ones."""
    monkeypatch.setattr(algorithm, "FEW", 0)
    monkeypatch.setattr(driver, "BODIES_PER_RANGE", 24)


def arrays(result):
    return [np.asarray(a) for a in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.skipif(jit.JIT_DISABLED, reason="plain Python runs no lanes")
@pytest.mark.usefixtures("in_lanes")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_batch_has_the_bits_of_its_states(case, name):
    model, states = case
    function = FUNCTIONS[name]
    alone = []
    for i in range(STATES):
        one = SimpleNamespace(**{key: a[i] for key, a in vars(states).items()})
        alone.append(arrays(function(model, one)))
    for threads in (1, 2):
        together = arrays(function(model, states, threads=threads))
        for part, whole in enumerate(together):
            expected = np.array([result[part] for result in alone])
            assert whole.shape == expected.shape
            assert np.isfinite(whole).all()
            assert np.array_equal(whole, expected), (name, threads, part)


@pytest.mark.skipif(jit.JIT_DISABLED, reason="plain Python runs no lanes")
@pytest.mark.usefixtures("in_lanes")
def test_the_batches_above_ran_in_lanes(case):
    """What the other test would not notice: a batch that is done one by one."""
    model, states = case
    for name in bent.__all__:
        assert not getattr(bent, name).goes_one_by_one(STATES), name
    turned = SimpleNamespace(**{key: a[::-1].copy() for key, a in vars(states).items()})
    for function in FUNCTIONS.values():
        for one, other in zip(
            arrays(function(model, states)), arrays(function(model, turned)), strict=True
        ):
            assert np.array_equal(one, other[::-1])
