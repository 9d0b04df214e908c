"""Hybrid dynamics: v̇ of some joints given and 𝒯 of the others, against dense partitioned solves."""

from functools import cache

import numpy as np
import pytest

import loop_references
import naive
import skodyn as sk
from skodyn.jit import JIT_DISABLED
from test_derivatives import along_directions, by_speed, near
from test_dynamics_twin import Case
from test_mimic import Case as MimicCase

EPS = np.finfo(float).eps
SEEDS = range(120)


class Chosen:
    """A random system of test_dynamics_twin.py, and joints whose accelerations are given."""

    def __init__(self, seed):
        self.case = case = Case(seed)
        rng = np.random.default_rng([22, seed])
        moving = [k for k, b in enumerate(case.bodies) if naive.SIZES[b["joint"]["kind"]][1]]
        share = (0.0, 0.2, 0.5, 0.8, 1.0)[seed % 5]
        self.numbers = [k for k in rng.permutation(moving).tolist() if rng.random() < share]
        self.names = [f"b{k}" for k in self.numbers]
        self.known_listed = np.zeros(len(case.x_listed), dtype=bool)
        for k in self.numbers:
            self.known_listed[naive.offsets(case.bodies)[1][k]] = True
        self.known = case.to_v(self.known_listed)
        self.vdot_listed = rng.normal(scale=3.0, size=len(case.x_listed))
        self.vdot = case.to_v(self.vdot_listed)
        self.given = (case.model, case.q, case.v, case.x, self.vdot, self.names, case.f)

    @property
    def expected(self):
        case = self.case
        both = naive.hybrid_dynamics(
            *case.listed, case.x_listed, self.vdot_listed, self.known_listed, case.gravity,
            case.f_listed,
        )  # fmt: skip
        return tuple(map(case.to_v, both))

    def bounds(self, vdot):
        """How exact v̇ and 𝒯 can be: 10·κ·ε, and more where the terms of 𝒯 − bias cancel."""
        case, f = self.case, ~self.known_listed
        mass = case.mass
        kappa = np.linalg.cond(mass[np.ix_(f, f)]) if f.any() else 1.0
        moved = np.abs(mass[:, ~f]) @ np.abs(self.vdot_listed[~f])
        terms = np.abs(case.x_listed) + case.forces_at_play + moved
        free = np.linalg.norm(vdot[~self.known])
        largest = np.linalg.norm(mass[np.ix_(f, f)], 2) if f.any() else 1.0
        lost = np.linalg.norm(terms[f]) / max(largest, 1e-300)
        of_vdot = 10 * kappa * EPS * max(free, lost)
        sums = np.linalg.norm(
            np.abs(mass) @ np.abs(vdot[np.argsort(case.to_v(np.arange(len(vdot))))])
        )
        of_tau = 10 * kappa * EPS * (sums + np.linalg.norm(case.forces_at_play))
        return of_vdot, of_tau


@cache
def chosen_of(seed):
    return Chosen(seed)


@pytest.fixture(params=SEEDS, ids=lambda seed: f"seed{seed}")
def chosen(request):
    return chosen_of(request.param)


def test_the_choices_cover_every_joint_both_ways():
    ways = {True: set(), False: set()}
    for seed in SEEDS:
        c = chosen_of(seed)
        for k, body in enumerate(c.case.bodies):
            ways[k in c.numbers].add(body["joint"]["kind"])
    assert ways[True] == set(naive.KINDS) - {"fixed"}
    assert ways[False] == set(naive.KINDS)
    rotors = [b["joint"].get("armature") for s in SEEDS for b in chosen_of(s).case.bodies]
    assert sum(bool(r) for r in rotors) > 20


def test_both_answers_are_those_of_the_dense_partitioned_solve(chosen):
    vdot, tau = sk.hybrid_dynamics(*chosen.given)
    expected_vdot, expected_tau = chosen.expected
    of_vdot, of_tau = chosen.bounds(expected_vdot)
    assert np.linalg.norm(vdot - expected_vdot) <= of_vdot
    assert np.linalg.norm(tau - expected_tau) <= of_tau
    assert (vdot[chosen.known] == chosen.vdot[chosen.known]).all()
    assert (tau[~chosen.known] == chosen.case.x[~chosen.known]).all()


@pytest.mark.parametrize("seed", range(0, 120, 7))
def test_the_general_recursion_says_the_same(seed):
    chosen = chosen_of(seed)
    case = chosen.case
    expected = sk.hybrid_dynamics(*chosen.given[:-1])
    general = sk.sko_model(case.model, case.q, case.v)
    found = sk.sko.hybrid_dynamics(general, case.x, chosen.vdot, chosen.names)
    of_vdot, of_tau = chosen.bounds(expected.vdot)
    assert np.linalg.norm(found[0] - expected.vdot) <= 2 * of_vdot
    assert np.linalg.norm(found[1] - expected.tau) <= 2 * of_tau
    assert (found[0][chosen.known] == chosen.vdot[chosen.known]).all()


@pytest.mark.parametrize("seed", range(0, 120, 11))
def test_with_nothing_prescribed_it_is_forward_dynamics_and_with_all_inverse(seed):
    case = chosen_of(seed).case
    model, given = case.model, (case.q, case.v)
    vdot, tau = sk.hybrid_dynamics(model, *given, case.x, f_ext=case.f)
    if not JIT_DISABLED:
        assert (vdot == sk.forward_dynamics(model, *given, case.x, case.f)).all()
    assert (tau == case.x).all()
    moving = [n for n, j in zip(model.joint_names, model.joints, strict=True) if j.nv]
    vdot, tau = sk.hybrid_dynamics(model, *given, None, case.x, moving, case.f)
    assert (vdot == case.x).all()
    expected = sk.inverse_dynamics(model, *given, case.x, case.f)
    size = np.abs(case.mass) @ np.abs(case.x_listed) + case.forces_at_play
    assert np.abs(tau - expected).max() <= 50 * EPS * size.max() * case.n


@pytest.mark.parametrize("seed", [3, 7, 13, 22, 44, 58])
def test_what_is_found_has_the_same_bits_at_every_width_and_wherever_it_is_written(seed):
    c, rng = chosen_of(seed), np.random.default_rng(seed)
    model, nv = c.case.model, c.case.model.nv
    states = [model.random_state(rng) for _ in range(21)]
    q, v = (np.array(column) for column in zip(*states, strict=True))
    tau, vdot = rng.normal(size=(2, 21, nv))
    f = rng.normal(size=(21, model.n_bodies, 6))
    tau[:, c.known] = np.nan  # what is asked for is not read
    vdot[:, ~c.known] = np.inf
    many = sk.hybrid_dynamics(model, q, v, tau, vdot, c.names, f)
    out = np.empty((21, 2, nv))
    for threads in (1, 2):
        again = sk.hybrid_dynamics(model, q, v, tau, vdot, c.names, f, out=out, threads=threads)
        assert (again.vdot == many.vdot).all()
        assert (out[:, 1] == many.tau).all()
    for i in range(21):
        one = sk.hybrid_dynamics(model, q[i], v[i], tau[i], vdot[i], c.names, f[i])
        assert (one.vdot == many.vdot[i]).all()
        assert (one.tau == many.tau[i]).all()
    listed = sk.hybrid_dynamics(
        model, q[0].tolist(), v[0].tolist(), tau[0].tolist(), vdot[0].tolist(), tuple(c.names), f[0]
    )
    assert (listed.tau == many.tau[0]).all()


def test_a_joint_that_nothing_resists_may_be_driven():
    b = sk.ModelBuilder()
    b.add_body("arm", "world", sk.Revolute(axis=(0, 1, 0)), mass=1.0, com=(0.5, 0, 0))
    b.add_body("tip", "arm", sk.Revolute(axis=(0, 1, 0)), translation=(1, 0, 0), mass=1.0)
    model = b.build()
    with pytest.raises(sk.DynamicsError, match="'tip'"):
        sk.hybrid_dynamics(model, [0.1, 0.2], [0.0, 0.0], prescribed=["arm"])
    vdot, tau = sk.hybrid_dynamics(
        model, [0.0, 0.2], [0.0, 0.0], vdot=[0.0, 3.0], prescribed=["tip"]
    )
    assert np.abs(tau).max() <= 1e-15
    assert abs(vdot[0] - 9.81 * 1.5 / 1.25) < 1e-13


# ---- mimic joints and loops ---------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_mimic_joints_follow_what_is_prescribed(seed):
    case, rng = MimicCase(seed), np.random.default_rng([23, seed])
    model = case.model
    moving = [n for n in model.independent_joints if model.joints[model.joint_index(n)].nv]
    names = [n for n in moving if rng.random() < 0.5] or moving[:1]
    known = np.zeros(model.nv, dtype=bool)
    for name in names:
        known[model.v_slice(name)] = True
    f = np.flatnonzero(~known)
    given = rng.normal(size=model.nv)
    expected = np.where(known, given, 0.0)
    rhs = case.x - case.bias - case.mass @ expected
    expected[f] = np.linalg.solve(case.mass[np.ix_(f, f)], rhs[f])
    vdot, tau = sk.hybrid_dynamics(model, case.q, case.v, case.x, given, names, case.f)
    forces = case.mass @ expected + case.bias
    size = np.linalg.norm(np.abs(case.mass) @ np.abs(expected)) + np.linalg.norm(case.bias)
    assert np.linalg.norm(tau - forces) <= 10 * case.kappa * EPS * size
    least = np.linalg.norm(np.linalg.inv(case.mass), 2)
    assert np.linalg.norm(vdot - expected) <= 10 * case.kappa * EPS * least * size
    batch = sk.hybrid_dynamics(model, np.stack([case.q] * 3), case.v, case.x, given, names, case.f)
    assert np.abs(batch.tau - tau).max() <= 10 * case.kappa * EPS * size


@pytest.mark.parametrize("name", ["07_rssr", "13_coupled_pendulums"])
def test_a_joint_in_a_loop_is_driven_by_the_force_that_is_found(name):
    given = loop_references.reference(name)
    model = given.model
    q, v, tau = given.state(model)
    driven = next(n for n in model.joint_names if model.joints[model.joint_index(n)].nv == 1)
    place = model.v_slice(driven)
    vdot = np.full(model.nv, np.nan)
    vdot[place] = 0.7
    answer = sk.hybrid_dynamics(model, q, v, tau, vdot, [driven])
    again = sk.forward_dynamics(model, q, v, answer.tau)
    assert answer.vdot[place] == 0.7
    assert np.abs(again - answer.vdot).max() <= 1e-11 * np.abs(again).max()
    others = np.delete(np.arange(model.nv), place)
    assert (answer.tau[others] == tau[others]).all()


def test_joints_that_a_loop_ties_together_cannot_all_be_prescribed():
    b = sk.ModelBuilder()
    hinge = sk.Revolute(axis=(0, -1, 0))
    for name, parent, length, x in (
        ("crank", "world", 0.3, 0), ("coupler", "crank", 0.9, 0.3), ("rocker", "world", 0.7, 1),
    ):  # fmt: skip
        b.add_body(
            name, parent, hinge, translation=(x, 0, 0), mass=length, com=(length / 2, 0, 0),
            inertia=(0.02,) * 3,
        )  # fmt: skip
    b.add_loop(
        "pin", "coupler", "rocker", hinge, translation_a=(0.9, 0, 0), translation_b=(0.7, 0, 0)
    )
    model = b.build()
    q = sk.assemble(model, [1.0, 0.0, 1.5], hold=["crank"]).q
    v = sk.project_velocity(model, q, [5.0, 0.0, 0.0])
    vdot, tau = sk.hybrid_dynamics(model, q, v, prescribed=["crank"])
    assert vdot[0] == 0.0
    assert (tau[1:] == 0.0).all()
    with pytest.raises(sk.DynamicsError, match="'crank', 'rocker' cannot be given independently"):
        sk.hybrid_dynamics(model, q, v, prescribed=["crank", "rocker"])


# ---- derivatives --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [3, 8, 12, 17, 26, 33, 41, 54])
def test_derivatives_of_both_answers(seed):
    c = chosen_of(seed)
    model, q, v, tau, vdot, names, f = c.given
    found = sk.hybrid_dynamics_derivatives(*c.given)

    def both(q, v, given):
        return np.concatenate(
            sk.hybrid_dynamics(
                model, q, v, np.where(c.known, 0.0, given), np.where(c.known, given, 0.0), names, f
            )
        )

    x = np.where(c.known, vdot, tau)
    by_q = along_directions(lambda at: both(at, v, x), model, q)
    by_v = by_speed(lambda at: both(q, at, x), v)
    by_input = by_speed(lambda at: both(q, v, at), x)
    near(np.concatenate([found.vdot_by_q, found.tau_by_q]), by_q)
    near(np.concatenate([found.vdot_by_v, found.tau_by_v]), by_v)
    near(np.concatenate([found.vdot_by_input, found.tau_by_input]), by_input)


def test_linearize_takes_prescribed_joints():
    c = chosen_of(13)
    model, q, v, tau, vdot, names, f = c.given
    found = sk.hybrid_dynamics_derivatives(*c.given)
    A, B = sk.linearize(model, q, v, tau, f, vdot=vdot, prescribed=names)
    nv = model.nv
    assert (A[nv:, :nv] == found.vdot_by_q).all()
    assert (A[nv:, nv:] == found.vdot_by_v).all()
    assert (B[nv:] == found.vdot_by_input).all()
    assert (B[nv:][c.known] == np.eye(nv)[c.known]).all()
    same, _ = sk.linearize(model, q, v, tau, f)
    assert (A[:nv] == same[:nv]).all()
    with pytest.raises(sk.StateError, match="vdot is given, but no joint is prescribed"):
        sk.linearize(model, q, v, tau, f, vdot=vdot)


# ---- what is refused ----------------------------------------------------------------------------


def arm():
    b = sk.ModelBuilder()
    b.add_body("upper", "world", sk.Revolute(axis=(0, 1, 0)), mass=1.0, com=(0.5, 0, 0))
    b.add_body("plate", "upper", sk.Fixed(), mass=1.0)
    b.add_body("lower", "plate", sk.Revolute(axis=(0, 1, 0)), mass=1.0, com=(0.5, 0, 0))
    return b.build()


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["uper"], "did you mean 'upper'"),
        (["plate"], "'plate' is fixed"),
        (["upper", "upper"], "'upper' is prescribed twice"),
        ("upper", "prescribed is 'upper'; give a list"),
        (3, "prescribed is 3; give a list"),
        ([1], r"prescribed is \[1\]; give a list"),
        ([["upper"]], "give a list"),
    ],
)
def test_names_that_cannot_be_prescribed_are_refused(names, said):
    with pytest.raises(sk.ModelError, match=said):
        sk.hybrid_dynamics(arm(), [0.0, 0.0], [0.0, 0.0], prescribed=names)


def test_all_faults_of_the_arguments_are_told_at_once():
    with pytest.raises(sk.StateError) as caught:
        sk.hybrid_dynamics(
            arm(), [0.0], [0.0, np.nan], [1.0, np.inf], [1.0, 2.0, 3.0], prescribed=["upper"]
        )
    told = " ".join(map(str, caught.value.faults))
    assert len(caught.value.faults) == 4
    for said in ("q has shape (1,)", "v[1] is nan", "tau[1] is inf", "vdot has shape (3,)"):
        assert said in told
    with pytest.raises(sk.StateError, match="tau has 3, vdot has 4"):
        sk.hybrid_dynamics(
            arm(), [0.0, 0.0], [0.0, 0.0], np.zeros((3, 2)), np.zeros((4, 2)), ["upper"]
        )


def test_a_joint_that_follows_another_is_not_prescribed_itself():
    b = sk.ModelBuilder()
    b.add_body("upper", "world", sk.Revolute(axis=(0, 1, 0)), mass=1.0, inertia=(1, 1, 1))
    b.add_body("lower", "upper", sk.Revolute(axis=(0, 1, 0)), mass=1.0, inertia=(1, 1, 1))
    b.add_mimic("lower", "upper", 2.0, 0.0)
    model = b.build()
    with pytest.raises(sk.ModelError, match="mimics 'upper'"):
        sk.hybrid_dynamics(model, [0.0], [0.0], prescribed=["lower"])


def test_more_choices_than_are_kept_do_no_harm():
    model = arm()
    first = sk.hybrid_dynamics(model, [0.3, 0.1], [0.2, 0.0], prescribed=["upper"])
    for _ in range(20):
        for names in ([], ["upper"], ["lower"], ["upper", "lower"], ["lower", "upper"]):
            sk.hybrid_dynamics(model, [0.3, 0.1], [0.2, 0.0], prescribed=names)
    again = sk.hybrid_dynamics(model, [0.3, 0.1], [0.2, 0.0], prescribed=["upper"])
    assert (again.tau == first.tau).all()
