"""Every equation of the papers holds on every kind of model, and a wrong one is found out."""

import json
from functools import cache

import numpy as np
import pytest

import adapters
import naive
import sko_cases
import skodyn as sk
from skodyn.algebra.comparison import condition_number
from skodyn.algebra.identities import CATALOGUE, Equation, check_identities
from skodyn.cli import main

NUMBERS = [
    *(f"Jain ({n})" for n in (17, 18, 19, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49)),
    *(f"Jain ({n})" for n in (50, 51, 52, 53, 54, "58a", "58b", "58c", "58d", "58e", "58f")),
    *("Jain (58g)", "Jain (59)", "Jain (60)", "Jain Corollary 6.1"),
    *(f"PyCraft ({n})" for n in (*range(18, 22), *range(23, 38)) if n != 34),
]


def chain(rng, kinds):
    """Bodies one after another with these joints."""
    bodies = naive.random_bodies(rng, len(kinds), branching=0.0)
    order = sorted(range(len(bodies)), key=lambda k: depth(bodies, k))
    for k, kind in zip(order, kinds, strict=True):
        bodies[k]["joint"] = naive.random_joint(rng, kind)
    return bodies


def depth(bodies, k):
    count = 0
    while bodies[k]["parent"] != -1:
        k, count = bodies[k]["parent"], count + 1
    return count


def forest(rng, n=9, bases=3):
    """Several base bodies with trees on them."""
    bodies = naive.random_bodies(rng, n, branching=0.6)
    loose = [k for k in range(n) if bodies[k]["parent"] != -1][: bases - 1]
    for k in loose:
        bodies[k]["parent"] = -1
    return bodies


RIGID = {
    "one body": lambda rng: chain(rng, ["free"]),
    "a chain of hinges": lambda rng: chain(rng, ["revolute"] * 8),
    "a chain of every joint": lambda rng: chain(rng, list(naive.KINDS)),
    "a branched tree": lambda rng: naive.random_bodies(rng, 12, branching=0.6),
    "a star": lambda rng: naive.random_bodies(rng, 6, branching=1.0),
    "a forest with several bases": lambda rng: forest(rng),
    "a floating base": lambda rng: chain(rng, ["free", "revolute", "universal", "revolute"]),
    "locked hinges": lambda rng: chain(rng, ["revolute", "fixed", "spherical", "fixed", "fixed"]),
    "nothing moves": lambda rng: chain(rng, ["fixed", "fixed"]),
    "hinges of six degrees of freedom": lambda rng: chain(rng, ["free", "free", "free"]),
    "rotors": lambda rng: naive.random_bodies(rng, 7, branching=0.5, rotors=1.0),
}


@cache
def rigid(name):
    """The operators of a random rigid model of this kind, in a random state."""
    rng = np.random.default_rng([58, list(RIGID).index(name)])
    model = adapters.build(RIGID[name](rng))
    return sk.operators(model, *model.random_state(rng))


def check(ops):
    """All identities hold, and where the model is well-conditioned next to nothing is allowed."""
    results = check_identities(ops, seed=4)
    assert len(results) == len(CATALOGUE)
    for result in results:
        assert not result.failed, f"{result.name}: {result.equation}, {result.residual:.1e}"
        assert result.residual is None or result.residual <= result.tolerance
        if condition_number(ops) < 1e3:
            assert result.tolerance <= 1e-12
    return {result.name: result for result in results}


@pytest.mark.parametrize("name", RIGID)
def test_all_identities_hold_on_rigid_models(name):
    ops = rigid(name)
    found = check(ops)
    skipped = {key for key, result in found.items() if result.residual is None}
    serial = (np.diff(ops.tree.child_start) <= 1).all()
    assert skipped == (set() if serial else {"PyCraft (35)", "PyCraft (37)"})


@pytest.mark.parametrize("seed", range(24))
def test_all_identities_hold_on_ragged_models_with_singular_weights(seed):
    check(sk.operators(sko_cases.case_of(2 * seed).model))


def test_residuals_of_a_well_conditioned_model_are_a_few_roundings():
    found = check(rigid("hinges of six degrees of freedom"))
    assert max(result.residual for result in found.values()) < 1e-12


def test_every_equation_asked_for_is_in_the_catalogue():
    names = " ".join(equation.name for equation in CATALOGUE)
    assert not [number for number in [*NUMBERS, "(34)"] if number not in names]
    assert len({equation.name for equation in CATALOGUE}) == len(CATALOGUE)


# ---- wrong equations are found out, misprints among them ---------------------------------------

PRINTED = [
    Equation("(36) last form", lambda o: o.M, lambda o: o.P - o.E_phi @ o.P @ o.E_phi.T),
    Equation("(37)", lambda o: o.K, lambda o: o.E_psi @ o.G),
    Equation(
        "proof of (51)",
        lambda o: o.mass @ o.factor_inverse.T @ o.Dinv @ o.factor_inverse.inverse(),
        lambda o: o.Id,
    ),
    Equation(
        "proof of Corollary 6.1",
        lambda o: o.Id - o.H @ o.phi @ o.K,
        lambda o: o.Id + o.H @ o.phi_tilde @ o.G,
    ),
    Equation("PyCraft (25)", lambda o: o.M, lambda o: o.P - o.E_psi @ o.P @ o.E_psi.T + o.M),
    Equation(
        "PyCraft (35) on a tree",
        lambda o: o.Omega,
        lambda o: o.psi.T @ o.Upsilon + o.Upsilon @ o.psi - o.Upsilon,
    ),
    Equation("a sign", lambda o: o.H @ o.G, lambda o: -o.Id),
    Equation("not zero", lambda o: o.H @ o.tau, None),
    Equation("a vector", lambda o: o.z, lambda o: 1.000001 * o.z, "z"),
]


@pytest.mark.parametrize("equation", PRINTED, ids=lambda e: e.name)
def test_a_wrong_equation_fails(equation):
    (result,) = check_identities(rigid("a branched tree"), equations=[equation])
    assert result.failed
    assert result.residual > 1e-7


def test_the_sums_of_eq_52_need_the_plus_sign_of_the_equation():
    """det(I − HφK) is 1 too, so that the misprint in the proof of Corollary 6.1 is in the terms."""
    ops = rigid("a branched tree")
    minus = (ops.Id - ops.H @ ops.phi @ ops.K).dense()
    assert np.linalg.det(minus) == pytest.approx(1.0)


# ---- large models are probed, not written out ---------------------------------------------------


def test_a_large_model_is_probed_and_no_matrix_is_formed(monkeypatch):
    ops = large()
    from skodyn.algebra import materialise

    monkeypatch.setattr(materialise, "_dense", None)
    monkeypatch.setattr(materialise, "written_out", None)
    results = check_identities(ops)
    verdicts = {result.verdict for result in results}
    assert verdicts == {"holds", "too large to check"}
    assert sum(r.verdict == "too large to check" for r in results) == sum(
        equation.dense for equation in CATALOGUE
    )


def test_a_wrong_equation_fails_on_a_large_model_too():
    for equation in PRINTED[:2]:
        (result,) = check_identities(large(), equations=[equation])
        assert result.failed


@cache
def large():
    """A chain of 400 bodies; every third joint is free, which keeps κ low."""
    b = sk.ModelBuilder()
    for k in range(400):
        joint = sk.Free() if k % 3 == 0 else sk.Revolute(axis=(0, 1, k % 2))
        parent = f"b{k - 1}" if k else "world"
        b.add_body(
            f"b{k}", parent, joint, translation=(0.1, 0, 0.2), mass=1, inertia=(0.1, 0.1, 0.1)
        )
    model = b.build()
    return sk.operators(model, *model.random_state(np.random.default_rng(1)))


# ---- the command line ---------------------------------------------------------------------------

MODEL = "scenarios/models/satellite_panels.toml"


def test_the_command_prints_a_table_and_a_summary(capsys):
    assert main(["identities", MODEL, "--seed", "3"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].split() == ["name", "residual", "verdict", "equation"]
    row = next(line for line in out if line.startswith("Jain (46)"))
    assert row.endswith("H @ psi @ M @ psi.T @ H.T = D")
    assert " holds " in row
    assert "equations hold on 'satellite with panels' with seed 3" in out[-1]


def test_the_command_gives_data_and_the_seed_decides(capsys):
    found = []
    for seed in ("0", "0", "1"):
        assert main(["identities", MODEL, "--json", "--seed", seed]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1]
    assert found[0]["identities"] != found[2]["identities"]
    assert found[0]["failed"] == 0
    assert set(found[0]["identities"][0]) == {
        "name", "equation", "residual", "tolerance", "verdict"
    }  # fmt: skip


def test_the_command_fails_with_1_when_an_equation_does(capsys, monkeypatch):
    from skodyn.algebra.identities import checking

    monkeypatch.setattr(checking.check_identities, "__defaults__", (0, [CATALOGUE[0], PRINTED[0]]))
    assert main(["identities", MODEL]) == 1
    assert "FAILS" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["nothing.toml"], [MODEL, "--seed", "-1"]])
def test_bad_arguments_end_with_2_and_a_sentence(arguments, capsys):
    try:
        code = main(["identities", *arguments])
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    assert "Traceback" not in capsys.readouterr().err
