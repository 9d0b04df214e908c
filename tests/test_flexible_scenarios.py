"""Scenarios with flexible bodies do what the comment at their head promises."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.scenario import parse_scenario
from skodyn.scenario.running import run_scenario

FOLDER = Path(__file__).parent.parent / "scenarios"
DATA = Path(__file__).parent / "data" / "flexible"


def run(name, **changes):
    """(model, trajectory, summary) with some keys changed wherever they are given."""
    text = (FOLDER / f"{name}.toml").read_text()
    for key, value in changes.items():
        text, found = re.subn(rf"(?m)^{key} = [^#\n]*", f"{key} = {value} ", text)
        assert found, key
    done = run_scenario(parse_scenario(text, FOLDER), None)
    assert done.status == "finished", done.message
    assert not done.summary["warnings"]
    return done.trajectory.model, done.trajectory, done.summary


def rows_of(name):
    return np.array(json.loads((DATA / f"{name}.json").read_text())["rows"])


def mode(model, rows, body, label):
    place = model.mode_slice(body).start + model.flexible[body].labels.index(label)
    return rows.q[:, place]


def test_the_strip_falls_as_the_reference_bends_and_keeps_its_energy():
    model, rows, _ = run("flexible_pendulum")
    expected = rows_of("flexible_pendulum")
    tip = sk.node_poses(model, rows.q, "strip")[::2, 1, :2, 3]
    assert np.abs(tip - [0.0, 1.0] - expected[:, 1:3]).max() < 1e-3  # its pin is 1 m up
    across = sk.deflections(model, rows.q, "strip")[:, 1, 1]
    assert 0.08 < np.abs(across).max() < 0.12  # a tenth of the length
    assert np.abs(mode(model, rows, "strip", "y1")).max() > 0.05
    total = rows["energy"].sum(axis=1)
    assert np.ptp(total) < 1e-4 * np.ptp(rows["energy"][:, 0])


def test_the_spun_beam_lags_comes_back_and_is_stiffened():
    _, rows, _ = run("spin_up")
    tip = rows["deflection"][:, 1, 1]
    assert np.abs(tip[::2] - rows_of("spin_up")[:, 2]).max() < 1e-3
    assert tip.min() == pytest.approx(-0.574, abs=1e-3)
    assert rows.t[tip.argmin()] == pytest.approx(6.8, abs=0.2)
    assert np.abs(tip[rows.t > 15.5]).max() < 4.5e-3


def test_the_two_link_arm_carries_its_payload_along_the_reference():
    model, rows, summary = run("two_link_flexible")
    payload = rows["positions"][::2, model.body_index("payload"), :2]
    assert np.abs(payload - rows_of("two_link_arm")[:, 5:7]).max() < 2e-5
    assert abs(summary["energy_imbalance"]) < 1e-4


def test_the_slewed_satellite_keeps_no_momentum_and_its_panels_swing_on():
    model, rows, _ = run("satellite_flexible")
    left, right = (mode(model, rows, body, "z1") for body in ("left", "right"))
    assert np.abs(left + right).max() < 0.01 * np.abs(left).max()  # to opposite sides
    assert np.ptp(left[rows.t > 25.0]) > 0.5 * np.ptp(left[(rows.t > 10.5) & (rows.t < 15.5)])
    wheel = 0.5 * np.abs(rows.v[:, 6]).max()  # its spin, which the bus balances
    assert np.abs(rows["momentum"]).max() < 1e-5 * wheel


def test_control_stills_the_panels_of_the_satellite():
    model, rows, _ = run("satellite_flexible_pd")
    angle = 2.0 * np.arctan2(rows.q[:, 1], rows.q[:, 0])
    s = np.minimum(rows.t / 10.0, 1.0)
    path = 0.5 * np.pi * s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
    assert np.abs(angle - path).max() < 0.13
    assert np.abs(angle - path)[rows.t > 20.0].max() < 1e-3
    swing = mode(model, rows, "left", "z1")
    assert np.ptp(swing[rows.t > 20.0]) < 0.01 * np.ptp(swing)
    model, stiff, _ = run("satellite_flexible_pd", kp=3000.0, kd=6000.0)
    held = mode(model, stiff, "left", "z1")
    assert np.ptp(held[stiff.t > 20.0]) > 100.0 * np.ptp(swing[rows.t > 20.0])


def test_the_mast_moves_its_cart_back_and_keeps_its_energy():
    model, rows, summary = run("mast_on_cart")
    assert abs(summary["energy_imbalance"]) < 1e-4
    masses = [sk.momentum(model, q, v)[3] for q, v in zip(rows.q[::50], rows.v[::50], strict=True)]
    assert np.abs(np.array(masses)).max() < 1e-3  # along the rail, kg m/s
    assert np.ptp(mode(model, rows, "mast", "y1")) > 0.02


def test_a_stiffer_boom_is_still_sooner():
    """A few runs of the sweep."""
    found = sk.sweep(
        FOLDER / "sweep_boom_stiffness.toml",
        {"bodies.boom.flexible.beam.bending_stiffness.y": [1000.0, 8000.0]},
        progress=False,
    )
    assert found.counts()["finished"] == 2
    left, bend = found.metric("left_over"), found.metric("bend")
    assert left[0] > 500.0 * left[1] > 0.0
    assert bend[0] > 5.0 * bend[1]
