"""The right-hand side with contacts: trees of every joint type against forward dynamics and a dense
twin, free roots with rotors, forests, contacts alone or beside other forces on bodies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import adapters
import contact_twin
import naive
import skodyn as sk
from skodyn.dynamics.contact_functions import with_ground
from skodyn.jit import JIT_DISABLED
from skodyn.simulation.elements import Forces, Servo
from skodyn.simulation.engine import Block, Engine
from skodyn.simulation.force_tables import pack_forces
from skodyn.simulation.forces import CONTACTS_ALONE
from skodyn.simulation.settings import IntegratorSettings
from skodyn.sweeps.lane_batch import LaneBatch, PackedRuns
from skodyn.sweeps.metrics import pack_metrics

EPSILON = np.finfo(float).eps
LAW = sk.Contact("*", "floor", stiffness=2e3, dissipation=0.4, friction=0.6, static_friction=0.8,
                 slip_speed=0.1, rolling_friction=0.01, torsional_friction=0.02)  # fmt: skip


FLOOR = sk.HalfSpace((0.0, 0.0, -20.0), (0.1, 0.2, 1.0))
RADIUS, DAMPING = 20.0, 0.3


def listed_tree(seed, kinds=None, rotors=0.5):
    """A random tree as the twin lists it, where its balls are, and the state of the draws."""
    rng = np.random.default_rng(seed)
    bodies = naive.random_bodies(rng, 4 + seed % 7, kinds, rotors=rotors)
    return bodies, [rng.normal(scale=0.2, size=3) for _ in bodies], rng


def tree(seed, kinds=None, rotors=0.5):
    """A random tree with a ball at each body over a slanted floor, about half of them below it."""
    bodies, centres, rng = listed_tree(seed, kinds, rotors)
    made = adapters.builder(bodies)
    for k, centre in enumerate(centres):
        made.add_collision(f"b{k}", sk.Sphere(RADIUS), translation=centre)
    model = with_ground(made.build(), [FLOOR])
    q, v = model.random_state(rng)
    return model, q, v, rng


def kinds_of(seed):
    """Free roots alone, some among others, or every joint type."""
    return ("free",) if seed % 6 == 0 else ("free", "revolute", "gimbal") if seed % 6 == 1 else None


def joints_of(model):
    """Dampers everywhere: generalised forces on each joint, free ones too."""
    return {
        name: sk.JointProperties(damping=DAMPING)
        for name, joint in zip(model.joint_names, model.joints, strict=True)
        if joint.nv
    }


def rates_of(model, forces, q, v, bristles):
    """(v̇, τ, forces on bodies) of one state."""
    engine = Engine(model, q, v, 1.0, IntegratorSettings("rk4", dt=1e-3), forces)
    y = engine.y.copy()
    y[model.nv : model.nv + bristles.size] = bristles
    block = Block(np.zeros(1, dtype=np.int64), np.zeros(1), q[None], y[None], 0)
    vdot, tau, f_ext, _ = engine.rates_and_forces(block)
    return vdot[0], tau[0], f_ext[0], engine.tables.codes, engine._rates.copy()


@pytest.mark.parametrize("seed", range(24))
def test_a_tree_that_touches_moves_as_forward_dynamics_says(seed):
    """Every joint type, rotors, forests; with contacts alone, and beside another force."""
    model, q, v, rng = tree(seed, kinds_of(seed))
    forces = Forces(joints_of(model), contacts=(LAW,))
    bristles = 0.01 * rng.normal(size=sk.contact_forces(model, [LAW], q, v).bristle_rates.size)
    vdot, tau, f_ext, codes, _ = rates_of(model, forces, q, v, bristles)
    assert codes[CONTACTS_ALONE] == 1
    met = sk.contact_forces(model, [LAW], q, v, bristles)
    np.testing.assert_allclose(f_ext[:, 3:].sum(axis=0), met.force.sum(axis=0), atol=1e-9)
    condition = np.linalg.cond(sk.mass_matrix(model, q))
    expected = sk.forward_dynamics(model, q, v, tau, f_ext)
    size = 50 * EPSILON * condition * np.abs(expected).max()
    np.testing.assert_allclose(vdot, expected, rtol=0, atol=size)
    still = sk.Wrench(model.body_names[0], force=(0.0, 0.0, 0.0))
    beside = rates_of(
        model, Forces(joints_of(model), (still,), contacts=(LAW,)), q, v, bristles
    )  # contacts as an element among others
    assert beside[3][CONTACTS_ALONE] == 0
    np.testing.assert_allclose(beside[2], f_ext, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(beside[0], vdot, rtol=0, atol=4 * size)


def twin_contacts(bodies, centres, q, v, bristles):
    """(wrenches on bodies at their origins, rates of bristles, loss) from the definitions alone."""
    given = {"k": 2e3, "c": 0.4, "p": 1, "mu": 0.6, "mu_s": 0.8, "slip_speed": 0.1, "kt": 2e3,
             "d": 4.0, "torsion": 0.02 / 0.6, "rolling": 0.01 / 0.6}  # fmt: skip
    rotations, places = naive.forward_kinematics(bodies, q)
    motions = naive.velocities(bodies, q, v)
    world = np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3)
    wrenches, rates, loss = np.zeros((len(bodies), 6)), np.zeros((len(bodies), 6)), 0.0
    for k, centre in enumerate(centres):
        body = rotations[k], places[k], motions[k, :3], motions[k, 3:]
        gap, n, x = contact_twin.ball_on_plane(body, world, centre, RADIUS, FLOOR.point,
                                               FLOOR.normal)  # fmt: skip
        met = contact_twin.law(given, gap, n, contact_twin.velocity(body, x), body[2], np.zeros(3),
                               bristles[k, :3], bristles[k, 3:])  # fmt: skip
        moment = met["moment"] + np.cross(x - places[k], met["force"])
        wrenches[k] = np.concatenate((moment, met["force"]))
        rates[k] = np.concatenate((met["s"], met["zeta"]))
        loss += met["loss"]
    return wrenches, rates, loss


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("damped", [True, False], ids=["damped", "contacts only"])
def test_a_tree_that_touches_moves_as_the_dense_twin_says(seed, damped):
    """Geometry, law, wrenches and a dense solve that share nothing with the kernels; the rates of
    bristles, of the loss and of both works, too."""
    bodies, centres, _ = listed_tree(seed, kinds_of(seed))
    model, q, v, rng = tree(seed, kinds_of(seed))
    forces = Forces(joints_of(model) if damped else {}, contacts=(LAW,))
    strains = 0.01 * rng.normal(size=(len(bodies), 6))  # by body of the list
    order = [int(name[1:].split("/")[0]) for name in sk.contact_gaps(model, [LAW], q).labels]
    vdot, tau, f_ext, codes, rates = rates_of(model, forces, q, v, strains[order].ravel())
    assert codes[CONTACTS_ALONE] == 1
    listed_q = adapters.from_packed_q(model, bodies, q)
    listed_v = adapters.from_packed_v(model, bodies, v)
    wrenches, slips, loss = twin_contacts(bodies, centres, listed_q, listed_v, strains)
    torques = -DAMPING * listed_v if damped else np.zeros(model.nv)
    force = 1.0 + np.abs(wrenches).max()
    assert np.abs(adapters.from_packed_bodies(model, f_ext) - wrenches).max() < 1e-11 * force
    np.testing.assert_allclose(adapters.from_packed_v(model, bodies, tau), torques, atol=1e-14)
    gravity, state = adapters.GRAVITY, (bodies, listed_q, listed_v)
    expected = naive.forward_dynamics(*state, torques, gravity, wrenches)
    condition = np.linalg.cond(naive.mass_matrix(bodies, listed_q))
    size = 200 * EPSILON * condition * np.abs(expected).max()
    found = adapters.from_packed_v(model, bodies, vdot)
    np.testing.assert_allclose(found, expected, rtol=0, atol=size)
    np.testing.assert_array_equal(rates[: model.nv], vdot)
    tail = rates[model.nv :]
    np.testing.assert_allclose(tail[:-3].reshape(-1, 6), slips[order], rtol=1e-10, atol=1e-10)
    power = (wrenches * naive.velocities(bodies, listed_q, listed_v)).sum()
    wanted = np.array([power, loss, power + torques @ listed_v])
    np.testing.assert_allclose(tail[-3:], wanted, rtol=1e-10, atol=1e-10 * force)


def test_some_of_these_trees_touch_and_some_balls_do_not():
    gaps = np.concatenate([sk.contact_gaps(m, [LAW], q).gap for m, q, _, _ in map(tree, range(24))])
    assert 0.2 < (gaps < 0.0).mean() < 0.8


def test_work_is_that_of_contacts_and_of_everything_else():
    """A quadruped of sorts drops with dampers and servos: energy is accounted for."""
    model, q, v, _ = tree(1, ("free", "revolute", "gimbal"), rotors=0.0)
    joint = next(n for n, j in zip(model.joint_names, model.joints, strict=True) if j.nv == 1)
    law = sk.Contact("*", "floor", stiffness=500.0, friction=0.6)
    run = sk.simulate(model, q, 0.2 * v, duration=0.2, integrator="dormand_prince", rtol=1e-10,
                      atol=1e-12, joints=joints_of(model), contacts=[law],
                      elements=[Servo(joint, kp=5.0, kd=0.1)])  # fmt: skip
    assert abs(run.summary["energy_imbalance"]) < 1e-8
    assert abs(run.summary["contact_imbalance"]) < 1e-8
    assert run.summary["contact_loss"] > 0.0


def test_a_free_body_that_nothing_keeps_from_turning_is_named():
    b = sk.ModelBuilder()
    b.add_body("rod", joint=sk.Free(), mass=1.0, com=(0.0, 0.0, 1.0), inertia=(0.1, 0.1, 0.0))
    b.add_collision("rod", sk.Sphere(0.1))
    model, law = b.build(), sk.Contact("rod", "floor", stiffness=100.0)
    run = sk.simulate(model, [1, 0, 0, 0, 0, 0, 0.2], np.zeros(6), duration=1e-2, dt=1e-3,
                      contacts=[law], ground=[sk.HalfSpace()])  # fmt: skip
    assert run.status == "failed"
    assert "'rod'" in run.message


@pytest.mark.skipif(JIT_DISABLED, reason="plain Python has one width")
def test_rotors_of_one_run_change_no_bit_of_its_neighbours():
    """A free root with a rotor beside some without, in one register."""
    rng, count, steps = np.random.default_rng(4), 11, 50
    models = []
    for i in range(count):
        b = sk.ModelBuilder()
        b.add_body("ball", joint=sk.Free(armature=0.3 if i % 3 == 1 else 0.0), mass=1.0,
                   inertia=(0.01, 0.02, 0.03))  # fmt: skip
        b.add_collision("ball", sk.Sphere(0.1))
        models.append(with_ground(b.build(), [sk.HalfSpace()]))
    law = sk.Contact("ball", "floor", stiffness=1e4, dissipation=0.5, friction=0.4)
    forces = Forces(contacts=(law,))
    tables = pack_forces(models[0], forces)
    q = np.tile([1.0, 0, 0, 0, 0, 0, 0.1], (count, 1))
    v = rng.normal(size=(count, 6)) * (np.arange(6) != 2)
    settings = IntegratorSettings("rk4", dt=5e-4)
    runs = PackedRuns(
        models[0].kernel_tree, tables.codes, np.stack([m.parameters for m in models]),
        np.tile(tables.numbers, (count, 1)), q, v, tables.n_integrals, 1, settings, steps, steps,
        tables.parts,
    )  # fmt: skip
    found = LaneBatch(runs, pack_metrics({}, models[0], Path())).run()
    for i, model in enumerate(models):
        engine = Engine(model, q[i], v[i], steps * 5e-4, settings, forces)
        while not engine.finished:
            engine.advance(1000)
        assert found.q[i].tobytes() == engine.q.tobytes()
        assert found.v[i].tobytes() == engine.v.tobytes()
