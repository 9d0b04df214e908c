"""Every identity of the catalogue holds on every model of scenarios/, and none of its mutants does.

A mutant has one operator of one equation changed where it stands: its sign, twice it, its transpose
or another operator of the same shape. Some of them are true all the same: det(I − HφK) is 1 too,
and ψ is φ where no joint moves. What a mutant is, its plain residual says, on the model itself or,
of a large one, on its first bodies, where it is one or more than half of all digits are right.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.algebra.comparison import SMALL, compare
from skodyn.algebra.identities import CATALOGUE, check_identities
from skodyn.algebra.identities.checking import _sides
from skodyn.algebra.identities.equation import Given

MODELS = sorted(
    path.name
    for path in Path("scenarios/models").iterdir()
    if not any(word in path.read_text() for word in ("[loops.", ".flexible]"))  # have no operators
)
SEED = 4
SAMPLED, SAMPLED_OF_LARGE = 60, 15

EXCHANGED = {
    "phi": "psi", "psi": "phi", "phi_tilde": "psi_tilde", "psi_tilde": "phi_tilde",
    "E_phi": "E_psi", "E_psi": "E_phi", "tau": "tau_bar", "tau_bar": "tau", "M": "P", "P": "M",
    "R": "P", "P_plus": "P", "Upsilon": "P", "D": "Dinv", "Dinv": "D",
}  # fmt: skip
MUTABLE = {*EXCHANGED, "H", "G", "K", "Id", "Omega"}
CHANGES = {
    "minus": lambda name, value, ops: -value,
    "twice": lambda name, value, ops: 2 * value,
    "star": lambda name, value, ops: value.T,
    "other": lambda name, value, ops: named(ops, EXCHANGED[name]),
}


def named(ops, name):
    return ops.D.inverse() if name == "Dinv" else getattr(ops, name)


class Mutant(Given):
    """What equations speak of, with the operator that is asked for as number `at` changed."""

    def __init__(self, ops, at=None, change=""):
        super().__init__(ops, np.random.default_rng(SEED))
        self.asked, self.at, self.change = [], at, change

    def __getattribute__(self, name):
        value = super().__getattribute__(name)
        return self.changed(name, value) if name == "Dinv" else value

    def __getattr__(self, name):
        value = super().__getattr__(name)
        return self.changed(name, value) if name in MUTABLE else value

    def changed(self, name, value):
        self.asked.append(name)
        here = len(self.asked) - 1 == self.at
        return CHANGES[self.change](name, value, self.ops) if here else value


@cache
def operators_of(name):
    """(operators, those of its first bodies) in a random state."""
    model = sk.load(f"scenarios/models/{name}")
    state = model.random_state(np.random.default_rng(0))
    ops = sk.operators(model, *state)
    first = model.body_names[:8]
    return ops, ops if model.n_bodies < 60 else sk.operators(model, *state, bodies=first)


def is_large(ops):
    return ops.node_space.size**2 > SMALL


def mutations(ops):
    """(equation, place, change) of all there are."""
    for equation in CATALOGUE:
        if not equation.holds_for(ops) or (equation.dense and is_large(ops)):
            continue
        plain = Mutant(ops)
        _sides(equation, plain)
        for at, name in enumerate(plain.asked):
            for change in CHANGES:
                if makes_sense(ops, equation, name, change):
                    yield equation, at, change


def makes_sense(ops, equation, name, change):
    if change == "other":
        return name in EXCHANGED
    if change == "star":
        value = named(ops, name)
        return value.T is not value and value.rows.same(value.cols)
    return equation.right is not None  # a multiple of zero is zero


def residual(equation, ops, at, change):
    """Of the largest entry of either side, without any thought of rounding."""
    sides = _sides(equation, Mutant(ops, at, change))
    size = max(np.abs(side).max(initial=0.0) for side in sides)
    return np.abs(np.add.reduce(sides)).max(initial=0.0) / size if size else 0.0


def check(ops, small, chosen):
    counts = {True: 0, False: 0}
    for equation, at, change in chosen:
        try:
            off = residual(equation, small, at, change)
        except (AttributeError, sk.StateError):
            continue  # no expression, such as the blocks of -D
        true = bool(off < 1e-11)
        assert true or not off < 1e-9, f"{equation.name} [{at}, {change}] is off by {off:.1e}"
        found = compare(ops, lambda b, e=equation, a=at, c=change: _sides(e, Mutant(b, a, c)))
        assert found.agrees is true, f"{equation.name} [{at}, {change}], off by {off:.1e}: {found}"
        counts[true] += 1
    return counts


@pytest.mark.parametrize("name", MODELS)
def test_every_identity_holds_on_every_scenario_model(name):
    results = check_identities(operators_of(name)[0], SEED)
    assert not [result for result in results if result.failed]


@pytest.mark.parametrize("name", MODELS)
def test_mutated_identities_fail_where_they_are_false(name):
    ops, small = operators_of(name)
    every = list(mutations(ops))
    rng = np.random.default_rng(MODELS.index(name))
    count = SAMPLED_OF_LARGE if ops is not small else SAMPLED
    counts = check(ops, small, [every[k] for k in rng.choice(len(every), count, replace=False)])
    assert counts[False] > count / 2


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_all_mutated_identities_fail_where_they_are_false(name):
    ops, small = operators_of(name)
    counts = check(ops, small, mutations(ops))
    assert counts[False] > 1400
    assert counts[True] > 50
