"""Mimic joints against the dense reduced system GᵀMG, built here from the naive twin alone.

G and the coordinates of all joints come from the list of mimics as it was given, not from what the
model made of it. Bounds are roundings times κ(M) of the uncoupled tree where equations are solved.
"""

import json
import pickle
from functools import cached_property

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import adapters
import naive
import skodyn as sk
from skodyn.model.drawing import describe
from skodyn.simulation import session
from skodyn.simulation.elements import (
    Controller,
    Forces,
    JointProperties,
    PointSpring,
    Servo,
    Sinusoid,
    Wrench,
)
from skodyn.simulation.force_tables import pack_forces
from skodyn.simulation.methods import METHODS
from skodyn.simulation.session import Plan
from skodyn.simulation.settings import IntegratorSettings
from test_derivatives import along_directions, by_speed, central, near

EPS = np.finfo(float).eps
SINGLE = ("revolute", "prismatic", "helical")
KINDS = (*SINGLE, *SINGLE, *naive.KINDS)


class Case:
    """A random tree in which some joints mimic others: children, parents, across branches."""

    def __init__(self, seed):
        rng = np.random.default_rng([7, seed])
        self.n = 6 + seed % 12
        self.bodies = naive.random_bodies(
            rng, self.n, KINDS, branching=(0.0, 0.5, 0.9)[seed % 3], rotors=(0.0, 0.5)[seed % 2]
        )
        self.gravity = rng.normal(scale=6.0, size=3)
        single = [k for k, b in enumerate(self.bodies) if b["joint"]["kind"] in SINGLE]
        single = rng.permutation(single).tolist()
        count = min(len(single) - 1, 1 + seed % 4)
        # who follows whom: any joint that comes later in the shuffled list, so chains arise
        self.given = [
            (f"b{single[i]}", f"b{single[int(rng.integers(i + 1, len(single)))]}",
             float(rng.uniform(0.2, 3.0) * rng.choice((-1, 1))), float(rng.normal()))
            for i in range(count)
        ]  # fmt: skip
        builder = adapters.builder(self.bodies, self.gravity)
        for mimic in rng.permutation(len(self.given)):
            builder.add_mimic(*self.given[mimic])
        self.model = builder.build()
        self.tree = adapters.build(self.bodies, self.gravity)
        self.q, self.v = self.model.random_state(rng)
        self.x = rng.normal(scale=3.0, size=self.model.nv)
        self.f = rng.normal(scale=3.0, size=(self.n, 6))
        self.rng = rng

    def every_joint(self, reduced, place, tree_place, size, offsets):
        """Coordinates or velocities of all joints in packed order, by following what was given."""
        full = np.full(size, np.nan)
        followers = {joint: rest for joint, *rest in self.given}
        for name in self.tree.joint_names:
            if name not in followers:
                full[tree_place(name)] = reduced[place(name)]

        def value(name):
            if name not in followers:
                return full[tree_place(name)]
            source, multiplier, offset = followers[name]
            return multiplier * value(source) + offset * offsets

        for name in followers:
            full[tree_place(name)] = value(name)
        return full

    def full_q(self, q):
        m, t = self.model, self.tree
        return self.every_joint(q, m.q_slice, t.q_slice, t.nq, 1.0)

    def full_v(self, v):
        m, t = self.model, self.tree
        return self.every_joint(v, m.v_slice, t.v_slice, t.nv, 0.0)

    @cached_property
    def G(self):
        return np.array([self.full_v(e) for e in np.eye(self.model.nv)]).T

    @cached_property
    def listed(self):
        q = adapters.from_packed_q(self.tree, self.bodies, self.full_q(self.q))
        v = adapters.from_packed_v(self.tree, self.bodies, self.full_v(self.v))
        return self.bodies, q, v

    @cached_property
    def f_listed(self):
        return adapters.from_packed_bodies(self.tree, self.f)

    @cached_property
    def full_mass(self):
        mass = naive.mass_matrix(*self.listed[:2])
        return adapters.to_packed_matrix(self.tree, self.bodies, mass)

    @cached_property
    def mass(self):
        return self.G.T @ self.full_mass @ self.G

    @cached_property
    def kappa(self):
        return np.linalg.cond(self.full_mass) * np.linalg.cond(self.G) ** 2

    def packed(self, tau):
        """Gᵀτ from a generalised force of the twin."""
        return self.G.T @ adapters.to_packed_v(self.tree, self.bodies, tau)

    @cached_property
    def bias(self):
        return self.packed(naive.bias_force(*self.listed, self.gravity, self.f_listed))

    @cached_property
    def vdot(self):
        return np.linalg.solve(self.mass, self.x - self.bias)

    @property
    def body(self):
        return f"b{self.n - 1}"


CASES = [Case(seed) for seed in range(36)]


@pytest.fixture(params=CASES, ids=lambda case: f"{case.n}-{len(case.given)}")
def case(request):
    return request.param


def close(actual, expected, roundings, scale=0.0):
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    size = max(np.abs(expected).max(), np.max(scale))
    error = np.abs(actual - expected).max()
    assert error <= roundings * EPS * size, f"{error / (EPS * size):.3g} roundings"


def solved(actual, expected, kappa):
    error = np.linalg.norm(actual - expected)
    assert error <= 10 * kappa * EPS * np.linalg.norm(expected)


# ---- what the state is --------------------------------------------------------------------------


def test_the_cases_have_chains_branches_and_mimics_on_both_sides_of_their_source():
    chained = [c for c in CASES if {g[1] for g in c.given} & {g[0] for g in c.given}]
    shared = [c for c in CASES if len({m.source for m in c.model.mimics.values()}) < len(c.given)]
    assert len(chained) > 5
    assert len(shared) > 5
    inward = outward = across = 0
    for c in CASES:
        for name, mimic in c.model.mimics.items():
            a, b = c.model.joint_index(name), c.model.joint_index(mimic.source)
            end = c.model.tree.subtree_end
            inward += a <= b < end[a]
            outward += b <= a < end[b]
            across += not (a <= b < end[a] or b <= a < end[b])
    assert min(inward, outward, across) > 3


def test_the_state_has_independent_coordinates_only(case):
    model, m = case.model, len(case.given)
    assert (model.nq, model.nv) == (case.tree.nq - m, case.tree.nv - m)
    assert model.uncoupled == case.tree
    assert set(model.mimics) == {joint for joint, *_ in case.given}
    covered = [model.v_slice(name) for name in model.independent_joints]
    taken = np.concatenate([np.arange(model.nv)[s] for s in covered])
    assert (taken == np.arange(model.nv)).all()
    assert len(model.neutral()) == model.nq


def test_coordinates_follow_to_rounding(case):
    close(case.model.expand_q(case.q), case.full_q(case.q), 20)
    close(case.model.expand_v(case.v), case.full_v(case.v), 20)
    joint, source, multiplier, offset = case.given[-1]  # its source moves by itself
    full, place = case.model.expand_q(case.q), case.tree.q_slice
    assert full[place(joint)] == multiplier * full[place(source)] + offset


def test_integrate_and_difference_move_along_the_coupling(case):
    step = 0.3 * case.v
    moved = case.model.integrate(case.q, step)
    tree = case.tree.integrate(case.full_q(case.q), case.full_v(step))
    close(case.full_q(moved), tree, 50)
    close(case.model.difference(case.q, moved), step, 100, 1.0)
    batch = case.model.integrate(np.stack([case.q] * 3), np.stack([step] * 3))
    assert (batch == moved).all()


def test_a_mimic_joint_has_no_place_in_the_state():
    model = CASES[0].model
    name, mimic = next(iter(model.mimics.items()))
    for slice_of in (model.q_slice, model.v_slice):
        with pytest.raises(sk.ModelError, match=f"'{name}' mimics '{mimic.source}'"):
            slice_of(name)


# ---- dynamics -----------------------------------------------------------------------------------


def test_mass_matrix_and_its_inverse(case):
    mass = sk.mass_matrix(case.model, case.q)
    assert (mass == mass.T).all()
    close(mass, case.mass, 200, np.abs(case.full_mass).max())
    inverse = sk.mass_matrix_inverse(case.model, case.q)
    assert (inverse == inverse.T).all()
    solved(inverse, np.linalg.inv(case.mass), case.kappa)
    solved(sk.mass_matrix_solve(case.model, case.q, case.x), inverse @ case.x, case.kappa)
    columns = sk.mass_matrix_solve(case.model, case.q, np.eye(case.model.nv))
    solved(columns, inverse, case.kappa)


def test_log_determinant(case):
    expected = np.linalg.slogdet(case.mass)[1]
    size = np.abs(np.log(np.linalg.eigvalsh(case.mass))).sum()
    bound = 20 * EPS * max(size, case.kappa)
    assert abs(sk.mass_matrix_logdet(case.model, case.q) - expected) <= bound


def test_inverse_dynamics_bias_and_gravity(case):
    m, q, v, f = case.model, case.q, case.v, case.f
    terms = np.abs(case.mass).max() * np.abs(case.x).max() + np.abs(case.bias).max() + 100.0
    close(sk.bias_force(m, q, v, f), case.bias, 1000, terms)
    expected = case.mass @ case.x + case.bias
    close(sk.inverse_dynamics(m, q, v, case.x, f), expected, 1000, terms)
    held = case.packed(naive.gravity_force(*case.listed[:2], case.gravity))
    close(sk.gravity_force(m, q), held, 1000, terms)


def test_forward_dynamics(case):
    m, q, v = case.model, case.q, case.v
    vdot = sk.forward_dynamics(m, q, v, case.x, case.f)
    terms = (np.abs(case.bias).max() + np.abs(case.x).max()) / np.linalg.norm(case.x - case.bias)
    solved(vdot, case.vdot, case.kappa * max(1.0, terms))
    back = sk.inverse_dynamics(m, q, v, vdot, case.f)
    size = np.linalg.norm(case.mass, 2) * np.linalg.norm(vdot) + np.linalg.norm(case.bias)
    assert np.linalg.norm(back - case.x) <= 10 * case.kappa * EPS * size
    plain = sk.forward_dynamics(m, q, v, case.x)
    bias = case.packed(naive.bias_force(*case.listed, case.gravity))
    solved(plain, np.linalg.solve(case.mass, case.x - bias), 10 * case.kappa)


def test_forces_through_the_joints(case):
    actual = sk.joint_forces(case.model, case.q, case.v, case.x, case.f)
    vdot = adapters.from_packed_v(case.tree, case.bodies, case.G @ case.vdot)
    expected = naive.joint_forces(*case.listed, vdot, case.gravity, case.f_listed)
    expected = adapters.to_packed_bodies(case.tree, expected)
    solved(actual, expected, 10 * case.kappa)


def test_kinematics_energy_and_momentum(case):
    m, q, v, tree = case.model, case.q, case.v, case.tree
    rotations, positions = sk.forward_kinematics(m, q)
    r, p = naive.forward_kinematics(*case.listed[:2])
    close(rotations, adapters.to_packed_bodies(tree, r), 500)
    close(positions, adapters.to_packed_bodies(tree, p), 500, 1.0)
    twists = adapters.to_packed_bodies(tree, naive.velocities(*case.listed))
    close(sk.velocities(m, q, v)[0], twists, 1000, 1.0)
    kinetic, potential = sk.energy(m, q, v)
    assert kinetic == pytest.approx(v @ case.mass @ v / 2, rel=1e-12)
    expected = naive.potential_energy(*case.listed[:2], case.gravity)
    assert potential == pytest.approx(expected, rel=1e-11, abs=1e-10)
    close(sk.momentum(m, q, v), naive.momentum(*case.listed), 5000, 1.0)
    close(sk.center_of_mass(m, q), naive.centre_of_mass(*case.listed[:2]), 500, 1.0)


def test_jacobians_and_compliance(case):
    point, k = (0.1, -0.2, 0.3), case.n - 1
    columns = naive.jacobian(*case.listed[:2], k, point)
    expected = adapters.to_packed_v(case.tree, case.bodies, columns) @ case.G
    actual = sk.jacobian(case.model, case.q, case.body, point)
    close(actual, expected, 500, 1.0)
    drift = sk.jacobian_dot_v(case.model, case.q, case.v, case.body, point)
    close(drift, naive.jacobian_dot_v(*case.listed, k, point), 20000, 1.0)
    nodes = [(case.body, point), ("b0", (0.0, 0.0, 0.0))]
    other = naive.jacobian(*case.listed[:2], 0)
    both = np.vstack((expected, adapters.to_packed_v(case.tree, case.bodies, other) @ case.G))
    compliance = sk.operational_space_compliance(case.model, case.q, nodes)
    assert (compliance == compliance.T).all()
    reference = both @ np.linalg.solve(case.mass, both.T)
    scale = np.linalg.norm(both) ** 2 * np.linalg.norm(np.linalg.inv(case.mass))
    assert np.abs(compliance - reference).max() <= 10 * case.kappa * EPS * scale


def test_a_light_source_costs_no_digits():
    """One part in 10¹² of the inertia: a form that subtracts accelerations would lose them all."""
    b = sk.ModelBuilder(gravity=(0, 0, 0))
    b.add_body("motor", joint=sk.Revolute(), mass=1e-6, inertia=(1e-12, 1e-12, 1e-12))
    for side in ("left", "right"):
        b.add_body(side, joint=sk.Revolute(), mass=1.0, inertia=(1.0, 1.0, 1.0))
        b.add_mimic(side, "motor", 0.5 if side == "left" else -0.25)
    vdot = sk.forward_dynamics(b.build(), [0.3], [2.0], [1.0])
    assert vdot[0] == pytest.approx(1.0 / (1e-12 + 0.25 + 0.0625), rel=4 * EPS)


def test_derivatives_of_forces_and_accelerations(case):
    m, q, v, x, f = case.model, case.q, case.v, case.x, case.f
    two = sk.inverse_dynamics_derivatives(m, q, v, x, f)
    near(two[0], along_directions(lambda at: sk.inverse_dynamics(m, at, v, x, f), m, q), 1e-10)
    near(two[1], by_speed(lambda at: sk.inverse_dynamics(m, q, at, x, f), v), 1e-12)
    vdot = sk.forward_dynamics(m, q, v, x, f)
    dq, dv, inverse = sk.forward_dynamics_derivatives(m, q, v, x, f)
    assert (inverse == sk.mass_matrix_inverse(m, q)).all()
    forces = sk.inverse_dynamics_derivatives(m, q, v, vdot, f)
    for found, force in zip((dq, dv), forces, strict=True):
        solved(found, -np.linalg.solve(case.mass, force), case.kappa)
    A, B = sk.linearize(m, q, v, x, f)
    assert (A[m.nv :] == np.hstack((dq, dv))).all()
    assert (B[m.nv :] == inverse).all()


def test_coriolis_matrix_and_christoffel_symbols(case):
    m, q, v = case.model, case.q, case.v
    C = sk.coriolis_matrix(m, q, v)
    near(C @ v + sk.gravity_force(m, q), sk.bias_force(m, q, v), 1e-12)
    rate = central(lambda t: sk.mass_matrix(m, m.integrate(q, t * v)), 1e-3)
    near(C + C.T, rate, 1e-10)
    near(sk.christoffel_symbols(m, q) @ v, C, 1e-12)


def test_what_has_no_meaning_with_mimics_is_refused_by_its_name():
    with pytest.raises(sk.ModelError, match=r"body_inertias does.*mimic joints.*model\.uncoupled"):
        sk.body_inertias(CASES[0].model, CASES[0].q)


def test_gradient_of_the_logarithm_of_the_determinant(case):
    m, q = case.model, case.q
    found = sk.mass_matrix_logdet_gradient(m, q)
    for i in range(m.nv):
        step = np.eye(m.nv)[i]
        slope = central(lambda t, s=step: sk.mass_matrix_logdet(m, m.integrate(q, t * s)), 1e-3)
        near(found[i], slope, 1e-7)
    out = np.empty((2, m.nv))
    both = sk.mass_matrix_logdet_gradient(m, np.stack((q, q)), out=out)
    assert both is out
    near(both, np.stack((found, found)), 1e-12)


def test_drawn_velocities_have_the_covariance_of_the_reduced_mass_matrix(case):
    """𝓜^(1/2)v is white: its covariance of many draws is the identity."""
    m, count = case.model, 4000
    v = sk.sample_velocity(m, np.tile(case.q, (count, 1)), 1.0, np.random.default_rng(1))
    white = v @ np.linalg.cholesky(case.mass)
    assert np.abs(white.T @ white / count - np.eye(m.nv)).max() < 6.0 * np.sqrt(2.0 / count)
    one = sk.sample_velocity(m, case.q, 2.0, np.random.default_rng(3))
    assert one.shape == (m.nv,)


def test_a_thermostat_keeps_the_temperature_of_joints_that_follow():
    b = sk.ModelBuilder(gravity=(0, 0, 0))
    body = {"mass": 1.0, "com": (0.3, 0, 0), "inertia": (0.02, 0.02, 0.02)}
    b.add_body("arm", "world", sk.Revolute(axis=(0, 1, 0), name="a"), **body)
    b.add_body(
        "hand", "arm", sk.Revolute(axis=(0, 0, 1), name="b"), translation=(0.6, 0, 0), **body
    )
    b.add_body(
        "tip", "hand", sk.Revolute(axis=(0, 1, 0), name="c"), translation=(0.6, 0, 0), **body
    )
    b.add_mimic("c", "a", -2.0, 0.1)
    m, kT = b.build(), 0.5
    thermostat = sk.AndersenThermostat(kT=kT, rate=200.0, seed=2)
    run = sk.simulate(m, m.neutral(), np.zeros(m.nv), duration=4.0, dt=1e-3, every=10,
                      thermostat=thermostat, channels=["energy"])  # fmt: skip
    kinetic = run.trajectory["energy"][40:, 0]
    assert kinetic.mean() == pytest.approx(m.nv * kT / 2, rel=0.35)
    assert abs(run.summary["energy_imbalance"]) < 1e-3 * kinetic.max()


# ---- batches, out, threads ----------------------------------------------------------------------

NODE = ("b0", (0.1, 0.2, 0.3))
CALLS = {
    "forward_dynamics": lambda m, q, v, x, **k: sk.forward_dynamics(m, q, v, x, **k),
    "inverse_dynamics": lambda m, q, v, x, **k: sk.inverse_dynamics(m, q, v, x, **k),
    "bias_force": lambda m, q, v, x, **k: sk.bias_force(m, q, v, **k),
    "gravity_force": lambda m, q, v, x, **k: sk.gravity_force(m, q, **k),
    "mass_matrix": lambda m, q, v, x, **k: sk.mass_matrix(m, q, **k),
    "mass_matrix_inverse": lambda m, q, v, x, **k: sk.mass_matrix_inverse(m, q, **k),
    "mass_matrix_solve": lambda m, q, v, x, **k: sk.mass_matrix_solve(m, q, x, **k),
    "jacobian": lambda m, q, v, x, **k: sk.jacobian(m, q, *NODE, **k),
    "compliance": lambda m, q, v, x, **k: sk.operational_space_compliance(m, q, [NODE], **k),
    "mass_matrix_logdet": lambda m, q, v, x: sk.mass_matrix_logdet(m, q),
    "inverse derivatives": lambda m, q, v, x: sk.inverse_dynamics_derivatives(m, q, v, x)[1],
    "forward derivatives": lambda m, q, v, x: sk.forward_dynamics_derivatives(m, q, v, x)[0],
    "coriolis_matrix": lambda m, q, v, x: sk.coriolis_matrix(m, q, v),
    "forward_kinematics": lambda m, q, v, x: sk.forward_kinematics(m, q)[1],
    "velocities": lambda m, q, v, x: sk.velocities(m, q, v)[0],
    "jacobian_dot_v": lambda m, q, v, x: sk.jacobian_dot_v(m, q, v, *NODE),
    "joint_forces": lambda m, q, v, x: sk.joint_forces(m, q, v, x),
    "energy": lambda m, q, v, x: sk.energy(m, q, v)[0],
    "momentum": lambda m, q, v, x: sk.momentum(m, q, v),
    "center_of_mass": lambda m, q, v, x: sk.center_of_mass(m, q),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_batch_has_the_bits_of_single_states(name):
    case = CASES[11]
    states = [case.model.random_state(case.rng) for _ in range(11)]
    q, v = (np.array(a) for a in zip(*states, strict=True))
    x = case.rng.normal(size=v.shape)
    call = CALLS[name]
    batch = np.asarray(call(case.model, q, v, x))
    single = np.array([call(case.model, q[i], v[i], x[i]) for i in range(11)])
    assert (batch == single).all()
    small = np.asarray(call(case.model, q[:2], v[:2], x[:2]))
    assert (small == single[:2]).all()
    listed = np.asarray(call(case.model, q[0].tolist(), v[0].tolist(), x[0].tolist()))
    assert (listed == single[0]).all()
    if list(CALLS).index(name) <= list(CALLS).index("compliance"):
        out = np.empty_like(batch)
        assert call(case.model, q, v, x, out=out, threads=2) is out
        assert (out == batch).all()
        with pytest.raises(sk.StateError, match="out is"):
            call(case.model, q, v, x, out=np.empty(3))


@pytest.mark.parametrize("name", CALLS)
def test_arguments_that_do_not_fit_are_told_of_the_state_as_given(name):
    case = CASES[11]
    m, call = case.model, CALLS[name]
    with pytest.raises(sk.StateError, match=rf"q has shape .*needs \({m.nq},\)"):
        call(m, case.full_q(case.q), case.v, case.x)
    for rows in (1, 5, 11):
        q = np.tile(case.q, (rows, 1))
        q[-1, -1] = np.nan
        with pytest.raises(sk.StateError, match=rf"q\[{rows - 1}, {m.nq - 1}\] is nan"):
            call(m, q, np.tile(case.v, (rows, 1)), np.tile(case.x, (rows, 1)))
    q = case.q.copy()
    q[-1] = np.inf
    with pytest.raises(sk.StateError, match=rf"q\[{m.nq - 1}\] is inf"):
        call(m, q, case.v, case.x)


# ---- simulation ---------------------------------------------------------------------------------


def gripper(**options):
    """A hand on a free base: two fingers, a thumb that follows a finger that follows."""
    b = sk.ModelBuilder(gravity=(0.2, 0.0, -9.81), name="gripper")
    b.add_body("palm", joint=sk.Free(), mass=2.0, com=(0.1, 0, 0), inertia=(0.3, 0.2, 0.4))
    b.add_body("left", "palm", sk.Revolute((0, 1, 0), name="finger1"), translation=(0.1, 0.2, 0),
               mass=0.4, com=(0, 0.1, -0.2), inertia=(0.02, 0.03, 0.01))  # fmt: skip
    b.add_body("right", "palm", sk.Revolute((0, 1, 0.2), name="finger2", armature=0.01),
               translation=(-0.1, 0.2, 0), mass=0.5, com=(0, 0.1, -0.2),
               inertia=(0.02, 0.03, 0.01))  # fmt: skip
    b.add_body("nail", "right", sk.Prismatic((1, 0, 0), name="slide"), translation=(0, 0, -0.3),
               mass=0.2, inertia=(0.01, 0.01, 0.01))  # fmt: skip
    b.add_body("lamp", "left", sk.Spherical(name="ball"), translation=(0, 0, -0.3), mass=0.2,
               com=(0, 0, -0.1), inertia=(0.01, 0.02, 0.01))  # fmt: skip
    b.add_mimic("slide", "finger2", **{"multiplier": 0.2, "offset": 0.05, **options})
    b.add_mimic("finger2", "finger1", -1.5, 0.1)
    return b.build()


def start(model):
    q, v = model.random_state(np.random.default_rng(3))
    q[model.q_slice("finger1")] *= 0.2
    return q, 0.5 * v


def relative(traj, inner, outer):
    """Rotation and shift of a body as seen from its parent, for every row."""
    names = list(traj.body_names)
    i, o = names.index(inner), names.index(outer)
    r, p = traj["rotations"], traj["positions"]
    back = np.swapaxes(r[:, i], -1, -2)
    return back @ r[:, o], np.einsum("tij,tj->ti", back, p[:, o] - p[:, i])


def test_poses_keep_the_coupling_over_ten_seconds():
    model = gripper()
    q, v = start(model)
    run = sk.simulate(model, q, v, duration=10.0, dt=2e-3, every=50, channels=["poses", "energy"])
    assert run.status == "finished"
    angle = run.trajectory.joint("finger1")[:, 0]
    _, shift = relative(run.trajectory, "right", "nail")
    length = shift[:, 0]
    assert np.ptp(angle) > 0.5
    meant = 0.2 * (-1.5 * angle + 0.1) + 0.05
    # positions are differences of numbers as large as the fall is deep: 500 m, 1e-13 each
    assert np.abs(length - meant).max() < 1e-12 * max(
        1.0, np.abs(run.trajectory["positions"]).max()
    )
    turn, _ = relative(run.trajectory, "palm", "right")
    axis = np.array((0, 1, 0.2)) / np.linalg.norm((0, 1, 0.2))
    expected = np.array([naive.axis_rotation(axis, -1.5 * a + 0.1) for a in angle])
    assert np.abs(turn - expected).max() < 1e-12
    assert abs(run.summary["energy_imbalance"]) < 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_every_integrator_follows_the_reduced_equations(method):
    """The same system with its reduced v̇ from the front door, integrated here by fine RK4."""
    model = gripper()
    q, v = start(model)
    run = sk.simulate(
        model, q, v, duration=0.1, dt=1e-3, integrator=method, channels=["vdot", "energy"]
    )
    assert run.status == "finished"
    vdot = sk.forward_dynamics(model, run.q, run.v, np.zeros(model.nv))
    assert (vdot == run.trajectory["vdot"]).all()
    fine = sk.simulate(model, q, v, duration=0.1, dt=1e-4, integrator="rk4")
    error = np.abs(model.difference(run.q[-1], fine.q[-1])).max()
    first_order = ("semi_implicit_euler", "implicit_contact")
    assert error < {"implicit_midpoint": 1e-4, **dict.fromkeys(first_order, 1e-2)}.get(method, 1e-8)
    drift = np.ptp(run.trajectory["energy"].sum(axis=1))
    assert drift < {"implicit_midpoint": 1e-4, **dict.fromkeys(first_order, 0.1)}.get(method, 1e-8)


def push(t, q, v, params, tau):
    tau[6] += params[0] * q.size + v[6]


FORCES = Forces(
    joints={
        "finger1": JointProperties(stiffness=1.0, damping=0.05),
        "finger2": JointProperties(stiffness=4.0, rest=0.3, damping=0.1, friction=0.02),
        "slide": JointProperties(stiffness=50.0, lower=-0.1, upper=0.06, damping=0.3),
    },
    elements=(
        Servo("slide", kp=20.0, kd=0.2, ki=3.0, target=0.04),
        Servo("finger1", kp=2.0, ki=1.0, gravity_compensation=True),
        Sinusoid("finger2", amplitude=0.3, frequency=2.0),
        Wrench("nail", force=(1.0, 2.0, 3.0), point=(0.1, 0, 0)),
        PointSpring("nail", "lamp", stiffness=5.0, damping=0.1, length=0.2),
        Controller(push, (0.02,)),
    ),
)


def test_forces_on_mimic_joints_act_on_their_own_coordinate():
    model = gripper()
    q, v = start(model)
    plan = Plan(model, q, v, 0.05, IntegratorSettings(dt=1e-3), FORCES, channels=("tau", "vdot"))
    run = session.run(plan)
    tau = run.trajectory["tau"][0]
    x, y, z = (model.expand_q(q)[model.uncoupled.q_slice(n)][0] for n in MOVING)
    dx, dy, dz = (model.expand_v(v)[model.uncoupled.v_slice(n)][0] for n in MOVING)
    stop = max(1e4 * (z - 0.06) + 10 * dz, 0.0) if z > 0.06 else 0.0
    stop -= max(1e4 * (-0.1 - z) - 10 * dz, 0.0) if z < -0.1 else 0.0
    on_slide = -50 * z - 0.3 * dz - stop + 20 * (0.04 - z) - 0.2 * dz
    on_second = -4 * (y - 0.3) - 0.1 * dy - 0.02 * dy / np.hypot(dy, 1e-2)
    on_first = -x - 0.05 * dx - 2 * x + sk.gravity_force(model, q)[6] + 0.02 * q.size + v[6]
    expected = on_first - 1.5 * (on_second + 0.2 * on_slide)
    assert tau[model.v_slice("finger1")][0] == pytest.approx(expected, rel=1e-12)
    pushed = np.delete(tau, 6)
    assert (pushed == 0.0).all()


MOVING = ("finger1", "finger2", "slide")


def test_work_of_forces_on_mimic_joints_balances_the_energy():
    model = gripper()
    q, v = start(model)
    plan = Plan(model, q, v, 0.5, IntegratorSettings("dormand_prince", dt=0.1), FORCES)
    assert abs(session.run(plan).summary["energy_imbalance"]) < 1e-7


def test_an_interrupted_run_resumes_to_the_same_bits(tmp_path):
    model = gripper()
    q, v = start(model)
    plan = Plan(model, q, v, 0.2, IntegratorSettings(dt=1e-3), FORCES, channels=("tau", "poses"))
    whole = session.run(plan, chunk=7)
    log = tmp_path / "run.h5"

    def stop(engine, _wall):
        if engine.step > 50:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        session.run(plan, log, progress=stop, chunk=10)
    run = session.resume(plan, log)
    assert run.status == "finished"
    for name in ("q", "v", "tau", "positions"):
        assert (run.trajectory[name] == whole.trajectory[name]).all()
    assert "finger2" not in run.trajectory.q_names
    assert run.trajectory.joint_names == model.independent_joints
    with pytest.raises(sk.SkodynError, match="no joint 'finger2'"):
        run.trajectory.joint("finger2")


def test_gravity_compensation_on_a_mimic_joint_is_refused():
    forces = Forces(elements=(Servo("finger2", kp=1.0, gravity_compensation=True),))
    with pytest.raises(sk.ModelError, match=r"'finger2' mimics 'finger1'.*compensate gravity"):
        pack_forces(gripper(), forces)


# ---- other libraries ----------------------------------------------------------------------------

HAND = """
<mujoco>
  <compiler angle="radian"/>
  <option gravity="0.2 0 -9.81"><flag contact="disable"/></option>
  <worldbody>
    <body name="left" pos="0.1 0.2 0">
      <joint name="finger1" type="hinge" axis="0 1 0"/>
      <inertial pos="0 0.1 -0.2" mass="0.4" diaginertia="0.02 0.03 0.01"/>
      <body name="right" pos="-0.1 0.2 0">
        <joint name="finger2" type="hinge" axis="0 1 1" armature="0.01" ref="0.25"/>
        <inertial pos="0 0.1 -0.2" mass="0.5" diaginertia="0.02 0.03 0.01"/>
      </body>
    </body>
    <body name="cart">
      <joint name="slide" type="slide" axis="1 0 0"/>
      <inertial pos="0 0 0" mass="0.2" diaginertia="0.01 0.01 0.01"/>
    </body>
  </worldbody>
</mujoco>
"""


def hand():
    b = sk.ModelBuilder(gravity=(0.2, 0.0, -9.81))
    b.add_body("left", joint=sk.Revolute((0, 1, 0), name="finger1"), translation=(0.1, 0.2, 0),
               mass=0.4, com=(0, 0.1, -0.2), inertia=(0.02, 0.03, 0.01))  # fmt: skip
    b.add_body("right", "left", sk.Revolute((0, 1, 1), name="finger2", armature=0.01),
               translation=(-0.1, 0.2, 0), mass=0.5, com=(0, 0.1, -0.2),
               inertia=(0.02, 0.03, 0.01))  # fmt: skip
    b.add_body("cart", joint=sk.Prismatic((1, 0, 0), name="slide"), mass=0.2,
               inertia=(0.01, 0.01, 0.01))  # fmt: skip
    b.add_mimic("finger2", "finger1", -1.5, 0.1)
    b.add_mimic("slide", "finger2", 0.2)
    return b.build()


def test_forward_dynamics_is_mujocos_under_exact_constraint_forces():
    """MuJoCo's own mass matrix and bias with the couplings solved densely beside it."""
    model, theirs = hand(), mujoco.MjModel.from_xml_string(HAND)
    data = mujoco.MjData(theirs)
    q, v, tau = np.array([0.4]), np.array([1.3]), np.array([0.7])
    data.qpos, data.qvel = sk.interop.to_mujoco_state(model, theirs, q, v)
    assert data.qpos == pytest.approx([0.4, -0.5 + 0.25, -0.1], abs=1e-15)
    mujoco.mj_forward(theirs, data)
    mass = np.zeros((3, 3))
    mujoco.mj_fullM(theirs, data, mass)
    g = np.array([1.0, -1.5, -0.3])
    vdot = (tau[0] - g @ data.qfrc_bias) / (g @ mass @ g)
    assert sk.forward_dynamics(model, q, v, tau)[0] == pytest.approx(vdot, rel=1e-12)
    force = sk.interop.from_mujoco_force(model, theirs, data.qpos, data.qfrc_bias)
    assert sk.bias_force(model, q, v) == pytest.approx(force, rel=1e-12)
    qacc = sk.interop.to_mujoco_acceleration(model, theirs, q, v, [vdot])
    assert qacc == pytest.approx(g * vdot, rel=1e-14)
    back = sk.interop.from_mujoco_state(model, theirs, data.qpos, data.qvel)
    assert back[0] == pytest.approx(q, abs=1e-15)
    assert back[1] == pytest.approx(v, abs=1e-15)


def test_a_state_that_does_not_follow_is_refused_on_its_way_in():
    model, theirs = hand(), mujoco.MjModel.from_xml_string(HAND)
    qpos, qvel = sk.interop.to_mujoco_state(model, theirs, [0.4], [1.3])
    with pytest.raises(sk.StateError, match=r"'finger2' mimics 'finger1'.* q should be -0\.5"):
        sk.interop.from_mujoco_state(model, theirs, qpos + np.array([0, 0.01, 0]), qvel)
    with pytest.raises(sk.StateError, match=r"'slide' mimics 'finger1'.* v should be"):
        sk.interop.from_mujoco_state(model, theirs, qpos, qvel + np.array([0, 0, 1e-3]))


def test_mass_matrix_and_torques_as_in_pinocchio_with_its_own_mimics():
    """Pinocchio's mimic joints, which follow a joint further in."""
    model, free = hand(), pin.Model()
    free.gravity.linear = np.array([0.2, 0.0, -9.81])
    second = pin.JointModelRevoluteUnaligned(np.array([0, 1, 1]) / np.sqrt(2))
    rows = (
        (0, pin.JointModelRY(), "finger1"),
        (1, second, "finger2"),
        (0, pin.JointModelPX(), "slide"),
    )
    for parent, joint, name in rows:
        i = model.joint_index(name)
        k = free.addJoint(parent, joint, pin.SE3(np.eye(3), model.translation[i]), name)
        inertia = pin.Inertia(model.mass[i], model.com[i], model.inertia[i])
        free.appendBodyToJoint(k, inertia, pin.SE3.Identity())
    once = pin.transformJointIntoMimic(free, 1, 2, -1.5, 0.1)
    theirs = pin.transformJointIntoMimic(once, 1, 3, -0.3, 0.02)
    data = theirs.createData()
    q, v, vdot = np.array([0.4]), np.array([1.3]), np.array([-0.8])
    rotor = 0.01 * 1.5**2  # which Pinocchio has no place for on a mimic joint
    mass = pin.crba(theirs, data, q)
    assert sk.mass_matrix(model, q)[0, 0] == pytest.approx(mass[0, 0] + rotor, rel=1e-12)
    torque = pin.rnea(theirs, data, q, v, vdot) + rotor * vdot
    assert sk.inverse_dynamics(model, q, v, vdot) == pytest.approx(torque, rel=1e-12)


# ---- description --------------------------------------------------------------------------------


def pattern(matrix, blocks, small):
    return np.array([[bool((np.abs(matrix[r, c]) > small).any()) for c in blocks] for r in blocks])


def test_predicted_zeros_are_those_of_the_coupled_matrices(case):
    model, tree = case.model, case.tree
    o = naive.operators(*case.listed[:2])
    nodes = [slice(6 * int(name[1:]), 6 * int(name[1:]) + 6) for name in tree.body_names]
    joints = [
        slice(0, 0) if name in model.mimics else model.v_slice(name) for name in model.joint_names
    ]
    push = np.array([case.packed(column) for column in (o.H @ o.phi).T]).T  # GᵀHφ
    inverse = np.linalg.inv(case.mass)
    predicted = sk.sparsity(model)
    # a translation that sits on slides hides them by its kind, which no tree tells
    of_tree = np.linalg.inv(case.full_mass)
    every_joint = [tree.v_slice(name) for name in tree.joint_names]
    small = case.kappa * EPS * np.abs(of_tree).max()
    hidden = (sk.sparsity(tree).mass_matrix_inverse & ~pattern(of_tree, every_joint, small)).any()
    for operator, matrix, blocks in (
        ("mass_matrix", case.mass, joints),
        ("mass_matrix_inverse", inverse, joints),
        ("Omega", push.T @ inverse @ push, nodes),
    ):
        shown = pattern(matrix, blocks, case.kappa * EPS * np.abs(matrix).max())
        assert not (shown & ~predicted.pattern(operator)).any()
        assert hidden or (shown == predicted.pattern(operator)).all()
    sizes = np.array([joint.stop - joint.start for joint in joints])
    assert predicted.entries("mass_matrix") == sizes @ predicted.mass_matrix @ sizes


def test_pictures_hashes_and_pickles_know_the_mimics():
    model, other = gripper(), gripper(multiplier=0.3)
    assert model != other
    assert model != gripper(offset=0.06)
    assert model != model.uncoupled
    assert model == gripper()
    copy = pickle.loads(pickle.dumps(model))
    assert copy == model
    q, v = start(model)
    tau = np.zeros(model.nv)
    assert (sk.forward_dynamics(copy, q, v, tau) == sk.forward_dynamics(model, q, v, tau)).all()
    assert "= -1.5 × finger1 + 0.1  mimic" in str(model)
    assert "slide: prismatic axis (1, 0, 0) = -0.3 × finger1 + 0.07" in str(model)
    plain = json.loads(json.dumps(describe(model)))
    joints = {b["joint"]["name"]: b["joint"] for b in plain["bodies"]}
    assert joints["finger2"]["mimic"] == {"joint": "finger1", "multiplier": -1.5, "offset": 0.1}
    assert joints["finger1"]["q"] == [7, 8]
    assert "mimic" not in joints["finger1"]


TOML = """
[bodies.left]
parent = "world"
joint = { type = "revolute", axis = [0, 1, 0], name = "finger1" }
mass = 1.0
inertia = [1, 1, 1]
[bodies.right]
parent = "world"
mass = 1.0
inertia = [1, 1, 1]
"""


def write(tmp_path, line):
    file = tmp_path / "hand.toml"
    file.write_text(TOML + line)
    return file


def test_a_model_file_says_whom_a_joint_mimics(tmp_path):
    line = (
        'joint = { type = "revolute", mimic = { joint = "finger1", multiplier = -2, offset = 1 } }'
    )
    model = sk.load(write(tmp_path, line))
    assert model.nv == 1
    assert model.expand_q([0.25]).tolist() == [0.25, 0.5]
    assert sk.mass_matrix(model, [0.0])[0, 0] == 5.0
    line = 'joint = { type = "revolute", mimic = { joint = "finger1" } }'
    assert sk.load(write(tmp_path, line)).expand_q([0.25]).tolist() == [0.25, 0.25]


@pytest.mark.parametrize(
    ("mimic", "words"),
    [
        ('"finger1"', "is 'finger1'; write for example mimic = { joint ="),
        ("{ multiplier = 2 }", "names no joint; write for example mimic"),
        ('{ joint = "finger1", multiplyer = 2 }', "did you mean 'multiplier'?"),
        ('{ joint = "fingr1" }', "Joint 'right': it mimics 'fingr1'"),
        ('{ joint = "finger1", multiplier = "two" }', "mimic multiplier is 'two'"),
    ],
)
def test_a_fault_in_a_model_file_has_its_line(mimic, words, tmp_path):
    file = write(tmp_path, f'joint = {{ type = "revolute", mimic = {mimic} }}')
    with pytest.raises(sk.ModelError) as refused:
        sk.load(file)
    assert f"{file}:11: " in str(refused.value)
    assert words in str(refused.value)


FAULTS = [
    ([("nobody", "a")], "Joint 'nobody': it mimics 'a', but is not a joint of the model; name"),
    ([("aa", "b")], "but is not a joint of the model; did you mean 'a'?"),
    ([("a", "bb")], "Joint 'a': it mimics 'bb', which is not a joint of the model; did you mean"),
    ([("a", 3)], "Joint 'a': it mimics 3, which is not a joint of the model; name a joint"),
    ([(None, "a")], "Joint None: it mimics 'a', but is not a joint of the model; name a joint"),
    ([("a", "a")], "Joint 'a': it mimics itself; name another joint."),
    ([("a", "b"), ("a", "c")], "Joint 'a': it mimics both 'b' and 'c'; keep one of them."),
    ([("a", "b"), ("b", "a")], "Joint 'a': it mimics itself in a cycle, a → b → a; let one of"),
    ([("c", "a"), ("a", "b"), ("b", "a")], "Joint 'a': it mimics itself in a cycle, a → b → a;"),
    ([("ball", "a")], "Joint 'ball': it is spherical and cannot mimic; both joints need one"),
    ([("a", "ball")], "Joint 'a': 'ball' is spherical and cannot be mimicked; both joints need"),
    ([("a", "weld")], "Joint 'a': 'weld' is fixed and cannot be mimicked; both joints need one"),
    ([("a", "b", 0.0)], "Joint 'a': mimic multiplier is 0, with which it would not move; make it"),
    ([("a", "b", np.nan)], "Joint 'a': mimic multiplier is nan; give a finite number."),
    ([("a", "b", 1e70)], "Joint 'a': mimic multiplier is 1e+70; give a finite number."),
    ([("a", "b", True)], "Joint 'a': mimic multiplier is True; give a finite number."),
    ([("a", "b", [1.0])], "Joint 'a': mimic multiplier is [1.0]; give a finite number."),
    ([("a", "b", 1.0, "zero")], "Joint 'a': mimic offset is 'zero'; give a finite number."),
    ([("a", "b", 1e40), ("b", "c", 1e40)], "it follows 'c' with multiplier 1e+80 and offset 0;"),
]


@pytest.mark.parametrize(("mimics", "words"), FAULTS)
def test_a_mimic_that_cannot_be_is_refused_in_a_sentence(mimics, words):
    b = parts()
    for mimic in mimics:
        b.add_mimic(*mimic)
    with pytest.raises(sk.ModelError) as refused:
        b.build()
    assert any(words in str(fault) for fault in refused.value.faults), refused.value
    assert len(refused.value.faults) == 1


def parts():
    b = sk.ModelBuilder()
    joints = {"a": sk.Revolute(), "b": sk.Prismatic(), "c": sk.Helical(pitch=0.1)}
    for name, joint in {**joints, "ball": sk.Spherical(), "weld": sk.Fixed()}.items():
        b.add_body(name, joint=joint, mass=1.0, inertia=(1, 1, 1))
    return b


def test_all_faults_come_at_once():
    b = parts()
    b.add_mimic("a", "a")
    b.add_mimic("b", "nobody", np.inf)
    b.add_body("dust", joint=sk.Revolute())
    with pytest.raises(sk.ModelError) as refused:
        b.build()
    assert len(refused.value.faults) == 4


def test_a_long_chain_of_mimics_is_followed_without_recursion():
    b = sk.ModelBuilder()
    n = 3000
    for k in range(n):
        b.add_body(f"b{k}", joint=sk.Revolute(), mass=1.0, inertia=(1, 1, 1))
    for k in range(1, n):
        b.add_mimic(f"b{k}", f"b{k - 1}", 1.0, 0.5)
    model = b.build()
    assert model.nv == 1
    assert model.mimics[f"b{n - 1}"] == sk.Mimic("b0", 1.0, 0.5 * (n - 1))


SCENARIO = """
title = "hand"
duration = 0.01
[model.bodies.left]
parent = "world"
joint = { type = "revolute", axis = [0, 1, 0], name = "finger1" }
mass = 1.0
inertia = [1, 1, 1]
[model.bodies.right]
parent = "world"
joint = { type = "revolute", name = "finger2", mimic = { joint = "finger1", offset = 0.5 } }
mass = 1.0
inertia = [1, 1, 1]
[joints.finger2]
stiffness = 2.0
[initial.q]
"""


def test_a_scenario_starts_independent_joints_and_acts_on_all(tmp_path):
    from skodyn.scenario.reader import parse_scenario

    scenario = parse_scenario(SCENARIO + '"finger*" = 0.25\n', tmp_path)
    assert scenario.q0.tolist() == [0.25]
    assert scenario.forces.joints["finger2"].stiffness == 2.0
    with pytest.raises(sk.ScenarioError, match=r":17: .*'finger2' mimics 'finger1'; give that of"):
        parse_scenario(SCENARIO + "finger2 = 0.25\n", tmp_path)
