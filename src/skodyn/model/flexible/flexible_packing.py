"""From flexible bodies to the arrays that kernels read; flexible_layout.py says what lies where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skodyn.conventions import JointKind
from skodyn.model import layout
from skodyn.model.flexible import flexible_layout as at
from skodyn.model.flexible.flexible_products import by_components, product_table, without_rounding
from skodyn.model.flexible.modal_body import BeamCurvature, FlexibleBody, FlexibleNode
from skodyn.model.loops.bent_loops import of_one_group
from skodyn.model.loops.loop_tables import loop_table
from skodyn.model.model import Model
from skodyn.model.products import applied, product
from skodyn.typing import Floats

__all__ = ["flexible_numbers", "flexible_trees", "with_flexible"]

Whole = NDArray[np.int64]
NOTHING = np.zeros(0)


def with_flexible(
    rigid: Model, flexible: Mapping[str, FlexibleBody], attached: Mapping[str, str]
) -> Model:
    """A packed model in which some bodies bend.

    rigid: the same with these bodies as they are undeformed. attached: the node of its parent that
    a body hangs on, by body.
    """
    rigid._refuse_mimics("a model with flexible bodies")
    modes = np.array([flexible[b].modes if b in flexible else 0 for b in rigid.body_names])
    before = np.cumsum(modes) - modes
    indices = rigid.indices.copy()
    indices[:, layout.Q_START] += before
    indices[:, layout.V_START] += before
    start = layout.HEADER + rigid.n_bodies * layout.BODY_RECORD
    stop = layout.parameter_count(rigid.n_bodies, rigid.nv)
    dofs = rigid.parameters[start:stop].reshape(-1, layout.DOF_RECORD)
    own = np.repeat(indices[:, layout.V_START], indices[:, layout.N_DOF])
    within = np.concatenate([np.arange(count) for count in indices[:, layout.N_DOF].tolist()])
    records = np.zeros((len(dofs) + int(modes.sum()), layout.DOF_RECORD))
    records[(own + within).astype(np.int64)] = dofs
    ordered = {name: flexible[name] for name in rigid.body_names if name in flexible}
    nodes = dict(attached)
    front = np.concatenate((rigid.parameters[:start], records.reshape(-1)))
    numbers = _Numbers(rigid, ordered, nodes, front.size)
    loops = of_one_group(rigid.parameters[stop:], rigid, ordered) if rigid.has_loops else NOTHING
    return replace(
        rigid,
        indices=indices,
        parameters=np.concatenate((front, *numbers.pieces, loops)),
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
    rows = model._manifold_indices
    first = np.concatenate((_sizes(model, len(rows)), rows.reshape(-1)))
    second = np.concatenate((_sizes(model, model.n_bodies), model.indices.reshape(-1)))
    first[layout.FULL], second[layout.FLEXIBLE] = first.size, second.size
    start = layout.parameter_count(model.n_bodies, model.nv)
    table = _Numbers(model, model.flexible, model.attached, start).table(model, second.size)
    if not model.has_loops:
        return np.concatenate((first, second, table))
    place = second.size + table.size
    first[layout.LOOPS], second[layout.LOOPS] = first.size + place, place
    loops = loop_table(model, place, int(table[at.FLEXIBLE_LANES]))
    rest = np.zeros(-(at.BLOCK_HEADER + place + loops.size) % at.LINE, dtype=np.int64)
    return np.concatenate((first, second, table, loops, rest))


def node_places(model: Model) -> dict[tuple[str, str], int]:
    """Where the record of each node lies in the tree of bodies, for forces that act there."""
    start = layout.parameter_count(model.n_bodies, model.nv)
    numbers = _Numbers(model, model.flexible, model.attached, start)
    numbers.table(model, layout.INDEX_COLUMNS * (model.n_bodies + 1))
    return numbers.places


def manifold_rows(model: Model) -> Whole:
    """Rows of the first tree alone: what moves coordinates."""
    rows: list[Any] = []
    for k, name in enumerate(model.body_names):
        rows.append(model.indices[k])
        if name in model.flexible:
            rows.append(_mode_row(model, k, model.flexible[name].modes))
    return np.array(rows)


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
        self.place = at.whole_fours(start)
        self.pieces: list[Floats] = [np.zeros(self.place - start)]
        self.known: dict[bytes, int] = {}
        self.records: dict[str, list[int]] = {}
        self.products: dict[str, list[list[int]]] = {}
        self.nodes: dict[str, _Node] = {}
        self.flexible, self.attached = flexible, attached
        back = {n: model.alignment[model.body_index(n)].T for n in flexible}
        for name, body in flexible.items():
            self._write_body(name, body, back[name])
        for child, name in attached.items():
            parent = model.body_names[model.parent[model.body_index(child)]]
            node = flexible[parent].nodes[name]
            if any(x.any() for x in (node.position, node.translation, node.rotation)):
                self.nodes[child] = self._write_node(node, back[parent], flexible[parent])
        self.free: dict[tuple[str, str], _Node] = {
            (name, node): self._write_node(given, back[name], body)
            for name, body in flexible.items()
            for node, given in body.nodes.items()
        }

    def _put(self, values: Any) -> int:
        """Where these numbers lie; bodies that are alike share them."""
        key = np.ascontiguousarray(values, dtype=np.float64).tobytes()
        if key not in self.known:
            self.known[key] = self._put_alone(values)
        return self.known[key]

    def _put_alone(self, values: Any) -> int:
        piece = np.ascontiguousarray(values, dtype=np.float64).reshape(-1)
        self.pieces.append(piece)
        self.place += piece.size
        return self.place - piece.size

    def _write_body(self, name: str, body: FlexibleBody, back: Floats) -> None:
        record = [0] * at.FLEXIBLE_RECORD
        m, n = body.modes, body.shapes
        record[at.MODES], record[at.SLAVES], record[at.SHAPES] = m, n - m, n
        record[at.PITCH], record[at.MODE_PITCH] = at.whole_fours(n), at.whole_fours(m)
        record[at.SHAPE_INTEGRALS] = self._put(
            by_components(applied(back[None], body.shape_integrals))
        )
        coupling = nine(turned(back, body.position_shapes)) + 0.0  # no zero has a sign
        record[at.COUPLINGS] = self._put(by_components(coupling))
        mass = 0.5 * (body.modal_mass + body.modal_mass.T)
        record[at.MODAL_MASS] = self._put(by_components(mass))
        record[at.IS_MIXED] = int(mass[:m, m:].any())
        record[at.STIFFNESS] = self._put_alone(by_components(body.stiffness[:, None]))
        record[at.DAMPING] = self._put_alone(by_components(body.damping[:, None]))
        pairs = nine(turned(back, body.shape_products))  # (j, i, nine): what ηⱼ adds to Qᵢ
        products = _rows_of_fours(without_rounding(pairs.transpose(2, 1, 0)))
        squares = _rows_of_fours(without_rounding(body.slaves))
        turns = 6 * record[at.PITCH]
        matrices = [products[:turns], products[turns:], squares]
        if body.curvature is not None:
            c = body.curvature
            points = len(c.weights)
            record[at.GAUSS_POINTS], record[at.POINT_PITCH] = points, at.whole_fours(points)
            record[at.GAUSS] = self._put(by_components(c.weights[:, None]))
        self.records[name] = record
        self.products[name] = [product_table(matrix, self._put) for matrix in matrices]
        if body.curvature is not None:
            self.products[name].append(self._planes(body.curvature))

    def _planes(self, given: BeamCurvature) -> list[int]:
        """Which modes bend a beam in y and in z, with what slopes and curvatures."""
        bends = without_rounding(
            np.stack((given.slope_y, given.curvature_y, given.slope_z, given.curvature_z))
        )
        counts, entries = [], []
        for plane in (bends[:2], bends[2:]):
            modes = np.flatnonzero(plane.any(axis=(0, 1))).tolist()
            counts.append(len(modes))
            for mode in modes:
                entries += [mode, self._put(by_components(plane[:, :, mode].T))]
        return [*counts, *entries]

    def _write_node(self, node: FlexibleNode, back: Floats, body: FlexibleBody) -> _Node:
        moves, turns = applied(back[None], node.translation.T), applied(back[None], node.rotation.T)
        both = without_rounding(moves), without_rounding(turns)
        shapes = np.concatenate(both, axis=1)  # (shapes, φ and ψ)
        place = applied(back[None], node.position[None]).reshape(-1)
        numbers = np.concatenate(([0.0], place, by_components(shapes).reshape(-1)))
        rows = _rows_of_fours(shapes.T[None])
        tables = [product_table(rows, self._put), product_table(rows[:, body.modes :], self._put)]
        return _Node(self._put(numbers) + 1, tables)

    def table(self, model: Model, place: int) -> Whole:
        """The integers, that will lie from `place` on."""
        n = model.n_bodies
        front = np.zeros(at.RECORDS + 2 * n, dtype=np.int64)
        behind: list[int] = []
        known: dict[tuple[int, ...], int] = {}

        def shared(table: list[int]) -> int:
            """Where a product lies; that of bodies that are alike stays in the fastest cache."""
            if tuple(table) not in known:
                known[tuple(table)] = place + front.size + len(behind)
                behind.extend(table)
            return known[tuple(table)]

        free = at.first_free_lane(n, model.nq, model.nv)
        start = at.whole_lines(free)
        lanes = max(_place_lanes(record, start, at.SCRATCH) for record in self.records.values())
        for name, record in self.records.items():
            k = model.body_index(name)
            record[at.MODE_Q] = int(model.indices[k, layout.Q_START]) + model.joints[k].nq
            record[at.MODE_V] = int(model.indices[k, layout.V_START]) + model.joints[k].nv
            record[at.MODE_SLOT] = at.mode_lanes(n, record[at.MODE_V])
            lanes = _place_lanes(record, lanes, _KEPT)
            for field, table in zip(_PRODUCTS, self.products[name], strict=False):
                record[field] = shared(table)
            front[at.RECORDS + k] = place + front.size + len(behind)
            behind += record
        for child, node in self.nodes.items():
            k = model.body_index(child)
            products = [shared(table) for table in node.products]
            front[at.RECORDS + n + k] = place + front.size + len(behind)
            behind += [node.numbers, lanes, *products]
            lanes += self._node_lanes(model.body_names[model.parent[k]])
        self.places: dict[tuple[str, str], int] = {}
        for key, node in self.free.items():
            products = [shared(table) for table in node.products]
            self.places[key] = place + front.size + len(behind)
            behind += [node.numbers, lanes, *products]
            lanes += self._node_lanes(key[0])
        front[at.FLEXIBLE_COUNT], front[at.FLEXIBLE_LANES] = len(self.records), lanes - free
        behind += [0] * (-(at.BLOCK_HEADER + place + front.size + len(behind)) % at.LINE)
        return np.concatenate((front, np.array(behind, dtype=np.int64)))

    def _node_lanes(self, name: str) -> int:
        return 6 * at.whole_fours(self.flexible[name].modes)


_KEPT = (at.ETA, at.ETA_RATE, at.SLAVE_PRODUCT, at.SLOPE, at.OWN, at.PAIRS, at.GAINS, at.LOADS)


def _place_lanes(record: list[int], lanes: int, fields: tuple[int, ...]) -> int:
    """Give these tables of a body their part of the workspace; where it ends."""
    m, b = record[at.MODES], record[at.SLAVES]
    n, masters, points = record[at.PITCH], record[at.MODE_PITCH], record[at.POINT_PITCH]
    sizes = {
        at.ETA: n, at.ETA_RATE: n, at.SLAVE_PRODUCT: b, at.COUPLING: at.COUPLING_NUMBERS * n,
        at.ARM_RATE: 3 * n, at.SLOPE: b * masters, at.SLOPE_RATE: b * masters,
        at.CARRIED: b * masters, at.OWN: at.OWN_LANES, at.PAIRS: m * masters,
        at.GAINS: 6 * masters, at.LOADS: masters, at.BIASES: n, at.BENT: max(points, 16),
        at.PARTS: at.FOUR * masters, at.FELT: 6 * masters,
    }  # fmt: skip
    for field in fields:
        record[field] = lanes
        lanes += at.whole_fours(sizes[field])
    return lanes


_PRODUCTS = (at.TURNING, at.ARMS, at.SQUARES, at.BENDING)


@dataclass(frozen=True)
class _Node:
    """Where the numbers of a node lie, and its two products."""

    numbers: int
    products: list[list[int]]


def _rows_of_fours(matrices: Floats) -> Floats:
    """Matrices one below the other, each with rows of zeros up to whole fours."""
    count, rows, columns = matrices.shape
    found = np.zeros((count, at.whole_fours(rows), columns))
    found[:, :rows] = matrices
    return found.reshape(-1, columns)


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
