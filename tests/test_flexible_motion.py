"""Flexible bodies in motion: frequencies and motions that others computed, and what must stay."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.dynamics import assembled_frequency
from skodyn.simulation import loop

DATA = Path(__file__).parent / "data" / "flexible"


def reference(name):
    return json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))


def node(model, q, body, name="tip"):
    """Where a node is, (rows, 3)."""
    return sk.node_poses(model, q, body)[..., list(model.flexible[body].nodes).index(name), :3, 3]


# ---- frequencies ---------------------------------------------------------------------------------


def modal_stiffness(model, body, v):
    """∂𝒞_η/∂η at rest in a state that moves with v, by differences: 𝒞 is even of fourth degree."""
    q0, modes = model.neutral(), model.mode_slice(body)
    columns, h = [], 1e-3
    for i in range(modes.start, modes.stop):
        q = np.stack([q0, q0, q0, q0])
        q[:, i] += np.array([h, -h, 2 * h, -2 * h])
        b = sk.bias_force(model, q, np.broadcast_to(v, (4, model.nv)))
        columns.append((8 * (b[0] - b[1]) - (b[2] - b[3])) / (12 * h))
    return np.array(columns)[:, model.mode_slice(body, "v")].T


def frequencies(model, body, v):
    modes = model.mode_slice(body, "v")
    mass = sk.mass_matrix(model, model.neutral())[modes, modes]
    return np.sqrt(
        np.sort(np.linalg.eigvals(np.linalg.solve(mass, modal_stiffness(model, body, v))))
    )


@pytest.mark.parametrize("radius", [0.0, 0.1])
def test_rotation_stiffens_a_beam_as_the_table_says(radius):
    table = reference("rotating_beam_frequencies")["values"]
    builder = sk.ModelBuilder(gravity=(0, 0, 0))
    builder.add_body("hub", joint=sk.Revolute(axis=(0, 0, 1)), mass=1.0, inertia=(1, 1, 1))
    beam = sk.Beam(
        1.0, mass_per_length=1.0, bending_stiffness=1.0, rotary_inertia=1e-12,
        modes={"y": 6, "z": 6},
    )  # fmt: skip
    builder.add_body("beam", "hub", translation=(radius, 0, 0), flexible=beam)
    model = builder.build()
    for speed in (0, 2, 4, 6):
        expected = table[f"{radius},{speed}"]
        v = np.zeros(model.nv)
        v[0] = speed
        found = frequencies(model, "beam", v).real
        for kind in ("flap", "chord"):
            assert np.abs(found - expected[kind][0]).min() < 1e-4 * expected[kind][0], (speed, kind)


def column(weight, load, modes, gravity=-1.0):
    """A standing beam of unit length and stiffness, and what it carries."""
    builder = sk.ModelBuilder(gravity=(gravity, 0, 0))
    beam = sk.Beam(
        1.0, mass_per_length=weight, bending_stiffness=1.0, rotary_inertia=1e-12, modes={"y": modes}
    )
    builder.add_body("beam", flexible=beam)
    if load:
        builder.add_body("load", "beam", at="tip", mass=load, inertia=(1e-9, 1e-9, 1e-9))
    return builder.build()


def test_a_column_buckles_at_its_critical_weight():
    """The first zero of J₋₁/₃ (Greenhill 1881)."""
    critical = 7.837347438943

    def softness(weight):
        model = column(weight, 0.0, 4)
        k = modal_stiffness(model, "beam", np.zeros(model.nv))
        return np.linalg.det(0.5 * (k + k.T))

    low, high = 0.95 * critical, 1.05 * critical
    assert softness(low) > 0.0 > softness(high)
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if softness(middle) > 0.0 else (low, middle)
    assert abs(low - critical) < 5e-4 * critical


@pytest.mark.parametrize("load", [-5.0, -1.0, 1.0])
def test_a_load_at_the_tip_stiffens_or_softens_a_beam(load):
    """A light beam with a mass at its tip, standing (load above 0) or hanging: the mass swings on
    the stiffness of a beam column, P/(tan κL/κ − L), κ² = P/EI; Euler's load is π²/4."""
    model = column(1e-9, abs(load), 4, -np.sign(load))
    kappa = np.sqrt(abs(load))
    tangent = np.tan(kappa) if load > 0.0 else np.tanh(kappa)
    expected = np.sqrt(load / (tangent / kappa - 1.0) / abs(load))
    found = frequencies(model, "beam", np.zeros(model.nv))[0].real
    assert abs(found - expected) < 5e-4 * expected


# ---- motions -------------------------------------------------------------------------------------


def pendulum(modes, damping=0.0, stiffer=1.0):
    p = reference("flexible_pendulum")["parameters"]
    builder = sk.ModelBuilder(gravity=(0, -p["g"], 0))
    strip = sk.Beam(
        p["L"], mass_per_length=p["rhoA"], bending_stiffness=stiffer * p["EI"],
        rotary_inertia=p["rhoI"], modes={"y": modes}, damping=damping,
    )  # fmt: skip
    builder.add_body("strip", joint=sk.Revolute(axis=(0, 0, 1)), flexible=strip)
    return builder.build()


@pytest.mark.parametrize(
    ("method", "dt", "bound"), [("rk4", 2e-3, 1e-3), ("implicit_midpoint", 1e-3, 1e-3)]
)
def test_a_strip_falls_as_a_geometrically_exact_beam(method, dt, bound):
    model, rows = pendulum(4), np.array(reference("flexible_pendulum")["rows"])
    run = sk.simulate(
        model, np.zeros(5), np.zeros(5), duration=2.0, dt=dt, integrator=method,
        every=round(0.02 / dt),
    )  # fmt: skip
    tip = node(model, run.trajectory.q, "strip")[:, :2]
    assert np.abs(tip - rows[:, 1:3]).max() < bound


def test_two_halves_of_a_strip_fall_as_one():
    p = reference("flexible_pendulum")["parameters"]
    rows = np.array(reference("flexible_pendulum")["rows"])[:51]
    builder = sk.ModelBuilder(gravity=(0, -p["g"], 0))
    half = sk.Beam(
        p["L"] / 2, mass_per_length=p["rhoA"], bending_stiffness=p["EI"],
        rotary_inertia=p["rhoI"], modes={"y": 3},
    )  # fmt: skip
    builder.add_body("inner", joint=sk.Revolute(axis=(0, 0, 1)), flexible=half)
    builder.add_body("outer", "inner", at="tip", flexible=half)
    model = builder.build()
    run = sk.simulate(
        model, model.neutral(), np.zeros(model.nv), duration=1.0, dt=1e-3,
        integrator="implicit_midpoint", every=20,
    )  # fmt: skip
    tip = node(model, run.trajectory.q, "outer")[:, :2]
    assert np.abs(tip - rows[:, 1:3]).max() < 5e-4


def turn_hub(t, q, v, params, tau):
    """θ̈ of the hub, whose rotor nothing else moves."""
    speed, end, rotor = params[0], params[1], params[2]
    if t < end:
        tau[0] += rotor * speed / end * (1.0 - np.cos(2.0 * np.pi * t / end))


def spin_up(modes, stiffening, duration):
    p = reference("spin_up")["parameters"]
    builder = sk.ModelBuilder(gravity=(0, 0, 0))
    beam = sk.Beam(
        p["L"], mass_per_length=p["rhoA"], bending_stiffness=p["EI"], rotary_inertia=p["rhoI"],
        modes={"y": modes}, stiffening=stiffening,
    )  # fmt: skip
    hinge = sk.Revolute(axis=(0, 0, 1), armature=1e10)
    builder.add_body("beam", joint=hinge, flexible=beam)
    model = builder.build()
    run = sk.simulate(
        model, model.neutral(), np.zeros(model.nv), duration=duration, dt=5e-3, every=20,
        controller=turn_hub, controller_parameters=[p["Omega"], p["T"], 1e10],
    )  # fmt: skip
    return sk.deflections(model, run.trajectory.q, "beam")[:, 1, 1]


def test_a_beam_is_spun_up_as_kane_ryan_and_banerjee_found():
    rows = np.array(reference("spin_up")["rows"])
    found = spin_up(4, True, 20.0)
    assert np.abs(found - rows[:, 2]).max() < 1e-3


def test_without_stiffening_the_spun_beam_runs_away():
    assert np.abs(spin_up(3, False, 9.0)).max() > 2.0


def two_link_arm(modes):
    p = reference("two_link_arm")["parameters"]
    builder = sk.ModelBuilder(gravity=(0, 0, 0))
    link = sk.Beam(
        p["L"], mass_per_length=p["rhoA"], bending_stiffness=p["EI"], rotary_inertia=1e-12,
        modes={"y": modes},
    )  # fmt: skip
    hinge = sk.Revolute(axis=(0, 0, 1))
    hub = {"mass": 1e-9, "inertia": (p["Jh1"] / 2, p["Jh1"] / 2, p["Jh1"])}
    builder.add_body("hub1", joint=hinge, **hub)
    builder.add_body("link1", "hub1", flexible=link)
    builder.add_body("elbow", "link1", at="tip", mass=p["mh2"], inertia=(1e-9, 1e-9, 1e-9))
    hub["inertia"] = (p["Jh2"] / 2, p["Jh2"] / 2, p["Jh2"])
    builder.add_body("hub2", "elbow", hinge, **hub)
    builder.add_body("link2", "hub2", flexible=link)
    builder.add_body(
        "payload", "link2", at="tip", mass=p["mp"], inertia=(p["Jp"] / 2, p["Jp"] / 2, p["Jp"])
    )
    return builder.build(), p


@pytest.mark.parametrize(("modes", "bound", "angles"), [(2, 1e-4, 5e-4), (3, 2e-5, 2e-4)])
def test_a_two_link_arm_moves_as_one_of_many_segments(modes, bound, angles):
    model, p = two_link_arm(modes)
    drives = [
        sk.Sinusoid(joint, amplitude=p[a], frequency=p["F"])
        for joint, a in (("hub1", "A1"), ("hub2", "A2"))
    ]
    run = sk.simulate(
        model, model.neutral(), np.zeros(model.nv), duration=4.0, dt=1e-3, every=40,
        integrator="implicit_midpoint", elements=drives,
    )  # fmt: skip
    rows = np.array(reference("two_link_arm")["rows"])
    places = sk.forward_kinematics(model, run.trajectory.q)[1]
    found = places[:, model.body_index("payload"), :2]
    assert np.abs(found - rows[:, 5:7]).max() < bound
    for joint, column in (("hub1", 1), ("hub2", 2)):
        angle = run.trajectory.joint(joint)[:, 0]
        assert np.abs(angle - rows[:, column]).max() < angles


def test_a_flail_with_a_flexible_rod():
    p, rows = reference("slider_crank_tree")["parameters"], None
    rows = np.array(reference("slider_crank_tree")["physical"]["rows"])
    area, second = p["b"] * p["h"], p["b"] * p["h"] ** 3 / 12
    builder = sk.ModelBuilder(gravity=(0, 0, 0))
    hinge = sk.Revolute(axis=(0, 0, 1))
    inertia = p["J1"] - p["m1"] * (p["l1"] / 2) ** 2
    builder.add_body(
        "crank", joint=hinge, mass=p["m1"], com=(p["l1"] / 2, 0, 0), inertia=(inertia,) * 3
    )
    rod = sk.Beam(
        p["l2"], mass_per_length=p["rho"] * area, bending_stiffness=p["E"] * second,
        rotary_inertia=1e-12, modes={"y": 4},
    )  # fmt: skip
    builder.add_body("rod", "crank", hinge, translation=(p["l1"], 0, 0), flexible=rod)
    model = builder.build()
    v0 = np.zeros(model.nv)
    v0[:2] = 150.0, -225.0
    run = sk.simulate(model, model.neutral(), v0, duration=0.02, dt=1e-5, every=500)
    tip = node(model, run.trajectory.q, "rod")[:, :2]
    assert np.abs(tip - rows[:5, 2:4]).max() < 1e-5


# ---- what must stay ------------------------------------------------------------------------------


def truncated(body, eta):
    """The mass matrix of a body alone that is cut behind the second order of η."""
    m, n = body.modes, body.shapes

    def whole(x):
        slope = body.slaves @ x
        amounts = np.concatenate((x, 0.5 * slope @ x))
        w = np.zeros((6 + n, 6 + m))
        w[:6, :6], w[6 : 6 + m, 6:], w[6 + m :, 6:] = np.eye(6), np.eye(m), slope
        q = body.position_shapes + np.einsum("j,jixy->ixy", amounts, body.shape_products)
        both = 0.5 * (q + body.position_shapes)
        d = [2 * np.trace(x) * np.eye(3) - x - x.T for x in both]
        second = body.inertia + sum(a * x for a, x in zip(amounts, d, strict=True))
        first = body.first_moment + amounts @ body.shape_integrals
        h = np.array([[0, -first[2], first[1]], [first[2], 0, -first[0]], [-first[1], first[0], 0]])
        arms = np.stack(
            (q[:, 1, 2] - q[:, 2, 1], q[:, 2, 0] - q[:, 0, 2], q[:, 0, 1] - q[:, 1, 0]), axis=1
        )
        mass = np.zeros((6 + n, 6 + n))
        mass[:3, :3], mass[:3, 3:6], mass[3:6, :3] = second, h, -h
        mass[3:6, 3:6] = body.mass * np.eye(3)
        mass[6:, :3], mass[:3, 6:] = arms, arms.T
        mass[6:, 3:6], mass[3:6, 6:] = body.shape_integrals, body.shape_integrals.T
        mass[6:, 6:] = body.modal_mass
        return w.T @ mass @ w

    # a polynomial of fourth degree in the size of η: its first three terms from five samples
    sizes = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    samples = np.array([whole(s * eta) for s in sizes])
    terms = np.tensordot(np.linalg.inv(np.vander(sizes, increasing=True)), samples, axes=1)
    assert np.allclose(terms.sum(axis=0), whole(eta))
    return terms[:3].sum(axis=0)


def test_mass_matrices_stay_positive_where_a_truncated_one_does_not():
    """Five cantilever modes, a free joint, deflections of 12 % of the length."""
    beam = sk.Beam(
        1.0, mass_per_length=0.27, bending_stiffness=0.66, rotary_inertia=1e-6, modes={"y": 5}
    )
    builder = sk.ModelBuilder()
    builder.add_body("ball", joint=sk.Free(), mass=1e-6, inertia=(1e-8, 1e-8, 1e-8))
    builder.add_body("strip", "ball", flexible=beam)
    model = builder.build()
    body, rng = model.flexible["strip"], np.random.default_rng(0)
    worst = np.inf
    for _ in range(20):
        eta = rng.normal(size=5) / np.arange(1, 6) ** 2
        eta *= 0.12 / abs(body.nodes["tip"].translation[1, :5] @ eta)
        q = model.neutral()
        q[model.mode_slice("strip")] = eta
        mass = sk.mass_matrix(model, q)
        assert np.linalg.eigvalsh(mass).min() > 0.0
        worst = min(worst, np.linalg.eigvalsh(truncated(body, eta)).min())
    assert worst < 0.0  # what the slaves are for


def energies(run):
    return run.trajectory["energy"].sum(axis=1)


def test_the_energy_of_the_midpoint_rule_does_not_drift():
    """10⁵ steps, each looked at: a method that keeps phase-space volume lets the energy swing but
    not wander. Ranges of tenths are extremes of beating modes, so they agree only if a tenth is
    many beats long: 0.2 % here, 50 s each; tenths of 5 s differ by 3 %."""
    model = pendulum(3)
    run = sk.simulate(
        model, np.zeros(4), np.zeros(4), duration=500.0, dt=5e-3, every=1,
        integrator="implicit_midpoint", channels=["energy"],
    )  # fmt: skip
    tenths = np.array_split(energies(run)[1:], 10)
    spread = [np.ptp(part) for part in tenths]
    assert abs(spread[-1] / spread[0] - 1.0) < 0.01, spread
    means = [part.mean() for part in tenths]
    assert np.ptp(means) < 0.01 * spread[0], means


def test_errors_fall_with_the_order_of_the_method():
    model, found = pendulum(3), {}
    for method, dts in (("rk4", (2e-3, 1e-3)), ("implicit_midpoint", (2e-3, 1e-3))):
        ends = []
        for dt in dts:
            run = sk.simulate(
                model, np.zeros(4), np.zeros(4), duration=1.0, dt=dt, integrator=method,
                every=round(0.1 / dt), channels=["energy"],
            )  # fmt: skip
            e = energies(run)
            ends.append(np.abs(e - e[0]).max())
        found[method] = ends[0] / ends[1]
    assert found["rk4"] > 16
    assert 3.5 < found["implicit_midpoint"] < 4.5


def test_the_drift_of_rk4_falls_32_fold_with_half_the_step():
    """Energy is lost with dt⁵ a period of what swings: RK4's amplification is 1 − (ωdt)⁶/144 a
    step. Steps must resolve the fastest mode for that: ωdt is 0.25 and 0.13 here."""
    model, lost = pendulum(3), []
    for dt in (1e-3, 5e-4):
        run = sk.simulate(
            model, np.zeros(4), np.zeros(4), duration=2.0, dt=dt, every=round(2e-3 / dt),
            channels=["energy"],
        )  # fmt: skip
        e = energies(run)
        lost.append(e[0] - e[-1])
        assert lost[-1] == pytest.approx(np.abs(e - e[0]).max())  # it only falls
    assert 30.0 < lost[0] / lost[1] < 34.0


def test_damping_alone_takes_energy():
    model = pendulum(3, damping=0.05)
    run = sk.simulate(
        model, np.zeros(4), np.zeros(4), duration=1.0, dt=1e-3, every=1, channels=["energy"]
    )
    assert np.diff(energies(run)).max() < 1e-9
    assert energies(run)[-1] < energies(run)[0] - 1e-4


@pytest.mark.parametrize("modes", [{"y": 1}, {"y": 3}, {"y": 2, "z": 2}], ids=str)
@pytest.mark.parametrize(
    ("method", "bound", "gains"),
    [("rk4", 1e-8, (12.0, 32.0)), ("implicit_midpoint", 1e-5, (3.9, 4.1))],
)
def test_a_free_beam_keeps_its_momentum(method, bound, gains, modes):
    """To 1e-8 with RK4 at 2 ms; fourfold better with half the step of the midpoint rule."""
    builder = sk.ModelBuilder(gravity=(0, 0, 0))
    beam = sk.Beam(
        1.0, mass_per_length=0.27, bending_stiffness=0.66, rotary_inertia=1e-5, modes=modes
    )
    builder.add_body("beam", joint=sk.Free(), flexible=beam)
    model = builder.build()
    q, v = model.neutral(), np.zeros(model.nv)
    q[model.mode_slice("beam").start] = 0.02
    v[:6] = 0.5, 1.0, 1.5, 0.1, 0.2, 0.3
    drift = []
    for dt in (2e-3, 1e-3):
        run = sk.simulate(
            model, q, v, duration=1.0, dt=dt, every=round(0.1 / dt), integrator=method
        )
        momenta = sk.momentum(model, run.trajectory.q, run.trajectory.v)
        drift.append(np.abs(momenta - momenta[0]).max() / np.abs(momenta[0]).max())
    assert drift[0] < bound
    assert gains[0] < drift[0] / drift[1] < gains[1]


def test_a_beam_as_stiff_as_steel_is_rigid():
    p = reference("flexible_pendulum")["parameters"]
    model = pendulum(3, stiffer=1e8)
    builder = sk.ModelBuilder(gravity=(0, -p["g"], 0))
    mass = p["L"] * p["rhoA"]
    i = p["L"] * p["rhoI"]
    long = mass * p["L"] ** 2 / 12
    builder.add_body(
        "bar", joint=sk.Revolute(axis=(0, 0, 1)), mass=mass, com=(p["L"] / 2, 0, 0),
        inertia=(2 * i, i + long, i + long),
    )  # fmt: skip
    rigid = builder.build()
    given = {"duration": 1.0, "dt": 2e-3, "integrator": "implicit_midpoint", "every": 50}
    soft = sk.simulate(model, np.zeros(4), np.zeros(4), **given)
    hard = sk.simulate(rigid, np.zeros(1), np.zeros(1), **given)
    assert np.abs(soft.trajectory.q[:, 0] - hard.trajectory.q[:, 0]).max() < 1e-6


def test_implicit_springs_are_what_flexible_models_take_unless_told():
    model = pendulum(4)
    given = {"duration": 0.1, "dt": 2e-3, "integrator": "implicit_midpoint"}
    left_out = sk.simulate(model, np.zeros(5), np.zeros(5), **given)
    asked = sk.simulate(model, np.zeros(5), np.zeros(5), **given, implicit_springs=True)
    without = sk.simulate(model, np.zeros(5), np.zeros(5), **given, implicit_springs=False)
    assert np.array_equal(left_out.trajectory.q, asked.trajectory.q)
    assert not np.array_equal(left_out.trajectory.q, without.trajectory.q)
    assert np.allclose(left_out.trajectory.q, without.trajectory.q, atol=1e-11)
    assert left_out.trajectory.labels("q")["q_name"][1] == "strip.y1"


def test_frames_at_nodes_have_jacobians():
    builder = sk.ModelBuilder()
    builder.add_body("hub", joint=sk.Free(), mass=1.0, inertia=(0.1, 0.2, 0.3))
    boom = sk.Beam(
        2.0, mass_per_length=0.3, bending_stiffness=3.0, rotary_inertia=1e-4,
        modes={"y": 2, "z": 2}, nodes={"middle": 0.5},
    )  # fmt: skip
    builder.add_body("boom", "hub", sk.Revolute(axis=(0, 0, 1)), flexible=boom)
    builder.add_frame("eye", "boom", at="middle", translation=(0, 0.1, 0))
    model = builder.build()
    q, _ = model.random_state(np.random.default_rng(0))

    def place(at):
        pose = sk.node_poses(model, at, "boom")[2]
        return pose[:3, 3] + pose[:3, :3] @ np.array([0, 0.1, 0])

    h, found = 1e-5, sk.jacobian(model, q, "eye")
    for i, u in enumerate(np.eye(model.nv)):
        ahead, behind = (place(model.integrate(q, s * h * u)) for s in (1, -1))
        assert np.allclose(found[3:, i], (ahead - behind) / (2 * h), atol=1e-8)
    with pytest.raises(sk.ModelError, match="name a frame at one of its nodes"):
        sk.jacobian(model, q, "boom", (1.0, 0, 0))


def test_forces_at_nodes_are_those_on_a_massless_body_there():
    builder = sk.ModelBuilder()
    boom = sk.Beam(
        2.0, mass_per_length=0.3, bending_stiffness=3.0, rotary_inertia=1e-4,
        modes={"y": 2, "z": 2},
    )  # fmt: skip
    builder.add_body("boom", joint=sk.Revolute(axis=(0, 1, 0)), flexible=boom)
    model = builder.build()
    builder = sk.ModelBuilder()
    builder.add_body("boom", joint=sk.Revolute(axis=(0, 1, 0)), flexible=model.flexible["boom"])
    builder.add_body("tag", "boom", at="tip", mass=0.0)
    tagged = builder.build()
    q, v = np.array([0.3, 0.1, 0.02, -0.05, 0.01]), np.array([1.0, 0.2, 0.3, 0.1, -0.2])
    push = {"force": (1, 2, 3), "moment": (0.1, 0.2, 0.3)}
    spring = {"body_b": "world", "stiffness": 50.0, "damping": 1.0, "point_b": (1, 1, 1)}
    for at_node, on_body in (
        (sk.Wrench("boom", node="tip", **push), sk.Wrench("tag", **push)),
        (sk.Wrench("boom", node="tip", frame="body", **push),
         sk.Wrench("tag", frame="body", **push)),
        (sk.PointSpring("boom", node_a="tip", **spring), sk.PointSpring("tag", **spring)),
    ):  # fmt: skip
        runs = [
            sk.simulate(one, q, v, duration=0.02, dt=dt, elements=[element])
            for one, element, dt in (
                (model, at_node, 1e-3), (tagged, on_body, 1e-3), (model, at_node, 5e-4),
            )
        ]  # fmt: skip
        assert np.allclose(runs[0].trajectory.q, runs[1].trajectory.q, rtol=1e-12, atol=1e-14)
        # work is integrated with the state: the balance has the method's error, of fourth order
        coarse, _, fine = (abs(run.summary["energy_imbalance"]) for run in runs)
        assert coarse >= 14.0 * fine > 0.0
    for element, remedy in (
        (sk.Wrench("boom", force=(1, 0, 0), point=(1, 0, 0)), 'node = "tip"'),
        (sk.Wrench("boom", force=(1, 0, 0), node="tipp"), "did you mean 'tip'"),
    ):
        with pytest.raises(sk.ModelError, match=remedy):
            sk.simulate(model, q, v, duration=0.01, dt=1e-3, elements=[element])


def test_runs_say_when_a_body_bends_too_far_or_a_step_is_long():
    model = pendulum(4)
    start = np.array([0.0, 0.2, 0.0, 0.0, 0.0])
    run = sk.simulate(model, start, np.zeros(5), duration=0.01, dt=1e-3)
    (far,) = run.summary["warnings"]
    assert "'strip' bends by 20 % of its length" in far
    assert "use segments" in far
    slow = sk.simulate(model, np.zeros(5), np.zeros(5), duration=0.14, dt=1.4e-2)
    assert "vibrations of 71.39 Hz; use dt up to 0.0056 s" in slow.summary["warnings"][-1]
    fine = sk.simulate(model, np.zeros(5), np.zeros(5), duration=0.02, dt=2e-3)
    assert fine.summary["warnings"] == []


def test_the_highest_frequency_is_that_of_the_assembled_model():
    """RK4 is stable up to 2.83/ω, with ω that of the strip on its pin: a clamped one has 30 Hz."""
    model = pendulum(4)
    omega = assembled_frequency.highest_frequency(model)
    root = np.concatenate(([0.0], np.sqrt(model.flexible["strip"].stiffness)))
    krylov = assembled_frequency._krylov(model, model.neutral(), root)
    assert omega < np.sqrt(krylov) < 1.03 * omega
    assert omega > 2 * np.pi * 1.5 * model.flexible["strip"].frequencies.max()
    start = np.array([0.0, 1e-6, 0.0, 0.0, 1e-6])
    found = []
    for part in (0.97, 1.03):
        dt = part * 2.8284 / omega
        run = sk.simulate(model, start, np.zeros(5), duration=400 * dt, dt=dt)
        found.append(run.status)
    assert found == ["finished", "failed"]


@pytest.mark.parametrize("method", ["rk4", "implicit_midpoint"])
def test_a_resumed_run_has_the_bits_of_one_in_one_go(tmp_path, monkeypatch, method):
    monkeypatch.setattr(loop, "MOST_STEPS", 50)
    model, log = pendulum(3), tmp_path / "part.h5"
    plan = {
        "q0": np.zeros(4), "v0": np.zeros(4), "duration": 0.5, "dt": 1e-3, "integrator": method,
        "channels": ["energy", "vdot", "poses"],
    }  # fmt: skip

    def stop(engine, _seconds):
        if engine.t > 0.2:
            signal.raise_signal(signal.SIGINT)

    part = sk.simulate(model, **plan, log=log, progress=stop)
    assert part.status == "interrupted"
    assert 0.2 < part.summary["t"] < 0.5
    resumed = sk.simulate(model, **plan, log=log, resume=True)
    assert (resumed.status, resumed.summary["t"]) == ("finished", 0.5)
    whole = sk.simulate(model, **plan, log=tmp_path / "whole.h5")
    in_memory, read = sk.simulate(model, **plan), sk.open(log)
    for name in sk.open(tmp_path / "whole.h5").channels:
        assert np.array_equal(read[name], sk.open(tmp_path / "whole.h5")[name]), name
    assert np.array_equal(read["q"], in_memory.trajectory.q)
    for key in ("energy_imbalance", "deflection_max"):
        assert resumed.summary[key] == whole.summary[key]
    assert read.labels("v")["v_name"] == ("strip", "strip.y1", "strip.y2", "strip.y3")


def test_a_loaded_node_has_its_static_shapes():
    """A force at a node without a body: F x³/3EI there, which modes of the beam alone miss."""
    ends = {}
    for loaded in ((), ("tip",), ("middle",)):
        boom = sk.Beam(
            2.0, mass_per_length=0.3, bending_stiffness=30.0, rotary_inertia=1e-4,
            modes={"y": 2}, nodes={"middle": 0.5}, loaded=loaded, damping=0.7, stiffening=False,
        )  # fmt: skip
        builder = sk.ModelBuilder(gravity=(0, 0, 0))
        builder.add_body("boom", flexible=boom)
        model = builder.build()
        assert model.nq == 2
        for node, x in (("tip", 2.0), ("middle", 1.0)):
            run = sk.simulate(
                model, model.neutral(), np.zeros(2), duration=4.0, dt=0.01,
                integrator="implicit_midpoint",
                elements=[sk.Wrench("boom", force=(0, 1.0, 0), node=node)],
            )  # fmt: skip
            moved = dict(zip(model.flexible["boom"].nodes, sk.deflections(model, run.q[-1], "boom"),
                             strict=True))  # fmt: skip
            ends[loaded, node] = abs(moved[node][1] / (x**3 / 90.0) - 1.0)
    assert ends[("tip",), "tip"] < 1e-6 > ends[("middle",), "middle"]
    assert ends[(), "tip"] > 1e-3 < ends[(), "middle"]
    free = sk.ModelBuilder()
    beam = sk.Beam(1.0, 1.0, 1.0, rotary_inertia=1e-3, modes={"y": 2}, loaded=["tip"])
    free.add_body("beam", joint=sk.Free(), flexible=beam)
    assert free.build().flexible["beam"].is_clamped  # to its frame, which floats
