"""The reduced flexible body: read-only, compared by its numbers, refused if arrays do not fit."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import skodyn as sk
from skodyn.model.flexible.modal_body import FlexibleBody, FlexibleNode


def node(position, n, moves=1.0):
    return FlexibleNode(position, np.full((3, n), moves), np.full((3, n), moves))


def particles(count=7, m=2, slaves=1, seed=3):
    """A body of particles with random shapes: the sums are those of the definition."""
    rng = np.random.default_rng(seed)
    n = m + slaves
    mass, s, phi = (
        rng.uniform(0.1, 1.0, count),
        rng.normal(size=(count, 3)),
        rng.normal(size=(n, count, 3)),
    )
    a = rng.normal(size=(slaves, m, m))
    outer = np.einsum("k,ki,kj->ij", mass, s, s)
    return {
        "mass": mass.sum(),
        "first_moment": mass @ s,
        "inertia": np.trace(outer) * np.eye(3) - outer,
        "shape_integrals": np.einsum("k,nki->ni", mass, phi),
        "position_shapes": np.einsum("k,ki,nkj->nij", mass, s, phi),
        "shape_products": np.einsum("k,aki,bkj->abij", mass, phi, phi),
        "stiffness": np.arange(1.0, m + 1.0),
        "damping": np.zeros(m),
        "slaves": a + a.transpose(0, 2, 1),
        "labels": tuple(f"mode{i + 1}" for i in range(m)),
        "nodes": {"root": node((0, 0, 0), n, 0.0), "tip": node((1, 0, 0), n)},
        "frequencies": np.arange(1.0, m + 1.0),
        "length": 1.0,
    }


def test_a_body_is_read_only_and_equal_to_one_with_the_same_numbers():
    body, again = FlexibleBody(**particles()), FlexibleBody(**particles())
    assert body == again
    assert hash(body) == hash(again)
    assert body != FlexibleBody(**{**particles(), "damping": [0.0, 1e-9]})
    assert (body.modes, body.shapes, body.is_clamped) == (2, 3, True)
    copied = pickle.loads(pickle.dumps(body))
    assert copied == body
    for one in (body, copied):
        assert not one.shape_products.flags.writeable
        assert not one.nodes["tip"].rotation.flags.writeable


def test_modal_masses_are_the_traces_of_shape_products():
    body = FlexibleBody(**particles())
    for i in range(body.shapes):
        for j in range(body.shapes):
            assert body.modal_mass[i, j] == pytest.approx(np.trace(body.shape_products[i, j]))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"damping": [1.0]}, ["damping is of shape (1,)"]),
        (
            {"stiffness": [1.0, 0.0], "damping": [0.0, -1.0]},
            ["stiffness is not above 0", "damping is negative"],
        ),
        ({"inertia": np.triu(np.ones((3, 3)))}, ["inertia is not symmetric"]),
        ({"mass": np.nan}, ["mass is not finite"]),
        ({"nodes": {"root": node((0, 0, 0), 3)}}, ["has no node 'tip'"]),
        ({"labels": ("a", "a")}, ["labels are ('a', 'a')"]),
        ({"length": 0.0, "mass": -1.0}, ["length is 0", "mass is -1"]),
    ],
)
def test_arrays_that_do_not_fit_are_refused_all_at_once(changes, says):
    with pytest.raises(sk.ModelError) as refused:
        FlexibleBody(**{**particles(), **changes})
    assert len(refused.value.faults) == len(says)
    for words in says:
        assert words in str(refused.value)


def test_shapes_that_move_the_root_are_not_clamped():
    body = FlexibleBody(**particles())
    assert not replace(body, nodes={**body.nodes, "root": node((0, 0, 0), 3)}).is_clamped
