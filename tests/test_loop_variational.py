"""Steps of implicit_midpoint with loops, beside the discrete Euler–Lagrange equations, dense.

The twin has no multipliers, no recursions and no series: L by the naive functions, its slopes by
differences, left translations by matrix exponentials.
"""

import numpy as np
import pytest

import naive
import naive_loops
import skodyn as sk
from loop_references import five_bar, reference, rsur

STEP = 0.02
MADE = {
    "four_bar": lambda: reference("02_four_bar"),
    "bricard": lambda: reference("05_bricard"),
    "rssr": lambda: reference("07_rssr"),  # a ball joint
    "stewart": lambda: reference("08_stewart"),  # universal joints
    "gripper": lambda: reference("11_gripper"),  # floats
    "coupled": lambda: reference("13_coupled_pendulums"),
    "five_bar": five_bar,
    "rsur": rsur,
}


def carried(u):
    """ad(u) of a body twist [ω; v]."""
    turn, slide = naive.tilde(u[:3]), naive.tilde(u[3:])
    return np.block([[turn, np.zeros((3, 3))], [slide, turn]])


def ends_of_joint(kind, h, v, p, s):
    """(p₀, p₁) of one joint, from the derivatives of dt·L by its ends."""
    n = len(v)
    if kind not in ("spherical", "free"):
        return p - 0.5 * h * s, p + 0.5 * h * s
    ad = h * (naive.tilde(v) if kind == "spherical" else carried(v))
    one, half = np.eye(n), naive.matrix_exp(-0.5 * ad)
    sums, term = one.copy(), one.copy()
    for k in range(1, 20):  # how exp(dt·v̄) changes with dt·v̄, seen from its end
        term = term @ -ad / (k + 1)
        sums = sums + term
    back = np.linalg.inv(sums).T @ p
    share = np.linalg.inv(one + half)
    p1 = back + h * share.T @ s
    p0 = (half @ half).T @ back - h * (half @ share).T @ s
    return p0, p1


def momenta_at_ends(given, h, q0, mean, tau):
    """p at both ends of the way that leads from q0 with the mean velocity for a time h."""
    bodies = given.bodies
    middle = naive.integrate(bodies, q0, 0.5 * h * mean)

    def lagrangian(q):
        return naive.kinetic_energy(bodies, q, mean) - naive.potential_energy(
            bodies, q, given.gravity
        )

    p, s, eps = naive.mass_matrix(bodies, middle) @ mean, tau.copy(), 1e-4
    for i in range(len(mean)):
        e = np.eye(len(mean))[i] * eps
        near = [lagrangian(naive.integrate(bodies, middle, k * e)) for k in (-2, -1, 1, 2)]
        s[i] += (near[0] - 8 * near[1] + 8 * near[2] - near[3]) / (12 * eps)
    starts, ends = np.empty_like(p), np.empty_like(p)
    for body, vs in zip(bodies, naive.offsets(bodies)[1], strict=True):
        kind = body["joint"]["kind"]
        starts[vs], ends[vs] = ends_of_joint(kind, h, mean[vs], p[vs], s[vs])
    return starts, ends


def unpacked(given, model, values, place):
    return np.concatenate([values[place(body["joint_name"])] for body in given.bodies])


def null_basis(given, q):
    _, _, rows = np.linalg.svd(G := naive_loops.jacobian(given.twin, q))
    rank = np.linalg.matrix_rank(G, tol=1e-6)
    return rows[rank:].T


@pytest.mark.parametrize("name", MADE)
def test_a_step_makes_the_discrete_action_stationary(name):
    given = MADE[name]()
    model = given.model
    q, _, tau = given.state(model)
    rng = np.random.default_rng(5)
    kicked = naive_loops.project_velocity(given.twin, given.q, rng.normal(size=len(given.v)))
    v0 = given.v + kicked
    run = sk.simulate(model, q, given.packed_v(model, v0), duration=STEP, dt=STEP,
                      integrator="implicit_midpoint")  # fmt: skip
    assert run.status == "finished", run.message
    q1 = unpacked(given, model, run.q[-1], model.q_slice)
    v1 = unpacked(given, model, run.v[-1], model.v_slice)
    mean = naive.difference(given.bodies, given.q, q1) / STEP
    p0, p1 = momenta_at_ends(given, STEP, given.q, mean, np.zeros_like(tau))
    for at, rate, momentum in ((given.q, v0, p0), (q1, v1, p1)):
        true = naive.mass_matrix(given.bodies, at) @ rate
        rest = null_basis(given, at).T @ (momentum - true)
        assert np.abs(rest).max() <= 2e-9 * np.abs(true).max(), name


def trend_of(model, run):
    """How far a straight line through the energy climbs, and how far it swings about that line."""
    energy = sum(sk.energy(model, run.q, run.v))
    line = np.polyval(np.polyfit(run.t, energy, 1), run.t)
    return abs(line[-1] - line[0]), np.ptp(energy - line)


def going_round(duration, dt, every=1):
    """The reference motion of the four-bar: its crank turns more than once a second."""
    given = reference("02_four_bar")
    model = given.model
    q, v, _ = given.state(model)
    run = sk.simulate(model, q, v, duration=duration, dt=dt, integrator="implicit_midpoint",
                      every=every)  # fmt: skip
    assert run.status == "finished", run.message
    assert abs(run.q[-1, 0]) > 5.0 * duration
    return model, run


def test_a_crank_that_goes_round_keeps_its_energy():
    """A rule that is symmetric but not symplectic climbs by two of its oscillations meanwhile."""
    trend, swing = trend_of(*going_round(100.0, 4e-3))
    assert trend <= 0.02 * swing
    assert swing < 5e-3  # of 9 J


@pytest.mark.slow
def test_a_crank_that_goes_round_keeps_its_energy_for_a_million_steps():
    trend, swing = trend_of(*going_round(1000.0, 1e-3, every=37))
    assert trend <= 0.1 * swing


def test_a_gripper_in_flight_keeps_its_momentum():
    """Whatever the length of its steps: momentum is that of a symmetry of L."""
    given = reference("11_gripper")
    model = given.model
    q, v, _ = given.state(model)
    run = sk.simulate(model, q, v, duration=1.0, dt=5e-3, integrator="implicit_midpoint")
    momenta = sk.momentum(model, run.q, run.v)
    assert np.abs(momenta - momenta[0]).max() <= 1e-12 * max(1.0, np.abs(momenta[0]).max())


# ---- where roundings are all that moves ---------------------------------------------------------


@pytest.mark.parametrize("name", ["05_bricard", "02_four_bar"])
def test_short_steps_from_rest_converge(name):
    """Velocities of 1e-4 rad/s beside gaps that are known to 1e-16 m, divided by dt."""
    given = reference(name)
    model = given.model
    q, v, _ = given.state(model)
    run = sk.simulate(model, q, 0 * v, duration=2e-3, dt=5e-5, integrator="implicit_midpoint")
    assert run.status == "finished", run.message


def test_a_mechanism_at_rest_stays_where_it_is():
    """Hanging, where all that could move it is rounding."""
    given = reference("02_four_bar")
    model = given.model
    q, v, _ = given.state(model)
    damping = {name: sk.JointProperties(damping=3.0) for name in model.joint_names}
    still = sk.simulate(model, q, 0 * v, duration=60.0, dt=1e-2, joints=damping)
    run = sk.simulate(model, still.q[-1], still.v[-1], duration=0.1, dt=1e-4,
                      integrator="implicit_midpoint")  # fmt: skip
    assert run.status == "finished", run.message
    assert np.abs(run.q - still.q[-1]).max() < 1e-9


def test_short_steps_pass_a_singular_position():
    """The slider of the gripper stands at its dead point at 2.0273 s: both fingers could part."""
    given = reference("11_gripper")
    model = given.model
    q, v, _ = given.state(model)
    near = sk.simulate(model, q, v, duration=2.02, dt=1e-3)
    for dt in (2e-4, 5e-5):
        run = sk.simulate(model, near.q[-1], near.v[-1], duration=0.02, dt=dt,
                          integrator="implicit_midpoint")  # fmt: skip
        assert run.status == "finished", run.message
        assert run.summary["loop_condition_min"] < 2e-2
        energy = sum(sk.energy(model, run.q, run.v))
        assert np.ptp(energy) < 1e-6 * energy[0]


# ---- quaternions --------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler", "implicit_midpoint"])
@pytest.mark.parametrize("name", ["11_gripper", "07_rssr"])
def test_quaternions_get_their_length_back(name, method):
    """Roundings of a million turns make 1e-13 of it, which would look like a gap."""
    given = reference(name)
    model = given.model
    q, v, _ = given.state(model)
    joint = next(body for body in given.bodies if body["joint"]["kind"] in ("free", "spherical"))
    at = model.q_slice(joint["joint_name"]).start
    q[at : at + 4] *= 1.0 + 3e-13
    run = sk.simulate(model, q, v, duration=2e-3, dt=1e-3, integrator=method)
    lengths = np.sum(run.q[:, at : at + 4] ** 2, axis=1)
    assert np.abs(lengths - 1.0).max() <= 1e-15
    assert np.abs(sk.loop_error(model, run.q)).max() <= 5e-15
