"""Published and closed-form motions, each to the digits that its source states."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ellipj

import skodyn as sk
from skodyn.simulation.engine import Engine
from skodyn.simulation.settings import IntegratorSettings

DATA = Path(__file__).parent / "data"
ROTATIONS = json.loads((DATA / "12_closed_form_rotations.json").read_text())


def at(model, q, v, time):
    """(q, v) after `time` seconds, with tolerances near rounding."""
    settings = IntegratorSettings("dormand_prince", dt=time, rtol=1e-13, atol=1e-13)
    run = Engine(model, np.asarray(q, float), np.asarray(v, float), time, settings)
    while not run.finished:
        assert run.advance(10_000).status == 0
    return run.q, run.v.copy()


def spinning_body(inertia):
    b = sk.ModelBuilder(gravity=(0, 0, 0))
    b.add_body("body", joint=sk.Free(), mass=1.0, inertia=inertia)
    return b.build()


IDENTITY = [1.0, 0, 0, 0, 0, 0, 0]


def test_a_free_axisymmetric_body_turns_as_its_closed_form_says():
    given = ROTATIONS["free_axisymmetric"]
    model = spinning_body((given["I"], given["I"], given["J"]))
    q, v = at(model, IDENTITY, [*given["w0_body"], 0, 0, 0], given["t"])
    assert v[:3] == pytest.approx(np.array(given["w_body"]), abs=1e-11)
    rotation = sk.forward_kinematics(model, q)[0][0]
    assert rotation == pytest.approx(np.array(given["R_world_body"]), abs=1e-11)


@pytest.mark.parametrize("row", ROTATIONS["dzhanibekov"]["rows"], ids=lambda row: f"t={row[0]}")
def test_the_dzhanibekov_flip_follows_jacobi_elliptic_functions(row):
    given = ROTATIONS["dzhanibekov"]
    model = spinning_body(given["I"])
    _, v = at(model, IDENTITY, [*given["w0"], 0, 0, 0], row[0])
    assert v[:3] == pytest.approx(np.array(row[1:]), abs=2e-9)  # e-folds about every 1.7 s


@pytest.mark.parametrize("row", ROTATIONS["heavy_top"]["rows"], ids=lambda row: f"t={row[0]}")
def test_the_heavy_top_follows_the_published_solution(row):
    given = ROTATIONS["heavy_top"]
    b = sk.ModelBuilder(gravity=given["g"])
    b.add_body("top", joint=sk.Spherical(), mass=given["m"], com=given["com"],
               inertia=given["J_com"])  # fmt: skip
    model = b.build()
    q, v = at(model, [1, 0, 0, 0], given["w0_body"], row[0])
    assert sk.center_of_mass(model, q) == pytest.approx(np.array(row[1:4]), abs=1e-9)
    assert v == pytest.approx(np.array(row[4:7]), abs=1e-7)
    assert sum(sk.energy(model, q, v)) == pytest.approx(row[7], rel=1e-10)


@pytest.mark.parametrize("rate", ROTATIONS["steady_precession"]["Omega"])
def test_steady_precession_keeps_its_angle(rate):
    given = ROTATIONS["steady_precession"]
    m, length = given["m"], given["l"]
    theta = np.deg2rad(given["theta_deg"])
    across = given["I1_pivot"] - m * length**2
    b = sk.ModelBuilder(gravity=(0, 0, -given["g"]))
    b.add_body("top", joint=sk.Spherical(), mass=m, com=(0, 0, length),
               inertia=(across, across, given["I3"]))  # fmt: skip
    model = b.build()
    q0 = [np.cos(theta / 2), np.sin(theta / 2), 0, 0]
    v0 = [0.0, rate * np.sin(theta), given["w3"]]  # precession about z, seen in body axes
    assert sk.forward_dynamics(model, np.array(q0), np.array(v0), np.zeros(3))[0] == pytest.approx(
        given["w3"] * v0[1] - rate * np.cos(theta) * v0[1], rel=1e-9
    )  # the axes of the body spin; the top does not nod
    q, _ = at(model, q0, v0, 0.5)
    height = sk.center_of_mass(model, q)[2]
    assert height == pytest.approx(length * np.cos(theta), abs=1e-9)


@pytest.mark.parametrize(
    "row", ROTATIONS["double_pendulum_point_masses"]["rows"], ids=lambda row: f"t={row[0]}"
)
def test_the_double_pendulum_follows_a_25_digit_solution(row):
    b = sk.ModelBuilder(gravity=(0, 0, -9.81))
    b.add_body("upper", joint=sk.Revolute((0, 1, 0)), mass=1.0, com=(0, 0, -1))
    b.add_body("lower", "upper", sk.Revolute((0, 1, 0)), translation=(0, 0, -1), mass=1.0,
               com=(0, 0, -1))  # fmt: skip
    model = b.build()
    q, v = at(model, [np.pi / 2, 0.0], [0.0, 0.0], row[0])
    angles = np.array([q[0], q[0] + q[1], v[0], v[0] + v[1]])
    expected = np.array([float(x) for x in row[1:5]])
    turns = 2 * np.pi * np.round((angles - expected)[:2] / (2 * np.pi))
    angles[:2] -= turns
    assert angles == pytest.approx(expected, abs=1e-12 * 10 ** (0.9 * row[0]) + 1e-10)


def test_the_chaotic_babyboot_agrees_with_four_published_runs():
    given = json.loads((DATA / "06_drake_chaotic_babyboot.json").read_text())
    b = sk.ModelBuilder(gravity=given["gravity"])
    for name, parent, body in zip(("A", "B"), ("world", "A"), given["bodies"], strict=True):
        inertia = np.array(body["inertia_com"])
        if name == "A":  # only its moment about x enters; the other two must merely be possible
            inertia = np.eye(3) * inertia[0, 0]
        b.add_body(name, parent, sk.Revolute(body["axis"]), translation=body["origin_xyz"],
                   mass=body["mass"], com=body["com"], inertia=inertia)  # fmt: skip
    q, v = at(b.build(), given["q0_rad"], given["qd0"], given["t_final"])
    expected = given["expected"]
    assert np.rad2deg(q) == pytest.approx([expected["qA_deg"], expected["qB_deg"]], rel=1e-7)
    assert v == pytest.approx([expected["qA_dot"], expected["qB_dot"]], rel=1e-6)


@pytest.mark.parametrize("time", ["1", "2", "5", "10"])
def test_the_iftomm_pendulum_follows_its_closed_form(time):
    given = json.loads((DATA / "09_iftomm_A01_A02.json").read_text())["A01"]
    b = sk.ModelBuilder(gravity=(0, 0, -given["g"]))
    b.add_body("bob", joint=sk.Revolute((0, 1, 0)), mass=given["mass"], com=(0, 0, -1.0))
    model = b.build()
    q, _ = at(model, [np.pi / 2], [0.0], float(time))  # starts at x = −1
    place = sk.center_of_mass(model, q)
    assert place[[0, 2]] == pytest.approx(np.array(given["P1"][time]), abs=1e-9)
    _, cn, dn, _ = ellipj(np.sqrt(given["g"]) * float(time), 0.5)
    assert np.sin(q[0] / 2) == pytest.approx(np.sin(np.pi / 4) * cn / dn, abs=1e-9)
