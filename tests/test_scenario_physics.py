"""Each scenario does what physics asks of it, and what the comment at its head promises."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ellipk

import skodyn as sk
from skodyn.scenario import parse_scenario
from skodyn.scenario.running import run_scenario

FOLDER = Path(__file__).parent.parent / "scenarios"
G = 9.81


def run(name, **changes):
    """(scenario, trajectory, summary) with some keys changed wherever they are given."""
    text = (FOLDER / f"{name}.toml").read_text()
    for key, value in changes.items():
        text, found = re.subn(rf"(?m)^{key} = [^#\n]*", f"{key} = {value} ", text)
        assert found, key
    scenario = parse_scenario(text, FOLDER)
    done = run_scenario(scenario, None)
    assert done.status == "finished", done.message
    return scenario, done.trajectory, done.summary


def total_energy(rows):
    return rows["energy"].sum(axis=1)


# ---- nothing but gravity ------------------------------------------------------------------------


def test_the_double_pendulum_keeps_its_energy_and_is_chaotic():
    _, rows, summary = run("double_pendulum")
    energy = total_energy(rows)
    assert np.ptp(energy) < 1e-8 * abs(energy[0])
    assert summary["energy_imbalance"] == pytest.approx(0.0, abs=1e-9)
    _, near, _ = run("double_pendulum", shoulder=1.501)
    apart = np.abs(near.q - rows.q).max(axis=1)
    assert apart[0] == pytest.approx(1e-3)
    assert apart[-1] > 0.1


def test_the_heavy_top_nods_and_precesses_as_lagrange_says():
    """With u = cos θ, a = I₃ω₃/I₁, β = 2mgl/I₁ and a start at rest at u₀, nutation obeys

    u̇² = (u₀ − u)(β(1 − u²) − a²(u₀ − u)),   φ̇ = a(u₀ − u)/(1 − u²)
    """
    _, coarse, _ = run("heavy_top")
    _, rows, _ = run(
        "heavy_top", dt=0.0001, every=5
    )  # the scenario's own steps are too long for it
    m, length, across, spin, start = 0.5, 0.08, 0.0006, 120.0, np.cos(0.5)
    inertia = across + m * length**2
    a, beta = 0.0009 * spin / inertia, 2 * m * G * length / inertia
    # β(1 − u²) − a²(u₀ − u) = −β(u − low)(u − beyond)
    low, beyond = np.sort(np.roots([-beta, a**2, beta - a**2 * start]))
    axis = rows["rotations"][:, 0, :, 2]
    assert axis[:, 2].min() == pytest.approx(low, abs=3e-5)
    assert axis[:, 2].max() == pytest.approx(start, abs=3e-5)
    assert coarse["rotations"][:, 0, 2, 2].min() == pytest.approx(low, abs=5e-4)
    # one nutation, with u = middle + reach·cos s: ṡ = √(β(beyond − u))
    s = 2 * np.pi * np.arange(400) / 400
    u = (start + low) / 2 + (start - low) / 2 * np.cos(s)
    rate = np.sqrt(beta * (beyond - u))
    period = 2 * np.pi * np.mean(1 / rate)
    precession = 2 * np.pi * np.mean(a * (start - u) / (1 - u**2) / rate) / period
    azimuth = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
    whole = int(rows.t[-1] / period)
    at_end = np.interp(whole * period, rows.t, azimuth)
    assert (at_end - azimuth[0]) / (whole * period) == pytest.approx(precession, rel=2e-4)
    # what is conserved
    assert np.ptp(coarse.v[:, 2]) < 1e-12 * spin
    vertical = coarse["momentum"][:, 2]
    assert np.ptp(vertical) < 3e-4 * abs(vertical[0])
    energy = total_energy(coarse)
    assert np.ptp(energy) < 1e-5 * abs(energy[0])


def test_the_wing_nut_flips_when_jacobi_says():
    """Landau and Lifshitz, Mechanics, § 37: between two flips lie 2K(k²)/λ seconds."""
    _, rows, summary = run("dzhanibekov")
    i1, i2, i3 = 1e-5, 2e-5, 2.8e-5
    w = rows.v[0, :3]
    doubled_energy = i1 * w[0] ** 2 + i2 * w[1] ** 2 + i3 * w[2] ** 2
    squared = (i1 * w[0]) ** 2 + (i2 * w[1]) ** 2 + (i3 * w[2]) ** 2
    assert squared < doubled_energy * i2  # it circles round the axis of the least moment, so
    i1, i3 = i3, i1  # the two change places in the formulas
    rate = np.sqrt((i3 - i2) * (squared - doubled_energy * i1) / (i1 * i2 * i3))
    modulus = (i2 - i1) * (doubled_energy * i3 - squared)
    modulus /= (i3 - i2) * (squared - doubled_energy * i1)
    turning = rows.v[:, 1]
    before = np.flatnonzero(turning[:-1] * turning[1:] < 0)
    share = turning[before] / (turning[before] - turning[before + 1])
    flips = rows.t[before] + share * (rows.t[before + 1] - rows.t[before])
    assert len(flips) == 6
    assert np.diff(flips) == pytest.approx(2 * ellipk(modulus) / rate, rel=1e-4)
    assert summary["angular_momentum_imbalance"] < 1e-9
    assert np.ptp(rows["momentum"], axis=0) == pytest.approx(0.0, abs=1e-12)
    energy = total_energy(rows)
    assert np.ptp(energy) < 1e-9 * energy[0]


@pytest.mark.parametrize(
    ("spin", "axis"), [("[6, 0.01, 0, 0, 0, 0]", 0), ("[0, 0.01, 6, 0, 0, 0]", 2)]
)
def test_the_wing_nut_is_stable_about_its_other_axes(spin, axis):
    _, rows, _ = run("dzhanibekov", nut=spin)
    assert rows.v[:, axis].min() > 5.99


def test_the_whip_is_faster_than_any_stone():
    scenario, rows, summary = run("whipping_chain", duration=2.05, every=2)
    model = scenario.model
    end = (0.0, 0.0, -0.02)
    late = slice(np.searchsorted(rows.t, 1.95), None)
    speeds = [
        np.linalg.norm(sk.jacobian(model, q, model.n_bodies - 1, point=end)[3:] @ v)
        for q, v in zip(rows.q[late], rows.v[late], strict=True)
    ]
    assert 4 * np.sqrt(2 * G * 20.0) < max(speeds) < 95.0
    assert rows.t[late][int(np.argmax(speeds))] == pytest.approx(2.01, abs=0.02)
    # at first the end falls freely: after half a second it has lost what a stone loses
    early = int(np.searchsorted(rows.t, 0.5))
    heights = [
        float(place[-1][2] + (turn[-1] @ end)[2])
        for turn, place in (sk.forward_kinematics(model, rows.q[i]) for i in (0, early))
    ]
    assert heights[0] - heights[1] == pytest.approx(G / 2 * 0.25, rel=0.25)
    energy = total_energy(rows)
    assert np.diff(energy).max() < 1e-4 * abs(energy[0])  # the hinges only take
    assert abs(summary["energy_imbalance"]) < 1e-3


# ---- afloat -------------------------------------------------------------------------------------


def test_the_satellite_keeps_its_momentum_at_zero_and_loses_its_swing():
    _, rows, summary = run("satellite_panels")
    assert np.abs(rows["momentum"]).max() < 1e-8
    assert summary["linear_momentum_imbalance"] < 1e-8
    assert summary["angular_momentum_imbalance"] < 1e-8
    assert np.abs(rows.joint("wheel_spin", "v")).max() > 1.0  # something moves, after all
    stretch = [(40.0, name) for name in rows.joint_names if re.match("left_|right_", name)]
    springs = [
        0.5 * k * (rows.joint(name) ** 2).sum(axis=1) for k, name in [*stretch, (80.0, "gimbal")]
    ]
    stored = (total_energy(rows) + sum(springs))[rows.t >= 22.0]  # the wheel is no longer driven
    assert np.diff(stored).max() < 1e-9 * stored[0]
    assert stored[-1] < 0.5 * stored[0]
    swing = rows.joint("left_inner")[rows.t >= 30.0, 0]
    assert np.ptp(np.sign(swing)) == 2  # to and fro
    assert abs(summary["energy_imbalance"]) < 1e-6


def test_the_rag_doll_flies_the_parabola_of_a_stone_until_it_lands():
    scenario, rows, summary = run("rag_doll")
    landed = rows.contact_events["t"].min()
    flight = rows.t < landed
    assert 0.9 < landed < 1.0
    model, t = scenario.model, rows.t[flight, None]
    q, v = np.ascontiguousarray(rows.q[flight]), np.ascontiguousarray(rows.v[flight])
    centre = sk.center_of_mass(model, q)
    thrown = rows["momentum"][0, 3:] / model.mass.sum()
    parabola = centre[0] + thrown * t + 0.5 * np.array([0, 0, -G]) * t**2
    assert np.abs(centre - parabola).max() < 1e-7
    angular = sk.momentum(model, q, v, about="com")[:, :3]
    assert np.ptp(angular, axis=0).max() < 1e-7 * np.linalg.norm(angular[0])
    for joint, upper in (("left_elbow", 2.6), ("right_elbow", 2.6), ("left_knee", 2.4)):
        bend = rows.joint(joint)
        assert -0.05 < bend.min() < 0.0  # against its stop, which gives a little
        assert bend.max() < upper
    assert summary["warnings"] == []
    assert abs(summary["energy_imbalance"]) < 1e-4
    assert abs(summary["contact_imbalance"]) < 1e-4
    pushed, weight = rows["contact_force"].sum(axis=1), G * model.mass.sum()
    assert not pushed[flight].any()
    assert pushed[:, 2].max() > 5.0 * weight
    assert sk.center_of_mass(model, rows.q[-1])[2] < 0.5
    assert rows["contact_gap"].min() > -0.06
    assert rows["contact_gap"][-1].min() < 0.0


def test_the_polymer_is_pulled_apart_and_stays_where_it_is():
    scenario, rows, summary = run("polymer_200", duration=3.0)
    model = scenario.model

    def length(q):
        rotations, positions = sk.forward_kinematics(model, q)
        return np.linalg.norm(positions[-1] + rotations[-1] @ (0.01, 0, 0) - positions[0])

    lengths = np.array([length(q) for q in rows.q])
    assert lengths[0] == pytest.approx(0.245, abs=0.01)
    assert 1.90 < lengths.max() < 2.0
    assert lengths[-1] < 0.8 * lengths.max()  # it has sprung back
    assert summary["linear_momentum_imbalance"] < 2e-4
    assert abs(summary["energy_imbalance"]) < 2e-4
    drift = np.abs(sk.center_of_mass(model, rows.q[-1]) - sk.center_of_mass(model, rows.q[0]))
    assert drift.max() < 1e-3
    # what the two forces put in: force times the ends' way apart
    assert summary["work_of_forces"] < 0.02 * (2.0 + lengths[0])


# ---- driven -------------------------------------------------------------------------------------


def test_the_cart_arrives_and_the_pole_still_swings():
    _, rows, summary = run("cart_pole")
    cart, pole = rows.joint("rail")[:, 0], rows.joint("pivot")[:, 0]
    assert cart[-1] == pytest.approx(1.0, abs=0.03)
    assert np.abs(pole[-200:]).max() > 0.2
    assert abs(summary["energy_imbalance"]) < 1e-9
    # the wind leans the pole: at rest, its angle balances force and weight
    assert np.mean(pole[-400:]) > 0.02
    _, braked, _ = run("cart_pole", kd=12.0)
    assert np.abs(braked.joint("pivot")[-200:]).max() < 0.8 * np.abs(pole[-200:]).max()
    assert braked.joint("rail")[100, 0] < cart[100]


def test_the_furuta_pendulum_resonates_at_1_4_hertz():
    swings = {
        f: np.abs(run("furuta", frequency=f)[1].joint("hinge")).max() for f in (1.0, 1.4, 2.0)
    }
    assert swings[1.4] == pytest.approx(0.89, abs=0.02)
    assert swings[1.0] < 0.25
    assert swings[2.0] < 0.25


def test_the_arm_holds_its_posture_against_the_band():
    scenario, rows, _ = run("arm_tracking")
    after = rows.t > 3.0
    for servo in scenario.forces.elements:
        if getattr(servo, "kp", 0.0) > 0.0:
            error = np.abs(rows.joint(servo.joint)[after] - servo.target).max()
            assert error < (0.01 if servo.ki else 0.07), servo.joint
    yaw = rows.joint("shoulder_yaw", "v")[:, 0]
    assert yaw[(rows.t > 0.5) & (rows.t < 1.0)].mean() > 0.35
    assert yaw[(rows.t > 3.0) & (rows.t < 5.0)].mean() < 0.31  # the band holds it back
    _, sagging, _ = run("arm_tracking", gravity_compensation="false")
    sag = sagging.joint("shoulder_pitch")[-1, 0] - rows.joint("shoulder_pitch")[-1, 0]
    assert sag == pytest.approx(0.094, abs=0.01)
