"""The numbers of loops and couplings, behind the parameters of a model (loop_layout.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skodyn.model.loops import loop_layout as at
from skodyn.model.loops.loop_description import JointCoupling, Loop, closing_rows
from skodyn.model.products import applied, norm
from skodyn.topology.loops import Group, cycle, groups, span
from skodyn.typing import Floats

if TYPE_CHECKING:
    from skodyn.model.model import Model

__all__ = [
    "constraint_cycles",
    "coupling_numbers",
    "group_lengths",
    "loop_parameters",
    "number_count",
]


def loop_parameters(
    loops: Mapping[str, Loop],
    couplings: Mapping[str, JointCoupling],
    numbers: Mapping[str, int],
    joint_numbers: Mapping[str, int],
    alignment: Floats,
    parent: NDArray[np.int64],
    translation: Floats,
) -> Floats:
    """The numbers of all constraints, and then the length of each group."""
    records = [_loop_numbers(loop, numbers, alignment) for loop in loops.values()]
    records += [coupling_numbers(coupling) for coupling in couplings.values()]
    ends = [(numbers.get(l.body_a, -1), numbers.get(l.body_b, -1)) for l in loops.values()]
    cycles = [cycle(parent, a, b) for a, b in ends]
    cycles += [span(parent, [joint_numbers[j] for j in c.joints]) for c in couplings.values()]
    lengths = group_lengths(list(loops.values()), cycles, parent, translation)
    return np.concatenate((*records, lengths)) if records else np.zeros(0)


def _loop_numbers(loop: Loop, numbers: Mapping[str, int], alignment: Floats) -> Floats:
    """Origins and primitives in the axes of kernels."""
    ends = (numbers.get(loop.body_a, -1), numbers.get(loop.body_b, -1))
    back_a, back_b = (alignment[k].T if k >= 0 else np.eye(3) for k in ends)
    parts = [applied(back_a, loop.translation_a), applied(back_b, loop.translation_b)]
    for row in closing_rows(loop.joint, loop.rotation_a, loop.rotation_b):
        parts += [applied(back_a, row.u), applied(back_b, row.w), np.array([row.c])]
        parts.append(applied(back_a, row.e))
    return np.concatenate(parts)


def number_count(model: Model) -> int:
    """How many numbers the loops of a packed model have, with the length of each group."""
    primitives = sum(
        len(closing_rows(loop.joint, loop.rotation_a, loop.rotation_b))
        for loop in model.loops.values()
    )
    records = at.LOOP_NUMBERS * len(model.loops) + at.ROW_NUMBERS * primitives
    records += sum(coupling_numbers(coupling).size for coupling in model.couplings.values())
    return records + group_count(model)


def group_count(model: Model) -> int:
    """How many groups its loops make; bodies that bend are all in one (bent_loops.py)."""
    return 1 if model.flexible else len(groups(model.tree.parent, constraint_cycles(model)))


def constraint_cycles(model: Model) -> list[tuple[int, ...]]:
    """The bodies of each constraint's cycle, loops first."""
    parent = model.tree.parent
    numbers = {name: k for k, name in enumerate(model.body_names)}
    ends = [(numbers.get(l.body_a, -1), numbers.get(l.body_b, -1)) for l in model.loops.values()]
    cycles = [cycle(parent, a, b) for a, b in ends]
    for coupling in model.couplings.values():
        cycles.append(span(parent, [model.joint_index(name) for name in coupling.joints]))
    return cycles


def coupling_numbers(coupling: JointCoupling) -> Floats:
    if coupling.coefficients:
        padded = np.zeros(at.POLYNOMIAL_NUMBERS)
        padded[: len(coupling.coefficients)] = coupling.coefficients
        return padded
    return np.array([coupling.offset, *coupling.factors])


def group_lengths(
    loops: Sequence[Loop],
    cycles: Sequence[tuple[int, ...]],
    parent: NDArray[np.int64],
    translation: Floats,
) -> Floats:
    """One length a group, by which radians become metres: a power of two, so that nothing rounds.

    It lies near the largest arm that the group's description has.
    """
    lengths = []
    for group in sorted_groups(groups(parent, cycles)):
        arms = [norm(translation[k]) for k in group.members]
        for c in group.cycles:
            if c < len(loops):
                loop = loops[c]
                arms += [norm(loop.translation_a), norm(loop.translation_b)]
                arms.append(abs(float(loop.joint.own_length)))
        largest = max(arms)
        lengths.append(2.0 ** round(np.log2(max(largest, 1e-3))) if largest > 0.0 else 1.0)
    return np.array(lengths)


def sorted_groups(found: Sequence[Group]) -> list[Group]:
    return sorted(found, key=lambda g: (g.parent, g.members))
