"""Inertia, bias and inverse Jacobian at points of a model, against dense matrices of the twin."""

import numpy as np
import pytest

import loop_references
import naive
import skodyn as sk
from test_dynamics_twin import Case
from test_mimic import Case as MimicCase

EPS = np.finfo(float).eps
SEEDS = range(4, 90, 3)


class Task:
    """A system of test_dynamics_twin.py, points of it, and directions in which they can move."""

    def __init__(self, seed):
        self.case = case = Case(seed)
        rng = np.random.default_rng([41, seed])
        numbers = rng.integers(case.n, size=2).tolist()
        self.nodes = [(int(k), rng.normal(size=3)) for k in numbers]
        bodies, q, v = case.listed
        places = [(case.order[k], point) for k, point in self.nodes]
        J = np.concatenate([naive.jacobian(bodies, q, k, p) for k, p in places])
        drift = np.concatenate([naive.jacobian_dot_v(bodies, q, v, k, p) for k, p in places])
        self.rows = self._independent(J @ np.linalg.solve(case.mass, J.T), rng)
        self.J, self.drift = J[self.rows], drift[self.rows]
        self.inverse_mass = np.linalg.inv(case.mass)
        self.compliance = self.J @ self.inverse_mass @ self.J.T
        self.kappa = np.linalg.cond(self.compliance) * case.kappa if self.rows else 1.0

    def _independent(self, compliance, rng):
        """Some rows of which none nearly follows from the others."""
        chosen = []
        for row in rng.permutation(len(compliance)).tolist():
            trial = [*chosen, row]
            part = compliance[np.ix_(trial, trial)]
            if (np.diag(part) > 0).all() and np.linalg.cond(part) < 1e5 and len(trial) <= 7:
                chosen = trial
        return chosen


TASKS = [task for seed in SEEDS if (task := Task(seed)).rows]


@pytest.fixture(params=TASKS, ids=lambda task: f"{task.case.n}-{len(task.rows)}")
def task(request):
    return request.param


def near(actual, expected, kappa, scale=0.0):
    error = np.linalg.norm(actual - expected)
    assert error <= 10 * kappa * EPS * max(np.linalg.norm(expected), scale)


def test_the_tasks_have_many_sizes():
    assert len(TASKS) > 25
    assert {len(task.rows) for task in TASKS} >= {1, 3, 4, 6, 7}


def test_inertia_bias_and_inverse_jacobian(task):
    case = task.case
    space = sk.operational_space(case.model, case.q, case.v, task.nodes, case.f, rows=task.rows)
    inertia = np.linalg.inv(task.compliance)
    near(space.jacobian, case.to_v(task.J), 50)
    near(space.inertia, inertia, task.kappa)
    near(
        space.inverse_jacobian, case.to_v((task.inverse_mass @ task.J.T @ inertia).T).T, task.kappa
    )
    rest = task.inverse_mass @ -case.bias
    size = np.linalg.norm(inertia, 2) * (
        np.linalg.norm(np.abs(task.J) @ np.abs(task.inverse_mass) @ case.forces_at_play)
        + np.linalg.norm(task.drift)
    )
    near(space.bias, -inertia @ (task.J @ rest + task.drift), task.kappa, size)
    alone = sk.operational_space_inertia(case.model, case.q, task.nodes, rows=task.rows)
    assert (alone == space.inertia).all()


def test_a_force_at_the_points_gives_the_acceleration_that_was_asked_for(task):
    case, rng = task.case, np.random.default_rng(1)
    space = sk.operational_space(case.model, case.q, case.v, task.nodes, case.f, rows=task.rows)
    wanted = rng.normal(size=len(task.rows))
    tau = space.jacobian.T @ (space.inertia @ wanted + space.bias)
    unseen = rng.normal(size=case.model.nv)  # what moves the joints but not the points
    tau += unseen - space.jacobian.T @ (space.inverse_jacobian.T @ unseen)
    vdot = sk.forward_dynamics(case.model, case.q, case.v, tau, case.f)
    moved = space.jacobian @ vdot + task.drift
    reach = np.linalg.norm(np.abs(space.jacobian) @ np.abs(vdot)) + np.linalg.norm(task.drift)
    assert np.linalg.norm(moved - wanted) <= 10 * task.kappa * EPS * reach


def test_the_inverse_jacobian_costs_the_least_energy(task):
    case, rng = task.case, np.random.default_rng(2)
    space = sk.operational_space(case.model, case.q, case.v, task.nodes, rows=task.rows)
    speed = rng.normal(size=len(task.rows))
    v = space.inverse_jacobian @ speed
    near(space.jacobian @ v, speed, task.kappa)
    least, _ = sk.energy(case.model, case.q, v)
    assert abs(least - 0.5 * speed @ space.inertia @ speed) <= 20 * task.kappa * EPS * least
    other = v + rng.normal(size=case.model.nv)
    other -= space.inverse_jacobian @ (space.jacobian @ other - speed)
    assert sk.energy(case.model, case.q, other)[0] >= least * (1 - 20 * task.kappa * EPS)


def test_batches_are_their_states():
    task = TASKS[3]
    case, rng = task.case, np.random.default_rng(3)
    states = [case.model.random_state(rng) for _ in range(11)]
    q, v = (np.array(column) for column in zip(*states, strict=True))
    many = sk.operational_space(case.model, q, v, task.nodes, rows=task.rows[:2])
    for i in range(11):
        one = sk.operational_space(case.model, q[i], v[i], task.nodes, rows=task.rows[:2])
        for a, b in zip(one, many, strict=True):
            np.testing.assert_allclose(a, b[i], rtol=1e-9, atol=1e-12 * np.abs(b[i]).max())


def test_mimic_joints_and_loops():
    case = MimicCase(4)
    moving = max(
        case.model.body_names, key=lambda b: np.abs(sk.jacobian(case.model, case.q, b)[4]).sum()
    )
    found = sk.operational_space(case.model, case.q, case.v, [(moving, (0, 0, 0))], rows=[4])
    given = loop_references.reference("07_rssr")
    q, v, tau = given.state(given.model)
    node = (given.model.body_names[-1], (0.1, 0.0, 0.2))
    looped = sk.operational_space(given.model, q, v, [node], rows=[3])
    for model, space, (at, rates) in (
        (case.model, found, (case.q, case.v)), (given.model, looped, (q, v)),
    ):  # fmt: skip
        where = (moving, (0, 0, 0)) if model is case.model else node
        row = 4 if model is case.model else 3
        forces = space.jacobian.T @ (space.inertia @ [0.6] + space.bias)
        vdot = sk.forward_dynamics(model, at, rates, forces)
        drift = sk.jacobian_dot_v(model, at, rates, *where)[row]
        assert abs((space.jacobian @ vdot)[0] + drift - 0.6) < 1e-9
    assert tau.shape == v.shape


def test_one_node_needs_no_list_and_nodes_may_be_an_iterator():
    model = sk.load("scenarios/models/double_pendulum.toml")
    q, v, tip = [0.3, 0.4], [0.1, -0.2], ("lower", (0.0, 0.0, -0.5))
    for one in ("lower", tip):
        alone = sk.operational_space(model, q, v, one, rows=[3])
        for listed in ([one], iter([one])):
            same = sk.operational_space(model, q, v, listed, rows=[3])
            assert all((a == b).all() for a, b in zip(alone, same, strict=True))
        inertia = sk.operational_space_inertia(model, q, one, rows=[3])
        assert (inertia == alone.inertia).all()
        assert sk.operational_space_compliance(model, q, one).shape == (6, 6)
    both = sk.operational_space_compliance(model, q, ("upper", "lower"))
    assert both.shape == (12, 12)
    assert (both[6:, 6:] == sk.operational_space_compliance(model, q, "lower")).all()


def test_directions_that_cannot_be_moved_are_refused():
    model = sk.load("scenarios/models/double_pendulum.toml")
    nodes = [("lower", (0, 0, 0))]
    with pytest.raises(sk.DynamicsError, match="Only 2 of the 6 directions at 'lower'"):
        sk.operational_space_inertia(model, [0.3, 0.4], nodes)
    with pytest.raises(
        sk.StateError, match=r"rows is .7.; give different whole numbers from 0 to 5"
    ):
        sk.operational_space_inertia(model, [0.3, 0.4], nodes, rows=[7])
    with pytest.raises(sk.StateError, match=r"rows is .3, 3."):
        sk.operational_space(model, [0.3, 0.4], [0.0, 0.0], nodes, rows=[3, 3])
    with pytest.raises(sk.StateError, match="nodes is empty"):
        sk.operational_space(model, [0.3, 0.4], [0.0, 0.0], [])


# ---- the workbench ------------------------------------------------------------------------------


def test_the_compliance_at_points_has_an_inverse_in_the_workbench():
    task = next(t for t in TASKS if t.case.model.nv >= 14)
    model, q = task.case.model, task.case.q
    body = max(range(model.n_bodies), key=lambda k: np.linalg.matrix_rank(sk.jacobian(model, q, k)))
    ops = sk.operators(model, q)
    B = ops.pickoff([(body, (0.1, 0.2, 0.3))])
    compliance = B.T @ ops.Omega @ B
    inertia = compliance.inverse()
    assert (inertia @ compliance).is_identity()
    assert inertia.inverse() is compliance
    expected = sk.operational_space_inertia(model, q, [(body, (0.1, 0.2, 0.3))])
    kappa = np.linalg.cond(expected) * task.case.kappa
    near(inertia.dense(), expected, kappa)
    assert inertia.text() == "(B.T @ Omega @ B).inverse()"
    J = B.T @ ops.phi.T @ ops.H.T
    consistent = (ops.H @ ops.phi @ ops.M @ ops.phi.T @ ops.H.T).inverse() @ J.T @ inertia
    assert (J @ consistent).is_identity()
    twice = ops.pickoff([(body, (0.1, 0.2, 0.3)), (body, (0.0, 0.0, 0.0))])
    singular = (twice.T @ ops.Omega @ twice).inverse()
    with pytest.raises(sk.DynamicsError, match="6 of its 12 directions"):
        singular.dense()
