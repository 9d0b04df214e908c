"""What functions answer when loops leave them nothing to say, or a state does not fit its loops."""

import re

import numpy as np
import pytest

import skodyn as sk
from loop_references import reference
from skodyn.scenario import parse_scenario

REST = np.zeros(3)


@pytest.fixture(scope="module")
def model():
    return reference("02_four_bar").model


@pytest.fixture(scope="module")
def state(model):
    return reference("02_four_bar").state(model)


@pytest.fixture(scope="module")
def coupled():
    given = reference("13_coupled_pendulums")
    return given.model, *given.state(given.model)


REFUSED = {
    "mass_matrix": lambda m, q, v: sk.mass_matrix(m, q),
    "mass_matrix_inverse": lambda m, q, v: sk.mass_matrix_inverse(m, q),
    "mass_matrix_logdet": lambda m, q, v: sk.mass_matrix_logdet(m, q),
    "mass_matrix_logdet_gradient": lambda m, q, v: sk.mass_matrix_logdet_gradient(m, q),
    "coriolis_matrix": sk.coriolis_matrix,
    "christoffel_symbols": lambda m, q, v: sk.christoffel_symbols(m, q),
    "forward_dynamics_derivatives": lambda m, q, v: sk.forward_dynamics_derivatives(m, q, v, 0 * v),
    "inverse_dynamics_derivatives": lambda m, q, v: sk.inverse_dynamics_derivatives(m, q, v, 0 * v),
    "linearize": lambda m, q, v: sk.linearize(m, q, v, 0 * v),
    "body_inertias": lambda m, q, v: sk.body_inertias(m, q),
    "operators": lambda m, q, v: sk.operators(m, q),
    "fixman_potential": lambda m, q, v: sk.fixman_potential(m, q),
    "sample_velocity": lambda m, q, v: sk.sample_velocity(
        m, q, kT=1.0, rng=np.random.default_rng(0)
    ),
    "fixman.mass_matrix_logdet": lambda m, q, v: sk.fixman.mass_matrix_logdet(m, q),
    "fixman.mass_matrix_solve": lambda m, q, v: sk.fixman.mass_matrix_solve(m, q, v),
    "thermostat": lambda m, q, v: sk.simulate(
        m, q, v, duration=0.01, thermostat=sk.AndersenThermostat(kT=1.0, rate=10.0)
    ),
    "FixmanForce": lambda m, q, v: sk.simulate(
        m, q, v, duration=0.01, elements=[sk.FixmanForce(kT=1.0)]
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_meaning_under_loops_is_refused_and_points_to_the_opened_model(
    name, model, state
):
    with pytest.raises(sk.SkodynError) as error:
        REFUSED[name](model, *state[:2])
    assert "pin" in str(error.value)
    assert "model.opened" in str(error.value)


@pytest.mark.parametrize("name", ["mass_matrix", "coriolis_matrix", "operators", "thermostat"])
def test_a_coupling_refuses_as_a_loop_does(name, coupled):
    with pytest.raises(sk.SkodynError) as error:
        REFUSED[name](*coupled[:3])
    assert next(iter(coupled[0].couplings)) in str(error.value)
    assert "model.opened" in str(error.value)


def test_the_opened_model_is_the_tree_and_answers(model, state):
    q, v, tau = state
    tree = model.opened
    assert not tree.loops
    assert not tree.couplings
    assert tree.opened is tree
    assert tree.nv == model.nv
    assert sk.mass_matrix(tree, q).shape == (3, 3)
    assert not np.allclose(sk.forward_dynamics(tree, q, v, tau), sk.forward_dynamics(model, *state))


AS_OF_THE_TREE = {
    "energy": sk.energy,
    "momentum": sk.momentum,
    "forward_kinematics": lambda m, q, v: sk.forward_kinematics(m, q),
    "velocities": sk.velocities,
    "jacobian": lambda m, q, v: sk.jacobian(m, q, "rocker", (0.1, 0.2, 0.3)),
    "center_of_mass": lambda m, q, v: sk.center_of_mass(m, q),
    "bias_force": sk.bias_force,
    "gravity_force": lambda m, q, v: sk.gravity_force(m, q),
}


@pytest.mark.parametrize("name", AS_OF_THE_TREE)
def test_what_loops_do_not_touch_is_that_of_the_tree_to_the_bit_even_when_open(name, model, state):
    q, v = state[0] + 0.1, state[1] + 0.2
    mine, trees = (AS_OF_THE_TREE[name](m, q, v) for m in (model, model.opened))
    mine, trees = (x if isinstance(x, tuple) else (x,) for x in (mine, trees))
    for one, two in zip(mine, trees, strict=True):
        assert np.array_equal(one, two)


# ---- open states --------------------------------------------------------------------------------

NEED_CLOSED = {
    "forward_dynamics": lambda m, q, v: sk.forward_dynamics(m, q, v, 0 * v),
    "mass_matrix_solve": lambda m, q, v: sk.mass_matrix_solve(m, q, v),
    "compliance": lambda m, q, v: sk.operational_space_compliance(m, q, [(0, REST)]),
    "joint_forces": lambda m, q, v: sk.joint_forces(m, q, v, 0 * v),
    "loop_forces": lambda m, q, v: sk.loop_forces(m, q, v, 0 * v),
    "project_velocity": lambda m, q, v: sk.project_velocity(m, q, v),
    "loop_basis": lambda m, q, v: sk.loop_basis(m, q),
    "inverse_dynamics": lambda m, q, v: sk.inverse_dynamics(m, q, v, 0 * v, actuated=["crank"]),
}
IN_BATCHES = ("forward_dynamics", "mass_matrix_solve", "joint_forces")


@pytest.mark.parametrize("name", NEED_CLOSED)
def test_a_state_that_is_open_is_refused_with_loop_distance_and_remedy(name, model, state):
    q, v, _ = state
    opened = q + np.array([0.0, 0.0, 1e-3])  # moves the end of the rocker, 0.7 m long
    with pytest.raises(sk.StateError) as error:
        NEED_CLOSED[name](model, opened, v)
    message = str(error.value)
    assert "'pin'" in message
    assert "sk.assemble" in message
    numbers = [float(x) for x in re.findall(r"\d+\.?\d*(?:e[-+]?\d+)?", message)]
    assert any(4e-4 < x < 7.1e-4 for x in numbers), message


@pytest.mark.parametrize("name", NEED_CLOSED)
@pytest.mark.parametrize("apart", [3e-6, -3e-6])
def test_the_bound_is_a_micrometre(name, apart, model, state):
    q, v, _ = state
    with pytest.raises(sk.StateError, match=r"sk\.assemble"):
        NEED_CLOSED[name](model, q + np.array([0.0, 0.0, apart]), v)


def test_what_rounding_leaves_open_is_taken_as_it_is(model, state):
    q, v, tau = state
    expected = sk.forward_dynamics(model, q, v, tau)
    actual = sk.forward_dynamics(model, q + np.array([0, 0, 1e-9]), v, tau)
    assert actual == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", IN_BATCHES)
def test_one_open_state_in_a_batch_is_found(name, model, state):
    q, v = (np.tile(x, (11, 1)) for x in state[:2])
    q[7, 2] += 1e-3
    with pytest.raises(sk.StateError) as error:
        NEED_CLOSED[name](model, q, v)
    assert "'pin'" in str(error.value)
    assert "7" in str(error.value)
    assert "sk.assemble" in str(error.value)


def test_a_coupling_that_is_not_kept_is_refused_by_name(coupled):
    model, q, v, tau = coupled
    with pytest.raises(sk.StateError) as error:
        sk.forward_dynamics(model, q + np.array([0.0, 1e-3]), v, tau)
    assert next(iter(model.couplings)) in str(error.value)
    assert "sk.assemble" in str(error.value)


@pytest.mark.parametrize("name", ["forward_dynamics", "joint_forces", "loop_forces"])
def test_velocities_that_open_a_loop_are_refused(name, model, state):
    q, v, _ = state
    with pytest.raises(sk.StateError) as error:
        NEED_CLOSED[name](model, q, v + np.array([0.0, 0.1, 0.0]))
    assert "'pin'" in str(error.value)
    assert "sk.project_velocity" in str(error.value)


def test_velocities_of_a_coupling_are_watched_as_well(coupled):
    model, q, v, tau = coupled
    with pytest.raises(sk.StateError, match=r"sk\.project_velocity"):
        sk.forward_dynamics(model, q, v + np.array([0.1, 0.0]), tau)


def test_the_remedies_that_messages_name_work(model, state):
    q, v, tau = state
    closed = sk.assemble(model, q + np.array([0.0, 0.0, 1e-3])).q
    moving = sk.project_velocity(model, closed, v + np.array([0.0, 0.1, 0.0]))
    assert np.isfinite(sk.forward_dynamics(model, closed, moving, tau)).all()


def test_a_rod_and_a_joint_with_inertia_may_not_stand_for_each_other():
    b = sk.ModelBuilder()
    b.add_body("bob", joint=sk.Translation(), mass=1.0, inertia=(1, 1, 1))
    b.add_loop("rod", "world", "bob", sk.Rod(-0.5))
    b.add_loop("hinge", "world", "bob", sk.Revolute((0, 0, 1), armature=0.1))
    b.add_loop("nothing", "bob", "bob", sk.Spherical())
    b.add_loop("flier", "world", "bob", sk.Free())
    with pytest.raises(sk.ModelError) as error:
        b.build()
    for name in ("rod", "hinge", "nothing", "flier"):  # all at once
        assert f"'{name}'" in str(error.value)


# ---- what closes a loop has no coordinate -------------------------------------------------------

ON_THE_CLOSING_JOINT = {
    "spring": {"joints": {"pin": sk.JointProperties(stiffness=2.0)}},
    "damper": {"joints": {"pin": sk.JointProperties(damping=2.0)}},
    "limit": {"joints": {"pin": sk.JointProperties(lower=-1.0, upper=1.0)}},
    "servo": {"elements": [sk.Servo("pin", kp=3.0, kd=1.0)]},
    "motion": {"motions": [sk.SteadyMotion("pin", 1.0)]},
}


@pytest.mark.parametrize("what", ON_THE_CLOSING_JOINT)
def test_a_spring_servo_or_limit_on_a_closing_joint_is_refused(what):
    linkage = sk.examples.four_bar()
    q = sk.assemble(linkage, [1.0, 0.0, 1.5], hold=["crank"]).q
    with pytest.raises(sk.ModelError) as error:
        sk.simulate(linkage, q, np.zeros(3), duration=0.01, **ON_THE_CLOSING_JOINT[what])
    assert "'pin' closes a loop and has no coordinate; cut the loop at another joint" in str(
        error.value
    )


SCENARIO = """
duration = 0.1
[model]
file = "scenarios/models/four_bar.toml"
[initial]
assemble = true
"""


@pytest.mark.parametrize(
    "table",
    [
        "[joints.pin]\nstiffness = 2.0",
        '[controllers.hold]\ntype = "servo"\njoint = "pin"\nkp = 3.0',
    ],
)
def test_files_say_the_same_of_a_closing_joint(table, request):
    with pytest.raises(sk.ScenarioError, match="'pin'") as error:
        parse_scenario(SCENARIO + table, request.config.rootpath)
    assert "it closes a loop and has no coordinate, so cut the loop at another joint" in str(
        error.value
    )
