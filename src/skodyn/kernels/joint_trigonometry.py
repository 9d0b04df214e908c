"""Sines and cosines of the joints' angles.

With several states in a register each joint takes them when a sweep comes by. A single state would
leave most of every register idle: there they are taken beforehand, four coordinates at a time, and
kept in the workspace. Coordinates that are no angles are taken along, which is cheaper
than to ask. Both ways have the same bits.
"""

from skodyn.jit import helper
from skodyn.kernels.workspace import sine_slot
from skodyn.lanes import load, load_rows, shift_pointer, sincos, sincos_table, single
from skodyn.model.layout import NQ


@helper
def prepare_sincos(work, model, q):
    """Fill the table, if there is one at this width; a scatter begins with it."""
    if single(work):
        at, nq = sine_slot(model), model.tree[NQ]
        sines, cosines = shift_pointer(work.lanes, at), shift_pointer(work.lanes, at + nq)
        sincos_table(nq, shift_pointer(q.data, q.first), sines, cosines)


@helper
def sincos_of(work, model, q, i):
    """(sin, cos) of coordinate i."""
    if single(work):
        at = sine_slot(model) + i
        return load(work, at), load(work, at + model.tree[NQ])
    return sincos(load_rows(work, q, i))
