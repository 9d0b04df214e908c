"""What bending a flexible body costs: its strain energy, and the forces on its modes.

The energy is ½ηᵀKη, and for beams what the next order of their curvature adds, at Gauss points g:

    U = ½ηᵀKη + ½Σ_g w_g s_g²,   s = v′v″ + w′w″

A mode bends in y, in z, or not at all: slopes and curvatures of those that do lie together, a list
for each plane. The force on a mode is a sum over points. It is taken as four sums, one of every
fourth point, so that four points of one state can be done at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skodyn.jit import helper
from skodyn.kernels.flexible.flexible_table import clear_columns, field, lanes_of
from skodyn.lanes import fma, load, parameter, splat
from skodyn.lanes.columns import (
    columns_at_once,
    load_columns,
    parameter_columns,
    splat_columns,
    store_columns,
    turn_square,
)
from skodyn.model.flexible import flexible_layout as its


class Plane(NamedTuple):
    """The modes that bend a beam in y, or in z."""

    count: Any
    entries: Any  # of each its number, and where its slopes and then its curvatures lie
    pitch: Any  # from the former to the latter


@helper
def planes_of(model, record):
    """That of y and that of z."""
    table, pitch = field(model, record, its.BENDING), field(model, record, its.POINT_PITCH)
    y, z = field(model, table, 0), field(model, table, 1)
    return Plane(y, table + 2, pitch), Plane(z, table + 2 + 2 * y, pitch)


@helper
def bend_plane(work, model, plane, eta, g):
    """(slope, curvature) in a plane at the points from g on."""
    slope, curvature, p = splat_columns(work, 0.0), splat_columns(work, 0.0), model.parameters
    for e in range(plane.count):
        at = plane.entries + 2 * e
        x, numbers = load(work, eta + field(model, at, 0)), field(model, at, 1) + g
        slope = fma(parameter_columns(work, p, numbers), x, slope)
        curvature = fma(parameter_columns(work, p, numbers + plane.pitch), x, curvature)
    return slope, curvature


@helper
def pull_plane(work, model, plane, parts, g, pull):
    """Add what the points from g on pull the modes of a plane with, by slope and by curvature."""
    p = model.parameters
    for e in range(plane.count):
        at = plane.entries + 2 * e
        part = parts + its.FOUR * field(model, at, 0) + g % its.FOUR
        numbers = field(model, at, 1) + g
        total = load_columns(work, part)
        total = fma(parameter_columns(work, p, numbers), pull[0], total)
        total = fma(parameter_columns(work, p, numbers + plane.pitch), pull[1], total)
        store_columns(work, part, total)


@helper
def unbend_points(work, model, record):
    """The force of the next order of curvature, of each mode in four parts, into PARTS."""
    parts, eta = lanes_of(model, record, its.PARTS), lanes_of(model, record, its.ETA)
    in_y, in_z = planes_of(model, record)
    clear_columns(work, parts, its.FOUR * field(model, record, its.MODE_PITCH))
    for g in range(0, field(model, record, its.GAUSS_POINTS), columns_at_once(work)):
        v, vv = bend_plane(work, model, in_y, eta, g)
        w, ww = bend_plane(work, model, in_z, eta, g)
        weights = parameter_columns(work, model.parameters, field(model, record, its.GAUSS) + g)
        pull = weights * fma(v, vv, w * ww)
        pull_plane(work, model, in_y, parts, g, (pull * vv, pull * v))
        pull_plane(work, model, in_z, parts, g, (pull * ww, pull * w))


@helper
def bend_two(work, model, plane, eta, g):
    """(slopes, curvatures) in a plane at two points."""
    zero, p = splat_columns(work, 0.0), model.parameters
    slopes, curvatures = (zero, zero), (zero, zero)
    for e in range(plane.count):
        at = plane.entries + 2 * e
        x, numbers = load(work, eta + field(model, at, 0)), field(model, at, 1) + g
        slopes = add_two(work, p, numbers, (x, x), slopes)
        curvatures = add_two(work, p, numbers + plane.pitch, (x, x), curvatures)
    return slopes, curvatures


@helper
def add_two(work, p, numbers, x, total):
    """A number each for two points."""
    return (
        fma(parameter_columns(work, p, numbers), x[0], total[0]),
        fma(parameter_columns(work, p, numbers + 1), x[1], total[1]),
    )


@helper
def times_two(a, b):
    return a[0] * b[0], a[1] * b[1]


@helper
def pull_two(work, model, plane, parts, g, pull):
    """Add what two points pull the modes of a plane with."""
    p = model.parameters
    for e in range(plane.count):
        at = plane.entries + 2 * e
        part = parts + its.FOUR * field(model, at, 0) + g % its.FOUR
        numbers = field(model, at, 1) + g
        total = load_columns(work, part), load_columns(work, part + 1)
        total = add_two(work, p, numbers, pull[0], total)
        total = add_two(work, p, numbers + plane.pitch, pull[1], total)
        store_columns(work, part, total[0])
        store_columns(work, part + 1, total[1])


@helper
def unbend_two_by_two(work, model, record):
    """The same for several states, two points at once."""
    parts, eta = lanes_of(model, record, its.PARTS), lanes_of(model, record, its.ETA)
    in_y, in_z = planes_of(model, record)
    clear_columns(work, parts, its.FOUR * field(model, record, its.MODE_PITCH))
    for g in range(0, field(model, record, its.GAUSS_POINTS), 2):
        v, vv = bend_two(work, model, in_y, eta, g)
        w, ww = bend_two(work, model, in_z, eta, g)
        both = times_two(w, ww)
        both = fma(v[0], vv[0], both[0]), fma(v[1], vv[1], both[1])
        at = field(model, record, its.GAUSS) + g
        pull = (
            parameter_columns(work, model.parameters, at) * both[0],
            parameter_columns(work, model.parameters, at + 1) * both[1],
        )
        pull_two(work, model, in_y, parts, g, (times_two(pull, vv), times_two(pull, v)))
        pull_two(work, model, in_z, parts, g, (times_two(pull, ww), times_two(pull, w)))


@helper
def whole_force(work, parts, turned):
    """The sum of the four parts of as many modes as columns are taken at once."""
    at, apart = parts, 1
    if columns_at_once(work) > 1:
        turn_square(work, parts, turned, its.FOUR)
        at, apart = turned, its.FOUR
    first = load_columns(work, at) + load_columns(work, at + apart)
    return first + (load_columns(work, at + 2 * apart) + load_columns(work, at + 3 * apart))


@helper
def strain_body(work, model, record, moving):
    """Add Kη + Cη̇, and for beams the force of their curvature's next order, to LOADS."""
    eta, rate = lanes_of(model, record, its.ETA), lanes_of(model, record, its.ETA_RATE)
    loads, curved = lanes_of(model, record, its.LOADS), field(model, record, its.GAUSS_POINTS) > 0
    stiffness, damping = field(model, record, its.STIFFNESS), field(model, record, its.DAMPING)
    parts, turned = lanes_of(model, record, its.PARTS), lanes_of(model, record, its.BENT)
    p = model.parameters
    if curved and columns_at_once(work) > 1:
        unbend_points(work, model, record)
    elif curved:
        unbend_two_by_two(work, model, record)
    for i in range(0, field(model, record, its.MODES), columns_at_once(work)):
        k, total = parameter_columns(work, p, stiffness + i), load_columns(work, loads + i)
        total = fma(k, load_columns(work, eta + i), total)
        if moving:
            c = parameter_columns(work, p, damping + i)
            total = fma(c, load_columns(work, rate + i), total)
        if curved:
            total = total + whole_force(work, parts + its.FOUR * i, turned)
        store_columns(work, loads + i, total + 0.0)  # of two zeros the one without a sign


@helper
def strain_energy(work, model, record):
    """½ηᵀKη, and what the next order of a beam's curvature adds."""
    eta, p, total = lanes_of(model, record, its.ETA), model.parameters, splat(work, 0.0)
    for i in range(field(model, record, its.MODES)):
        x = load(work, eta + i)
        total = fma(0.5 * parameter(work, p, field(model, record, its.STIFFNESS) + i) * x, x, total)
    points, bent = field(model, record, its.GAUSS_POINTS), lanes_of(model, record, its.BENT)
    if points > 0:
        in_y, in_z = planes_of(model, record)
        for g in range(0, points, columns_at_once(work)):
            v, vv = bend_plane(work, model, in_y, eta, g)
            w, ww = bend_plane(work, model, in_z, eta, g)
            store_columns(work, bent + g, fma(v, vv, w * ww))
        for g in range(points):
            both = load(work, bent + g)
            weight = parameter(work, p, field(model, record, its.GAUSS) + g)
            total = fma(0.5 * weight * both, both, total)
    return total
