"""Flexible bodies from finite element matrices, against a bar of 20-node hexahedra."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import skodyn as sk

sparse = pytest.importorskip("scipy.sparse")
REFERENCE = Path(__file__).parent / "data" / "flexible"
BAR = json.loads((REFERENCE / "solid_bar_h20.json").read_text())
DATA = np.load(REFERENCE / "solid_bar_h20.npz")


def bar(modes=10, **changes):
    given = {
        "nodes": DATA["nodes"], "stiffness": sparse.csr_matrix(DATA["K"]),
        "mass": sparse.csr_matrix(DATA["M"]), "root": DATA["root"],
        "interfaces": {"tip": DATA["tip"]}, "modes": modes,
    }  # fmt: skip
    return sk.flexible.from_matrices(**{**given, **changes})


def rounding():
    """What roundings of the stiffness matrix do to its softest motion."""
    held = np.setdiff1d(np.arange(384), (3 * DATA["root"][:, None] + np.arange(3)).reshape(-1))
    return np.finfo(float).eps * np.linalg.cond(DATA["K"][np.ix_(held, held)])


def test_the_bar_weighs_what_it_should():
    body = bar()
    assert body.mass == pytest.approx(BAR["mass"], rel=1e-12)
    assert_allclose(body.first_moment, BAR["first_moment"], rtol=1e-12, atol=1e-15)
    assert_allclose(body.inertia, BAR["inertia_about_root"], rtol=1e-12, atol=1e-14)


def test_frequencies_are_those_of_craig_and_bampton():
    assert rounding() < 1e-7
    assert_allclose(bar().frequencies, BAR["craig_bampton_6_plus_4_Hz"], rtol=rounding())
    free_tip = bar(6, interfaces={})
    assert_allclose(free_tip.frequencies, BAR["clamped_free_Hz"][:6], rtol=rounding())


def test_the_tip_is_as_soft_as_statics_says():
    body = bar()
    node = body.nodes["tip"]
    shapes = np.concatenate((node.translation, node.rotation))
    flexibility = shapes @ np.diag(1.0 / body.stiffness) @ shapes.T
    assert_allclose(np.diag(flexibility), BAR["tip_flexibility"]["values"], rtol=rounding())


def test_the_bar_swings_as_the_reference():
    builder = sk.ModelBuilder(gravity=(0, 0, -9.81))
    builder.add_body("bar", joint=sk.Revolute(axis=(0, 1, 0)), flexible=bar())
    builder.add_frame("end", "bar", at="tip", translation=(0, 0, 0.5 * BAR["parameters"]["h_z"]))
    model = builder.build()
    run = sk.simulate(
        model, model.neutral(), np.zeros(model.nv), duration=1.0, dt=5e-4, every=1000,
        integrator="implicit_midpoint", implicit_springs=True,
    )  # fmt: skip
    assert run.status == "finished", run.message
    ends = sk.forward_kinematics(model, np.asarray(run.q))[1][:, model.body_index("end")]
    for row, key in ((1, "at_0.5_s"), (2, "at_1.0_s")):
        assert_allclose(ends[row, [0, 2]], BAR["pendulum"][key], atol=3e-5)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"nodes": DATA["nodes"][:-1]}, ["stiffness is of shape", "mass is of shape", "of 127"]),
        ({"stiffness": np.triu(DATA["K"])}, ["stiffness is not symmetric"]),
        ({"mass": np.diag(np.arange(384.0) + 1.0)}, ["mass is not the same in x, y and z"]),
        ({"root": [0, 999]}, ["names node 999"]),
        ({"root": DATA["tip"]}, ["belongs to 'root' and to 'tip'"]),
        ({"root": DATA["root"][:2]}, ["fix no rotation"]),
        ({"modes": 0}, ["modes is 0"]),
        ({"damping": [0.1, 0.2]}, ["damping does not fit"]),
        ({"faces": [[0, 1, 500]]}, ["faces name nodes"]),
    ],
)
def test_faults_are_said_all_at_once(changes, says):
    with pytest.raises(sk.ModelError) as refused:
        bar(**changes)
    for words in says:
        assert words in str(refused.value)


def test_a_body_that_is_not_held_is_refused():
    loose = DATA["K"].copy()
    inside = np.setdiff1d(np.arange(128), np.concatenate((DATA["root"], DATA["tip"])))[0]
    loose[3 * inside : 3 * inside + 3] = 0.0
    loose[:, 3 * inside : 3 * inside + 3] = 0.0
    with pytest.raises(sk.ModelError, match="move with its root held"):
        bar(stiffness=loose)
