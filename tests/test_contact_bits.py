"""Contacts keep the promises of bits: resume, chunks, lanes; and cross mimic joints and loops."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.dynamics.contact_functions import with_ground
from skodyn.jit import JIT_DISABLED
from skodyn.simulation.elements import Forces, Servo
from skodyn.simulation.session import Plan, resume, run
from skodyn.simulation.settings import IntegratorSettings

METHODS = (
    "rk4",
    "semi_implicit_euler",
    "implicit_midpoint",
    "implicit_contact",
    "dormand_prince",
)


def hopper():
    """A floating body with a leg, that slides, sticks and lifts off."""
    b = sk.ModelBuilder()
    b.add_body("trunk", joint=sk.Free(), mass=2.0, inertia=(0.02, 0.03, 0.02))
    b.add_body("leg", "trunk", sk.Revolute((0, 1, 0), name="hip"), mass=0.5, com=(0, 0, -0.1),
               inertia=(0.002, 0.002, 0.001), translation=(0, 0, -0.05))  # fmt: skip
    b.add_collision("leg", sk.Sphere(0.03), translation=(0, 0, -0.2))
    b.add_collision("trunk", sk.Box((0.3, 0.2, 0.1)))
    return with_ground(b.build(), [sk.HalfSpace(normal=(0.1, 0, 1))])


CONTACTS = (
    sk.Contact("leg", "floor", stiffness=2e4, dissipation=0.5, friction=0.6, rolling_friction=1e-3),
    sk.Contact("trunk", "floor", stiffness=2e4, restitution=0.5, impact_speed=1.0, friction=0.3),
)


def plan(method, duration=0.3):
    settings = IntegratorSettings(method, dt=2e-4)
    servo = Servo("hip", kp=30.0, kd=0.5, ki=1.0, target=0.4)
    forces = Forces({}, (servo,), contacts=CONTACTS)
    q = np.array([1.0, 0, 0, 0, 0, 0, 0.3, 0.2])
    v = np.array([0.0, 0.5, 0, 1.0, 0.2, -1.0, 0])
    return Plan(hopper(), q, v, duration, settings, forces, every=1 if method[0] == "d" else 10)


RECORD = {
    "rk4": "433f09f0751049c1",
    "semi_implicit_euler": "e224662fecc55997",
    "implicit_midpoint": "fad69fca13317d96",
    "implicit_contact": "82a8ab537d97943d",
    "dormand_prince": "f829ee308ed3ee52",
}


@pytest.mark.skipif(JIT_DISABLED, reason="plain Python has no fma, and other bits")
@pytest.mark.parametrize("method", METHODS)
def test_runs_with_contacts_have_the_bits_on_record(method):
    """One record for every machine, so AVX2 = AVX-512, since lanes have the bits of runs alone."""
    run = plan(method).engine()
    while not run.finished:
        run.advance(10_000)
    assert hashlib.sha256(run.q.tobytes() + run.y.tobytes()).hexdigest()[:16] == RECORD[method]


@pytest.mark.parametrize("method", METHODS)
def test_a_run_that_is_stopped_in_mid_slip_goes_on_to_the_same_bits(method):
    whole = plan(method).engine()
    while not whole.finished:
        whole.advance(10_000)
    first = plan(method).engine()
    first.advance(431)
    assert not first.finished
    assert np.abs(first.y[8:11]).max() > 0.0  # a bristle is bent
    second = plan(method).engine()
    second.restore(first.memory_of_run())
    while not second.finished:
        second.advance(77)
    assert (second.q == whole.q).all()
    assert (second.y == whole.y).all()
    assert whole.y[-2] > 0.1  # something was lost


def test_a_log_is_resumed_to_the_same_bits(tmp_path):
    whole = run(plan("rk4"), tmp_path / "whole.h5")

    def stop(engine, _wall):
        if engine.step > 700:
            raise KeyError("stop")

    with pytest.raises(KeyError):
        run(plan("rk4"), tmp_path / "cut.h5", progress=stop, chunk=100)
    rest = resume(plan("rk4"), tmp_path / "cut.h5")
    assert (rest.q == whole.q).all()
    assert rest.summary["contact_loss"] == whole.summary["contact_loss"]
    assert rest.summary["contact_imbalance"] == whole.summary["contact_imbalance"]


KILLED = """
import os, signal, sys
from test_contact_bits import plan
from skodyn.simulation import loop, session
loop.FLUSH_SECONDS = 0.0
def kill(engine, _wall):
    if engine.step > 700:
        os.kill(os.getpid(), signal.SIGKILL)
session.run(plan(sys.argv[1]), sys.argv[2], progress=kill, chunk=100)
"""


@pytest.mark.parametrize("method", ["rk4", "implicit_contact"])
def test_a_run_that_is_killed_in_mid_slip_goes_on_to_the_same_bits(tmp_path, method):
    log = tmp_path / "killed.h5"
    folder = Path(__file__).parent
    child = subprocess.run(
        [sys.executable, "-c", KILLED, method, str(log)], cwd=folder, check=False, timeout=600
    )
    assert child.returncode == -signal.SIGKILL
    rest, whole = resume(plan(method), log), run(plan(method))
    assert (rest.q == whole.q).all()
    assert rest.summary["steps_this_run"] < 1500
    assert rest.summary["contact_loss"] == whole.summary["contact_loss"]


def test_other_contacts_are_other_forces_to_a_checkpoint():
    one = plan("rk4")
    third = sk.Contact("trunk", "floor", stiffness=3e4)
    other = replace(one.forces, contacts=(CONTACTS[0], third))
    changed = Plan(one.model, one.q0, one.v0, one.duration, one.settings, other, every=10)
    assert one.identity()["forces"] != changed.identity()["forces"]
    assert one.identity()["model"] == changed.identity()["model"]


def test_contacts_of_logs_from_before_laws_came_from_files_are_known_again():
    """The hash that the version before wrote for this plan, and for a contact without friction."""
    before = "c7a54aa5dec25279d42a678e445dc101e1b01ae46c73a86c86afccdedc9a1b60"
    assert plan("rk4").identity()["forces"] == before
    smooth = sk.Contact("leg", "floor", stiffness=3e4, name="feet")
    assert smooth.text == (
        "Contact(a='leg', b='floor', stiffness=30000.0, exponent=1.0, dissipation=None, "
        "restitution=None, impact_speed=None, friction=0.0, static_friction=None, slip_speed=None, "
        "tangential_stiffness=None, tangential_damping=None, torsional_friction=0.0, "
        "rolling_friction=0.0, adjacent=False, name='feet')"
    )
    texts = {
        sk.Contact("leg", "floor", **given).text
        for given in ({"solref": "estimate"}, {"solref": "estimate", "friction": 0.0},
                      {"proximity": "drake"}, {})
    }  # fmt: skip
    assert len(texts) == 4


def test_bodies_on_mimic_joints_touch():
    """Two fingers, one following the other, close on a ball; the twin has a servo for each."""
    b = sk.ModelBuilder(gravity=(0, 0, 0))
    for name, x in (("left", -0.2), ("right", 0.2)):
        b.add_body(name, joint=sk.Prismatic((1, 0, 0), name=name), mass=0.1, translation=(x, 0, 0),
                   inertia=(1e-4, 1e-4, 1e-4))  # fmt: skip
        b.add_collision(name, sk.Sphere(0.05))
    b.add_mimic("right", "left", -1.0)
    b.add_body("ball", joint=sk.Free(name="ball"), mass=0.2, inertia=(1e-4, 1e-4, 1e-4))
    b.add_collision("ball", sk.Sphere(0.1))
    model = b.build()
    contact = sk.Contact(["left", "right"], "ball", stiffness=1e4, dissipation=2.0, friction=0.5)
    q = np.concatenate(([0.0], [1.0, 0, 0, 0], [0.02, 0, 0]))
    held = sk.simulate(model, q, np.zeros(7), duration=1.0, dt=2e-4, every=100, contacts=[contact],
                       elements=[Servo("left", kp=200.0, kd=5.0, target=0.1)])  # fmt: skip
    assert held.status == "finished"
    assert np.abs(held.v[-1]).max() < 1e-3
    assert abs(held.q[-1, 5]) < 1e-3  # the ball is between them
    assert abs(held.summary["contact_imbalance"]) < 1e-3


def test_bodies_in_loops_touch():
    """A four-bar whose coupler falls on the ground: the energies balance."""
    b = sk.ModelBuilder()
    hinge = sk.Revolute(axis=(0, -1, 0))
    for name, parent, length, x in (("crank", "world", 0.3, 0.0), ("coupler", "crank", 0.9, 0.3),
                                    ("rocker", "world", 0.7, 1.0)):  # fmt: skip
        b.add_body(name, parent, hinge, translation=(x, 0, 0), mass=length, com=(length / 2, 0, 0),
                   inertia=(0.02, 0.02, 0.02))  # fmt: skip
    b.add_loop("pin", "coupler", "rocker", hinge, translation_a=(0.9, 0, 0),
               translation_b=(0.7, 0, 0))  # fmt: skip
    b.add_collision("crank", sk.Sphere(0.02), translation=(0.3, 0, 0))
    model = b.build()
    q = sk.assemble(model, [1.0, 0.0, 1.5], hold=["crank"]).q
    floor = [sk.HalfSpace((0, 0, -0.1))]
    contact = sk.Contact("crank", "floor", stiffness=1e4, dissipation=1.0, friction=0.3)
    done = sk.simulate(model, q, sk.project_velocity(model, q, [-3.0, 0, 0]), duration=0.6, dt=2e-4,
                       every=50, ground=floor, contacts=[contact])  # fmt: skip
    assert done.status == "finished"
    assert done.summary["contact_loss"] > 1e-3
    assert abs(done.summary["energy_imbalance"]) < 1e-5
