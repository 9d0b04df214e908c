"""Beams in segments: rigid pieces with elastic joints, against geometrically exact references."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import skodyn as sk
from skodyn.io.model_record import model_text, read_model

REFERENCE = Path(__file__).parent / "data" / "flexible"
PENDULUM = json.loads((REFERENCE / "flexible_pendulum.json").read_text())
SPIN_UP = json.loads((REFERENCE / "spin_up.json").read_text())


def strip(segments, **more):
    p = PENDULUM["parameters"]
    beam = sk.Beam(p["L"], p["rhoA"], p["EI"], rotary_inertia=(p["rhoI"], 0.0), segments=segments)
    builder = sk.ModelBuilder(gravity=(0.0, -p["g"], 0.0))
    builder.add_body("strip", joint=sk.Revolute(axis=(0, 0, 1), name="pin"), flexible=beam, **more)
    builder.add_frame("end", "strip", at="tip")
    return builder.build()


def tips(model, run):
    return sk.frame_poses(model, np.asarray(run.q), ["end"])[:, 0, :3, 3]


@pytest.mark.parametrize(("segments", "dt", "tolerance"), [(10, 1e-3, 7e-4), (20, 5e-4, 2e-4)])
def test_a_falling_strip_meets_the_exact_beam(segments, dt, tolerance):
    model = strip(segments)
    run = sk.simulate(
        model, model.neutral(), np.zeros(model.nv), duration=2.0, dt=dt, every=round(0.02 / dt)
    )  # fmt: skip
    rows = np.array(PENDULUM["rows"])
    moved = tips(model, run)
    assert len(moved) == 101
    assert np.abs(moved[:, :2] - rows[: len(moved), 1:3]).max() < tolerance
    assert_allclose(moved[:, 2], 0.0, atol=1e-9)  # nothing leaves the plane


def spun_pieces(n, times):
    """How far the tip of n rigid pieces with springs is across the hub's axis, to first order.

    Angles ψ of the pieces: Mψ̈ + (K + Ω²G)ψ = −θ̈f. A piece that turns draws all beyond it inward
    by ½ψ² of its length, against the centrifugal force, and moves it across, along with it.
    """
    p = SPIN_UP["parameters"]
    d = p["L"] / (n - 0.5)
    ends = np.concatenate(([0.0], d * (np.arange(n) + 0.5)))
    size, (nodes, weights) = np.diff(ends), np.polynomial.legendre.leggauss(3)
    s = ends[:-1, None] + 0.5 * size[:, None] * (1.0 + nodes)
    across = np.where(np.arange(n) < np.arange(n)[:, None, None], size, 0.0)
    across = across + np.eye(n)[:, None, :] * (s - ends[:-1, None])[:, :, None]
    across, s = across.reshape(-1, n), s.ravel()
    w = (0.5 * p["rhoA"] * size[:, None] * weights).ravel()
    bends = np.diff(np.eye(n), axis=0)
    moved = slice(1, None)  # the first piece is clamped
    mass = (across.T * w @ across + np.diag(p["rhoI"] * size))[moved, moved]
    springs = (p["EI"] / d * bends.T @ bends)[moved, moved]
    turning = (np.diag(w * s @ across) - across.T * w @ across)[moved, moved]
    pull = (w * s @ across)[moved]
    psi, v, tips, rate = np.zeros(n - 1), np.zeros(n - 1), [0.0], p["Omega"] / p["T"]
    for begin, end in pairwise(times):  # the midpoint rule
        h, t = end - begin, 0.5 * (begin + end)
        phase = 2.0 * np.pi * t / p["T"]
        speed = rate * (t - p["T"] / (2.0 * np.pi) * np.sin(phase))
        faster = rate * (1.0 - np.cos(phase))
        k = springs + speed**2 * turning
        mean = np.linalg.solve(
            mass + 0.25 * h * h * k, mass @ v - 0.5 * h * (k @ psi + faster * pull)
        )
        psi, v = psi + h * mean, 2.0 * mean - v
        tips.append(size[moved] @ psi)
    return np.array(tips)


@pytest.mark.parametrize("segments", [10, 20])
def test_a_spinning_beam_is_stiffened_as_the_exact_one(segments):
    """The file states tolerances for modes, none for segments. Theirs is what pieces err by to
    first order beside very many of them (7.9e-3 and 1.8e-3 m), a tenth of it for what is not
    linear, and what the reference itself changes by with half its step."""
    p = SPIN_UP["parameters"]
    times = np.linspace(0.0, 10.0, 501)
    own = np.abs(spun_pieces(segments, times) - spun_pieces(100, times)).max()
    tolerance = 1.1 * own + 4.3e-5
    beam = sk.Beam(p["L"], p["rhoA"], p["EI"], rotary_inertia=(p["rhoI"], 0.0), segments=segments)
    builder = sk.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    axle = sk.Revolute(axis=(0, 0, 1), armature=1e10)  # nothing turns it but the torque
    builder.add_body("hub", joint=axle, mass=1.0, inertia=(1, 1, 1))
    builder.add_body("beam", "hub", flexible=beam)
    builder.add_frame("end", "beam", at="tip")
    model = builder.build()
    t = np.arange(0.0, 10.01, 0.005)
    rate = p["Omega"] / p["T"] * (1.0 - np.cos(2.0 * np.pi / p["T"] * t))
    torque = sk.TorqueTable("hub", times=tuple(t), torques=tuple(1e10 * rate))
    run = sk.simulate(
        model, np.zeros(model.nq), np.zeros(model.nv), duration=10.0, dt=5e-3, every=20,
        integrator="implicit_midpoint", implicit_springs=True, elements=[torque],
    )  # fmt: skip
    place = tips(model, run)
    theta = np.asarray(run.q)[:, 0]
    across = -np.sin(theta) * place[:, 0] + np.cos(theta) * place[:, 1]
    rows = np.array(SPIN_UP["rows"])[: len(across)]
    assert_allclose(np.asarray(run.t), rows[:, 0], atol=1e-9)
    assert np.abs(across - rows[:, 2]).max() < tolerance


def test_segments_have_the_frequencies_of_the_beam():
    """In each plane and in twist, converging like 1/n²."""
    errors = []
    for n in (6, 12):
        beam = sk.Beam(
            2.0, 1.5, (30.0, 50.0), torsion_stiffness=20.0, rotary_inertia=(0.004, 0.006),
            segments=n,
        )  # fmt: skip
        builder = sk.ModelBuilder(gravity=(0, 0, 0))
        builder.add_body("beam", flexible=beam)
        model = builder.build()
        mass = sk.mass_matrix(model, model.neutral())
        stiffness = np.concatenate([model.joint_properties[name].stiffness for name in
                                    model.bent["beam"].pieces[1:]])  # fmt: skip
        squares = np.sort(np.linalg.eigvals(np.linalg.solve(mass, np.diag(stiffness))).real)
        modal = sk.Beam(2.0, 1.5, (30.0, 50.0), 20.0, rotary_inertia=(0.004, 0.006),
                        modes={"y": 1, "z": 1, "twist": 1})  # fmt: skip
        from skodyn.model.flexible.beam_bodies import beam_body

        expected = 2.0 * np.pi * np.sort(beam_body(modal).frequencies)[:2]
        errors.append(np.abs(np.sqrt(squares[:2]) / expected - 1.0).max())
    assert errors[1] < 5e-3
    assert 3.0 < errors[0] / errors[1] < 6.0


def test_a_force_bends_segments_as_statics_says():
    """F L³/3EI at the tip in y and z, by the flexibility of the springs; something hangs there."""
    beam = sk.Beam(2.0, 1.0, (300.0, 500.0), segments=20)
    builder = sk.ModelBuilder()
    builder.add_body("beam", flexible=beam)
    builder.add_body("load", "beam", mass=1.0, at="tip")
    model = builder.build()
    jacobian = sk.jacobian(model, model.neutral(), "load")[3:]
    joints = model.bent["beam"].pieces[1:]
    springs = np.concatenate([model.joint_properties[name].stiffness for name in joints])
    flexibility = jacobian @ np.diag(1.0 / springs) @ jacobian.T
    assert_allclose(np.diag(flexibility)[1:], [8.0 / 900.0, 8.0 / 1500.0], rtol=2e-3)


def test_damping_is_its_part_of_critical_in_the_first_mode():
    beam = sk.Beam(1.0, 1.0, 4.0, segments=12, damping=0.02)
    builder = sk.ModelBuilder(gravity=(0, 0, 0))
    builder.add_body("beam", flexible=beam)
    model = builder.build()
    mass = sk.mass_matrix(model, model.neutral())
    given = [model.joint_properties[name] for name in model.bent["beam"].pieces[1:]]
    stiffness, damping = (np.concatenate([getattr(x, key) for x in given])
                          for key in ("stiffness", "damping"))  # fmt: skip
    values, vectors = np.linalg.eig(np.linalg.solve(mass, np.diag(stiffness)))
    first = int(np.argmin(values.real))
    mode, omega = vectors[:, first].real, np.sqrt(values.real[first])
    ratio = (mode @ (damping * mode)) / (mode @ mass @ mode) / (2.0 * omega)
    assert ratio == pytest.approx(0.02, rel=5e-3)


def test_pieces_weigh_what_the_beam_weighs_and_nodes_lie_where_they_should():
    beam = sk.Beam(3.0, 2.0, 10.0, rotary_inertia=0.1, segments=7, nodes={"third": 1 / 3})
    builder = sk.ModelBuilder()
    builder.add_body("beam", flexible=beam, translation=(0.5, 0, 0))
    builder.add_body("light", "beam", mass=1.0, at="third", translation=(0, 0.25, 0))
    for node in ("root", "third", "tip"):
        builder.add_frame(f"at {node}", "beam", at=node)
    model = builder.build()
    assert model.mass.sum() == pytest.approx(7.0)
    names = ["at root", "at third", "at tip", "light"]
    places = sk.frame_poses(model, model.neutral(), names)[:, :3, 3]
    assert_allclose(places, [[0.5, 0, 0], [1.5, 0, 0], [3.5, 0, 0], [1.5, 0.25, 0]], atol=1e-12)
    assert model.bent["beam"].pieces == tuple(f"beam.{k}" for k in range(1, 8))
    assert model.joint_names[0] == "beam"


def test_changes_describe_the_beam_anew():
    model = strip(6)
    assert model.with_changes() == model
    stiffer = model.with_changes(bodies={"strip": {"flexible": {"beam.bending_stiffness.y": 2.0}}})
    before, after = (m.joint_properties["strip.3"].stiffness for m in (model, stiffer))
    assert after == pytest.approx((before[0], before[1] * 2.0 / 0.66))
    finer = model.with_changes(bodies={"strip.flexible.segments": 9})
    assert finer.n_bodies == 9
    longer = model.with_changes(bodies={"strip.flexible.beam.length": 2.0})
    place = sk.frame_poses(longer, longer.neutral(), ["end"])[0, :3, 3]
    assert_allclose(place, [2.0, 0.0, 0.0])
    loose = model.with_changes(joints={"strip.3": {"stiffness": 0.5}})
    assert loose.joint_properties["strip.3"].stiffness == 0.5
    assert loose.joint_properties["strip.4"] == model.joint_properties["strip.4"]


def test_a_log_keeps_the_beam():
    model = strip(5)
    again = read_model(model_text(model))
    assert again == model
    assert again.bent == model.bent or again.bent["strip"].pieces == model.bent["strip"].pieces
    assert again.with_changes(bodies={"strip.flexible.segments": 4}).n_bodies == 4


def test_springs_of_one_joint_may_differ_and_must_be_as_many_as_it_has():
    builder = sk.ModelBuilder()
    builder.add_body("ring", joint=sk.Gimbal(), mass=1.0, com=(0, 0, -1), inertia=(1, 2, 3))
    model = builder.build()
    q0 = [0.1, -0.2, 0.3]
    still = {"duration": 1e-3, "dt": 1e-3}
    one = sk.simulate(model, q0, np.zeros(3), **still,
                      joints={"ring": sk.JointProperties(stiffness=(3.0, 0.0, 5.0))})  # fmt: skip
    tau = np.array([-3.0 * q0[0], 0.0, -5.0 * q0[2]])
    expected = sk.forward_dynamics(model, q0, np.zeros(3), tau)
    assert_allclose(np.asarray(one.v)[-1], 1e-3 * expected, rtol=1e-4)
    with pytest.raises(sk.ModelError, match="one for each degree of freedom"):
        sk.simulate(model, q0, np.zeros(3), **still,
                    joints={"ring": sk.JointProperties(damping=(1.0, 2.0))})  # fmt: skip
