"""Loops as kernels read them: a table of integers behind the tree.

Its layout is that of loop_layout.py; the numbers it points to are those of loop_numbers.py.
Nothing here is computed for a state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skodyn.model import layout
from skodyn.model.loops import loop_layout as at
from skodyn.model.loops.closing import ALONG, HELIX, IN_PLANE, LENGTH, LINEAR, POLYNOMIAL, row_count
from skodyn.model.loops.loop_description import closing_rows
from skodyn.model.loops.loop_numbers import coupling_numbers
from skodyn.model.loops.loop_plan import GroupStructure, Pass, Stage

if TYPE_CHECKING:
    from skodyn.model.model import Model

__all__ = [
    "lanes_of_loops",
    "loop_table",
    "loop_workspace",
]


class _Writer:
    """An array of integers that grows; `base` is where it begins in `tree`."""

    def __init__(self, base: int) -> None:
        self.base = base
        self.cells: list[int] = []

    def add(self, values: Sequence[int]) -> int:
        """Append; where they lie."""
        place = self.base + len(self.cells)
        self.cells += [int(v) for v in values]
        return place

    def set(self, place: int, values: Mapping[int, int]) -> None:
        for column, value in values.items():
            self.cells[place - self.base + column] = int(value)


class _Lanes:
    """Places in the workspace, one behind the other."""

    def __init__(self, first: int) -> None:
        self.used = first

    def take(self, count: int) -> int:
        first = self.used
        self.used += count
        return first


def loop_table(model: Model, base: int, first_lane: int = 0) -> NDArray[np.int64]:
    """The table, to be appended to `tree` at `base`; its lanes lie behind `first_lane` others."""
    structure: tuple[GroupStructure, ...] = model._loop_structure
    out, lanes = _Writer(base), _Lanes(first_lane)
    header = out.add([0] * at.LOOP_HEADER)
    hooks = out.add(_hooks(model, structure))
    membership = out.add(_membership(model, structure))
    n_constraints = len(model.loops) + len(model.couplings)
    twice = [c for group in structure if group.quick for c in group.constraints]
    aliases = {c: n_constraints + i for i, c in enumerate(twice)}  # their records in thorough plans
    constraints = out.add([0] * (at.CONSTRAINT_RECORD * (n_constraints + len(twice))))
    groups_at = out.add([0] * (at.GROUP_RECORD * len(structure)))
    slots: dict[int, dict[int, int]] = {}
    first_length = model.parameters.size - len(structure)
    for g, group in enumerate(structure):
        place = groups_at + g * at.GROUP_RECORD
        slots.update(_group(model, group, out, lanes, place, first_length + g, aliases))
    rows = _constraints(model, out, constraints, slots)
    for c, alias in aliases.items():
        _alias(model, out, constraints, c, alias, slots[alias])
    out.set(
        header,
        {
            at.GROUPS: len(structure),
            at.CONSTRAINTS: n_constraints,
            at.GROUPS_AT: groups_at,
            at.CONSTRAINTS_AT: constraints,
            at.HOOKS_AT: hooks,
            at.MEMBERSHIP_AT: membership,
            at.FACTORED_LANE: lanes.take(model.nq),
            at.LOOP_LANES: lanes.used - first_lane,
            at.ROWS: rows,
        },
    )
    return np.array(out.cells, dtype=np.int64)


def _hooks(model: Model, structure: Sequence[GroupStructure]) -> list[int]:
    """For the ground and each body, the first group that it carries and how many."""
    cells = [0] * (2 * (model.n_bodies + 1))
    for g, group in enumerate(structure):
        k = group.parent + 1
        if cells[2 * k + 1] == 0:
            cells[2 * k] = g
        cells[2 * k + 1] += 1
    return cells


def _membership(model: Model, structure: Sequence[GroupStructure]) -> list[int]:
    cells = [-1] * model.n_bodies
    for g, group in enumerate(structure):
        for k in group.members:
            cells[k] = g
    return cells


def _group(
    model: Model,
    group: GroupStructure,
    out: _Writer,
    lanes: _Lanes,
    place: int,
    length: int,
    aliases: Mapping[int, int],
) -> dict[int, dict[int, int]]:
    """Write a group; for each of its constraints, places among those touched by place in v."""
    thorough, slots = 0, {}
    if group.quick:
        thorough = out.add([0] * at.GROUP_RECORD)
        stages = [
            replace(stage, constraints=tuple(aliases[c] for c in stage.constraints))
            for stage in group.stages
        ]
        slots = _plan(model, replace(group, stages=tuple(stages)), out, lanes, thorough)
        out.set(thorough, {at.LENGTH_PARAMETER: length})
        group = replace(group, stages=group.quick)
    slots |= _plan(model, group, out, lanes, place)
    out.set(place, {at.LENGTH_PARAMETER: length, at.THOROUGH_AT: thorough})
    return slots


def _plan(
    model: Model, group: GroupStructure, out: _Writer, lanes: _Lanes, place: int
) -> dict[int, dict[int, int]]:
    """Write a group with one of its plans."""
    linear = model._linear_dofs
    first = {dof: i for i, dof in enumerate(group.dofs)}
    n, m = len(group.dofs), group.mobility
    wide = group.rank if group.range_space else m  # columns of X, or of W (loop_range.py)
    cells = {
        at.PARENT_BODY: group.parent,
        at.MODE: at.RANGE_SPACE if group.range_space else at.NULL_SPACE,
        at.MEMBERS: len(group.members),
        at.MEMBERS_AT: out.add(_members(model, group, first)),
        at.DOFS: n,
        at.DOFS_AT: out.add([cell for d in group.dofs for cell in (d, linear[d])]),
        at.STAGES: len(group.stages),
        at.STAGES_AT: out.add([0] * (at.STAGE_RECORD * len(group.stages))),
        at.MOBILITY: m,
        at.VARIABLES: group.variables,
        at.FIRST_CONSTRAINT: group.constraints[0],
        at.FINALS_AT: out.add(group.finals),
        at.BY_PAIRS: _by_pairs(model, group),
        at.X_LANE: lanes.take(n * wide if group.range_space else group.variables * wide),
        at.VALUE_LANE: lanes.take(max(group.variables, n)),
        at.GRAM_LANE: lanes.take(wide * wide),
        at.MASS_LANE: lanes.take(wide * wide),
        at.RATE_LANE: lanes.take(wide),
        at.PASSED_LANE: lanes.take(6 * wide),
        at.PRODUCT_LANE: lanes.take(n * wide),
        at.LAST_GAP_LANE: lanes.take(1),
        at.QUICK_LANE: lanes.take(1),
    }
    out.set(place, cells)
    slots: dict[int, dict[int, int]] = {}
    for s, stage in enumerate(group.stages):
        _stage(group, stage, out, lanes, cells, s)
        by_variable = {v: i for i, v in enumerate(stage.touched)}
        for c in stage.constraints:
            slots[c] = {d: by_variable[i] for d, i in first.items() if i in by_variable}
    return slots


def _members(model: Model, group: GroupStructure, first: Mapping[int, int]) -> list[int]:
    """Of each member its body, the number of its first degree of freedom, what it hangs on."""
    starts, numbers = model.indices[:, layout.V_START], {k: i for i, k in enumerate(group.members)}
    cells: list[int] = []
    for k in group.members:
        inner = numbers.get(int(model.tree.parent[k]), -1)
        cells += [k, first.get(int(starts[k]), 0), inner]
    return cells


def _by_pairs(model: Model, group: GroupStructure) -> bool:
    """Is 𝓜X shorter by pairs of joints than by columns of X (kernels/loops/group_mass.py)?

    Multiplications are counted, roughly: 9 and two a column for a pair, 40 for a joint in a column.
    """
    count, inside = model.indices[:, layout.N_DOF], set(group.members)
    outside: dict[int, int] = {}  # degrees of freedom from a member inward, its own included
    pairs = 0
    for k in group.members:
        inner = outside[int(model.tree.parent[k])] if int(model.tree.parent[k]) in inside else 0
        outside[k] = inner + int(count[k])
        pairs += int(count[k]) * outside[k]
    return pairs * (9 + 2 * group.mobility) <= 40 * len(group.dofs) * group.mobility


def _stage(
    group: GroupStructure,
    stage: Stage,
    out: _Writer,
    lanes: _Lanes,
    cells: Mapping[int, int],
    s: int,
) -> None:
    """Write a stage of a group, whose record has these cells."""
    stages_at = cells[at.STAGES_AT]
    passes = [cell for step in stage.passes for cell in _pass(step, stages_at)]
    kept, rank = len(stage.kept), stage.rank
    new = 0 if group.range_space else len(stage.written_in)
    direct = not group.range_space and group.is_direct(stage)
    first = stage.kept[0] if direct else 0
    out.set(
        stages_at + s * at.STAGE_RECORD,
        {
            at.STAGE_CONSTRAINTS: len(stage.constraints),
            at.STAGE_LIST_AT: out.add(stage.constraints),
            at.STAGE_ROWS: stage.essential,
            at.EVERY_ROW: stage.rows,
            at.TOUCHED: len(stage.touched),
            at.CONSUMED: stage.consumed,
            at.KEPT: kept,
            at.RANK: rank,
            at.NEW: new,
            at.FIRST_NEW: stage.first_new,
            at.TOUCHED_AT: out.add(stage.touched),
            at.PASSES: len(stage.passes),
            at.PASSES_AT: out.add(passes),
            at.PIVOTS: stage.pivots,
            at.DIRECT: direct,
            at.MATRIX_LANE: lanes.take(stage.rows * len(stage.touched)),
            at.TAU_LANE: lanes.take(rank),
            at.PIVOT_LANE: lanes.take(rank),
            at.MASK_LANE: lanes.take((rank + 1) * kept),
            at.GAP_LANE: lanes.take(stage.rows),
            at.SIDE_LANE: lanes.take(stage.rows),
            at.PART_LANE: cells[at.VALUE_LANE] + first if direct else lanes.take(kept),
            at.BASIS_LANE: cells[at.X_LANE] + first * new if direct else lanes.take(kept * new),
        },
    )


def _pass(step: Pass, stages_at: int) -> list[int]:
    pairs = [cell for pair in step.pairs for cell in pair]
    stage = stages_at + step.stage * at.STAGE_RECORD
    return [stage, step.first_new, len(step.pairs), *pairs]


def _constraints(
    model: Model, out: _Writer, place: int, slots: Mapping[int, Mapping[int, int]]
) -> int:
    """Write every constraint; how many rows all of them have."""
    numbers = {name: k for k, name in enumerate(model.body_names)}
    parameters = model.parameters.size - model._loop_numbers
    first_row = 0
    for c, loop in enumerate(model.loops.values()):
        kinds = [row.kind for row in closing_rows(loop.joint, loop.rotation_a, loop.rotation_b)]
        first = parameters + at.LOOP_NUMBERS
        places = [(kind, first + i * at.ROW_NUMBERS) for i, kind in enumerate(kinds)]
        kept = [
            (kind, i if kind == IN_PLANE else places[i][1]) for kind, i in model._essential_rows[c]
        ]
        a, b = (numbers.get(name, -1) for name in (loop.body_a, loop.body_b))
        path_a, path_b = _paths(model, a, b, slots[c])
        cells = {
            at.KIND_OF: at.CLOSED_BY_JOINT,
            at.BODY_A: a,
            at.BODY_B: b,
            at.PRIMITIVES: len(kinds),
            at.PRIMITIVES_AT: out.add([cell for cells in places for cell in cells]),
            at.PARAMETERS_AT: parameters,
            at.ROW_COUNT: sum(map(row_count, kinds)),
            at.FIRST_ROW: first_row,
            at.PATH_A: len(path_a) // at.PATH_CELLS,
            at.PATH_A_AT: out.add(path_a),
            at.PATH_B: len(path_b) // at.PATH_CELLS,
            at.PATH_B_AT: out.add(path_b),
            at.NEEDS_RATE: any(kind in (ALONG, LENGTH, HELIX) for kind in kinds),
            at.ESSENTIALS: len(kept),
            at.ESSENTIALS_AT: out.add([cell for cells in kept for cell in cells]),
            at.ESSENTIAL_COUNT: sum(row_count(kind) for kind, _ in kept),
        }
        out.set(place + c * at.CONSTRAINT_RECORD, cells)
        parameters += at.LOOP_NUMBERS + at.ROW_NUMBERS * len(kinds)
        first_row += cells[at.ROW_COUNT]
    for c, coupling in enumerate(model.couplings.values(), len(model.loops)):
        bodies = [model.joint_index(name) for name in coupling.joints]
        path = [cell for k in bodies for cell in _step(model, k, slots[c])]
        cells = {
            at.KIND_OF: POLYNOMIAL if coupling.coefficients else LINEAR,
            at.PARAMETERS_AT: parameters,
            at.ROW_COUNT: 1,
            at.ESSENTIAL_COUNT: 1,
            at.FIRST_ROW: first_row,
            at.PATH_A: len(bodies),
            at.PATH_A_AT: out.add(path),
            at.NEEDS_RATE: 0 if any(_turns(model, k) for k in bodies) else 1,
        }
        out.set(place + c * at.CONSTRAINT_RECORD, cells)
        parameters += coupling_numbers(coupling).size
        first_row += 1
    return first_row


def _alias(
    model: Model, out: _Writer, place: int, c: int, alias: int, slots: Mapping[int, int]
) -> None:
    """Write a constraint once more, with its places among what a thorough plan touches."""
    own, copy = place + c * at.CONSTRAINT_RECORD, place + alias * at.CONSTRAINT_RECORD
    cells = out.cells[own - out.base : own - out.base + at.CONSTRAINT_RECORD]
    out.set(copy, dict(enumerate(cells)))
    for count, where in ((at.PATH_A, at.PATH_A_AT), (at.PATH_B, at.PATH_B_AT)):
        first = cells[where] - out.base
        bodies = [out.cells[first + i * at.PATH_CELLS] for i in range(cells[count])]
        path = [cell for k in bodies for cell in _step(model, k, slots)]
        out.set(copy, {where: out.add(path)})


def _turns(model: Model, k: int) -> bool:
    return not bool(model._linear_dofs[int(model.indices[k, layout.V_START])])


def _step(model: Model, k: int, slots: Mapping[int, int]) -> list[int]:
    """A body of a path, the place of its first degree of freedom, and which are lengths."""
    first, count = (int(model.indices[k, column]) for column in (layout.V_START, layout.N_DOF))
    linear = model._linear_dofs[first : first + count]
    return [k, slots.get(first, 0), sum(1 << i for i in range(count) if linear[i])]


def _paths(model: Model, a: int, b: int, slots: Mapping[int, int]) -> tuple[list[int], list[int]]:
    """From each end to the closest common ancestor: bodies with their places, ends first."""
    path_a: list[int] = []
    path_b: list[int] = []
    parent = model.tree.parent
    while a != b:
        if a > b:
            path_a += _step(model, a, slots)
            a = int(parent[a])
        else:
            path_b += _step(model, b, slots)
            b = int(parent[b])
    return path_a, path_b


def loop_workspace(model: Model) -> int:
    """Lanes that kernels need for loops behind the ordinary records."""
    return lanes_of_loops(model.kernel_tree)


def lanes_of_loops(tree: NDArray[np.int64]) -> int:
    """The same of a packed tree."""
    place = int(tree[layout.LOOPS])
    return int(tree[place + at.LOOP_LANES]) if place else 0
