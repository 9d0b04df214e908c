"""Published numbers (tests/data, where each file names its source), and chains of known condition.

Chains of equal rods have a closed form in absolute angles, in which the mass matrix is well
conditioned: evaluated in extended precision it gives accelerations that are exact for our purpose.
"""

import json
from pathlib import Path

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose

import skodyn as sk

EPS = np.finfo(float).eps
DATA = Path(__file__).parent / "data"
JOINTS = {"revolute": sk.Revolute, "prismatic": sk.Prismatic}


def read(name):
    return json.loads((DATA / name).read_text())


def turned(roll, pitch, yaw):
    """Rotation by angles about the fixed x, y and z axes, in this order."""
    (sr, sp, sy), (cr, cp, cy) = np.sin([roll, pitch, yaw]), np.cos([roll, pitch, yaw])
    about_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    about_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    about_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


def build(bodies, gravity):
    """A model, and where each listed body's coordinate lies in q and v."""
    made = sk.ModelBuilder(gravity=gravity)
    for k, body in enumerate(bodies):
        made.add_body(
            f"b{k}",
            "world" if body["parent"] == -1 else f"b{body['parent']}",
            JOINTS[body["joint"]](axis=body["axis"]),
            translation=body["origin_xyz"],
            rotation=turned(*body["origin_rpy"]),
            mass=body["mass"],
            com=body["com"],
            inertia=body["inertia_com"],
        )
    model = made.build()
    places = np.array([model.v_slice(f"b{k}").start for k in range(len(bodies))])
    return model, places


def packed(places, values):
    result = np.empty(len(places))
    result[places] = values
    return result


# ---- published models --------------------------------------------------------------------------

RBDL = read("01_rbdl_forward_dynamics.json")["cases"]


@pytest.mark.parametrize("case", RBDL, ids=[case["id"] for case in RBDL])
def test_forward_dynamics_of_rbdl(case):
    model, places = build(case["bodies"], case["gravity"])
    q, qd, tau = (packed(places, case[name]) for name in ("q", "qd", "tau"))
    found = sk.forward_dynamics(model, q, qd, tau)[places]
    expected = np.array(case["expected_qdd"])
    assert_allclose(found, expected, rtol=0, atol=case["upstream_tol"])
    batch = sk.forward_dynamics(model, np.tile(q, (9, 1)), qd, tau)[:, places]
    assert (batch == found).all()


def test_all_ten_models_of_rbdl_are_here():
    assert len(RBDL) == 10
    assert any(body["mass"] == 0 for case in RBDL for body in case["bodies"])


PINOCCHIO = read("03_pinocchio_spherical_zyx.json")


@pytest.mark.parametrize("case", PINOCCHIO["cases"], ids=lambda case: str(case["q"]))
def test_spherical_zyx_of_pinocchio(case):
    model, places = build(PINOCCHIO["bodies"], PINOCCHIO["gravity"])
    q, qd, qdd = (packed(places, case[name]) for name in ("q", "qd", "qdd"))
    tolerance = case["upstream_tol"]
    tau = sk.inverse_dynamics(model, q, qd, qdd)[places]
    assert_allclose(tau, case["expected_tau"], rtol=0, atol=tolerance)
    M = sk.mass_matrix(model, q)[np.ix_(places, places)]
    assert_allclose(M, case["expected_M"], rtol=0, atol=tolerance)
    back = sk.forward_dynamics(model, q, qd, packed(places, case["expected_tau"]))[places]
    kappa = np.linalg.cond(M)
    assert_allclose(back, case["qdd"], rtol=0, atol=tolerance * kappa)


def test_acrobot():
    """θ from hanging, elbow relative; M v̇ + C = τ_g − b v + τ."""
    data = read("13_acrobot_closed_form.json")
    p, expected = data["parameters"], data["expected"]
    made = sk.ModelBuilder(gravity=(0, -p["g"], 0))
    axis = (0, 0, 1)
    for name, parent, at, i in (("upper", "world", 0, "1"), ("lower", "upper", p["l1"], "2")):
        made.add_body(
            name, parent, sk.Revolute(axis=axis), translation=(0, -at, 0), mass=p["m" + i],
            com=(0, -p["lc" + i], 0), inertia=(p["Ic" + i], 0, p["Ic" + i]),
        )  # fmt: skip
    model = made.build()
    q, v = np.array(data["state"]["q"]), np.array(data["state"]["v"])
    M = sk.mass_matrix(model, q)
    kappa = np.linalg.cond(M)
    gravity = sk.gravity_force(model, q)
    coriolis = sk.bias_force(model, q, v) - gravity
    damping = -np.array([p["b1"], p["b2"]]) * v
    vdot = sk.forward_dynamics(model, q, v, damping)
    assert_allclose(M, expected["M"], rtol=0, atol=20 * EPS * np.abs(M).max())
    assert_allclose(-gravity, expected["tau_g"], rtol=0, atol=20 * EPS * np.abs(gravity).max())
    assert_allclose(coriolis, expected["C"], rtol=0, atol=20 * EPS * np.abs(gravity).max())
    bound = 10 * kappa * EPS * np.abs(vdot).max()
    assert_allclose(vdot, expected["qdd_tau0_damped"], rtol=0, atol=bound)


# ---- chains of rods ----------------------------------------------------------------------------


def rods(n):
    """n equal thin rods, mass 1 and length 1, hinged about z and laid along x."""
    made, parent = sk.ModelBuilder(gravity=(0, -9.81, 0)), "world"
    for k in range(n):
        made.add_body(
            f"r{k}", parent, sk.Revolute(axis=(0, 0, 1)), translation=(float(k > 0), 0, 0),
            mass=1.0, com=(0.5, 0, 0), inertia=(0, 1 / 12, 1 / 12),
        )  # fmt: skip
        parent = f"r{k}"
    return made.build()


CONDITIONS = dict(read("14_chain_conditioning.json")["n_cond"])


@pytest.mark.parametrize("n", CONDITIONS)
def test_condition_numbers_of_straight_chains(n):
    M = sk.mass_matrix(rods(n), np.zeros(n))
    # what rounding of M by ε can do to the smallest eigenvalue, on both sides
    assert_allclose(np.linalg.cond(M), CONDITIONS[n], rtol=10 * CONDITIONS[n] * EPS)


def rod_accelerations(q, v, tau, real=np.longdouble):
    """v̇ of n rods in the precision of `real`, solved in absolute angles.

    A(θ)·θ̈ = Sᵀ⁻¹·τ − h(θ, θ̇) − g(θ), with θ the sums of q and S the matrix that sums.
    """
    n = len(q)
    theta, omega = np.cumsum(q.astype(real)), np.cumsum(v.astype(real))
    outer = np.maximum.outer(np.arange(n), np.arange(n))
    weight = real(n - 1) - outer + real(1) / 2
    np.fill_diagonal(weight, np.arange(n - 1, -1, -1).astype(real) + real(1) / 3)
    angle = theta[:, None] - theta
    A = weight * np.cos(angle)
    h = (weight * np.sin(angle)) @ omega**2
    g = real("9.81") * (np.arange(n - 1, -1, -1).astype(real) + real(1) / 2) * np.cos(theta)
    torque = tau.astype(real) - np.append(tau[1:].astype(real), real(0))
    return np.diff(solve_symmetric(A, torque - h - g), prepend=real(0)), A


def solve_symmetric(A, b):
    """A⁻¹·b by Cholesky factors, in whatever precision A has (numpy.linalg knows double only)."""
    n, L, y = len(A), np.zeros_like(A), b.copy()
    for k in range(n):
        column = A[k:, k] - L[k:, :k] @ L[k, :k]
        L[k:, k] = column / np.sqrt(column[0])
    for k in range(n):
        y[k] = (y[k] - L[k, :k] @ y[:k]) / L[k, k]
    for k in reversed(range(n)):
        y[k] = (y[k] - L[k + 1 :, k] @ y[k + 1 :]) / L[k, k]
    return y


def rod_state(n, bent):
    rng = np.random.default_rng(n)
    q = rng.uniform(-np.pi, np.pi, size=n) if bent else np.zeros(n)
    return q, rng.normal(size=n), rng.normal(size=n)


def test_the_extended_reference_agrees_with_forty_digits():
    """The closed form once more in mpmath, with the mass matrix in joint coordinates."""
    n = 6
    q, v, tau = rod_state(n, bent=True)
    with mpmath.workdps(40):
        theta = [mpmath.fsum(map(mpmath.mpf, q[: k + 1].tolist())) for k in range(n)]
        omega = [mpmath.fsum(map(mpmath.mpf, v[: k + 1].tolist())) for k in range(n)]
        half, third = mpmath.mpf(1) / 2, mpmath.mpf(1) / 3
        summing = mpmath.matrix(n, n)
        A, h = mpmath.matrix(n, n), mpmath.matrix(n, 1)
        for i in range(n):
            h[i] = mpmath.mpf("9.81") * (n - 1 - i + half) * mpmath.cos(theta[i])
            for j in range(n):
                summing[i, j] = 1 if j <= i else 0
                weight = n - 1 - i + third if i == j else n - 1 - max(i, j) + half
                A[i, j] = weight * mpmath.cos(theta[i] - theta[j])
                h[i] += weight * mpmath.sin(theta[i] - theta[j]) * omega[j] ** 2
        torque = mpmath.matrix(tau.tolist())
        exact = mpmath.lu_solve(summing.T * A * summing, torque - summing.T * h)
        found, _ = rod_accelerations(q, v, tau)
        reference = np.array([float(x) for x in exact])
    precision = np.finfo(np.longdouble).eps
    assert_allclose(found.astype(float), reference, rtol=2 * EPS + 1e4 * precision)


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="long double is double here")
@pytest.mark.parametrize("bent", [False, True], ids=["straight", "bent"])
@pytest.mark.parametrize("n", [1, *CONDITIONS])
def test_forward_dynamics_loses_no_more_than_the_condition_number(n, bent):
    model = rods(n)
    q, v, tau = rod_state(n, bent)
    exact, A = rod_accelerations(q, v, tau)
    # 9.81 and 1/12 are rounded in the model; that too is amplified by κ and within the bound
    found = sk.forward_dynamics(model, q, v, tau)
    kappa = np.linalg.cond(sk.mass_matrix(model, q))
    assert np.linalg.cond(A.astype(float)) * np.finfo(np.longdouble).eps < 0.01 * kappa * EPS
    error = np.linalg.norm((found - exact).astype(float)) / np.linalg.norm(exact.astype(float))
    assert error <= 10 * kappa * EPS, f"{error / (kappa * EPS):.3g} κ ε"


@pytest.mark.parametrize("n", [32, 128])
def test_inverse_dynamics_of_the_answer_gives_the_torques_back(n):
    """The residual, whatever κ is: M·v̇ + bias − tau against the sizes of its three terms."""
    model = rods(n)
    for bent in (False, True):
        q, v, tau = rod_state(n, bent)
        vdot = sk.forward_dynamics(model, q, v, tau)
        back = sk.inverse_dynamics(model, q, v, vdot)
        M = sk.mass_matrix(model, q)
        size = np.abs(M) @ np.abs(vdot) + np.abs(sk.bias_force(model, q, v)) + np.abs(tau)
        assert np.linalg.norm(back - tau) <= 10 * n * EPS * np.linalg.norm(size)
