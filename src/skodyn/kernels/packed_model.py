"""A model as kernels see it: its integers and its numbers, laid out by model/layout.py."""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import helper
from skodyn.lanes import parameter
from skodyn.model.layout import (
    ARMATURE,
    BODY_RECORD,
    DOF_RECORD,
    HEADER,
    INDEX_COLUMNS,
    N_BODIES,
    NV,
)


class PackedModel(NamedTuple):
    """A model as kernels see it: two pointers, laid out by model/layout.py."""

    tree: Any  # integers: sizes, then parent, joint kind, … of every body
    parameters: Any  # doubles: gravity, placements, inertias, …


@helper
def entry(model, k, column):
    """One integer of body k: its parent, joint kind, …"""
    return model.tree[(k + 1) * INDEX_COLUMNS + column]


@helper
def body_count(model):
    return model.tree[N_BODIES]


@helper
def velocity_count(model):
    return model.tree[NV]


@helper
def body_parameters(k):
    """Where the constants of body k begin."""
    return HEADER + k * BODY_RECORD


@helper
def dof_parameters(n, i):
    """Where the constants of degree of freedom i begin."""
    return HEADER + n * BODY_RECORD + i * DOF_RECORD


@helper
def armature(work, model, i):
    """Rotor inertia of degree of freedom i."""
    return parameter(work, model.parameters, dof_parameters(body_count(model), i) + ARMATURE)


@helper
def parameter3(work, model, i):
    p = model.parameters
    return (parameter(work, p, i), parameter(work, p, i + 1), parameter(work, p, i + 2))


@helper
def parameter_sym(work, model, i):
    a, b = parameter3(work, model, i), parameter3(work, model, i + 3)
    return (a[0], a[1], a[2], b[0], b[1], b[2])


@helper
def parameter_matrix(work, model, i):
    a = parameter3(work, model, i)
    b = parameter3(work, model, i + 3)
    c = parameter3(work, model, i + 6)
    return (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2])
