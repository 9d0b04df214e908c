"""Where each number of flexible bodies lies in a packed model.

A model with such bodies has two trees (layout.FLEXIBLE). The first is the layout of the state: one
row for each body, and behind that of a flexible one a row for its modes, which are coordinates like
those of sliding joints. Whoever moves coordinates sees that one. The second is the tree of bodies
that recursions run over, with this table behind it:

    how many flexible bodies | lanes they need | record of each body, 0 if it is rigid
    | record of what each body hangs on, 0 if on no node | records

All places in the table count from the beginning of the second tree; those of numbers from the
beginning of `parameters`, those of lanes from the beginning of the workspace: kernels then find a
table by one integer. Tables begin where a register of four fills part of one cache line.

Shapes are numbered masters first. N and S of a shape only matter through nine numbers,
D(N) = 2 tr(N) I − N − Nᵀ as (xx, xy, xz, yy, yz, zz) and ax(N) = (N₂₃−N₃₂, N₃₁−N₁₃, N₁₂−N₂₁).
"""

from __future__ import annotations

# the table
FLEXIBLE_COUNT, FLEXIBLE_LANES, RECORDS = range(3)

# a record of a flexible body, integers
MODES, SLAVES, SHAPES, MODE_Q, MODE_V = range(5)
PITCH, MODE_PITCH, POINT_PITCH = range(5, 8)  # of shapes, masters, Gauss points: whole fours
SHAPE_INTEGRALS, COUPLINGS, MODAL_MASS, STIFFNESS, DAMPING = range(8, 13)  # numbers
GAUSS_POINTS, GAUSS = range(13, 15)  # how many, their weights
TURNING, ARMS, SQUARES = range(15, 18)  # products, below
BENDING = 18  # which modes bend a beam in y and z: how many each, then number and numbers of each
MODE_SLOT = 19  # record of the degree of freedom that the first master is
IS_MIXED = 20  # do masters and slaves share inertia?
ETA, ETA_RATE, SLAVE_PRODUCT = range(21, 24)  # lanes: η and ξ, their rates, ξ̈ at η̈ = 0
COUPLING, ARM_RATE = range(24, 26)  # nine numbers a shape, and the rates of the last three
SLOPE, SLOPE_RATE, CARRIED = range(26, 29)  # A·η, A·η̇, and slaves' inertia times the former
OWN = 29  # (h, J) and b of the body itself, world axes
PAIRS = 30  # P_ηη, a row for each master of which the first part, to the diagonal, counts
GAINS, LOADS = range(31, 33)  # P_rη and z_η of the masters that have not yielded
BIASES, BENT, PARTS = range(33, 36)  # b of shapes; v′v″ + w′w″, or sums of a node; forces in parts
FELT = 36  # P⁺Π of what hangs on a node
FLEXIBLE_RECORD = 37
SCRATCH = (COUPLING, ARM_RATE, SLOPE_RATE, CARRIED, BIASES, BENT, PARTS, FELT)
"""Lanes that are read no more once a body is done: all bodies share them, so that less of the
processor's cache is walked through."""

COUPLING_NUMBERS = 9
FIRST, SECOND, BIAS = 0, 3, 9  # in OWN
OWN_LANES = 15

# a record of what hangs on a node, integers
NODE_NUMBERS, NODE_LANES = range(2)  # s, then φ and ψ of each shape; lanes of Π
NODE_SHAPES, NODE_SLAVES = range(2, 4)  # products: Σ φη and Σ ψη of all shapes, of slaves alone

FOUR = 4
"""Numbers of one state that are taken at once: tables over shapes or masters lie component by
component, and each component has room for whole fours.

A product is a constant matrix times a vector of lanes, and is written twice: in fours of rows that
lie together for one state, in fours of rows that have the same columns for several.

    how many fours | where those for several states begin, from here
    | of each four: first row, how many columns, numbers, columns
    | how many fours of rows alike | of each: how many entries in its first and second sum, each row
      with the place of its numbers, then of each entry its column and its number's place from there
    | how many rows are left over | of each the same

A four of more than four columns has two sums, one of every second column, which are added last.
"""


BODY_LANES, DOF_LANES = 54, 14
"""Of the workspace of rigid bodies (kernels/workspace.py, which has no flexible bodies in mind): of
each body and of the ground, of each degree of freedom; tests hold both to be the same."""


BLOCK_HEADER, LINE = 2, 8
"""One state's block: integers of its own, then the tree, then parameters, which begin with a cache
line if the tree ends so."""


def whole_lines(count: int) -> int:
    """The next multiple of what a cache line holds."""
    return -(-count // LINE) * LINE


def first_free_lane(n_bodies: int, nq: int, nv: int) -> int:
    """Behind what recursions over rigid bodies keep."""
    return mode_lanes(n_bodies, nv) + 2 * nq


def mode_lanes(n_bodies: int, dof: int) -> int:
    """Where the record of a degree of freedom begins in the workspace."""
    return (n_bodies + 1) * BODY_LANES + dof * DOF_LANES


def whole_fours(count: int) -> int:
    """The next multiple of four."""
    return -(-count // FOUR) * FOUR
