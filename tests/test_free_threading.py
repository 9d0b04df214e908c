"""Calls for one state share a workspace only while an interpreter lock keeps them apart."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn import jit
from skodyn.dynamics import driver
from skodyn.dynamics.algorithms import FORWARD, MASS_INVERSE
from skodyn.jit import JIT_DISABLED

ROOT = Path(__file__).parent.parent


@pytest.fixture
def model():
    return sk.load(ROOT / "scenarios" / "models" / "seven_joint_arm.toml")


@pytest.fixture
def no_lock(monkeypatch):
    """As on a free-threaded Python."""
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)


def results(model):
    q = np.linspace(0.1, 0.7, model.nq)
    batch = np.tile(q, (3, 1))  # fewer than a register holds: one by one
    return [
        sk.forward_dynamics(model, q, q, q),
        sk.inverse_dynamics(model, q, q, q),
        sk.mass_matrix(model, q),
        sk.mass_matrix_inverse(model, q),
        sk.forward_dynamics(model, batch, batch, batch),
    ]


@pytest.mark.skipif(JIT_DISABLED, reason="plain Python never shares")
def test_with_the_lock_all_calls_share_one_block(model):
    assert driver.first_block(model) is driver.first_block(model)
    assert driver.block_of(MASS_INVERSE, model) is driver.block_of(MASS_INVERSE, model)
    results(model)
    assert len(model._kernel_blocks) == 1


def test_without_it_every_call_has_a_block_of_its_own(model, no_lock):
    for algorithm in (FORWARD, MASS_INVERSE):
        one, other = (driver.block_of(algorithm, model) for _ in range(2))
        assert not np.shares_memory(one, other)
    results(model)
    assert model._kernel_blocks == []
    assert not any(pool for (width, _), pool in model._roomy_workspaces.items() if width == 1)


def test_results_are_the_same_bits_with_and_without_the_lock(model, monkeypatch):
    kept = results(model)
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    fresh = sk.load(ROOT / "scenarios" / "models" / "seven_joint_arm.toml")
    for one, other in zip(kept, results(fresh), strict=True):
        assert one.tobytes() == other.tobytes()


def test_a_lock_that_came_later_is_made_use_of(model, no_lock, monkeypatch):
    """Importing an extension that needs it switches it on for good."""
    driver.first_block(model)
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: True, raising=False)
    assert (driver.first_block(model) is driver.first_block(model)) != JIT_DISABLED


def test_the_extension_in_c_asks_for_the_lock():
    """A module that says nothing has the lock switched on when it is imported."""
    text = (Path(jit.__file__).parent / "launch.c").read_text()
    assert not re.search(r"Py_MOD_GIL_NOT_USED\b(?!`)", re.sub(r"/\*.*?\*/", "", text, flags=re.S))
