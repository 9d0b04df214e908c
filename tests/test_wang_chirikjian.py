"""Rotations and motions in coordinates: eqs. 10–12 and 14–18 of Wang & Chirikjian.

skodyn's joints have no Euler angles, so these equations are checks of what it has instead: hinges
in a row, velocities in body axes, and displacements along velocity directions.
"""

import numpy as np
import pytest

import skodyn as sk

ANGLES = [(0.4, 1.1, -0.7), (-2.0, 0.5, 3.0), (1.0, 2.8, 0.2)]  # α, β, γ


def turn(axis, angle):
    """R_axis(angle), axis 0, 1 or 2."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = np.cos(angle)
    R[j, i], R[i, j] = np.sin(angle), -np.sin(angle)
    return R


def rotation(angles):
    alpha, beta, gamma = angles
    return turn(2, alpha) @ turn(0, beta) @ turn(2, gamma)


def euler_jacobian(angles):
    """Eq. 11."""
    _, beta, gamma = angles
    s, c = np.sin, np.cos
    return np.array(
        [[s(beta) * s(gamma), c(gamma), 0], [s(beta) * c(gamma), -s(gamma), 0], [c(beta), 0, 1]]
    )


def quaternion(R):
    """(w, x, y, z) of a rotation by less than half a turn."""
    w = np.sqrt(1.0 + np.trace(R)) / 2.0
    skew = R - R.T
    return np.array([w, *np.array([skew[2, 1], skew[0, 2], skew[1, 0]]) / (4.0 * w)])


def smooth(R, b=(0.0, 0.0, 0.0)):
    """Some function of a motion."""
    weights = np.arange(9.0).reshape(3, 3) - 3.0
    return np.sin((weights * R).sum()) + np.cos(R[0] @ np.array(b)) + b[0] * b[1]


def slope(function, step=1e-6):
    return (function(step) - function(-step)) / (2.0 * step)


@pytest.mark.parametrize("angles", ANGLES)
def test_three_hinges_have_the_jacobian_of_euler_angles(angles):
    builder = sk.ModelBuilder()
    parent = "world"
    for name, axis in (("a", (0, 0, 1)), ("b", (1, 0, 0)), ("c", (0, 0, 1))):
        builder.add_body(name, parent, sk.Revolute(axis), mass=1.0, inertia=(1, 1, 1))
        parent = name
    model = builder.build()
    in_world = sk.jacobian(model, np.array(angles), "c")[:3]
    np.testing.assert_allclose(rotation(angles).T @ in_world, euler_jacobian(angles), atol=1e-14)
    _, beta, gamma = angles
    s, c = np.sin, np.cos
    printed_inverse = [
        [s(gamma) / s(beta), c(gamma) / s(beta), 0],
        [c(gamma), -s(gamma), 0],
        [-s(gamma) / np.tan(beta), -c(gamma) / np.tan(beta), 1],
    ]
    np.testing.assert_allclose(printed_inverse @ euler_jacobian(angles), np.eye(3), atol=1e-13)


def free_body():
    builder = sk.ModelBuilder()
    builder.add_body("body", "world", sk.Free(), mass=1.0, inertia=(1, 1, 1))
    return builder.build()


@pytest.mark.parametrize("angles", ANGLES[:1])
def test_a_free_body_has_the_velocity_of_eq_15(angles):
    """(ω, v) = diag(J, R*)·(rates of angles and position); world axes are R times that."""
    model, R, b = free_body(), rotation(angles), np.array([0.3, -1.0, 2.0])
    rates, b_rate = np.array([0.5, -0.2, 0.9]), np.array([1.0, 0.4, -0.6])
    v = np.concatenate([euler_jacobian(angles) @ rates, R.T @ b_rate])
    V, _, _ = sk.velocities(model, np.concatenate([quaternion(R), b]), v)
    spin = slope(lambda h: rotation(np.array(angles) + h * rates)) @ R.T
    np.testing.assert_allclose(V[0, :3], [spin[2, 1], spin[0, 2], spin[1, 0]], atol=1e-8)
    np.testing.assert_allclose(V[0, 3:], b_rate, atol=1e-14)


@pytest.mark.parametrize("i", range(6))
def test_derivatives_along_body_axes_of_rotations_and_motions(i):
    """Eqs. 12, 16 and 17: along velocity direction i, by coordinates and 𝒥⁻¹ of eq. 18."""
    model, angles = free_body(), np.array(ANGLES[0])
    R, b = rotation(angles), np.array([0.3, -1.0, 2.0])
    q = np.concatenate([quaternion(R), b])

    def along(step):
        moved = model.integrate(q, step * np.eye(6)[i])
        rotations, positions = sk.forward_kinematics(model, moved)
        return smooth(rotations[0], positions[0])

    def by_coordinate(j):
        def at(step):
            c = np.concatenate([angles, b])
            c[j] += step
            return smooth(rotation(c[:3]), c[3:])

        return slope(at)

    whole = np.zeros((6, 6))
    whole[:3, :3], whole[3:, 3:] = euler_jacobian(angles), R.T
    expected = np.array([by_coordinate(j) for j in range(6)]) @ np.linalg.inv(whole)[:, i]
    assert abs(slope(along) - expected) < 1e-7 * max(1.0, abs(expected))


# ---- the functions of sk.fixman -----------------------------------------------------------------


@pytest.mark.parametrize("angles", ANGLES)
def test_the_jacobian_of_any_coordinates_of_rotations(angles):
    """Eqs. 10 and 11."""
    np.testing.assert_allclose(sk.fixman.euler_zxz(*angles), rotation(angles), atol=1e-15)
    J = sk.fixman.rotation_jacobian(sk.fixman.euler_zxz, angles)
    np.testing.assert_allclose(J, euler_jacobian(angles), atol=1e-14)
    np.testing.assert_allclose(sk.fixman.euler_zxz_jacobian(*angles), J, atol=1e-14)
    real_only = sk.fixman.rotation_jacobian(lambda *q: rotation(np.asarray(q).real), angles)
    np.testing.assert_allclose(real_only, J, atol=1e-10)  # by differences


def euler_motion(alpha, beta, gamma, *place):
    return sk.fixman.motion(sk.fixman.euler_zxz(alpha, beta, gamma), np.array(place))


@pytest.mark.parametrize("angles", ANGLES)
def test_the_jacobian_of_motions_is_block_diagonal(angles):
    """Eqs. 14 and 15; the velocity v = R*b that is printed before eq. 15 must be R*ḃ."""
    q, rates = np.array([*angles, 0.3, -1.0, 2.0]), np.array([0.5, -0.2, 0.9, 1.0, 0.4, -0.6])
    R = rotation(angles)
    expected = np.zeros((6, 6))
    expected[:3, :3], expected[3:, 3:] = euler_jacobian(angles), R.T
    found = sk.fixman.motion_jacobian(euler_motion, q)
    np.testing.assert_allclose(found, expected, atol=1e-14)
    velocity = (found @ rates)[3:]
    np.testing.assert_allclose(velocity, R.T @ rates[3:], atol=1e-14)
    assert np.abs(velocity - R.T @ q[3:]).max() > 0.1  # as printed


def test_derivatives_along_body_axes_are_those_of_coordinates_through_the_inverse_jacobian():
    """Eqs. 12, 16, 17 and 18."""
    q = np.array([*ANGLES[0], 0.3, -1.0, 2.0])
    H = euler_motion(*q)

    def function(T):
        return smooth(T[:3, :3], T[:3, 3])

    by_coordinate = np.array(
        [slope(lambda h, j=j: function(euler_motion(*(q + h * np.eye(6)[j])))) for j in range(6)]
    )
    J = sk.fixman.motion_jacobian(euler_motion, q)
    found = sk.fixman.motion_gradient(function, H)
    np.testing.assert_allclose(found, by_coordinate @ np.linalg.inv(J), atol=1e-7)
    rotational = sk.fixman.rotation_gradient(lambda R: smooth(R, H[:3, 3]), H[:3, :3])
    # eq. 17: at a place that is held, a turn of the body is a turn of the rotation alone
    np.testing.assert_allclose(found[:3], rotational, atol=1e-13)
    slopes = np.array(
        [slope(lambda h, j=j: smooth(H[:3, :3], H[:3, 3] + h * np.eye(3)[j])) for j in range(3)]
    )
    np.testing.assert_allclose(found[3:], H[:3, :3].T @ slopes, atol=1e-7)
    n = np.array([1.0, 2.0, -2.0])
    along = sk.fixman.rotation_derivative(lambda R: smooth(R, H[:3, 3]), H[:3, :3], n)
    assert along == pytest.approx(rotational @ n)
    stepped = sk.fixman.motion_gradient(lambda T: float(function(T.real)), H)  # takes no complex
    np.testing.assert_allclose(stepped, found, atol=1e-8)


def test_generators_turn_and_shift_along_one_axis():
    E, tilde = sk.fixman.generators(3), sk.fixman.generators(4)
    for i in range(3):
        np.testing.assert_array_equal(E[i] @ np.eye(3)[(i + 1) % 3], np.eye(3)[(i + 2) % 3])
        np.testing.assert_array_equal(tilde[i][:3, :3], E[i])
        np.testing.assert_array_equal(tilde[3 + i][:3, 3], np.eye(3)[i])
    assert not tilde[:3, :, 3].any()
    with pytest.raises(sk.StateError, match="size is 6; give 3 for rotations, 4 for motions"):
        sk.fixman.generators(6)


def test_what_are_no_rotations_or_directions_is_refused():
    with pytest.raises(sk.StateError, match=r"rotation has shape \(2, 2\); give a finite matrix"):
        sk.fixman.rotation_gradient(np.sum, np.eye(2))
    with pytest.raises(sk.StateError, match=r"direction has shape \(2,\); give three numbers"):
        sk.fixman.rotation_derivative(np.sum, np.eye(3), [1.0, 0.0])
    with pytest.raises(sk.StateError, match="what the function gives has shape"):
        sk.fixman.rotation_jacobian(lambda x: [x], [1.0])
    with pytest.raises(sk.StateError, match=r"give \(3, 3\) and \(3,\)"):
        sk.fixman.motion(np.eye(2), [0, 0, 0])
