"""Dynamics with closed loops: the reference files, forces of loops, identities, which joint is cut.

v̇ and forces of the files hold to 1e-12 relative; ladder and ring, whose condition numbers are those
of long chains, to 1e-11 (a dense solve in double is 1e-9 off).
"""

import numpy as np
import pytest

import loop_references
import naive_loops
import skodyn as sk
from loop_mechanisms import of_loop
from loop_references import (
    NAMES,
    expected_forces,
    expected_vdot,
    five_bar,
    four_bar_cut,
    ladder,
    listing,
    n_four_bar,
    reference,
    ring,
)

LONG = {"10_ring_100": 1e-11}


@pytest.fixture(params=NAMES)
def given(request):
    return reference(request.param)


def close(actual, expected, bar):
    assert np.shape(actual) == np.shape(expected)
    size = max(np.linalg.norm(expected), 1e-2)  # A02 starts upright: v̇ is zero there
    error = np.linalg.norm(np.asarray(actual) - expected)
    assert error <= bar * size, f"{error / size:.2e} relative"


# ---- the files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_accelerations_are_those_of_the_files(name):
    given = reference(name)
    model = given.model
    vdot = sk.forward_dynamics(model, *given.state(model))
    close(vdot, given.packed_v(model, expected_vdot(given)), LONG.get(name, 1e-12))


@pytest.mark.parametrize("name", NAMES)
def test_forces_of_loops_are_those_of_the_files_and_unique_where_they_say(name):
    given = reference(name)
    model = given.model
    forces = sk.loop_forces(model, *given.state(model))
    size = max((np.abs(f[np.isfinite(f)]).max(initial=0) for f in expected_forces(given).values()),
               default=1.0)  # fmt: skip
    for loop, expected in expected_forces(given).items():
        known = np.isfinite(expected)
        assert (of_loop(model, forces.unique, loop)[3:] == known).all()
        error = (of_loop(model, forces.wrench, loop)[3:] - expected)[known]
        assert np.abs(error).max(initial=0.0) <= LONG.get(name, 1e-12) * size
    if "coupling_torque_on_q2" in given.source["expected"]["t0"]:
        torque = of_loop(model, forces.torque, next(iter(model.couplings)))
        expected = given.source["expected"]["t0"]["coupling_torque_on_q2"]
        assert float(torque) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", listing("constraint_torque"))
def test_loops_take_the_torque_that_the_files_say(name):
    """G*λ is unique even where λ is not: what the opened tree needs for v̇, less tau."""
    given = reference(name)
    model = given.model
    q, v, tau = given.state(model)
    vdot = sk.forward_dynamics(model, q, v, tau)
    torque = sk.inverse_dynamics(model.opened, q, v, vdot) - tau
    expected = given.gathered(given.source["expected"]["t0"]["constraint_torque"])
    close(torque, given.packed_v(model, expected), 1e-12)
    close(torque, _virtual_torque(model, given, q, v, tau), 1e-12)


def _virtual_torque(model, given, q, v, tau):
    """J*·wrench over both ends of all loops: what their forces do to every joint."""
    forces = sk.loop_forces(model, q, v, tau)
    rotations, _ = sk.forward_kinematics(model, q)
    torque = np.zeros(model.nv)
    for name, loop in model.loops.items():
        wrench = of_loop(model, forces.wrench, name)
        place = _closure(model, q, loop)
        for body, sign in ((loop.body_b, 1.0), (loop.body_a, -1.0)):
            if body != "world":
                k = model.body_index(body)
                origin = sk.forward_kinematics(model, q)[1][k]
                point = rotations[k].T @ (place - origin)
                torque += sign * sk.jacobian(model, q, body, point).T @ wrench
    return torque


def _closure(model, q, loop):
    """x_B of a loop in the world."""
    rotations, positions = sk.forward_kinematics(model, q)
    if loop.body_b == "world":
        return np.asarray(loop.translation_b)
    k = model.body_index(loop.body_b)
    return positions[k] + rotations[k] @ loop.translation_b


def test_a_hinge_that_closes_a_plane_has_unique_forces_in_it_and_no_others():
    given = reference("02_four_bar")
    model = given.model
    unique = of_loop(model, sk.loop_forces(model, *given.state(model)).unique, "pin")
    assert unique.tolist() == [False, False, True, True, True, False]


def test_a_rod_takes_tension_as_a_spring_of_its_length_would():
    """A bob on a rod of length L turning at rate w: tension m(w²L + g·cos), along the rod."""
    b = sk.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body("bob", joint=sk.Translation(), mass=2.0, inertia=(0.1, 0.1, 0.1))
    b.add_loop("rod", "world", "bob", sk.Rod(0.8))
    model = b.build()
    angle, rate = 0.6, 3.0
    along = np.array([np.sin(angle), 0.0, -np.cos(angle)])
    q, v = 0.8 * along, 0.8 * rate * np.array([np.cos(angle), 0.0, np.sin(angle)])
    tension = 2.0 * (rate**2 * 0.8 + 9.81 * np.cos(angle))
    forces = sk.loop_forces(model, q, v, np.zeros(3))
    wrench = of_loop(model, forces.wrench, "rod")
    assert wrench[3:] == pytest.approx(-tension * along, rel=1e-14)
    assert np.abs(wrench[:3]).max() < 1e-14
    assert of_loop(model, forces.unique, "rod").all()
    vdot = sk.forward_dynamics(model, q, v, np.zeros(3))
    assert vdot == pytest.approx([0, 0, -9.81] - tension * along / 2.0, rel=1e-13)


# ---- of any size --------------------------------------------------------------------------------


@pytest.mark.parametrize(("made", "n"), [(ladder, 50), (ladder, 3), (ring, 30), (n_four_bar, 7)])
def test_towers_and_rings_agree_with_extended_precision(made, n):
    given = made(n)
    given.q = given.q.copy()
    if made is n_four_bar:  # leave the upright position, where v̇ is zero
        given.q[: n + 1] -= 0.7
        given.q[n + 1 :] += 0.7
    expected, pins = naive_loops.planar_dynamics(given.twin, given.q, given.v, given.gravity)
    model = given.model
    q, v, tau = given.state(model)
    close(sk.forward_dynamics(model, q, v, tau), given.packed_v(model, expected), 1e-11)
    forces = sk.loop_forces(model, q, v, tau)
    actual = np.array([of_loop(model, forces.wrench, loop["name"])[3:5] for loop in given.loops])
    close(actual, pins, 1e-11)


def test_a_five_bar_robot_agrees_with_extended_precision():
    given = five_bar()
    expected, pins = naive_loops.planar_dynamics(given.twin, given.q, given.v, given.gravity)
    model = given.model
    q, v, tau = given.state(model)
    close(sk.forward_dynamics(model, q, v, tau), given.packed_v(model, expected), 1e-13)
    wrench = of_loop(model, sk.loop_forces(model, q, v, tau).wrench, "tip")
    close(wrench[3:5], pins[0], 1e-13)


# ---- identities ---------------------------------------------------------------------------------


def test_virtual_work_of_loop_forces_is_zero(given):
    """The torque of the loops is perpendicular to every motion that they allow."""
    model = given.model
    q, v, tau = given.state(model)
    vdot = sk.forward_dynamics(model, q, v, tau)
    torque = sk.inverse_dynamics(model.opened, q, v, vdot) - tau
    X = sk.loop_basis(model, q)
    assert X.shape == (model.nv, given.source["counts"]["mobility"])
    size = np.abs(sk.bias_force(model.opened, q, v)) + np.abs(tau) + np.abs(torque)
    left = np.abs(X.T @ torque).max() / np.abs(X).max()
    assert left <= 1e-13 * np.linalg.cond(X) * np.linalg.norm(size)


def test_power_balances_the_change_of_kinetic_energy(given):
    """v·𝓜v̇ + v·bias = v·tau: loops neither give nor take."""
    model = given.model
    q, v, tau = given.state(model)
    needed = sk.inverse_dynamics(model.opened, q, v, sk.forward_dynamics(model, q, v, tau))
    size = np.abs(v) @ (np.abs(needed) + np.abs(tau)) + 1e-12
    assert abs(v @ (needed - tau)) <= 1e-10 * size


@pytest.mark.parametrize(
    ("given", "actuated"),
    [
        (reference("02_four_bar"), ["crank"]),
        (reference("02_four_bar"), ["rocker"]),
        (five_bar(), ["left", "right"]),
        (reference("08_stewart"), [f"leg{i}" for i in range(1, 7)]),
        (reference("13_coupled_pendulums"), ["q1"]),
        (ladder(4), [f"left{k}" for k in range(1, 5)]),
    ],
    ids=["four_bar", "four_bar at the rocker", "five_bar", "stewart", "coupled", "ladder"],
)
def test_inverse_dynamics_undoes_forward_dynamics(given, actuated):
    model = given.model
    q, v, _ = given.state(model)
    rng = np.random.default_rng(3)
    tau = np.zeros(model.nv)
    for name in actuated:
        tau[model.v_slice(name)] = rng.normal(scale=5.0)
    f_ext = rng.normal(size=(model.n_bodies, 6))
    vdot = sk.forward_dynamics(model, q, v, tau, f_ext)
    back = sk.inverse_dynamics(model, q, v, vdot, f_ext, actuated=actuated)
    close(back, tau, 1e-11)


@pytest.mark.parametrize("actuated", [["left"], ["left", "left_arm", "right"], []])
def test_torques_that_are_not_enough_or_not_unique_are_refused(actuated):
    given = five_bar()
    model = given.model
    q, v, tau = given.state(model)
    tau = tau + np.array([1.0, 2.0, -1.0, 0.5])
    vdot = sk.forward_dynamics(model, q, v, tau)
    with pytest.raises(sk.SkodynError) as error:
        sk.inverse_dynamics(model, q, v, vdot, actuated=actuated)
    assert "actuated" in str(error.value)


def test_an_acceleration_that_opens_a_loop_has_no_torques():
    given = reference("02_four_bar")
    model = given.model
    q, v, tau = given.state(model)
    vdot = sk.forward_dynamics(model, q, v, tau) + np.array([0.0, 1.0, 0.0])
    with pytest.raises(sk.SkodynError, match="pin"):
        sk.inverse_dynamics(model, q, v, vdot, actuated=["crank"])


# ---- which joint is cut -------------------------------------------------------------------------


@pytest.mark.parametrize("at", ["coupler", "rocker"])
def test_the_motion_of_bodies_does_not_depend_on_the_joint_that_was_cut(at):
    whole, other = reference("02_four_bar"), four_bar_cut(at)
    results = []
    for given in (whole, other):
        model = given.model
        q, v, tau = given.state(model)
        vdot = sk.forward_dynamics(model, q, v, tau)
        R, p = sk.forward_kinematics(model, q)
        names = ["crank", "coupler", "rocker"]
        turns, weights = [], []
        for name in names:
            k = model.body_index(name)
            com = model.com[k]
            J = sk.jacobian(model, q, name, com)
            turns.append(J @ vdot + sk.jacobian_dot_v(model, q, v, name, com))
            weights.append(p[k] + R[k] @ com)
        results.append((np.array(turns), np.array(weights)))
        assert sum(sk.energy(model, q, v)) == pytest.approx(
            2.034087575044663 + 7.000255542336248, rel=1e-13
        )
    close(results[1][1], results[0][1], 1e-14)
    close(results[1][0], results[0][0], 1e-13)


def test_swapping_the_ends_of_a_loop_turns_its_wrench_around():
    given = reference("08_stewart")
    swapped = loop_references.Mechanism(**vars(given))
    ends = ("a", "b"), ("rotation_a", "rotation_b"), ("translation_a", "translation_b")
    pairs = dict(ends) | {b: a for a, b in ends}
    swapped.loops = [{pairs.get(key, key): loop[key] for key in loop} for loop in given.loops]
    model, other = given.model, swapped.model
    close(sk.forward_dynamics(other, *swapped.state(other)),
          sk.forward_dynamics(model, *given.state(model)), 1e-13)  # fmt: skip
    forces = [sk.loop_forces(m, *g.state(m)) for m, g in ((model, given), (other, swapped))]
    for loop in model.loops:
        one, two = of_loop(model, forces[0].wrench, loop), of_loop(other, forces[1].wrench, loop)
        close(two, -one, 1e-12)


def test_a_massless_coupler_is_carried_by_the_loop():
    """Its own inertia is nothing; that of the group's freedom is not."""
    given = reference("02_four_bar")
    light = loop_references.Mechanism(**vars(given))
    nothing = {"mass": 0.0, "com": np.zeros(3), "inertia": np.zeros((3, 3))}
    light.bodies = [dict(body) for body in given.bodies]
    light.bodies[1] |= nothing
    model = light.model
    q, v, tau = light.state(model)
    expected = naive_loops.forward_dynamics(light.twin, light.q, light.v, tau, light.gravity).vdot
    close(sk.forward_dynamics(model, q, v, tau), light.packed_v(model, expected), 1e-13)


def test_a_group_without_inertia_along_its_freedom_is_refused_by_the_name_of_its_loop():
    given = reference("02_four_bar")
    light = loop_references.Mechanism(**vars(given))
    nothing = {"mass": 0.0, "com": np.zeros(3), "inertia": np.zeros((3, 3))}
    light.bodies = [dict(body) | nothing for body in given.bodies]
    model = light.model
    with pytest.raises(sk.DynamicsError, match="pin"):
        sk.forward_dynamics(model, *light.state(model))


def test_a_loop_without_freedom_holds_its_bodies_rigidly():
    """Three hinges in a triangle on a flier: it moves as one body, and the tree's joints rest."""
    b = sk.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body("base", joint=sk.Free(), mass=2.0, com=(0.1, 0, 0), inertia=(0.2, 0.3, 0.4))
    b.add_body("left", "base", sk.Revolute((0, 0, 1)), mass=0.5, com=(0.25, 0, 0),
               inertia=(0.01, 0.02, 0.02))  # fmt: skip
    b.add_body("right", "base", sk.Revolute((0, 0, 1)), translation=(0.6, 0, 0), mass=0.7,
               com=(0.25, 0, 0), inertia=(0.01, 0.02, 0.02))  # fmt: skip
    b.add_loop("top", "left", "right", sk.Revolute((0, 0, 1)), translation_a=(0.5, 0, 0),
               translation_b=(0.5, 0, 0))  # fmt: skip
    model = b.build()
    angle = np.arccos(0.6)
    q = np.array([1, 0, 0, 0, 0, 0, 0, angle, np.pi - angle])
    v = np.array([0.3, -0.4, 0.5, 1.0, 0.2, 0.1, 0, 0])
    vdot = sk.forward_dynamics(model, q, v, np.zeros(8))
    assert np.abs(vdot[6:]).max() < 1e-12
    step, weight = 1e-4, np.array([0, 0, 3.2 * -9.81])
    ends = [
        sk.momentum(model, model.integrate(q, h * v), v + h * vdot) for h in (step, -step)
    ]  # fmt: skip
    pull = np.concatenate([np.cross(sk.center_of_mass(model, q), weight), weight])
    assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(pull, abs=1e-6)
