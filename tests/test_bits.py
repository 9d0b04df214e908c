"""Every bit of every result as it was: hashes over models, functions, widths and integrators.

tests/data/bits.json holds them; `python tests/test_bits.py` writes it anew, which is right only
where a result was wrong before, and is said in the commit. The random trees are those of
`naive.random_bodies`, kept as numbers in tests/data/bits_trees.json: a BLAS would round them
differently from one processor to the next. Models are packed to the same bits everywhere
(test_machines.py), so one record holds for AVX2 and AVX-512.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import adapters
import skodyn as sk
from skodyn.jit import JIT_DISABLED
from skodyn.simulation.methods import METHODS

RECORD = Path(__file__).parent / "data" / "bits.json"
SCENARIOS = Path(__file__).parents[1] / "scenarios"
FILES = sorted(
    p.name
    for p in (SCENARIOS / "models").glob("*")
    if p.suffix in (".toml", ".urdf")
    # random states of loops are open; bodies with modes are shaped by LAPACK
    and not any(word in p.read_text() for word in ("[loops.", ".flexible]"))
)
TREES = json.loads((RECORD.parent / "bits_trees.json").read_text())
NAMES = [*FILES, *TREES]
STATES = 13  # a register full, and some that overlap


def digest(*values):
    """One hash for arrays and tuples of them; −0 counts as 0."""
    found = hashlib.sha256()
    for value in values:
        for part in value if isinstance(value, tuple) else (value,):
            array = np.ascontiguousarray(part, dtype=np.float64) + 0.0
            found.update(str(array.shape).encode() + array.tobytes())
    return found.hexdigest()[:16]


@cache
def model_of(name):
    if name in FILES:
        return sk.load(SCENARIOS / "models" / name)
    return adapters.build(TREES[name])


def functions(model, rng, count):
    """Every function of the front door at one state, or at several."""
    states = [model.random_state(rng) for _ in range(count)]
    q, v = (np.array(column) for column in zip(*states, strict=True))
    x, f = rng.normal(size=v.shape), rng.normal(size=(count, model.n_bodies, 6))
    if count == 1:
        q, v, x, f = q[0], v[0], x[0], f[0]
    last, point = model.body_names[-1], (0.1, 0.2, 0.3)
    yield "forward_dynamics", (q, v, x)
    yield "forward_dynamics", (q, v, x, f)
    yield "inverse_dynamics", (q, v, x)
    yield "inverse_dynamics", (q, v, x, f)
    yield "bias_force", (q, v, f)
    yield "gravity_force", (q,)
    yield "forward_kinematics", (q,)
    yield "velocities", (q, v)
    yield "jacobian", (q, last, point)
    yield "jacobian_dot_v", (q, v, last, point)
    yield "energy", (q, v)
    yield "momentum", (q, v)
    yield "center_of_mass", (q,)
    yield "mass_matrix_solve", (q, x)
    yield "mass_matrix_logdet", (q,)
    if not model.mimics:
        yield "operational_space_compliance", (q, [(last, point), (model.body_names[0], point)])
        yield "joint_forces", (q, v, x, f)
        yield "mass_matrix_logdet_gradient", (q,)
    if model.nv <= 300:
        yield "mass_matrix", (q,)
        yield "mass_matrix_inverse", (q,)
        yield "coriolis_matrix", (q, v)
        yield "forward_dynamics_derivatives", (q, v, x, f)
        yield "inverse_dynamics_derivatives", (q, v, x, f)


def runs(model):
    """The last state of short runs."""
    q, v = model.random_state(np.random.default_rng(8))
    for method in METHODS:
        if method == "implicit_contact":  # for contacts; test_contact_bits.py has its bits
            continue
        run = sk.simulate(model, q, 0.3 * v, duration=0.02, dt=1e-3, integrator=method, every=5)
        yield method, digest(run.trajectory.q, run.trajectory.v)


def found_of(name):
    model = model_of(name)
    found = {"parameters": digest(model.parameters)}
    rng = np.random.default_rng(7)
    for count in (1, STATES):
        for number, (function, given) in enumerate(functions(model, rng, count)):
            result = getattr(sk, function)(model, *given)
            found[f"{function} {number}, {count}"] = digest(result)
    return found | (dict(runs(model)) if model.n_bodies <= 70 else {})


@pytest.mark.skipif(JIT_DISABLED, reason="plain Python has no fma, and other bits")
@pytest.mark.parametrize("name", NAMES)
def test_results_have_the_bits_they_had(name):
    assert found_of(name) == json.loads(RECORD.read_text())[name]


if __name__ == "__main__":
    found = {name: found_of(name) for name in NAMES}
    RECORD.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
