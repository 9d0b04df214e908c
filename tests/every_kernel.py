"""A program for test_without_jit.py: runs every kernel as plain Python and names those it missed.

Plain Python looks at the bounds of arrays, which pointers do not. A kernel that is new fails here
until something below calls it.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from skodyn.jit import JIT_DISABLED, functions

CALLS: Counter[str] = Counter()
_made = functions.PlainKernel.__init__


def _counting(self, function, signature):
    """A kernel that notes each of its calls; also what others reach by its address."""
    _made(self, function, signature)
    ready, name = self.ready, f"{function.__module__}:{function.__qualname__}"
    CALLS[name] += 0

    def call(*given):
        CALLS[name] += 1
        return ready(*given)

    self.ready = self.address = call


functions.PlainKernel.__init__ = _counting  # before any kernel is imported

import adapters  # noqa: E402
import flexible_models  # noqa: E402
import loop_references  # noqa: E402
import naive  # noqa: E402
import skodyn as sk  # noqa: E402
import test_bits  # noqa: E402
import test_contact_geometry  # noqa: E402
import test_contact_scenarios  # noqa: E402
import test_driven_loops  # noqa: E402
import test_fixman  # noqa: E402
import test_flexible_sweep  # noqa: E402
import test_implicit_contact  # noqa: E402
import test_implicit_loops  # noqa: E402
import test_mimic  # noqa: E402
import test_motions_of_joints  # noqa: E402
import test_sweep_lanes  # noqa: E402
from skodyn import estimation  # noqa: E402
from skodyn.algebra.block_algebra import identity_blocks  # noqa: E402
from skodyn.algebra.identities import check_identities  # noqa: E402
from skodyn.dynamics import contact_functions, driver, joint_columns  # noqa: E402
from skodyn.dynamics.hybrid import BOTH  # noqa: E402
from skodyn.dynamics.inertias import INERTIAS  # noqa: E402
from skodyn.jit.build import all_kernels  # noqa: E402
from skodyn.kernels import body_inertias as inertia_rows  # noqa: E402
from skodyn.model.contact.contact_tables import pack_contacts  # noqa: E402
from skodyn.model.prescription import find_prescription  # noqa: E402
from skodyn.scenario import parse_scenario  # noqa: E402
from skodyn.simulation.elements import FixmanForce, JointProperties, Servo  # noqa: E402
from skodyn.simulation.engine import Engine  # noqa: E402
from skodyn.simulation.settings import IntegratorSettings  # noqa: E402
from skodyn.sweeps.lane_batch import LaneBatch  # noqa: E402
from skodyn.view.drawing import Painter  # noqa: E402
from skodyn.view.recording import still  # noqa: E402

SCENARIOS = Path(__file__).parent.parent / "scenarios"


def tree():
    """Five bodies with joints of several kinds."""
    return adapters.build(naive.random_bodies(np.random.default_rng(1), 5, branching=0.5))


def moving_joint(model):
    return next(n for n, j in zip(model.joint_names, model.joints, strict=True) if j.nv)


def hybrid_in_one_call(model, q):
    """The way that arrays go where there is a compiler."""
    chosen = find_prescription(model, [moving_joint(model)])
    none, out = np.zeros(model.nv), np.empty((2, model.nv))
    assert BOTH.ready(driver.first_block(chosen.model), q, none, none, none, np.zeros(0), out) == 0


def front_door(model):
    """Every function for one state and for a batch, and every stepper."""
    rng, chosen = np.random.default_rng(2), driver.Algorithm.goes_one_by_one
    for count, one_by_one in ((1, True), (2, False)):
        driver.Algorithm.goes_one_by_one = lambda *_, answer=one_by_one: answer
        for name, given in test_bits.functions(model, rng, count):
            getattr(sk, name)(model, *given)
        q = np.array([model.random_state(rng)[0] for _ in range(count)])
        at = q[0] if count == 1 else q
        if not model.mimics:
            size = inertia_rows.ROW * model.n_bodies + 6 * model.nv
            driver.run(INERTIAS, model, (size,), at)
            joint_columns(model, at)
            sk.sample_velocity(model, at, 1.0, rng)
            rates = np.zeros((count, model.nv)) if count > 1 else np.zeros(model.nv)
            sk.hybrid_dynamics(model, at, rates, prescribed=[moving_joint(model)])
            hybrid_in_one_call(model, q[0])
            sk.cut(model, model.joint_names[2:4]).forward_dynamics(
                q[0], np.zeros(model.nv), np.zeros(model.nv)
            )
            sk.diagonal_velocity(model, at, rates)
            sk.force_from_diagonal(model, at, sk.diagonal_force(model, at, rates))
            sk.diagonal_dynamics(model, at, rates, rates)
        frames = [model.body_names[-1], "world"]
        sk.frame_poses(model, at, frames)
        sk.frame_velocities(model, at, np.zeros((*at.shape[:-1], model.nv)), frames)
        model.difference(q, model.integrate(q, np.ones((count, model.nv))))
    driver.Algorithm.goes_one_by_one = chosen
    list(test_bits.runs(model))


def side_by_side():
    """Runs in lanes by every method, with forces and metrics; adaptive ones one by one."""
    for method, make in test_sweep_lanes.CASES:
        runs = test_sweep_lanes.packed(2, method, make=make)
        LaneBatch(runs, test_sweep_lanes.metrics(make)).run()
    adaptive = """
        duration = 0.02
        [model]
        file = "models/double_pendulum.toml"
        [integrator]
        method = "dormand_prince"
        [output]
        interval = 0.01
    """
    with tempfile.TemporaryDirectory() as folder:
        sk.sweep(
            parse_scenario(adaptive, SCENARIOS), {"bodies.upper.mass": [1.0, 2.0]},
            metrics={"swing": {"of": "q.elbow", "kind": "max"}},
            out=Path(folder) / "sweep.h5", engine="in-process",
        )  # fmt: skip


def loops():
    """Short loops, couplings and a long ring, by every function and method."""
    chosen = driver.Algorithm.goes_one_by_one
    for given in (
        loop_references.reference("07_rssr"),
        loop_references.reference("13_coupled_pendulums"),
        loop_references.n_four_bar(2),
        loop_references.ring(40),
    ):
        model = given.model
        q, v, tau = given.state(model)
        for count, one_by_one in ((1, True), (2, False)):
            driver.Algorithm.goes_one_by_one = lambda *_, answer=one_by_one: answer
            at, rates, torques = (x if count == 1 else np.stack([x, x]) for x in (q, v, tau))
            sk.forward_dynamics(model, at, rates, torques)
            sk.mass_matrix_solve(model, at, torques)
            sk.loop_error(model, at)
            sk.loop_rate(model, at, rates)
            sk.loop_jacobian(model, at)
            sk.loop_basis(model, at)
        driver.Algorithm.goes_one_by_one = chosen
    model = loop_references.reference("07_rssr").model
    q, v, _ = loop_references.reference("07_rssr").state(model)
    for method in ("rk4", "implicit_midpoint", "semi_implicit_euler", "dormand_prince"):
        sk.simulate(model, q, v, duration=0.004, dt=2e-3, integrator=method)
    sprung = dict.fromkeys(model.joint_names[:1], JointProperties(damping=0.1))
    sk.simulate(
        model, q, v, duration=0.004, dt=2e-3, integrator="implicit_midpoint", joints=sprung,
        implicit_springs=True,
    )  # fmt: skip


def bending():
    """Flexible bodies, by every function and method."""
    chosen = driver.Algorithm.goes_one_by_one
    model, _ = flexible_models.random_system(0, bodies=4)
    q, v = model.random_state(np.random.default_rng(7))
    for count, one_by_one in ((1, True), (2, False)):
        driver.Algorithm.goes_one_by_one = lambda *_, answer=one_by_one: answer
        at, rates = (x if count == 1 else np.stack([x, x]) for x in (q, v))
        push = np.ones((*at.shape[:-1], model.n_bodies, 6))
        for given in (None, push):
            sk.forward_dynamics(model, at, rates, rates, given)
            sk.inverse_dynamics(model, at, rates, rates, given)
        sk.bias_force(model, at, rates)
        sk.gravity_force(model, at)
        sk.mass_matrix(model, at)
        sk.mass_matrix_solve(model, at, rates)
        sk.forward_kinematics(model, at)
        sk.velocities(model, at, rates)
        sk.jacobian(model, at, model.body_names[-1])
        sk.energy(model, at, rates)
    driver.Algorithm.goes_one_by_one = chosen
    model, _ = flexible_models.random_system(0, bodies=4)  # with no workspace of batches
    servo = Servo(moving_joint(model), kp=1.0, kd=0.1, gravity_compensation=True)
    push = sk.Wrench(model.body_names[-1], force=(1.0, 0, 0))
    for springs in (False, True):
        sk.simulate(
            model, q, v, duration=0.002, dt=1e-3, integrator="implicit_midpoint",
            elements=[push], implicit_springs=springs,
        )  # fmt: skip
    sk.simulate(model, q, v, duration=0.002, dt=1e-3, elements=[servo])
    body = next(iter(model.flexible))
    node = next(iter(model.flexible[body].nodes))
    at_nodes = [
        sk.Wrench(body, node=node, force=(1.0, 0, 0)),
        sk.PointSpring(body, "world", node_a=node, stiffness=1.0, damping=0.1),
    ]
    sk.simulate(model, q, v, duration=0.002, dt=1e-3, elements=at_nodes)
    text = test_flexible_sweep.TEXT.replace("METHOD", "rk4").replace("0.03", "0.002")
    with tempfile.TemporaryDirectory() as folder:
        sk.sweep(parse_scenario(text, SCENARIOS), {"bodies.boom.flexible.damping": [0.0, 0.1]},
                 metrics=test_flexible_sweep.METRICS, out=Path(folder) / "sweep.h5",
                 engine="in-process")  # fmt: skip
    bending_in_loops()
    pendulum = sk.examples.pendulum(1)
    sprung = dict.fromkeys(pendulum.joint_names, sk.JointProperties(stiffness=5.0))
    sk.simulate(
        pendulum, [0.1], [0.0], duration=0.002, integrator="implicit_midpoint", joints=sprung,
        implicit_springs=True,
    )  # fmt: skip


def bending_in_loops():
    """Flexible bodies in closed loops, by every function and method."""
    chosen = driver.Algorithm.goes_one_by_one
    scenario = sk.read_scenario(SCENARIOS / "flexible_slider_crank.toml")
    model, q, v = scenario.model, scenario.q0, scenario.v0
    for count, one_by_one in ((1, True), (2, False)):
        driver.Algorithm.goes_one_by_one = lambda *_, answer=one_by_one: answer
        at, rates = (x if count == 1 else np.stack([x, x]) for x in (q, v))
        sk.forward_dynamics(model, at, rates, rates)
        sk.mass_matrix_solve(model, at, rates)
        sk.loop_error(model, at)
        sk.loop_rate(model, at, rates)
        sk.loop_jacobian(model, at)
        sk.loop_basis(model, at)
    driver.Algorithm.goes_one_by_one = chosen
    model = sk.read_scenario(scenario.path).model  # with no workspace of batches
    for method in ("rk4", "semi_implicit_euler", "dormand_prince"):
        sk.simulate(model, q, v, duration=4e-5, dt=2e-5, integrator=method)
    with tempfile.TemporaryDirectory() as folder:
        sk.sweep(scenario.path, {"bodies.piston.mass": [0.05, 0.1], "duration": [5e-4]},
                 out=Path(folder) / "sweep.h5", engine="in-process")  # fmt: skip


def contacts():
    """Every pair of shapes, at both widths' entry points."""
    rng = np.random.default_rng(5)
    law = {"stiffness": 1e3, "friction": 0.5, "rolling_friction": 0.01, "torsional_friction": 0.01}
    for first, second in test_contact_geometry.PAIRS:
        model = test_contact_geometry.scene(rng, first, second)
        q, v = model.random_state(rng)
        q[4:7] = 0.0
        sk.contact_forces(model, [sk.Contact("a2", "b2", **law)], q, v)
        tables = pack_contacts(model, [sk.Contact("a2", "b2", **law)])
        contact_functions.evaluate_contacts(
            model, tables, q[None], v[None], np.zeros((1, tables.n_bristles)), wide=True
        )
    ball = sk.ModelBuilder()
    ball.add_body("ball", joint=sk.Free(), mass=1.0, inertia=(1, 1, 1))
    ball.add_collision("ball", sk.Sphere(0.1))
    for method in ("rk4", "implicit_contact"):
        sk.simulate(ball.build(), [1, 0, 0, 0, 0, 0, 0.0999], np.ones(6), duration=2e-3, dt=1e-3,
                    integrator=method, ground=[sk.HalfSpace()],
                    contacts=[sk.Contact("ball", "floor", **law)])  # fmt: skip
    named = {"push": {"of": "contact.ball/floor.slip", "kind": "max"}}
    place = {"place": {"of": "position.top.x", "kind": "max"}}
    short = test_contact_scenarios.BALL.replace("duration = 0.3", "duration = 0.002")
    short = short.replace("[model]\n", '[model]\nframes.top = { body = "ball" }\n')
    beside = short + '[forces.push]\ntype = "wrench"\nbody = "ball"\nforce = [0, 0, 1]\n'
    grid = {"contacts.skin.friction": [0.1, 0.2]}
    sk.simulate(ball.build(), [1, 0, 0, 0, 0, 0, 0.0999], np.ones(6), duration=2e-3, dt=1e-3,
                ground=[sk.HalfSpace()], contacts=[sk.Contact("ball", "floor", **law)],
                elements=[sk.Wrench("ball", force=(0.0, 0.0, 1.0))])  # fmt: skip
    for metrics, text in ((named, short), (place, beside)):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "sweep.h5"
            sk.sweep(parse_scenario(text, SCENARIOS), grid, metrics=metrics, out=out,
                     engine="in-process")  # fmt: skip


def forces_of_all_kinds():
    chain, *_ = test_fixman.rigid_chain(3)
    joint = next(n for n, j in zip(chain.joint_names, chain.joints, strict=True) if j.nv == 1)
    q, v = chain.random_state(np.random.default_rng(3))
    servo = Servo(joint, kp=1.0, kd=0.1, gravity_compensation=True)
    moving = sk.TrackingServo(joint, kp=1.0, amplitude=0.1, frequency=1.0)
    slow = [Servo(joint, 1.0, 0.1, 0.5, target=9.0, speed_limit=0.1, sample_time=x)
            for x in (0.0, 1e-3)]  # fmt: skip
    sk.simulate(
        chain, q, 0.1 * v, duration=0.003, dt=1e-3,
        elements=(servo, moving, *slow, FixmanForce(1.0)),
        channels=["energy", "tau"],
    )  # fmt: skip


def driven_joints():
    """Prescribed motions, one by one and side by side."""
    model = sk.load(SCENARIOS / "models" / "double_pendulum.toml")
    motions = [sk.SineMotion("shoulder", 0.1, 1.0)]
    start = {"q0": [0.0, 0.1], "v0": [0.2 * np.pi, 0.0]}
    sk.simulate(model, **start, duration=0.003, motions=motions, channels=["drive"])
    for model, motions in (
        (test_motions_of_joints.ship(), test_motions_of_joints.MOTIONS),
        (test_motions_of_joints.hand(), test_motions_of_joints.BESIDE["several"]),
    ):
        q, v = test_motions_of_joints.start(model, motions)
        sk.simulate(model, q, v, duration=0.003, motions=motions, channels=["drive"])
    looped, q, v, motions = test_driven_loops.driven_four_bar()
    for method in ("rk4", "implicit_midpoint"):
        sk.simulate(looped, q, v, duration=0.003, integrator=method, motions=motions)
    sweep = """
        duration = 0.003
        [model]
        file = "models/double_pendulum.toml"
        [motions.swing]
        type = "sine"
        joint = "shoulder"
        amplitude = 0.1
        frequency = 1.0
    """
    with tempfile.TemporaryDirectory() as folder:
        sk.sweep(
            parse_scenario(sweep, SCENARIOS), {"motions.swing.amplitude": [0.1, 0.2]},
            metrics={"far": {"of": "q.elbow", "kind": "final"}},
            out=Path(folder) / "sweep.h5", engine="in-process",
        )  # fmt: skip


def implicit_steps():
    """implicit_contact with loops, with driven joints and with joints that follow others."""
    for scene in (
        test_implicit_loops.LoopScene(0, 3), test_implicit_loops.LoopScene(3, 3),
        test_implicit_loops.long_ring(3), test_implicit_contact.DrivenScene(302, pairs=2),
        test_implicit_contact.FollowingScene(402, pairs=2),
    ):  # fmt: skip
        bristles = test_implicit_contact.random_bristles(scene)
        test_implicit_contact.run_of(scene, bristles)[0].advance(1)
    model, motions = test_motions_of_joints.ship(), test_motions_of_joints.MOTIONS
    q, v = test_motions_of_joints.start(model, motions)
    sk.simulate(
        model, q, v, duration=0.002, dt=1e-3, motions=motions, integrator="implicit_contact"
    )
    hand = test_mimic.gripper()
    Engine(
        hand, *test_mimic.start(hand), 1e-3, IntegratorSettings("implicit_contact", dt=1e-3),
        test_mimic.FORCES,
    ).advance(1)  # fmt: skip


def chains():
    """Fixman's method, for bodies, for beads and for masses lumped at joints."""
    kinds = (
        test_fixman.rigid_chain(4),
        test_fixman.bead_chain(5),
        test_fixman.lumped_chain(4, 1, 0.5),
    )
    for model, *_ in kinds:
        q = model.random_state(np.random.default_rng(4))[0]
        sk.fixman.mass_matrix_logdet(model, q)
        sk.fixman.mass_matrix_solve(model, q, np.ones(model.nv))


def algebra(model):
    """The papers' identities, and the general forms of the recursions."""
    q, v = model.random_state(np.random.default_rng(5))
    check_identities(sk.operators(model, q, v), 5)
    general = sk.sko_model(model, q, v)
    ones = np.ones(model.nv)
    sk.sko.forward_dynamics(general, ones)
    sk.sko.inverse_dynamics(general, ones)
    solution = sk.sko.riccati(general)
    for turned in (False, True):
        sk.sko.innovations(general, solution, ones, transpose=turned)
        sk.sko.innovations_inverse(general, solution, ones, transpose=turned)
    sk.sko.log_determinant(general)
    tree, weights = general.tree, general.weights
    inward = sk.sko.forward_lyapunov(tree, weights, general.M)
    sk.sko.forward_element(tree, weights, inward, tree.names[0], tree.names[-1])
    outward = sk.sko.backward_lyapunov(tree, weights, general.M)
    sk.sko.backward_element(tree, weights, outward, tree.names[0], tree.names[-1])
    identity_blocks(general.M.rows)
    sk.sko.mass_matrix_solve(general, ones)
    estimation.smooth(general, np.ones(model.nv))
    estimation.sample(general, 2, np.random.default_rng(6))
    estimation.output_covariance(general)


def picture(model):
    Painter(still(model), (32, 24)).frame(0.0)


def missed() -> list[str]:
    assert JIT_DISABLED
    np.seterr(all="ignore")
    all_kernels()
    small = tree()
    front_door(small)
    front_door(test_mimic.gripper())
    side_by_side()
    loops()
    bending()
    contacts()
    forces_of_all_kinds()
    driven_joints()
    implicit_steps()
    chains()
    algebra(small)
    picture(small)
    ours = {name: calls for name, calls in CALLS.items() if name.startswith("skodyn.")}
    # what laws of users call is compiled with them; test_control_laws.py compares it with sk's
    laws = (
        "skodyn.simulation.control.control_calls:",
        "skodyn.simulation.control.control_dynamics:",
    )
    return sorted(name for name, calls in ours.items() if not calls and not name.startswith(laws))


if __name__ == "__main__":
    print(*missed(), sep="\n")
