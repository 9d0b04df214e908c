"""From flexible bodies to the arrays that kernels read; flexible_layout.py says what lies where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.conventions import JointKind
from skodyn.model import flexible_layout as at
from skodyn.model import layout
from skodyn.model.columns import Floats
from skodyn.model.flexible import FlexibleBody, FlexibleNode
from skodyn.model.model import Model
from skodyn.model.products import applied, product

__all__ = ["flexible_numbers", "flexible_trees", "with_flexible"]

Whole = NDArray[np.int64]


def with_flexible(
    rigid: Model, flexible: Mapping[str, FlexibleBody], attached: Mapping[str, str]
) -> Model:
    """A packed model in which some bodies bend.

    rigid: the same with these bodies as they are undeformed. attached: the node of its parent that
    a body hangs on, by body.
    """
    rigid.refuse_mimics("a model with flexible bodies")
    rigid.refuse_loops("a model with flexible bodies")
    modes = np.array([flexible[b].modes if b in flexible else 0 for b in rigid.body_names])
    before = np.cumsum(modes) - modes
    indices = rigid.indices.copy()
    indices[:, layout.Q_START] += before
    indices[:, layout.V_START] += before
    start = layout.HEADER + rigid.n_bodies * layout.BODY_RECORD
    dofs = rigid.parameters[start:].reshape(-1, layout.DOF_RECORD)
    own = np.repeat(indices[:, layout.V_START], indices[:, layout.N_DOF])
    within = np.concatenate([np.arange(count) for count in indices[:, layout.N_DOF].tolist()])
    records = np.zeros((len(dofs) + int(modes.sum()), layout.DOF_RECORD))
    records[(own + within).astype(np.int64)] = dofs
    ordered = {name: flexible[name] for name in rigid.body_names if name in flexible}
    nodes = dict(attached)
    front = np.concatenate((rigid.parameters[:start], records.reshape(-1)))
    numbers = _Numbers(rigid, ordered, nodes, front.size)
    return replace(
        rigid,
        indices=indices,
        parameters=np.concatenate((front, *numbers.pieces)),
        flexible=ordered,
        attached=nodes,
        packed_with=(),
    )


def flexible_numbers(model: Model) -> Floats:
    """The numbers of flexible bodies alone, as they lie behind those of degrees of freedom."""
    start = layout.parameter_count(model.n_bodies, model.nv)
    return np.concatenate(_Numbers(model, model.flexible, model.attached, start).pieces)


def flexible_trees(model: Model) -> Whole:
    """The two trees of a model with flexible bodies, and the table behind them."""
    rows: list[Any] = []
    for k, name in enumerate(model.body_names):
        rows.append(model.indices[k])
        if name in model.flexible:
            rows.append(_mode_row(model, k, model.flexible[name].modes))
    first = np.concatenate((_sizes(model, len(rows)), *rows))
    second = np.concatenate((_sizes(model, model.n_bodies), model.indices.reshape(-1)))
    first[layout.FULL], second[layout.FLEXIBLE] = first.size, second.size
    start = layout.parameter_count(model.n_bodies, model.nv)
    table = _Numbers(model, model.flexible, model.attached, start).table(model, second.size)
    return np.concatenate((first, second, table))


def node_places(model: Model) -> dict[tuple[str, str], int]:
    """Where the record of each node lies in the tree of bodies, for forces that act there."""
    start = layout.parameter_count(model.n_bodies, model.nv)
    numbers = _Numbers(model, model.flexible, model.attached, start)
    numbers.table(model, layout.INDEX_COLUMNS * (model.n_bodies + 1))
    return numbers.places


def manifold_rows(model: Model) -> Whole:
    """Rows of the first tree alone: what moves coordinates."""
    tree = model.kernel_tree
    count = int(tree[layout.N_BODIES])
    rows: Whole = tree[layout.INDEX_COLUMNS : (count + 1) * layout.INDEX_COLUMNS]
    return np.array(rows.reshape(count, layout.INDEX_COLUMNS))


def _sizes(model: Model, rows: int) -> Whole:
    sizes = np.zeros(layout.INDEX_COLUMNS, dtype=np.int64)
    sizes[[layout.N_BODIES, layout.NQ, layout.NV]] = rows, model.nq, model.nv
    return sizes


def _mode_row(model: Model, k: int, modes: int) -> Whole:
    """Modes as if a series of sliding joints carried a body of their own."""
    row = model.indices[k].copy()
    row[layout.KIND] = JointKind.SERIES
    row[layout.Q_START] += model.joints[k].nq
    row[layout.V_START] += model.joints[k].nv
    row[layout.N_DOF] = modes
    found: Whole = row
    return found


class _Numbers:
    """Numbers and integers of all flexible bodies, written one behind the other."""

    def __init__(
        self,
        model: Model,
        flexible: Mapping[str, FlexibleBody],
        attached: Mapping[str, str],
        start: int,
    ) -> None:
        self.place = start
        self.pieces: list[Floats] = [np.empty(0)]
        self.records: dict[str, list[int]] = {}
        self.sparse: dict[str, tuple[list[int], list[int]]] = {}
        self.nodes: dict[str, int] = {}
        self.flexible, self.attached = flexible, attached
        back = {n: model.alignment[model.body_index(n)].T for n in flexible}
        for name, body in flexible.items():
            self._write_body(name, body, back[name])
        for child, name in attached.items():
            parent = model.body_names[model.parent[model.body_index(child)]]
            node = flexible[parent].nodes[name]
            if any(x.any() for x in (node.position, node.translation, node.rotation)):
                self.nodes[child] = self._put(_node_numbers(node, back[parent]))
        self.free: dict[tuple[str, str], int] = {
            (name, node): self._put(_node_numbers(given, back[name]))
            for name, body in flexible.items()
            for node, given in body.nodes.items()
        }

    def _put(self, values: Any) -> int:
        piece = np.ascontiguousarray(values, dtype=np.float64).reshape(-1)
        self.pieces.append(piece)
        self.place += piece.size
        return self.place - piece.size

    def _write_body(self, name: str, body: FlexibleBody, back: Floats) -> None:
        record = [0] * at.FLEXIBLE_RECORD
        m, n = body.modes, body.shapes
        record[at.MODES], record[at.SLAVES], record[at.SHAPES] = m, n - m, n
        record[at.SHAPE_INTEGRALS] = self._put(applied(back[None], body.shape_integrals))
        record[at.COUPLINGS] = self._put(nine(turned(back, body.position_shapes)))
        mass = body.modal_mass
        record[at.MODAL_MASS] = self._put(0.5 * (mass + mass.T))
        record[at.IS_MIXED] = int(mass[:m, m:].any())
        record[at.STIFFNESS] = self._put(body.stiffness)
        record[at.DAMPING] = self._put(body.damping)
        if body.curvature is not None:
            c = body.curvature
            columns = (c.weights[:, None], c.slope_y, c.curvature_y, c.slope_z, c.curvature_z)
            record[at.GAUSS_POINTS] = len(c.weights)
            record[at.GAUSS] = self._put(np.concatenate(columns, axis=1))
        pairs = nine(turned(back, body.shape_products))  # (j, i, nine): what ηⱼ adds to Qᵢ
        products, values = sparse_rows(pairs.transpose(1, 2, 0).reshape(9 * n, n))
        record[at.PRODUCT_NUMBERS] = self._put(values)
        squares, values = sparse_rows(body.slaves.reshape(-1, m))
        record[at.SQUARE_NUMBERS] = self._put(values)
        self.records[name], self.sparse[name] = record, (products, squares)

    def table(self, model: Model, place: int) -> Whole:
        """The integers, that will lie from `place` on."""
        n = model.n_bodies
        front = np.zeros(at.RECORDS + 2 * n, dtype=np.int64)
        behind: list[int] = []
        lanes = 0
        for name, record in self.records.items():
            k = model.body_index(name)
            record[at.MODE_Q] = int(model.indices[k, layout.Q_START]) + model.joints[k].nq
            record[at.MODE_V] = int(model.indices[k, layout.V_START]) + model.joints[k].nv
            lanes = _place_lanes(record, lanes)
            here = place + front.size + len(behind)
            products, squares = self.sparse[name]
            record[at.PRODUCTS] = here + at.FLEXIBLE_RECORD
            record[at.SQUARES] = record[at.PRODUCTS] + len(products)
            front[at.RECORDS + k] = here
            behind += [*record, *products, *squares]
        for child, numbers in self.nodes.items():
            k = model.body_index(child)
            front[at.RECORDS + n + k] = place + front.size + len(behind)
            behind += [numbers, lanes]
            lanes += 6 * self.flexible[model.body_names[model.parent[k]]].modes
        self.places: dict[tuple[str, str], int] = {}
        for key, numbers in self.free.items():
            self.places[key] = place + front.size + len(behind)
            behind += [numbers, lanes]
            lanes += 6 * self.flexible[key[0]].modes
        front[at.FLEXIBLE_COUNT], front[at.FLEXIBLE_LANES] = len(self.records), lanes
        return np.concatenate((front, np.array(behind, dtype=np.int64)))


def _place_lanes(record: list[int], lanes: int) -> int:
    """Give a body its part of the workspace; where the next one's begins."""
    m, b, n = record[at.MODES], record[at.SLAVES], record[at.SHAPES]
    sizes = {
        at.ETA: n, at.ETA_RATE: n, at.SLAVE_PRODUCT: b, at.COUPLING: at.COUPLING_NUMBERS * n,
        at.ARM_RATE: 3 * n, at.SLOPE: b * m, at.SLOPE_RATE: b * m, at.CARRIED: b * m,
        at.OWN: at.OWN_LANES, at.PAIRS: at.lower(m),
    }  # fmt: skip
    for field, size in sizes.items():
        record[field] = lanes
        lanes += size
    return lanes


def _node_numbers(node: FlexibleNode, back: Floats) -> Floats:
    """s, then φ and ψ of each shape."""
    moves, turns = applied(back[None], node.translation.T), applied(back[None], node.rotation.T)
    shapes = np.concatenate((moves, turns), axis=1)
    return np.concatenate(
        (applied(back[None], node.position[None]).reshape(-1), shapes.reshape(-1))
    )


def turned(back: Floats, matrices: Floats) -> Floats:
    """Matrices of body axes in those of the kernel."""
    flat = matrices.reshape(-1, 3, 3)
    there = product(product(np.broadcast_to(back, flat.shape), flat), back.T[None])
    return there.reshape(matrices.shape)


def nine(matrices: Floats) -> Floats:
    """D and ax of 3×3 matrices."""
    a = matrices
    trace = 2.0 * (a[..., 0, 0] + a[..., 1, 1] + a[..., 2, 2])
    return np.stack(
        (
            trace - 2.0 * a[..., 0, 0], -(a[..., 0, 1] + a[..., 1, 0]),
            -(a[..., 0, 2] + a[..., 2, 0]), trace - 2.0 * a[..., 1, 1],
            -(a[..., 1, 2] + a[..., 2, 1]), trace - 2.0 * a[..., 2, 2],
            a[..., 1, 2] - a[..., 2, 1], a[..., 2, 0] - a[..., 0, 2], a[..., 0, 1] - a[..., 1, 0],
        ),
        axis=-1,
    )  # fmt: skip


def sparse_rows(matrix: Floats) -> tuple[list[int], Floats]:
    """Rows that are not zero: how many, then of each its number, how many entries, their columns;
    and the entries. What is below rounding of the largest is zero."""
    least = 1e-15 * np.abs(matrix).max(initial=0.0)
    whole: list[int] = [0]
    values: list[float] = []
    for row, entries in enumerate(matrix):
        columns: Sequence[int] = np.flatnonzero(np.abs(entries) > least).tolist()
        if columns:
            whole[0] += 1
            whole += [row, len(columns), *columns]
            values += entries[columns].tolist()
    return whole, np.array(values)
