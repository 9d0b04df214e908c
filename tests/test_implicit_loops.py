"""implicit_contact in models with loops and couplings: against the dense twin, and runs."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import implicit_contact_twin as twin
import loop_mechanisms
import naive
import naive_loops
import skodyn as sk
from loop_references import ring
from skodyn.dynamics.contact_functions import with_ground
from skodyn.jit import JIT_DISABLED
from skodyn.model.layout import LOOPS
from skodyn.model.loops.loop_layout import (
    DOF_CELLS,
    DOF_LINEAR,
    DOF_PLACE,
    DOFS,
    DOFS_AT,
    GROUP_RECORD,
    GROUPS,
    GROUPS_AT,
    LENGTH_PARAMETER,
    MODE,
    RANGE_SPACE,
)
from skodyn.scenario import parse_scenario
from skodyn.scenario.running import run_scenario
from skodyn.simulation.elements import Forces
from skodyn.simulation.engine import Engine
from skodyn.simulation.force_tables import pack_forces
from skodyn.simulation.settings import IntegratorSettings
from skodyn.sweeps.lane_batch import LaneBatch, PackedRuns
from skodyn.sweeps.metrics import pack_metrics
from test_implicit_contact import (
    Scene,
    compare_ends,
    free_joints,
    of_axes_that_stay,
    random_bristles,
    run_of,
    solve,
)
from test_loop_crossings import FLOOR, parallelogram

SMALL = 1e-9


# ---- one step -----------------------------------------------------------------------------------


class LoopScene(Scene):
    """A random mechanism (tests/loop_mechanisms.py) whose bodies carry balls near a floor."""

    def __init__(self, seed, pairs=0, case=None):
        case = loop_mechanisms.Case(seed) if case is None else case
        self.case, self.rng = case, np.random.default_rng([21, seed])
        self.h = float(self.rng.choice([1e-3, 3e-3]))
        self.bodies, self.q, self.v = case.bodies, case.q, case.v
        self.gravity = case.gravity
        made = case.builder()
        self.add_balls(made, range(0, len(self.bodies), 2), pairs)
        self.finish(made)

    @staticmethod
    def joint_name(k):
        return f"j{k}"

    def packed(self):
        return self.case.state(self.model)[:2]

    def held(self):
        """G, and Ġv for velocities along axes that stay."""
        G = naive_loops.jacobian(self.case.twin, self.q)
        bent = naive_loops.gamma(self.case.twin, self.q, self.v)
        return G, bent + G @ of_axes_that_stay(self)

    def kappa(self):
        """How much rounding may grow."""
        parts = naive_loops.decompose(naive_loops.jacobian(self.case.twin, self.q))
        mass = parts.X.T @ naive.mass_matrix(self.bodies, self.q) @ parts.X
        solved = np.linalg.cond(mass) if len(mass) else 1.0
        return solved * (parts.sigma[0] / parts.sigma[parts.rank - 1])

    def groups(self):
        tree = self.model.kernel_tree
        at = tree[LOOPS]
        return [tree[at + GROUPS_AT] + g * GROUP_RECORD for g in range(tree[at + GROUPS])]

    def scales(self):
        """What a velocity is counted in when the nearest closed state is sought, list order."""
        tree, packed = self.model.kernel_tree, np.ones(len(self.v))
        for group in self.groups():
            cells = tree[group + DOFS_AT] + DOF_CELLS * np.arange(tree[group + DOFS])
            long = cells[tree[cells + DOF_LINEAR] > 0]
            packed[tree[long + DOF_PLACE]] = self.model.parameters[tree[group + LENGTH_PARAMETER]]
        listed = np.empty_like(packed)
        listed[self.case.packed_v(self.model, np.arange(len(self.v)))] = packed
        return listed

    def moved(self, v):
        """q and v of the end, before loops are closed once more."""
        q, v = naive.integrate(self.bodies, self.q, self.h * v), v.copy()
        for s, at in zip(self.slices, naive.offsets(self.bodies)[0], strict=True):
            if s in free_joints(self):
                way = naive.quaternion_matrix(self.q[at][:4]) @ v[s][3:]
                q[at.start + 4 : at.stop] = self.q[at][4:] + self.h * way
                v[s.start + 3 : s.stop] = naive.quaternion_matrix(q[at][:4]).T @ way
        return q, v

    def closed(self, q, v):
        """The nearest state whose loops are closed; a factor serves four steps."""
        S, mechanism = self.scales(), self.case.twin
        for step in range(12):
            if step % 4 == 0:
                inverse = naive_loops.decompose(naive_loops.jacobian(mechanism, q) * S).pinv
            q = naive.integrate(self.bodies, q, -S * (inverse @ naive_loops.residual(mechanism, q)))
        G = naive_loops.jacobian(mechanism, q)
        return q, v - S * (naive_loops.decompose(G * S).pinv @ (G @ v))


def compare(scene):
    bristles = random_bristles(scene)
    points = scene.points(bristles)
    v, limits, _ = solve(scene, points, scene.held())
    run, places = run_of(scene, bristles, tolerance=1e-12)
    assert run.advance(1).status == 0
    q, end = scene.closed(*scene.moved(v))
    scale = (np.abs(v).max() + 1.0) * scene.kappa()
    found_q, found_v = scene.case.packed_q(scene.model, q), scene.case.packed_v(scene.model, end)
    assert np.abs(run.v - found_v).max() < 1e-12 * scale + SMALL
    assert np.abs(run.q - found_q).max() < 1e-12 * scale + SMALL
    compare_ends(run, places, twin.ends(points, limits, v, scene.h), scale)


@pytest.mark.parametrize("seed", range(36))
def test_a_step_is_that_of_the_twin(seed):
    """Loops of every joint, couplings, long loops, nested ones; springs, stops, servos, contacts
    of every law."""
    compare(LoopScene(seed))


def long_ring(pairs):
    """A loop so long that its rows hold after the tree has yielded (loop_range.py), on a
    cart that feels it."""
    given = ring(40)
    slide = {"kind": "prismatic", "axis": np.array([1.0, 0, 0])}
    given.bodies.append({**given.bodies[0], "joint": slide, "mass": 0.3})
    given.bodies[0]["parent"] = given.loops[0]["b"] = 40
    given.q, given.v = np.append(given.q, 0.1), np.append(given.v, 0.3)
    for k, body in enumerate(given.bodies):
        body["name"], body["joint_name"] = f"b{k}", f"j{k}"
    return LoopScene(pairs, pairs, given)


@pytest.mark.parametrize("pairs", [0, 3])
def test_long_loops_are_those_of_the_twin(pairs):
    scene = long_ring(pairs)
    assert {int(scene.model.kernel_tree[g + MODE]) for g in scene.groups()} == {RANGE_SPACE}
    compare(scene)


@pytest.mark.parametrize("seed", range(12))
def test_contacts_between_two_bodies_are_those_of_the_twin(seed):
    compare(LoopScene(seed, pairs=1 + seed % 4))


def test_contacts_of_the_mechanisms_touch():
    """So that what is compared is there: forces on members of groups, and points that are apart."""
    scenes = [LoopScene(seed) for seed in range(12)]
    deep = [p.gap < 0 for s in scenes for p in s.points(random_bristles(s))]
    assert 0.3 < np.mean(deep) < 0.9


# ---- runs ---------------------------------------------------------------------------------------


def four_bars(friction=0.4):
    """(model with floor, contact): a parallelogram whose bar carries a ball."""
    model, contact = parallelogram(friction)
    return with_ground(model, FLOOR), contact


def test_it_converges_to_the_compliant_law_by_order_one():
    model, contact = four_bars()
    q = [-0.5, 0.5, -0.5]

    def last(method, dt):
        run = sk.simulate(model, q, [0.0] * 3, duration=0.6, dt=dt, integrator=method,
                          contacts=[contact], every=round(0.6 / dt))  # fmt: skip
        assert run.status == "finished", run.message
        return run.q[-1, 0]

    exact = last("rk4", 5e-5)
    errors = [abs(last("implicit_contact", dt) - exact) for dt in (4e-4, 2e-4, 1e-4)]
    assert all(1.6 < a / b < 2.5 for a, b in pairwise(errors)), errors


@pytest.mark.skipif(JIT_DISABLED, reason="a run of thousands of steps")
def test_a_parallel_gripper_lifts_a_ball_and_holds_it_without_creep():
    """The scenario, and ten seconds more."""
    file = Path(__file__).parent.parent / "scenarios" / "parallel_gripper.toml"
    text = file.read_text().replace("duration = 4.0", "duration = 14.0")
    run = run_scenario(parse_scenario(text, file.parent), None)
    assert run.status == "finished"
    assert run.summary["warnings"] == []
    assert run.summary["loop_error_max"] < 1e-13
    ball = run.trajectory.joint("ball")
    settled = ball[run.t >= 4.0]
    assert settled[0, 6] > 0.22  # lifted by 0.2 m
    assert np.abs(settled - settled[0]).max() <= 1e-8
    assert np.sqrt(np.mean(run.v[run.t >= 4.0] ** 2)) <= 1e-8


@pytest.mark.skipif(JIT_DISABLED, reason="a run of hundreds of steps")
def test_a_long_ring_falls_onto_a_floor_and_stays_closed():
    """Forty links: its rows are made to hold afterwards (loop_range.py), with points that touch."""
    given = ring(40)
    made = given.builder()
    for body in given.bodies[5:36:5]:
        made.add_collision(body["name"], sk.Sphere(0.03))
    model = with_ground(made.build(), [sk.HalfSpace(point=(0, -0.05, 0), normal=(0, 1, 0))])
    q, v, _ = given.state(model)
    law = sk.Contact("*", "floor", stiffness=2e4, dissipation=1.0, friction=0.4)
    damped = {name: sk.JointProperties(damping=0.02) for name in model.joint_names}
    run = sk.simulate(model, q, v, duration=0.3, dt=1e-3, integrator="implicit_contact",
                      contacts=[law], joints=damped, every=5)  # fmt: skip
    assert run.status == "finished", run.message
    assert run.summary["contact_loss"] > 0.01
    assert run.summary["loop_error_max"] < 1e-12


@pytest.mark.skipif(JIT_DISABLED, reason="lanes need the compiler")
def test_runs_side_by_side_have_the_bits_they_have_alone():
    """Contacts open and closed in one register, in any order; and chunks do not matter."""
    model, contact = four_bars(0.3)
    forces, rng, runs, steps = Forces(contacts=(contact,)), np.random.default_rng(2), 11, 150
    tables, settings = pack_forces(model, forces), IntegratorSettings("implicit_contact", dt=4e-3)
    angle = rng.uniform(-0.7, -0.2, (runs, 1))
    q, v = angle * [1, -1, 1], rng.normal(size=(runs, 1)) * [1, -1, 1]
    numbers = np.tile(tables.numbers, (runs, 1))
    numbers[:, tables.numbers == 0.3] *= rng.uniform(0.1, 3.0, (runs, 1))
    found = []
    for order in (np.arange(runs), rng.permutation(runs)):
        packed = PackedRuns(
            model.kernel_tree, tables.codes, np.tile(model.parameters, (runs, 1)), numbers[order],
            q[order], v[order], tables.n_integrals, model.n_bodies, settings, steps, steps,
            tables.parts,
        )  # fmt: skip
        batch = LaneBatch(packed, pack_metrics({}, model, Path()))
        batch.run()
        assert (batch.status == 0).all()
        found.append((batch.out_q[np.argsort(order)], batch.out_v[np.argsort(order)]))
    assert np.array_equal(found[0], found[1])
    for i in range(0, runs, 3):
        alone = Engine(model, q[i], v[i], steps * 4e-3, settings, forces, every=steps)
        alone._system.numbers[:] = numbers[i]
        while not alone.finished:
            assert alone.advance(1 if i else steps).status == 0
        assert np.array_equal(alone.q, found[0][0][i])
        assert np.array_equal(alone.v, found[0][1][i])
