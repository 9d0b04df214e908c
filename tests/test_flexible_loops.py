"""Loops between bodies of which some bend: against particles, segments and a published solution."""

from __future__ import annotations

import signal

import numpy as np
import pytest

import flexible_models
import naive_loops
import skodyn as sk
from flexible_twin import derivative
from skodyn.dynamics.flexible_algorithms import BENT_LOOP_GAPS, BENT_LOOPED_FORWARD
from skodyn.jit import JIT_DISABLED
from skodyn.model.flexible.modal_body import FlexibleBody, FlexibleNode
from skodyn.simulation import loop
from skodyn.sweeps import lane_batch
from test_flexible_crossings import public_functions

CLOSING = {
    "spherical": sk.Spherical(), "revolute": sk.Revolute(axis=(0.6, 0.0, 0.8)),
    "universal": sk.Universal(), "fixed": sk.Fixed(), "prismatic": sk.Prismatic(axis=(0, 1, 0)),
    "cylindrical": sk.Cylindrical(axis=(1, 0, 0)), "helical": sk.Helical(axis=(0, 0, 1), pitch=0.4),
    "planar": sk.Planar(), "translation": sk.Translation(), "rod": sk.Rod(1.5),
}  # fmt: skip


BODIES = 4
SMALL = 0.05
"""Of circles in the complex plane: none comes near where the length of a rod has a branch."""

# ---- particles -----------------------------------------------------------------------------------


def naive_joint(joint):
    """The closing joint as naive_loops.py has it."""
    known = {"kind": joint.type_name}
    for key in ("axis", "axis1", "axis2", "x_axis", "y_axis", "pitch", "length"):
        if hasattr(joint, key):
            known[key] = getattr(joint, key)
    return known


class Closed:
    """A random system with a loop that is closed at its state q, and particles that know it."""

    def __init__(self, seed, kind):
        rng = np.random.default_rng([seed, 77])
        open_tree, twin = flexible_models.random_system(seed, BODIES)
        q, v = open_tree.random_state(rng)
        poses = twin.poses(q, np.zeros(twin.nv))
        a = b = -1
        while not self.can_move(open_tree, a, b):
            a, b = (int(k) for k in rng.choice(open_tree.n_bodies, 2, replace=False))
            b = -1 if seed % 4 == 3 else b
        frame = flexible_models.random_rotation(rng), rng.normal(size=3)
        axes, place = poses[a][0] @ frame[0], poses[a][1] + poses[a][0] @ frame[1]
        if kind == "rod":
            place = place + 1.5 * flexible_models.random_rotation(rng)[0]
        turn, origin = (np.eye(3), np.zeros(3)) if b < 0 else poses[b][:2]
        other = turn.T @ axes, turn.T @ (place - origin)
        names = open_tree.body_names
        loop = {
            "body_a": names[a], "body_b": "world" if b < 0 else names[b], "joint": CLOSING[kind],
            "rotation_a": frame[0], "translation_a": frame[1],
            "rotation_b": other[0], "translation_b": other[1],
        }  # fmt: skip
        self.model, self.twin = flexible_models.random_system(seed, BODIES, loops=[loop])
        self.loop = {**loop, "a": a, "b": b, "joint": naive_joint(CLOSING[kind])}
        self.q, self.v = q, sk.project_velocity(self.model, q, v)
        self.rng = rng

    @staticmethod
    def can_move(model, a, b):
        """Is there a joint that moves on the way from one body to the other?"""
        ways = []
        for k in (a, b):
            ways.append(set())
            while k >= 0:
                ways[-1].add(k)
                k = int(model.parent[k])
        return any(model.joints[k].nv for k in ways[0] ^ ways[1])

    def gaps(self, u):
        """g at q ⊞ u, analytic in u."""
        poses = self.twin.poses(self.q, u)
        turns, places = [r for r, _, _ in poses], [x for _, x, _ in poses]
        rows = naive_loops.loop_rows(self.loop, turns, places)
        return np.array([row[0] for row in rows])

    def jacobian(self):
        small = SMALL * np.eye(self.twin.nv)
        return np.array([derivative(lambda z, u=u: self.gaps(z * u), 1) for u in small]).T / SMALL

    def gamma(self):
        size = SMALL / max(1.0, np.abs(self.v).max())
        return derivative(lambda z: self.gaps(z * size * self.v), 2) / size**2

    def accelerations(self, tau, f_ext):
        """By multipliers, dense: 𝓜v̇ + 𝒞 = τ + Gᵀλ, Gv̇ + γ = 0."""
        mass, rows = self.twin.mass_matrix(self.q), self.jacobian()
        free = np.linalg.solve(mass, tau - self.twin.bias(self.q, self.v, f_ext))
        across = np.linalg.solve(mass, rows.T)
        force = np.linalg.pinv(rows @ across, rcond=1e-10) @ (rows @ free + self.gamma())
        return free - across @ force


KINDS = list(CLOSING)


@pytest.mark.parametrize("seed", range(10))
def test_accelerations_are_those_of_particles_with_multipliers(seed):
    found = Closed(seed, KINDS[seed % len(KINDS)])
    model, q, v = found.model, found.q, found.v
    assert np.abs(sk.loop_error(model, q)).max() < 1e-13
    rows = sk.loop_jacobian(model, q)
    naive = found.jacobian()
    assert np.linalg.matrix_rank(rows, 1e-8) == np.linalg.matrix_rank(naive, 1e-8)
    # the same directions are free, whichever rows say so
    free = sk.loop_basis(model, q)
    assert np.abs(naive @ free).max() < 1e-11 * np.abs(naive).max()
    tau = found.rng.normal(size=model.nv)
    f_ext = found.rng.normal(size=(model.n_bodies, 6))
    expected = found.accelerations(tau, f_ext)
    condition = np.linalg.cond(found.twin.mass_matrix(q))
    bound = 1e-12 * condition * max(1.0, np.abs(expected).max())
    assert np.abs(sk.forward_dynamics(model, q, v, tau, f_ext) - expected).max() < bound


@pytest.mark.parametrize("seed", range(4))
def test_solves_are_those_of_the_basis(seed):
    found = Closed(seed, KINDS[seed + 1])
    model, q = found.model, found.q
    x, basis = found.rng.normal(size=(2, model.nv)), sk.loop_basis(model, q)
    mass = found.twin.mass_matrix(q)
    expected = basis @ np.linalg.solve(basis.T @ mass @ basis, basis.T @ x.T)
    bound = 1e-12 * np.linalg.cond(mass) * max(1.0, np.abs(expected).max())
    assert np.abs(sk.mass_matrix_solve(model, q, x.T) - expected).max() < bound
    one = sk.mass_matrix_solve(model, q, x[0])
    assert np.abs(one - expected[:, 0]).max() < bound


def test_rates_and_jacobians_are_derivatives_of_the_gaps():
    found = Closed(5, "helical")
    model, q, v = found.model, found.q, found.v
    rows, step = sk.loop_jacobian(model, q), 1e-6
    assert np.allclose(rows @ v, sk.loop_rate(model, q, v), atol=1e-12 * np.abs(v).max())
    for i, unit in enumerate(np.eye(model.nv)):
        ahead, back = (model.integrate(q, s * step * unit) for s in (1, -1))
        slope = (sk.loop_error(model, ahead) - sk.loop_error(model, back)) / (2 * step)
        assert np.abs(slope - rows[:, i]).max() < 1e-8 * np.abs(rows).max()


def test_two_nodes_of_one_body_may_be_joined():
    """The modes of the closest common ancestor have a part in such a loop."""
    model = frame_with_two_arms()
    q = sk.assemble(model, model.neutral()).q
    rows = sk.loop_jacobian(model, q)[:, model.mode_slice("frame", "v")]
    assert np.abs(rows).max() > 0.1
    slope = np.zeros_like(rows)
    for i in range(rows.shape[1]):
        u = np.zeros(model.nv)
        u[model.mode_slice("frame", "v").start + i] = 1e-6
        ahead, back = (model.integrate(q, s * u) for s in (1, -1))
        slope[:, i] = (sk.loop_error(model, ahead) - sk.loop_error(model, back)) / 2e-6
    assert np.abs(slope - rows).max() < 1e-8


def frame_with_two_arms():
    b = sk.ModelBuilder(gravity=(0, 0, -9.81), name="frame")
    hinge = sk.Revolute(axis=(0, 1, 0))
    beam = sk.Beam(1.0, mass_per_length=1.0, bending_stiffness=80.0, rotary_inertia=1e-3,
                   modes={"y": 1, "z": 2}, nodes={"middle": 0.5}, damping=0.01)  # fmt: skip
    b.add_body("frame", joint=hinge, flexible=beam)
    arm = {"mass": 0.3, "com": (0.15, 0, 0), "inertia": (1e-4, 3e-3, 3e-3)}
    b.add_body("near", "frame", hinge, at="middle", **arm)
    b.add_body("far", "frame", sk.Universal(axis1=(0, 1, 0), axis2=(0, 0, 1)), at="tip", **arm)
    b.add_loop("pin", "near", "far", sk.Spherical(), translation_a=(0.35, 0, 0),
               translation_b=(0.3, 0, 0))  # fmt: skip
    return b.build()


# ---- the slider-crank of the test set ------------------------------------------------------------

LENGTHS = 0.15, 0.30
MIX = np.linalg.eigh(np.array([[16.0, -8.0], [-8.0, 7.0]]))


def rod_of_the_test_set():
    """Two sines across, two parabolas along, in the frame of the chord; MIX makes the stiffness of
    the latter diagonal.

    The program of the test set has the mass of its parabolas 15 times as large as its formulas say
    (8, 1, 2 in place of 8/15, 1/15, 2/15), and so have its published numbers.
    """
    x, weights = np.polynomial.legendre.leggauss(40)
    s, width, young, density = 0.5 * (x + 1.0), 0.008, 2e11, 7870.0
    length, area = LENGTHS[1], width**2
    masses = 0.5 * weights * density * area * length
    shapes, places = np.zeros((4, 40, 3)), np.outer(length * s, (1.0, 0.0, 0.0))
    shapes[:2, :, 1] = np.sin(np.pi * s), np.sin(2 * np.pi * s)
    shapes[2:, :, 0] = MIX[1].T @ np.stack((4 * s * (1 - s), s * (2 * s - 1)))
    bending = young * width**4 / 12 / length**3 * np.pi**4 / 2
    along = young * area / (3 * length) * MIX[0]
    products = np.einsum("p,ipx,jpy->ijxy", masses, shapes, shapes)
    products[2:, 2:] *= 15.0
    inertia = np.einsum("p,px,px->", masses, places, places) * np.eye(3)
    inertia -= np.einsum("p,px,py->xy", masses, places, places)
    inertia[2, 2] = 0.0045339259  # as published: with what sections turn with
    inertia[0, 0] = 2e-6  # no joint turns it about its axis
    still, moved, turned = np.zeros((3, 4)), np.zeros((3, 4)), np.zeros((3, 4))
    moved[0, 2:] = MIX[1][1]
    turned[2, :2] = -np.pi / length, 2 * np.pi / length
    return FlexibleBody(
        mass=masses.sum(),
        first_moment=masses @ places,
        inertia=inertia,
        shape_integrals=np.einsum("p,ipx->ix", masses, shapes),
        position_shapes=np.einsum("p,px,ipy->ixy", masses, places, shapes),
        shape_products=products,
        stiffness=np.array([bending, 16 * bending, *along]),
        damping=np.zeros(4),
        slaves=np.zeros((0, 4, 4)),
        labels=("y1", "y2", "stretch1", "stretch2"),
        nodes={
            "root": FlexibleNode(np.zeros(3), still, still),
            "tip": FlexibleNode(np.array([length, 0, 0]), moved, turned),
        },
        frequencies=np.ones(4),
        length=length,
    )


def slider_crank(rod, armature=0.0):
    hinge = sk.Revolute(axis=(0, 0, 1))
    b = sk.ModelBuilder(gravity=(0, 0, 0), name="slider-crank")
    b.add_body("crank", joint=sk.Revolute(axis=(0, 0, 1), armature=armature), mass=0.36,
               com=(LENGTHS[0] / 2, 0, 0), inertia=(7e-4,) * 3)  # fmt: skip
    b.add_body("rod", "crank", hinge, translation=(LENGTHS[0], 0, 0), flexible=rod)
    b.add_body("slider", "rod", hinge, at="tip", mass=0.075552, inertia=(1e-4,) * 3)
    b.add_loop("guide", "world", "slider", sk.Prismatic(axis=(1, 0, 0)))
    return b.build()


def test_the_flexible_slider_crank_of_the_test_set():
    """Test Set for IVP Solvers, release 2.4 (F. Mazzia, C. Magherini, 2008), problem crank, after
    B. Simeon, Math. Modelling of Systems 2 (1996) 1: a crank turns with 150 rad/s, phi2 is the
    angle of the chord, x3 where the slider is, q1 … q4 the coordinates of the shapes, at 0.1 s.
    """
    published = {
        "phi2": -3.311734987910881e-01, "x3": 1.697373326718410e-01, "q1": 1.893192460247178e-04,
        "q2": 2.375751865617931e-05, "q3": -5.323907988763734e-06, "q4": -8.363283141616840e-06,
    }  # fmt: skip
    within = {"phi2": 1e-8, "x3": 5e-9, "q1": 1e-7, "q2": 1e-6, "q3": 1e-5, "q4": 1e-5}
    model = slider_crank(rod_of_the_test_set(), armature=1e12)
    q, v = model.neutral(), np.zeros(model.nv)
    q[4:6] = MIX[1].T @ (0.103339863e-4, 0.169327969e-4)
    v[2:4] = 0.444896105, 0.463434311e-2
    v[4:6] = MIX[1].T @ (-0.178591076e-5, -0.268938672e-5)
    v[:2] = 150.0, -74.9957670 - 150.0
    tip = np.pi / LENGTHS[1] * (2 * v[3] - v[2])
    v[6] = 74.9957670 - tip
    run = sk.simulate(model, q, v, duration=0.1, dt=4e-6, every=5000)
    end = run.q[-1]
    assert abs(end[0] - 15.0) < 1e-8
    place = sk.forward_kinematics(model, end)[1][model.body_names.index("slider")]
    found = dict(zip(published, (end[0] + end[1], place[0], *end[2:4], *(MIX[1] @ end[4:6])),
                     strict=True))  # fmt: skip
    for name, value in published.items():
        assert abs(found[name] / value - 1.0) < within[name], name
    assert run.summary["loop_error_max"] < 1e-14


def beam(**how):
    return sk.Beam(LENGTHS[1], section={"box": [0.008, 0.006]}, young=2e10, density=7870.0,
                   **how)  # fmt: skip


def start_of(model, speed=40.0):
    """Straight and unbent: the rod turns half as fast as the crank, the other way."""
    v = np.zeros(model.nv)
    for joint, part in (("crank", 1.0), ("rod", -1.5), ("slider", 0.5)):
        v[model.v_slice(joint).start] = part * speed
    return model.neutral(), v


def middle(model, dt, duration=0.04):
    """Where the middle of the rod is at eleven times."""
    q, v = start_of(model)
    run = sk.simulate(model, q, v, duration=duration, dt=dt, every=round(duration / dt / 10))
    assert run.status == "finished"
    assert run.summary["loop_error_max"] < 1e-12
    eye = model.body_names.index("eye") if "eye" in model.body_names else None
    if eye is not None:
        return sk.forward_kinematics(model, run.q)[1][:, eye, :2]
    frame = model.frames["eye"]
    turns, places = sk.forward_kinematics(model, run.q)
    k = model.body_names.index(frame.body)
    return (places[:, k] + turns[:, k] @ frame.translation)[:, :2]


def seen_in_the_middle(**how):
    rod = sk.Beam(LENGTHS[1], section={"box": [0.008, 0.006]}, young=2e10, density=7870.0,
                  nodes={"middle": 0.5}, **how)  # fmt: skip
    hinge = sk.Revolute(axis=(0, 0, 1))
    b = sk.ModelBuilder(gravity=(0, 0, 0), name="slider-crank")
    b.add_body("crank", joint=hinge, mass=0.36, com=(LENGTHS[0] / 2, 0, 0), inertia=(7e-4,) * 3)
    b.add_body("rod", "crank", hinge, translation=(LENGTHS[0], 0, 0), flexible=rod)
    b.add_body("slider", "rod", hinge, at="tip", mass=0.075552, inertia=(1e-4,) * 3)
    b.add_loop("guide", "world", "slider", sk.Prismatic(axis=(1, 0, 0)))
    b.add_frame("eye", "rod", at="middle")
    return b.build()


def test_modes_move_as_segments_do():
    """8 and 16 segments, extrapolated: rigid bodies in a loop, by other kernels."""
    coarse, fine = (middle(seen_in_the_middle(segments=n), 1e-5) for n in (8, 16))
    expected = fine + (fine - coarse) / 3
    error, rigid = (
        np.abs(middle(model, 1e-5) - expected).max()
        for model in (seen_in_the_middle(modes={"y": 4}), seen_in_the_middle(modes={"z": 1}))
    )
    assert rigid > 5e-4  # what bending does, z being across the plane
    assert error < 1e-5


# ---- runs ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rig():
    model = slider_crank(beam(modes={"y": 2}))
    return model, *start_of(model)


def test_runs_keep_energy_and_have_the_order_of_their_method(rig):
    model, q, v = rig
    ends, drifts = [], []
    for dt in (1.6e-4, 8e-5, 4e-5):  # the last drift is some 500 times what rounding leaves
        run = sk.simulate(model, q, v, duration=0.02, dt=dt, every=25)
        assert run.summary["loop_error_max"] < 1e-14
        ends.append(run.q[-1])
        drifts.append(abs(run.summary["energy_imbalance"]))
    falls = np.linalg.norm(ends[0] - ends[1]) / np.linalg.norm(ends[1] - ends[2])
    assert 12.0 < falls < 22.0
    assert drifts[0] > 12.0 * drifts[1] > 144.0 * drifts[2]
    exact = sk.simulate(model, q, v, duration=0.02, integrator="dormand_prince", dt=1e-5,
                        rtol=1e-11, atol=1e-13)  # fmt: skip
    assert np.abs(exact.q[-1] - ends[2]).max() < 1e-8


def test_damped_modes_in_a_loop_never_gain_energy():
    model = frame_with_two_arms()
    q = sk.assemble(model, model.neutral()).q
    run = sk.simulate(model, q, np.zeros(model.nv), duration=0.5, dt=2e-4, every=10)
    total = sum(sk.energy(model, run.q, run.v))
    assert np.all(np.diff(total) < 1e-9 * np.abs(total).max())
    assert abs(run.summary["energy_imbalance"]) < 1e-6 * np.abs(total).max()


def test_side_by_side_states_have_the_bits_of_one(rig):
    model, q, v = rig
    run = sk.simulate(model, q, v, duration=0.004, dt=4e-5, every=5)
    states, rates = run.q, run.v
    tau = np.random.default_rng(0).normal(size=rates.shape)
    f_ext = np.random.default_rng(1).normal(size=(len(states), model.n_bodies, 6))
    one = [sk.forward_dynamics(model, *x) for x in zip(states, rates, tau, f_ext, strict=True)]
    for algorithm in (BENT_LOOPED_FORWARD, BENT_LOOP_GAPS):
        algorithm.ready_batch  # noqa: B018 (from here on batches are not done one by one)
    assert np.array_equal(sk.forward_dynamics(model, states, rates, tau, f_ext), one)
    gaps = [sk.loop_error(model, x) for x in states]
    assert np.array_equal(sk.loop_error(model, states), gaps)


@pytest.mark.parametrize("method", ["rk4", "dormand_prince"])
def test_a_resumed_run_has_the_bits_of_one_in_one_go(rig, tmp_path, monkeypatch, method):
    monkeypatch.setattr(loop, "MOST_STEPS", 50)
    model, q, v = rig
    log = tmp_path / "part.h5"
    given = {
        "q0": q, "v0": v, "duration": 0.01, "dt": 2e-5, "every": 10 if method == "rk4" else 1,
        "integrator": method, "channels": ["energy", "loop_error", "loop_forces", "tau"],
    }  # fmt: skip

    def stop(engine, _seconds):
        if engine.t > 0.004:
            signal.raise_signal(signal.SIGINT)

    part = sk.simulate(model, **given, log=log, progress=stop)
    assert part.status == "interrupted"
    assert sk.simulate(model, **given, log=log, resume=True).status == "finished"
    whole, read = sk.simulate(model, **given).trajectory, sk.open(log)
    for name in read.channels:
        assert np.array_equal(read[name], whole[name], equal_nan=True), name
    assert np.array_equal(read["q"], whole.q)


SWEPT = {
    "bodies.rod.flexible.beam.density": [7000.0, 7870.0, 8000.0],
    "bodies.rod.flexible.beam.length": [0.28, 0.3, 0.32],
    "bodies.piston.mass": [0.05, 0.08, 0.1],
    "loops.guide.translation_a.z": [0.0, 0.01, 0.02],
    "initial.v.crank": [100.0, 120.0, 150.0],
}


@pytest.mark.skipif(JIT_DISABLED, reason="lanes need the compiler")
@pytest.mark.parametrize("path", SWEPT)
def test_runs_of_a_sweep_share_registers_and_keep_their_bits(path, tmp_path, monkeypatch):
    sizes, whole = [], lane_batch.LaneBatch.__init__

    def count(self, runs, metrics):
        sizes.append(len(runs))
        whole(self, runs, metrics)

    monkeypatch.setattr(lane_batch.LaneBatch, "__init__", count)
    scenario = sk.read_scenario("scenarios/flexible_slider_crank.toml")
    values = {path: SWEPT[path], "duration": [0.004]}
    metrics = {"bent": {"of": "q.rod.z1", "kind": "final"}}
    study = sk.sweep(scenario.path, values, workers=1, engine="in-process", metrics=metrics)
    assert sum(sizes) == 3  # none goes alone
    assert study.finished.all()
    assert len(np.unique(study.metric("bent"))) == 3  # each value has its effect
    for i in range(3):
        alone = sk.run(study.packer.scenario(study.points[i]))
        assert np.array_equal(study.q[i], alone.q[-1])
        assert np.array_equal(study.v[i], alone.v[-1])


@pytest.mark.parametrize("kept", [0, 4])
def test_assembly_leaves_modes_where_they_are(kept):
    model = slider_crank(beam(modes={"y": 2}))
    q = model.neutral()
    q[0], q[model.mode_slice("rod")] = 0.4, (1e-3 * kept, 0.0)
    found = sk.assemble(model, q, hold=["crank"])
    assert np.array_equal(found.q[model.mode_slice("rod")], q[model.mode_slice("rod")])
    assert found.q[0] == 0.4
    assert np.abs(sk.loop_error(model, found.q)).max() < 1e-14
    assert (found.mobility, found.rank) == (model.nv - 2, 2)


def test_what_joints_cannot_close_modes_do():
    """A beam between two walls that are too near to each other for it: it bends."""
    b = sk.ModelBuilder(gravity=(0, 0, 0))
    hinge = sk.Revolute(axis=(0, 0, 1))
    beam = sk.Beam(1.0, mass_per_length=1.0, bending_stiffness=1.0, rotary_inertia=1e-3,
                   modes={"y": 2})  # fmt: skip
    b.add_body("beam", joint=hinge, flexible=beam)
    b.add_body("end", "beam", hinge, at="tip", mass=0.1, inertia=(1e-3,) * 3)
    b.add_loop("wall", "world", "end", hinge, translation_a=(0.98, 0, 0))
    model = b.build()
    q = model.neutral()
    q[model.mode_slice("beam")] = 0.05, 0.0
    found = sk.assemble(model, q).q
    assert np.abs(sk.loop_error(model, found)).max() < 1e-12
    assert np.abs(found[model.mode_slice("beam")]).max() > 0.01


# ---- everything public ---------------------------------------------------------------------------

OF_THE_TREE = (
    "bias_force", "gravity_force", "forward_kinematics", "velocities", "jacobian", "energy",
    "momentum", "center_of_mass",
)  # fmt: skip
ABOVE = (
    "forward_dynamics", "mass_matrix_solve", "loop_basis", "loop_error", "loop_jacobian",
    "loop_rate", "project_velocity", "assemble", "simulate",
)  # fmt: skip
BELOW = ("loop_rows", "loop_forces", "inverse_dynamics", "node_poses", "deflections", "sparsity")


def arguments(model, name, q, v):
    given = {
        "q": q, "v": v, "body": "slider", "kT": 1.0, "rng": np.random.default_rng(0),
        "frames": ["slider"], "nodes": ["slider"], "joints": ["slider"], "targets": {},
        **dict.fromkeys(("tau", "vdot", "rhs", "nu", "e"), np.zeros(model.nv)),
    }  # fmt: skip
    parameters = dict(public_functions())[name]
    needed = [p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    found = {key: given[key] for key in needed if key in given}
    if name.startswith("hybrid"):
        found |= {"tau": given["tau"], "vdot": given["tau"], "prescribed": ["slider"]}
    return {"q": q, "v": v} if name == "operators" else found


@pytest.mark.parametrize("name", OF_THE_TREE)
def test_what_does_not_ask_for_accelerations_is_that_of_the_tree(name, rig):
    model, q, v = rig
    given = arguments(model, name, q, v)
    found, expected = (getattr(sk, name)(m, **given) for m in (model, model.opened))
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for ours, theirs in pairs:
        assert np.array_equal(ours, theirs)


def test_loop_forces_do_what_the_tree_lacks(rig):
    model, q, v = rig
    tau = np.zeros(model.nv)
    found = sk.loop_forces(model, q, v, tau)
    vdot = sk.forward_dynamics(model, q, v, tau)
    needed = sk.inverse_dynamics(model.opened, q, v, vdot)
    assert np.allclose(found.joint_torque, needed, atol=1e-9 * np.abs(needed).max())
    assert sk.loop_rows(model) == {"guide": slice(0, 5)}


OTHERS = sorted(set(dict(public_functions())) - {*OF_THE_TREE, *ABOVE, *BELOW, "contact_gaps",
                                                 "contact_forces"})  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_every_other_function_refuses_by_name(name, rig):
    model, q, v = rig
    given = arguments(model, name, q, v)
    with pytest.raises(sk.ModelError, match=r"does not take models with (loops|flexible bodies)"):
        getattr(sk, name)(model, **given)


@pytest.mark.parametrize(
    ("acting", "words"),
    [
        (
            {"integrator": "implicit_midpoint"},
            "cannot be combined with loops between flexible bodies",
        ),
        ({"integrator": "implicit_contact"}, "flexible bodies"),
        ({"thermostat": sk.AndersenThermostat(kT=1.0, rate=1.0)}, "loops|flexible bodies"),
        ({"motions": [sk.SteadyMotion("crank", speed=1.0)]}, "flexible bodies"),
        ({"elements": [sk.FixmanForce(kT=1.0)]}, "loops|flexible bodies"),
    ],
    ids=("midpoint", "implicit_contact", "thermostat", "motion", "fixman"),
)
def test_what_a_run_does_not_take_is_refused_by_name(acting, words, rig):
    model, q, v = rig
    with pytest.raises((sk.ModelError, sk.StateError), match=words):
        sk.simulate(model, q, v, duration=0.01, **acting)


def test_a_start_that_is_open_is_refused(rig):
    model, q, v = rig
    bad = q.copy()
    bad[model.mode_slice("rod")] += 1e-3
    with pytest.raises(sk.StateError, match="Loop 'guide' is open by"):
        sk.forward_dynamics(model, bad, v, np.zeros(model.nv))
    with pytest.raises(sk.StateError, match="guide"):
        sk.simulate(model, bad, v, duration=0.01)
    fast = v.copy()
    fast[1] += 1.0
    with pytest.raises(sk.StateError, match="Loop 'guide' opens with"):
        sk.forward_dynamics(model, q, fast, np.zeros(model.nv))


def test_all_functions_are_walked():
    assert len(OTHERS) > 20
    assert {*OF_THE_TREE, *ABOVE, *BELOW} <= set(dict(public_functions()))
