"""Rows of couplings: polynomials of one joint, linear relations of several."""

from skodyn.jit import helper, routine
from skodyn.kernels.loops.loop_filling import accelerates, fills_columns, path_cell, paths, row_at
from skodyn.kernels.loops.loop_table import loop_lane
from skodyn.kernels.loops.loop_variables import group_length
from skodyn.kernels.packed_model import entry
from skodyn.lanes import fma, load_rows, parameter, splat, store
from skodyn.model.layout import Q_START, V_START
from skodyn.model.loops import loop_layout as its

__all__ = ["fill_linear", "fill_polynomial"]


@routine
def fill_polynomial(work, model, filling, c, row):
    """q_follower − f(q_source), by Horner's rule with its two derivatives."""
    path, numbers = paths(model.tree, c)[0], model.tree[c + its.PARAMETERS_AT]
    follower = path_cell(model, path, 0 * its.PATH_CELLS + its.PATH_BODY)
    source = path_cell(model, path, 1 * its.PATH_CELLS + its.PATH_BODY)
    s = load_rows(work, filling.q, entry(model, source, Q_START))
    value, slope, bend = splat(work, 0.0), splat(work, 0.0), splat(work, 0.0)
    for back in range(its.POLYNOMIAL_NUMBERS):
        c_i = parameter(work, model.parameters, numbers + its.POLYNOMIAL_NUMBERS - 1 - back)
        bend = fma(bend, s, slope)
        slope = fma(slope, s, value)
        value = fma(value, s, splat(work, 1.0) * c_i)
    scale = _coupling_scale(work, model, filling.group, c)
    gap = load_rows(work, filling.q, entry(model, follower, Q_START)) - value
    store(work, loop_lane(model, filling.stage + its.GAP_LANE) + row, scale * gap)
    if accelerates(filling):
        rate = load_rows(work, filling.v, entry(model, source, V_START))
        gamma = -(2.0 * bend * rate * rate)
        store(work, loop_lane(model, filling.stage + its.SIDE_LANE) + row, scale * gamma)
    if fills_columns(filling):
        _store_coupled(work, model, filling, path, row, 0, scale)
        _store_coupled(work, model, filling, path, row, 1, -(scale * slope))


@routine
def fill_linear(work, model, filling, c, row):
    """Σ factor·q − offset."""
    path, numbers = paths(model.tree, c)[0], model.tree[c + its.PARAMETERS_AT]
    scale = _coupling_scale(work, model, filling.group, c)
    one = splat(work, 1.0)
    gap = -(one * parameter(work, model.parameters, numbers))
    for i in range(path.length):
        factor = one * parameter(work, model.parameters, numbers + 1 + i)
        k = path_cell(model, path, i * its.PATH_CELLS + its.PATH_BODY)
        gap = fma(factor, load_rows(work, filling.q, entry(model, k, Q_START)), gap)
        if fills_columns(filling):
            _store_coupled(work, model, filling, path, row, i, scale * factor)
    store(work, loop_lane(model, filling.stage + its.GAP_LANE) + row, scale * gap)
    if accelerates(filling):  # γ is zero
        store(work, loop_lane(model, filling.stage + its.SIDE_LANE) + row, splat(work, 0.0))


@helper
def _store_coupled(work, model, filling, path, row, i, factor):
    """The column of joint i of a coupling."""
    linear = path_cell(model, path, i * its.PATH_CELLS + its.PATH_LINEAR) > 0
    x = factor * group_length(work, model, filling.group) if linear else factor
    slot = path_cell(model, path, i * its.PATH_CELLS + its.PATH_SLOT)
    store(work, row_at(model, filling.stage, row) + slot, x)


@helper
def _coupling_scale(work, model, group, c):
    """Rows of couplings in which a joint turns are angles; NEEDS_RATE says that none does."""
    if model.tree[c + its.NEEDS_RATE] > 0:
        return splat(work, 1.0)
    return group_length(work, model, group)
