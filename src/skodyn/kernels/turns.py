"""Sines and cosines of the joints' angles.

With several states in a register each joint takes them when a sweep comes by. A single state would
leave most of every register idle: there they are taken beforehand, four coordinates at a time, and
kept in the workspace. Coordinates that are no angles are taken along, which is cheaper
than to ask. Both ways have the same bits.
"""

from __future__ import annotations

from skodyn.jit import helper
from skodyn.kernels.workspace import sine_slot
from skodyn.lanes import load, load_rows, shift_pointer, sincos, sincos_table, single


@helper
def prepare_turns(w, tree, q, q_first, nq, ws):
    """Fill the table, if there is one at this width; a scatter begins with it."""
    if single(w):
        at = sine_slot(tree)
        sines, cosines = shift_pointer(ws, at), shift_pointer(ws, at + nq)
        sincos_table(nq, shift_pointer(q, q_first), sines, cosines)


@helper
def turn_of(w, tree, q, q_first, nq, i, ws):
    """(sin, cos) of coordinate i."""
    if single(w):
        at = sine_slot(tree) + i
        return load(w, ws, at), load(w, ws, at + nq)
    return sincos(load_rows(w, q, q_first, nq, i))
