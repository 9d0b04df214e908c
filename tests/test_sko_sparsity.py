"""The predicted patterns are those of the numbers (Jain 2011-II and 2012-I, sections 7)."""

import numpy as np
import pytest

import adapters
import naive
import skodyn as sk
from sko_twin import Twin, random_parents
from skodyn.sko import SKOModel, sparsity
from skodyn.sko.sparsity_patterns import OPERATORS


def generic(rng, parents, extremes=True):
    """A described model without accidental zeros: full weights, joints from locked to free."""
    n = len(parents)
    m = rng.integers(2, 5, size=n)
    dofs = [int(rng.integers(0 if extremes else 1, size + extremes)) for size in m]
    factors = [rng.normal(size=(size, size)) for size in m]
    return {
        "parents": parents,
        "A": [None if p < 0 else rng.normal(size=(m[p], m[k])) for k, p in enumerate(parents)],
        "H": [rng.normal(size=(d, size)) for d, size in zip(dofs, m, strict=True)],
        "M": [f @ f.T + np.eye(len(f)) for f in factors],
        "a": [np.zeros(size) for size in m],
        "b": [np.zeros(size) for size in m],
    }


def numerical(twin, operator):
    """The pattern that a dense operator shows, by node."""
    matrix, slices = {
        "E": (twin.E, twin.nodes),
        "A": (twin.A, twin.nodes),
        "mass_matrix": (twin.mass, twin.dofs),
        "mass_matrix_inverse": (np.linalg.inv(twin.mass), twin.dofs),
        "Omega": (twin.Omega, twin.nodes),
    }[operator]
    small = 1e-10 * np.abs(matrix).max(initial=0.0)
    return np.array(
        [[bool((np.abs(matrix[r, c]) > small).any()) for c in slices] for r in slices]
    ).reshape(len(slices), len(slices))


@pytest.mark.parametrize("seed", range(60))
def test_patterns_from_the_tree_are_those_of_the_numbers(seed):
    rng = np.random.default_rng([11, seed])
    shape = ("chain", "star", "tree", "forest")[seed % 4]
    described = generic(rng, random_parents(rng, 2 + seed // 8, shape))
    given = dict(described)
    model = SKOModel(given.pop("parents"), **given)
    twin, predicted = Twin(described, model.tree.order), sparsity(model)
    for operator in OPERATORS:
        expected = numerical(twin, operator)
        np.testing.assert_array_equal(predicted.pattern(operator), expected, operator)


def five_segments(lengths=(2, 3, 1, 2, 3)):
    """Figure 6 of Jain 2012-I: segments 1 and 2 on 4, 3 and 4 on 5, numbered as there."""
    inner = {1: 4, 2: 4, 3: 5, 4: 5, 5: None}
    builder = sk.ModelBuilder()
    rng = np.random.default_rng(12)
    for s in (5, 4, 3, 2, 1):
        for i in reversed(range(lengths[s - 1])):  # body 1 is the tip of its segment
            base = i == lengths[s - 1] - 1
            parent = f"{s}.{i + 2}" if not base else f"{inner[s]}.1" if inner[s] else "world"
            mass, com, inertia = naive.random_inertia(rng)
            builder.add_body(
                f"{s}.{i + 1}", parent, sk.Revolute(naive.random_unit(rng)),
                translation=rng.normal(size=3), mass=mass, com=com, inertia=inertia,
            )  # fmt: skip
    return builder.build()


def in_paper_order(predicted, operator):
    """The pattern by segment with the paper's numbers 1 … 5."""
    tree = predicted.segments.tree
    place = [
        next(k for k, n in enumerate(tree.names) if n.startswith(f"{s}.")) for s in range(1, 6)
    ]
    return predicted.by_segment(operator)[np.ix_(place, place)].astype(int).tolist()


def test_the_five_segment_tree_of_figure_6_has_the_patterns_of_the_paper():
    model = five_segments()
    predicted = sk.sparsity(model)
    assert len(predicted.segments) == 5
    assert in_paper_order(predicted, "E") == [  # eq. 43
        [1, 0, 0, 0, 0],
        [0, 1, 0, 0, 0],
        [0, 0, 0, 0, 0],  # segment 3 is one body here: no edge inside
        [1, 1, 0, 1, 0],
        [0, 0, 1, 1, 1],
    ]
    assert in_paper_order(predicted, "A") == [  # eq. 45
        [1, 0, 0, 0, 0],
        [0, 1, 0, 0, 0],
        [0, 0, 1, 0, 0],
        [1, 1, 0, 1, 0],
        [1, 1, 1, 1, 1],
    ]
    assert in_paper_order(predicted, "mass_matrix") == [  # figure 7
        [1, 0, 0, 1, 1],
        [0, 1, 0, 1, 1],
        [0, 0, 1, 0, 1],
        [1, 1, 0, 1, 1],
        [1, 1, 1, 1, 1],
    ]
    assert predicted.by_segment("mass_matrix_inverse").all()


@pytest.mark.parametrize("seed", range(6))
def test_patterns_of_rigid_models_are_those_of_their_matrices(seed):
    rng = np.random.default_rng([13, seed])
    bodies = naive.random_bodies(rng, 10, branching=0.6, rotors=0.5 * (seed % 2))
    model = adapters.build(bodies)
    q, _ = model.random_state(rng)
    predicted = sk.sparsity(model)
    slices = [model.v_slice(name) for name in model.joint_names]
    for operator, matrix in (
        ("mass_matrix", sk.mass_matrix(model, q)),
        ("mass_matrix_inverse", sk.mass_matrix_inverse(model, q)),
    ):
        small = 1e-12 * np.abs(matrix).max()
        shown = [[bool((np.abs(matrix[r, c]) > small).any()) for c in slices] for r in slices]
        np.testing.assert_array_equal(predicted.pattern(operator), shown, operator)


def test_counts_densities_and_fill_in():
    predicted = sk.sparsity(five_segments())
    related = sum(len(predicted.tree.ancestors(k)) + 1 for k in range(11))
    assert predicted.entries("A") == 36 * related
    assert predicted.entries("mass_matrix") == 2 * related - 11
    assert predicted.density("mass_matrix_inverse") == 1.0
    assert predicted.fill_in == 121 - (2 * related - 11)
    assert "5 segments" in repr(predicted)
    with pytest.raises(sk.StateError, match="no pattern of 'M'"):
        predicted.pattern("M")
