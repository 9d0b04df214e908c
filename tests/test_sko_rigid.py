"""On rigid models the general recursions and the kernels made for rigid bodies agree."""

from functools import cache

import numpy as np
import pytest

import adapters
import naive
import skodyn as sk
from sko_cases import close, largest

SEEDS = range(30)


class Rigid:
    """A random rigid model in a random state, and its SKO model."""

    def __init__(self, seed):
        rng = np.random.default_rng([55, seed])
        options = {"branching": (0.0, 0.5, 0.9)[seed % 3], "massless": float(seed % 2)}
        self.model = adapters.build(naive.random_bodies(rng, 1 + seed % 15, **options))
        self.q, self.v = self.model.random_state(rng)
        self.x = rng.normal(size=self.model.nv)
        self.sko = sk.sko_model(self.model, self.q, self.v)
        self.mass = sk.mass_matrix(self.model, self.q)
        self.kappa = np.linalg.cond(self.mass) if self.mass.size else 1.0


@cache
def rigid_of(seed):
    return Rigid(seed)


@pytest.fixture(params=SEEDS, ids=lambda seed: f"seed{seed}")
def rigid(request):
    return rigid_of(request.param)


def test_nodes_are_the_bodies_and_freedoms_lie_as_in_v(rigid):
    model, sko = rigid.model, rigid.sko
    assert sko.names == model.body_names
    assert (sko.sizes == 6).all()
    for body, joint in zip(model.body_names, model.joint_names, strict=True):
        assert sko.dof_slice(body) == model.v_slice(joint)
        assert sko.A_block(body).shape[0] == (6 if model.parent[model.body_index(body)] >= 0 else 0)


def test_velocities_are_what_the_kernels_give(rigid):
    V, a, _ = sk.velocities(rigid.model, rigid.q, rigid.v)
    sko = rigid.sko
    scattered = sk.sko.scatter(sko.tree, sko.weights, sko.H.apply(rigid.v, transpose=True))
    close(scattered, V.ravel(), largest(rigid.v, V))
    assert (sko.a == a.ravel()).all()


def test_articulated_inertias_are_what_the_kernels_give(rigid):
    rigid_blocks = sk.body_inertias(rigid.model, rigid.q)
    got = sk.sko.riccati(rigid.sko)
    for name in ("P", "P_plus", "D", "G", "tau", "tau_bar", "psi"):
        expected = getattr(rigid_blocks, name)
        near = {"P_plus": "P", "tau_bar": "tau", "psi": "tau"}.get(name, name)
        scale = max(np.abs(e).max(initial=0.0) for e in getattr(rigid_blocks, near))
        for k, block in enumerate(getattr(got, name)):
            if name != "psi" or rigid.model.parent[k] >= 0:
                close(block, expected[k], scale, rigid.kappa)


def test_without_velocities_the_bodies_are_at_rest(rigid):
    still = sk.sko_model(rigid.model, rigid.q)
    assert not still.a.any()
    zero = np.zeros(rigid.model.nv)
    assert (still.b == sk.sko_model(rigid.model, rigid.q, zero).b).all()


def test_a_batch_of_states_is_refused():
    rigid = rigid_of(4)
    with pytest.raises(sk.StateError, match="one state"):
        sk.sko_model(rigid.model, rigid.q[None], rigid.v)
    with pytest.raises(sk.StateError, match="v has shape"):
        sk.sko_model(rigid.model, rigid.q, rigid.v[None])
