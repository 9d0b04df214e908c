"""The modes of one flexible body yield, one after the other, before its joint does."""

from skodyn.jit import helper
from skodyn.kernels.articulated_inertia import SINGULAR_PIVOT
from skodyn.kernels.flexible.flexible_body import gain_of, mode_slot, pair_row, yielded_gain
from skodyn.kernels.flexible.flexible_table import columns6, field, lanes_of, store_columns6
from skodyn.kernels.packed_model import armature
from skodyn.kernels.tuples import store6
from skodyn.kernels.workspace import DOF
from skodyn.lanes import all_lanes, fma, load, load_rows, parameter, store
from skodyn.lanes.columns import columns_at_once, load_columns, store_columns
from skodyn.model.flexible import flexible_layout as its
from skodyn.spatial.articulated import subtract_rank_one
from skodyn.spatial.linear3 import add_scaled
from skodyn.spatial.motion import add_scaled_spatial


@helper
def project_mode(work, model, record, i, p):
    """(P, sound) behind master i; u, e and 1/d of it stay in the workspace.

    Columns of the masters behind it have yielded: what is written there is read no more.
    """
    masters, pairs = field(model, record, its.MODE_PITCH), lanes_of(model, record, its.PAIRS)
    gains = lanes_of(model, record, its.GAINS)
    row = pairs + i * masters
    step = columns_at_once(work)
    dof = field(model, record, its.MODE_V) + i
    own = field(model, record, its.MODAL_MASS) + i * (field(model, record, its.PITCH) + 1)
    d = load(work, row + i) + armature(work, model, dof)
    pivot, u = 1.0 / d, gain_of(work, model, record, i)
    slot = mode_slot(model, record, i)
    if step > 1:
        store6(work, slot + DOF.GAIN, u)
    store(work, slot + DOF.PIVOT, pivot)
    for j in range(i):
        share, other = -(pivot * load(work, row + j)), pairs + j * masters
        for h in range(0, j + 1, step):
            e = fma(load_columns(work, row + h), share, load_columns(work, other + h))
            store_columns(work, other + h, e)
    for j in range(0, i, step):
        share = -(pivot * load_columns(work, row + j))
        inner = columns6(work, gains + j, masters)
        moved = add_scaled(inner[0], share, u[0]), add_scaled(inner[1], share, u[1])
        store_columns6(work, gains + j, masters, moved)
    least = SINGULAR_PIVOT * parameter(work, model.parameters, own)
    return subtract_rank_one(p, u, pivot), all_lanes(d > least)


@helper
def load_mode(work, model, record, i, z, tau):
    """z behind master i, which has yielded, under the forces tau; ε of it stays."""
    row, loads = pair_row(model, record, i), lanes_of(model, record, its.LOADS)
    dof = field(model, record, its.MODE_V) + i
    slot = mode_slot(model, record, i)
    epsilon = load_rows(work, tau, dof) - load(work, loads + i)
    store(work, slot + DOF.RESIDUE, epsilon)
    ratio = epsilon * load(work, slot + DOF.PIVOT)
    for j in range(0, i, columns_at_once(work)):
        moved = fma(load_columns(work, row + j), ratio, load_columns(work, loads + j))
        store_columns(work, loads + j, moved)
    return add_scaled_spatial(z, ratio, yielded_gain(work, model, record, i))


@helper
def project_modes(work, model, record, p):
    """(P, sound) behind the modes of a body."""
    sound, m = True, field(model, record, its.MODES)
    for back in range(m):
        p, free = project_mode(work, model, record, m - 1 - back, p)
        sound = sound and free
    return p, sound


@helper
def load_modes(work, model, record, z, tau):
    """z behind the modes, which have yielded, under the forces tau."""
    m = field(model, record, its.MODES)
    for back in range(m):
        z = load_mode(work, model, record, m - 1 - back, z, tau)
    return z


@helper
def project_loaded_modes(work, model, record, p, z, tau):
    """(P, z, sound): both at once."""
    sound, m = True, field(model, record, its.MODES)
    for back in range(m):
        i = m - 1 - back
        p, free = project_mode(work, model, record, i, p)
        z = load_mode(work, model, record, i, z, tau)
        sound = sound and free
    return p, z, sound
