"""Code that is ready: what is used of a shared object, and what is not.

The object is the one that the checks build before the tests (`skodyn cache warm`).
"""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

import skodyn as sk
from skodyn.jit import JIT_DISABLED, shipped
from skodyn.kernels import energy, forward_dynamics
from skodyn.kernels.entries import Tables
from skodyn.kernels.packed_model import PackedModel
from skodyn.lanes import LANES
from skodyn.simulation import parts
from skodyn.simulation.steppers import explicit

pytestmark = pytest.mark.skipif(
    JIT_DISABLED or shipped.opened() is None, reason="there is no object; skodyn cache warm"
)


@pytest.fixture
def copy(tmp_path):
    """A copy of the object and its list, to be spoilt."""
    held = shipped.opened()
    path = tmp_path / held.path.name
    for suffix in (".so", ".json"):
        shutil.copy(held.path.with_suffix(suffix), path.with_suffix(suffix))
    return path


def listed(path):
    return json.loads(path.with_suffix(".json").read_text())


def relist(path, **changes):
    path.with_suffix(".json").write_text(json.dumps(listed(path) | changes))


def test_a_whole_object_holds_every_kernel_and_part(copy):
    held = shipped.read(copy)
    assert not held.changed
    names = [forward_dynamics.forward_dynamics.name, explicit.explicit_run.name]
    names += [at.name for part in parts.OWN for at in part._at.values()]
    assert all(held.holds(name) for name in names)
    assert not held.holds("kernels.nothing:of_this_name")


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


DAMAGES = {
    "one bit of it is another": flip,
    "it is cut off": lambda path: path.write_bytes(path.read_bytes()[:-100]),
    "it is empty": lambda path: path.write_bytes(b""),
    "its list is cut off": lambda path: path.with_suffix(".json").write_text('{"form": '),
    "its list has no digest": lambda path: path.with_suffix(".json").write_text("[1]"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_object_is_said_to_be_damaged_and_left_alone(copy, damage):
    DAMAGES[damage](copy)
    with pytest.warns(UserWarning, match=r"is damaged; kernels are compiled instead.*cache clear"):
        assert shipped.read(copy) is None


@pytest.mark.parametrize("other", [{"form": 0}, {"version": "0.0.1"}])
def test_an_object_of_another_version_is_left_alone(copy, other):
    relist(copy, **other)
    assert shipped.read(copy) is None


def test_an_object_that_is_not_there_is_none(tmp_path):
    assert shipped.read(tmp_path / "kernels.so") is None


def test_a_kernel_whose_sources_have_changed_is_not_taken(copy):
    relist(copy, sources=listed(copy)["sources"] | {"kernels/energy.py": "0123456789abcdef"})
    held = shipped.read(copy)
    assert held.changed == {"kernels/energy.py"}
    assert not held.holds(energy.energy.name)
    assert not held.holds(explicit.explicit_sweep.name)  # it looks at energies
    assert held.holds(forward_dynamics.forward_dynamics.name)


def test_a_part_is_called_where_the_object_has_it():
    part = next(iter(parts.OWN[1]._at.values()))
    address = shipped.address_of(part)
    assert address == part.address
    assert address > 0


# ---- what launch.c turns away -------------------------------------------------------------------


def batch(model):
    states = [model.random_state(np.random.default_rng(i)) for i in range(LANES)]
    q, v = (np.array(column).reshape(-1) for column in zip(*states, strict=True))
    none = np.zeros(0)
    return [
        PackedModel(model.kernel_tree, model.parameters), 0, LANES,
        Tables(q, v, np.zeros_like(v), none, 0), np.zeros_like(v), np.zeros(LANES * 10_000),
    ]  # fmt: skip


WRONG = {
    "a tuple too short": (0, lambda given: tuple(given)[:1]),
    "no tuple": (0, lambda given: list(given)),
    "no array": (4, lambda given: given.tolist()),
    "single precision": (4, lambda given: given.astype(np.float32)),
    "two axes": (4, lambda given: given[None]),
    "not contiguous": (4, lambda given: np.zeros(2 * given.size)[::2]),
    "no number": (1, lambda given: "0"),
    "a fraction": (1, lambda given: 0.5),
    "single precision in a tuple": (3, lambda given: given._replace(q=given.q.astype("f4"))),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_an_argument_that_does_not_fit_is_turned_away(wrong):
    kernel = shipped.find(forward_dynamics.forward_dynamics_batch)
    given = batch(sk.load("scenarios/models/double_pendulum.toml"))
    assert kernel(*given) == (0, 0)
    position, spoil = WRONG[wrong]
    given[position] = spoil(given[position])
    with pytest.raises(TypeError):
        kernel(*given)


def test_what_must_be_written_may_not_be_read_only():
    kernel = shipped.find(forward_dynamics.forward_dynamics_batch)
    given = batch(sk.load("scenarios/models/double_pendulum.toml"))
    given[4].flags.writeable = False
    with pytest.raises(TypeError, match="may not be written to"):
        kernel(*given)
    with pytest.raises(TypeError, match="takes 6 arguments, not 5"):
        kernel(*given[:5])


@pytest.mark.parametrize("codes", ["x1", "d", "(d1", "d1)", "((d1))", "d1" * 49])
def test_a_signature_that_is_none_is_refused(codes):
    from skodyn.jit import launch

    held = shipped.opened()
    symbol = next(iter(held.listed["kernels"].values()))["symbol"]
    with pytest.raises(ValueError, match="is no signature"):
        launch.load(str(held.path), symbol, codes, "i", "name", True)
    with pytest.raises(OSError, match="has no skodyn_nothing"):
        launch.address(str(held.path), "skodyn_nothing")
    with pytest.raises(OSError, match="nowhere"):
        launch.load("/nowhere/kernels.so", symbol, "d1", "i", "name", True)
