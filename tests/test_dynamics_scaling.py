"""Very long chains, and systems far from the world origin."""

import numpy as np
import pytest

import adapters
import naive
import skodyn as sk
from skodyn import jit

EPS = np.finfo(float).eps
FAR = np.array([1e6, -2e6, 1.5e6])


def long_chain(n, rng):
    """n bodies hinged about random axes: a walk through space, of radius about √n links."""
    made, parent = sk.ModelBuilder(name="long"), "world"
    axes = rng.normal(size=(n, 3))
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    for k in range(n):
        made.add_body(
            f"b{k}", parent, sk.Revolute(axis=axes[k]), translation=(0, 0, 0.1), mass=1.0,
            com=(0, 0, 0.05), inertia=(0.01, 0.01, 0.01),
        )  # fmt: skip
        parent = f"b{k}"
    return made.build()


@pytest.mark.skipif(jit.JIT_DISABLED, reason="takes minutes in plain Python")
def test_a_chain_of_a_hundred_thousand_bodies():
    rng = np.random.default_rng(0)
    n = 100_000
    model = long_chain(n, rng)
    q, v = rng.uniform(-np.pi, np.pi, n), 0.01 * rng.normal(size=n)
    tau, f = rng.normal(size=n), 0.1 * rng.normal(size=(n, 6))
    vdot = sk.forward_dynamics(model, q, v, tau, f)
    assert np.isfinite(vdot).all()
    back = sk.inverse_dynamics(model, q, v, vdot, f)
    forces = sk.joint_forces(model, q, v, tau, f)
    # a joint's force is a sum over all bodies further out: n roundings of the largest at worst
    assert np.abs(back - tau).max() <= n * EPS * np.abs(forces).max()
    batch = sk.forward_dynamics(model, np.tile(q, (8, 1)), v, tau, f, threads=1)
    assert (batch == vdot).all()
    driven = [f"b{k}" for k in range(0, n, 3)]
    both = sk.hybrid_dynamics(model, q, v, tau, vdot, driven, f)
    reach = 0.1 * np.sqrt(n)  # a force so far out turns with its size times this
    assert np.abs(both.tau - tau).max() <= n * EPS * np.abs(forces).max() * reach
    assert np.abs(both.vdot - vdot).max() <= 1e-6 * np.abs(vdot).max()


@pytest.mark.skipif(jit.JIT_DISABLED, reason="takes minutes in plain Python")
def test_inverse_dynamics_gives_back_the_torque_of_a_hanging_chain_to_the_last_digits():
    """Both round the bodies' accelerations alike, link by link, however long the chain is."""
    made, n = sk.ModelBuilder(name="hanging"), 1000
    for k in range(n):
        made.add_body(
            f"b{k}", f"b{k - 1}" if k else "world", sk.Revolute(axis=np.eye(3)[k % 2]),
            translation=(0, 0, -0.2 if k else 0.0), mass=0.5, com=(0.01, -0.02, -0.1),
            inertia=(0.0018, 0.0019, 0.0003),
        )  # fmt: skip
    model = made.build()
    q, v = 0.01 * np.random.default_rng(3).normal(size=(2, n))
    back = sk.inverse_dynamics(model, q, v, sk.forward_dynamics(model, q, v, np.zeros(n)))
    assert np.abs(back).max() <= 10 * EPS * np.abs(sk.gravity_force(model, q)).max()


@pytest.mark.skipif(jit.JIT_DISABLED, reason="takes minutes in plain Python")
def test_many_bodies_side_by_side():
    """A wide tree has many children at one body and no depth; each answers on its own."""
    rng = np.random.default_rng(1)
    n = 20_000
    made = sk.ModelBuilder(gravity=(0, 0, -9.81))
    made.add_body("hub", "world", sk.Fixed(), mass=1.0)
    for k in range(n):
        made.add_body(f"b{k}", "hub", sk.Prismatic(axis=(0, 0, 1)), mass=2.0)
    model = made.build()
    tau = rng.normal(size=n)
    vdot = sk.forward_dynamics(model, rng.normal(size=n), np.zeros(n), tau)
    assert np.abs(vdot - (tau / 2.0 - 9.81)).max() <= 4 * EPS * 9.81


def placed(bodies, moved):
    """The same bodies with every base moved."""
    return [
        b | {"translation": b["translation"] + moved} if b["parent"] == -1 else b for b in bodies
    ]


def system(seed):
    rng = np.random.default_rng([11, seed])
    bodies = naive.random_bodies(rng, 2 + seed)
    q, v = naive.random_state(rng, bodies)
    near, far = adapters.build(bodies), adapters.build(placed(bodies, FAR))
    q, v = adapters.to_packed_q(near, bodies, q), adapters.to_packed_v(near, bodies, v)
    return near, far, q, v, rng.normal(size=v.shape), rng.normal(size=(len(bodies), 6))


@pytest.mark.parametrize("seed", range(12))
def test_nothing_depends_on_where_the_world_origin_is(seed):
    """A base placed 10⁶ m away: an O(1) arm would keep ten digits; here none is lost."""
    near, far, q, v, x, f = system(seed)
    answers = {
        "v̇": lambda m: sk.forward_dynamics(m, q, v, x, f),
        "tau": lambda m: sk.inverse_dynamics(m, q, v, x, f),
        "M": lambda m: sk.mass_matrix(m, q),
        "M⁻¹": lambda m: sk.mass_matrix_inverse(m, q),
        "joint forces": lambda m: sk.joint_forces(m, q, v, x, f),
        "J": lambda m: sk.jacobian(m, q, 1, (0.1, 0.2, 0.3)),
        "compliance": lambda m: sk.operational_space_compliance(m, q, [(1, (0.1, 0.2, 0.3))]),
        "kinetic energy": lambda m: sk.energy(m, q, v)[0],
    }
    for name, answer in answers.items():
        here, there = np.asarray(answer(near)), np.asarray(answer(far))
        error = np.abs(here - there).max() / np.abs(here).max()
        assert error <= 4 * EPS, f"{name}: {error / EPS:.3g} roundings"


@pytest.mark.parametrize("seed", range(6))
def test_a_free_system_may_fly_far_away(seed):
    """The distance is in q here: a free base at 10⁶ m moves as it does at the origin."""
    rng = np.random.default_rng([12, seed])
    bodies = naive.random_bodies(rng, 3 + seed, branching=0.0)
    base = next(k for k, b in enumerate(bodies) if b["parent"] == -1)
    bodies[base]["joint"] = {"kind": "free"}
    model = adapters.build(bodies)
    q, v = model.random_state(rng)
    x = rng.normal(size=model.nv)
    near = sk.forward_dynamics(model, q, v, x)
    there = q.copy()
    there[model.q_slice(f"b{base}")][4:] += FAR
    far = sk.forward_dynamics(model, there, v, x)
    assert np.abs(far - near).max() <= 4 * EPS * np.abs(near).max()


def test_momentum_about_the_centre_of_mass_needs_only_the_digits_of_the_position():
    """Positions at 10⁶ m are known to 10⁶·ε, and no worse is what follows from them."""
    near, far, q, v, _, _ = system(9)
    here = sk.momentum(near, q, v, about="com")
    there = sk.momentum(far, q, v, about="com")
    linear = np.abs(here[3:]).max()
    assert np.abs(here[3:] - there[3:]).max() <= 4 * EPS * linear
    reach = np.linalg.norm(FAR)
    assert np.abs(here[:3] - there[:3]).max() <= 10 * EPS * reach * linear
