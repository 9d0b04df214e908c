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
        options["rotors"] = (0.0, 0.0, 0.6)[seed // 2 % 3]
        self.model = adapters.build(naive.random_bodies(rng, 1 + seed % 15, **options))
        self.q, self.v = self.model.random_state(rng)
        self.x = rng.normal(size=self.model.nv)
        self.sko = sk.sko_model(self.model, self.q, self.v)
        self.mass = sk.mass_matrix(self.model, self.q)
        self.of_bodies = (self.sko.node_starts[:-1, None] + np.arange(6)).ravel()
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
    rotors = [joint.nv if joint.armature else 0 for joint in model.joints]
    assert (sko.sizes == np.add(6, rotors)).all()
    for body, joint in zip(model.body_names, model.joint_names, strict=True):
        assert sko.dof_slice(body) == model.v_slice(joint)
        p = model.parent[model.body_index(body)]
        assert sko.A_block(body).shape[0] == (sko.sizes[p] if p >= 0 else 0)


def test_some_of_the_models_have_rotors_and_some_do_not():
    sizes = [int(rigid_of(seed).sko.sizes.max()) for seed in SEEDS]
    assert min(sizes) == 6
    assert max(sizes) == 12


def test_velocities_are_what_the_kernels_give(rigid):
    V, a, _ = sk.velocities(rigid.model, rigid.q, rigid.v)
    sko = rigid.sko
    got = sk.sko.velocities(sko, rigid.v)
    close(got[rigid.of_bodies], V.ravel(), largest(rigid.v, V))
    assert (sko.a[rigid.of_bodies] == a.ravel()).all()
    rotors = np.setdiff1d(np.arange(sko.size), rigid.of_bodies)
    rates = [np.full(j.nv, j.armature > 0) for j in rigid.model.joints]
    close(got[rotors], rigid.v[np.concatenate(rates)], largest(rigid.v))


def test_articulated_inertias_are_what_the_kernels_give(rigid):
    rigid_blocks = sk.body_inertias(rigid.model, rigid.q)
    got = sk.sko.riccati(rigid.sko)
    for name in ("P", "P_plus", "D", "G", "tau", "tau_bar", "psi"):
        expected = getattr(rigid_blocks, name)
        near = {"P_plus": "P", "tau_bar": "tau", "psi": "tau"}.get(name, name)
        scale = max(np.abs(e).max(initial=0.0) for e in getattr(rigid_blocks, near))
        for k, block in enumerate(getattr(got, name)):
            if name != "psi" or rigid.model.parent[k] >= 0:
                rows, cols = np.shape(expected[k])  # rotors lie behind the body
                close(block[:rows, :cols], expected[k], scale, rigid.kappa)


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


def test_mass_matrix_and_its_determinant_are_what_the_kernels_give(rigid):
    got = sk.sko.mass_matrix(rigid.sko)
    R = sk.body_inertias(rigid.model, rigid.q).R
    close(got, rigid.mass, np.abs(R).max())
    expected = sk.mass_matrix_logdet(rigid.model, rigid.q)
    close(sk.sko.log_determinant(rigid.sko), expected, 1.0, rigid.kappa)
    solved = sk.mass_matrix_solve(rigid.model, rigid.q, rigid.x)
    close(sk.sko.mass_matrix_solve(rigid.sko, rigid.x), solved, 0.0, rigid.kappa)


def test_composite_inertias_are_what_the_kernels_give(rigid):
    R = sk.body_inertias(rigid.model, rigid.q).R
    for got, expected in zip(sk.sko.composite_inertias(rigid.sko), R, strict=True):
        close(got[:6, :6], expected, np.abs(R).max())


def force_scale(rigid):
    """The size of the terms that generalised forces are sums of."""
    sko = rigid.sko
    alpha = np.abs(sk.sko.scatter(sko.tree, sko.weights, sko.a)).max() + np.abs(rigid.x).max(
        initial=0
    )
    R = sk.body_inertias(rigid.model, rigid.q).R
    weight = np.abs(sko.b).max() * rigid.model.n_bodies
    reach = np.abs(sko.weights.data).max(initial=1.0) * rigid.model.n_bodies
    return (np.abs(R).max() * alpha + weight) * reach


def test_inverse_dynamics_is_what_the_kernels_give(rigid):
    expected = sk.inverse_dynamics(rigid.model, rigid.q, rigid.v, rigid.x)
    close(sk.sko.inverse_dynamics(rigid.sko, rigid.x), expected, force_scale(rigid))


def test_forward_dynamics_is_what_the_kernels_give(rigid):
    if not rigid.model.nv:
        return
    expected = sk.forward_dynamics(rigid.model, rigid.q, rigid.v, rigid.x)
    scale = force_scale(rigid) / np.linalg.norm(rigid.mass, 2)
    close(sk.sko.forward_dynamics(rigid.sko, rigid.x), expected, scale, rigid.kappa)


def test_compliances_are_what_the_kernels_give(rigid):
    inertias = sk.body_inertias(rigid.model, rigid.q)
    scale = np.abs(inertias.Upsilon).max()
    for got, expected in zip(sk.sko.node_compliances(rigid.sko), inertias.Upsilon, strict=True):
        close(got[:6, :6], expected, scale, rigid.kappa)
    bodies = rigid.model.body_names[:: max(1, rigid.model.n_bodies // 4)]
    at_origins = [(body, (0, 0, 0)) for body in bodies]
    expected = sk.operational_space_compliance(rigid.model, rigid.q, at_origins)
    got = sk.sko.compliance(rigid.sko, bodies)
    sizes = [int(rigid.sko.sizes[rigid.model.body_index(body)]) for body in bodies]
    place = np.concatenate(
        [end - m + np.arange(6) for m, end in zip(sizes, np.cumsum(sizes), strict=True)]
    )
    close(got[np.ix_(place, place)], expected, scale, rigid.kappa)


def test_a_joint_that_nothing_resists_is_named():
    builder = sk.ModelBuilder()
    builder.add_body("arm", "world", sk.Revolute(), mass=1.0, inertia=(1, 1, 1))
    builder.add_body("tip", "arm", sk.Revolute(axis=(1, 0, 0)), mass=1.0, com=(1, 0, 0))
    model = builder.build()
    general = sk.sko_model(model, model.neutral())
    with pytest.raises(sk.DynamicsError, match="Node 'tip' has no inertia in one of its"):
        sk.sko.riccati(general)
    with pytest.raises(sk.DynamicsError, match="'tip'"):
        sk.mass_matrix_logdet(model, model.neutral())


def test_a_long_chain_agrees_with_the_kernels():
    """Ten thousand bodies: no array of N² numbers, no recursion in Python."""
    builder = sk.ModelBuilder()
    parent = "world"
    for k in range(10_000):
        axis = (0, 1, 0) if k % 2 else (1, 0, 0)
        builder.add_body(
            f"b{k}", parent, sk.Revolute(axis=axis), translation=(0, 0, -0.1), mass=1.0,
            com=(0, 0, -0.05), inertia=(0.01, 0.01, 0.01),
        )  # fmt: skip
        parent = f"b{k}"
    model = builder.build()
    rng = np.random.default_rng(3)
    q, v = model.random_state(rng)
    general = sk.sko_model(model, q, 0.01 * v)
    tau = rng.normal(size=model.nv)
    vdot = sk.sko.forward_dynamics(general, tau)
    forces = sk.sko.inverse_dynamics(general, vdot)
    expected = sk.inverse_dynamics(model, q, 0.01 * v, vdot)
    size = np.abs(sk.sko.gather(general.tree, general.weights, np.abs(general.b))).max()
    assert np.abs(forces - expected).max() <= 100 * np.finfo(float).eps * size * model.n_bodies
