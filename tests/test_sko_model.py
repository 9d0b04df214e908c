"""SKOModel: what it takes, in which order, and what it refuses."""

import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import skodyn as sk
from skodyn.sko import Blocks
from skodyn.topology import Tree

EYE = np.eye(2)


def described(**changes):
    """Three nodes, a chain and a branch: `root` (2 velocities), `arm` (3) and `leg` (1)."""
    blocks = {
        "A": {"arm": np.ones((2, 3)), "leg": np.ones((2, 1))},
        "H": {"root": [[1, 0]], "arm": np.eye(3)[:2], "leg": [1.0]},
        "M": {"root": 2 * EYE, "arm": np.eye(3), "leg": 4.0},
    }
    return blocks | changes


def build(**changes):
    return sk.SKOModel([-1, 0, 0], **described(**changes), names=["root", "arm", "leg"])


def changed(key, node, value):
    """The described model with one entry replaced."""
    return {key: described()[key] | {node: value}}


def test_blocks_are_found_by_name_and_by_index():
    model = build()
    assert model.names == ("root", "arm", "leg")
    assert (model.A_block("arm") == np.ones((2, 3))).all()
    assert model.A_block("root").shape == (0, 2)
    assert (model.H_block(1) == np.eye(3)[:2]).all()
    assert model.M_block("leg") == 4.0
    assert (model.sizes == [2, 3, 1]).all()
    assert (model.dofs == [1, 2, 1]).all()
    assert (model.size, model.nv, model.n_nodes) == (6, 4, 3)
    assert model.node_slice("arm") == slice(2, 5)
    assert model.dof_slice("leg") == slice(3, 4)
    assert repr(model) == "<SKOModel: 3 nodes, Σm=6, nv=4>"


def test_everything_is_read_only():
    model = build(a={"root": [1, 2], "arm": [3, 4, 5], "leg": [6]})
    assert (model.a == [1, 2, 3, 4, 5, 6]).all()
    assert not model.b.any()
    for array in (model.a, model.b, model.M_block(0), model.weights.data, model.sizes):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(AttributeError):
        model.a = model.b


def test_lists_follow_the_order_of_the_parents_and_results_that_of_the_tree():
    """leg comes first in the list and last in the tree."""
    d = described()
    given = ["leg", "root", "arm"]
    lists = {key: [d[key].get(name) for name in given] for key in d}
    model = sk.SKOModel([1, -1, 1], **lists, names=given)
    assert model.names == ("root", "leg", "arm")
    for name in given:
        assert (model.M_block(name) == build().M_block(name)).all()
        assert (model.A_block(name) == build().A_block(name)).all()
        assert (model.H_block(name) == build().H_block(name)).all()


def test_lists_beside_a_tree_follow_its_names():
    tree = Tree([1, -1, 1], ["leg", "root", "arm"])
    d = described()
    lists = {key: [d[key].get(name) for name in tree.names] for key in d}
    assert (sk.SKOModel(tree, **lists).M_block("arm") == np.eye(3)).all()


def test_a_locked_node_has_no_H_and_passes_its_whole_inertia_on():
    H = described()["H"]
    del H["arm"]
    model = build(H=H)
    assert model.H_block("arm").shape == (0, 3)
    got = sk.sko.riccati(model)
    assert (got.P_plus[1] == got.P[1]).all()


def test_a_model_without_nodes_has_empty_answers():
    model = sk.SKOModel([], A=[], H=[], M=[])
    assert model.size == model.nv == 0
    assert len(sk.sko.riccati(model).P) == 0
    assert sk.sko.gather(model.tree, model.weights, np.zeros(0)).shape == (0,)
    assert sk.sko.gather(model.tree, model.weights, np.zeros((0, 2))).shape == (0, 2)


def test_a_pickled_model_comes_back():
    model = pickle.loads(pickle.dumps(build()))
    assert (model.M_block("arm") == np.eye(3)).all()
    assert model.names == ("root", "arm", "leg")
    assert len(sk.sko.riccati(model).P) == 3
    assert not model.M.data.flags.writeable


def test_a_massless_node_is_taken_when_asked_for_and_found_out_when_it_cannot_move():
    massless = changed("M", "arm", np.zeros((3, 3)))
    model = build(**massless, semidefinite=True)
    with pytest.raises(sk.DynamicsError, match="Node 'arm' has no inertia in one of its"):
        sk.sko.riccati(model)


def test_a_negative_inertia_is_refused_even_then():
    with pytest.raises(sk.ModelError, match="Node 'arm': M is not positive semidefinite"):
        build(**changed("M", "arm", np.diag([1.0, 0.0, -1.0])), semidefinite=True)


def test_numbers_too_large_for_a_double_are_told_from_missing_inertia():
    model = build(**changed("M", "leg", 1e200), **changed("H", "leg", 1e80))
    with pytest.raises(sk.DynamicsError, match="Node 'leg': D is not finite"):
        sk.sko.riccati(model)


FAULTS = [
    (changed("M", "arm", np.ones((3, 2))), "Node 'arm': M is 3×2; give a square matrix"),
    (changed("M", "arm", np.zeros((3, 3))), "Node 'arm': M is not positive definite"),
    (changed("M", "arm", -np.eye(3)), "Node 'arm': M is not positive definite"),
    (changed("M", "root", [[1, 0.5], [0, 1]]), "Node 'root': M is not symmetric"),
    (changed("M", "root", [[1, 2], [2, 1]]), "Node 'root': M is not positive definite"),
    (changed("M", "root", None), "Node 'root' has no M"),
    (changed("M", "root", np.nan), r"Node 'root': M\[\] is nan; give finite"),
    (changed("M", "root", [1, 2]), r"Node 'root': M has shape \(2,\); give 2 axes"),
    (changed("M", "root", "two"), "Node 'root': M is not an array of real numbers"),
    (changed("M", "root", [[1, np.inf], [0, 1]]), r"Node 'root': M\[0, 1\] is inf"),
    (changed("M", "armm", EYE), "M has an entry for 'armm', no node; did you mean 'arm'?"),
    (
        changed("H", "arm", np.ones((2, 3))),
        "Node 'arm': the rows of H .2×[13]. are linearly dependent",
    ),
    (
        changed("H", "arm", np.zeros((1, 3))),
        "Node 'arm': the rows of H .1×3. are linearly dependent",
    ),
    (
        changed("H", "leg", [[1.0], [2.0]]),
        "Node 'leg': the rows of H .2×[13]. are linearly dependent",
    ),
    (changed("H", "arm", np.ones((1, 2))), "Node 'arm': H is 1×2; give rows of 3 numbers"),
    (changed("A", "arm", np.ones((3, 2))), "Node 'arm': A is 3×2; give 2×3"),
    (changed("A", "arm", None), "Node 'arm' has no A; give it one"),
    (changed("A", "root", EYE), "Node 'root' is a base and has a weight A"),
    ({"a": {"root": [1], "arm": [1, 2, 3], "leg": [1]}}, "Node 'root': a has 1 numbers; give 2"),
    ({"b": {"root": [1, 2], "leg": [1]}}, "Node 'arm' has no b"),
    ({"M": [EYE, EYE]}, "M has 2 entries for 3 nodes; give one for each"),
    ({"M": 3.0}, "M is float; give a dict by node or a list"),
]


@pytest.mark.parametrize(("changes", "message"), FAULTS, ids=[message for _, message in FAULTS])
def test_a_model_that_is_none_is_refused_with_the_node_named(changes, message):
    with pytest.raises(sk.ModelError, match=message) as caught:
        build(**changes)
    assert len(caught.value.faults) == 1, caught.value.faults


def test_all_faults_are_named_at_once():
    with pytest.raises(sk.ModelError) as caught:
        build(**changed("M", "arm", -np.eye(3)), **changed("H", "root", [[0, 0]]),
              **changed("A", "leg", np.ones((1, 1))))  # fmt: skip
    assert len(caught.value.faults) == 3


def test_what_is_no_tree_is_refused():
    with pytest.raises(sk.TopologyError, match="cycle"):
        sk.SKOModel([1, 0], A=[EYE, EYE], H=[EYE, EYE], M=[EYE, EYE])
    with pytest.raises(sk.ModelError, match="names come with the Tree"):
        sk.SKOModel(Tree([-1]), A=[None], H=[EYE], M=[EYE], names=["x"])


def test_units_do_not_make_a_block_singular():
    """Rows and inertias that differ by 10²⁰ in size are independent all the same."""
    build(
        **changed("M", "root", np.diag([1e-10, 1e10])),
        **changed("H", "root", np.diag([1e-10, 1e10])),
    )


BAD_VECTORS = [
    (np.zeros(5), r"x has shape \(5,\); give \(6,\)"),
    (np.zeros((6, 1, 1)), r"x has shape \(6, 1, 1\)"),
    ([0, 0, np.nan, 0, 0, 0], r"x\[2\] is nan"),
    ("six", "x is not an array of real numbers"),
]


@pytest.mark.parametrize(("x", "message"), BAD_VECTORS)
def test_a_vector_that_does_not_fit_is_refused(x, message):
    model = build()
    with pytest.raises(sk.StateError, match=message):
        sk.sko.gather(model.tree, model.weights, x)
    with pytest.raises(sk.StateError, match=message):
        sk.sko.pass_outward(model.tree, model.weights, x)


def test_blocks_that_do_not_fit_the_tree_are_refused():
    model = build()
    with pytest.raises(sk.StateError, match="2 blocks for a tree of 3 nodes"):
        sk.sko.gather(model.tree, Blocks.of([EYE, EYE]), np.zeros(4))
    with pytest.raises(sk.StateError, match="block of node 'root' has 2 rows; its parent needs 0"):
        sk.sko.gather(model.tree, model.M, np.zeros(6))


def test_blocks_read_as_a_list():
    blocks = Blocks.of([np.ones((1, 2)), np.zeros((0, 3)), [[4.0]]])
    assert len(blocks) == 3
    assert [b.shape for b in blocks] == [(1, 2), (0, 3), (1, 1)]
    assert blocks[-1] == 4.0
    with pytest.raises(IndexError):
        blocks[3]
    assert (blocks.dense() == [[1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 4]]).all()


def test_the_documentation_names_every_function():
    pages = (Path(__file__).parent.parent / "docs").rglob("*.md")
    words = set(re.findall(r"\w+", "\n".join(page.read_text() for page in pages)))
    assert {name for name in sk.sko.__all__ if name.islower()} <= words


FOR_ROBOTS = {
    "forward_dynamics": lambda m: sk.forward_dynamics(m, [0.0], [0.0], [0.0]),
    "inverse_dynamics": lambda m: sk.inverse_dynamics(m, [0.0], [0.0], [0.0]),
    "mass_matrix": lambda m: sk.mass_matrix(m, [0.0]),
    "mass_matrix_inverse": lambda m: sk.mass_matrix_inverse(m, np.zeros((8, 1))),
    "jacobian": lambda m: sk.jacobian(m, [0.0], "a"),
    "forward_kinematics": lambda m: sk.forward_kinematics(m, [0.0]),
    "derivatives": lambda m: sk.forward_dynamics_derivatives(m, [0.0], [0.0], [0.0]),
    "body_inertias": lambda m: sk.body_inertias(m, [0.0]),
    "fixman": lambda m: sk.fixman.mass_matrix_logdet(m, [0.0]),
    "fixman_potential": lambda m: sk.fixman_potential(m, [0.0], 1.0),
    "sample_velocity": lambda m: sk.sample_velocity(m, [0.0], 1.0, np.random.default_rng(0)),
    "sko_model": lambda m: sk.sko_model(m, [0.0], [0.0]),
}


@pytest.mark.parametrize("name", FOR_ROBOTS)
def test_functions_for_robots_refuse_general_models_in_a_sentence(name):
    model = sk.SKOModel([-1], A=[None], H=[np.eye(1)], M=[np.eye(1)], names=["a"])
    with pytest.raises(sk.ModelError, match="belongs to models of rigid bodies; give a Model"):
        FOR_ROBOTS[name](model)


def test_what_no_model_has_is_an_ordinary_attribute_error():
    model = sk.SKOModel([-1], A=[None], H=[np.eye(1)], M=[np.eye(1)])
    assert not hasattr(model, "mimics")
    with pytest.raises(AttributeError, match="no attribute 'wheels'"):
        _ = model.wheels
    assert copy.deepcopy(model).n_nodes == pickle.loads(pickle.dumps(model)).n_nodes == 1
