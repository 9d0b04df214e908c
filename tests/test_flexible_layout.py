"""What the tables of flexible bodies take for granted of the workspace that they lie behind."""

from dataclasses import replace

import numpy as np
import pytest

import flexible_models
import skodyn as sk
from skodyn.kernels import workspace
from skodyn.model import layout
from skodyn.model.flexible import flexible_layout as at
from skodyn.model.flexible.flexible_products import product_table


@pytest.mark.parametrize("sizes", [(1, 1, 1), (3, 9, 8), (100, 501, 500)])
def test_lanes_begin_where_those_of_rigid_bodies_end(sizes):
    n, nq, nv = sizes
    assert at.first_free_lane(*sizes) == workspace.workspace_lanes(*sizes)
    assert workspace.DOF.size == at.DOF_LANES
    assert at.BLOCK_HEADER == workspace.BLOCK_HEADER
    assert at.mode_lanes(n, 0) == workspace.workspace_lanes(n, 0, 0)
    assert at.mode_lanes(n, nv) == workspace.workspace_lanes(n, nq, nv) - 2 * nq


def test_every_table_begins_where_a_register_fits_into_a_cache_line():
    """Of one state: the workspace and the parameters of its block begin with a line."""
    model, _ = flexible_models.random_system(5)
    tree = model.body_tree
    assert (workspace.BLOCK_HEADER + tree.size) % at.LINE == 0
    table, n = int(tree[layout.FLEXIBLE]), model.n_bodies
    lanes = (
        at.ETA, at.ETA_RATE, at.COUPLING, at.SLOPE, at.CARRIED, at.PAIRS, at.GAINS, at.LOADS,
        at.BIASES, at.BENT, at.PARTS, at.FELT,
    )  # fmt: skip
    numbers = (at.SHAPE_INTEGRALS, at.COUPLINGS, at.MODAL_MASS, at.STIFFNESS, at.DAMPING)
    records = [int(r) for r in tree[table + at.RECORDS : table + at.RECORDS + n] if r]
    assert len(records) == len(model.flexible)
    for record in records:
        assert not (tree[[record + field for field in (*lanes, *numbers)]] % at.FOUR).any()
    nodes = [int(r) for r in tree[table + at.RECORDS + n : table + at.RECORDS + 2 * n] if r]
    for node in nodes:
        assert tree[node + at.NODE_LANES] % at.FOUR == 0
        assert (tree[node + at.NODE_NUMBERS] + 3) % at.FOUR == 0  # shapes, behind the place


def test_a_product_lists_every_number_once_for_one_state_and_for_several():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(12, 11)) * (rng.random((12, 11)) < 0.6)
    matrix[:4, 3:] = 0.0  # a four of few columns
    matrix[[2, 5, 7, 9, 11]] = np.where(np.arange(11) == 1, 3.0, 0.0)  # rows alike
    matrix[10] = 0.0
    numbers: list[float] = []

    def put(values):
        numbers.extend(np.asarray(values).reshape(-1))
        return len(numbers) - np.asarray(values).size

    table = product_table(matrix, put)
    fours, place = np.zeros_like(matrix), 2
    for _ in range(table[0]):
        first, count, start = table[place : place + 3]
        for c, column in enumerate(table[place + 3 : place + 3 + count]):
            fours[first : first + 4, column] = numbers[start + 4 * c : start + 4 * c + 4]
        place += 3 + count
    assert place == table[1]
    rows, seen = np.zeros_like(matrix), []
    for together in (4, 1):
        groups, place = table[place], place + 1
        assert together == 1 or groups > 0
        for _ in range(groups):
            counts, alike = table[place : place + 2], place + 2
            place = alike + 2 * together
            for _ in range(sum(counts)):
                for row, start in zip(
                    table[alike : alike + 2 * together : 2],
                    table[alike + 1 : alike + 2 * together : 2],
                    strict=True,
                ):
                    rows[row, table[place]] = numbers[start + table[place + 1]]
                    assert (counts[1] > 0) <= (row >= 4)  # a second sum only of many columns
                place += 2
            seen += table[alike : alike + 2 * together : 2]
    assert sorted(seen) == list(range(len(matrix)))
    assert np.array_equal(fours, matrix)
    assert np.array_equal(rows, matrix)
    assert place == len(table)


def test_modes_that_bend_in_both_planes_or_in_none_have_their_strain():
    """Curvature that no beam has: a force that is the slope of the energy."""
    rng = np.random.default_rng(3)
    beam = sk.Beam(1.0, 1.0, 2.0, rotary_inertia=1e-3, torsion_stiffness=1.0,
                   modes={"y": 2, "z": 2, "twist": 1})  # fmt: skip
    builder = sk.ModelBuilder(gravity=(0, 0, 0))
    builder.add_body("rod", flexible=beam)
    rod = builder.build().flexible["rod"]
    bends = {
        key: np.where(rng.random(5) < 0.5, getattr(rod.curvature, key) + rng.normal(size=5), 0.0)
        for key in ("slope_y", "curvature_y", "slope_z", "curvature_z")
    }
    builder = sk.ModelBuilder(gravity=(0, 0, 0))
    odd = replace(rod, curvature=replace(rod.curvature, **bends))
    builder.add_body("rod", flexible=odd)
    model = builder.build()
    q, h = 0.3 * rng.normal(size=5), 1e-4
    force = sk.bias_force(model, q, np.zeros(5))
    for i, step in enumerate(h * np.eye(5)):
        ahead, behind, far, near = (
            sk.energy(model, q + s * step, np.zeros(5))[1] for s in (1, -1, 2, -2)
        )
        slope = (8.0 * (ahead - behind) - (far - near)) / (12.0 * h)
        assert force[i] == pytest.approx(slope, rel=1e-8, abs=1e-8)


def test_beams_that_are_alike_share_their_tables():
    builder, parent = sk.ModelBuilder(), "world"
    for name in ("a", "b", "c"):
        stiffness = 3.0 if name == "c" else 2.0
        beam = sk.Beam(1.0, 1.0, stiffness, rotary_inertia=1e-3, modes={"y": 2, "z": 2})
        at_tip = None if parent == "world" else "tip"
        builder.add_body(name, parent, sk.Revolute(axis=(0, 0, 1)), flexible=beam, at=at_tip)
        parent = name
    model = builder.build()
    tree, table = model.body_tree, int(model.body_tree[layout.FLEXIBLE]) + at.RECORDS
    a, b, c = (int(record) for record in tree[table : table + 3])
    for field in (at.TURNING, at.ARMS, at.SQUARES, at.BENDING):
        assert tree[a + field] == tree[b + field]
    assert tree[b + at.TURNING] != tree[c + at.TURNING]  # it carries nothing: other shapes
    assert len({int(tree[record + at.GAINS]) for record in (a, b, c)}) == 3  # lanes of their own
    first, second = (int(node) for node in tree[table + 4 : table + 6])
    assert tree[first + at.NODE_SHAPES] == tree[second + at.NODE_SHAPES]
    assert tree[first + at.NODE_LANES] != tree[second + at.NODE_LANES]
