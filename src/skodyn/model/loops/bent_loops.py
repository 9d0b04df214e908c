"""Loops of models with flexible bodies: all of them are one group, with every joint and mode in it.

Modes yield before joints do, so a group cannot be one joint of a coarser tree as with rigid bodies.
Its rows are made to hold in their range (kernels/flexible/flexible_loops.py), by one stage over all
velocities. That is dear for many loops: rows times bodies.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from skodyn.model.loops.loop_layout import SMALL_ROWS
from skodyn.model.loops.loop_numbers import constraint_cycles
from skodyn.model.loops.loop_plan import GroupStructure, Stage
from skodyn.model.loops.loop_structure import rank_of, scaled_rows
from skodyn.model.products import norm
from skodyn.topology.loops import groups
from skodyn.typing import Floats

if TYPE_CHECKING:
    from skodyn.model.flexible.modal_body import FlexibleBody
    from skodyn.model.model import Model

__all__ = ["bent_structure", "of_one_group"]


def of_one_group(numbers: Floats, rigid: Model, flexible: Mapping[str, FlexibleBody]) -> Floats:
    """The numbers of loops of a model whose bodies are rigid, with one length for all groups."""
    count = len(groups(rigid.tree.parent, constraint_cycles(rigid)))
    lengths = [norm(place) for place in rigid.translation]
    lengths += [body.length for body in flexible.values()]
    for loop in rigid.loops.values():
        lengths += [norm(loop.translation_a), norm(loop.translation_b), loop.joint.own_length]
    length = 2.0 ** round(math.log2(max(*lengths, 1e-3)))
    return np.concatenate((numbers[: numbers.size - count], [length]))


def bent_structure(model: Model, samples: Sequence[Floats]) -> GroupStructure:
    """The one group, with the largest rank that any closed configuration has."""
    every, members = tuple(range(len(model.loop_names))), tuple(range(model.n_bodies))
    length = float(model.parameters[-1])
    ranks = []
    for q in samples:
        found = scaled_rows(model, q, every, members, length)
        whole = np.zeros((sum(len(rows) for rows, _ in found.values()), model.nv))
        at = 0
        for rows, dofs in found.values():
            whole[at : at + len(rows), dofs] = rows
            at += len(rows)
        ranks.append(rank_of(whole, max(float(np.linalg.norm(whole)), SMALL_ROWS * length)))
    velocities = tuple(range(model.nv))
    stage = Stage(every, at, at, velocities, 0, (), max(ranks), model.nv, model.nv)
    return GroupStructure(members, -1, velocities, (stage,), True)
